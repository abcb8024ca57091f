"""The store's system calls: whole or not at all, synced once each, every failure said (E1)."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path

import pytest

from omh_research.errors import DamagedFileError, StorageError
from omh_research.store import disk
from tests.store.fault_os import faulty_disk

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX calls are counted")


def listing(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_replace_is_temp_write_sync_rename_and_sync_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E1, Q3: exactly two syncs, in the order that survives a power cut."""
    with faulty_disk(monkeypatch) as fake:
        disk.replace(str(tmp_path / "a.json"), b"new")
    assert fake.names() == ["write", "fsync", "replace", "fsync"]
    synced = [name for call, name in fake.calls if call == "fsync"]
    assert synced[0].startswith(".a.json.") and synced[1] == tmp_path.name
    assert (tmp_path / "a.json").read_bytes() == b"new" and listing(tmp_path) == ["a.json"]


def test_files_of_one_folder_share_its_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E1, Q3: n files in one folder cost n + 1 syncs, in two folders n + 2."""
    (tmp_path / "in").mkdir()
    files = [(str(tmp_path / f"{i}.md"), b"x") for i in range(4)]
    with faulty_disk(monkeypatch) as fake:
        disk.replace_all(files)
    assert fake.count("fsync") == 5
    with faulty_disk(monkeypatch) as fake:
        disk.replace_all([*files, (str(tmp_path / "in" / "b.md"), b"y")])
    assert fake.count("fsync") == 7
    assert [name for name in fake.names() if name == "fsync"][-2:] == ["fsync", "fsync"]


def test_a_batch_of_events_is_one_write_a_line_and_one_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E1, Q3: and one more sync, of the folder, when the log is new."""
    path = str(tmp_path / "x.log")
    with faulty_disk(monkeypatch) as fake:
        disk.append(path, ["one", "two", "three"])
    assert fake.names() == ["write"] * 3 + ["fsync", "fsync"]
    with faulty_disk(monkeypatch) as fake:
        disk.append(path, ["four", "five"])
    assert fake.names() == ["write"] * 2 + ["fsync"]
    assert Path(path).read_text() == "one\ntwo\nthree\nfour\nfive\n"


def test_a_heartbeat_costs_no_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with faulty_disk(monkeypatch) as fake:
        disk.replace(str(tmp_path / "h"), b"x", durable=False)
    assert fake.count("fsync") == 0


@pytest.mark.parametrize("short", [1, 7, 4096])
def test_short_writes_are_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short: int
) -> None:
    """81 section 2: write may take less than it was given and raise nothing."""
    data = os.urandom(20_000 if short > 1 else 500)
    with faulty_disk(monkeypatch) as fake:
        fake.short = short
        disk.replace(str(tmp_path / "a"), data)
        disk.append(str(tmp_path / "log"), ["x" * 300, "y" * 300])
    assert (tmp_path / "a").read_bytes() == data
    assert (tmp_path / "log").read_text() == "x" * 300 + "\n" + "y" * 300 + "\n"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS])
@pytest.mark.parametrize("call", ["open", "write", "fsync", "close", "replace"])
def test_a_replace_that_fails_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int
) -> None:
    """81 section 2: write, fsync, close and rename may each fail; the error is never swallowed."""
    path = tmp_path / "a.json"
    path.write_bytes(b"old")
    with faulty_disk(monkeypatch) as fake:
        fake.fail(call, 1, code)
        with pytest.raises(StorageError) as caught:
            disk.replace(str(path), b"new" * 1000)
    assert "a.json" in str(caught.value) and os.strerror(code) in str(caught.value)
    assert caught.value.exit_code == 1
    assert path.read_bytes() == b"old" and listing(tmp_path) == ["a.json"]


def test_a_disk_that_fills_up_is_said_and_survived(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"old")
    with faulty_disk(monkeypatch) as fake:
        fake.short = 100
        fake.fail("write", 3, errno.ENOSPC, onwards=True)
        with pytest.raises(StorageError) as caught:
            disk.replace(str(path), b"n" * 1000)
    assert "Free space" in caught.value.hint
    assert path.read_bytes() == b"old" and listing(tmp_path) == ["a.json"]


def test_a_failed_sync_is_never_tried_again_on_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """81 section 2 (fsyncgate): a second fsync would succeed and mean nothing."""
    with faulty_disk(monkeypatch) as fake:
        fake.fail("fsync", 1)
        with pytest.raises(StorageError):
            disk.replace(str(tmp_path / "a"), b"x")
    assert fake.count("fsync") == 1 and not (tmp_path / "a").exists()


def test_a_failed_sync_of_the_folder_is_no_success(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E1: the name may not be durable: the command must not say done."""
    with faulty_disk(monkeypatch) as fake:
        fake.fail("fsync", 2)
        with pytest.raises(StorageError):
            disk.replace(str(tmp_path / "a"), b"x")


@pytest.mark.parametrize("call", ["open", "write", "fsync"])
def test_an_append_that_fails_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = tmp_path / "x.log"
    path.write_text("one\n")
    with faulty_disk(monkeypatch) as fake:
        fake.fail(call, 1, errno.ENOSPC)
        with pytest.raises(StorageError):
            disk.append(str(path), ["two"])
    assert path.read_text() in ("one\n", "one\ntwo\n")


@pytest.mark.parametrize("call", ["mkdir", "fsync"])
def test_a_folder_that_cannot_be_made_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    with faulty_disk(monkeypatch) as fake:
        fake.fail(call, 1, errno.ENOSPC)
        with pytest.raises(StorageError):
            disk.make_directories(str(tmp_path / "a"), str(tmp_path / "a" / "b"))


def test_each_new_folder_is_durable_in_the_one_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """81 section 2: mkdir, then a sync of the parent, for each level; none when all are there."""
    base, deep = str(tmp_path / "a"), str(tmp_path / "a" / "b" / "c")
    with faulty_disk(monkeypatch) as fake:
        disk.make_directories(base, deep)
        assert fake.names() == ["mkdir", "fsync"] * 3
        disk.make_directories(base, deep)
        assert fake.count("mkdir") == 3 and fake.count("fsync") == 3


@pytest.mark.parametrize("call", ["unlink", "fsync"])
def test_a_removal_that_fails_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    path = tmp_path / "state.json"
    path.write_text("x")
    with faulty_disk(monkeypatch) as fake:
        fake.fail(call, 1)
        with pytest.raises(StorageError):
            disk.remove(str(path))


def test_a_folder_is_removed_whole_and_durably(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tasks"
    folder.mkdir()
    for name in ("a.json", "b.json"):
        (folder / name).write_text("x")
    with faulty_disk(monkeypatch) as fake:
        disk.remove_folder(str(folder))
        assert fake.names() == ["unlink", "unlink", "rmdir", "fsync"]
        disk.remove_folder(str(folder))
        assert fake.count("rmdir") == 1


def test_an_unfinished_line_is_ended_before_the_next(tmp_path: Path) -> None:
    """E33: the next event is not glued to what a crash left."""
    path = tmp_path / "x.log"
    path.write_bytes(b"whole\nto")
    disk.append(str(path), ["next"])
    assert path.read_bytes() == b"whole\nto ~torn\nnext\n"


@pytest.mark.parametrize(
    ("held", "kept"),
    [(b"", b""), (b"a\nb\n", b"a\nb\n"), (b"a\nb", b"a\n"), (b"torn", b""), (b"a\n\0\0", b"a\n")],
)
def test_a_ledgers_torn_tail_is_cut(tmp_path: Path, held: bytes, kept: bytes) -> None:
    path = tmp_path / "l.jsonl"
    path.write_bytes(held)
    disk.cut_torn_tail(str(path))
    assert path.read_bytes() == kept


def test_rows_that_are_there_are_not_repeated(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    disk.append_missing(str(path), ["a", "b"])
    with path.open("ab") as stream:
        stream.write(b"c-torn")
    disk.append_missing(str(path), ["a", "b", "c", "d"])
    assert path.read_bytes() == b"a\nb\nc\nd\n"


def test_modes_are_those_of_the_contract(tmp_path: Path) -> None:
    """E1: 0600 for state, 0644 for durable artifacts, and the mode stays on replacing."""
    old = os.umask(0)
    try:
        for mode in (disk.STATE_MODE, disk.DURABLE_MODE):
            for _ in range(2):
                disk.replace(str(tmp_path / "f"), b"x", mode=mode)
                assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == mode
    finally:
        os.umask(old)


def test_only_own_temporary_files_are_swept(tmp_path: Path) -> None:
    for name in (".research--a.json.1f.tmp", ".research--ab.json.2.tmp", "a.tmp", "b.json"):
        (tmp_path / name).write_text("x")
    disk.sweep_temps(str(tmp_path), ".research--a.")
    assert listing(tmp_path) == [".research--ab.json.2.tmp", "a.tmp", "b.json"]
    disk.sweep_temps(str(tmp_path / "none"))


def test_a_temporary_name_is_nobody_elses(tmp_path: Path) -> None:
    """81 section 2: two containers have the same process id; a long name still fits."""
    names = {disk.temp_path(str(tmp_path / ("x" * 250))) for _ in range(100)}
    assert len(names) == 100
    assert all(len(os.path.basename(name)) <= 255 for name in names)


@pytest.mark.parametrize("kind", ["link", "fifo", "folder", "device", "dangling"])
def test_reading_what_is_no_plain_file(tmp_path: Path, kind: str) -> None:
    """81 section 6: never through a link, never hanging on a FIFO."""
    path = tmp_path / "f"
    target = tmp_path / "target"
    target.write_text("secret")
    if kind == "link":
        path.symlink_to(target)
    elif kind == "dangling":
        path.symlink_to(tmp_path / "nowhere")
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path = Path("/dev/zero")
    with pytest.raises((DamagedFileError, StorageError)):
        disk.read_bytes(str(path))
    if kind != "device":
        with pytest.raises((DamagedFileError, StorageError)):
            disk.append(str(path), ["x"])
    assert target.read_text() == "secret" and not (tmp_path / "nowhere").exists()


def test_a_file_with_two_names_is_not_changed_in_place(tmp_path: Path) -> None:
    """81 section 6: only logs and ledgers are changed in place; a replace breaks the tie."""
    outside, log = tmp_path / "outside", tmp_path / "log"
    outside.write_text("torn")
    os.link(outside, log)
    for change in (lambda: disk.append(str(log), ["x"]), lambda: disk.cut_torn_tail(str(log))):
        with pytest.raises(DamagedFileError):
            change()
    disk.replace(str(log), b"new")
    assert outside.read_text() == "torn" and log.read_text() == "new"


def test_a_file_over_the_limit_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "big"
    path.write_bytes(b"x" * 100)
    assert disk.read_bytes(str(path), max_bytes=100) == b"x" * 100
    with pytest.raises(DamagedFileError):
        disk.read_bytes(str(path), max_bytes=99)


@pytest.mark.parametrize("level", ["a", "a/b", "a/b/c"])
@pytest.mark.parametrize("kind", ["link", "file"])
def test_no_folder_is_made_or_used_through_a_link(tmp_path: Path, level: str, kind: str) -> None:
    """E7: an outer folder that is a link is refused, though the inner one is a real folder."""
    outside = tmp_path / "outside"
    (outside / "b" / "c").mkdir(parents=True)
    (outside / "c").mkdir()
    place = tmp_path / level
    place.parent.mkdir(parents=True, exist_ok=True)
    if kind == "link":
        place.symlink_to(outside)
    else:
        place.write_text("x")
    with pytest.raises(DamagedFileError):
        disk.make_directories(str(tmp_path / "a"), str(tmp_path / "a" / "b" / "c"))
    assert sorted(path.name for path in outside.rglob("*")) == ["b", "c", "c"]
