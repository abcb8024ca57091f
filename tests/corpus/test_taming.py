"""Hostile and huge markup: bounded work, nothing lost (81 section 7, Q12)."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.corpus.html_reading import read_html
from omh_research.corpus.taming import MAX_CONSTRUCT_CHARS, tame
from omh_research.providers.web import main_text
from omh_research.providers.web.main_text import extract_main_text

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


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_paragraph_of_ten_megabytes_is_read_within_bounds() -> None:
    """Q12: one huge paragraph, every word kept, at most 200 MB for the whole program."""
    program = (
        "from omh_research.providers.web.main_text import extract_main_text\n"
        f"sentence = {SENTENCE!r}\n"
        "page = '<html><body><article><p>' + sentence * (10_000_000 // len(sentence)) + '</p>'\n"
        "text = extract_main_text(page)\n"
        "status = open('/proc/self/status').read()\n"
        "peak = int(status.split('VmHWM:')[1].split()[0]) // 1024\n"
        "print(text.count('boils'), page.count('boils'), peak)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    kept, given_, peak = map(int, done.stdout.split())
    assert kept == given_
    assert peak <= 120, "the page is 10 MB, the program 40"


@pytest.mark.deep
@pytest.mark.parametrize(
    "piece", ['<a href="', "<!-- x ", "<", "<b ", "</", "<!", "<a b='", "<div>", "&lt;", "<p>w", "<script>", '<a x=">', "<![CDATA["]
)  # fmt: skip
@pytest.mark.parametrize("read", [extract_main_text, lambda markup: read_html(markup, "x:y")])
def test_work_grows_in_line_with_the_markup(read: Callable[[str], Any], piece: str) -> None:
    def cost(size: int) -> float:
        markup = "<html><body>" + piece * (size // len(piece))
        began = time.process_time()
        read(markup)
        return time.process_time() - began

    cost(1_000)
    small, large = cost(60_000), cost(120_000)
    assert large < 3.5 * small + 0.3
