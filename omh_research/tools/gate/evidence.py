"""Rules about sentences: quotations, figures, dates, names, units, negation against held text.

Job: compare each cited sentence with the text of its sources, as held (spec E28, E28b, E30, T12,
T13b). What cannot be compared (a source only declared) is counted, never guessed. Refuses to judge
meaning: a sentence that passes here may still be wrong, a quotation that fails is not there.
Importers: tools.gate.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from omh_research.documents.report import UNVERIFIED
from omh_research.lazy_re import lazy_re
from omh_research.tools.gate.contract import Checked, Failure, GateInput
from omh_research.tools.gate.facts import Facts, SourceText, find_facts
from omh_research.tools.gate.reading import Part, ReadReport, Statement
from omh_research.tools.gate.sources import Sources
from omh_research.tools.name_index import names_inside
from omh_research.tools.quotes import NOT_FOUND, VERIFIED, PreparedText, match
from omh_research.tools.tokens import detect_language

# Sections whose unproven claims may stay with a label (E30).
_LABELLED = ("summary", "takeaways")
# Where a sentence without citation states nothing that must be proven.
_FREE_WITHOUT_CITATION = ("questions", "title")
_INFERENCE = lazy_re(
    r"[\s*_-]*(?:(?:(?:our )?inference|schlussfolgerung|inférence|inferencia)\b|推断|推論)",
    re.IGNORECASE,
)
_SAYS_ONE_SOURCE = lazy_re(
    r"\(unverified\)|uncertain|unclear|not known|unknown|(?:one|single) source|only source"
    r"|不确定|不明|单一来源|仅有一个来源|unsicher|unklar|eine Quelle|incertain|incierto|不確か",
    re.IGNORECASE,
)


class EvidenceCheck:
    """Compares the statements of one report; `failures` and `checked` after `run`."""

    def __init__(self, given: GateInput, read: ReadReport, sources: Sources) -> None:
        self.given = given
        self.read = read
        self.failures: list[Failure] = []
        self._numbers = {"sentences": 0, "sentences_unknown": 0, "quotes": 0, "quotes_unknown": 0}
        self._rows = 0
        self._texts: dict[int, SourceText | None] = {}
        self._sources = sources
        self._entries = {entry.n: entry for entry in reversed(read.entries)}
        self._known = names_inside(text.text for text in given.held)
        self._language = detect_language(read.body)
        self._told = _plain_figures(given, read)

    def run(self) -> Checked:
        """Check every statement and return what was compared."""
        for statement in self.read.statements:
            for part in statement.parts:
                if not part.numbers and statement.kind in _FREE_WITHOUT_CITATION:
                    continue
                self._check_quotations(statement, part)
                self._check_facts(statement, part)
            if self.given.needs_two_sources and statement.kind == "takeaways":
                self._check_two_sources(statement)
        rows = sum(len(text.verified_rows) for text in self._texts.values() if text is not None)
        return Checked(**self._numbers, evidence_rows=rows)

    def source(self, n: int) -> SourceText | None:
        """Return the held text behind number `n`, or None when none is held."""
        if n not in self._texts:
            entry = self._entries.get(n)
            texts = self._sources.texts_of(entry.url) if entry else []
            rows = [
                row.quote
                for _, finding in self.given.findings
                for source in finding.sources
                if entry and self._sources.key_of(source.url) == self._sources.key_of(entry.url)
                for row in finding.evidence
                if row.n == source.n and row.quote
            ]
            titles = self._sources.titles_of(entry.url) if entry else []
            self._texts[n] = SourceText(texts, titles, rows) if texts else None
        return self._texts[n]

    def _held(self, numbers: Iterable[int]) -> tuple[list[SourceText], bool]:
        """Return the held texts behind `numbers` and whether they are all of them."""
        found = [self.source(n) for n in numbers]
        return [text for text in found if text], all(text is not None for text in found)

    def _check_quotations(self, statement: Statement, part: Part) -> None:
        if not part.quotations:
            return
        held, is_complete = self._held(part.numbers)
        if not part.numbers:
            self._check_uncited_quotation(statement, part)
            return
        missing: tuple[str, ...] = ()
        for alternative in part.quotations:
            missing = tuple(q for q in alternative if not _is_quoted(q, held))
            if not missing:
                self._numbers["quotes"] += len(alternative)
                return
        if not is_complete:
            self._numbers["quotes_unknown"] += len(missing)
            return
        self._numbers["quotes"] += len(missing)
        cited = _cited(part.numbers)
        for quotation in missing:
            message = (
                f'the quotation "{_short(quotation)}" does not stand in {cited}; quote verbatim, '
                "or write it without quotation marks and prove it."
            )
            self._fail("quote_not_in_source", statement, message)

    def _check_uncited_quotation(self, statement: Statement, part: Part) -> None:
        """A quotation without citation must stand somewhere in what the run holds or was asked."""
        held, is_complete = self._held(self._entries)
        if not held or not is_complete:
            return
        asked = [self.given.topic, *self.given.subtopics]
        for _, finding in self.given.findings:
            asked += [run.query for run in finding.queries_run]
            asked += finding.gaps
        asked += [source.title for _, finding in self.given.findings for source in finding.sources]
        spoken = PreparedText("\n".join(asked))
        for alternative in part.quotations:
            missing = [
                q for q in alternative if not _is_quoted(q, held) and match(q, spoken) == NOT_FOUND
            ]
            if not missing:
                return
        message = f'the quotation "{_short(missing[0])}" has no source and stands in none of them.'
        self._fail("quote_not_in_source", statement, message)

    def _check_facts(self, statement: Statement, part: Part) -> None:
        held, is_complete = self._held(part.numbers) if part.numbers else self._held(self._entries)
        text = self._own_words(part, held)
        facts = self._facts(part, text)
        if not part.numbers:
            if is_complete and held and not _INFERENCE.match(part.text):
                self._check_uncited(statement, facts, held)
            return
        if not is_complete:
            cross = self._is_cross(part, held)
            is_proven = bool(held) and _missing(facts, held, cross=cross).is_empty
            self._numbers["sentences" if is_proven else "sentences_unknown"] += 1
            return
        self._numbers["sentences"] += 1
        self._compare(statement, part, facts, held)

    def _compare(
        self, statement: Statement, part: Part, facts: Facts, held: list[SourceText]
    ) -> None:
        """Compare one cited piece whose sources are all held."""
        cited = _cited(part.numbers)
        cross = self._is_cross(part, held)
        if self._has_label(statement):
            return
        missing = _missing(facts, held, cross=cross)
        for rule, items in missing.by_rule():
            named = ", ".join(items)
            what = {"figure": "number or unit", "date": "date", "name": "name"}[rule]
            message = f"{named}: this {what} does not stand in {cited}.{self._advice(statement)}"
            self._fail(f"{rule}_not_in_source", statement, message)
        if not cross and missing.is_empty:
            self._compare_context(statement, part, facts, held)
        if self.given.require_quotes and missing.is_empty and not facts.is_empty:
            uncovered = _missing(facts, [s.quoted for s in held], cross=cross)
            if not uncovered.is_empty:
                named = ", ".join(item for _, items in uncovered.by_rule() for item in items)
                message = (
                    f"no verified quote of {cited} in the findings covers {named}."
                    f"{self._advice(statement)}"
                )
                self._fail("no_verified_quote", statement, message)

    def _compare_context(
        self, statement: Statement, part: Part, facts: Facts, held: list[SourceText]
    ) -> None:
        """Compare with the sentences of the sources that say the same."""
        text = self._own_words(part, held)
        cited, advice = _cited(part.numbers), self._advice(statement)
        contexts = [source.context for source in held]
        far = [
            figure.text
            for figure in facts.figures
            if not any(
                source.figures.supports(figure) and source.context.holds_near(figure, text)
                for source in held
            )
        ]
        words = [context.lacks_number_word(text) for context in contexts]
        far += words[:1] if all(words) else []
        if far:
            message = f"{', '.join(far)}: {cited} has another number in this context.{advice}"
            self._fail("figure_out_of_context", statement, message)
        reversed_ = [context.reverses(text) for context in contexts]
        if any(reversed_) and not any(context.repeats(text) for context in contexts):
            message = f"the sentence says the opposite of {cited}.{advice}"
            self._fail("negation_differs", statement, message)

    def _check_uncited(self, statement: Statement, facts: Facts, held: list[SourceText]) -> None:
        if self._has_label(statement):
            return
        figures = tuple(f for f in facts.figures if not self._told.intersection(f.values))
        missing = _missing(Facts(figures, facts.dates, ()), held, cross=False)
        for rule, items in missing.by_rule():
            message = (
                f"{', '.join(items)}: the sentence cites nothing and no source holds this."
                f"{self._advice(statement)}"
            )
            self._fail(f"uncited_{rule}", statement, message)

    def _check_two_sources(self, statement: Statement) -> None:
        works = {
            self._sources.key_of(e.url) for n in statement.numbers if (e := self._entries.get(n))
        }
        if len(works) < 2 and not _SAYS_ONE_SOURCE.search(statement.text):
            message = "the conclusion stands on fewer than two sources; add one or say so."
            self._fail("one_source_conclusion", statement, message)

    def _own_words(self, part: Part, held: list[SourceText]) -> str:
        """Return the text of a piece without its verified quotations."""
        text = part.text
        for alternative in part.quotations:
            for quotation in alternative:
                if len(quotation) > 3 and _is_verified(quotation, held):
                    text = text.replace(quotation, " ")
        return text

    def _facts(self, part: Part, text: str) -> Facts:
        """Return the facts of a piece's own words."""
        facts = find_facts(text, self._language, self._known)
        counted = str(len(part.numbers))
        return Facts(
            tuple(f for f in facts.figures if counted not in f.values or len(part.numbers) < 2),
            facts.dates,
            facts.names,
        )

    def _is_cross(self, part: Part, held: list[SourceText]) -> bool:
        """Return whether sentence and sources are in different languages (T13b)."""
        return bool(held) and all(text.language != self._language for text in held)

    def _has_label(self, statement: Statement) -> bool:
        return statement.kind in _LABELLED and UNVERIFIED in statement.text.casefold()

    def _advice(self, statement: Statement) -> str:
        if statement.kind not in _LABELLED:
            return ""
        if _short(statement.text) in self.given.previous_feedback:
            return f" It returned unproven: write {UNVERIFIED} beside it, or take it out."
        return " Prove it, correct it, or take it out."

    def _fail(self, rule: str, statement: Statement, message: str) -> None:
        heading = statement.heading or "text"
        self.failures.append(Failure(rule, f"{heading}: {_short(statement.text)}", message))


def _missing(facts: Facts, held: list[SourceText], *, cross: bool) -> Facts:
    """Return the facts that none of the texts holds.

    Across languages only names that are spelled the same everywhere count: acronyms and names
    with digits or inner capitals.
    """
    names = [name for name in facts.names if not cross or _is_universal(name.text)]
    return Facts(
        tuple(f for f in facts.figures if not any(text.figures.supports(f) for text in held)),
        tuple(d for d in facts.dates if not any(text.dates.supports(d) for text in held)),
        tuple(n for n in names if not any(text.names.supports(n) for text in held)),
    )


def _is_universal(name: str) -> bool:
    words = name.split()
    return all(any(char.isdigit() for char in w) or sum(c.isupper() for c in w) > 1 for w in words)


def _is_quoted(quotation: str, held: list[SourceText]) -> bool:
    """Return whether a quotation stands in one of the texts; too short a one always does."""
    return any(text.match(quotation) != NOT_FOUND for text in held) or (
        not held and match(quotation, "") != NOT_FOUND
    )


def _is_verified(quotation: str, held: list[SourceText]) -> bool:
    return any(text.match(quotation) == VERIFIED for text in held)


def _plain_figures(given: GateInput, read: ReadReport) -> frozenset[str]:
    """Return numbers that need no source: those of the question and the report's own counts."""
    facts = find_facts(" ".join([given.topic, *given.subtopics]), "en", frozenset())
    counts = {str(len(read.entries)), str(len(given.subtopics)), "1", "2"}
    return frozenset(value for figure in facts.figures for value in figure.values) | counts


def _cited(numbers: tuple[int, ...]) -> str:
    return "the text of " + "".join(f"[{n}]" for n in numbers)


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= 160 else plain[:159] + "…"
