"""Claims found in reports written by other programs, marked by hand (P9).

`claim_marks.json` holds, of 28 reports, a range of lines and the hashes of the sentences in it that
a reader marked as claims, as others, or as unclear (not scored). The first twenty were seen while
the word tables were made, the last eight were marked afterwards.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

from omh_research.tools.claims import cited_sentences, find_claims

_BESIDE = Path(__file__).resolve().parents[2] / "../shared/data"
DATA = Path(os.environ.get("OMH_SHARED_DATA") or _BESIDE)
MARKS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("claim_marks.json").read_text())
SEEN = 20

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not (DATA / "agents").is_dir(), reason="the shared data folder is absent"),
]


def _hash(sentence: str) -> str:
    return hashlib.sha256(sentence.encode()).hexdigest()[:12]


def _judged(mark: dict[str, Any]) -> tuple[int, int, int, list[str]]:
    """Return claims found, others taken, claims missed of one report, and what went wrong."""
    text = (DATA / "agents" / mark["file"]).read_text(encoding="utf-8")
    start, end = mark["lines"]
    part = "\n".join(line.lstrip("#") for line in text.split("\n")[start:end] if line[:1] != "#")
    known = {_hash(sentence): sentence for sentence in cited_sentences(part)}
    assert set(mark["claims"]) | set(mark["others"]) <= set(known), "a marked sentence is gone"
    body = f"# T\n\n## Detailed Findings\n\n### Part\n\n{part}\n"
    found = {_hash(claim.sentence) for claim in find_claims(body, ("Part",))}
    taken = [known[key] for key in mark["others"] if key in found]
    missed = [known[key] for key in mark["claims"] if key not in found]
    return len(mark["claims"]) - len(missed), len(taken), len(missed), [*taken, *missed]


@pytest.mark.parametrize(
    "marks", [MARKS[:SEEN], MARKS[SEEN:]], ids=["twenty reports", "eight not seen before"]
)
def test_p9_claims_of_marked_reports_are_found_and_few_others(marks: list[dict[str, Any]]) -> None:
    found = others = missed = 0
    wrong: list[str] = []
    for mark in marks:
        right, taken, gone, words = _judged(mark)
        found, others, missed = found + right, others + taken, missed + gone
        wrong += words
    assert found >= 60
    assert found / (found + missed) >= 0.9, (found, missed, wrong)
    assert others / (found + others) <= 0.1, (found, others, wrong)
