"""A full or failing disk, a folder that cannot be written, a clock that jumps (E1, E12, E33, E36)."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import crash_check
import pytest
import scenario

from omh_research import Engine
from omh_research.documents.options import RunOptions
from omh_research.errors import StorageError
from omh_research.store import mailbox
from tests.runs import NAMES, SUBTOPICS, TOPIC, Run, cli, finding
from tests.store.fault_os import faulty_disk

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for key, value in scenario.write_script(tmp_path).items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("OMH_OFFLINE", "1")
    yield


def lap(root: Path) -> int:
    """One invocation; return its exit code."""
    ended = scenario.invoke(root, "scripted", cli)
    assert "Traceback" not in ended.err and (ended.code == 0 or ended.err.count("\n") == 1), ended
    return int(ended.code)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS])
@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_a_call_that_fails_in_any_lap_is_said_and_the_run_goes_on_when_cured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, code: int
) -> None:
    """81 section 2: never 0, never a traceback, the old state intact, nothing asked again."""
    root = tmp_path / "root"
    root.mkdir()
    chance = random.Random(f"{call} {code}")
    for number in range(8):
        with faulty_disk(monkeypatch) as fake:
            fake.fail(call, chance.randint(1, 2), code, onwards=True)
            failed = lap(root)
        crash_check.check_promises(crash_check.Tree(root))
        assert failed == 1, f"lap {number}: a lap that cannot write cannot succeed"
        assert lap(root) == 0
    assert scenario.is_over(root)
    crash_check.check_finished(root)
    calls = [line.split()[0] for line in (tmp_path / "calls.txt").read_text().splitlines()]
    assert set(calls) == set(scenario.ANSWERS)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a tmpfs of 300 kB, where that is allowed."""
    folder = tmp_path / "small"
    folder.mkdir()
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("needs to mount a small file system")
    command = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)


def fill(path: Path) -> None:
    """Write until the disk is full."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT)
    try:
        with contextlib.suppress(OSError):
            while True:
                os.write(fd, b"x" * 4096)
    finally:
        os.close(fd)


def test_a_real_full_disk(small_disk: Path) -> None:
    """81 section 2: a small tmpfs; filled before each lap, freed after it."""
    root = small_disk / "root"
    root.mkdir()
    ballast = small_disk / "ballast"
    failures = 0
    for _ in range(8):
        fill(ballast)
        code = lap(root)
        failures += code == 1
        crash_check.check_promises(crash_check.Tree(root))
        ballast.unlink(missing_ok=True)
        if code == 1:
            assert lap(root) == 0
    assert failures == 8 and scenario.is_over(root)
    crash_check.check_finished(root)


FILLING = """
import os, pathlib, sys
here = pathlib.Path(__file__).parent
prompt = sys.stdin.read()
name = next(name for name in %r if f"Subtopic: {name}" in prompt)
with (here / "asked.txt").open("a") as file:
    file.write(name + "\\n")
if not (here / "filled").exists():
    (here / "filled").touch()
    fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
    try:
        for _ in range(200):
            os.write(fd, b"x" * 4096)
    except OSError:
        os.close(fd)
print((here / name).read_text())
"""


def test_e20_an_answer_that_came_on_a_full_disk_is_kept_and_not_paid_again(
    small_disk: Path, tmp_path: Path
) -> None:
    """The disk fills up while three programs answer: all three answers are stored all the same."""
    for name in NAMES:
        (tmp_path / name).write_text(finding(name))
    (tmp_path / "program.py").write_text(FILLING % (NAMES,))
    ballast = small_disk / "ballast"
    program = shlex.join([sys.executable, str(tmp_path / "program.py"), str(ballast)])
    run = Run(small_disk)
    assert run.start("--command", program, *SUBTOPICS, delegate="command").code == 0
    lap = run.step()
    assert (lap.code, lap.json["phase"]) == (0, "gap_check"), "the held space had room for all"
    assert shutil.disk_usage(small_disk).free < mailbox.SPARE_BYTES, "the disk was full"
    assert sorted((tmp_path / "asked.txt").read_text().split("\n")[:-1]) == sorted(NAMES)


def test_e20_a_disk_without_room_for_an_answer_is_said_before_anything_is_paid(
    small_disk: Path, tmp_path: Path
) -> None:
    (tmp_path / "program.py").write_text(FILLING % (NAMES,))
    program = shlex.join([sys.executable, str(tmp_path / "program.py"), str(small_disk / "more")])
    run = Run(small_disk)
    assert run.start("--command", program, *SUBTOPICS, delegate="command").code == 0
    fill(small_disk / "ballast")
    full = run.cli("step", run.slug)
    assert full.code == 1 and "Free space" in full.err
    assert not (tmp_path / "asked.txt").exists()


def test_a_log_that_cannot_be_written_does_not_hide_the_first_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    assert lap(root) == 0
    with faulty_disk(monkeypatch) as fake:
        fake.fail("write", 4, errno.ENOSPC, onwards=True)
        ended = scenario.invoke(root, "scripted", cli)
    assert ended.code == 1 and "No space left" in ended.err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root ignores modes")
def test_a_root_that_cannot_be_written_is_said_before_any_work(tmp_path: Path) -> None:
    """E36."""
    root = tmp_path / "root"
    root.mkdir(mode=0o555)
    ended = scenario.invoke(root, "scripted", cli)
    assert ended.code == 1 and not (tmp_path / "calls.txt").exists()


def test_a_root_that_cannot_be_written_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E36: a clear error, exit 1, before any delegate is asked."""
    root = tmp_path / "root"
    root.mkdir()
    with faulty_disk(monkeypatch) as fake:
        fake.fail("mkdir", 1, errno.EROFS, onwards=True)
        ended = scenario.invoke(root, "scripted", cli)
    assert ended.code == 1 and "Read-only" in ended.error["message"]
    assert not (tmp_path / "calls.txt").exists() and not (root / ".omh").exists()


class JumpingClock:
    """A clock that leaps between calls: back a day, forward ten years, past 2038, to 1970."""

    LEAPS = (timedelta(0), timedelta(days=-1), timedelta(days=3652), timedelta(days=-3652),
             timedelta(days=-20_000), timedelta(days=5_000), timedelta(hours=-1))  # fmt: skip

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> datetime:
        self.calls += 1
        return datetime(2026, 11, 30, 12, tzinfo=UTC) + self.LEAPS[self.calls % len(self.LEAPS)]


def test_a_run_under_a_jumping_clock_ends_like_any_other(tmp_path: Path) -> None:
    """81 section 2: order comes from numbers, not from times; a cancel does not expire."""
    root = tmp_path / "root"
    root.mkdir()
    clock = JumpingClock()
    slug = (
        Engine(str(root), clock=clock)
        .start(scenario.TOPIC, delegate="scripted", options=RunOptions())
        .slug
    )
    for _ in range(7):
        report = Engine(str(root), clock=clock).step(slug)
    assert report.status == "confirmed" and clock.calls > 20
    words = [
        event.word
        for event in Engine(str(root)).project.reader.events(
            Engine(str(root)).project.reader.session_of(slug)
        )
    ]
    assert words == list(scenario.EVENTS)
    assert cli("audit", slug, "--root", str(root)).code == 0


def test_a_cancel_asked_for_in_another_century_holds(tmp_path: Path) -> None:
    """E35, 81 section 2."""
    run = Run(tmp_path)
    run.start()
    future = Engine(str(run.root), clock=lambda: datetime(2099, 1, 1, tzinfo=UTC))
    future.cancel(run.slug, "later")
    assert (
        Engine(str(run.root), clock=lambda: datetime(1999, 1, 1, tzinfo=UTC)).step(run.slug).status
        == "cancelled"
    )


def test_a_heartbeat_of_this_machine_never_makes_a_run_busy(tmp_path: Path) -> None:
    """E12: here the kernel lock decides; the heartbeat is for display, whatever its time says."""
    from omh_research.store import heartbeat

    run = Run(tmp_path)
    run.start()
    path = run.base / "state" / f"research--{run.slug}.heartbeat"
    for when in ("2099-01-01T00:00:00Z", "1999-01-01T00:00:00Z", "nonsense", ""):
        beat = heartbeat.Heartbeat(pid=1, host=heartbeat.own_host(), beat_at=when)
        import msgspec

        path.write_bytes(msgspec.json.encode(beat))
        assert run.cli("status", run.slug, "--json").json["status"] == "interrupted"
        assert run.cli("step", run.slug).code == 0


def test_a_fresh_heartbeat_of_another_machine_is_its_lease(tmp_path: Path) -> None:
    """E12, O4: it decides only if it names another host; a stale one is taken over."""
    import msgspec

    from omh_research.store import heartbeat

    run = Run(tmp_path)
    run.start()
    path = run.base / "state" / f"research--{run.slug}.heartbeat"
    now = datetime.now(UTC)
    for age, code in ((5, 6), (3600, 0)):
        when = (now - timedelta(seconds=age)).strftime("%Y-%m-%dT%H:%M:%SZ")
        beat = heartbeat.Heartbeat(
            pid=1, host="elsewhere", started_at=when, beat_at=when, lease_s=60
        )
        path.write_bytes(msgspec.json.encode(beat))
        os.utime(path, (now.timestamp() - age,) * 2)  # the folder's own clock decides
        ended = run.cli("step", run.slug, "--json")
        assert ended.code == code
        if code:
            assert "elsewhere" in ended.error["message"]
    assert TOPIC


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("side_by_side", [1, 3])
@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_an_answer_that_cannot_be_kept_is_no_failed_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, side_by_side: int
) -> None:
    """E20, E21: one failing write ends the command; it is not counted against the delegate."""
    root = tmp_path / "root"
    (root / ".omh").mkdir(parents=True)
    (root / ".omh" / "config.yaml").write_text(f"side_by_side: {side_by_side}\n")
    assert lap(root) == 0
    from omh_research.store import mailbox

    puts = 0
    real = mailbox.disk.replace

    def failing(path: str, data: bytes, **more: object) -> None:
        nonlocal puts
        if ".tasks" in path:
            puts += 1
            if puts == number:
                raise StorageError("Cannot write a reply: Input/output error.")
        real(path, data, **more)

    with monkeypatch.context() as inner:
        inner.setattr(mailbox.disk, "replace", failing)
        ended = scenario.invoke(root, "scripted", cli)
    tree = crash_check.Tree(root)
    assert tree.state is not None and tree.state.failures == {}
    assert ended.code == (1 if number < 4 else 0) and "Traceback" not in ended.err
    while not scenario.is_over(root):
        assert lap(root) == 0
    (root / ".omh" / "config.yaml").unlink()
    crash_check.check_finished(root)
    assert "DELEGATE_FAILED" not in [event.word for event in crash_check.Tree(root).events()]


def test_a_fetch_that_cannot_be_recorded_is_no_failed_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E20: a full disk while a page is recorded is said as what it is."""
    script = [{"role": "researcher", "searches": ["spring tides"], "text": "x"}]
    run = Run(tmp_path / "run", script)
    docs = run.root / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# Tides\n\nSpring tides come twice a month.\n")
    assert run.start("--corpus", str(docs), *SUBTOPICS).code == 0
    with faulty_disk(monkeypatch) as fake:
        fake.fail("write", 3, errno.ENOSPC, onwards=True)
        ended = run.step()
    assert ended.code == 1 and "No space left" in ended.error["message"]
    assert "failures" not in run.state() and "DELEGATE_FAILED" not in run.words()


def test_a_damaged_fetch_record_is_named_not_blamed_on_the_delegate(tmp_path: Path) -> None:
    """E3."""
    run = Run(tmp_path / "run")
    run.start()
    ledger = run.base / "research" / f"{run.slug}-evidence" / "fetch_ledger.jsonl"
    ledger.write_text("nonsense\n{}\n")
    ended = run.step()
    assert ended.code == 7 and "fetch_ledger.jsonl" in ended.error["message"]
    assert ledger.read_text() == "nonsense\n{}\n"
