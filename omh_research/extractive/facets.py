"""A plan without a model: the facets of a topic that the documents themselves name.

Job: 3 to 5 distinct content phrases of the passages found for the topic, none of them the topic
reworded, each with its queries (D1b, E15). Refuses to read documents: hits are enough for a plan.
Importers: extractive, delegates.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from omh_research.documents.source import Hit, Page
from omh_research.documents.task import Brief
from omh_research.extractive.labels import fallback_facets
from omh_research.extractive.naming import (
    DENSE,
    Mention,
    Seen,
    begins,
    is_plain_word,
    name_shape,
)
from omh_research.extractive.phrases import find_phrases, repeated_groups
from omh_research.extractive.questions import is_question
from omh_research.extractive.scoring import (
    Question,
    Scored,
    ask,
    coverage,
    keep_relevant,
    names_subject,
    score_documents,
    speaks_of,
    subject_of,
)
from omh_research.extractive.units import Unit, heading_terms, quotable_units
from omh_research.tools.tokens import content_tokens, content_words, detect_language, tokenize

MAX_SENTENCES = 40
# Of what the nearest document holds of the topic: to be looked at, and to name the first facets.
MIN_SHARE = 0.3
NEAR_SHARE = 0.5
SURE_CHARS = 300
TITLE_WEIGHT = 1.5
MAX_CANDIDATES = 150
MAX_QUERY_WORDS = 12
_COUNTED = 6


class Facet(Struct, frozen=True):
    """A subtopic: its name is a slice of a passage; two queries."""

    name: str
    queries: tuple[str, ...]


class _Found(Struct, frozen=True):
    """The sentences nearest to the topic, what share of it each document holds, its stems.

    `heads` are the stems of each document's title and headings, `languages` what it is written in.
    """

    sentences: list[Scored]
    shares: list[float]
    topic_tokens: frozenset[str]
    heads: list[frozenset[str]]
    languages: list[str]


class _Candidate(Struct, frozen=True):
    """A phrase: its stems, its worth, and the sentences beside the lead that hold it, best first.

    A sentence is (place in the ranking, document). A plain one is a lone common word.
    """

    name: str
    tokens: frozenset[str]
    weight: float
    support: tuple[tuple[int, int], ...]
    is_plain: bool = False


def plan_facets(brief: Brief, hits: Sequence[Hit]) -> tuple[Facet, ...]:
    """Return the facets of the topic, best first; generic ones fill up where hits are too few.

    A factual question gets the fewest facets allowed, so that each stays near the answer. What
    only documents farther from the topic speak of comes in where the near ones name too few.
    """
    fewest, most = brief.wanted_subtopics
    wanted = fewest if is_question(brief.topic) else most
    found = _find_sentences(brief, hits)
    _found_in.cache_clear()  # whole documents are in it
    near = _candidates(brief, found, NEAR_SHARE)
    chosen = _choose(_named(near), wanted, [])
    if len(chosen) < fewest:
        # A name from farther off says more than a common word from nearby.
        far = _candidates(brief, found, 0.0)
        for rest in (_named(far), near, far):
            chosen = _choose(rest, fewest, chosen)
        # Last, what only the best passage speaks of.
        spare = [item for item in far if all(_differ(item, other) for other in chosen)]
        chosen += _distinct(spare)[: fewest - len(chosen)]
    facets = [Facet(candidate.name, _queries(candidate.name, brief)) for candidate in chosen]
    for name in fallback_facets(brief.language)[: max(0, fewest - len(facets))]:
        # By itself a generic name finds anything: the topic's words are sought in its place.
        queries = _queries(name, brief)
        facets.append(Facet(name, (queries[1].removeprefix(f"{name} "), queries[1])))
    return tuple(facets)


def count_facets(brief: Brief, hits: Sequence[Hit]) -> int:
    """Return how many facets the hits give sentences for: fewer than wanted means search more."""
    candidates = _candidates(brief, _find_sentences(brief, hits), 0.0)
    return len(_choose(candidates, brief.wanted_subtopics[0], []))


def _named(candidates: list[_Candidate]) -> list[_Candidate]:
    return [item for item in candidates if not item.is_plain]


def _distinct(candidates: list[_Candidate]) -> list[_Candidate]:
    kept: list[_Candidate] = []
    for candidate in candidates:
        if all(_differ(candidate, other) for other in kept):
            kept.append(candidate)
    return kept


def _choose(candidates: list[_Candidate], wanted: int, known: list[_Candidate]) -> list[_Candidate]:
    """Return `known` and the best names, each with sentences of its own, up to `wanted`.

    So no section is left without a quote.
    """
    chosen = list(known)
    used: set[int] = set()
    for candidate in known:
        used |= {place for place, _ in _own_sentences(candidate, used)}
    left = [
        item for item in candidates[:MAX_CANDIDATES] if all(_differ(item, one) for one in known)
    ]
    while left and len(chosen) < wanted:
        best = max(left, key=lambda candidate: (_worth(candidate, used), candidate.name))
        if _worth(best, used) <= 0:
            break
        chosen.append(best)
        used |= {place for place, _ in _own_sentences(best, used)}
        left = [item for item in left if item is not best and _differ(item, best)]
    return chosen


def _own_sentences(candidate: _Candidate, used: set[int]) -> list[tuple[int, int]]:
    """Two sentences that no other facet needs, of two documents if there are two."""
    free = [sentence for sentence in candidate.support if sentence[0] not in used]
    others = [sentence for sentence in free if free and sentence[1] != free[0][1]]
    return [*free[:1], *(others or free[1:])[:1]]


def _worth(candidate: _Candidate, used: set[int]) -> float:
    own = _own_sentences(candidate, used)
    documents = len({document for _, document in own})
    # What several documents speak of makes a section that can compare them.
    return candidate.weight * {0: 0.0, 1: 0.45, 2: 0.75}[len(own)] * (1.5 if documents > 1 else 1)


def render_plan(facets: Sequence[Facet]) -> str:
    """Return the planner's answer: a YAML list of `name` and `queries` (D5b)."""
    lines: list[str] = []
    for facet in facets:
        # A JSON string is a YAML string: no character of a phrase can break the list.
        lines.append(f"- name: {json.dumps(facet.name, ensure_ascii=False)}")
        lines.append(f"  queries: {json.dumps(list(facet.queries), ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


def _candidates(brief: Brief, found: _Found, least_share: float) -> list[_Candidate]:
    """Rate the phrases of documents that hold at least this share of the topic, best first."""
    best = found.sentences
    # The report leads with the best sentence and its neighbours; a facet needs something besides.
    near = range(-2, 3)
    lead = {(best[0].document, best[0].unit.order + step) for step in near} if best else set()
    seen = Seen()
    dense = [item.unit.text for item in best if found.languages[item.document] in DENSE]
    recurring = repeated_groups(dense, brief.language)
    decay = 2 if is_question(brief.topic) else 5
    nearness = _nearness(best, found.shares)
    for place, item in enumerate(best):
        if found.shares[item.document] < least_share:
            continue
        is_lead = (item.document, item.unit.order) in lead
        value = max(0.0, item.score) * nearness[item.document] / (1 + place / decay)
        language = found.languages[item.document]
        names = set(_phrases_of(item.unit.text, language))
        if language in DENSE:
            names |= {group for group in recurring if group in item.unit.text}
        for phrase in sorted(names):
            mention = Mention(value, place, item.document, is_lead, begins(item.unit.text, phrase))
            seen.add(phrase, mention)
    return _rate(brief, seen, found)


def _nearness(scored: Sequence[Scored], shares: Sequence[float]) -> dict[int, float]:
    """How near each document is to the topic, as a whole and by its best sentence; 1 is nearest."""
    best: dict[int, float] = {}
    for item in scored:
        best[item.document] = max(best.get(item.document, 0.0), item.coverage)
    most = max(best.values(), default=0.0) or 1.0
    return {
        document: max(0.05, share / most) * shares[document] for document, share in best.items()
    }


def _rate(brief: Brief, seen: Seen, found: _Found) -> list[_Candidate]:
    rated: list[_Candidate] = []
    for key, mentions in seen.mentions.items():
        name = seen.spelling[key]
        tokens = frozenset(content_tokens(name, brief.language))
        if not tokens or _rewords(tokens, found.topic_tokens):
            continue
        values = [
            # What a document calls itself, it is about.
            one.value * (TITLE_WEIGHT if tokens <= found.heads[one.document] else 1.0)
            for one in mentions
        ]
        # Each further sentence adds half: common words recur most and name least.
        best = sorted(values, reverse=True)[:_COUNTED]
        weight = sum(value * 0.5**place for place, value in enumerate(best))
        language = found.languages[mentions[0].document]
        # German nouns all have capitals: they name nothing by that.
        is_name = language != "de" and seen.is_name(key)
        worth = weight * name_shape(name, language, is_name)
        is_plain = not is_name and is_plain_word(name, language)
        support = _support(tokens, key, seen, found)
        rated.append(_Candidate(name, tokens, worth, support, is_plain))
    rated.sort(key=lambda candidate: (-candidate.weight, candidate.name))
    return rated


def _support(
    tokens: frozenset[str], key: str, seen: Seen, found: _Found
) -> tuple[tuple[int, int], ...]:
    """Return the sentences beside the lead that speak of a phrase: that hold it, or its words."""
    lead = {one.place for one in seen.mentions[key] if one.is_lead}
    return tuple(
        (place, item.document)
        for place, item in enumerate(found.sentences)
        if place not in lead and tokens <= item.unit.terms
    )


@lru_cache(maxsize=2_048)
def _phrases_of(sentence: str, language: str) -> frozenset[str]:
    """The phrases of a sentence: it is looked at for near documents and for all."""
    return frozenset(find_phrases(sentence, language))


def _find_sentences(brief: Brief, hits: Sequence[Hit]) -> _Found:
    return _found_in(brief, tuple(hits))


@lru_cache(maxsize=1)  # a plan is first counted, then made
def _found_in(brief: Brief, hits: tuple[Hit, ...]) -> _Found:
    topic_tokens = frozenset(content_tokens(brief.topic, brief.language) or tokenize(brief.topic))
    documents: list[Sequence[Unit]] = []
    heads: list[frozenset[str]] = []
    for hit in hits:
        page = Page(hit.url, hit.url, "ok", title=hit.title, text=hit.snippet)
        documents.append(quotable_units(page, brief.language, topic_tokens))
        heads.append(heading_terms(page, brief.language))
    question = ask(brief.topic, brief.language, [u.terms for units in documents for u in units])
    terms = ([unit.terms for unit in units] for units in documents)
    is_known = speaks_of(question, brief.language, zip(heads, terms, strict=True))
    shares = _shares_of_topic(question, documents, heads) if is_known else [0.0] * len(hits)
    documents = [
        units if share >= MIN_SHARE else () for units, share in zip(documents, shares, strict=True)
    ]
    scored = score_documents(question, documents)
    relevant = keep_relevant(scored)
    kept = set(map(id, relevant))
    best = [*relevant, *(item for item in scored if id(item) not in kept)][:MAX_SENTENCES]
    languages = [_language(hit, brief.language) for hit in hits]
    return _Found(best, shares, topic_tokens, heads, languages)


def _language(hit: Hit, otherwise: str) -> str:
    """The language of a document, where there is enough of it to tell: names are cut by it."""
    return detect_language(hit.snippet) if len(hit.snippet) >= SURE_CHARS else otherwise


def _shares_of_topic(
    question: Question, documents: list[Sequence[Unit]], heads: list[frozenset[str]]
) -> list[float]:
    """What each document holds of the topic, beside the nearest one; 1 for that one."""
    subject = subject_of(question)
    held: list[float] = []
    for units, head in zip(documents, heads, strict=True):
        words = head.union(*(unit.terms for unit in units))
        named = bool(units) and names_subject(question, words)
        held.append(coverage(subject, words) if named else 0.0)
    most = max(held, default=0.0) or 1.0
    return [share / most for share in held]


def _rewords(tokens: frozenset[str], topic: frozenset[str]) -> bool:
    """True when half or more of the phrase is the topic's own words."""
    return len(tokens & topic) * 2 >= len(tokens)


def _differ(one: _Candidate, other: _Candidate) -> bool:
    shared = len(one.tokens & other.tokens)
    return shared * 3 <= min(len(one.tokens), len(other.tokens))


def _queries(name: str, brief: Brief) -> tuple[str, ...]:
    """The phrase alone, and the phrase beside the topic's content words."""
    words = content_words(brief.topic, brief.language)[:MAX_QUERY_WORDS]
    topic = " ".join(words) or " ".join(brief.topic.split())[:200]
    return (name, f"{name} {topic}")
