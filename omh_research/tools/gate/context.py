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
from omh_research.tools.figures import Figure, find_figures
from omh_research.tools.negation import is_negated
from omh_research.tools.tokens import content_tokens
from omh_research.tools.units import are_compatible, read_number_words

_MIN_TOKENS = 4
_MAX_SENTENCES = 20_000
_MAX_SENTENCE_CHARS = 2_000
# Shares of a statement's words: nearly the same sentence; and the same context.
_NEARLY, _RELATED = 0.85, 0.2


class Context:
    """The sentences of one source. Everything is worked out on first use."""

    def __init__(self, texts: Sequence[str], language: str) -> None:
        self._texts = texts
        self._language = language
        self._near: dict[str, tuple[int, ...]] = {}

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
        """Return a number, written as a word, that the sentences saying the same do not hold."""
        if self._language in ("zh", "ja", "ko"):
            return ""
        near = self._nearly_same(statement)
        stated = [value for value in read_number_words(statement) if int(value) > 2]
        if not near or not stated:
            return ""
        beside = " ".join(self._spans[i].text for i in self._beside(near))
        held = set(read_number_words(beside))
        held |= {value for figure in find_figures(beside) for value in figure.values}
        return next((value for value in stated if value not in held), "")

    def reverses(self, statement: str) -> bool:
        """Return whether a sentence of the source says the same with other polarity, none alike."""
        negated = is_negated(statement)
        alike = [is_negated(self._spans[at].text) == negated for at in self._same_length(statement)]
        return bool(alike) and not any(alike)

    def repeats(self, statement: str) -> bool:
        """Return whether a sentence of the source says nearly the same with the same polarity."""
        negated = is_negated(statement)
        return any(
            is_negated(self._spans[at].text) == negated for at in self._same_length(statement)
        )

    def _same_length(self, statement: str) -> list[int]:
        size = len(self._tokens(statement))
        return [at for at in self._nearly_same(statement) if len(self._sentences[at]) <= 2 * size]

    def _nearly_same(self, statement: str) -> tuple[int, ...]:
        """Return the sentences that hold nearly all words of the statement, numbers aside."""
        if statement not in self._near:
            tokens = frozenset(t for t in self._tokens(statement) if not t[0].isdigit())
            found: Iterable[int] = ()
            if len(tokens) >= _MIN_TOKENS:
                wanted = _NEARLY * len(tokens)
                found = (at for at, s in enumerate(self._sentences) if len(tokens & s) >= wanted)
            self._near[statement] = tuple(found)
        return self._near[statement]

    def _beside(self, near: Sequence[int]) -> list[int]:
        last = len(self._spans) - 1
        return sorted({i for at in near for i in (at - 1, at, at + 1) if 0 <= i <= last})

    def _tokens(self, text: str) -> frozenset[str]:
        return frozenset(content_tokens(text, self._language))

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
            for figure in find_figures(span.text) if any(map(str.isdigit, span.text)) else ():
                for value in figure.values:
                    places.setdefault(value, []).append((at, figure.unit))
        return places
