"""HTML to main text in Markdown.

Job: the article of a page with headings, lists, tables and code, without menus, scripts and
footers; with the `web` extra by trafilatura, else by the standard library's parser (E43). Refuses
to fetch, to run scripts and to guess publication dates. Importers: corpus, providers.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html.parser import HTMLParser
from itertools import islice
from typing import Any

from omh_research.corpus.hidden import CONTAINERS, drop_hidden, hides
from omh_research.corpus.taming import tame
from omh_research.documents.source import Page
from omh_research.lazy_re import lazy_re

MIN_MAIN_CHARS = 200
ENOUGH_CHARS = 500
MAX_LOOKED_AT = 300
MAX_DEPTH = 400
_DROPPED = frozenset(
    ("script", "style", "noscript", "template", "svg", "math", "nav", "header", "footer", "aside",
     "form", "button", "select", "option", "iframe", "object", "canvas", "dialog")
)  # fmt: skip
_BLOCKS = frozenset(
    ("p", "div", "section", "article", "main", "ul", "ol", "dl", "dd", "dt", "figure", "figcaption",
     "blockquote", "table", "tr", "address", "details", "summary", "center", "body")
)  # fmt: skip
_ENDS_PARAGRAPH = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "pre", "li", "hr", "nav", "form"))
_ENDED_BY_NEXT = frozenset(("li", "dd", "dt", "tr", "td", "th", "option"))
# What the extractor never takes text from: elements, and tags around nothing.
_WEIGHT = ("style", "svg", "link", "iframe", "input", "source", "select", "textarea", "button")
_BARE = ("img", "meta")
_FRAME = ("nav", "footer", "aside")
_DATA_TYPE = "application/ld+json"
_VOID = frozenset(
    ("br", "hr", "img", "input", "meta", "link", "area", "base", "col", "embed", "source", "track",
     "wbr")
)  # fmt: skip
# Blank runs that are no single space: a match for every space of a page costs a hundred bytes each.
_SPACE = lazy_re(r"[^\S\n ][^\S\n]*| [^\S\n]+")
MAX_NOTE_CHARS = 1_500
_TAG = lazy_re(r"<[^<>]*>")
_NOTE = lazy_re(r"\s*(?:\[|&#91;)\s*[\w .]{1,16}\s*(?:\]|&#93;)\s*")
_RAISED = lazy_re(r"<(su[pb])>([^<>]{0,200})</\1>")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_DATE_NAMES = frozenset(
    ("article:published_time", "citation_publication_date", "citation_date", "dc.date",
     "dc.date.issued", "date", "datepublished")
)  # fmt: skip
_BODY = lazy_re("<body[\\s>]", re.IGNORECASE)
_META = lazy_re("<meta[\\s/]", re.IGNORECASE)
_DATE = lazy_re(r"\d{4}(?:[-/]\d{1,2}(?:[-/]\d{1,2})?)?")


def read_html(text: str, url: str, *, links: bool = False) -> Page:
    """Return the page's main text as Markdown; `links` keeps link targets in it.

    State "empty" when nothing but markup is there. A date is only taken from a publication tag.
    """
    text = _drop_note_marks(text)
    best = _by_trafilatura(text, links) or ""
    best = _RAISED.sub(_raise, best)
    parser = _parse_head(text) if len(best) >= MIN_MAIN_CHARS else None
    if parser is None:
        parser = _parse(text)
        own = parser.markdown()
        # A page whose "article" is a sliver of it (a list, a form, a short note) is read whole.
        if len(best) < MIN_MAIN_CHARS and len(own) > 2 * len(best):
            best = own
    state = "ok" if best.strip() else "empty"
    return Page(
        url, url, state, title=parser.title(), text=best, language=parser.language,
        date=parser.date, author=parser.author, detail=parser.note,
    )  # fmt: skip


def _parse(text: str) -> _MainText:
    parser = _MainText()
    try:
        parser.feed(tame(text))
        parser.close()
    except (AssertionError, ValueError, RecursionError) as error:
        parser.note = f"markup ends early: {type(error).__name__}"
    return parser


def _parse_head(text: str) -> _MainText | None:
    """Return what a page declares in its head, None if its body may declare more.

    Half of the time of reading a page goes into our own parser; where the extractor has found the
    text, it is only asked for title, language, date and author.
    """
    found = _BODY.search(text)
    if found is None:
        return None
    parser = _parse(text[: found.start()])
    is_whole = bool(parser.date and parser.author) or _META.search(text, found.end()) is None
    return parser if is_whole and parser.title() else None


def _drop_note_marks(text: str) -> str:
    """Cut raised note numbers such as `<sup>[12]</sup>`: they are links, not part of a sentence."""
    if "<sup" not in text:
        return text
    kept: list[str] = []
    position = 0
    while (start := text.find("<sup", position)) >= 0:
        end = text.find("</sup>", start, start + MAX_NOTE_CHARS)
        kept.append(text[position:start])
        position = end + 6 if end >= 0 else start + 4
        if end < 0 or not _NOTE.fullmatch(_TAG.sub("", text[start:end])):
            kept.append(text[start:position])
    return "".join([*kept, text[position:]])


def _raise(match: re.Match[str]) -> str:
    """`km<sup>2</sup>` is km² in plain text; other raised text just loses its tags."""
    table = _SUPERSCRIPTS if match[1] == "sup" else _SUBSCRIPTS
    return match[2].translate(table) if match[2].isdigit() else match[2]


def _by_trafilatura(text: str, links: bool) -> str | None:
    try:
        import trafilatura
    except ImportError:
        return None
    try:
        found: str | None = trafilatura.extract(
            _parsed(text), fast=True, output_format="markdown", include_comments=False,
            include_tables=True, include_links=links, include_formatting=True,
            with_metadata=False, deduplicate=False,
        )  # fmt: skip
    except Exception:  # lxml and the extractor raise many kinds on hostile markup: own parser then
        return None
    return found


def _parsed(text: str) -> Any:
    """Return the page as the extractor would parse it, lighter; the text itself if it is no page.

    Nothing that the page does not show. One element class instead of a look-up for every element,
    and no style, drawing, form field or script (but the JSON that holds an article's text), no
    menu, footer or side note: all that the extractor throws away itself, after it has copied and
    searched it several times.
    """
    from lxml import etree, html
    from trafilatura.utils import is_dubious_html, load_html, repair_faulty_html

    beginning = text[:50].lower()
    if is_dubious_html(beginning):
        tree = load_html(text)
        if tree is None:
            return text
        drop_hidden(tree)
        return tree
    repaired = repair_faulty_html(text, beginning)
    try:
        tree = html.fromstring(repaired, parser=_html_parser())
    except ValueError:  # a declared encoding is only accepted with bytes
        tree = html.fromstring(repaired.encode("utf-8", "surrogatepass"), parser=_html_parser())
    if len(tree) < 1:
        return text
    drop_hidden(tree)
    etree.strip_elements(tree, *_WEIGHT, with_tail=False)
    etree.strip_tags(tree, *_BARE)
    if _has_text_without_frame(tree):
        etree.strip_elements(tree, *_FRAME, with_tail=False)
    for script in tree.findall(".//script"):
        if script.get("type") != _DATA_TYPE:
            script.drop_tree()
    return tree


def _has_text_without_frame(tree: Any) -> bool:
    """True when enough paragraphs stand outside of menus, footers and side notes.

    Else the extractor may need them: a tag that is never closed can hold the whole article.
    """
    chars = 0
    for paragraph in islice(tree.iter("p"), MAX_LOOKED_AT):
        if next(paragraph.iterancestors(*_FRAME), None) is None:
            chars += len(paragraph.text_content())
            if chars >= ENOUGH_CHARS:
                return True
    return False


@lru_cache(maxsize=1)
def _html_parser() -> Any:
    from lxml import etree, html

    parser = etree.HTMLParser(
        collect_ids=False, default_doctype=False, encoding="utf-8",
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    parser.set_element_class_lookup(
        etree.ElementDefaultClassLookup(element=html.HtmlElement, comment=html.HtmlComment)
    )
    return parser


class _MainText(HTMLParser):
    """Collects block text of a page outside menus and scripts."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.note = self.language = self.date = self.author = ""
        self._blocks: list[str] = []
        self._line: list[str] = []
        self._prefix = ""
        self._stack: list[str] = []
        self._skipping = 0
        self._preformatted = 0
        self._title: list[str] = []
        self._heading = ""
        self._in_title = False
        self._row: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "html":
            self.language = given.get("lang", "")[:2].lower()
        if tag == "meta":
            self._take_meta(given)
        if tag == "title" and not self._blocks and not self._skipping:  # a drawing has one too
            self._in_title = True
        if tag == "br":
            self._line.append("\n" if self._preformatted else " ")
        if tag in _VOID:
            return
        self._end_implied(tag)
        is_icon = tag != "p" and given.get("aria-hidden") == "true"
        hidden = is_icon or hides(tag, given, is_leaf=tag == "p" or tag not in CONTAINERS)
        if len(self._stack) < MAX_DEPTH:
            self._stack.append(tag)
            if tag in _DROPPED or hidden:
                self._skipping += 1
                self._stack[-1] = tag + "!"
        if not self._skipping:
            self._open(tag)

    def _end_implied(self, tag: str) -> None:
        """End a hidden paragraph or item whose end tag is left out, or the rest would be hidden."""
        if not self._skipping:
            return
        while tag == "tr" and self._stack and self._stack[-1].rstrip("!") in ("td", "th"):
            self._skipping -= self._stack.pop().endswith("!")
        top = self._stack[-1] if self._stack else ""
        is_next = top == tag + "!" and tag in _ENDED_BY_NEXT
        if is_next or (top == "p!" and (tag in _BLOCKS or tag in _ENDS_PARAGRAPH)):
            self._stack.pop()
            self._skipping -= 1

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if not self._skipping:
            self._shut(tag)
        if tag in self._stack or tag + "!" in self._stack:
            while self._stack:
                top = self._stack.pop()
                self._skipping -= top.endswith("!")
                if top.rstrip("!") == tag:
                    break

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self._title.append(data)
        elif not self._skipping:
            self._line.append(data)

    def _take_meta(self, given: dict[str, str]) -> None:
        name = (given.get("property") or given.get("name") or given.get("itemprop") or "").lower()
        content = given.get("content", "").strip()
        if name in _DATE_NAMES and not self.date:
            match = _DATE.match(content)
            self.date = match.group().replace("/", "-") if match else ""
        elif name in ("author", "citation_author") and not self.author:
            self.author = content[:200]
        elif name == "og:title" and not self._title:
            self._title.append(content)

    def _open(self, tag: str) -> None:
        if tag == "tr":
            self._flush()
            self._row = []
        elif tag in ("td", "th"):
            self._line = []
        elif tag == "li":
            self._flush()
            self._prefix = "- "
        elif re.fullmatch("h[1-6]", tag):
            self._flush()
            self._prefix = "#" * int(tag[1]) + " "
        elif tag == "pre":
            self._flush()
            self._preformatted += 1
        elif tag in _BLOCKS and self._row is None:
            self._flush()

    def _shut(self, tag: str) -> None:
        if tag in ("td", "th") and self._row is not None:
            self._row.append(" ".join("".join(self._line).split()))
            self._line = []
        elif tag == "tr":
            if self._row and any(self._row):
                self._blocks.append("| " + " | ".join(self._row) + " |")
            self._row = None
        elif tag == "pre" and self._preformatted:
            self._preformatted -= 1
            code = "".join(self._line).strip("\n")
            self._line = []
            if code.strip():
                self._blocks.append(f"```\n{code}\n```")
        elif (tag in _BLOCKS or tag == "li" or re.fullmatch("h[1-6]", tag)) and self._row is None:
            self._flush(heading=tag == "h1")

    def _flush(self, *, heading: bool = False) -> None:
        text = _SPACE.sub(" ", "".join(self._line).replace("\n", " ")).strip()
        self._line = []
        if text:
            if heading and not self._heading:
                self._heading = text
            self._blocks.append(self._prefix + text)
        self._prefix = ""

    def title(self) -> str:
        """The `<title>`, else the first `<h1>`."""
        return (" ".join("".join(self._title).split()) or self._heading)[:300]

    def markdown(self) -> str:
        """All collected blocks, a blank line between them."""
        self._flush()
        lines: list[str] = []
        before = ""
        for block in self._blocks:
            together = block[:2] in ("- ", "| ") and before[:2] == block[:2]
            lines.append(block if together or not lines else "\n" + block)
            before = block
        return "\n".join(lines)
