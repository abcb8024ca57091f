"""Hostile and huge markup: bounded work, nothing lost (81 section 7, Q12)."""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.providers.web import main_text
from omh_research.providers.web.main_text import extract_main_text
from omh_research.providers.web.taming import MAX_CONSTRUCT_CHARS, tame

SENTENCE = "Water boils at one hundred degrees Celsius at sea level. "


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def _text(markup: str) -> str:
    parser = _Text()
    parser.feed(markup)
    parser.close()
    return "".join(parser.parts)


@pytest.mark.parametrize(
    ("markup", "tamed"),
    [
        ("<p>a</p>", "<p>a</p>"),
        ("a<!-- gone -->b", "ab"),
        ("a<!-- never closed <b>x</b>", "a&lt;!-- never closed <b>x</b>"),
        ("<!-- a --><!-- b", "&lt;!-- b"),
        ('<a href="' * 3, '&lt;a href="' * 3),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("</", "&lt;/"),
        ("<?xml x", "&lt;?xml x"),
        ("", ""),
    ],
)
def test_unfinished_constructs_become_text(markup: str, tamed: str) -> None:
    assert tame(markup) == tamed


@given(st.text(alphabet='<>!-/a"= ', max_size=60))
def test_every_opening_left_is_closed_nearby_and_no_comment_stays(markup: str) -> None:
    tamed = tame(markup)
    for found in re.finditer(r"<[A-Za-z/!?]", tamed):
        assert ">" in tamed[found.start() : found.start() + MAX_CONSTRUCT_CHARS]
    _text(tamed)


@given(
    st.lists(
        st.sampled_from(["<b>", "</b>", "<p class='x'>", "word ", "&amp;", "<br/>", "1 < 2 "]),
        max_size=30,
    )
)
def test_well_formed_markup_is_left_as_it_is(pieces: list[str]) -> None:
    markup = "".join(pieces) + ">"
    assert _text(tame(markup)) == _text(markup)


def test_page_with_more_tags_than_the_extractor_takes_keeps_all_its_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(main_text, "MAX_EXTRACTED_TAGS", 50)
    body = "".join(f"<p>{SENTENCE}{number}</p>" for number in range(60))
    text = extract_main_text(
        f"<html><body><nav>Menu</nav><article><h1>T</h1>{body}</article></body></html>"
    )
    assert text.startswith("# T") and "Menu" not in text
    assert all(f"sea level. {number}" in text for number in range(60))


@pytest.mark.deep
@pytest.mark.parametrize(
    "piece", ['<a href="', "<!-- x ", "<", "<b ", "</", "<!", "<a b='", "<div>", "&lt;", "<p>w", "<script>", '<a x=">', "<![CDATA["]
)  # fmt: skip
def test_work_grows_in_line_with_the_markup(piece: str) -> None:
    def cost(size: int) -> float:
        markup = "<html><body>" + piece * (size // len(piece))
        began = time.process_time()
        extract_main_text(markup)
        return time.process_time() - began

    cost(1_000)
    small, large = cost(60_000), cost(120_000)
    assert large < 3.5 * small + 0.3
