"""Who owns a run between machines: claims, takeover, fencing (S3, O4)."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import msgspec
import pytest

from omh_research.documents.source import Fetch
from omh_research.documents.task import Reply
from omh_research.engine import read_snapshot
from omh_research.errors import BusyError, FencedError, NoSuchRunError, OmhError
from omh_research.holding import Held, fence_of, guard_of, held_start
from omh_research.project import Project
from omh_research.settings import load_settings
from omh_research.store import heartbeat, lease
from omh_research.store.mailbox import Mailbox
from omh_research.store.sources import Sources
from tests.runs import Run

FETCH = Fetch(kind="fetch", status="ok", accessed_at="2026-01-01T00:00:00Z", charge=1)


def beat_path(run: Run) -> Path:
    return run.base / "state" / f"research--{run.slug}.heartbeat"


def write_beat(path: Path, age_s: float, host: str = "elsewhere", lease_s: float = 60.0) -> None:
    """Leave the heartbeat of another machine, its file written `age_s` ago."""
    beat = heartbeat.Heartbeat(pid=1, host=host, beat_at="2099-01-01T00:00:00Z", lease_s=lease_s)
    path.write_bytes(msgspec.json.encode(beat))
    os.utime(path, (time.time() - age_s,) * 2)


@pytest.mark.parametrize(("age_s", "code"), [(1, 6), (50, 6), (70, 0), (10**6, 0), (-(10**6), 0)])
def test_a_lease_is_measured_by_the_folders_clock(tmp_path: Path, age_s: float, code: int) -> None:
    """S3: what the other machine's clock says is no matter, be it decades ahead."""
    run = Run(tmp_path)
    run.start()
    before = run.state()
    write_beat(beat_path(run), age_s)
    ended = run.step()
    assert ended.code == code
    if code:
        assert run.state() == before and "elsewhere" in ended.err
    else:
        assert run.state()["revision"] == before["revision"] + 2, "one to fence, one to advance"
        assert not beat_path(run).exists()


def test_an_old_owner_that_wakes_is_refused_at_its_next_write(tmp_path: Path) -> None:
    """S3, O4: its commit, its late answer and its late fetch alike; nothing on disk changes."""
    run = Run(tmp_path)
    run.start()
    project = Project(load_settings(str(run.root)))
    old = read_snapshot(project, run.slug)  # the owner sleeps here, its delegate at work
    guard, fence = guard_of(project, old), fence_of(project, old.state)
    mailbox = Mailbox(project.layout, run.slug, fence)
    sources = Sources(project.layout, run.slug, str, fence)
    guard(), fence()
    write_beat(beat_path(run), 61)
    with Held(project, run.slug):  # taken over: refused though the new owner has written nothing
        files = run.files()
        with pytest.raises(FencedError):
            guard()
        with pytest.raises(FencedError):
            mailbox.put(Reply(task_id="search-0-moon-and-sun", text="late"))
        with pytest.raises(FencedError):
            sources.record(FETCH)
        with pytest.raises(FencedError):
            sources.hold("a late page")
        assert run.files() == files
    assert run.to_end().json["status"] == "confirmed"
    files = run.files()
    with pytest.raises(NoSuchRunError):
        guard()
    with pytest.raises(FencedError, match="ended by another"):
        mailbox.put(Reply(task_id="search-0-moon-and-sun", text="later still"))
    with pytest.raises(FencedError):
        sources.hold("a late page")
    assert run.files() == files, "the sealed evidence and the cleared state stay as they are"


def test_an_old_owner_never_beats_over_the_new_ones_claim(tmp_path: Path) -> None:
    """S3: its thread finds another file, or none, and stops; giving up leaves the new one alone."""
    path = str(tmp_path / "research--a.heartbeat")
    old = heartbeat.render_heartbeat(heartbeat.make_heartbeat("", "2026-01-01T00:00:00Z"))
    new = heartbeat.render_heartbeat(heartbeat.make_heartbeat("", "2026-01-01T00:00:00Z"))
    assert old != new and len(old) == len(new)
    assert lease.claim(path, old) == (None, True)
    assert lease.refresh(path, old, old)
    assert lease.claim(path, new) == (None, False)  # same machine: the kernel lock was taken before
    assert not lease.refresh(path, old, old)
    lease.give_up(path, old)
    assert Path(path).read_bytes() == new
    lease.give_up(path, new)
    assert not lease.refresh(path, new, new)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("has_links", [True, False])
def test_of_many_takers_one_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_links: bool
) -> None:
    """S3: where nobody has the run, and where all see the same silent owner."""
    if not has_links:
        monkeypatch.delattr(os, "link")
    for stale in (False, True, True, True):
        path = tmp_path / "research--a.heartbeat"
        path.unlink(missing_ok=True)
        if stale:
            write_beat(path, 100)
        monkeypatch.setattr(lease, "own_host", lambda: "host-of-" + threading.current_thread().name)
        won: list[str] = []
        barrier = threading.Barrier(8)

        def take(
            path: Path = path, won: list[str] = won, gate: threading.Barrier = barrier
        ) -> None:
            beat = heartbeat.make_heartbeat("", "2026-01-01T00:00:00Z")
            own = msgspec.structs.replace(beat, host=lease.own_host())
            gate.wait()
            try:
                lease.claim(str(path), heartbeat.render_heartbeat(own))
                won.append(own.host)
            except lease.HeldElsewhere:
                pass

        threads = [threading.Thread(target=take, name=str(n)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(won) == 1, won
        held = heartbeat.read_heartbeat(str(path))
        assert held is not None and held.host == won[0]
        assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("what", ["folder", "fifo", "link", "garbage", "empty"])
def test_a_hostile_claim_file_holds_up_nobody(tmp_path: Path, what: str) -> None:
    """81 section 6: planted things at the path: the run goes on, what they point at stays."""
    run = Run(tmp_path)
    run.start()
    path, target = beat_path(run), tmp_path / "target"
    target.write_text("mine")
    if what == "folder":
        path.mkdir()
    elif what == "fifo":
        os.mkfifo(path)
    elif what == "link":
        path.symlink_to(target)
    else:
        path.write_bytes(b"" if what == "empty" else b"[" * 5000)
    assert run.step().code == 0
    assert target.read_text() == "mine"
    assert path.is_dir() if what == "folder" else not os.path.lexists(path)


def test_a_heartbeat_is_kept_fresh_while_a_delegate_works(tmp_path: Path) -> None:
    """O4: at least four beats a lease; the file keeps its inode, the run its revision."""
    run = Run(tmp_path, [{"role": "researcher", "fault": "sleep", "seconds": 1.2, "text": "x"}])
    run.start()
    (run.base / "config.yaml").write_text("lease_s: 0.8\n")
    thread = threading.Thread(target=run.step)
    thread.start()
    seen: dict[int, set[int]] = {}
    while thread.is_alive():
        try:
            info = os.stat(beat_path(run))
            seen.setdefault(info.st_ino, set()).add(info.st_mtime_ns)
        except FileNotFoundError:
            pass
        time.sleep(0.02)
    assert len(seen) == 1 and len(next(iter(seen.values()))) >= 4


def test_a_run_that_another_machine_has_is_left_alone_by_every_verb(tmp_path: Path) -> None:
    """S3: step, retry, clear, recover; a cancel leaves its marker."""
    run = Run(tmp_path)
    run.start()
    write_beat(beat_path(run), 1)
    before = run.state_path.read_bytes()
    for verb in (("step", run.slug), ("clear", run.slug, "--yes"), ("retry", run.slug)):
        assert run.cli(*verb).code == 6
    assert "running" in run.cli("recover").err
    project = Project(load_settings(str(run.root)))
    with pytest.raises(OmhError):
        Held(project, run.slug).__enter__()
    assert run.state_path.read_bytes() == before and beat_path(run).exists()


def test_a_lap_costs_the_same_however_many_runs_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Q11: a process lists the folders that all runs share once, not once a lap; after a crash,

    which leaves its heartbeat, it looks again and removes what is there.
    """
    from omh_research.store import disk

    run = Run(tmp_path)
    run.start()
    project = Project(load_settings(str(run.root)))
    shared = {project.layout.state_dir, project.layout.research_dir}
    listed: list[str] = []
    real = disk.names
    monkeypatch.setattr(disk, "names", lambda folder: listed.append(folder) or real(folder))
    for _ in range(5):
        with Held(project, run.slug):
            pass
    assert [folder for folder in listed if folder in shared] == sorted(shared, reverse=True)
    left = run.base / "research" / f".{run.slug}-report.md.0123456789ab.tmp"
    left.write_text("cut")
    with Held(project, run.slug):
        assert left.exists(), "nobody crashed: nothing is looked for"
    write_beat(beat_path(run), 1, host=heartbeat.own_host())
    with Held(project, run.slug):
        assert not left.exists()


def test_two_machines_never_begin_runs_at_once(tmp_path: Path) -> None:
    """S3, E10: a start waits for the other machine's, whose lease ends when it has died."""
    run = Run(tmp_path)
    run.start()
    path = run.base / "state" / "locks" / "_start.heartbeat"
    project = Project(load_settings(str(run.root)))
    write_beat(path, 0, lease_s=20)
    with pytest.raises(BusyError, match="elsewhere"), held_start(project, 0.2):
        raise AssertionError("held twice")
    threading.Timer(0.3, path.unlink).start()
    with held_start(project):
        assert path.exists()
    write_beat(path, 30, lease_s=20)
    assert run.cli("start", "Another topic", "--delegate", "host").code == 0
    assert not path.exists()


def test_what_a_crash_leaves_of_a_claim_is_gone_with_the_next_one(tmp_path: Path) -> None:
    """A claim's temporary files have one name a machine, in the folder of the locks too."""
    run = Run(tmp_path)
    run.start(delegate="host")
    project = Project(load_settings(str(run.root)))
    start_claim = os.path.join(project.layout.locks_dir, "_start.heartbeat")
    for path in (start_claim, str(beat_path(run))):
        write_beat(Path(path), 1, host=heartbeat.own_host())  # our own, left by a crash
        for use in ("", ".age"):
            Path(lease._own_aside(path, use)).write_bytes(b"{")
    with held_start(project), Held(project, run.slug):
        pass
    left = [path.name for path in (run.base / "state").rglob(".*.tmp")]
    assert left == []
    assert not os.path.exists(start_claim) and not beat_path(run).exists()
