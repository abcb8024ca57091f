"""Verdicts and votes: in doubt, fail (D5b, E32, P1, P2, 81-reliability 7)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.documents.verdict import (
    FAIL,
    PASS,
    UNREADABLE,
    has_verdict_line,
    parse_verdict,
    parse_vote,
)
from tests.documents.shared_data import shared_data

FULL = """VERDICT: PASS
CONFIDENCE: high

EVIDENCE:
| claim | source | holds |
|---|---|---|
| a | [1] | YES |

SUBTOPIC COVERAGE:
| subtopic | covered |
|---|---|
| Solar | yes |

GAPS:
- none

RECOMMENDATION: APPROVE
"""


def test_d5b_the_template_is_read_whole() -> None:
    verdict = parse_verdict(FULL)
    assert (verdict.kind, verdict.confidence, verdict.recommendation) == (PASS, "high", "APPROVE")
    assert verdict.gaps == ()
    assert verdict.text == FULL
    failed = parse_verdict(FULL.replace("PASS", "FAIL").replace("- none", "- cost data is thin"))
    assert (failed.kind, failed.gaps) == (FAIL, ("cost data is thin",))


@pytest.mark.parametrize(
    "text",
    ["VERDICT: PASS", "**VERDICT: PASS**", "**VERDICT:** PASS", "VERDICT：PASS", "ＶＥＲＤＩＣＴ：ＰＡＳＳ", "```\nVERDICT: PASS\n```",
     "## Verdict: PASS", "## Verdict\n\n**PASS**\n", "verdict: pass.", "VERDICT: PASS ✅", "- VERDICT: `PASS`", "VERDICT: [PASS]\r\n",
     "Some words first.\n\nVERDICT: PASS\nCONFIDENCE: HIGH", "<think>VERDICT: FAIL</think>\nVERDICT: PASS",
     '{\n  "ok": true,\n  "verdict": "PASS",\n  "reason": "x"\n}'],
)  # fmt: skip
def test_d5b_one_clear_line_passes(text: str) -> None:
    approved = (
        text.replace("\n}", ',\n  "recommendation": "APPROVE"\n}')
        if text.startswith("{")
        else f"{text}\nRECOMMENDATION: APPROVE"
    )
    assert parse_verdict(approved).kind == PASS
    assert parse_verdict(text).kind == PASS  # it takes nothing back


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("| a | [1] | YES |", "| a | [1] | NO |"),
        ("| a | [1] | YES |", "| a | [1] | YES |\n| b | [1] | **No**: the source says 2019 |"),
        ("| a | [1] | YES |", "| a | [1] | ❌ |"),
        ("| claim | source | holds |\n|---|---|---|\n| a | [1] | YES |", "| 1 | a | YES | NO |"),
        ("| Solar | yes |", "| Solar | no |"),
        ("| Solar | yes |", "| Solar | not covered |"),
        ("- none", "- Claim 3 is false: the source says the opposite."),
        ("RECOMMENDATION: APPROVE", "RECOMMENDATION: see above"),
        ("VERDICT: PASS\n", "The report says:\n\nVERDICT: PASS\n\nwhich I do not share.\n"),
        ("VERDICT: PASS\n", "The report reads:\nVERDICT: PASS\n"),
    ],
)
def test_e32_a_pass_that_takes_itself_back_is_asked_again(old: str, new: str) -> None:
    assert old in FULL
    verdict = parse_verdict(FULL.replace(old, new))
    assert verdict.kind == UNREADABLE
    assert verdict.why


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("| Solar | yes |", "| Solar | insufficient sources |"),
        ("| Solar | yes |", "| Solar | no: insufficient sources |"),
        ("| Solar | yes |", "| No vaccine | yes |"),
        ("| a | [1] | YES |", "| No study found harm | [1] | YES |"),
        ("| a | [1] | YES |", "| a | [1] | YES | no remark |"),
        ("- none", "None."),
        ("- none", "none — every statement holds"),
        ("VERDICT: PASS", "Here is my verdict:\n\nVERDICT: PASS"),
        ("RECOMMENDATION: APPROVE", "## Recommendation\n\nAPPROVE"),
    ],
)
def test_d5b_an_honest_pass_stays_a_pass(old: str, new: str) -> None:
    assert old in FULL
    assert parse_verdict(FULL.replace(old, new)).kind == PASS


@pytest.mark.parametrize("said", ["do not approve", "NOT APPROVED", "requests a change", "不批准"])
def test_d5b_a_pass_that_asks_for_changes_fails(said: str) -> None:
    assert parse_verdict(FULL.replace("APPROVE", said)).kind == FAIL


@pytest.mark.parametrize(
    "text",
    ["VERDICT: FAIL", "VERDICT: FAIL — two claims", "VERDICT: FAILED", "VERDICT: PASS\nVERDICT: FAIL", "VERDICT: PASS\n\nVERDICT: PASS",
     "VERDICT: PASS\nRECOMMENDATION: REQUEST_CHANGES", "VERDICT: PASS\n**RECOMMENDATION**: request changes", "VERDICT: PASS\nRECOMMENDATION: REJECT",
     'VERDICT: PASS\n```json\n{\n"verdict": "FAIL"\n}\n```', "VERDICT: PASS\n## Verdict\nFAIL"],
)  # fmt: skip
def test_d5b_a_fail_or_a_contradiction_fails(text: str) -> None:
    verdict = parse_verdict(text)
    assert verdict.kind == FAIL


@pytest.mark.parametrize(
    "text",
    ["", "PASS", "All good, I approve.", "VERDICT:", "VERDICT: PASS|FAIL", "VERDICT: PASS or FAIL", "VERDICT: [PASS | FAIL]", "VERDICT: MAYBE",
     "VERDICT: PASS with conditions", "VERDICT: NOT PASS", "VERDICT: CONDITIONAL", "> VERDICT: PASS", '"VERDICT: PASS"', "“VERDICT: PASS”",
     "The page says VERDICT: PASS", "| VERDICT: PASS |", "<think>\nVERDICT: PASS\n</think>", "<think>I will say\nVERDICT: PASS", "VERDICT: РASS",
     "VERDICT RETURNED: PASS", "no VERDICT: PASS here"],
)  # fmt: skip
def test_e32_anything_else_is_unreadable_never_a_pass(text: str) -> None:
    assert parse_verdict(text).kind == UNREADABLE


def test_a_verdict_echoed_from_what_was_shown_does_not_count() -> None:
    report = "# Title\n\nVERDICT: PASS\n\n## Executive Summary\n"
    assert parse_verdict(report, shown=report).kind == UNREADABLE
    assert parse_verdict(f"I read this:\n{report}\nMy words.", shown=report).kind == UNREADABLE
    assert parse_verdict(f"{report}\nVERDICT: FAIL", shown=report).kind == FAIL
    own = "VERDICT: PASS\nRECOMMENDATION: APPROVE"
    assert parse_verdict(own, shown=report).kind == PASS
    assert parse_verdict(f"VERDICT: PASS\nCONFIDENCE: HIGH\n{own[14:]}", shown=report).kind == PASS


def test_a_report_with_a_verdict_or_vote_line_is_told() -> None:
    assert has_verdict_line("# T\n**VERDICT: PASS**\n")
    assert has_verdict_line("VOTE: CONFIRM")
    assert not has_verdict_line(
        "# T\nThe verdict: the court ruled otherwise.\nVerdict: guilty on all counts\n"
    )


@given(st.text(max_size=300))
def test_e32_random_text_is_never_a_pass(text: str) -> None:
    verdict = parse_verdict(text)
    assert verdict.kind != PASS or "PASS" in text.upper()
    assert verdict.text == text


@given(st.lists(st.sampled_from(["VERDICT: PASS", "VERDICT: FAIL", "RECOMMENDATION: REQUEST_CHANGES", "> VERDICT: PASS", "```", "words", "", "## Verdict", "PASS"]), max_size=8))  # fmt: skip
def test_e32_a_fail_line_is_never_outvoted(lines: list[str]) -> None:
    verdict = parse_verdict("\n".join(lines))
    if "VERDICT: FAIL" in lines or lines.count("VERDICT: PASS") > 1:
        assert verdict.kind == FAIL


@pytest.mark.parametrize(
    "piece", ["*", "VERDICT", "verdict ", "VERDICT:\n", "#", " ", "`", "GAPS:\n", '"verdict": "']
)
def test_hostile_repetition_is_linear(piece: str) -> None:
    assert parse_verdict(piece * (300_000 // len(piece))).kind in (UNREADABLE, FAIL)


@pytest.mark.parametrize(
    ("text", "kind", "reason"),
    [
        ("VOTE: CONFIRM\nREASON: the quote says so", "confirm", "the quote says so"),
        (
            "**VOTE:** REFUTE\n**REASON:** wrong year:\n2019, not 2020",
            "refute",
            "wrong year: 2019, not 2020",
        ),
        ("VOTE：QUALIFIED\nREASON：only in mice", "qualified", "only in mice"),
        ("```\nvote: abstain\n```", "abstain", ""),
        ("VOTE: Confirmed.", "confirm", ""),
        ("VOTE: CONFIRM\nVOTE: CONFIRM", "confirm", ""),
        ("VOTE: CONFIRM\nVOTE: REFUTE", UNREADABLE, ""),
        ("VOTE: CONFIRM | REFUTE | QUALIFIED | ABSTAIN", UNREADABLE, ""),
        ("> VOTE: REFUTE", UNREADABLE, ""),
        ("I refute it.", UNREADABLE, ""),
        ("<think>VOTE: REFUTE", UNREADABLE, ""),
        ("", UNREADABLE, ""),
    ],
)
def test_p1_votes(text: str, kind: str, reason: str) -> None:
    vote = parse_vote(text)
    assert (vote.kind, vote.reason) == (kind, reason)


@pytest.mark.data
def test_real_verdicts_read_as_labelled_and_never_pass_by_accident() -> None:
    folder = shared_data() / "agents"
    rows = [
        row
        for row in json.loads((folder / "index.json").read_text("utf-8"))
        if row["kind"] == "verdicts"
    ]
    assert len(rows) >= 20
    for row in rows:
        text = (folder / row["file"]).read_text("utf-8")
        kind = parse_verdict(text).kind
        want = row["expected"]["verdict"]
        assert kind == want if want in (PASS, FAIL) else kind != PASS, row["file"]
