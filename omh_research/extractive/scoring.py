"""Which sentences answer a question best.

Job: score sentences by the question's words they hold (rare ones count more, neighbours and
inflections in part), by their document's place among the hits, and by the kind of answer that the
question wants. Refuses to search and to read. Deterministic. Importers: extractive.

Weights were chosen on half of XQuAD (en, zh, ar, de) and CMRC for all languages alike (Q14).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from msgspec import Struct, structs

from omh_research.extractive.questions import answer_kinds, offered_share, strip_question_words
from omh_research.extractive.units import Unit, asks
from omh_research.extractive.word_classes import aspects
from omh_research.lazy_re import lazy_re
from omh_research.tools.ranking import inverse_frequency
from omh_research.tools.tokens import (
    content_tokens,
    content_words,
    fold,
    fold_word,
    is_cjk,
    terms,
    tokenize,
)

INFLECTED = 0.7  # a word that shares a long beginning with the question's word
BEFORE, AFTER, ELSEWHERE = 0.4, 0.3, 0.2  # the word stands in a neighbour, or in the document
RANK_WEIGHT, RANK_DECAY = 0.35, 0.3
KIND_WEIGHT = 0.15
ASPECT_SHARE = 0.5
SAYS_NOTHING_NEW = 0.3
ASKS_ITSELF = 0.3
UNSEEN_BIGRAM = 0.3
# A sentence that holds less of the question's weight than this is not about it.
MIN_COVERAGE = 0.1
# Sentences that score less than this share of the best one are not put beside it, nor documents
# whose best sentence holds less than this share of what the best sentence of all holds.
RELATIVE_SCORE = DOCUMENT_SHARE = 0.3
# A topic of whose words a few sentences on end nowhere hold this share (or this many), and only one
# of three or more, is not what the documents speak of. Measured on XQuAD and CMRC: with the article
# that answers, 1 to 3 questions in 100 fall below; without it, 6 to 8 in 10.
ON_SUBJECT = {"en": 0.34, "zh": 0.22, "ja": 0.22}
ON_SUBJECT_ELSEWHERE = 0.28
_ENOUGH_WORDS = 3.0
# Above this share what no document says is a gap of the report.
MISSING_SHARE = 0.5
_PASSAGE_SENTENCES = 5
_MIN_ROOT = 4
_WORD = lazy_re(r"[^\W_]+")


class Question(Struct, frozen=True):
    """A question ready for scoring: its content tokens with their weights, and its kinds."""

    text: str
    terms: tuple[str, ...]
    weights: dict[str, float]
    kinds: frozenset[str]

    @property
    def total(self) -> float:
        """Sum of all weights; at least a tiny positive number."""
        return sum(self.weights.values()) or 1e-9


class Scored(Struct, frozen=True):
    """A unit of document `document` (its place in the list given), its score and its coverage.

    `coverage` is the share of the question's weight that the sentence itself holds, 0 to 1.
    """

    document: int
    unit: Unit
    score: float
    coverage: float


def ask(text: str, language: str, pool: Iterable[frozenset[str]]) -> Question:
    """Return the question, its words weighted by how rare they are in `pool` (token sets).

    Words that only ask something of the subject ("history", "causes") count less than it does.
    """
    asked = strip_question_words(text)
    tokens = content_tokens(asked, language) or content_tokens(text, language) or tokenize(text)
    return subject_of(Question(text, *_weigh(tokens, pool), answer_kinds(text)))


def subject_of(question: Question) -> Question:
    """Return the question with its words that name nothing at half their weight.

    Unchanged when it has no others. What is to tell whether a document speaks of the subject at
    all takes it once more.
    """
    light = _light_terms(question)
    if not light:
        return question
    weights = {
        term: weight * (ASPECT_SHARE if term in light else 1.0)
        for term, weight in question.weights.items()
    }
    return structs.replace(question, weights=weights)


def _light_terms(question: Question) -> frozenset[str]:
    """The question's terms that name nothing; none of them where it has no others."""
    light = _aspects_in(question.text)
    return light if question.weights.keys() - light else frozenset()


@lru_cache(maxsize=64)
def _aspects_in(text: str) -> frozenset[str]:
    return frozenset(terms(sorted(aspects() & set(content_words(text)))))


def names_subject(question: Question, held: frozenset[str]) -> bool:
    """Return whether these terms hold one of the question's that names its subject."""
    return bool(_matches(question, held).keys() - _light_terms(question))


def speaks_of(
    question: Question,
    language: str,
    documents: Iterable[tuple[frozenset[str], Sequence[frozenset[str]]]],
) -> bool:
    """Return whether a document speaks of the question's subject, not of one word of it by chance.

    A document is the tokens of its title and headings, and those of its sentences in order.
    """
    light = _light_terms(question)
    weights = _flat_weights(question)
    share = ON_SUBJECT.get(language, ON_SUBJECT_ELSEWHERE)
    enough = min(share * sum(weights.values()), _ENOUGH_WORDS)
    for head, sentences in documents:
        found = [_matches(question, terms) for terms in sentences]
        titled = _matches(question, head)
        for at, own in enumerate(found):
            if not own and not titled:
                continue
            held = dict(titled)
            for near in found[at : at + _PASSAGE_SENTENCES]:
                for term, part in near.items():
                    held[term] = max(part, held.get(term, 0.0))
            is_chance = len(held) == 1 and len(weights.keys() - light) > 2
            weight = sum(weights[term] * part for term, part in held.items())
            if weight >= enough and held.keys() - light and not is_chance:
                return True
    return False


def _flat_weights(question: Question) -> dict[str, float]:
    """Each word alike: where all sentences say the subject, its word would weigh little."""
    light = _light_terms(question)
    return {term: ASPECT_SHARE if term in light else 1.0 for term in question.terms}


def missing_words(
    question: Question, language: str, held: frozenset[str], texts: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the words of a question that stand nowhere, as they were asked.

    All of them if they are more than half of it; else its names and years, which no other word of
    a document can stand for. `texts` are whole documents: what one of them holds, be it inside
    another word or in a line that is never quoted, is not missing.
    """
    found = _matches(question, held)
    missed = {
        word: [term for term in terms([word]) if term in question.weights]
        for word in content_words(strip_question_words(question.text), language)
        if word not in aspects()
    }
    missed = {word: own for word, own in missed.items() if own and not found.keys() & set(own)}
    if missed:
        said = "\n".join(fold_word(fold(text)) for text in texts)
        missed = {word: own for word, own in missed.items() if word not in said}
    weights = _flat_weights(question)
    weight = sum(weights[term] for own in missed.values() for term in own)
    names = _names_in(question.text, language)
    if weight <= MISSING_SHARE * sum(weights.values()):
        missed = {word: own for word, own in missed.items() if word in names}
    asked = {fold_word(fold(word)): word for word in _WORD.findall(question.text)}
    return tuple(asked.get(word, word) for word in missed)


def _names_in(text: str, language: str) -> frozenset[str]:
    """The folded names and years of a question; German capitals tell no name."""
    first, *others = _WORD.findall(text) or [""]
    return frozenset(
        fold_word(fold(word))
        for word in (first, *others)
        if word.isdecimal() or (language != "de" and word is not first and word[0].isupper())
    )


def ask_about(subtopic: str, topic: str, language: str, pool: Iterable[frozenset[str]]) -> Question:
    """Return a subtopic (or its query) as a question for what it has beyond the topic's words."""
    tokens = content_tokens(subtopic, language) or tokenize(subtopic)
    known = set(content_tokens(topic, language))
    own = [token for token in tokens if token not in known]
    return Question(subtopic, *_weigh(own or tokens, pool), frozenset())


def _weigh(
    tokens: Iterable[str], pool: Iterable[frozenset[str]]
) -> tuple[tuple[str, ...], dict[str, float]]:
    terms = tuple(dict.fromkeys(tokens))
    wanted = set(terms)
    total = 0
    containing: Counter[str] = Counter()
    for sentence in pool:
        total += 1
        containing.update(sentence & wanted)
    weights = {term: inverse_frequency(total, containing[term]) for term in terms}
    for term in terms:
        # A bigram that nobody uses mostly lies across the border of two words.
        if not containing[term] and len(term) == 2 and is_cjk(term[0]):
            weights[term] *= UNSEEN_BIGRAM
    return terms, weights


def score_documents(question: Question, documents: Sequence[Sequence[Unit]]) -> list[Scored]:
    """Return all units of the documents (given best document first), best sentence first.

    Ties go to the better document, then to the earlier sentence.
    """
    scored: list[Scored] = []
    for place, units in enumerate(documents):
        everywhere: set[str] = set().union(*(unit.terms for unit in units)) if units else set()
        found = [_matches(question, unit.terms) for unit in units]
        bonus = RANK_WEIGHT / (1 + RANK_DECAY * place)
        for i, unit in enumerate(units):
            before = found[i - 1] if i and _adjacent(units[i - 1], unit) else {}
            after = found[i + 1] if i + 1 < len(units) and _adjacent(unit, units[i + 1]) else {}
            own = sum(question.weights[term] * share for term, share in found[i].items())
            near = sum(
                question.weights[term] * _context(term, before, after, everywhere)
                for term in question.terms
                if term not in found[i]
            )
            score = (own + near) / question.total + bonus
            score += KIND_WEIGHT * offered_share(question.kinds, question.text, unit.text)
            if len(unit.terms - question.weights.keys()) < 2:
                score -= SAYS_NOTHING_NEW
            if asks(unit.text):
                score -= ASKS_ITSELF
            scored.append(Scored(place, unit, score, own / question.total))
    scored.sort(key=lambda item: (-round(item.score, 9), item.document, item.unit.order))
    return scored


def keep_relevant(scored: Sequence[Scored]) -> list[Scored]:
    """Return the sentences worth standing beside the best one, best first.

    A document whose best sentence holds too little of the question is left out whole; its other
    sentences could only be there by chance. Empty when even the best one is not about it.
    """
    if not scored or max(item.coverage for item in scored) < MIN_COVERAGE:
        return []
    best: dict[int, float] = {}
    for item in scored:
        best[item.document] = max(best.get(item.document, 0.0), item.coverage)
    enough = max(MIN_COVERAGE, DOCUMENT_SHARE * max(best.values()))
    least = RELATIVE_SCORE * scored[0].score
    lead = scored[0].document
    return [
        item
        for item in scored
        if item.document == lead or (best[item.document] >= enough and item.score >= least)
    ]


def _matches(question: Question, terms: frozenset[str]) -> dict[str, float]:
    """The question's terms that the sentence holds, 1 for the term itself, less for a relative."""
    found: dict[str, float] = {}
    for term in question.terms:
        if term in terms:
            found[term] = 1.0
        elif _has_relative(term, terms):
            found[term] = INFLECTED
    return found


def _has_relative(term: str, terms: frozenset[str]) -> bool:
    """True when a term shares seven tenths of its beginning: inflection, compound, derivation."""
    if len(term) < _MIN_ROOT or not term[0].isalpha():
        return False
    root = term[: max(_MIN_ROOT, int(len(term) * 0.7 + 0.5))]
    longest = 2 * len(term) + 2
    for other in terms:  # noqa: SIM110  (a generator costs more than the question)
        if other.startswith(root) and len(other) <= longest:
            return True
    return False


def _context(
    term: str, before: dict[str, float], after: dict[str, float], everywhere: set[str]
) -> float:
    if before.get(term) == 1.0:
        return BEFORE
    if after.get(term) == 1.0:
        return AFTER
    return ELSEWHERE if term in everywhere else 0.0


def _adjacent(first: Unit, second: Unit) -> bool:
    return second.order - first.order == 1


def coverage(question: Question, terms: frozenset[str]) -> float:
    """Return the share of the question's weight that a sentence with these terms holds."""
    own = sum(question.weights[term] * share for term, share in _matches(question, terms).items())
    return own / question.total
