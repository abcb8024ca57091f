"""The lap of a panel and of a revised plan stopped at each of its writes, then done again.

After each stop one more invocation gives the very files of an undisturbed lap, and no stored
answer is asked for again (P3, L1, L3, L8).
"""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from omh_research import Engine
from omh_research.documents.options import RunOptions
from tests.faults.crashing import crash_at
from tests.phases.test_panel import SAID
from tests.phases.test_rounds import FULL, script, told
from tests.runs import NAMES, TOPIC, Run, answers

SUBTOPICS = tuple((name, (f"{name} tides", f"{name} research")) for name in NAMES)
THIN = told(NAMES[2], ("marsh-one",), gap="how fast marshes grow")


def files_of(root: Path) -> dict[str, str]:
    """Return plan, findings, report, memo and panel; wall time alone may differ."""
    found = {}
    for path in sorted((root / ".omh" / "research").rglob("*")):
        if path.is_file() and path.name not in ("seal.json", ".seal"):
            lines = path.read_text("utf-8").split("\n")
            kept = [line for line in lines if "wall_time_s" not in line]
            found[path.relative_to(root).as_posix()] = "\n".join(kept)
    return found


def step(root: Path, slug: str) -> None:
    Engine(str(root)).step(slug)


def started(folder: Path, lines: list[dict[str, object]], options: RunOptions, laps: int) -> Run:
    run = Run(folder, lines)
    chosen = {"script": str(folder / "script.json"), "calls": str(run.calls_file)}
    given = RunOptions(
        subtopics=SUBTOPICS, delegate_options=chosen, panel=options.panel, rounds=options.rounds
    )
    run.slug = Engine(str(run.root)).start(TOPIC, delegate="scripted", options=given).slug
    for _ in range(laps):
        step(run.root, run.slug)
    return run


CASES = {
    "panel confirms": ([{"role": "claim-skeptic", "text": SAID["confirm"]}, *answers()],
                       RunOptions(panel=3), 3),
    "panel refutes": ([{"role": "claim-skeptic", "text": SAID["refute"]}, *answers()],
                      RunOptions(panel=3), 3),
    "panel undecided": ([{"role": "claim-skeptic", "fault": "fail"}, *answers()],
                        RunOptions(panel=3), 3),
    "memo of a batch": (script({**FULL, NAMES[2]: THIN}), RunOptions(rounds=3), 0),
    "plan revised": (script({**FULL, NAMES[2]: THIN}), RunOptions(rounds=3), 1),
    "rounds end": (script(FULL), RunOptions(rounds=3), 1),
}  # fmt: skip


@pytest.mark.timeout(600)
@pytest.mark.parametrize("every", [11, pytest.param(1, marks=pytest.mark.deep)])
@pytest.mark.parametrize("name", sorted(CASES))
def test_a_lap_stopped_at_its_writes_ends_as_if_it_had_not_been(
    name: str, every: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines, options, laps = CASES[name]
    run = started(tmp_path, lines, options, laps)
    asked_before = run.calls()
    kept = tmp_path / "kept"
    shutil.copytree(run.root, kept)
    with crash_at(monkeypatch, 0) as dying:
        step(run.root, run.slug)
    wanted, kinds = files_of(run.root), dying.kinds
    votes_failed = name == "panel undecided"
    assert len(kinds) > 8
    for at in range(1 + len(name) % every, len(kinds) + 1, every):
        shutil.rmtree(run.root)
        shutil.copytree(kept, run.root)
        run.calls_file.write_text("".join(f"{task} x\n" for task in asked_before))
        with crash_at(monkeypatch, at, torn=kinds[at - 1] == "write"):
            step(run.root, run.slug)
        stored = {path.stem for path in (run.root / ".omh" / "state").glob("*.tasks/*.json")}
        first = set(run.calls()) - set(asked_before)
        state = run.root / ".omh" / "state" / f"research--{run.slug}.json"
        if state.exists() and files_of(run.root) != wanted:
            step(run.root, run.slug)
        where = f"{name}: change {at} of {len(kinds)} ({kinds[at - 1]})"
        found = files_of(run.root)
        assert found == wanted, f"{where}: {[n for n in wanted if found.get(n) != wanted[n]]}"
        twice = {task for task, count in Counter(run.calls()).items() if count > 1}
        assert not twice & stored or votes_failed, f"{where}: {twice & stored} of {first}"
