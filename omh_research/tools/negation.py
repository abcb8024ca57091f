"""Negation words in several languages.

Job: say whether a sentence is negated, roughly and in one way for both sides of a comparison; and
for Chinese and Japanese, whose negations stand inside runs, find the clauses that differ in little
but their negation. Refuses to understand scope: callers compare only sentences that are otherwise
the same. Importers: tools.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from msgspec import Struct

from omh_research.lazy_re import lazy_re
from omh_research.tools.figures import index_figures
from omh_research.tools.han_numbers import NUMERALS

_NEGATION = lazy_re(
    r"\b(?:not|no|never|none|neither|nor|without|cannot|nobody|nothing|nowhere|fail(?:s|ed)? to"
    r"|lacks?|lacked|nicht|kein(?:e[rsnm]?)?|nie(?:mals)?|ohne|weder|ne|pas|jamais|sans|aucune?"
    r"|nunca|sin|ning[uú]n\w{0,3}|jamás|non|mai|senza|nessun\w?|não|sem|nenhum\w?|niet|geen|zonder"
    r"|не|нет|ни|без|никогда)\b|n['’]t\b|(?:لا|ليس|ليست|لم|لن|غير|بدون)\s"
    r"|(?<!未)[不没沒](?![仅僅同过過断斷良足久错管])|无法|無法|并非|並非|尚未|未[能被曾有见获]"
    r"|ません|ない|なかった|않|없|못"
)
_NOT_NEGATION = lazy_re(
    r"\b(?:not only|no longer than|no more than|no less than|no fewer than|no\. ?\d|nicht nur"
    r"|no sólo|no solo|non seulement|pas seulement|не только|whether or not)\b",
    re.IGNORECASE,
    needs=("not only", "no ", "no.", "nicht nur", "non seul", "pas seul", "whether or"),
    beyond_ascii=True,
)
# Words with a negating sign in them that deny nothing, and bounds ("not less than").
_HARMLESS = lazy_re(
    "不[仅僅但光只止过過同断斷少久良错錯管论論妨禁愧等一足到锈乏料惜免由时時便满滿利明安幸日"
    "動动]|不得不|不可或缺|不可欠|不外乎|不[超低高多大小][过過于於出]|不亚于|差不多|不下"
    "|非[常洲法得要凡金営营政典]|除非|莫非|是非|[南北东西東]非|无[论論数數疑比线線人锡限穷机烟锈形]"
    "|無[論数數疑比線人料機限形]|未[来來必满滿成婚知]|[沉淹出埋]没|沒收|没收|没落|是不是|能不能"
    "|有没有|是否|少ない|危ない|間違いない|しかない|にほかならない|まず|必ず|わずか|ずつ|ずっと|むず"
    "|ないし|なければならな|なくてはならな|ねばならな"
)
_DENIAL = lazy_re(
    "并不|並不|并未|並未|并非|並非|并没有?|並沒有?|毫无|毫無|毫不|从未|從未|从不|從不|决不|绝不"
    "|尚未|还没有?|還沒有?|没有|沒有|未能|未曾|无法|無法|不能|不会|不會|不曾|不再|不是"
    "|[不没沒未无無非勿]|ていません|ませんでした|ません|ていない|なかった|ではない"
    "|(?<=[らわさかたまばがなせれけねえきしりみび])ない|ない|(?<=[らわさかたまばがせれきけえ])ず(?=[にと、。]|\\Z)"
)
# What a statement has where its denial has none: 已经建立 and 尚未建立, 作られた and 作られない.
_ASPECT = lazy_re(
    "已经|已經|曾经|曾經|已|曾|了|过|過|是|会|會|能够|能夠|能|也|都|并|並|有|ました|ます|である|です|だ|た|る|い"
)
_SEGMENT = lazy_re(
    r"[,;:()،؛]|\s[-–—]\s|\b(?:and|but|while|whereas|although|though|however|which|who|und|aber"
    r"|während|obwohl|sondern|et|mais|tandis|y|e|pero|mientras|aunque|ma|mas|en|maar|но|а|и)\b",
    re.IGNORECASE,
)
_CLAUSE = lazy_re(r"(?:[，；;。！？!?、：:\n]|(?<!\d),|,(?!\d))+")
# Numbers are compared elsewhere; 1,200 and 一千二百 are one.
_COUNT = lazy_re(rf"[{NUMERALS}\d]+(?:分之[{NUMERALS}\d]+|[成割])?")
_HAN = lazy_re("[\u3400-\u9fff]")
_MIN_PAIRS, _ALIKE = 5, 0.85


class Clause(Struct, frozen=True):
    """A clause of Chinese or Japanese: its character pairs without denials, and their parity."""

    text: str
    pairs: frozenset[str]
    signs: Counter[str]
    is_denied: bool


def is_negated(sentence: str) -> bool:
    """Return whether the negations of the sentence do not cancel out (an odd number of words)."""
    found = _NEGATION.findall(_NOT_NEGATION.sub(" ", sentence.casefold()))
    return len(found) % 2 == 1


def segments_of(sentence: str) -> list[str]:
    """Return the parts of a sentence between its commas, dashes, brackets and conjunctions."""
    return [part for part in _SEGMENT.split(sentence) if part.strip()]


def clauses_of(text: str) -> Iterator[Clause]:
    """Yield the clauses of a Chinese or Japanese text that are long enough to be compared."""
    for piece in _CLAUSE.split(text):
        marked = _HARMLESS.sub(lambda found: "\ue000" * len(found[0]), piece)
        denials = _DENIAL.findall(marked)
        bare = _DENIAL.sub("", marked)
        plain = _ASPECT.sub("", _COUNT.sub("", re.sub(r"\W", "", bare)))
        pairs = frozenset(plain[at : at + 2] for at in range(len(plain) - 1))
        if len(pairs) >= _MIN_PAIRS:
            yield Clause(piece, pairs, Counter(_HAN.findall(plain)), len(denials) % 2 == 1)


class ClauseIndex:
    """The clauses of a source, to be asked for those that say what a statement denies."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._clauses = [clause for text in texts for clause in clauses_of(text)]
        self._places: dict[str, list[int]] = {}
        for at, clause in enumerate(self._clauses):
            for pair in clause.pairs:
                self._places.setdefault(pair, []).append(at)

    def denies(self, statement: str) -> bool:
        """Return whether a clause of `statement` repeats one of the source but for its negation.

        Not where another clause of the source says it with the same polarity, and not where any
        other character is put for another: then the clauses differ in more than a negation.
        """
        for clause in clauses_of(statement):
            alike = self._alike(clause)
            if alike and all(other.is_denied != clause.is_denied for other in alike):
                return True
        return False

    def _alike(self, clause: Clause) -> list[Clause]:
        shared = Counter(at for pair in clause.pairs for at in self._places.get(pair, ()))
        size = len(clause.pairs)
        found = [
            self._clauses[at]
            for at, count in shared.items()
            if 2 * count >= _ALIKE * (size + len(self._clauses[at].pairs))
        ]
        return [other for other in found if _is_same(clause, other)]


def _is_same(one: Clause, other: Clause) -> bool:
    """Return whether one clause only adds to the other: each with its own words says another thing.

    The same holds for their numbers, whose forms do not matter.
    """
    if one.signs - other.signs and other.signs - one.signs:
        return False
    ours, theirs = (index_figures(clause.text).units.keys() for clause in (one, other))
    return ours <= theirs or theirs <= ours
