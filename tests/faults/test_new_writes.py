"""The lap of a panel and of a revised plan stopped at each of its writes, then done again.

After each stop one more invocation gives the very files of an undisturbed lap, and no stored
answer is asked for again (P3, L1, L3, L8).
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

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
    given = replace(options, subtopics=SUBTOPICS, delegate_options=chosen)
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
    "partial report": (answers(), RunOptions(caps={"max_model_calls": 3}), 2),
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


def states_of(root: Path) -> dict[str, object]:
    """Return the state without its time stamps."""
    path = next((root / ".omh" / "state").glob("research--*.json"))
    return {
        k: v for k, v in json.loads(path.read_text()).items() if k not in ("_meta", "clock_from")
    }


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.deep)])
def test_a_retry_stopped_at_its_writes_is_done_once(
    every: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E14, O5: blocked by a cap, set going again; a second `retry` after the stop is harmless."""
    options = RunOptions(caps={"max_model_calls": 3}, max_wall_s=3600)
    run = started(tmp_path, answers(), options, 3)
    kept = tmp_path / "kept"
    shutil.copytree(run.root, kept)
    with crash_at(monkeypatch, 0) as dying:
        Engine(str(run.root)).retry(run.slug)
    wanted, kinds = states_of(run.root), dying.kinds
    assert wanted["phase"] == "synthesize" and len(kinds) > 3
    for at in range(1, len(kinds) + 1, every):
        shutil.rmtree(run.root)
        shutil.copytree(kept, run.root)
        with crash_at(monkeypatch, at, torn=kinds[at - 1] == "write"):
            Engine(str(run.root)).retry(run.slug)
        if states_of(run.root)["phase"] == "blocked":
            Engine(str(run.root)).retry(run.slug)
        found = states_of(run.root)
        assert found == wanted, f"change {at} of {len(kinds)} ({kinds[at - 1]})"


@pytest.mark.parametrize("form", ["html", "json", "docx", "bibtex", "auto-deep-research"])
def test_an_export_stopped_at_its_writes_leaves_old_or_new_and_no_rest(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """O6: at no moment is there half a file; the next export takes the leftovers away."""
    if form in ("html", "docx"):
        pytest.importorskip("docx")
    run = started(tmp_path, answers(), RunOptions(), 3)
    out = tmp_path / "out"
    target = out if form == "auto-deep-research" else out / "report"
    words = ("export", run.slug, "--to", form, "-o", str(target))

    def made() -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in sorted(out.iterdir())}

    out.mkdir()
    with crash_at(monkeypatch, 0) as dying:
        assert run.cli(*words).code == 0
    wanted, kinds = made(), dying.kinds
    if form == "docx":  # its zip holds the time of writing
        wanted = dict.fromkeys(wanted, b"")
    old = dict.fromkeys(wanted, b"old")
    for at in range(1, len(kinds) + 1):
        shutil.rmtree(out)
        out.mkdir()
        for name, data in old.items():
            (out / name).write_bytes(data)
        with crash_at(monkeypatch, at, torn=kinds[at - 1] == "write"):
            run.cli(*words)
        where = f"{form}: change {at} of {len(kinds)} ({kinds[at - 1]})"
        for name, data in made().items():
            if name in wanted and form != "docx":
                assert data in (old[name], wanted[name]), where
        for path in out.iterdir():
            os.utime(path, (1_000_000_000, 1_000_000_000))
        assert run.cli(*words).code == 0
        assert set(made()) == set(wanted), where
        if form != "docx":
            assert made() == wanted, where
