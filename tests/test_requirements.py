"""Every requirement of the specification is named by at least one test; every change is told."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
SPEC = TESTS.parents[1] / "shared" / "spec"
ID = re.compile(r"^- \**([A-Z]\d+[a-c]?)\b", re.M)


def _named() -> set[str]:
    """The ids that tests name, in words (E12) or in function names (test_e12_...)."""
    found: set[str] = set()
    for path in TESTS.rglob("*.py"):
        text = path.read_text("utf-8")
        found |= set(re.findall(r"\b([A-Z]\d+[a-c]?)\b", text))
        found |= {
            part.upper()[0] + part[1:] for part in re.findall(r"(?<=_)([a-z]\d+[a-c]?)(?=_)", text)
        }
        for letter, first, last in re.findall(r"\b([A-Z])(\d+)[-–][A-Z]?(\d+)\b", text):
            found |= {f"{letter}{number}" for number in range(int(first), int(last) + 1)}
    return found


@pytest.mark.data
@pytest.mark.skipif(not SPEC.is_dir(), reason="the specification is not beside the checkout")
def test_every_requirement_is_named_by_a_test() -> None:
    wanted = {
        name for path in SPEC.glob("[1-7]0-*.md") for name in ID.findall(path.read_text("utf-8"))
    }
    assert len(wanted) > 120
    assert sorted(wanted - _named()) == []
