"""The lighter tree that the extractor is handed gives the very text its own parsing gives (Q8)."""

from __future__ import annotations

import gzip

import pytest

from tests.documents.shared_data import shared_data

trafilatura = pytest.importorskip("trafilatura", reason="needs the extra web")

from omh_research.corpus.html_reading import _by_trafilatura  # noqa: E402

PARAGRAPH = (
    "<p>Tides are the rise and fall of the sea, caused by the pull of the moon. H<sub>2</sub>O.</p>"
)
DIFFERENT = "".join(
    f"<p>Harbour number {n} sees a tide of {n} metres, and its pilots wait for high water.</p>"
    for n in range(2, 14)
)
PAGES = {
    "plain": f"<html><head><title>T</title></head><body><article>{PARAGRAPH * 9}</article></body></html>",
    "scripts": "<html><head><style>p{}</style><script>var p='<p>no</p>';</script></head><body>"
    f"<script>x()</script>between{PARAGRAPH * 9}<svg><path d='M0'/></svg> after <canvas>c</canvas></body></html>",
    "json": '<html><body><script type="application/ld+json">{"@type":"Article","articleBody":"'
    + "The body of the article stands in its data alone, as on some pages it does. " * 9
    + '"}</script><div id="app"></div></body></html>',
    "forum": '<html><body><script type="application/ld+json">{"@type":"DiscussionForumPosting"}</script>'
    f"<div class='comments'>{PARAGRAPH * 9}</div></body></html>",
    "declared": f'<?xml version="1.0" encoding="latin-1"?><html><body>{PARAGRAPH * 9}é</body></html>',
    "doctype": f"<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0'><html/>\n<body>{PARAGRAPH * 9}</body>",
    "comments": f"<html><body><!-- {PARAGRAPH} -->{PARAGRAPH * 9}<?php x ?></body></html>",
    "noscript": f"<html><body><noscript>{PARAGRAPH}</noscript><template>{PARAGRAPH}</template>{PARAGRAPH * 9}</body></html>",
    "framed": f"<html><body><nav><ul><li><a href='/'>Home</a></li></ul></nav><aside>{PARAGRAPH}</aside>"
    f"<main><h1>Tides</h1>{DIFFERENT}</main>tail<footer>{PARAGRAPH * 3}</footer> after</body></html>",
    "short": f"<html><body><nav>{PARAGRAPH}</nav><div>{PARAGRAPH * 2}</div><footer>{PARAGRAPH}</footer></body></html>",
    "open aside": f"<html><body><h1>Tides</h1><aside><p>Advert</p>{DIFFERENT}",
    "all in nav": f"<html><body><nav>{DIFFERENT}</nav></body></html>",
    "divisions": f"<html><body><nav>Home</nav><div>{DIFFERENT.replace('p>', 'div>')}</div><aside>Most read</aside></body></html>",
    "fields": f"<html><body><form><p>Name <input name='n'> of the <select><option>one</select></p>"
    f"<textarea>words</textarea><button>Send</button> it</form>{DIFFERENT}<iframe src='x'>no</iframe> end</body></html>",
    "pictures": f"<html><head><meta name='a' content='b'></head><body><p>A <img src='a.png' alt='moon'> picture"
    f" of the sea</p><picture><source srcset='b'><img src='c'></picture>{DIFFERENT}<figure><img src='d'>"
    "<figcaption>The sea</figcaption></figure></body></html>",
    "fragment": PARAGRAPH * 9,
    "nothing": "",
    "words": "no markup at all",
    "deep": "<html><body>" + "<b>x" * 3_000,
}


def as_it_parses_itself(text: str) -> str | None:
    try:
        found: str | None = trafilatura.extract(
            text, fast=True, output_format="markdown", include_comments=False, include_tables=True,
            include_links=False, include_formatting=True, with_metadata=False, deduplicate=False,
        )  # fmt: skip
    except Exception:
        return None
    return found


@pytest.mark.parametrize("name", PAGES)
def test_the_text_is_the_same(name: str) -> None:
    assert _by_trafilatura(PAGES[name], links=False) == as_it_parses_itself(PAGES[name])


@pytest.mark.data
@pytest.mark.parametrize("folder", ["article-bench-a", "readability-a", "trafilatura-eval-a"])
def test_the_text_of_recorded_pages_is_the_same(folder: str) -> None:
    files = sorted((shared_data() / "html" / folder).glob("*.gz"))
    assert files
    for file in files:
        text = gzip.decompress(file.read_bytes()).decode("utf-8", "replace")
        assert _by_trafilatura(text, links=False) == as_it_parses_itself(text), file.name
