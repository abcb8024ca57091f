"""What a run knows as a whole: question, plan, findings and every held text.

Job: say which facts, quotations and words of a report stand nowhere in the run, so that what cites
nothing (headings, open questions, inferences) is not invented; and what the findings say of one
source whose text is not held (spec E28, E30, P9). Refuses to prove anything: to stand here is no
evidence. Importers: tools.gate.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from omh_research.documents.finding import ParsedFinding
from omh_research.documents.source import HeldText
from omh_research.lazy_re import lazy_re
from omh_research.tools.claims import states_claim
from omh_research.tools.gate.contract import GateInput
from omh_research.tools.gate.facts import Facts, SourceText, find_facts, missing_facts
from omh_research.tools.gate.reading import ReadReport
from omh_research.tools.gate.sources import Sources
from omh_research.tools.quotes import NOT_FOUND
from omh_research.tools.tokens import content_tokens, detect_language

_ABSOLUTE = lazy_re(
    r"\b(?:all|every|everyone|everybody|always|never|nobody|none|only|must|should|proves?|proven)\b"
    r"|所有|一切|总是|从不|必须|证明|应该",
)
# What a report says of itself.
_OWN_WORDS = (
    "sources findings report evidence questions literature subtopic surveys reviews studies"
)
# A claim without citation is invented when so many of its words stand nowhere in the run.
# Scripts without spaces are read in pairs of characters, of which more are new by chance.
_MIN_UNKNOWN, _UNKNOWN_SHARE, _UNSPACED_SHARE = 2, 0.34, 0.6


class Background:
    """The run as one source. Indexes are made on first use."""

    def __init__(self, given: GateInput, read: ReadReport, sources: Sources, language: str) -> None:
        self._given = given
        self._sources = sources
        self._language = language
        told = find_facts(" ".join([given.topic, *given.subtopics]), "en", frozenset())
        counts = {str(len(read.entries)), str(len(given.subtopics)), "0", "1", "2"}
        # Numbers of the question and the report's own counts need no source.
        self._free = frozenset(v for figure in told.figures for v in figure.values) | counts

    def lacks(self, facts: Facts, *, cross: bool) -> Facts:
        """Return the facts that stand nowhere in the run.

        With `cross`, or where a held text is in another language than the report, only names that
        are spelled the same everywhere count (T13b).
        """
        figures = tuple(f for f in facts.figures if not self._free.intersection(f.values))
        wanted = Facts(figures, facts.dates, facts.names)
        if wanted.is_empty:
            return wanted
        return missing_facts(wanted, self._everything, cross=cross or self._is_mixed)

    def holds_quotation(self, quotation: str) -> bool:
        """Return whether a quotation stands anywhere in the run; too short a one always does."""
        return any(source.match(quotation) != NOT_FOUND for source in self._everything)

    def lacks_claim(self, text: str) -> bool:
        """Return whether an uncited sentence claims what the run has no words for (P9).

        A claim states a number, a comparison, a cause or an absolute. Meaning is not judged: one
        whose words all stand somewhere is left to the verifier.
        """
        if self._is_mixed or not (states_claim(text) or _ABSOLUTE.search(text.casefold())):
            return False
        tokens = {t for t in content_tokens(text, self._language) if not t[0].isdigit()}
        unknown = tokens - self._words - frozenset(content_tokens(_OWN_WORDS, "en"))
        is_unspaced = self._language in ("zh", "ja", "ko", "th")
        share = _UNSPACED_SHARE if is_unspaced else _UNKNOWN_SHARE
        return len(unknown) >= _MIN_UNKNOWN and len(unknown) >= share * len(tokens)

    def said_of(self, url: str) -> SourceText | None:
        """Return what the findings say that list the source at `url`; None when none does."""
        key = self._sources.key_of(url)
        found = [
            finding
            for _, finding in self._given.findings
            if any(self._sources.key_of(source.url) == key for source in finding.sources)
        ]
        if not found:
            return None
        text = "\n\n".join(line for finding in found for line in _lines(finding))
        titles = [s.title for finding in found for s in finding.sources]
        dates = [s.date for finding in found for s in finding.sources]
        return _as_source("\n".join([text, *titles, *dates]))

    @cached_property
    def _is_mixed(self) -> bool:
        held = self._given.held
        return any(detect_language(t.text[:20_000]) != self._language for t in held)

    @cached_property
    def _everything(self) -> list[SourceText]:
        given = self._given
        lines = [given.topic, *given.subtopics]
        for _, finding in given.findings:
            lines += _lines(finding)
            for source in finding.sources:
                lines += [source.date, source.url]
                # A title that somebody hands in is not the text (T23).
                if not given.declared_allowed or not self._sources.texts_of(source.url):
                    lines.append(source.title)
        return [_as_source("\n\n".join(lines)), *(SourceText([t], [], ()) for t in given.held)]

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(
            token
            for source in self._everything
            for text in source.texts
            for token in content_tokens(text, self._language)
        )


def _as_source(text: str) -> SourceText:
    return SourceText([HeldText(url="", sha256="", text=text)], [], ())


def _lines(finding: ParsedFinding) -> Iterator[str]:
    """Yield what a finding says, without the titles of its sources."""
    yield finding.subtopic
    for run in finding.queries_run:
        yield f"{run.query} {run.note}"
    for row in finding.evidence:
        yield row.claim
        yield row.quote
    yield finding.synthesis
    yield from finding.gaps
    yield from (point.point for point in finding.key_points)
