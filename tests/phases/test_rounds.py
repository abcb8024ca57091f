"""Several rounds of search through whole runs: new concepts, gaps, the end, memo, export."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.runs import NAMES, STEMS, SUBTOPICS, Run, answers, finding, verdict

TOPIC = "How do tides shape coasts?"
CONCEPT = "kelvin wave"


def source(n: int, host: str) -> str:
    return f"[{n}] About {host} — https://{host}.example/a — primary — 2024"


def told(name: str, hosts: tuple[str, ...], said: str = "", gap: str = "none") -> str:
    """Return a researcher's answer with one quote a source; `{host}` in `said` is its name."""
    said = said or "{host}: tides shape coasts"
    lines = [said.replace("{host}", host) for host in hosts]
    sources = "\n".join(source(n, host) for n, host in enumerate(hosts, 1))
    evidence = "\n".join(f'- [{n}] {text} | "{text}"' for n, text in enumerate(lines, 1))
    prose = " ".join(f"{text} [{n}]." for n, text in enumerate(lines, 1))
    return (
        f"SUBTOPIC: {name}\nQUERIES_RUN:\n- q → ok\nSOURCES:\n{sources}\n"
        f"EVIDENCE:\n{evidence}\nSYNTHESIS:\n{prose}\nGAPS:\n- {gap}\n"
    )


def report(names: tuple[str, ...], hosts: tuple[str, str] = ("moon-one", "moon-two")) -> str:
    sections = "\n\n".join(f"### {name}\n\nTides move the shore [1][2]." for name in names)
    return (
        "# Tides\n\n## Executive Summary\n\nTides move the shore [1][2].\n\n## Detailed Findings"
        f"\n\n{sections}\n\n## Key Takeaways\n\n- Tides move the shore [1][2].\n\n"
        f"## Open Questions\n\n- None.\n\n## Sources\n\n{source(1, hosts[0])}\n"
        f"{source(2, hosts[1])}\n"
    )


def script(texts: dict[str, str], names: tuple[str, ...] = NAMES) -> list[dict[str, Any]]:
    return [
        *({"role": "researcher", "subtopic": name, "text": text} for name, text in texts.items()),
        {"role": "research-synthesist", "text": report(names)},
        {"role": "research-verifier", "text": verdict()},
    ]


FULL = {
    NAMES[0]: told(NAMES[0], ("moon-one", "moon-two")),
    NAMES[1]: told(NAMES[1], ("bay-one", "bay-two")),
    NAMES[2]: told(NAMES[2], ("marsh-one", "marsh-two")),
}


def names_of(run: Run) -> list[str]:
    text = (run.base / "research" / f"{run.slug}-plan.md").read_text("utf-8")
    return [line.split("name:", 1)[1].strip(' "') for line in text.split("\n") if "name:" in line]


def evidence_of(run: Run, name: str) -> str:
    return (run.base / "research" / f"{run.slug}-evidence" / name).read_text("utf-8")


def test_a_decisive_new_concept_revises_the_plan_and_opens_a_second_round(tmp_path: Path) -> None:
    """L1, L2: found in two sources of two subproblems, near the topic; old items unedited."""
    said = "{host}: the kelvin wave of the tides"
    texts = {
        **FULL,
        NAMES[0]: told(NAMES[0], ("moon-one", "moon-two"), said),
        NAMES[1]: told(NAMES[1], ("bay-one", "bay-two"), said),
    }
    run = Run(tmp_path, [])
    run.start("--rounds", "3", *SUBTOPICS)
    before = names_of(run)
    run.set_script(script(texts))
    run.step()
    revised = run.step()
    assert revised.json["events"] == ["PLAN_REVISED"] and revised.json["phase"] == "search"
    added = names_of(run)[len(before) :]
    assert names_of(run)[: len(before)] == before and len(added) == 1, added
    assert added == [CONCEPT]
    state = run.state()
    assert (state["iteration"], state["concepts"]) == (1, added)
    log = next((run.base / "logs").glob("*.log")).read_text("utf-8")
    assert "new concept" in log and "https://moon-one.example/a" in log, "reason and sources logged"
    texts[added[0]] = told(added[0], ("kelvin-one", "kelvin-two"))
    run.set_script(script(texts, (*NAMES, added[0])))
    assert run.to_end().json["status"] == "confirmed"
    words = run.words()
    assert words.count("PLAN_REVISED") == 1 and words.count("BATCH_COMPLETE") == 2
    memo = json.loads(evidence_of(run, "memo.json"))
    assert memo["new_concepts"] == added and len(memo["subproblems"]) == 4
    assert set(memo) >= {"subproblems", "new_concepts", "uncertain_points"}
    sources = json.loads(evidence_of(run, "sources.json"))["sources"]
    assert {s["url"] for s in sources} >= {"https://kelvin-one.example/a"}
    assert set(sources[0]) == {"url", "title", "priority", "added_at", "summary"}
    assert "## Subproblem 1: Moon and Sun" in evidence_of(run, "memo.md")


def test_enough_sources_and_nothing_new_is_one_round(tmp_path: Path) -> None:
    run = Run(tmp_path, script(FULL))
    run.start("--rounds", "5", *SUBTOPICS)
    assert run.to_end().json["status"] == "confirmed"
    assert "PLAN_REVISED" not in run.words() and len(run.calls()) == 5


def test_identical_gaps_twice_end_the_loop_and_the_thin_part_is_named(tmp_path: Path) -> None:
    """L1: a gap is searched once in the same words; then it is an uncertain point by name."""
    thin = told(NAMES[2], ("marsh-one",), gap="how fast marshes grow")
    again = {f"{NAMES[2]} (round 2)": thin}
    run = Run(tmp_path, script({**FULL, NAMES[2]: thin, **again}))
    run.start("--rounds", "5", *SUBTOPICS)
    ended = run.to_end()
    assert ended.json["status"] == "confirmed", ended
    assert run.words().count("PLAN_REVISED") == 1
    points = json.loads(evidence_of(run, "memo.json"))["uncertain_points"]
    assert points == ["Salt marshes: fewer than two independent sources"]


def test_five_rounds_end_it_whatever_is_missing(tmp_path: Path) -> None:
    """L1: each round names another gap; the fifth goes on to the report."""
    texts = {**FULL, NAMES[2]: told(NAMES[2], ("marsh-one",), gap="gap number 1")}
    for number in range(2, 9):
        name = f"{NAMES[2]} (round {number})"
        texts[name] = told(name, ("marsh-one",), gap=f"gap number {number}")
    run = Run(tmp_path, script(texts))
    run.start("--rounds", "5", *SUBTOPICS)
    assert run.to_end().json["status"] == "confirmed"
    assert run.words().count("PLAN_REVISED") == 4 and run.words().count("BATCH_COMPLETE") == 5


def test_conflicts_never_block_and_become_uncertain_points(tmp_path: Path) -> None:
    """L1, L8: KEY_POINTS with a conflict; the memo marks it `???`."""
    points = (
        "KEY_POINTS:\n[1] P1 | Tides come twice a day | conflict with [2]\n"
        "[2] P4 | Tides come once a day | conflict with -\n"
    )
    run = Run(tmp_path, script({**FULL, NAMES[0]: FULL[NAMES[0]] + points}))
    run.start("--rounds", "2", *SUBTOPICS)
    assert run.to_end().json["status"] == "confirmed"
    memo = json.loads(evidence_of(run, "memo.json"))
    assert memo["uncertain_points"] == ["Tides come twice a day ???"]
    first, second = memo["subproblems"][0]["findings"]
    assert (first["priority"], first["key_points"]) == ("P1", ["Tides come twice a day"])
    assert first["conflict"] == "About moon-two" and second["conflict"] is None
    assert "???" in evidence_of(run, "memo.md")


def test_one_round_leaves_the_two_branches_as_they_are(tmp_path: Path) -> None:
    """E23: one follow-up for gaps, no memo, no revision."""
    with_gap = answers(Salt_marshes={"text": finding("Salt marshes", "growth rates")})
    followup = {"role": "researcher", "subtopic": "_followup", "text": finding("Funnel bays")}
    run = Run(tmp_path, [followup, *with_gap])
    run.start(*SUBTOPICS)
    assert run.to_end().json["status"] == "confirmed"
    assert "gap-check-0-followup" in run.calls() and "PLAN_REVISED" not in run.words()
    assert not [name for name in run.files() if "memo" in name or "sources.json" in name]


def test_a_conclusion_on_one_source_is_refused_unless_it_says_so(tmp_path: Path) -> None:
    """L6: the gate's iron rule, only with more than one round."""
    bare = report(NAMES).replace("- Tides move the shore [1][2].", "- Tides move the shore [1].")
    for text, word in ((bare, "VERIFY_FAIL"), (bare.replace("[1].", "[1] (uncertain)."), "PASS")):
        run = Run(tmp_path / word, script(FULL)[:-2])
        lines = [*script(FULL)[:3], {"role": "research-synthesist", "text": text}]
        run.set_script([*lines, {"role": "research-verifier", "text": verdict()}])
        run.start("--rounds", "2", *SUBTOPICS)
        for _ in range(3):
            run.step()
        assert word in " ".join(run.step().json["events"])


def test_a_stop_after_the_revised_plan_appends_the_same_items_once(tmp_path: Path) -> None:
    """L1, E16: the plan is durable before the state; the state is put back as a kill leaves it."""
    thin = told(NAMES[2], ("marsh-one",), gap="how fast marshes grow")
    run = Run(tmp_path, script({**FULL, NAMES[2]: thin, f"{NAMES[2]} (round 2)": thin}))
    run.start("--rounds", "3", *SUBTOPICS)
    run.step()
    saved = run.state_path.read_bytes()
    run.step()
    plan = run.base / "research" / f"{run.slug}-plan.md"
    wanted = plan.read_bytes()
    run.state_path.write_bytes(saved)
    assert run.step().json["phase"] == "search"
    assert plan.read_bytes() == wanted and run.state()["iteration"] == 1


def test_the_extractive_delegate_passes_the_two_source_rule(tmp_path: Path) -> None:
    """L6: each of its takeaways stands on one quote and says that it is uncertain."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for n, place in enumerate(("Fundy", "Severn", "Brittany", "Patagonia", "Korea", "Alaska")):
        (corpus / f"{n}.md").write_text(
            f"# Tides at {place}\n\nTides shape the coast of {place} every day of the year. "
            f"At {place} the moon pulls the water into funnel bays. Salt marshes at {place} "
            f"catch mud when the tides slow down. Sand bars off {place} move after storms.\n"
        )
    run = Run(tmp_path)
    given = ("--corpus", str(corpus), "--rounds", "2", *SUBTOPICS)
    assert run.start(*given, delegate="extractive").code == 0
    ended = run.to_end()
    assert ended.json["status"] == "confirmed", run.cli("show", run.slug, "--verdict")
    takeaways = run.report_path.read_text().split("## Key Takeaways")[1].split("## ")[0]
    lines = [line for line in takeaways.split("\n") if line.startswith("- ")]
    assert lines and all(line.startswith(("- **uncertain**: ", "- Not known: ")) for line in lines)
    assert "VERIFY_FAIL" not in run.words(), "from the first draft on"


def test_l4_the_memo_does_not_depend_on_who_answered_first(tmp_path: Path) -> None:
    """L4: merged in plan order, whatever the order in which the answers came."""
    memos = []
    for number, order in enumerate(((0, 1, 2), (2, 0, 1))):
        run = Run(tmp_path / str(number))
        run.start("--rounds", "2", *SUBTOPICS, delegate="host")
        for place in order:
            task = f"search-0-{STEMS[place]}"
            ended = run.cli("submit", run.slug, task, "--json", stdin=FULL[NAMES[place]])
            assert ended.code == 0, ended.err
        assert run.state()["phase"] == "gap_check"
        sources = json.loads(evidence_of(run, "sources.json"))["sources"]
        hosts = [row["url"].split("/")[2].split(".")[0] for row in sources]
        memos.append(
            (json.loads(evidence_of(run, "memo.json")), evidence_of(run, "memo.md"), hosts)
        )
    assert memos[0] == memos[1]
    assert memos[0][2] == ["moon-one", "moon-two", "bay-one", "bay-two", "marsh-one", "marsh-two"]
