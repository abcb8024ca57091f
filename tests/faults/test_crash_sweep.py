"""The engine stopped before and in every write of every phase and recovery path, then re-invoked.

After each stop: what the tree promises holds; one more invocation leads to the very tree of an
undisturbed run; no stored answer is asked for again (E1, E8, E9, E13, E16, E18, E20, E29, E35).
"""

from __future__ import annotations

import contextlib
import random
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import crash_check
import pytest
import scenario

from omh_research import Engine
from omh_research.documents.event import parse_log
from omh_research.documents.options import RunOptions
from omh_research.errors import NoSuchRunError, UsageError
from omh_research.settings import load_settings
from tests.faults.crashing import crash_at

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
LAPS = 8
EVERY = 7  # in CI: each seventh stop, another one for each lap

pytestmark = pytest.mark.timeout(1200)


class Tree(NamedTuple):
    """A root as it is compared: its files made equal, and its events."""

    files: dict[str, str]
    events: list[tuple[str, int]]


def tree_of(root: Path) -> Tree:
    slug = scenario.find_slug(root)
    files = crash_check.normal_files(root, slug) if slug else {}
    files = {
        name: text
        for name, text in files.items()
        if not name.endswith((".heartbeat", ".lock")) and name not in ("README.md", ".gitignore")
    }
    logs = sorted((root / ".omh" / "logs").glob("*.log"))
    events = [event for log in logs for event in parse_log(log.read_text("utf-8", "replace"))]
    return Tree(files, [(event.word, event.step) for event in events if event.slug == slug])


def engine(root: Path) -> Engine:
    """Return an engine as a new process would make it: seeded, its clock standing still."""
    seeded = random.Random(len(list((root / ".omh" / "state" / "locks").glob("*"))))
    settings = load_settings(str(root))
    return Engine(
        settings=settings,
        clock=lambda: NOON,
        rand=lambda digits: "".join(seeded.choice("0123456789abcdef") for _ in range(digits)),
    )


def lap(root: Path) -> None:
    """One invocation: start, or a step."""
    slug = scenario.find_slug(root)
    if slug and not scenario.is_over(root):
        engine(root).step(slug)
    elif not slug or not (root / ".omh" / "research" / f"{slug}-report.md").exists():
        engine(root).start(scenario.TOPIC, delegate="scripted", options=RunOptions())
    else:
        engine(root).step(slug)


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Choose the script, and one researcher at a time so that stops can be counted."""
    for key, value in scenario.write_script(tmp_path).items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("OMH_OFFLINE", "1")
    yield


def new_root(folder: Path) -> Path:
    root = folder / "root"
    (root / ".omh").mkdir(parents=True)
    (root / ".omh" / "config.yaml").write_text("side_by_side: 1\n")
    return root


def undisturbed(folder: Path) -> tuple[list[Path], list[Tree]]:
    """Return the tree before each lap, kept, and how each tree reads; the last is the end."""
    root = new_root(folder)
    kept, trees = [], []
    for number in range(LAPS + 1):
        copy = folder / f"before-{number}"
        shutil.copytree(root, copy)
        kept.append(copy)
        trees.append(tree_of(root))
        if number < LAPS:
            lap(root)
    assert (root / ".omh" / "research").exists() and scenario.is_over(root)
    return kept, trees


def calls(tmp_path: Path) -> list[str]:
    path = tmp_path / "calls.txt"
    return [line.split()[0] for line in path.read_text().splitlines()] if path.exists() else []


class Stopped(NamedTuple):
    """What a stop left."""

    root: Path
    replies: set[str]
    calls_before: int


def stop(
    before: Path, tmp_path: Path, patch: pytest.MonkeyPatch, act: Callable[[Path], None],
    at: int, torn: bool,
) -> Stopped:  # fmt: skip
    """Copy a tree, stop `act` in it at one change, check the promises of what is left."""
    root = tmp_path / "work"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(before, root)
    with crash_at(patch, at, torn=torn) as dying:
        act(root)
    assert dying.dead, f"there is no change number {at}"
    left = crash_check.Tree(root)
    return Stopped(root, set(left.replies()) if left.slug else set(), len(calls(tmp_path)))


def changes_of(
    before: Path, tmp_path: Path, patch: pytest.MonkeyPatch, act: Callable[[Path], None]
) -> list[str]:
    """Return the kinds of the changes that an undisturbed `act` makes, in order."""
    root = tmp_path / "dry"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(before, root)
    with crash_at(patch, 0) as dying:
        act(root)
    return dying.kinds


def points(kinds: list[str], every: int, shift: int) -> Iterator[tuple[int, bool]]:
    """Yield (number, torn): before each change, and in each write."""
    both = [
        (n, torn)
        for n, kind in enumerate(kinds, 1)
        for torn in ((False, True) if kind == "write" else (False,))
    ]
    yield from both[shift % every :: every]


def same_end(found: Tree, wanted: Tree) -> bool:
    """Tell whether two ends are one; after a stop the confirmation may be logged as recovered."""
    if found.files != wanted.files:
        return False
    words = [word for word, _ in found.events if word != "REPORT_CONFIRMED_RECOVERED"]
    ours = [word for word, _ in wanted.events]
    if found.events == wanted.events or words == ours:
        return True
    return (
        "REPORT_CONFIRMED_RECOVERED" in dict(found.events) and [*words, "REPORT_CONFIRMED"] == ours
    )


def sweep_lap(
    number: int,
    kept: list[Path],
    trees: list[Tree],
    tmp_path: Path,
    patch: pytest.MonkeyPatch,
    every: int,
) -> int:
    """Stop one lap at its changes, one after the other; return how many stops were made."""
    kinds = changes_of(kept[number], tmp_path, patch, lap)
    assert len(kinds) > 8, "a lap that changes nothing is no test"
    stops = 0
    for at, torn in points(kinds, every, number):
        what = (
            f"lap {number}, change {at} of {len(kinds)} ({kinds[at - 1]}{', torn' if torn else ''})"
        )
        left = stop(kept[number], tmp_path, patch, lap, at, torn)
        crash_check.check_promises(crash_check.Tree(left.root))
        lap(left.root)
        again = set(calls(tmp_path)[left.calls_before :])
        assert not again & left.replies, f"{what}: asked again {again & left.replies}"
        found = tree_of(left.root)
        ends = trees[number + 1 : number + 3]
        assert any(same_end(found, end) for end in ends), f"{what}: {difference(found, ends[0])}"
        stops += 1
    return stops


def difference(found: Tree, wanted: Tree) -> str:
    """Say where two trees differ."""
    names = sorted(set(found.files) ^ set(wanted.files))
    texts = [n for n in found.files if n in wanted.files and found.files[n] != wanted.files[n]]
    shown = "".join(f"\n{n}:\n{found.files[n]}\n---\n{wanted.files[n]}" for n in texts[:1])
    return f"{names} {texts} {found.events} against {wanted.events}{shown}"


def test_every_phase_stopped_at_its_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """E16, E18, E20, E29: one stop in seven of each lap (every one with --deep)."""
    kept, trees = undisturbed(tmp_path)
    stops = sum(sweep_lap(n, kept, trees, tmp_path, monkeypatch, EVERY) for n in range(LAPS))
    assert stops > 30


@pytest.mark.deep
def test_every_phase_stopped_at_every_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, trees = undisturbed(tmp_path)
    stops = sum(sweep_lap(n, kept, trees, tmp_path, monkeypatch, 1) for n in range(LAPS))
    with capsys.disabled():
        print(f"\ncrash sweep: {stops} stops in {LAPS} laps, 0 violations")
    assert stops > 200


@pytest.mark.deep
def test_the_recovery_itself_stopped_at_every_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """81 section 8, crash during the recovery: each ninth stop, then each third of what follows."""
    kept, trees = undisturbed(tmp_path)
    stops = 0
    for number in range(LAPS):
        kinds = changes_of(kept[number], tmp_path, monkeypatch, lap)
        for at, torn in points(kinds, 9, number):
            left = stop(kept[number], tmp_path, monkeypatch, lap, at, torn)
            saved = tmp_path / "saved"
            shutil.rmtree(saved, ignore_errors=True)
            shutil.copytree(left.root, saved)
            inner = changes_of(saved, tmp_path, monkeypatch, lap)
            for second, torn_too in points(inner, 3, at):
                again = stop(saved, tmp_path, monkeypatch, lap, second, torn_too)
                crash_check.check_promises(crash_check.Tree(again.root))
                lap(again.root)
                found = tree_of(again.root)
                ends = trees[number + 1 : number + 4]
                where = f"lap {number}, change {at}, then {second}: {difference(found, ends[0])}"
                assert any(same_end(found, end) for end in ends), where
                stops += 1
    with capsys.disabled():
        print(f"\nnested crash sweep: {stops} stops, 0 violations")
    assert stops > 100


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    """81 section 8, repeatable: clock and random numbers come in at one seam."""
    seen = []
    for name in ("one", "two"):
        root = new_root(tmp_path / name)
        for _ in range(LAPS):
            lap(root)
        base = root / ".omh"
        files = (p for p in sorted(base.rglob("*")) if p.is_file() and "cache" not in p.parts)
        seen.append({p.relative_to(base).as_posix(): p.read_bytes() for p in files})
    assert seen[0] == seen[1] and len(seen[0]) > 12


# ---- the verbs and recovery paths, each on a tree prepared for it


def slug_of(root: Path) -> str:
    return scenario.find_slug(root)


def run_laps(root: Path, count: int) -> None:
    for _ in range(count):
        lap(root)


def host_run(root: Path, answered: int) -> None:
    engine(root).start(scenario.TOPIC, delegate="host", options=RunOptions())
    for _ in range(answered):
        submit(root)


def submit(root: Path) -> None:
    slug = slug_of(root)
    task = engine(root).next(slug).tasks[0].id
    engine(root).submit(slug, task, scenario.ANSWERS[task])


def submit_task(root: Path, task: str) -> None:
    engine(root).submit(slug_of(root), task, scenario.ANSWERS[task])


def submit_again(root: Path, task: str) -> None:
    """A host that got no word submits the same answer again, then asks what is next."""
    try:
        submit_task(root, task)
    except UsageError as refused:
        assert "finished" in str(refused), refused
    engine(root).next(slug_of(root))


def adopt_again(root: Path) -> None:
    """Start once more: the run is resumed; where it was not planned yet, a step does it."""
    started = engine(root).start(scenario.TOPIC, delegate="scripted", options=RunOptions())
    if started.phase == "decompose":
        step(root)


def setup_cancel(root: Path) -> None:
    """A cancel asked for while one of three answers is in."""
    host_run(root, 2)
    engine(root).cancel(slug_of(root), "enough")


def setup_unclear(root: Path) -> None:
    """Confirmed, and stopped before the state was cleared (E9)."""
    run_laps(root, LAPS - 1)
    state = next((root / ".omh" / "state").glob("research--*.json"))
    saved = state.read_bytes()
    lap(root)
    state.write_bytes(saved)


def setup_blocked(root: Path) -> None:
    run_laps(root, LAPS - 1)
    state = next((root / ".omh" / "state").glob("research--*.json"))
    text = state.read_text()
    assert '"phase": "verify"' in text
    state.write_text(
        text.replace('"phase": "verify"', '"phase": "blocked", "blocked_phase": "verify"')
    )


def setup_orphan_plan(root: Path) -> None:
    """A plan without state and report (E13)."""
    lap(root)
    next((root / ".omh" / "state").glob("research--*.json")).unlink()


def setup_damaged(root: Path) -> None:
    run_laps(root, 2)
    next((root / ".omh" / "state").glob("research--*.json")).write_bytes(b"{damaged")


def step(root: Path) -> None:
    engine(root).step(slug_of(root))


def retry(root: Path) -> None:
    engine(root).retry(slug_of(root))


def clear(root: Path) -> None:
    engine(root).clear(slug_of(root))


def cancel(root: Path) -> None:
    engine(root).cancel(slug_of(root), "r")


def recover(root: Path) -> None:
    engine(root).recover(move_damaged=True)


FIRST, LAST = "search-0-moon-and-sun", "search-0-salt-marshes"
Setup, Act = Callable[[Path], None], Callable[[Path], Any]
VERBS: dict[str, tuple[Setup, Act, Act]] = {
    "cancel asked for": (partial(run_laps, count=2), cancel, cancel),
    "cancel taken up": (setup_cancel, step, step),
    "confirmed, not cleared": (setup_unclear, step, step),
    "retry": (setup_blocked, retry, retry),
    "clear": (partial(run_laps, count=3), clear, clear),
    "orphan plan adopted": (setup_orphan_plan, lap, adopt_again),
    "damaged state moved": (setup_damaged, recover, recover),
    "first answer of a batch": (
        partial(host_run, answered=1),
        partial(submit_task, task=FIRST),
        partial(submit_again, task=FIRST),
    ),
    "last answer of a batch": (
        partial(host_run, answered=3),
        partial(submit_task, task=LAST),
        partial(submit_again, task=LAST),
    ),
}


@pytest.mark.parametrize("name", sorted(VERBS))
def test_every_verb_and_recovery_path_stopped_at_every_write(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E8, E9, E13, E14, E35, E39: done again it ends as if it had not been stopped."""
    setup, act, again = VERBS[name]
    before = new_root(tmp_path / "before")
    setup(before)
    kinds = changes_of(before, tmp_path, monkeypatch, act)
    wanted = tree_of(tmp_path / "dry")
    for at, torn in points(kinds, 1, 0):
        left = stop(before, tmp_path, monkeypatch, act, at, torn)
        if name not in ("damaged state moved", "orphan plan adopted"):
            crash_check.check_promises(crash_check.Tree(left.root))
        with contextlib.suppress(UsageError, NoSuchRunError):  # there is nothing left to do
            again(left.root)
        engine(left.root).recover()
        found = tree_of(left.root)
        same = same_end(found, wanted) or (name == "clear" and found.files == wanted.files)
        assert same, f"{name}, change {at} ({kinds[at - 1]}): {difference(found, wanted)}"
