"""Where in a source a statement belongs: the sentences that say nearly the same, and their figures.

Job: tell a figure that stands beside a statement's words from one that merely stands somewhere in
a long text, and a statement from its negation. Refuses to judge statements that the source words
differently. Importers: tools.gate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from math import log

from omh_research.tools import sentences
from omh_research.tools.bounds import bounds_conflict, lacks_worded, without_bounds
from omh_research.tools.figures import Figure, find_figures
from omh_research.tools.han_numbers import has_numerals
from omh_research.tools.negation import ClauseIndex, is_negated, segments_of
from omh_research.tools.polarity import opposed_in_place, without_opposites
from omh_research.tools.shares import find_worded, is_counting_token
from omh_research.tools.tokens import content_tokens
from omh_research.tools.units import are_compatible

_MIN_TOKENS, _MIN_TOKENS_COUNTED, _MIN_TOKENS_BESIDE_FIGURE = 4, 3, 2
_MAX_SENTENCES = 20_000
_MAX_SENTENCE_CHARS = 2_000
_MAX_ALIKE = 50
# Shares of a statement's words: nearly the same sentence; and the same context.
_NEARLY, _RELATED = 0.85, 0.2


class Context:
    """The sentences of one source. Everything is worked out on first use."""

    def __init__(self, texts: Sequence[str], language: str) -> None:
        self._texts = texts
        self._language = language
        self._near: dict[tuple[str, int], tuple[int, ...]] = {}

    def holds_near(self, figure: Figure, statement: str) -> bool:
        """Return whether the figure stands where the statement belongs, not just anywhere.

        Where sentences of the source say nearly the same, it must stand in or beside one of them.
        Else within two sentences that share a fifth of the statement's words, weighed by how rare
        they are in the source. A statement with few of the source's words is not judged.
        """
        places = self._places_of(figure)
        if not places:
            return True  # written as words, or in a title
        if near := self._nearly_same(statement):
            return any(abs(at - place) <= 1 for at in near for place in places)
        tokens = self._tokens(statement) & self._weights.keys()
        if len(tokens) < 3:
            return True
        whole = sum(self._weights[token] for token in tokens)
        for at in places:
            around: frozenset[str] = frozenset().union(*self._sentences[max(0, at - 2) : at + 3])
            if sum(self._weights[token] for token in tokens & around) >= _RELATED * whole:
                return True
        return False

    def lacks_number_word(self, statement: str) -> str:
        """Return a number or share, written as words, that the sentences saying the same lack.

        A share ("two thirds", 六成) is also held by a percentage or by two numbers in about that
        ratio.
        """
        if not any(find_worded(statement)):
            return ""
        near = self._nearly_same(statement, _MIN_TOKENS_COUNTED)
        if not near:
            return ""
        beside = "\n".join(self._spans[i].text for i in self._beside(near))
        return next(iter(lacks_worded(statement, beside)), "")

    def turns_bound(self, statement: str) -> str:
        """Return a number with a bound that the sentences saying the same do not put on it."""
        near = self._nearly_same(statement, _MIN_TOKENS_BESIDE_FIGURE)
        return bounds_conflict(statement, self._texts_at(near)) if near else ""

    def opposes(self, statement: str) -> str:
        """Return which word of the statement is the opposite of what the source says there."""
        bare = without_opposites(statement)
        if bare == statement:
            return ""
        texts = self._texts_at(self._nearly_same(bare, _MIN_TOKENS_COUNTED))
        values = [figure.values for figure in find_figures(statement)]
        if not texts and len(values) > 1:  # few words, but the same numbers
            near = self._texts_at(self._nearly_same(bare, _MIN_TOKENS_BESIDE_FIGURE))
            texts = [text for text in near if _holds_all(values, text)]
        said = [opposed_in_place(statement, text) for text in texts]
        return said[0] if said and all(said) else ""

    def reverses(self, statement: str) -> bool:
        """Return whether a sentence of the source says the same with other polarity, none alike."""
        if self._language in ("zh", "ja"):
            return self._clauses.denies(statement)
        said = self._polarities(statement)
        return bool(said) and not any(said)

    def repeats(self, statement: str) -> bool:
        """Return whether a sentence of the source says nearly the same with the same polarity."""
        if self._language in ("zh", "ja"):
            return False
        return any(self._polarities(statement))

    def _polarities(self, statement: str) -> list[bool]:
        """Return for each sentence that says the same whether it does so with the same polarity.

        Where the statement takes up only a part of the sentence, the segments at its ends that
        hold none of the statement's words do not count: of "but did not gain weight" it may say
        nothing.
        """
        negated, tokens = is_negated(statement), self._tokens(statement)
        said = []
        for at in self._same_length(statement):
            text = self._spans[at].text
            kept = self._taken_up(tokens, segments_of(text))
            is_whole = self._sentences[at] <= tokens and is_negated(text) == negated
            said.append(is_whole or (sum(map(is_negated, kept)) % 2 == 1) == negated)
        return said

    def _taken_up(self, tokens: frozenset[str], segments: list[str]) -> list[str]:
        """Return the segments without those at the ends that add none of the statement's words."""
        shared = [self._tokens(segment) & tokens for segment in segments]
        first, last = 0, len(shared)
        while last - first > 1 and shared[last - 1] <= frozenset().union(*shared[first : last - 1]):
            last -= 1
        while last - first > 1 and shared[first] <= frozenset().union(*shared[first + 1 : last]):
            first += 1
        return segments[first:last]

    def _same_length(self, statement: str) -> list[int]:
        size = len(self._tokens(statement))
        return [at for at in self._nearly_same(statement) if len(self._sentences[at]) <= 2 * size]

    def _nearly_same(self, statement: str, least: int = _MIN_TOKENS) -> tuple[int, ...]:
        """Return the sentences that hold nearly all words of the statement, numbers aside.

        Number words, shares and the bounds beside numbers ("less than") are aside too.
        """
        if (statement, least) not in self._near:
            tokens = self._tokens(without_bounds(statement))
            tokens = frozenset(
                token for token in tokens if not token[0].isdigit() and not is_counting_token(token)
            )
            found: Iterable[int] = ()
            if len(tokens) >= least:
                wanted = _NEARLY * len(tokens)
                found = (at for at, s in enumerate(self._sentences) if len(tokens & s) >= wanted)
            self._near[statement, least] = tuple(found)
        return self._near[statement, least]

    def _texts_at(self, near: Sequence[int]) -> list[str]:
        """Return the sentences at these places, each once; the first of very many."""
        return list(dict.fromkeys(self._spans[at].text for at in near))[:_MAX_ALIKE]

    def _beside(self, near: Sequence[int]) -> list[int]:
        last = len(self._spans) - 1
        return sorted({i for at in near for i in (at - 1, at, at + 1) if 0 <= i <= last})

    def _tokens(self, text: str) -> frozenset[str]:
        return frozenset(content_tokens(text, self._language))

    @cached_property
    def _clauses(self) -> ClauseIndex:
        return ClauseIndex(span.text for span in self._spans)

    @cached_property
    def _spans(self) -> list[sentences.Span]:
        spans = [span for text in self._texts for span in sentences.split(text)]
        return spans[:_MAX_SENTENCES]

    @cached_property
    def _sentences(self) -> list[frozenset[str]]:
        return [self._tokens(span.text[:_MAX_SENTENCE_CHARS]) for span in self._spans]

    @cached_property
    def _weights(self) -> dict[str, float]:
        """How rare each token is among the source's sentences."""
        counts: dict[str, int] = {}
        for tokens in self._sentences:
            for token in tokens:
                counts[token] = counts.get(token, 0) + 1
        total = len(self._sentences)
        return {token: log(1 + total / count) for token, count in counts.items()}

    def _places_of(self, figure: Figure) -> list[int]:
        """Return the sentences in which the figure stands, with its unit or with none."""
        places = [place for value in figure.values for place in self._places.get(value, ())]
        return [
            at
            for at, unit in places
            if not figure.unit or not unit or are_compatible(figure.unit, unit)
        ]

    @cached_property
    def _places(self) -> dict[str, list[tuple[int, str]]]:
        """For each value the sentences in which it stands as digits, and the unit there."""
        places: dict[str, list[tuple[int, str]]] = {}
        for at, span in enumerate(self._spans):
            for figure in find_figures(span.text) if _may_hold_figures(span.text) else ():
                for value in figure.values:
                    places.setdefault(value, []).append((at, figure.unit))
        return places


def _may_hold_figures(text: str) -> bool:
    return any(map(str.isdigit, text)) or has_numerals(text)


def _holds_all(values: Sequence[tuple[str, ...]], text: str) -> bool:
    held = {value for figure in find_figures(text) for value in figure.values}
    return all(not held.isdisjoint(one) for one in values)
