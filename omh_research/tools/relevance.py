"""Relevance: which sentences of some passages speak to a query.

Job: one score a sentence, from BM25 over the sentences at hand, parts of words (so that inflected
and compound forms meet), what its neighbours and its paragraph hold, and, for a query that is no
question, signs of a finding. Refuses to understand: it counts (spec T10).
Importers: tools, delegates, phases.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache, lru_cache

from msgspec import Struct

from omh_research.tools.ranking import MAX_QUERY_TERMS, Bm25
from omh_research.tools.tokens import is_cjk, query_words, terms

# Weights beside the word match, which is scaled so that the best sentence has 1.
PARTS = 0.3
NEIGHBOURS = 0.3
AROUND = 0.5
POSITION = 0.8
FINDING = 0.3
# Sources longer than an abstract have their findings anywhere.
ABSTRACT_CHARS = 4_000
_LATE = 0.6
_PART_CHARS = 4
_QUESTION = (
    r"[?？؟]|\b(?:who|whom|whose|what|when|where|which|why|how|wer|wen|wem|wessen|wann|wo|woher|"
    r"wohin|warum|wieso|wie|welche[mnrs]?|qué|quién|quiénes|cuándo|dónde|cuál|cuáles|cómo|cuánt[oa]s?|"
    r"por qué|quoi|quand|où|pourquoi|comment|combien|quelle?s?|chi|che cosa|quando|dove|perché|"
    r"quant[oiea]|quale|quali|quem|onde|qual|quais|wie|wanneer|waar|waarom|hoe|welke|кто|что|когда|"
    r"где|почему|как|сколько|какой|какая|какие|какое)\b|"
    r"什么|什麼|谁|誰|何时|何時|哪|为什么|如何|怎么|怎樣|多少|几|何|どこ|いつ|だれ|なぜ|どの|どう|いくつ|누구|언제|어디|무엇|왜|어떻게|얼마|몇|"
    r"(?:^|\s)(?:ما|ماذا|من|متى|أين|كيف|لماذا|كم|أي|هل|क्या|कौन|कब|कहाँ|कहां|क्यों|कैसे|कितन\w*)\s"
)
_FINDINGS = (
    r"\b(?:we (?:found|find|show|demonstrate|report|conclude|identif|observ|provide)\w*|results?|"
    r"conclu\w+|findings?|found|show(?:ed|n|s)?|demonstrat\w+|suggest\w*|indicat\w+|reveal\w*|"
    r"associat\w+|significant\w*|increas\w+|decreas\w+|reduc\w+|higher|lower|compared|however|thus|"
    r"therefore|these data|ergebnis\w*|zeig\w+|signifikant\w*|résultats?|montr\w+|resultados?|"
    r"muestran?|demuestr\w+|risultat\w+)\b|\b[pP] ?[<=]|\d ?%|"
    r"结果|結果|表明|显示|顯示|发现|發現|示した"
)


class Sentence(Struct, frozen=True):
    """A sentence to be scored: its text and tokens, its block, and its place in its source.

    `place` runs from 0 to 1 over the source; it counts only where the source is an abstract's
    length (`short_source`). Sentences of one block (a paragraph) stand together and in order.
    """

    text: str
    tokens: Sequence[str]
    block: int
    place: float = 0.0
    short_source: bool = False


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


def is_question(query: str) -> bool:
    """True for a query that asks (a question mark or a question word, 16 languages)."""
    return _pattern(_QUESTION).search(query[:2_000]) is not None


@lru_cache(maxsize=1 << 16)
def _parts(word: str) -> frozenset[str]:
    """Pieces of four letters, each character of a Han or kana word, nothing of a short word."""
    if is_cjk(word[0]):
        return frozenset(word)
    return frozenset(word[i : i + _PART_CHARS] for i in range(len(word) - _PART_CHARS + 1))


class Relevance:
    """Scores of sentences for one query.

    `own[i]` is the share of the query's weight that sentence i matches, 0 to 1; `scores[i]` orders
    (not bounded, 0 without any match in its block).
    """

    def __init__(self, query: str, sentences: Sequence[Sentence]) -> None:
        self.terms = tuple(dict.fromkeys(terms(query_words(query))))[:MAX_QUERY_TERMS]
        self._sentences = sentences
        self._tokens = [sentence.tokens for sentence in sentences]
        self._model = Bm25(self._tokens)
        self._weights = {term: self._model.weight(term) for term in self.terms}
        self.own = self._match(sum(self._weights.values()))
        self.scores = self._score(is_question(query))

    def weight(self, token: str) -> float:
        """How much a token says of the query, 0 to 1; 0 for a token that is not in the query."""
        return self._weights.get(token, 0.0) / max(self._weights.values(), default=1.0)

    def _match(self, most: float) -> list[float]:
        found = self._model.scores(self.terms)
        scale = 1 / (most * self._model.gain) if most else 0.0
        return [found.get(index, 0.0) * scale for index in range(len(self._sentences))]

    def _part_match(self) -> list[float]:
        """Share of the query's word parts that a sentence has."""
        wanted = Counter(part for term in self.terms for part in _parts(term))
        total = sum(wanted.values())
        if not total:
            return [0.0] * len(self._sentences)
        by_word = {
            word: frozenset(part for part in _parts(word) if part in wanted)
            for word in {word for tokens in self._tokens for word in tokens}
        }
        shares: list[float] = []
        for tokens in self._tokens:
            found: set[str] = set()
            for word in tokens:
                found |= by_word[word]
            shares.append(sum(wanted[part] for part in found) / total)
        return shares

    def _coverage(self) -> dict[int, float]:
        """Share of the query's weight that each block has in all its sentences together."""
        held: dict[int, set[str]] = {}
        for sentence, tokens in zip(self._sentences, self._tokens, strict=True):
            held.setdefault(sentence.block, set()).update(self._weights.keys() & tokens)
        total = sum(self._weights.values()) or 1.0
        return {
            block: sum(self._weights[term] for term in found) / total
            for block, found in held.items()
        }

    def _near(self, index: int) -> float:
        """The mean match of the sentences before and after within the block."""
        block = self._sentences[index].block
        beside = [
            self.own[other]
            for other in (index - 1, index + 1)
            if 0 <= other < len(self.own) and self._sentences[other].block == block
        ]
        return sum(beside) / len(beside) if beside else 0.0

    def _score(self, asks: bool) -> list[float]:
        best = max(self.own, default=0.0)
        if not best:
            return [0.0] * len(self.own)
        parts = self._part_match()
        matched = {s.block for s, own in zip(self._sentences, self.own, strict=True) if own}
        around = self._coverage()
        scores: list[float] = []
        for index, sentence in enumerate(self._sentences):
            if sentence.block not in matched:
                scores.append(0.0)
                continue
            score = (self.own[index] + NEIGHBOURS * self._near(index)) / best
            score += PARTS * parts[index] + AROUND * around[sentence.block]
            if not asks and sentence.short_source:
                score += POSITION * min(1.0, sentence.place / _LATE)
                score += FINDING * min(2, len(_pattern(_FINDINGS).findall(sentence.text))) / 2
            scores.append(score)
        return scores
