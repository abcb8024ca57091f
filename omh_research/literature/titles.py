"""Titles of works: folding, tokens, similarity, and what makes two titles conflict.

Job: pure text rules for comparing titles. Refuses to look at authors, venues or identifiers and
to depend on any installed extra, so that the same pool always gives the same clusters.
Importers: literature.

Similarity is the normalised indel similarity 2 * LCS / (|a| + |b|) of the compact folded titles
(the measure other tools call "ratio"); the LCS is found with Hyyrö's bit-parallel recurrence, one
big-integer step a character, on at most `MAX_TITLE` characters.
"""

from __future__ import annotations

import html
import re
import unicodedata

from msgspec import Struct

from omh_research.lazy_re import lazy_re
from omh_research.unicode_form import unicode_form

MAX_TITLE = 1_000
TITLE_SIMILARITY = 0.92
TOKEN_JACCARD = 0.80


def word_set(text: str) -> frozenset[str]:
    """Return the words of a table written as one text."""
    return frozenset(text.split())


_WORD = lazy_re(r"[^\W_]+")
_DIGIT = lazy_re(r"\d")
_TAG = lazy_re(r"</?[A-Za-z][^<>]{0,60}>")
_BRACKETED = lazy_re(r"[(\[{]([^()\[\]{}]{0,200})[)\]}]")
_CJK = lazy_re("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_EDGE_NUMBER = lazy_re(r"^(?:[ivx]{1,5}|\d+)$")
_SPECIAL = str.maketrans({
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i",
    "α": " alpha ", "β": " beta ", "γ": " gamma ", "δ": " delta ", "ε": " epsilon ",
    "κ": " kappa ", "λ": " lambda ", "μ": " mu ", "ω": " omega ", "σ": " sigma ", "τ": " tau ",
    "'": None, "’": None, "‘": None, "ʼ": None, "`": None, "\u00ad": None,
})  # fmt: skip

# Notes that databases add to a title or leave out, in brackets: they name the form of the
# publication or point at other items, and are no part of the work's title.
_NOTE = lazy_re(
    r"\b(?:abstract|panel|tutorial|demo|demonstration|poster|keynote|invited|short version|"
    r"extended version|full version|review|letter|editorial|article in|author'?s transl|"
    r"see comments?|(?:erratum|correction|corrigendum|comment|retraction|republished|update) "
    r"(?:appears|in|of)|in (?:german|french|spanish|chinese|japanese|russian|italian|polish|"
    r"portuguese|english)|preprint|proceeding paper|conference paper)\b",
    re.IGNORECASE,
)
_LANGUAGES = (
    "english german french spanish chinese japanese russian italian polish portuguese korean "
    "turkish dutch czech hungarian persian hebrew danish swedish norwegian"
).replace(" ", "|")
_LANGUAGE = lazy_re(rf"\W*(?:{_LANGUAGES})\W*", re.IGNORECASE)
# Databases append notes on later notices to the title of the article itself.
_APPENDED = lazy_re(
    r"[\[(](?:published )?(?:erratum|corrigendum|correction|comment|retraction|republished|update)"
    r"(?:s| (?:appears|published))? (?:in|on|of)\b.*$",
    re.IGNORECASE | re.DOTALL,
)
# Items about another item carry that item's title: they are works of their own.
_NOTICE_HEAD = lazy_re(
    r"^\W*(?:(?:publisher|author|editorial|editors?)\W+)?"
    r"(erratum|errata|corrigend\w+|corrections?|retraction|withdrawal|"
    r"repl(?:y|ies)|responses?|comment(?:ary|s)?|expression of concern|addendum|re|rebuttal|"
    r"letter to the editor|rejoinder|discussion)"
    r"(?:\s+notice)?(?:\s*[:.]|\s+(?:to|for|on|of|from|regarding)\b)",
    re.IGNORECASE,
)
_NOTICE_TAIL = lazy_re(
    r"[-–—:;.,(\[]\s*(?:an?\s+|the\s+)?(?:authors?\W{0,2}s?\W{1,2})?(erratum|corrigendum|correction|"
    r"retraction|rejoinder|reply|response|comments?|discussion)\W*$",
    re.IGNORECASE,
)
# A publisher's mark on the article itself, which other databases leave out.
_MARKED = lazy_re(r"^\W*(?:retracted|withdrawn)(?:\s+article)?\s*[:.—–-]\s*", re.IGNORECASE)
_TAIL_WORDS = ("erratum", "corrigendum", "correction", "retraction", "rejoinder", "reply",
               "response", "comment", "comments", "discussion")  # fmt: skip
_NOTICE_KIND = {"err": "erratum", "cor": "erratum", "add": "erratum", "ret": "retraction",
                "wit": "retraction", "exp": "retraction"}  # fmt: skip
_NULL_TITLES = word_set(
    "unknown untitled notitle notitleavailable notavailable na none null tba "
    "titlenotavailable inprocesscitation unknowntitle"
)
_GENERIC = word_set(
    "editorial guesteditorial editorsnote fromtheeditor introduction preface foreword contents "
    "bookreview bookreviews bookreviewcolumn letter letters letterstotheeditor lettertotheeditor "
    "correspondence news abstracts posterabstracts conferenceabstracts meetingabstracts "
    "announcement announcements calendar obituary inmemoriam acknowledgements index frontmatter "
    "backmatter tableofcontents mastheads errata erratum correction corrigendum reply "
    "authorreply authorsreply theauthorsreply response inreply discussion commentary "
    "invitedcommentary chairsmessage presidentsmessage messagefromthechair conclusion "
    "conclusions annualreport casereport references summary editorialcomment "
    "editorialboard issueinformation introductiontothespecialissue specialissue "
    "guesteditorsintroduction conferencereport reportfromthechair"
)
_STOP = word_set(
    "a an the of in on and for to with by from at as is are its into via und der die das de la le "
    "les des du el los las en et y"
)


class Title(Struct, frozen=True):
    """A title made ready for comparison.

    `compact` holds the folded letters and digits without spaces (the exact key), `words` the
    folded tokens joined by one space, `notice` the kind of an item about another item (erratum,
    retraction, reply; "" for an ordinary work). `weight` counts the tokens that say something.
    `is_listed`: a heading such as "Editorial" that many items bear. `is_translated`: the database
    marks the title, in square brackets, as not the original one.
    """

    compact: str
    words: str
    notice: str
    weight: int
    is_null: bool
    is_listed: bool
    is_translated: bool


def fold(text: str) -> str:
    """Return `text` lower case, without accents, markup or apostrophes."""
    if "&" in text:
        text = html.unescape(html.unescape(text))
    if "<" in text:
        text = _TAG.sub("", text)
    if text.isascii():
        return text.lower().replace("'", "").replace("`", "")
    text = unicode_form("NFKD", text.casefold()).translate(_SPECIAL)
    return "".join([c for c in text if not unicodedata.combining(c)])


def tokens_of(folded: str) -> list[str]:
    """Return the tokens of a folded text: words; pairs of neighbouring signs for CJK runs."""
    words = _WORD.findall(folded)
    if folded.isascii() or not _CJK.search(folded):
        return words
    out: list[str] = []
    for word in words:
        if _CJK.search(word) and len(word) > 1:
            out.extend(word[i : i + 2] for i in range(len(word) - 1))
        else:
            out.append(word)
    return out


def read_title(raw: str) -> Title:
    """Return the comparison form of a title as a provider gave it (any string)."""
    text = raw[:MAX_TITLE]
    if "[" in text or "(" in text:
        cut = _APPENDED.sub("", text)
        text = cut if len(cut) >= 10 else text
    text = _MARKED.sub("", text)
    notice = _notice_of(text)
    if "(" in text or "[" in text or "{" in text:
        bare = _BRACKETED.sub(_keep_unless_note, text)
        text = bare if _WORD.search(bare) else text
    tokens = tokens_of(fold(text))
    if len(tokens) > 1 and tokens[0] in ("the", "a", "an"):
        del tokens[0]
    is_plain = text.isascii() or not _CJK.search(text)
    compact = "".join(tokens if is_plain else _WORD.findall(fold(text)))
    weight = len([t for t in tokens if t not in _STOP])
    is_null = not compact or compact in _NULL_TITLES
    is_listed = weight < 2 or len(compact) < 10 or compact in _GENERIC
    is_translated = text.lstrip(" '\"").startswith("[") or "<ORIGINAL>" in text
    return Title(compact, " ".join(tokens), notice, weight, is_null, is_listed, is_translated)


def _keep_unless_note(match: re.Match[str]) -> str:
    inside = match.group(1)
    return " " if _NOTE.search(inside) or _LANGUAGE.fullmatch(inside) else match.group(0)


def _notice_of(text: str) -> str:
    found = _NOTICE_HEAD.match(text)
    if not found and text[-20:].lower().rstrip(" .,;:)]!?\"'").endswith(_TAIL_WORDS):
        found = _NOTICE_TAIL.search(text[-60:])
    if not found:
        return ""
    word = found.group(1).lower()
    return _NOTICE_KIND.get(word[:3], "reply")


def similarity(a: str, b: str, floor: float = 0.0) -> float:
    """Return the indel similarity of two strings, 0.0 to 1.0; 0.0 early when below `floor`.

    Time is len(b) steps on integers of len(a) bits; both are cut to `MAX_TITLE` characters.
    """
    a, b = a[:MAX_TITLE], b[:MAX_TITLE]
    if a == b:
        return 1.0
    total = len(a) + len(b)
    if not a or not b or 2 * min(len(a), len(b)) < floor * total:
        return 0.0
    places: dict[str, int] = {}
    bit = 1
    for char in a:
        places[char] = places.get(char, 0) | bit
        bit <<= 1
    full = bit - 1
    row = full
    get = places.get
    for char in b:
        matched = row & get(char, 0)
        row = ((row + matched) | (row - matched)) & full
    lcs = len(a) - row.bit_count()
    ratio = 2 * lcs / total
    return ratio if ratio >= floor else 0.0


def is_one_edit(a: str, b: str) -> bool:
    """Tell whether one typing slip (insert, drop, replace, swap of neighbours) turns a into b."""
    if a == b:
        return True
    if len(a) > len(b):
        a, b = b, a
    if len(b) - len(a) > 1:
        return False
    i = 0
    while i < len(a) and a[i] == b[i]:
        i += 1
    if len(a) < len(b):
        return a[i:] == b[i + 1 :]
    if a[i + 1 :] == b[i + 1 :]:
        return True
    return a[i : i + 2] == b[i : i + 2][::-1] and a[i + 2 :] == b[i + 2 :]


def compare(a: Title, b: Title) -> str:
    """Return how two titles relate: "same", "near", "worded" or "" (different works).

    "same": equal letters and digits. "near": they differ by typing slips, split or joined words
    and small words only. "worded": both thresholds of B7 hold, yet a word that carries meaning
    differs. Titles whose numbers differ (part 1, part 2; 2019, 2020) are never alike.
    """
    if a.compact == b.compact:
        return "same"
    if numbers_differ(a, b):
        return ""
    left, right = set(a.words.split()), set(b.words.split())
    only_a, only_b = left - right, right - left
    if any(_EDGE_NUMBER.match(t) for t in only_a | only_b):
        return ""
    shared = len(left & right) + _pair_slips(only_a, only_b)
    _drop_joined(only_a, only_b)
    union = shared + len(only_a) + len(only_b)
    if shared < TOKEN_JACCARD * union:
        return ""
    if not similarity(a.compact, b.compact, TITLE_SIMILARITY):
        return ""
    return "near" if not (only_a | only_b) - _STOP else "worded"


def _pair_slips(only_a: set[str], only_b: set[str]) -> int:
    """Remove pairs of tokens one typing slip apart from both sets; return how many pairs."""
    pairs = 0
    if len(only_a) > 6 or len(only_b) > 6:
        return 0
    for token in sorted(only_a):
        if len(token) < 4:
            continue
        for other in sorted(only_b):
            if len(other) >= 4 and is_one_edit(token, other):
                only_a.discard(token)
                only_b.discard(other)
                pairs += 1
                break
    return pairs


def _drop_joined(only_a: set[str], only_b: set[str]) -> None:
    """Remove words written as one on one side and as two on the other ("test bed")."""
    for whole, parts in ((only_a, only_b), (only_b, only_a)):
        for word in sorted(whole):
            for cut in range(1, len(word)):
                if word[:cut] in parts and word[cut:] in parts:
                    whole.discard(word)
                    parts.discard(word[:cut])
                    parts.discard(word[cut:])
                    break


def numbers_differ(a: Title, b: Title) -> bool:
    """Tell whether the digits in two titles differ (part 1, part 2; 2019, 2020)."""
    return _DIGIT.findall(a.compact) != _DIGIT.findall(b.compact)


def is_contained(a: Title, b: Title) -> bool:
    """Tell whether one title is the beginning of the other (a subtitle or a note left out)."""
    short, long = sorted((a.compact, b.compact), key=len)
    return len(short) >= 20 and long.startswith(short)
