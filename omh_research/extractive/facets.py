"""A plan without a model: the facets of a topic that the documents themselves name.

Job: 3 to 5 distinct content phrases of the passages found for the topic, none of them the topic
reworded, each with its queries (D1b, E15). Refuses to read documents: hits are enough for a plan.
Importers: extractive, delegates.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct

from omh_research.documents.source import Hit, Page
from omh_research.documents.task import Brief
from omh_research.extractive.labels import fallback_facets
from omh_research.extractive.phrases import find_phrases, repeated_groups
from omh_research.extractive.questions import is_question
from omh_research.extractive.scoring import Scored, ask, score_documents
from omh_research.extractive.units import Unit, quotable_units
from omh_research.tools.tokens import content_tokens, content_words, tokenize

MAX_SENTENCES = 40
MAX_QUERY_WORDS = 12
_DENSE = ("zh", "ja")
_CASED = ("en", "es", "fr", "it", "pt", "nl", "sv", "ru", "uk", "pl", "tr")
_VERBLIKE = re.compile(r"(?:ed|ly|ing) ")


class Facet(Struct, frozen=True):
    """A subtopic: its name is a slice of a passage; two queries."""

    name: str
    queries: tuple[str, ...]


class _Candidate(Struct, frozen=True):
    name: str
    tokens: frozenset[str]
    weight: float


def plan_facets(brief: Brief, hits: Sequence[Hit]) -> tuple[Facet, ...]:
    """Return the facets of the topic, best first; generic ones fill up where hits are too few.

    A factual question gets the fewest facets allowed, so that each stays near the answer.
    """
    fewest, most = brief.wanted_subtopics
    wanted = fewest if is_question(brief.topic) else most
    topic_tokens = frozenset(content_tokens(brief.topic, brief.language) or tokenize(brief.topic))
    chosen: list[_Candidate] = []
    for candidate in _candidates(brief, hits, topic_tokens):
        if len(chosen) == wanted:
            break
        if all(_differ(candidate, other) for other in chosen):
            chosen.append(candidate)
    names = [candidate.name for candidate in chosen]
    for name in fallback_facets(brief.language):
        if len(names) >= fewest:
            break
        names.append(name)
    return tuple(Facet(name, _queries(name, brief)) for name in names)


def render_plan(facets: Sequence[Facet]) -> str:
    """Return the planner's answer: a YAML list of `name` and `queries` (D5b)."""
    lines: list[str] = []
    for facet in facets:
        # A JSON string is a YAML string: no character of a phrase can break the list.
        lines.append(f"- name: {json.dumps(facet.name, ensure_ascii=False)}")
        lines.append(f"  queries: {json.dumps(list(facet.queries), ensure_ascii=False)}")
    return "\n".join(lines) + "\n"


def _candidates(
    brief: Brief, hits: Sequence[Hit], topic_tokens: frozenset[str]
) -> list[_Candidate]:
    best = _best_sentences(brief, hits, topic_tokens)
    weights: dict[str, float] = defaultdict(float)
    documents: dict[str, set[int]] = defaultdict(set)
    surface: dict[str, str] = {}
    recurring = repeated_groups([item.unit.text for item in best], brief.language)
    decay = 2 if is_question(brief.topic) else 5
    for place, item in enumerate(best):
        value = max(0.0, item.score) / (1 + place / decay)
        found = set(find_phrases(item.unit.text, brief.language))
        if brief.language in _DENSE:
            found |= {group for group in recurring if group in item.unit.text}
        for phrase in found:
            key = " ".join(tokenize(phrase))
            surface.setdefault(key, phrase)
            weights[key] += value
            documents[key].add(item.document)
    rated: list[_Candidate] = []
    for key, weight in weights.items():
        name = surface[key]
        tokens = frozenset(content_tokens(name, brief.language))
        if not tokens or _rewords(tokens, topic_tokens):
            continue
        spread = 1 + 0.25 * (len(documents[key]) - 1)
        rated.append(_Candidate(name, tokens, weight * spread * _shape(name, brief.language)))
    rated.sort(key=lambda candidate: (-candidate.weight, candidate.name))
    return rated


def _best_sentences(
    brief: Brief, hits: Sequence[Hit], topic_tokens: frozenset[str]
) -> list[Scored]:
    documents: list[Sequence[Unit]] = []
    for hit in hits:
        page = Page(hit.url, hit.url, "ok", text=hit.snippet)
        documents.append(quotable_units(page, brief.language, topic_tokens))
    question = ask(brief.topic, brief.language, [u.terms for units in documents for u in units])
    return score_documents(question, documents)[:MAX_SENTENCES]


def _rewords(tokens: frozenset[str], topic: frozenset[str]) -> bool:
    """True when half or more of the phrase is the topic's own words."""
    return len(tokens & topic) * 2 >= len(tokens)


def _differ(one: _Candidate, other: _Candidate) -> bool:
    shared = len(one.tokens & other.tokens)
    return shared * 3 <= min(len(one.tokens), len(other.tokens))


def _shape(name: str, language: str) -> float:
    """How good a name the phrase makes: two words say more than one, three are often too many."""
    if language in _DENSE:
        return {2: 0.7, 3: 1.0, 4: 1.3, 5: 1.1, 6: 1.0}.get(len(name), 0.5)
    parts = name.split()
    score = {1: 0.7, 2: 1.3, 3: 1.15}.get(len(parts), 0.5)
    capitals = [part[:1].isupper() for part in parts]
    if language == "de":  # nouns have capitals: a name ends in one
        return score if capitals[-1] else 0.2 * score
    if language == "en" and _VERBLIKE.search(f"{parts[0]} {parts[-1]} ".lower()):
        score *= 0.5
    if all(capitals):
        return score * 1.25
    return score * (0.7 if len(parts) == 1 and language in _CASED else 1.0)


def _queries(name: str, brief: Brief) -> tuple[str, ...]:
    """The phrase alone, and the phrase beside the topic's content words."""
    words = content_words(brief.topic, brief.language)[:MAX_QUERY_WORDS]
    topic = " ".join(words) or " ".join(brief.topic.split())[:200]
    return (name, f"{name} {topic}")
