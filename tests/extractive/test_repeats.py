"""A quote says nothing twice and has an end, whatever the document's text (D1, D1b, Q14)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research import Engine
from omh_research.documents.options import RunOptions
from omh_research.documents.source import Page
from omh_research.extractive.units import MAX_CHARS, MAX_DENSE_CHARS, is_dense, quotable_units


def units_of(text: str, language: str = "en", *wanted: str) -> list[str]:
    page = Page("corpus:a", "corpus:a", "ok", text=text)
    return [unit.text for unit in quotable_units(page, language, frozenset(wanted))]


@pytest.mark.parametrize(
    ("text", "units"),
    [
        ("Snails are slow. Snails are slow. Snails are slow.", ["Snails are slow."]),
        (
            "Snails are slow. Snails are slow. They carry a shell.",
            ["Snails are slow. They carry a shell."],
        ),
        (
            "Snails carry a shell with them. They eat. They eat. They eat.",
            ["Snails carry a shell with them."],
        ),
        ("Ja. Ja. Snails carry a shell with them.", ["Ja. Snails carry a shell with them."]),
    ],
)
def test_d1b_short_sentences_are_joined_but_not_to_their_repeats(
    text: str, units: list[str]
) -> None:
    assert units_of(text) == units


@pytest.mark.parametrize(
    "text",
    [
        "Snails are slow. Snails are slow. Snails are slow.\n",
        "Snails are slow as they carry a shell with them. " * 3,
    ],
    ids=["short", "long"],
)
def test_d1b_a_report_quotes_a_repeated_sentence_once(tmp_path: Path, text: str) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "a.txt").write_text(text, "utf-8")
    engine = Engine(str(tmp_path))
    slug = engine.start("How slow are snails?", options=RunOptions(corpus=("c",))).slug
    assert engine.run(slug).status == "confirmed"
    assert engine.report(slug).count("Snails are slow") == 1


@pytest.mark.parametrize("count", [20, 60, 4_000])
@pytest.mark.parametrize("mark", ["", "，", " "])
def test_d1_a_text_that_never_ends_a_sentence_is_quoted_in_clauses_or_not_at_all(
    count: int, mark: str
) -> None:
    text = ("天空是蓝色的因为瑞利散射" + mark) * count
    units = units_of(text, "zh", "天空", "蓝色")
    assert all(len(unit) <= MAX_DENSE_CHARS and unit in text for unit in units)
    if mark:
        assert units, "cut at the marks within it"


@given(st.text(alphabet="ab é象天空。，. \n!", max_size=3_000))
def test_d1_every_quote_is_a_bounded_slice_of_its_text(text: str) -> None:
    folded = " ".join(text.split())
    for unit in units_of(text):
        assert unit in folded
        assert len(unit) <= (MAX_DENSE_CHARS if is_dense(unit) else MAX_CHARS)
