"""What a page does not show is not quoted (81-reliability 7: hidden text is a way to inject)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.corpus.hidden import hides
from omh_research.corpus.html_reading import _MainText, read_html
from omh_research.corpus.markdown_hiding import shown_markdown
from omh_research.corpus.reading import read_bytes
from omh_research.providers.web.main_text import extract_main_text

FILL = " ".join(f"The bridge number {i} was built by workers in 18{i:02}." for i in range(20))
SENTENCE = "The moon {} raises the tides of the sea twice a day in every harbour."
HIDING = [
    '<span style="display:none">SECRET words.</span>',
    '<span style="color:red; DISPLAY : none !important">SECRET words.</span>',
    "<span style='display:/* so */none'>SECRET words.</span>",
    "<b hidden>SECRET words.</b>",
    '<em style="visibility: hidden">SECRET words.</em>',
    '<span style="font-size:0">SECRET words.</span>',
    '<span style="font-size: 0.0em; color: red">SECRET words.</span>',
    '<span style="opacity:0">SECRET words.</span>',
    '<span style="position:absolute;left:-9999px">SECRET words.</span>',
    "<template>SECRET words.</template>",
    "<noscript>SECRET words.</noscript>",
    '<span style="display:none">SECRET <b>SECRET</b> words.</span>',
    "</p><p hidden>SECRET words stand in a paragraph.</p><p>",
    '</p><p style="display:none">SECRET words stand in a paragraph.</p><p>',
    '</p><div style="visibility:hidden"><p>SECRET words stand in a paragraph.</p></div><p>',
    "</p><ul hidden><li>SECRET words stand in a list.</li></ul><p>",
]
SHOWN = [
    '<span style="display:inline">SECRET words.</span>',
    '<span style="font-size:0.9em">SECRET words.</span>',
    '<span style="opacity:0.5">SECRET words.</span>',
    '<span style="margin-left:-1px;visibility:visible">SECRET words.</span>',
    '</p><div style="opacity:0"><p>SECRET words that are faded in, a whole block of them.</p></div><p>',
]
PAGES = [
    "<!doctype html><html><head><title>T</title></head><body><article>{}</article></body></html>",
    "<div>{}</div><div></div>",
]


def pages_with(piece: str) -> list[str]:
    long = f"<p>{FILL}</p><p>{SENTENCE.format(piece)}</p><p>{FILL} More.</p>"
    short = f"<p>{SENTENCE.format(piece)}</p>"
    return [page.format(inner) for page in PAGES for inner in (long, short)]


def texts_of(markup: str) -> tuple[str, str, str]:
    own = _MainText()
    own.feed(markup)
    own.close()
    return read_html(markup, "x").text, extract_main_text(markup), own.markdown()


@pytest.mark.parametrize("piece", HIDING)
def test_d6_text_that_a_page_hides_is_left_out(piece: str) -> None:
    """Of a corpus page, a web page and by the standard library's parser alike."""
    for markup in pages_with(piece):
        for text in texts_of(markup):
            assert "SECRET" not in text
            assert "raises the tides of the sea" in text, "what follows is kept"


@pytest.mark.parametrize("piece", SHOWN)
def test_d6_text_that_a_page_shows_is_kept(piece: str) -> None:
    for markup in pages_with(piece)[:1]:
        assert all("SECRET" in text for text in texts_of(markup))


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p hidden>SECRET<p>shown", "shown"),
        ("<p hidden>SECRET <b>SECRET</b><p>shown", "shown"),
        ("<p hidden>SECRET<h2>shown</h2>", "## shown"),
        ("<ul><li hidden>SECRET<li>shown</ul><p>too", "- shown\n\ntoo"),
        ("<table><tr hidden><td>SECRET<tr><td>shown</table>", "shown"),
    ],
)
def test_a_hidden_element_without_end_tag_hides_no_more_than_itself(markup: str, text: str) -> None:
    parser = _MainText()
    parser.feed(markup)
    parser.close()
    assert parser.markdown() == text


def test_a_page_that_styles_its_whole_text_away_shows_it_by_script() -> None:
    markup = f'<html><body style="visibility:hidden"><p>{FILL}</p></body></html>'
    assert FILL in read_html(markup, "x").text


@given(st.text(alphabet="display:none;font-size0.px !%oacity-9", max_size=300))
def test_any_style_is_an_answer(style: str) -> None:
    assert hides("span", {"style": style}) in (True, False)
    assert hides("span", {"style": style + ";display:none"})


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("One.\n\n<!--\nSECRET.\n\nSECRET.\n-->\n\nTwo.", "One.\n\n\n\nTwo."),
        ("<!-- SECRET --> One <!-- SECRET -->two.", " One two."),
        ('<div style="display:none">\nSECRET <div>SECRET</div>\n</div>\nOne.', "\nOne."),
        ("One <span hidden>SECRET</span>two.", "One two."),
        ("<template>\n\nSECRET\n\n</template>One.", "One."),
        ("`<!-- SECRET -->` is a comment.", None),
        ("```\n<!-- SECRET -->\n```\n", None),
        ('One <span class="hidden" title="x">two</span>.', None),
        ("A comment opens with <!-- in a page.", None),
        ("<div hidden>\n\nIt has no end.", None),
        ("a < b and c > d", None),
    ],
)
def test_d6_markdown_is_read_as_it_is_shown(text: str, shown: str | None) -> None:
    """Comments and hidden elements are seen by no reader of the page; code shows them."""
    expected = text if shown is None else shown
    assert shown_markdown(text) == expected
    page = read_bytes(text.encode(), "corpus:c/a.md", name="a.md")
    assert page.text == expected
    assert read_bytes(text.encode(), "corpus:c/a.txt", name="a.txt").text == text


def test_d6_markdown_of_a_comment_alone_is_empty() -> None:
    page = read_bytes(b"<!-- SECRET -->\n", "corpus:c/a.md", name="a.md")
    assert (page.state, page.text) == ("empty", "")


@pytest.mark.parametrize(
    "piece", ["<!--", "<!-- -->", "<p hidden>", "<p hidden></p>", "`<a>", "<a "]
)
def test_hostile_markdown_ends(piece: str) -> None:
    assert "The end." in shown_markdown(piece * 50_000 + "The end.")


@given(st.text(alphabet="ab<>!-/ `\np=", max_size=400))
def test_what_is_shown_is_what_was_there_less_something(text: str) -> None:
    left = iter(text)
    assert all(char in left for char in shown_markdown(text))
