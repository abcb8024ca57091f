"""A small web on loopback: a search page in DuckDuckGo's form, articles, a PDF, and what is in the
way (a wall, a page that is gone, a page kept from robots, an article about something else).

The articles are written for these tests. Search ranks by rare words in common, with a cut snippet,
as a search service does.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from msgspec import Struct

from tests.providers.site import Answer, Asked

TOPIC = "How do salt marshes protect coasts from storms?"
_WORD = re.compile(r"[a-z]+")
_COMMON = frozenset("how do the a of and to in from is are for on by with that it as at".split())


class Article(Struct, frozen=True):
    """One page: `paragraphs` hold the text, `kind` how it is served, `raw` a page as recorded."""

    path: str
    title: str
    paragraphs: tuple[str, ...]
    date: str = ""
    kind: str = "html"
    raw: bytes = b""


ARTICLES = (
    Article(
        "/marsh/waves",
        "How marsh grass calms waves",
        (
            "Salt marshes protect coasts because their stems slow the water and take energy out "
            "of every wave that crosses them. In a flume of 300 metres in Hanover, waves lost 60 "
            "per cent of their height over 40 metres of marsh.",
            "Wave height falls fastest in the first ten metres of vegetation. Taller stems take "
            "more energy from the waves than short turf does. Stiff plants break in heavy storms, "
            "while flexible plants bend and recover.",
            "Even when the canopy is flattened, the marsh surface stays rough. The sediment below "
            "the plants was eroded by less than one centimetre in the largest storm tested.",
        ),
        "2021-03-04",
    ),
    Article(
        "/coast/flood-costs",
        "What a marsh is worth when a hurricane comes",
        (
            "During Hurricane Sandy in 2012, coastal wetlands avoided 625 million dollars of "
            "flood damage in the north-east of the United States. Insurers now count salt marshes "
            "as storm protection for coasts.",
            "Flood damage was 10 per cent lower in places that had kept their wetlands. The "
            "benefit was largest where the marsh was wide and the houses stood close behind it.",
            "A dike with a marsh in front of it can be built lower and costs less to maintain. "
            "Maintenance costs of dikes fall because the marsh keeps the waves from the toe of "
            "the dike.",
        ),
        "2019-10-18",
    ),
    Article(
        "/estuary/storm-surge",
        "Storm surge in an estuary with marshes",
        (
            "A storm surge is a long wave, and a marsh lowers it only where the marsh is wide. "
            "Measured along the Scheldt estuary, storm surge height fell by 4 to 25 centimetres "
            "for each kilometre of marsh.",
            "Channels carry the surge through the marsh, so marshes with many channels protect "
            "the coast less. Surge reduction is smaller for long storms, because the marsh fills "
            "with water.",
            "Dikes moved inland gave the estuary room, and high water levels upstream went down. "
            "Managed realignment needs sediment that the tide brings in.",
        ),
    ),
    Article(
        "/ecology/sediment",
        "Sediment keeps a marsh above the sea",
        (
            "Marsh plants catch sediment at every tide, and the surface grows by 2 to 10 "
            "millimetres a year. Sediment supply decides whether a salt marsh keeps pace with the "
            "rising sea.",
            "Where rivers are dammed, the sediment supply is cut off and marshes drown. Sea level "
            "rise of more than 7 millimetres a year is too fast for most marshes.",
            "Roots bind the sediment, so that the marsh edge resists erosion by waves. Erosion of "
            "the marsh edge is the usual way in which a marsh is lost to storms.",
        ),
        "2020-06-30",
    ),
    Article(
        "/restoration/lessons",
        "Lessons from thirty years of marsh restoration",
        (
            "Managed realignment moves the dike inland and lets the tide make a new salt marsh. "
            "More than 100 sites in Europe have been restored since 1991.",
            "Restored marshes reach the plant cover of old ones after about 15 years. Their "
            "sediment holds less carbon in the first decades.",
            "Restoration costs between 10 000 and 50 000 euros a hectare. Brushwood fences bring "
            "sea level rise and sediment into balance again on exposed coasts.",
        ),
        "2022-01-12",
    ),
    Article(
        "/report/marshes.pdf",
        "Marshes as flood defence",
        (
            "Salt marshes protect coasts from storms best in front of a dike.",
            "Wave height at the dike was halved by a marsh of 80 metres.",
            "Sea level rise threatens one third of the marshes by 2100.",
            "Managed realignment is the cheapest way to restore a marsh.",
        ),
        kind="pdf",
    ),
    Article(
        "/members/marsh",
        "Salt marshes and storms: the full study",
        ("Salt marshes protect coasts from storms.",),
        kind="wall",
    ),
    Article(
        "/old/salt-marsh",
        "Salt marshes protect coasts",
        ("Salt marshes protect coasts from storms.",),
        kind="gone",
    ),
    Article(
        "/private/marsh",
        "Storms on coasts: notes",
        ("Salt marshes protect coasts from storms.",),
        kind="private",
    ),
    Article(
        "/cooking/salt",
        "Which salt for which dish",
        (
            "Sea salt is dried by sun and wind on flat coasts. Flaky salt is strewn over a dish "
            "when it is done, fine salt goes into the dough.",
            "Smoked salt goes well with eggs. A pinch of salt brings out what is sweet.",
        ),
    ),
)


class SmallWeb:
    """Answers for a `Site`: `/html/` searches, the rest is the web itself."""

    def __init__(self, articles: Sequence[Article] = ARTICLES) -> None:
        self.articles = {article.path: article for article in articles}
        self.base = ""
        words = [set(_words(_all(article))) for article in articles]
        count = len(words)
        self._rarity = {
            word: math.log(1 + count / sum(word in held for held in words))
            for word in set().union(*words)
        }

    def __call__(self, asked: Asked) -> Answer:
        if asked.path == "/html/":
            return _page(self._results(asked.params.get("q", "")))
        if asked.path == "/robots.txt":
            return Answer(b"User-agent: *\nDisallow: /private/\n", content_type="text/plain")
        article = self.articles.get(asked.path)
        if article is None or article.kind == "gone":
            return Answer(b"<h1>Not found</h1>", 404, "text/html")
        if article.kind == "wall":
            return _page("<title>Just a moment...</title>Checking your browser", status=403)
        if article.kind == "pdf":
            return Answer(make_pdf(article.paragraphs), content_type="application/pdf")
        if article.raw:
            return Answer(article.raw, content_type="text/html")
        return _page(_article(article))

    def _results(self, query: str) -> str:
        wanted = set(_words(query))
        rated = []
        for article in self.articles.values():
            held = _words(_all(article))
            score = sum(self._rarity[word] for word in wanted & set(held))
            if score:
                rated.append((-score, article.path, article))
        rows = "".join(self._row(article, wanted) for *_, article in sorted(rated)[:10])
        if not rows:
            return '<div class="no-results">No results.</div>'
        return f'<div class="serp__results">{rows}</div>'

    def _row(self, article: Article, wanted: set[str]) -> str:
        best = max(article.paragraphs, key=lambda text: len(wanted & set(_words(text))))
        link = f"//duckduckgo.com/l/?uddg={quote(self.base + article.path, safe='')}&amp;rut=1"
        snippet = html.escape(best[:150]) + (" ..." if len(best) > 150 else "")
        return (
            f'<div class="result results_links web-result"><h2 class="result__title">'
            f'<a class="result__a" href="{link}">{html.escape(article.title)}</a></h2>'
            f'<a class="result__snippet" href="{link}">{snippet}</a></div>'
        )


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in _COMMON]


def _all(article: Article) -> str:
    return " ".join((article.title, *article.paragraphs))


def _page(body: str, status: int = 200) -> Answer:
    made = f"<!doctype html><html lang=en><body>{body}</body></html>"
    return Answer(made.encode(), status, "text/html; charset=utf-8")


def _article(article: Article) -> str:
    # Links inside sentences, as in real pages.
    linked = [
        re.sub(r"\b(marsh|sediment|dike)\b", r'<a href="/wiki/\1">\1</a>', html.escape(text))
        for text in article.paragraphs
    ]
    dated = f'<meta property="article:published_time" content="{article.date}">'
    return (
        f"<head><title>{html.escape(article.title)} | Coast Weekly</title>"
        f"{dated if article.date else ''}</head>"
        '<nav><ul><li><a href="/">Home</a></li><li><a href="/news">News</a></li>'
        '<li><a href="/about">About us</a></li></ul></nav>'
        f"<main><article><h1>{html.escape(article.title)}</h1>"
        + "".join(f"<p>{text}</p>" for text in linked)
        + "</article></main><aside><h3>Most read</h3><ul><li>Ten beaches for the summer</li></ul>"
        "</aside><footer><p>All rights reserved. We use cookies.</p></footer>"
    )


def make_pdf(lines: Sequence[str]) -> bytes:
    """Return a PDF of one page with these lines of text."""
    shown = "".join(f"({line}) Tj 0 -18 Td\n" for line in lines)
    drawn = f"BT /F1 11 Tf 50 780 Td\n{shown}ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table)
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        start,
    )
    return bytes(out)


def environ_of(authority: str) -> Mapping[str, str]:
    """Return the environment in which this web is the whole web, search included."""
    base = f"http://{authority}"
    return {
        "OMH_ALLOW_HOSTS": authority,
        "OMH_DUCKDUCKGO_URL": base,
        "OMH_WIKIPEDIA_URL": base,
    }
