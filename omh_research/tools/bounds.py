"""Bounds beside a number: "less than 50", "at least 5 kg", 超过3万, 20%以上, mindestens 12.

Job: read whether a number is bounded from below or above, and tell a claim that puts another bound
on a number than its source does. Refuses to compare numbers or sentences: callers do, and ask only
where claim and source say the same. Importers: tools.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import cache, cached_property

from msgspec import Struct

from omh_research.lazy_re import lazy_re
from omh_research.tools.figures import Figure, find_figures, holds_share, index_figures
from omh_research.tools.shares import find_worded

LOWER, NONE, UPPER = 1, 0, -1
# Phrases right before a number. Strict ones are false of the number itself: "over 50" is not 50.
_BEFORE = {
    (LOWER, True): """
        more than|greater than|higher than|larger than|in excess of|upwards of|over|above
        |well over|just over|exceeding|exceeds|exceeded|exceed|surpassed|topped|beyond|>
        |mehr als|über|oberhalb von|höher als|größer als|plus de|supérieur à|supérieure à
        |más de|mayor de|superior a|più di|oltre|mais de|meer dan|более|больше|свыше|أكثر من
        |يزيد عن|تزيد عن|超过|超過|高于|高於|大于|大於|多于|多於|逾|突破|超|超出
    """,
    (UPPER, True): """
        less than|fewer than|lower than|smaller than|under|below|just under|well under
        |short of|<|weniger als|unter|unterhalb von|niedriger als|kleiner als|moins de
        |inférieur à|inférieure à|menos de|menor de|inferior a|meno di|minder dan|менее|меньше
        |ниже|أقل من|يقل عن|تقل عن|不足|不到|低于|低於|小于|小於|少于|少於|未达|未满
    """,
    (LOWER, False): """
        at least|a minimum of|minimum of|no less than|no fewer than|not less than
        |not fewer than|≥|not under|not below|mindestens|wenigstens|nicht weniger als
        |nicht unter|au moins|pas moins de|al menos|por lo menos|no menos de|almeno|pelo menos
        |ten minste|не менее|على الأقل|ما لا يقل عن|لا يقل عن|لا تقل عن|至少|最少|起码|不低于
        |不低於|不少于|不少於|不下|不小于|少なくとも|最低
    """,
    (UPPER, False): """
        at most|a maximum of|maximum of|up to|no more than|no greater than|no higher than
        |not more than|not over|not above|not exceeding|not exceed|≤|within|nearly|almost
        |close to|approaching|höchstens|maximal|bis zu|nicht mehr als|nicht über|knapp|fast
        |beinahe|au plus|au maximum|jusqu'à|pas plus de|près de|como máximo|hasta|no más de
        |casi|al massimo|fino a|no máximo|até|не более|до|почти|على الأكثر|لا يزيد عن
        |لا تزيد عن|ما لا يزيد عن|至多|最多|不超过|不超過|不高于|不多于|不大于|最高|近|将近
        |接近|最大
    """,
}
# Phrases right behind a number and its unit.
_AFTER = {
    (LOWER, True): "を超え|を超える|を上回|超の|超が|超に|超、|超。",
    (UPPER, True): "未満|未滿|を下回|に満たな|に満たず",
    (LOWER, False): """
        or more|or higher|or above|or greater|or over|and above|and over|and more|plus|+
        |oder mehr|und mehr|ou plus|o más|o più|以上|及以上|或以上|或更多|余|餘|多
    """,
    (UPPER, False): """
        or less|or fewer|or lower|or below|or under|and below|and under|oder weniger|ou moins
        |o menos|以下|及以下|以内|以內|或更少|弱
    """,
}
# Words before a number with which a source may bound it in another way; "-" marks a beginning.
_LOOSE = {
    LOWER: """
        exceed- surpass- outnumber- over above beyond more greater higher larger excess least
        minimum topp- overt- passed upward plus mehr über mindestens übersteig- übertr- überschr-
        größer höher wenigstens dépass- supér- menos super- mayor больше более свыше превы- أكثر
        يزيد تزيد الأقل
    """,
    UPPER: """
        less fewer lower smaller under below short within maximum nearly almost limit- weniger unter
        unterschr- höchstens maximal bis knapp fast niedriger kleiner begrenz- moins infér- jusqu
        près hasta casi infer- менее меньше ниже почти أقل يقل تقل الأكثر
    """,
}
# How far before a number such a word counts, and a verb behind it ("50 wurde überschritten").
_LOOSE_REACH, _VERB_REACH, _SIGN_REACH = 40, 32, 8
_LOOSE_SIGNS = {
    LOWER: "> ≥ + 超 逾 高于 高於 大于 大於 多于 多於 至少 最少 以上 不低于 不少于 突破 上回",
    UPPER: "< ≤ 不足 不到 低于 低於 小于 小於 少于 少於 未满 未達 至多 最多 不超过 以下 以内 将近 "
    "接近 未満 下回 満た",
}
# Prepositions that also say where or about what: believed only beside a unit or a large number.
_PREPOSITIONS = frozenset(
    ("over", "under", "above", "below", "über", "unter", "beyond", "within", "近")
)
_DURATIONS = frozenset("s min h day week month quarter year decade century".split())
# Verbs whose "über" bounds nothing: "verfügt über 30 Werke".
_SPEAKING = ("verfüg", "bericht", "inform", "sprach", "sprech", "schreib", "diskut", "entsch")
# What may stand between a bound and its number.
_FILLERS = (
    " a",
    " an",
    " the",
    " some",
    " von",
    " de",
    " que",
    " usd",
    "us$",
    *"$€£¥~≈了约約到达達",
)
_WORD = lazy_re(r"[^\W\d_]+")
_REACH = 48
_MIN_COUNT = 20
_MAX_FIGURES = 64


class Bound(Struct, frozen=True):
    """What bounds a number: LOWER or UPPER, strictly or not, and where the phrase stands."""

    direction: int
    is_strict: bool
    start: int
    end: int


@cache
def _phrases(before: bool) -> tuple[tuple[str, int, bool], ...]:
    """Return (phrase, direction, strict) with the longest phrases first."""
    found = [
        (phrase.strip(), direction, is_strict)
        for (direction, is_strict), phrases in (_BEFORE if before else _AFTER).items()
        for phrase in phrases.split("|")
    ]
    return tuple(sorted(found, key=lambda item: -len(item[0])))


def bound_of(text: str, figure: Figure) -> Bound | None:
    """Return the bound that stands right before or behind `figure` in `text`, None without one."""
    if _is_year(figure):
        return None
    return _bound_before(text, figure) or _bound_after(text, figure)


def _is_year(figure: Figure) -> bool:
    return not figure.unit and len(figure.text) == 4 and figure.text.isdecimal()


def _bound_before(text: str, figure: Figure) -> Bound | None:
    at = max(0, figure.start - _REACH)
    before = text[at : figure.start].lower()
    if len(before) != figure.start - at:
        return None
    trimmed = before.rstrip()
    ends = tuple(phrase for phrase, *_ in _phrases(True))
    while not trimmed.endswith(ends):
        filler = next((word for word in _FILLERS if trimmed.endswith(word)), "")
        if not filler:
            return None
        trimmed = trimmed.removesuffix(filler).rstrip()
    for phrase, direction, is_strict in _phrases(True):
        if not trimmed.endswith(phrase):
            continue
        head = trimmed[: -len(phrase)]
        # "moreover 50"; but Arabic writes "and" at the word.
        if phrase[0].isalpha() and phrase[0] < "\u2e80" and head[-1:].isalpha() and head[-1] != "و":
            continue
        if phrase in _PREPOSITIONS and not _may_bound(head, phrase, figure):
            return None
        start = at + len(head)
        return Bound(direction, is_strict, start, start + len(phrase))
    return None


def _may_bound(head: str, phrase: str, figure: Figure) -> bool:
    """Return whether a preposition before the number is a bound and not a place or a topic."""
    if figure.unit in _DURATIONS:
        return False
    if phrase == "über" and any(verb in head for verb in _SPEAKING):
        return False
    sizes = [value for value in figure.values if value.replace(".", "", 1).isdecimal()]
    return bool(figure.unit) or any(Decimal(value) >= _MIN_COUNT for value in sizes)


def _bound_after(text: str, figure: Figure) -> Bound | None:
    after = text[figure.end : figure.end + 24].lower()
    gap = len(after) - len(after.lstrip())
    for passed in range(3):  # the counted thing: 3万人以上, 50个以上
        for phrase, direction, is_strict in _phrases(False):
            if after.startswith(phrase, gap) and (len(phrase) > 1 or not passed):
                rest = after[gap + len(phrase) :]
                if not (phrase[-1].isascii() and phrase[-1].isalpha() and rest[:1].isalpha()):
                    start = figure.end + gap
                    return Bound(direction, is_strict, start, start + len(phrase))
        if gap >= len(after) or after[gap] < "\u3040":
            return None
        gap += 1
    return None


def lacks_worded(statement: str, text: str) -> list[str]:
    """Return the numbers and fractions that `statement` states in words and `text` in no form.

    A fraction is held by about that percentage too. "More than half", "nearly four" are not
    compared: 58 % bears the one out, 3.9 the other.
    """
    numbers, shares = find_worded(statement)
    held = index_figures(text).units if numbers else {}
    lacking = [(n.start, n.end, "") for n in numbers if n.value not in held]
    lacking += [(s.start, s.end, "%") for s in shares if not holds_share(s, text)]
    return [
        statement[start:end]
        for start, end, unit in sorted(lacking)
        if not _is_loosely_said(statement, Figure(start, end, "", (), unit), text)
    ]


def _is_loosely_said(statement: str, place: Figure, text: str) -> bool:
    """Return whether a number is bounded, and not in the words in which `text` bounds one."""
    bound = bound_of(statement, place)
    return bound is not None and statement[bound.start : bound.end].lower() not in text.lower()


def without_bounds(text: str) -> str:
    """Return `text` without the bounds beside its numbers."""
    pieces, at = [], 0
    found = [bound for figure in find_figures(text) if (bound := bound_of(text, figure))]
    for bound in sorted(found, key=lambda bound: bound.start):
        if bound.start >= at:
            pieces.append(text[at : bound.start])
            at = bound.end
    return " ".join([*pieces, text[at:]])


def bounds_conflict(claim: str, texts: Iterable[str]) -> str:
    """Return the number on which `claim` puts a bound that no text that holds it has, else "".

    `texts` are sentences that say the same. A conflict is the opposite bound, or a strict bound
    ("less than 50") where every text gives the number and bounds it in no way.
    """
    bounded = [(f, b) for f in find_figures(claim)[:_MAX_FIGURES] if (b := bound_of(claim, f))]
    held = [_Bounded(text) for text in texts] if bounded else []
    for figure, bound in bounded:
        against = [judged for text in held for judged in text.judge(bound, figure)]
        if against and all(against):
            start, end = min(bound.start, figure.start), max(bound.end, figure.end)
            return claim[start:end].strip()
    return ""


class _Bounded:
    """A source's sentence, to be asked how it bounds a number. Worked out on first use."""

    def __init__(self, text: str) -> None:
        self._text = text

    def judge(self, bound: Bound, figure: Figure) -> Iterator[bool]:
        """Yield for each place where the text has the number whether it is against `bound`."""
        same = [other for value in figure.values for other in self._figures.get(value, ())]
        for other in same[:_MAX_FIGURES]:
            held = bound_of(self._text, other)
            if held:
                yield held.direction != bound.direction
            else:
                yield bound.is_strict and not self._may_bound(bound.direction, other)
        if not same and not self._worded.isdisjoint(figure.values):
            text = without_bounds(self._text)
            direction = bound.direction
            is_loose = _has_loose_word(direction, text) or _has_loose_sign(direction, text)
            yield bound.is_strict and not is_loose

    def _may_bound(self, direction: int, figure: Figure) -> bool:
        """Return whether words near the number may bound it that way."""
        start, end = figure.start, figure.end
        before = self._text[max(0, start - _LOOSE_REACH) : start]
        behind = self._text[end : end + _VERB_REACH]
        near = f"{before[-_SIGN_REACH:].rpartition('，')[2]} {behind[:_SIGN_REACH]}"
        return (
            _has_loose_word(direction, before)
            or _has_loose_word(direction, behind, verbs=True)
            or _has_loose_sign(direction, near)
        )

    @cached_property
    def _figures(self) -> dict[str, list[Figure]]:
        found: dict[str, list[Figure]] = {}
        for figure in find_figures(self._text):
            for value in figure.values:
                found.setdefault(value, []).append(figure)
        return found

    @cached_property
    def _worded(self) -> frozenset[str]:
        return frozenset(index_figures(self._text).units)


def _has_loose_word(direction: int, text: str, *, verbs: bool = False) -> bool:
    """Return whether `text` holds a word that bounds; with `verbs` only a beginning counts."""
    exact, beginnings = _loose_words(direction)
    words = _WORD.findall(text.lower())
    return any(word.startswith(beginnings) or (not verbs and word in exact) for word in words)


def _has_loose_sign(direction: int, text: str) -> bool:
    return any(sign in text for sign in _LOOSE_SIGNS[direction].split())


@cache
def _loose_words(direction: int) -> tuple[frozenset[str], tuple[str, ...]]:
    words = _LOOSE[direction].split()
    exact = frozenset(word for word in words if not word.endswith("-"))
    return exact, tuple(word[:-1] for word in words if word.endswith("-"))
