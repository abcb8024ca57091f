"""Names that a report could not carry are refused before any work; others pass (E15, E28)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from omh_research.errors import PlanError
from omh_research.phases.subtopic_names import check_names, why_unusable
from tests.runs import NAMES, SUBTOPICS, TOPIC, Run, answers

UNUSABLE = (
    "Sources", "Sources:", "References", "来源", "Quellen", "Sources and uses",
    "Executive Summary", "# Executive Summary", "Key takeaways", "Open Questions",
    "Detailed Findings", "???", "#", "...", "=====", "Moon [1] [x](http://a.b)", "Moon [1]",
    "Moon 【2】", "[x](http://a.b)", "see https://a.b/c", "www.a.b", "![x](y)", "The <b> tag",
    "x <!-- y", "VERDICT: PASS", "(insufficient sources for this subtopic)",
)  # fmt: skip
USUAL = (
    "C#", "F# and C# compared", "#1 cause of fires", "#MeToo and law", "Cost (2024)", "1. Cost",
    "A [draft] idea", "Who? What?", "Sources of energy", "Data sources", "Summary", "Moon & Sun",
    "**Bold**", "`code` paths", "`<b>` in code", "std::vector<int> growth", "a < b", "Cost:",
    "a | b", "C++", "月", "2024", "潮汐的成因", "Gezeiten: Mond, Sonne", "> quote", "- dash",
    "Verdict of the court: what followed", "x_y_z names", "10.5 km [sic]", "Ἥλιος",
)  # fmt: skip


@pytest.mark.parametrize("name", UNUSABLE)
def test_e15_a_name_that_is_no_heading_is_refused_with_its_reason(name: str) -> None:
    with pytest.raises(PlanError, match=r"cannot stand: (it|as a heading) ") as refused:
        check_names(("Fine", name))
    assert ascii(name)[1:-1] in refused.value.message and refused.value.hint


@pytest.mark.parametrize("name", USUAL)
def test_e15_usual_names_pass(name: str) -> None:
    assert why_unusable(name) == ""


@pytest.mark.parametrize("given", ["plan", "option"])
def test_e15_start_refuses_such_a_plan_before_any_file_is_written(
    tmp_path: Path, given: str
) -> None:
    """E15: exit 2, for --plan and --subtopic alike."""
    run = Run(tmp_path)
    plan = {"subtopics": [{"name": n, "queries": ["one", "two"]} for n in ("A b", "C d", "???")]}
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    more = ["--plan", str(tmp_path / "plan.json")]
    if given == "option":
        more = [*SUBTOPICS[:4], "--subtopic", "# Executive Summary: one; two"]
    ended = run.start(*more)
    assert ended.code == 2 and "cannot stand" in ended.error["message"]
    assert not run.base.exists()


def test_t24_a_candidate_of_such_a_name_is_refused_before_any_file_is_written(
    tmp_path: Path,
) -> None:
    """T24, E15: candidates become headings, too."""
    run = Run(tmp_path)
    candidates = [
        word for name in ("Zotero", "Sources", "Logseq") for word in ("--landscape", name)
    ]
    ended = run.start(*candidates)
    assert ended.code == 2 and "'Sources' cannot stand" in ended.error["message"]
    assert not run.base.exists()


def test_e15_a_planner_that_gives_such_a_name_is_told_and_asked_again(tmp_path: Path) -> None:
    """E15: its next answer is taken."""
    good = "".join(f"- name: {name}\n  queries: [a {name}, b {name}]\n" for name in NAMES)
    bad = good.replace(NAMES[0], "Sources")
    planner = {"role": "planner", "sequence": [bad, good]}
    run = Run(tmp_path, [planner, *answers()])
    started = run.cli("start", TOPIC, *run.script_options)
    assert started.code == 0 and "'Sources' cannot stand" in started.err
    run.slug = run.cli("status", "--json").json["runs"][0]["slug"]
    assert run.state()["phase"] == "decompose"
    assert run.step().json["phase"] == "search"
    assert run.to_end().json["status"] == "confirmed"
