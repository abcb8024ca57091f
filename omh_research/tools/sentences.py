"""Sentences as literal slices of a text, in any script.

Job: cut a text into sentence spans; headings, list items and table rows are units of their own;
lines wrapped by width (PDF text, e-mail) stay together. `text[s.start:s.end] == s.text` always, so
a quote taken from a span verifies. Refuses to change a character. Linear in the text's length.
Importers: tools, corpus, delegates, phases.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from msgspec import Struct

from omh_research.lazy_re import lazy_re


class Span(Struct, frozen=True):
    """A slice of a text: offsets in characters, `end` exclusive, no white space at its ends."""

    start: int
    end: int
    text: str


_LINE = lazy_re(r"[^\n\f\u2028\u2029]*")
_MARKED = lazy_re(
    r"(?:[-*+•‣▪◦●○·–—][ \t\u3000]|\d{1,3}[.)][ \t]|\([a-zA-Z0-9]{1,3}\)[ \t]|[a-z]\)[ \t]"
    r"|#{1,6}[ \t]|>[ \t]?|\||[一二三四五六七八九十]{1,3}、|（[一二三四五六七八九十\d]{1,3}）)"
)
_HEADING = lazy_re(r"#{1,6}[ \t]|\|")
_RULE = lazy_re(r"[\W_]+\Z")
_ENDS = "。！？｡!?.…؟۔।॥။។።։‽⁇⁈⁉"
_CLOSERS = "\"'”’»›)\\]）」』】〉》〕｝}*_"
# A sentence's end: marks, then closing quotes and brackets, then note numbers as in "text.[12]".
_END = lazy_re(
    rf"(?P<mark>[{_ENDS}]++)(?P<tail>[{_CLOSERS}]*+(?:[ \u00a0\u202f]»)?"
    r"(?:\[[\d,;–\- ]{1,16}\])*+)"
)
# The same for texts in ASCII: a third of the time to compile.
_ASCII_END = lazy_re(r"(?P<mark>[!?.]++)(?P<tail>[\"')\]}*_]*+(?:\[[\d,;\- ]{1,16}\])*+)")
_WIDE_ENDS = frozenset("。！？｡")
_CASELESS_ENDS = frozenset("؟۔।॥။។።։")
_NEXT = lazy_re(r"\s+(?:[\"'“‘«‹„(\[¿¡*_][ \u00a0\u202f]?)*+(\S)([^\W\d_]*)")
_ASCII_NEXT = lazy_re(r"\s+(?:[\"'(\[*_] ?)*+(\S)([^\W\d_]*)")
_LAST_WORD = lazy_re(r"[^\s(\[\"'“‘«„/]{1,24}\Z")
_INITIALS = lazy_re(r"(?:[^\W\d_]\.-?)*[^\W\d_]\Z")
_ORDINAL_BEFORE = lazy_re(
    r"(?:^|\s)(?:der|die|das|dem|den|des|am|vom|im|zum|zur|bis|ab|seit|und|den|til|på)\s\d{1,2}\Z",
    re.I,
)

# Never the end of a sentence, whatever follows: a name, a number or an example must follow.
_TITLES = (
    "mr mrs ms dr prof st gen col sen rep gov capt lt sgt rev hon pres mt vs cf e.g i.e eg ie viz "
    "approx ca resp dept eds trans abb bd hrsg z.b d.h u.a bzw vgl sog evtl ggf inkl bspw tel str "
    "hl geb gest ing dipl mme mlle mm env av apr ex éd p.ex sr sra srta dña ud uds aprox sig "
    "sig.ra dott n.b exmo dhr mevr bijv o.a d.w.z m.n стр им ул тыс напр т.е т.к т.н д-р проф "
    "акад ст tzw np św"
)
# The same, but only before a number: "No. 5", not "He said no. 5 left."
_NUMBERED = (
    "no nos nr fig figs eq eqs ref refs sec secs ch chap vol vols pp p pg par tab app art abs op "
    "cap pag pág págs núm num n см рис табл гл т с"
)
# May end a sentence: only a usual first word of a sentence after them counts as an end.
_ENDINGS = (
    "inc ltd co corp bros jr sr etc et.al al a.m p.m am pm u.s u.k u.n e.u d.c b.c a.d ph.d m.d "
    "b.a m.a llc dept univ est min max jan feb mar apr jun jul aug sep sept oct nov dec mon tue "
    "wed thu fri sat sun usw u.s.w jh mio mrd ecc ss ee.uu гг вв млн млрд т.д т.п др sp spp subsp "
    "var gmbh s.a s.l n.v b.v ibid"
)
_STARTERS = (
    "the this that these those it its he she they we you in on at for from with by as if when "
    "while however but and a an our their his her there here since after although also to what "
    "how why who where which most many some all both such thus therefore according during under "
    "der die das ein eine einer es er sie wir im am auch dies diese dieser bei nach mit als "
    "le la les un une il elle ils elles ce cette ces des du en dans au aux pour el los las una "
    "se su sus este esta por para con lo gli i un uno nel nella o os as um uma no na het een de "
    "он она они это в на и но по с к для при"
)
_GERMAN_AFTER_ORDINAL = (
    "januar februar märz april mai juni juli august september oktober november dezember "
    "jahrhundert jahrhunderts jahrtausend lebensjahr auflage jänner jh januari februari"
)


@cache
def _known(kind: str) -> frozenset[str]:
    table = {"titles": _TITLES, "numbered": _NUMBERED, "endings": _ENDINGS, "starters": _STARTERS}
    return frozenset(table.get(kind, _GERMAN_AFTER_ORDINAL).split())


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Offsets of each line without its end and outer white space; empty lines included."""
    position = 0
    while position <= len(text):
        end = _LINE.match(text, position).end()  # type: ignore[union-attr]
        line = text[position:end]
        start = position + len(line) - len(line.lstrip())
        yield (start, position + len(line.rstrip())) if start < end else (end, end)
        position = end + 1


def _continues(text: str, line: tuple[int, int], after: tuple[int, int], width: int) -> bool:
    """True when a line end is only a wrap: the next line carries the sentence on.

    Wrapped lines are nearly as long as the longest of their paragraph, and no paragraph kept on
    one line is shorter than 200 characters and full at once.
    """
    first = text[after[0]]
    if first.islower() or text[line[1] - 1] in "-\u00ad,;，、；":
        return True
    return line[1] - line[0] >= width * 0.7 and width <= 200


def _paragraph(text: str, lines: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Units of one block of lines: (start, end) with wrapped lines joined."""
    width = max(end - start for start, end in lines)
    start, previous = lines[0][0], lines[0]
    for line in lines[1:]:
        alone = _MARKED.match(text, line[0]) or _HEADING.match(text, previous[0])
        if alone or not _continues(text, previous, line, width):
            yield start, previous[1]
            start = line[0]
        previous = line
    yield start, previous[1]


def _units(text: str) -> Iterator[tuple[int, int]]:
    """Paragraphs, headings, list items and rows as (start, end)."""
    block: list[tuple[int, int]] = []
    for line in _lines(text):
        if line[0] < line[1] and not _RULE.match(text, *line):
            block.append(line)
            continue
        if block:
            yield from _paragraph(text, block)
            block = []
    if block:
        yield from _paragraph(text, block)


def _is_abbreviation(text: str, start: int, dot: int, following: str) -> bool:
    """True when the full stop at `dot` belongs to the word before it."""
    found = _LAST_WORD.search(text, max(start, dot - 24), dot)
    if not found:
        return False
    word = found.group()
    if found.start() == start and len(word) <= 3 and (word.isdigit() or len(word) == 1):
        return True  # "1. First item"
    key = word.casefold()
    if key in _known("titles") or (key in _known("numbered") and following[:1].isdigit()):
        return True
    if word.isdigit():
        ordinal = len(word) <= 2 and _ORDINAL_BEFORE.search(text, max(start, dot - 12), dot)
        return bool(ordinal) or (len(word) <= 2 and following in _known("ordinals"))
    if key in _known("endings") or _INITIALS.match(word):
        return following not in _known("starters")
    return False


def _is_end(text: str, start: int, end: int, found: re.Match[str]) -> bool:
    """True when the marks at `found` end a sentence of the unit text[start:end]."""
    mark = found.group("mark")
    if mark[-1] in _WIDE_ENDS:
        return True
    after = (_ASCII_NEXT if text.isascii() else _NEXT).match(text, found.end(), end)
    if after is None:
        return mark[-1] in _CASELESS_ENDS
    first = after.group(1)
    if first.islower():
        return False
    if mark == ".":
        following = (first + after.group(2)).casefold()
        return not _is_abbreviation(text, start, found.start(), following)
    return True


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    begin = start
    for found in (_ASCII_END if text.isascii() else _END).finditer(text, start, end):
        if found.start() >= begin and _is_end(text, begin, end, found):
            yield begin, found.end()
            begin = found.end()
    if begin < end:
        yield begin, end


def split(text: str) -> list[Span]:
    """Sentence spans of a text in order, never overlapping; units without a letter or digit go.

    Knows abbreviations, initials, decimals and ordinals, quotes closing after the mark, and the
    marks of Chinese, Japanese, Arabic, Urdu, Hindi and others. A script without marks (Thai) comes
    a line at a time.
    """
    spans: list[Span] = []
    for unit_start, unit_end in _units(text):
        for start, end in _sentences(text, unit_start, unit_end):
            piece = text[start:end]
            start += len(piece) - len(piece.lstrip())
            piece = piece.strip()
            if piece and not _RULE.match(piece):
                spans.append(Span(start, start + len(piece), piece))
    return spans
