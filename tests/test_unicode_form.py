"""Unicode forms in linear time (T20, 81-reliability: hostile input without quadratic time)."""

from __future__ import annotations

import unicodedata
from typing import Literal, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.documents.verdict import parse_verdict
from omh_research.tools.normal_form import normalise
from omh_research.unicode_form import MOST_MARKS, unicode_form

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
FORMS = get_args(Form)
ALPHABET = (
    "aZ 1\n½ﬁéẹ\u0301\u0323\u05b0\u0f73\u0344가각\u1100\u1161\u11a8ㄱ漢カｶﾞ\u3099เอ\u0e31क्षि\u2126Å"
)


@given(st.sampled_from(FORMS), st.text(alphabet=ALPHABET, min_size=1, max_size=40), st.text())
def test_it_is_the_standard_form_of_any_text_without_absurd_runs(
    form: Form, piece: str, other: str
) -> None:
    text = (piece + "x" + other + "-") * (600 // len(piece) + 1)
    assert unicode_form(form, text) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("form", FORMS)
def test_runs_up_to_the_stream_safe_limit_are_put_in_order(form: Form) -> None:
    text = "words before " * 50 + "a" + "\u0301\u0323" * (MOST_MARKS // 2) + " after"
    assert unicode_form(form, text) == unicodedata.normalize(form, text)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("marks", ["\u0301\u0323", "\u0f73\u0f71", "\u05b0\u05b1", "\uff9e\u0323"])
def test_a_megabyte_of_alternating_marks_ends(marks: str) -> None:
    """Quadratic work on this takes a quarter of an hour; every mark is still there."""
    text = "a" + marks * 250_000
    formed = unicode_form("NFKD", text)
    assert sorted(formed) == sorted("".join(unicodedata.normalize("NFKD", char) for char in text))


@pytest.mark.timeout(60)
def test_those_who_read_foreign_text_end_too() -> None:
    text = "VERDICT: PASS " + "\u0301\u0323" * 250_000
    assert normalise(text).startswith("verdict: pass")
    parse_verdict(text)
