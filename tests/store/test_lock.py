"""The kernel lock: one holder, free the moment it dies, never a file deleted (E12)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from omh_research.errors import BusyError, DamagedFileError, StorageError
from omh_research.store import lock

HOLDER = """
import sys, time
from omh_research.store import lock
held = lock.acquire(sys.argv[1])
print("held", flush=True)
time.sleep(60)
"""


def start_holder(path: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"held\n"
    return process


def test_a_second_taker_is_busy_and_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    first = lock.acquire(str(path))
    inode = path.stat().st_ino
    with pytest.raises(BusyError) as caught:
        lock.acquire(str(path), wait_s=0)
    assert caught.value.exit_code == 6
    first.release()
    first.release()  # releasing twice is harmless
    lock.acquire(str(path), wait_s=0).release()
    assert path.stat().st_ino == inode, "a deleted lock file would break exclusion"


def test_a_killed_holder_frees_the_lock_at_once(tmp_path: Path) -> None:
    """E12: on one machine the kernel decides; no process id, no time-out."""
    path = tmp_path / "a.lock"
    holder = start_holder(path)
    try:
        with pytest.raises(BusyError):
            lock.acquire(str(path), wait_s=0)
        assert lock.is_held(str(path))
    finally:
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
    assert not lock.is_held(str(path))
    lock.acquire(str(path), wait_s=0).release()


def test_a_stopped_holder_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    holder = start_holder(path)
    try:
        os.kill(holder.pid, signal.SIGSTOP)
        with pytest.raises(BusyError):
            lock.acquire(str(path), wait_s=0)
    finally:
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()


def test_a_child_process_does_not_inherit_the_lock(tmp_path: Path) -> None:
    """81 section 5: a delegate's program that lives on must not keep the run busy."""
    path = tmp_path / "a.lock"
    held = lock.acquire(str(path))
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        held.release()
        lock.acquire(str(path), wait_s=0).release()
        assert child.poll() is None, "it lived all the while"
    finally:
        child.kill()
        child.wait()


def test_threads_exclude_each_other(tmp_path: Path) -> None:
    path = str(tmp_path / "a.lock")
    inside, most, turns = 0, 0, 0
    guard = threading.Lock()

    def work() -> None:
        nonlocal inside, most, turns
        for _ in range(20):
            with lock.held(path, wait_s=30):
                with guard:
                    inside += 1
                    most = max(most, inside)
                with guard:
                    inside -= 1
                    turns += 1

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, turns) == (1, 120)


def test_a_waiter_gets_it_when_it_is_freed(tmp_path: Path) -> None:
    path = str(tmp_path / "a.lock")
    first = lock.acquire(path)
    threading.Timer(0.1, first.release).start()
    second = lock.acquire(path, wait_s=30)
    assert lock.is_held(path)
    second.release()
    assert not lock.is_held(path)


def test_looking_never_creates_and_never_makes_a_taker_busy(tmp_path: Path) -> None:
    """E12, 81 section 5: `status` runs while others take and free the lock."""
    path = tmp_path / "a.lock"
    assert not lock.is_held(str(path)) and not path.exists()
    path.touch()
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            lock.is_held(str(path))

    lookers = [threading.Thread(target=look) for _ in range(3)]
    for looker in lookers:
        looker.start()
    try:
        for _ in range(200):
            lock.acquire(str(path)).release()
    finally:
        stop.set()
        for looker in lookers:
            looker.join()


@pytest.mark.parametrize("target", ["file", "nowhere"])
def test_a_link_is_refused_and_its_target_untouched(tmp_path: Path, target: str) -> None:
    """81 section 5: CVE-2025-68146 emptied the target."""
    outside = tmp_path / "outside"
    if target == "file":
        outside.write_text("precious")
    path = tmp_path / "a.lock"
    path.symlink_to(outside)
    with pytest.raises(DamagedFileError):
        lock.acquire(str(path))
    assert not lock.is_held(str(path))
    assert outside.exists() == (target == "file")
    assert target == "nowhere" or outside.read_text() == "precious"


def test_a_folder_in_its_place_and_a_missing_folder_are_said(tmp_path: Path) -> None:
    (tmp_path / "a.lock").mkdir()
    for path in (tmp_path / "a.lock", tmp_path / "none" / "a.lock"):
        with pytest.raises(StorageError):
            lock.acquire(str(path))


def test_a_file_system_without_locks_is_said_never_replaced_by_a_soft_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """81 section 5: ENOSYS on some network mounts: refuse, with advice."""
    import errno

    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(lock.fcntl, "flock", no_locks)
    with pytest.raises(StorageError) as caught:
        lock.acquire(str(tmp_path / "a.lock"))
    assert "local file system" in caught.value.hint
    assert [path.name for path in tmp_path.iterdir()] == ["a.lock"]
