"""A document's sentences that may be quoted.

Job: cut a document into literal slices that are worth quoting, and leave out headings, menus,
reference lists, table rules and anything that could pass for our own markers (D1b, D8). Refuses to
change what it cuts: a quote is a slice of the text, white space folded. Importers: extractive.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from omh_research.corpus.passages import split_passages
from omh_research.documents.frontmatter import strip_leading_block
from omh_research.documents.source import Page
from omh_research.lazy_re import is_unprintable, lazy_re
from omh_research.tools.sentences import Span, split
from omh_research.tools.tokens import content_tokens, fold, is_cjk

MIN_CHARS = 25
MIN_DENSE_CHARS = 14
# A whole sentence that stands alone in its paragraph may be as short as "Snails are slow."
MIN_ALONE_CHARS = 14
MAX_CHARS = 900
MAX_DENSE_CHARS = 400  # as much as 900 letters say
CLAUSE_CHARS = 160
# A shorter sentence that ends in a colon only opens what follows ("On 8 May Ann Lee wrote:").
MAX_OPENER = 80
MAX_DENSE_OPENER = 30
MAX_REFERENCE_CHARS = 500
# Longer documents are first narrowed down to the passages that hold words of the question.
WHOLE_CHARS = 40_000
MAX_PASSAGES = 60
MAX_HEADINGS = 50
_HEADING = lazy_re(r"^#{1,6}[ \t]+(\S[^\n]{0,200})", re.M)
# HTML in a document that is none: all but what only raises, lowers or stresses.
_TAG = lazy_re(
    r"<(?!/?(?:su[bp]|[biu]|em|strong|br)\b[ /]{0,2}>)[/!]?[a-z][^<>\n]{0,300}>|<!--",
    re.I,
    needs=("<",),
)
_FIRST_LINE = lazy_re(r"\s{0,20}(\S[^\n]{2,119})\r?\n[ \t]*\r?\n")
_ENDS = (".", "!", "?", "。", "！", "？", "؟", "।", "…", "｡", ":", ";")
_CLOSERS = "'\"”’»)]』」）*_"
_MARKERS = lazy_re(
    r"\[omh-role|\bVERDICT\s*[:：]|<\|?(?:im_start|im_end|system|user|assistant)\b|"
    r"^\W{0,6}(?:SUBTOPIC|QUERIES_RUN|SOURCES|EVIDENCE|SYNTHESIS|GAPS|CONFIDENCE|RECOMMENDATION|"
    r"SUBTOPIC COVERAGE|KEY_POINTS)\s*[:：]|\(insufficient sources for this subtopic\)|^-{3}\s",
    re.I,
    needs=("[omh-role", ":", "：", "<", "(insufficient", "---"),
)
_CITED = lazy_re(
    r"[\[【［〔]\s*\^?\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*\s*[\]】］〕]", needs=("[", "【", "［", "〔")
)
_LINKED = lazy_re(
    r"!?\[[^\]\n]{0,300}\]\([^)\n]{0,500}\)|<https?:|^\s*\[[^\]]+\]:\s", needs=("[", "<http")
)
_INNER_END = lazy_re(r"[.!?:;؟।]\s")
_CLAUSE_ENDS = lazy_re(r"[，；,;\n]|\s")
_ADDRESS = lazy_re(
    r"https?://|www\.|\bdoi\b|10\.\d{4,9}/", re.I, needs=("http", "www.", "doi", "10.")
)
_REFERENCE = lazy_re(
    r"^\W{0,3}(?:\[?\d{1,3}[\].)]\s*)?[^\W\d_][\w’'-]+,\s+(?:[A-Z]\.|"
    r"[A-Z][a-z]+,).{0,200}\b(?:19|20)\d\d\b"
    r"|^\W{0,3}\[\d{1,3}\]\s*\S|\bet al\.,? \(?(?:19|20)\d\d\)?[.:]|\bpp?\. \d+[–-]\d+|"
    r"\b\d+\(\d+\):\s?\d+",
    needs=("19", "20", "[", "p. ", "):"),
)
_REFERENCE_HEAD = lazy_re(
    r"^[#\s\d.*]*(?:references|bibliography|works cited|literature cited|further reading|external "
    r"links|see also|notes|参考文献|参考资料|參考文獻|注释|外部链接|延伸阅读|参照|脚注|"
    r"literatur(?:verzeichnis)?|"
    r"quellen|einzelnachweise|weblinks|referencias|bibliografía|enlaces externos|références|"
    r"bibliographie|المراجع|مراجع|литература|примечания|ссылки|источники|संदर्भ|참고 ?문헌|"
    r"각주)[\s:*.]*$",
    re.I,
    needs=(
        "references", "bibliograph", "cited", "reading", "links", "see also", "notes", "literatur",
        "quellen", "einzelnachweise", "referencias", "enlaces",
    ),
    beyond_ascii=True,
)  # fmt: skip
# Controls, surrogates, private use, direction overrides.
_UNPRINTABLE = lazy_re(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ue000-\uf8ff]",
    guard=is_unprintable,
)
# Lines of a table of contents, and template text that no finding may hold (the gate refuses it).
_CONTENTS = lazy_re(
    r"^\d{1,4}\s+\d+(?:\.\d+)*\.?\s|\s\.$|(?:\. ?){4,}|^\d+(?:\.\d+)+\.?(?:\s\S+){1,7}$"
)
_TEMPLATE = lazy_re(
    r"\blorem ipsum\b|\bplaceholder text\b|\bsample (?:report|text)\b|\b(?:TODO|FIXME)\b|"
    r"\{[a-z ]{2,60}\}|<(?:insert|your|add|enter|title|url|topic|subtopic|name)\b|"
    r"\[[a-z][^\]\n]*\]",
    re.I,
    needs=("lorem", "placeholder", "sample", "todo", "fixme", "{", "<", "["),
)
_SEPARATORS = lazy_re(r"\s[|·•»›/]\s|\t", needs=("|", "·", "•", "»", "›", "/", "\t"))
_ENDING_NOTES = lazy_re(
    r"(?:\s*[\[【]\s*\^?\d{1,4}(?:\s*[,;–-]\s*\d{1,4})*\s*[\]】])+$", needs=("[", "【")
)
# Where a line begins something new: a heading, an item of a list, a row of a table, a quotation.
_NEW_LINE = lazy_re(r"\n[ \t]*(?:(?:#{1,6}|[-*+•>]|\d{1,3}[.)])[ \t]|\||```)", needs=("\n",))
_OPENING = lazy_re(r"^(?:\\?[-*+•>]\s+|\d{1,3}[.)]\s+(?=\D)|(?:[\[【]\s*\^?\d{1,4}\s*[\]】]\s*)+)")


class Unit(Struct, frozen=True):
    """A quotable sentence: `text` is `source[start:end]` with white space folded.

    `order` counts the document's sentences; two units are neighbours when theirs differ by 1 and
    nothing but white space lies between them. `page` counts from 1, 0 when there are no pages.
    """

    text: str
    start: int
    end: int
    order: int
    page: int
    terms: frozenset[str]


def heading_terms(page: Page, language: str) -> frozenset[str]:
    """Return the content tokens of a document's title and headings: what it says it is about."""
    heads = [match[1] for match in _HEADING.finditer(page.text[:WHOLE_CHARS])][:MAX_HEADINGS]
    if not heads and (first := _FIRST_LINE.match(page.text)):
        heads = [first[1]]  # a plain text's heading
    return frozenset(content_tokens("\n".join([page.title, *heads]), language))


def quotable_units(page: Page, language: str, wanted: frozenset[str]) -> tuple[Unit, ...]:
    """Return the quotable sentences of a document in order; `wanted` narrows long documents.

    `wanted` holds the question's content tokens (as `content_tokens` gives them).
    """
    if len(page.text) <= WHOLE_CHARS:
        return _units_of_whole(page.text, page.page_starts, language)
    begin = _end_of_frontmatter(page.text)
    units = _cut([*_parts(page.text, wanted)], page.page_starts, language)
    return tuple(unit for unit in units if unit.start >= begin)


@lru_cache(maxsize=192)
def _units_of_whole(text: str, page_starts: tuple[int, ...], language: str) -> tuple[Unit, ...]:
    """Units of a text short enough to be taken whole: every query meets the same documents."""
    begin = _end_of_frontmatter(text)
    return tuple(_cut([(begin, text[begin:])], page_starts, language))


def _end_of_frontmatter(text: str) -> int:
    """Where a document's text begins: what it says about itself in front is no sentence of it."""
    return len(text) - len(strip_leading_block(text)[0])


def _cut(
    parts: list[tuple[int, str]], page_starts: tuple[int, ...], language: str
) -> Iterator[Unit]:
    order = 0
    in_references = False
    for offset, text in parts:
        for span in _with_short_ones(text, _in_clauses(split(text))):
            order += 1
            if _REFERENCE_HEAD.match(span.text):
                in_references = True
            elif span.text.startswith("#"):
                in_references = False
            cut = None if in_references or _in_reference(text, span) else _trim(span.text)
            if cut is None:
                continue
            lead, quote = cut
            start = offset + span.start + lead
            folded = " ".join(quote.split())
            tokens = content_tokens(folded, language)
            if not tokens:
                continue
            number = bisect_right(page_starts, start) if page_starts else 0
            terms = frozenset(tokens)
            yield Unit(folded, start, start + len(quote), order, number, terms)
        order += 1  # parts of a long document are no neighbours


def _in_reference(text: str, span: Span) -> bool:
    """True when the line around the sentence is an entry of a reference list.

    Initials and full stops make several "sentences" of one entry.
    """
    start = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.end)
    line = text[start : end if end >= 0 else len(text)]
    return len(line) <= MAX_REFERENCE_CHARS and _REFERENCE.search(line) is not None


def _in_clauses(spans: list[Span]) -> list[Span]:
    """Cut a sentence without spaces that never ends at the marks within it, each piece a slice."""
    if all(len(span.text) <= MAX_DENSE_CHARS for span in spans):
        return spans
    pieces: list[Span] = []
    for span in spans:
        start = 0
        if len(span.text) > MAX_DENSE_CHARS and is_dense(span.text):
            for mark in _CLAUSE_ENDS.finditer(span.text):
                if mark.end() - start >= CLAUSE_CHARS:
                    pieces.append(_slice(span, start, mark.end()))
                    start = mark.end()
        if start < len(span.text):
            pieces.append(_slice(span, start, len(span.text)))
    return pieces


def _slice(span: Span, start: int, end: int) -> Span:
    return Span(span.start + start, span.start + end, span.text[start:end])


def _with_short_ones(text: str, spans: list[Span]) -> Iterator[Span]:
    """Join a sentence too short to be quoted alone to its neighbour in the same paragraph.

    A sentence that repeats one of those it would join begins anew.
    """
    held: Span | None = None
    said: list[str] = []
    for i, span in enumerate(spans):
        own = span.text
        if held is not None and own not in said and _same_paragraph(text, held, span):
            span = Span(held.start, span.end, text[held.start : span.end])
        else:
            if held is not None and held.text != own:
                yield held
            said = []
        said.append(own)
        held = None
        following = spans[i + 1] if i + 1 < len(spans) else None
        is_last = following is None or not _same_paragraph(text, span, following)
        short_next = following is not None and _is_short(following.text)
        ends = i + 2 >= len(spans) or not _same_paragraph(text, spans[i + 1], spans[i + 2])
        if not is_last and (_is_short(span.text) or (short_next and ends)):
            held = span  # a short last sentence joins the one before it
            continue
        yield span


def _is_short(text: str) -> bool:
    if not _is_terminated(text) or text.startswith(("#", "|")) or text.endswith((":", "：")):
        return False
    return len(text) < (MIN_DENSE_CHARS if is_dense(text) else MIN_CHARS)


def _same_paragraph(text: str, one: Span, other: Span) -> bool:
    gap = text[one.end : other.start]
    return not gap.strip() and "\n\n" not in gap and not starts_anew(gap + other.text)


def asks(text: str) -> bool:
    """Return whether a sentence is a question of its document: it answers none itself."""
    return text.rstrip("\"'”’»)*_").endswith(("?", "？", "؟"))


def starts_anew(text: str) -> bool:
    """Return whether a line of the text begins a heading, an item of a list or a row of a table.

    Sentences on both sides of such a line make no passage.
    """
    return _NEW_LINE.search(text) is not None


def _parts(text: str, wanted: frozenset[str]) -> list[tuple[int, str]]:
    # A stem is the beginning of its word in most languages: enough to find where to look.
    roots = [term[: max(2, len(term) - 2)] if len(term) > 4 else term for term in wanted]
    rated: list[tuple[int, int, str]] = []
    offset = 0
    for _, passage in split_passages(text):
        folded = fold(passage)
        hits = sum(root in folded for root in roots)
        if hits:
            rated.append((-hits, offset, passage))
        offset += len(passage)
    rated.sort(key=lambda item: item[:2])
    return sorted((start, passage) for _, start, passage in rated[:MAX_PASSAGES])


def is_dense(text: str) -> bool:
    """Return whether most letters are Han, kana or Hangul (a third of the usual length)."""
    sample = text[:200]
    return not sample.isascii() and sum(map(is_cjk, sample)) * 3 > len(sample)


def _trim(text: str) -> tuple[int, str] | None:
    """Return (characters cut in front, quotable slice), or None for what is no sentence."""
    if text.startswith(("#", "|", "```", "<!--", "---")):
        return None
    opening = None if text[0].isalpha() else _OPENING.match(text)
    lead = opening.end() if opening else 0
    ending = _ENDING_NOTES.search(text, lead)
    quote = text[lead : ending.start() if ending else len(text)]
    note = _CITED.search(quote)
    if note:  # "[3]" in a quote would read as a citation of ours: keep the larger part beside it
        is_first = note.start() * 5 >= len(quote) * 2
        lead += 0 if is_first else note.end()
        quote = quote[: note.start()] if is_first else quote[note.end() :]
    lead += len(quote) - len(quote.lstrip(" \n\t,;:.，；：。"))
    quote = quote.strip(" \n\t").lstrip(",;:.，；：。 \n\t")
    return (lead, quote) if is_quotable(quote, is_part=note is not None) else None


def is_quotable(text: str, *, is_part: bool = False) -> bool:
    """Return whether a piece of text reads as a sentence and holds no marker, link or citation.

    `is_part` allows a sentence cut at a note mark, which may lack its full stop.
    """
    dense = is_dense(text)
    least, most = (MIN_DENSE_CHARS, MAX_DENSE_CHARS) if dense else (MIN_CHARS, MAX_CHARS)
    if not dense and len(text) < least and _is_one_sentence(text):
        least = MIN_ALONE_CHARS
    if not least <= len(text) <= most:
        return False
    if (
        _UNPRINTABLE.search(text)
        or _MARKERS.search(text)
        or _CITED.search(text)
        or _LINKED.search(text)
        or _TAG.search(text)
    ):
        return False
    if _CONTENTS.search(text) or _TEMPLATE.search(text) or text.count("\\") > 1:
        return False
    if _REFERENCE.search(text) or len(_SEPARATORS.findall(text)) >= 2:
        return False
    if text.endswith((":", "：")) and len(text) < (MAX_DENSE_OPENER if dense else MAX_OPENER):
        return False
    letters = sum(map(str.isalnum, text))
    if letters * 2 < len(text) * 0.8 or (_ADDRESS.search(text) and letters < 120):
        return False
    if is_part and len(text) * 2 >= 3 * least:
        return True
    return _is_terminated(text) or _is_long_line(text, dense)


def _is_one_sentence(text: str) -> bool:
    return text.count(" ") > 1 and _is_terminated(text) and not _INNER_END.search(text)


def _is_terminated(text: str) -> bool:
    return text.rstrip(_CLOSERS).endswith(_ENDS)


def _is_long_line(text: str, dense: bool) -> bool:
    """A line without a full stop is a sentence only if it is clearly longer than a heading."""
    if dense:
        return len(text) >= 24
    lowered = sum(word[:1].islower() or not word.isascii() for word in text.split())
    return len(text) >= 80 and lowered >= 5
