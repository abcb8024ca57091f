"""Files removed or changed by hand between two phases: never silently less (E17, E20, E23)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.runs import NAMES, STEMS, SUBTOPICS, Run, answers, finding

WIND = {"role": "researcher", "subtopic": "_followup", "text": finding(NAMES[0])}


def findings(run: Run) -> Path:
    return run.base / "research" / f"{run.slug}-findings"


def step_to(run: Run, phase: str) -> None:
    """Step until the run is in `phase`."""
    for _ in range(6):
        if run.state()["phase"] == phase:
            return
        assert run.cli("step", run.slug).code == 0
    raise AssertionError(f"never in phase {phase}")


@pytest.mark.parametrize("phase", ["gap_check", "synthesize", "verify"])
@pytest.mark.parametrize("lost", ["one", "all"])
def test_e20_removed_findings_are_written_again_from_the_stored_answers(
    tmp_path: Path, phase: str, lost: str
) -> None:
    """E20: the same bytes, said in a note, nothing asked twice; the report is confirmed."""
    run = Run(tmp_path, [WIND, *answers(**{NAMES[0].replace(" ", "_"): {"text": gapped()}})])
    run.start()
    step_to(run, phase)
    before = {path.name: path.read_bytes() for path in findings(run).iterdir()}
    if lost == "all":
        shutil.rmtree(findings(run))
    else:
        (findings(run) / f"{STEMS[1]}.md").unlink()
    asked = run.calls()
    said = run.cli("step", run.slug)
    assert said.code == 0 and "written again" in said.err and STEMS[1] in said.err, said
    assert {name: (findings(run) / name).read_bytes() for name in before} == before
    assert not set(asked) & set(run.calls()[len(asked) :]), "nothing is paid for twice"
    for _ in range(3):
        run.cli("step", run.slug)
    assert run.cli("status", run.slug, "--json").json["status"] == "confirmed"
    assert run.cli("audit", run.slug).code == 0


def gapped() -> str:
    return finding(NAMES[0], gaps="what of the wind")


def test_e20_a_lost_follow_up_is_written_again(tmp_path: Path) -> None:
    """E20, E23: gaps that the findings name tell that there was a follow-up."""
    run = Run(tmp_path, [WIND, *answers(**{NAMES[0].replace(" ", "_"): {"text": gapped()}})])
    run.start()
    step_to(run, "synthesize")
    held = (findings(run) / "_followup.md").read_bytes()
    (findings(run) / "_followup.md").unlink()
    assert "_followup" in run.cli("step", run.slug).err
    assert (findings(run) / "_followup.md").read_bytes() == held


@pytest.mark.parametrize("phase", ["gap_check", "synthesize", "verify"])
def test_e20_findings_without_a_stored_answer_are_missed_by_name(
    tmp_path: Path, phase: str
) -> None:
    """The file is named, exit 7, nothing is asked, and put back it goes on."""
    run = Run(tmp_path)
    run.start()
    step_to(run, phase)
    path = findings(run) / f"{STEMS[2]}.md"
    held = path.read_bytes()
    path.unlink()
    shutil.rmtree(run.base / "state" / f"research--{run.slug}.tasks")
    asked = run.calls()
    ended = run.cli("step", run.slug, "--json")
    assert ended.code == 7 and f"{run.slug}-findings/{STEMS[2]}.md" in ended.error["message"]
    assert run.calls() == asked and run.state()["phase"] == phase
    path.write_bytes(held)
    assert run.cli("step", run.slug).code == 0


def test_e20_the_empty_block_of_a_failed_subtopic_is_written_again(tmp_path: Path) -> None:
    """E20, E21: three failures left an honest empty block, and its reasons are stored."""
    broken = {"role": "researcher", "subtopic": NAMES[1], "fault": "fail", "reason": "no network"}
    run = Run(tmp_path, [broken, {**WIND, "text": gapped()}, *answers()])
    run.start()
    step_to(run, "gap_check")
    path = findings(run) / f"{STEMS[1]}.md"
    held = path.read_bytes()
    assert b"no network" in held
    path.unlink()
    run.cli("step", run.slug)
    assert path.read_bytes() == held


def test_e20_a_partial_report_holds_the_findings_that_were_removed(tmp_path: Path) -> None:
    """O5: a cap in mid-run, findings removed before it: the partial report is made from all."""
    run = Run(tmp_path)
    run.start(*SUBTOPICS, "--cap", "max_model_calls=4")
    step_to(run, "verify")
    shutil.rmtree(findings(run))
    assert run.cli("step", run.slug).code == 3
    assert sorted(path.stem for path in findings(run).iterdir()) == sorted(STEMS)
    assert "Not researched" not in run.report_path.read_text("utf-8")


def rename(run: Run, old: str, new: str) -> bytes:
    """Rename a subtopic in the plan; return the plan as it was."""
    path = run.base / "research" / f"{run.slug}-plan.md"
    held = path.read_bytes()
    assert old.encode() in held
    path.write_bytes(held.replace(old.encode(), new.encode()))
    return held


def test_e17_a_subtopic_renamed_before_the_gap_check_is_searched(tmp_path: Path) -> None:
    """E17: back to search for what is pending; the findings under the old name are said unused."""
    text = finding(NAMES[2]).replace(f"SUBTOPIC: {NAMES[2]}", "SUBTOPIC: Dunes")
    run = Run(tmp_path, [{"role": "researcher", "subtopic": "Dunes", "text": text}, *answers()])
    run.start()
    step_to(run, "gap_check")
    rename(run, NAMES[2], "Dunes")
    said = run.cli("step", run.slug)
    assert said.code == 0 and "to be searched: Dunes" in said.err and NAMES[2] in said.err
    assert run.state()["phase"] == "search"
    assert run.cli("step", run.slug).code == 0
    assert run.state()["phase"] == "gap_check"
    assert run.calls()[-1] == "search-0-dunes" and (findings(run) / "dunes.md").exists()


def test_e17_a_plan_of_several_rounds_that_was_changed_is_searched_too(tmp_path: Path) -> None:
    """E17, L1: a changed name is no item that a lap cut off had appended; it is not dropped."""
    text = finding(NAMES[2]).replace(f"SUBTOPIC: {NAMES[2]}", "SUBTOPIC: Dunes")
    run = Run(tmp_path, [{"role": "researcher", "subtopic": "Dunes", "text": text}, *answers()])
    run.start("--rounds", "2", *SUBTOPICS)
    step_to(run, "gap_check")
    rename(run, NAMES[2], "Dunes")
    assert "to be searched: Dunes" in run.cli("step", run.slug).err
    assert run.cli("step", run.slug).code == 0
    assert run.calls()[-1] == "search-0-dunes" and run.state()["phase"] == "gap_check"
    assert run.cli("step", run.slug).code == 0
    assert "Dunes" in run.cli("show", run.slug, "--plan").out


@pytest.mark.parametrize("phase", ["synthesize", "verify"])
def test_e17_a_subtopic_renamed_later_is_refused(tmp_path: Path, phase: str) -> None:
    """E17: what was never searched is no "insufficient sources"; put back, the run goes on."""
    run = Run(tmp_path)
    run.start()
    step_to(run, phase)
    held = rename(run, NAMES[2], "Dunes")
    ended = run.cli("step", run.slug, "--json")
    assert ended.code == 7 and "never searched: Dunes" in ended.error["message"]
    (run.base / "research" / f"{run.slug}-plan.md").write_bytes(held)
    assert run.cli("step", run.slug).code == 0
