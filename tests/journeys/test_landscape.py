"""`start --landscape`: the compact path over named candidates, and what is refused (T21, T24)."""

from __future__ import annotations

from pathlib import Path

import pytest

from omh_research.phases.landscape import MAX_CANDIDATES, check_candidates, subtopics_of
from omh_research.tools.advisory import LABEL
from tests.runs import Run, cli
from tests.tools.test_advisory import REFUSED

TOPIC = "Compare open-source note-taking apps"
NAMES = ("Joplin", "Logseq", "Zettlr")
HOST = ("--delegate", "host", "--host-tools", "web_search,web_extract")


def asked(*names: str) -> list[str]:
    return [word for name in names for word in ("--landscape", name)]


def finding(name: str, sources: str, synthesis: str) -> str:
    return (
        f"SUBTOPIC: {name}\nQUERIES_RUN:\n- {name} → looked\nSOURCES:\n{sources}\n"
        f"SYNTHESIS:\n{synthesis}\nGAPS:\n- none\n"
    )


def test_t24_named_candidates_make_the_plan_and_the_tasks(tmp_path: Path) -> None:
    started = cli("start", TOPIC, *asked(*NAMES), *HOST, "--json", "--root", str(tmp_path))
    assert started.code == 0, started.err
    slug = started.json["slug"]
    handed = cli("next", slug, "--json", "--root", str(tmp_path)).json["tasks"]
    assert [task["role"] for task in handed] == ["researcher"] * 3, "no planner is asked"
    for task, name in zip(handed, NAMES, strict=True):
        assert f"Subtopic: {name}\n" in task["goal"] and f"- {name} official page" in task["goal"]
        assert "one official page first" in task["goal"] and "Not verified" in task["goal"]
        assert "two to four distinct facts" in task["goal"]
    plan = cli("show", slug, "--plan", "--root", str(tmp_path)).out
    assert all(name in plan for name in NAMES)


def test_t24_a_run_without_the_option_is_told_nothing_of_it(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.start(delegate="host")
    goals = [task["goal"] for task in run.cli("next", run.slug, "--json").json["tasks"]]
    assert goals and not any("landscape" in goal for goal in goals)


@pytest.mark.parametrize("count", [2, 3, 5, 6, 13, MAX_CANDIDATES])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_t24_every_number_of_candidates_gives_a_lawful_plan(count: int, language: str) -> None:
    from omh_research.documents.plan import check_plan

    names = [f"Candidate number {n} of the great many apps"[:45] for n in range(count)]
    subtopics = subtopics_of(check_candidates(TOPIC, names), language)
    check_plan(subtopics)
    text = " ".join(query for subtopic in subtopics for query in subtopic.queries)
    assert all(name in text for name in names), "no candidate is forgotten"


@pytest.mark.parametrize("question", [q for kind in REFUSED.values() for q in kind])
def test_t24_what_may_harm_is_refused_before_a_file_is_written(
    question: str, tmp_path: Path
) -> None:
    """Forty labelled questions in English and Chinese, 0 misses."""
    ended = cli("start", question, *asked(*NAMES), *HOST, "--json", "--root", str(tmp_path))
    assert (ended.code, ended.error["code"]) == (2, "usage")
    assert "refused" in ended.error["message"] and list(tmp_path.iterdir()) == []


def test_t24_a_name_can_make_it_sensitive_and_the_number_is_bound(tmp_path: Path) -> None:
    for names in (("Ibuprofen", "Aspirin"), ("Joplin",), ("Joplin", "joplin ")):
        ended = cli("start", TOPIC, *asked(*names), *HOST, "--root", str(tmp_path))
        assert ended.code == 2 and list(tmp_path.iterdir()) == [], names
    many = asked(*(f"App {n}" for n in range(MAX_CANDIDATES + 1)))
    assert cli("start", TOPIC, *many, *HOST, "--root", str(tmp_path)).code == 2


def _without_sources(tmp_path: Path, topic: str, *words: str, names: tuple[str, ...]) -> Run:
    """A run whose researchers find nothing and whose draft says so."""
    sections = "\n\n".join(
        f"### {name}\n\n(insufficient sources for this subtopic)" for name in names
    )
    report = (
        f"# Notes\n\n## Executive Summary\n\nNothing was found.\n\n## Detailed Findings\n\n"
        f"{sections}\n\n## Key Takeaways\n\n- None.\n\n## Open Questions\n\n- All.\n\n"
        "## Sources\n\n(none)\n"
    )
    script = [
        {"role": "researcher", "subtopic": name, "text": finding(name, "none", "Nothing found.")}
        for name in names
    ]
    run = Run(tmp_path, [*script, {"role": "research-synthesist", "text": report}])
    run.start(*words, topic=topic)
    return run


def test_t21_a_landscape_without_sources_ends_in_labelled_checks(tmp_path: Path) -> None:
    run = _without_sources(tmp_path, TOPIC, *asked(*NAMES), names=NAMES)
    ended = run.to_end()
    assert (ended.code, ended.json["blocked_reason"]) == (3, "insufficient_evidence")
    advice = ended.json["advice"]
    assert "Verification shortlist" in advice and "Intended research cutoff: 20" in advice
    for name in NAMES:
        assert f"- {name} ({LABEL})" in advice
    assert "Verification shortlist" in run.cli("step", run.slug).out


@pytest.mark.parametrize(("topic", "named"), [("Which ETF is best for beginners?", True),
                                              ("How do tides shape coasts?", False)])  # fmt: skip
def test_t21_other_runs_without_sources_abstain_or_say_nothing(
    tmp_path: Path, topic: str, named: bool
) -> None:
    names = ("Part one", "Part two", "Part three")
    given = [w for n in names for w in ("--subtopic", f"{n}: {n} a; {n} b")]
    run = _without_sources(tmp_path, topic, *given, names=names)
    ended = run.to_end()
    assert ended.json["blocked_reason"] == "insufficient_evidence"
    said = ended.json.get("advice", "")
    assert ("left unanswered" in said) == named and "shortlist" not in said
