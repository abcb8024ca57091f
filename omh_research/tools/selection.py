"""Selection: the best sentences within a budget, joined to literal slices.

Job: take sentences best first until the budget is spent; neighbours grow together to one slice,
and when the next sentence does not fit, the part of it that speaks to the query goes in. Never a
character over the budget (spec T9). Refuses to score (see `relevance.py`).
Importers: `omh_research.tools`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from msgspec import Struct

from omh_research.tools.passages import weigh, window

# A sentence that scores less than this share of the best is left out although there is room.
WEAK_SHARE = 0.08
# A window of a sentence that does not fit is at least this long (weighed), or says nothing.
WINDOW_CHARS = 30


class Piece(Struct, frozen=True):
    """A sentence on offer: where it is (offsets in its source) and what it is worth.

    Only pieces of one `block` (a paragraph) grow together to a slice.
    """

    source: int
    passage: int
    block: int
    start: int
    end: int
    score: float
    own: float


class Slice(Struct, frozen=True):
    """A kept slice of a source, with the best `own` score of its sentences."""

    source: int
    passage: int
    start: int
    end: int
    own: float
    score: float


class Limits(Struct, frozen=True):
    """What a selection may take: characters in all, slices a source (None = any), slice length.

    `parts_first`: a window of a better sentence goes before whole sentences that are worse. Right
    for a question, whose answer is a few words; a claim needs whole sentences.
    """

    characters: int
    per_source: int | None
    slice_characters: int
    parts_first: bool = False


class _Selection:
    """Taken pieces and the room left. Pieces are numbered in reading order."""

    def __init__(self, pieces: Sequence[Piece], limits: Limits) -> None:
        self._pieces = pieces
        self._limits = limits
        self.room = limits.characters
        self._slices: dict[int, list[int]] = {}  # piece number -> [first, last] of its slice
        self._count: Counter[int] = Counter()
        self._windows: list[Slice] = []

    def _beside(self, number: int, step: int) -> list[int] | None:
        """The slice that ends just before, or begins just after, this piece in its block."""
        other = number + step
        if not 0 <= other < len(self._pieces) or other not in self._slices:
            return None
        here, there = self._pieces[number], self._pieces[other]
        return self._slices[other] if here.block == there.block else None

    def _length(self, first: int, last: int) -> int:
        return self._pieces[last].end - self._pieces[first].start

    def _is_full(self, source: int) -> bool:
        limit = self._limits.per_source
        return limit is not None and self._count[source] >= limit

    def add(self, number: int) -> bool:
        """Take a piece, joined to its taken neighbours; False when it does not fit."""
        piece = self._pieces[number]
        joined = [s for s in (self._beside(number, -1), self._beside(number, 1)) if s is not None]
        while True:
            first = min([number, *(s[0] for s in joined)])
            last = max([number, *(s[1] for s in joined)])
            cost = self._length(first, last) - sum(self._length(*s) for s in joined)
            if not joined or self._length(first, last) <= self._limits.slice_characters:
                break
            joined.pop()
        if cost > self.room or (not joined and self._is_full(piece.source)):
            return False
        slice_ = [first, last]
        for other in range(first, last + 1):
            self._slices[other] = slice_
        self._count[piece.source] += 1 - len(joined)
        self.room -= cost
        return True

    def is_empty(self) -> bool:
        """True while nothing is taken."""
        return not self._slices and not self._windows

    def add_window(self, piece: Piece, text: str, weight: Callable[[str], float]) -> None:
        """Take the best part of a piece that is too long for the room left."""
        if self._is_full(piece.source) or self.room < 1:
            return
        start, end = window(text, weight, self.room)
        self.room -= end - start
        self._count[piece.source] += 1
        self._windows.append(
            Slice(
                piece.source,
                piece.passage,
                piece.start + start,
                piece.start + end,
                piece.own,
                piece.score,
            )
        )

    def slices(self) -> list[Slice]:
        """What was taken, best first."""
        found = list(self._windows)
        for first, last in sorted({(s[0], s[1]) for s in self._slices.values()}):
            members = self._pieces[first : last + 1]
            found.append(
                Slice(
                    members[0].source,
                    members[0].passage,
                    members[0].start,
                    members[-1].end,
                    max(piece.own for piece in members),
                    max(piece.score for piece in members),
                )
            )
        return sorted(found, key=lambda s: (-s.own, -s.score, s.source, s.start))


def select(
    pieces: Sequence[Piece],
    text_of: Callable[[Piece], str],
    weight: Callable[[str], float],
    limits: Limits,
) -> list[Slice]:
    """The slices to keep, best first; together at most `limits.characters` characters.

    `pieces` come in reading order (source, then place) and do not overlap.
    """
    order = sorted(range(len(pieces)), key=lambda i: (-pieces[i].score, i))
    best = pieces[order[0]].score if order else 0.0
    order = [i for i in order if pieces[i].score > 0 and pieces[i].score >= best * WEAK_SHARE]
    taken = _Selection(pieces, limits)
    too_long: int | None = None
    for number in order:
        if taken.room <= 0:
            break
        if taken.add(number) or too_long is not None or _size(pieces[number]) <= taken.room:
            continue
        too_long = number
        if limits.parts_first:
            _add_part(taken, pieces[number], text_of, weight)
    if too_long is not None and (not limits.parts_first or taken.is_empty()):
        _add_part(taken, pieces[too_long], text_of, weight)
    return taken.slices()


def _add_part(
    taken: _Selection,
    piece: Piece,
    text_of: Callable[[Piece], str],
    weight: Callable[[str], float],
) -> None:
    """Spend the room on a window of the best piece that does not fit, unless it is a scrap."""
    text = text_of(piece)
    if not taken.is_empty() and taken.room * weigh(text) < WINDOW_CHARS * len(text):
        return
    taken.add_window(piece, text, weight)


def _size(piece: Piece) -> int:
    return piece.end - piece.start
