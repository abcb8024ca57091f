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
from omh_research.tools.gate.background import Background
from omh_research.tools.gate.contract import Checked, Failure, GateInput
from omh_research.tools.gate.facts import Facts, SourceText, find_facts, missing_facts
from omh_research.tools.gate.reading import Part, Readings, ReadReport, Statement
from omh_research.tools.gate.sources import Sources
from omh_research.tools.name_index import names_inside
from omh_research.tools.quotes import NOT_FOUND, VERIFIED, match
from omh_research.tools.tokens import detect_language

# Sections whose unproven claims may stay with a label (E30).
_LABELLED = ("summary", "takeaways")
_INFERENCE = lazy_re(
    r"[\s*_-]*(?:(?:(?:our )?inference|schlussfolgerung|inférence|inferencia)\b|推断|推論)",
    re.IGNORECASE,
)
# The line under a title that says when the report was written.
_SAYS_WHEN = lazy_re(
    r"\W*(?:written|as of|date|prepared|generated|updated|created|compiled|stand|erstellt|datum"
    r"|fecha|rédigé|截至|日期|生成|撰写|更新)(?:\W|\b)",
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
        self._background = Background(given, read, sources, self._language)

    def run(self) -> Checked:
        """Check every statement and return what was compared."""
        for statement in (*self.read.headings, *self.read.statements):
            for part in statement.parts:
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
            said = self._sources.titles_of(entry.url) if entry else []
            own = [] if self.given.declared_allowed else [text.title for text in texts]
            self._texts[n] = SourceText(texts, own, rows, said) if texts else None
        return self._texts[n]

    def _held(self, numbers: Iterable[int]) -> tuple[list[SourceText], bool]:
        """Return the held texts behind `numbers` and whether they are all of them."""
        found = [self.source(n) for n in numbers]
        return [text for text in found if text], all(text is not None for text in found)

    def _check_quotations(self, statement: Statement, part: Part) -> None:
        for readings in part.quotations:
            self._check_readings(statement, part, readings)

    def _check_readings(self, statement: Statement, part: Part, readings: Readings) -> None:
        """Check what stands between quotation marks: one of its readings must hold."""
        if not part.numbers:
            self._check_uncited_quotation(statement, readings)
            return
        held, is_complete = self._held(part.numbers)
        missing: tuple[str, ...] = ()
        for alternative in readings:
            missing = tuple(q for q in alternative if not _is_quoted(q, held))
            if not missing:
                self._numbers["quotes"] += len(alternative)
                return
        if not is_complete:
            known = [*held, *self._said_of(part.numbers)]
            # Where no text at all is held, nothing can be found wrong: declared is counted (E30).
            if not self.given.held or any(
                all(_is_quoted(q, known) for q in alternative) for alternative in readings
            ):
                self._numbers["quotes_unknown"] += len(missing)
                return
        self._numbers["quotes"] += len(missing)
        where = _cited(part.numbers) if is_complete else f"what is known of {_marks(part.numbers)}"
        for quotation in missing:
            message = (
                f'the quotation "{_short(quotation)}" does not stand in {where}; quote verbatim, '
                "or write it without quotation marks and prove it."
            )
            self._fail("quote_not_in_source", statement, message)

    def _check_uncited_quotation(self, statement: Statement, readings: Readings) -> None:
        """A quotation without citation must stand somewhere in what the run holds or was asked."""
        if not self.given.held:
            return
        for alternative in readings:
            missing = [q for q in alternative if not self._background.holds_quotation(q)]
            if not missing:
                return
        message = f'the quotation "{_short(missing[0])}" has no source and stands in none of them.'
        self._fail("quote_not_in_source", statement, message)

    def _said_of(self, numbers: Iterable[int]) -> list[SourceText]:
        """Return what the findings say of the cited sources whose text is not held."""
        entries = [self._entries[n] for n in numbers if n in self._entries]
        found = [self._background.said_of(e.url) for e in entries if self.source(e.n) is None]
        return [text for text in found if text]

    def _check_facts(self, statement: Statement, part: Part) -> None:
        held, is_complete = self._held(part.numbers) if part.numbers else self._held(self._entries)
        facts = self._facts(part, self._own_words(part, held))
        if not part.numbers:
            self._check_uncited(statement, part, facts)
            return
        if not is_complete:
            self._check_declared(statement, part, facts, held)
            return
        self._numbers["sentences"] += 1
        self._compare(statement, part, facts, held)

    def _check_declared(
        self, statement: Statement, part: Part, facts: Facts, held: list[SourceText]
    ) -> None:
        """A sentence with a source that is only declared is counted, not failed (E30).

        But such a source beside a held one does not excuse a number or date that stands neither in
        the held text nor in anything that the findings say of the declared one.
        """
        cross = self._is_cross(part, held)
        missing = missing_facts(facts, held, cross=cross)
        is_proven = bool(held) and missing.is_empty
        self._numbers["sentences" if is_proven else "sentences_unknown"] += 1
        said = self._said_of(part.numbers) if held else []
        if is_proven or not said or self._has_label(statement):
            return
        for rule, items in missing_facts(
            Facts(missing.figures, missing.dates), said, cross=cross
        ).by_rule():
            message = (
                f"{', '.join(items)}: neither a held text nor a finding has this of "
                f"{_marks(part.numbers)}.{self._advice(statement)}"
            )
            self._fail(f"{rule}_not_in_source", statement, message)

    def _compare(
        self, statement: Statement, part: Part, facts: Facts, held: list[SourceText]
    ) -> None:
        """Compare one cited piece whose sources are all held."""
        cited = _cited(part.numbers)
        cross = self._is_cross(part, held)
        if self._has_label(statement):
            return
        missing = missing_facts(facts, held, cross=cross)
        for rule, items in missing.by_rule():
            named = ", ".join(items)
            what = {"figure": "number or unit", "date": "date", "name": "name"}[rule]
            message = f"{named}: this {what} does not stand in {cited}.{self._advice(statement)}"
            self._fail(f"{rule}_not_in_source", statement, message)
        if not cross and missing.is_empty:
            self._compare_context(statement, part, facts, held)
        if self.given.require_quotes and missing.is_empty and not facts.is_empty:
            uncovered = missing_facts(facts, [s.quoted for s in held], cross=cross)
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
        turned = [context.turns_bound(text) for context in contexts] if facts.figures else []
        if turned and all(turned):
            message = f"{turned[0]}: {cited} does not bound the number like that.{advice}"
            self._fail("figure_out_of_context", statement, message)
        opposed = [context.opposes(text) for context in contexts]
        if opposed and all(opposed):
            message = f"{cited} says the opposite: {opposed[0]}.{advice}"
            self._fail("negation_differs", statement, message)
        reversed_ = [context.reverses(text) for context in contexts]
        if any(reversed_) and not any(context.repeats(text) for context in contexts):
            message = f"the sentence says the opposite of {cited}.{advice}"
            self._fail("negation_differs", statement, message)

    def _check_uncited(self, statement: Statement, part: Part, facts: Facts) -> None:
        """What cites nothing may still only name what the run knows (E28, P9)."""
        if self._has_label(statement):
            return
        if not self.given.held:  # all sources are declared: counted, never a failure (E30)
            return
        if statement.kind == "title" and _SAYS_WHEN.match(part.text):
            facts = Facts(facts.figures, (), facts.names)
        is_foreign = detect_language(part.text) != self._language
        for rule, items in self._background.lacks(facts, cross=is_foreign).by_rule():
            message = (
                f"{', '.join(items)}: the sentence cites nothing and no source holds this."
                f"{self._advice(statement)}"
            )
            self._fail(f"uncited_{rule}", statement, message)
        if statement.kind not in _LABELLED or _INFERENCE.match(part.text):
            return
        if self._background.lacks_claim(part.text):
            message = (
                "the sentence claims something without citing a source, and its words stand in "
                f"none.{self._advice(statement)}"
            )
            self._fail("uncited_claim", statement, message)

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
        for alternative in (a for readings in part.quotations for a in readings):
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


def _is_quoted(quotation: str, held: list[SourceText]) -> bool:
    """Return whether a quotation stands in one of the texts; too short a one always does."""
    return any(text.match(quotation) != NOT_FOUND for text in held) or (
        not held and match(quotation, "") != NOT_FOUND
    )


def _is_verified(quotation: str, held: list[SourceText]) -> bool:
    return any(text.match(quotation) == VERIFIED for text in held)


def _cited(numbers: tuple[int, ...]) -> str:
    return f"the text of {_marks(numbers)}"


def _marks(numbers: tuple[int, ...]) -> str:
    return "".join(f"[{n}]" for n in numbers)


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= 160 else plain[:159] + "…"
