"""A false report is never confirmed because what would disprove it was lost or edited (E28, E29)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.runs import NAMES, STEMS, TOPIC, URLS, Run, finding, report, verdict

PAGE = "Spring tides come when the pull of both bodies lines up. The range is 16 metres at most."


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A host's run at synthesis, one page of which was handed in."""
    run = Run(tmp_path)
    run.start(delegate="host")
    pages = tmp_path / "pages.jsonl"
    pages.write_text(json.dumps({"url": URLS[NAMES[0]], "text": PAGE, "title": "Moon"}) + "\n")
    for name, stem in zip(NAMES, STEMS, strict=True):
        more = ("--sources", str(pages)) if name == NAMES[0] else ()
        ended = run.cli(
            "submit", run.slug, f"search-0-{stem}", "--json", *more, stdin=finding(name)
        )
        assert ended.code == 0, ended.err
    run.cli("next", run.slug)
    assert run.state()["phase"] == "synthesize"
    return run


def false_report() -> str:
    said = "Spring tides come when the pull of both bodies lines up [1]."
    assert said in report()
    return report().replace(said, "Spring tides rise by 99 metres [1].")


def evidence(run: Run) -> Path:
    return run.base / "research" / f"{run.slug}-evidence"


def lose(run: Run, how: str) -> None:
    texts = list((evidence(run) / "texts").glob("*.txt"))
    assert len(texts) == 1
    match how:
        case "text removed":
            texts[0].unlink()
        case "text changed":
            texts[0].write_text(texts[0].read_text("utf-8") + "Some rise by 99 metres.", "utf-8")
        case "text cut":
            texts[0].write_bytes(texts[0].read_bytes()[:20])
        case "ledger emptied":
            (evidence(run) / "fetch_ledger.jsonl").write_bytes(b"")
        case "ledger removed":
            (evidence(run) / "fetch_ledger.jsonl").unlink()
        case _:
            shutil.rmtree(evidence(run))


@pytest.mark.parametrize(
    "how",
    ["text removed", "text changed", "text cut", "ledger emptied", "ledger removed", "all removed"],
)
def test_e28_lost_text_does_not_make_a_source_a_declared_one(run: Run, how: str) -> None:
    """The file is named, exit 7, and nothing goes on until it is back."""
    lose(run, how)
    drafted = run.cli("submit", run.slug, "synthesize-0-0-report", "--json", stdin=false_report())
    if drafted.code == 0:
        drafted = run.cli("next", run.slug, "--json")
    assert drafted.code == 7, drafted
    assert f"{run.slug}-evidence" in drafted.error["message"]
    assert not run.report_path.exists() or "status: draft" in run.report_path.read_text("utf-8")
    assert run.cli("wait", run.slug, "--timeout", "0").code in (7, 124)


def test_e28_the_gate_refuses_the_same_report_where_the_text_is_held(run: Run) -> None:
    assert run.cli("submit", run.slug, "synthesize-0-0-report", stdin=false_report()).code == 0
    ended = run.cli("next", run.slug, "--json")
    assert (ended.code, ended.json["phase"]) == (0, "synthesize")
    assert "99 metres" in run.state()["last_verifier_feedback"]


@pytest.mark.parametrize("command", ["next", "step", "start"])
def test_e9_a_status_that_was_edited_in_confirms_nothing(run: Run, command: str) -> None:
    """E29: no seal, so no program confirmed it: it is a draft, and the gate judges it."""
    assert run.cli("submit", run.slug, "synthesize-0-0-report", stdin=false_report()).code == 0
    text = run.report_path.read_text("utf-8")
    run.report_path.write_text(text.replace("status: draft", "status: confirmed", 1), "utf-8")
    words = (TOPIC, "--delegate", "host") if command == "start" else (run.slug,)
    run.cli(command, *words, "--json")
    run.cli("next", run.slug, "--json")
    assert "status: draft" in run.report_path.read_text("utf-8")
    assert run.state()["phase"] == "synthesize"
    assert "REPORT_CONFIRMED_RECOVERED" not in run.words()
    assert "VERIFY_FAIL" in run.words()


def test_e9_a_good_report_that_another_program_confirmed_is_recovered(run: Run) -> None:
    """E2, E9: it leaves no seal of ours; what the gate lets pass counts."""
    assert run.cli("submit", run.slug, "synthesize-0-0-report", stdin=report()).code == 0
    text = run.report_path.read_text("utf-8")
    run.report_path.write_text(text.replace("status: draft", "status: confirmed", 1), "utf-8")
    ended = run.cli("next", run.slug, "--json")
    assert (ended.code, ended.json["status"]) == (0, "confirmed"), ended
    assert run.words()[-1] == "REPORT_CONFIRMED_RECOVERED"
    (note,) = ended.json["notes"]
    assert "no verifier's pass is on record" in note and f"audit {run.slug}" in note


@pytest.mark.parametrize("command", ["step", "start"])
def test_e9_what_confirmed_a_report_without_a_verifier_is_said_for_people_too(
    run: Run, command: str
) -> None:
    """E9, E29: one note on stderr, by whichever command comes first; none where a pass is logged."""
    assert run.cli("submit", run.slug, "synthesize-0-0-report", stdin=report()).code == 0
    text = run.report_path.read_text("utf-8")
    run.report_path.write_text(text.replace("status: draft", "status: confirmed", 1), "utf-8")
    log = next((run.base / "logs").iterdir())
    kept, state = log.read_bytes(), run.state_path.read_bytes()
    words = (run.slug,) if command == "step" else ("Another question", "--delegate", "host")
    ended = run.cli(command, *words)
    assert ended.code == 0 and ended.err.count("no verifier's pass is on record") == 1, ended
    passed = f"2026-11-30T09:00:00Z VERIFY_PASS slug={run.slug} step=9\n"
    log.write_bytes(kept + passed.encode())
    run.state_path.write_bytes(state)
    ended = run.cli("step", run.slug)
    assert ended.code == 0 and "on record" not in ended.err


def test_the_run_goes_on_once_the_lost_text_is_back(run: Run) -> None:
    text = next((evidence(run) / "texts").glob("*.txt"))
    kept = text.read_bytes()
    text.unlink()
    run.cli("submit", run.slug, "synthesize-0-0-report", stdin=report())
    assert run.cli("next", run.slug).code == 7
    text.write_bytes(kept)
    run.cli("submit", run.slug, "synthesize-0-0-report", stdin=report())
    tasks = run.cli("next", run.slug, "--json").json["tasks"]
    assert [task["role"] for task in tasks] == ["research-verifier"]
    run.cli("submit", run.slug, tasks[0]["id"], stdin=verdict())
    assert run.cli("audit", run.slug).code == 0
