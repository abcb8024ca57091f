"""The deterministic gate: what a report must stand before any verifier is asked (spec E28).

Job: `check` a report against findings and held texts, purely: the same input gives the same
answer, no model, no network, no files. It can only fail a report, never confirm one. Refuses to
repair anything. Importers: phases, cli.
"""

from __future__ import annotations

from omh_research.tools.gate.contract import (
    DECLARED,
    FETCHED,
    LEAD,
    Checked,
    Failure,
    GateInput,
    GateResult,
    ListedSource,
)
from omh_research.tools.gate.entries import check_entries
from omh_research.tools.gate.evidence import EvidenceCheck
from omh_research.tools.gate.markup import check_markup
from omh_research.tools.gate.reading import read_report
from omh_research.tools.gate.sources import (
    Sources,
    check_sources,
    has_usable_source,
    list_sources,
)
from omh_research.tools.gate.structure import (
    check_structure,
    find_hidden_characters,
    insufficient_subtopics,
    leaves_all_unanswered,
)

__all__ = [
    "DECLARED",
    "FETCHED",
    "LEAD",
    "Checked",
    "Failure",
    "GateInput",
    "GateResult",
    "ListedSource",
    "check",
    "render_feedback",
]

MAX_FEEDBACK_ITEMS = 40


def check(given: GateInput) -> GateResult:
    """Return what holds and what does not; see `contract` for the meaning of every field.

    Linear in the size of report and held texts. Never raises for any content.
    """
    read = read_report(given.report)
    sources = Sources(given)
    listed = list_sources(read, sources)
    evidence = EvidenceCheck(given, read, sources)
    checked = evidence.run()
    failures = [
        *check_structure(given, read),
        *check_markup(given, read.body),
        *check_sources(given, read, sources, listed),
        *check_entries(read.entries, sources),
        *evidence.failures,
    ]
    return GateResult(
        failures=tuple(dict.fromkeys(failures)),
        notes=find_hidden_characters(given.report),
        insufficient_subtopics=insufficient_subtopics(given, read),
        has_usable_source=has_usable_source(given, sources)
        and not leaves_all_unanswered(given, read),
        cited=tuple(sorted(read.cited)),
        sources=listed,
        checked=checked,
    )


def render_feedback(result: GateResult) -> str:
    """Return the failures as numbered text for the next attempt's goal (E25, E28).

    Says so when the report passes; at most 40 points, the rest counted.
    """
    if not result.failures:
        return "The deterministic check found nothing to mend.\n"
    lines = ["The deterministic check failed the report:", ""]
    for number, failure in enumerate(result.failures[:MAX_FEEDBACK_ITEMS], start=1):
        where = f"{failure.where}: " if failure.where else ""
        lines.append(f"{number}. [{failure.rule}] {where}{failure.message}")
    left = len(result.failures) - MAX_FEEDBACK_ITEMS
    if left > 0:
        lines.append(f"... and {left} more of the same kinds.")
    return "\n".join(lines) + "\n"
