"""How a faulty report is made out of a clean one: what the kinds of fault share."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from omh_research.tools.gate import GateInput
from omh_research.tools.gate.reading import read_report
from omh_research.tools.identifiers import work_key

Mutation = Iterator[GateInput]

FACTS = ("figure_not_in_source", "figure_out_of_context", "date_not_in_source", "name_not_in_source", "quote_not_in_source", "no_verified_quote")  # fmt: skip


ADDRESS = ("source_not_in_findings", "doi_not_in_source", "title_of_another_source")


def replaced(case: GateInput, old: str, new: str, count: int = 1) -> GateInput:
    """Return the case with `old` replaced in its report."""
    return msgspec.structs.replace(case, report=case.report.replace(old, new, count))


def body_and_sources(case: GateInput) -> tuple[str, str]:
    body, _, sources = case.report.partition("## Sources")
    return body, "## Sources" + sources


def with_body(case: GateInput, body: str) -> GateInput:
    return msgspec.structs.replace(case, report=body + body_and_sources(case)[1])


def cited_lines(case: GateInput) -> list[str]:
    """Return the sentences that cite something, as written."""
    read = read_report(case.report)
    return [s.text for s in read.statements if s.numbers and s.text in case.report]


def source_text(case: GateInput, sentence: str) -> str:
    """Return all that is held for the numbers a sentence cites."""
    numbers = {int(n) for n in re.findall(r"\[(\d+)\]", sentence)}
    entries = {e.n: e.url for e in read_report(case.report).entries}
    keys = {work_key(entries[n]) for n in numbers if n in entries}
    return "\n".join(
        f"{t.title}\n{t.date}\n{t.text}"
        for t in case.held
        if work_key(t.url) in keys or work_key(t.url, t.doi) in keys
    )


def entry_urls(case: GateInput) -> list[str]:
    return [entry.url for entry in read_report(case.report).entries if entry.url.startswith("http")]
