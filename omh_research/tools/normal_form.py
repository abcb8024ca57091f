"""The normal form in which a quote and a source are compared (spec T12).

Job: fold away what does not change what a text says (Unicode form, case, whitespace, smart
quotes and dashes, soft hyphens, zero-width characters, hyphenation at line breaks, spaces beside
Chinese and Japanese characters) and keep everything that does: words, numbers, signs, units.
Refuses to compare (see `quotes`). Importers: tools, phases, corpus, literature.

`normalise` is the form proper; `comparable` is what quotes are matched in: it also ignores
Markdown markup, footnote marks, the kind of quotation mark and the spacing of dashes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from omh_research.lazy_re import lazy_re
from omh_research.unicode_form import unicode_form

# Characters of scripts written without spaces (Han, kana, CJK punctuation).
CJK = "\u3000-\u30ff\u3100-\u312f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SIGN = "[-,.;:!?()'\"]"
_CJK_SPACE = lazy_re(f" (?:(?={_SIGN}?[{CJK}])|(?<=[{CJK}] )|(?<=[{CJK}]{_SIGN} ))")

_SPACED_SIGNS = 8
# Invisible: formatting characters, variation selectors, soft hyphen, the two code points PDF
# readers emit for a hyphen at a line break (U+FFFE, U+0002), trade marks, Arabic tatweel.
_INVISIBLE = lazy_re(
    "[\u00ad\u0640\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f"
    "\ufeff\u00a9\u00ae\u2120\u2122\U000e0000-\U000e01ef]+",
    beyond_ascii=True,
)
_BROKEN_WORD = lazy_re("[\ufffe\x02\u00ad](?:[ \t\r]{0,80}\n[ \t]{0,80})?")

# Digits that are not plain digits. Folding "10\u00b2" to "102" would change the number.
_NO = (
    "\u00b2\u00b3\u00b9\u2070\u2074\u2075\u2076\u2077\u2078\u2079\u207a\u207b\u2080\u2081\u2082"
    "\u2083\u2084\u2085\u2086\u2087\u2088\u2089\u208a\u208b\u00bc\u00bd\u00be"
    + "".join(map(chr, (*range(0x2150, 0x2160), *range(0x2460, 0x249C))))
)
_NUMBER_FORM = lazy_re(f"[{_NO}]+")
_SPECIAL = frozenset(_NO) | {"\ufffe", "\u00ad"}

_REPLACE = (
    ("\u2018", "'"), ("\u2019", "'"), ("\u201a", "'"), ("\u201b", "'"), ("\u2032", "'"),
    ("\u2039", "'"), ("\u203a", "'"), ("\u00b4", "'"), ("\u02bc", "'"), ("\u300e", '"'),
    ("\u300f", '"'), ("\u300c", '"'), ("\u300d", '"'), ("\u201c", '"'), ("\u201d", '"'),
    ("\u201e", '"'), ("\u201f", '"'), ("\u00ab", '"'), ("\u00bb", '"'), ("\u2033", '"'),
    ("\u2010", "-"), ("\u2011", "-"), ("\u2012", "-"), ("\u2013", "-"), ("\u2212", "-"),
    ("\u2043", "-"), ("\u2014", " - "), ("\u2015", " - "), ("\u2e3a", " - "), ("\u2e3b", " - "),
    ("\u2500", " - "), ("\u22ef", "..."), ("\u2026", "..."),
    ("\x85", " "), ("\u1680", " "), ("\u2028", " "), ("\u2029", " "),
)  # fmt: skip
_TABLE = dict(_REPLACE)
_ASCII_BYTES = bytes(range(128))
_TO_LOWER_SPACED = bytes(32 if chr(b).isspace() and b < 128 else b for b in range(256)).lower()
# Patterns of this file that run over whole sources begin with a literal: re then skips fast.
_LINE_HYPHEN = lazy_re(r"-[ \t\r]{0,80}\n\s{0,200}")
_LONG_DASH = lazy_re(r"-[- ]*-")


def _split_number(match: re.Match[str]) -> str:
    """Set a raised, lowered or circled number apart from the plain digits beside it."""
    text, start, end = match.string, match.start(), match.end()
    before = "^" if text[start - 1 : start].isdecimal() else ""
    after = "^" if text[end : end + 1].isdecimal() else ""
    return before + match[0] + after


def _join_line(match: re.Match[str]) -> str:
    """Join a word broken at a line end; a number range or a capital keeps its hyphen."""
    text, start, end = match.string, match.start(), match.end()
    before, after = text[start - 1 : start], text[end : end + 1]
    if not (before.isalnum() and after.isalnum()):
        return match[0]
    return "" if before.isalpha() and after.islower() else "-"


def _long_dash(match: re.Match[str]) -> str:
    """Return a long dash as ` - `, or as `-` between two digits (a range)."""
    text, start, end = match.string, match.start(), match.end()
    is_range = text[start - 1 : start].isdigit() and text[end : end + 1].isdigit()
    return "-" if is_range else " - "


_MAX_SINGLE_FOLDS = 64


@lru_cache(maxsize=8_192)
def _fold_char(char: str) -> str | None:
    """Return what `char` folds to by itself, or None when it may act on its neighbours."""
    if char in _TABLE:
        return _TABLE[char]
    if _INVISIBLE.match(char):
        return ""
    form = unicodedata.normalize("NFKC", char).casefold()
    if "\u1100" <= char <= "\u11ff" or any(unicodedata.category(c)[0] == "M" for c in form):
        return None
    return "".join(_TABLE.get(part, part) for part in form)


def _fold(text: str, present: set[str]) -> str:
    """Return `text` (its non-ASCII characters are `present`) folded in form and case.

    Folding character by character is several times faster than NFKC and casefold over the whole
    text, and the same as long as nothing combines: no marks, no conjoining Hangul.
    """
    if present & _SPECIAL:
        text = _NUMBER_FORM.sub(_split_number, _BROKEN_WORD.sub("", text))
    folds: list[tuple[str, str]] = []
    for char in present:
        form = _fold_char(char)
        if form is None or len(folds) > _MAX_SINGLE_FOLDS:
            break
        if form != char:
            folds.append((char, form))
    else:
        for char, form in folds:
            text = text.replace(char, form)
        return text
    text = _INVISIBLE.sub("", text)
    for char in present.intersection(_TABLE):
        text = text.replace(char, _TABLE[char])
    text = unicode_form("NFKC", text)
    for char in "\u2212\u2013\u2014":  # from compatibility forms of dashes
        text = text.replace(char, _TABLE[char])
    return text.casefold()


def normalise(text: str) -> str:
    """Return the normal form of `text` (spec T12): equal forms say the same thing.

    One line, single spaces, no outer space, case folded, NFKC; long dashes are ` - `, hyphens
    `-`, quotation marks `'` and `"`. Linear in the length of the text.
    """
    if "\x02" in text:
        text = _BROKEN_WORD.sub("", text)
    present: set[str] = set()
    if not text.isascii():
        foreign = text.encode("utf-8", "surrogatepass").translate(None, _ASCII_BYTES)
        present = set(foreign.decode("utf-8", "surrogatepass"))
        text = text.replace("\u2010", "-").replace("\u2013\n", "-\n")
    if "-" in text and "\n" in text:
        text = _LINE_HYPHEN.sub(_join_line, text)
    if present:
        text = _fold(text, present)
    # One pass over bytes lowers ASCII letters and turns every ASCII white space into a space.
    raw = text.encode("utf-8", "surrogatepass").translate(_TO_LOWER_SPACED)
    while b"  " in raw:
        raw = raw.replace(b"  ", b" ")
    text = raw.decode("utf-8", "surrogatepass").strip(" ")
    if "--" in text or "- -" in text:
        text = _LONG_DASH.sub(_long_dash, text).replace("  ", " ").strip()
    if present and max(present) >= "\u3000":
        for _ in range(_SPACED_SIGNS):  # a space that goes brings the next sign near
            before, text = text, _CJK_SPACE.sub("", text)
            if text == before:
                break
    return text


# Parts one text from another in a joined one: no space, no mark, in no class above.
_PART = "\x00"
# So many that they stay in the processor's cache.
_TOGETHER = 128


def count_alnum(text: str) -> int:
    """Return how many letters and digits of `text` its normal form holds, fully decomposed.

    The count of a text and of its normal form is the same, piece by piece: that is how a place
    in one is found in the other.
    """
    if not text.isascii():
        text = unicode_form("NFKC", _INVISIBLE.sub("", text)).casefold()
        text = unicode_form("NFKD", text).replace("\u02bc", "'")
    return sum(map(str.isalnum, text))


_BLANK = "\u200b"
_RAISED = "\u00b9\u00b2\u00b3\u2070\u2074\u2075\u2076\u2077\u2078\u2079"
_LINK = lazy_re(r"\[([^\[\]\n]{0,400})\]\(([^()\s]{0,1500})(?:\s\"[^\"\n]{0,200}\")?\)")
_EMPHASIS = lazy_re(r"[*_`]{1,3}|~~")
_LINE_MARK = lazy_re(r"(?:\n|\A)[ \t]{0,12}(?:#{1,6} |> ?|[-*+] )")
_NOTE_MARK = lazy_re(r"(?:\[\d{1,3}\]){1,9}")
_RAISED_MARK = lazy_re(f"[{_RAISED}]{{1,3}}", beyond_ascii=True)
_HIDDEN = frozenset("\u200b\u200c\u200d\u2060\ufeff\u00ad")
_NOTE_AFTER = frozenset(".,;:!?)\"'\u2019\u201d\u3002\uff0c")
_INCH = lazy_re(r'"(?<=\d")')
_WORD_HYPHEN = lazy_re(r"(?<=[^\W\d_])-(?=[^\W\d_])")


def _blank_link(match: re.Match[str]) -> str:
    start, (left, right) = match.start(), match.span(1)
    return _BLANK * (left - start) + match[1] + _BLANK * (match.end() - right)


def _blank_line_mark(match: re.Match[str]) -> str:
    mark = match[0]
    return "\n" + _BLANK * (len(mark) - 1) if mark[0] == "\n" else _BLANK * len(mark)


def _blank_emphasis(match: re.Match[str]) -> str:
    """Blank a delimiter at the edge of a word; between two words or two spaces it is text."""
    text, start, end = match.string, match.start(), match.end()
    before, after = text[start - 1 : start], text[end : end + 1]
    if before in _HIDDEN or after in _HIDDEN:
        return match[0]
    opens = not before.isalnum() and not after.isspace() and after != ""
    closes = not after.isalnum() and not before.isspace() and before != ""
    return _BLANK * (end - start) if opens or closes else match[0]


def _blank_note(match: re.Match[str]) -> str:
    """Blank a footnote mark: one that follows a word or a punctuation mark."""
    text, start, end = match.string, match.start(), match.end()
    word = text[max(0, start - 3) : start]
    follows = (len(word) == 3 and word.isalpha()) or word[-1:] in _NOTE_AFTER
    return _BLANK * (end - start) if follows and not text[end : end + 1].isalnum() else match[0]


def _has_raised(text: str) -> bool:
    # Each is one quick look; a pattern of them all reads character by character.
    return any(char in text for char in _RAISED)


def _has_markup(text: str) -> bool:
    """Say whether `text` may hold anything `blank_markup` blanks; quick for short texts."""
    return (
        "\n" in text
        or "*" in text
        or "[" in text
        or "_" in text
        or "`" in text
        or "~" in text
        or (not text.isascii() and _has_raised(text))
    )


def blank_markup(text: str) -> str:
    """Return `text` with Markdown and footnote marks made invisible, at its own length.

    Offsets stay those of the original text: each removed character becomes a zero-width one,
    which `normalise` drops.
    """
    if "](" in text:
        text = _LINK.sub(_blank_link, text)
    text = _LINE_MARK.sub(_blank_line_mark, text)
    text = _EMPHASIS.sub(_blank_emphasis, text)
    text = _NOTE_MARK.sub(_blank_note, text)
    return text if text.isascii() else _RAISED_MARK.sub(_blank_note, text)


def has_line_hyphen(text: str) -> bool:
    """Say whether a word of `text` may be broken by a hyphen at a line end."""
    return "-" in text and _LINE_HYPHEN.search(text) is not None


def _merge_marks(form: str) -> str:
    """Return `form` with one kind of quotation mark; after a digit it may be an inch sign."""
    return _INCH.sub("\u2033", form).replace('"', "'")


def comparable(text: str, *, norm: str | None = None, join_hyphens: bool = False) -> str:
    """Return the form in which quotes and sources are compared: `normalise` and a little more.

    Markdown markup, footnote marks, the kind of quotation mark (not after a digit: 5' is not
    5"), the spacing of dashes and a space before % or ° do not count: a page's text keeps none of
    them reliably.
    `join_hyphens` also drops hyphens between letters: needed when one side was broken at line
    ends, where a real hyphen and a typesetter's cannot be told apart. `norm` may hold
    `normalise(text)` if that is known.
    """
    if _has_markup(text):
        form = normalise(blank_markup(text))
    else:
        form = normalise(text) if norm is None else norm
    return _settle(form, join_hyphens=join_hyphens)


def _settle(form: str, *, join_hyphens: bool = False) -> str:
    """Return a normal form without what a page's text keeps unreliably (see `comparable`)."""
    if '"' in form:
        form = _merge_marks(form)
    if " %" in form or " \u00b0" in form:  # typographers differ: "12 %", "20 °C"
        form = form.replace(" %", "%").replace(" \u00b0", "\u00b0")
    if "-" in form:
        if join_hyphens:
            form = _WORD_HYPHEN.sub("", form)
        form = form.replace("-", " - ").replace("  ", " ")
    return form


def comparable_each(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return `normalise` and `comparable` of each of the texts.

    Many short ones are made as one: a sixth of the time of one by one. A text with markup, line
    ends or NULs goes by itself.
    """
    forms = [("", "")] * len(texts)
    groups: dict[bool, list[int]] = {True: [], False: []}
    for at, text in enumerate(texts):
        if "\n" in text or _PART in text:
            forms[at] = _forms_of(text)
        else:
            groups[text.isascii()].append(at)
    for group in groups.values():
        for start in range(0, len(group), _TOGETHER):
            _make_together(texts, group[start : start + _TOGETHER], forms)
    return forms


def _make_together(texts: Sequence[str], numbers: list[int], forms: list[tuple[str, str]]) -> None:
    """Set the forms of the numbered texts, all of them ASCII or none."""
    joined = _PART.join([texts[at] for at in numbers])
    if _has_markup(joined):
        marked = frozenset(at for at in numbers if _has_markup(texts[at]))
        for at in marked:
            forms[at] = _forms_of(texts[at])
        numbers = [at for at in numbers if at not in marked]
        joined = _PART.join([texts[at] for at in numbers])
    norm = normalise(joined)
    pairs = zip(numbers, norm.split(_PART), _settle(norm).split(_PART), strict=bool(numbers))
    for at, piece, form in pairs:
        stripped = piece.strip(" ")
        forms[at] = (piece, form) if stripped is piece else (stripped, _settle(stripped))


def _forms_of(text: str) -> tuple[str, str]:
    norm = normalise(text)
    return norm, comparable(text, norm=norm)
