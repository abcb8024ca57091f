"""The run's two ledgers, read from their text (spec T16, T19).

Job: turn the lines of `fetch_ledger.jsonl` and `evidence_ledger.jsonl` into rows, tolerating a
torn last line (a crash while it was written), naming the number of any other bad line. Refuses to
open files and to write. Importers: tools, phases, audit, cli.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from omh_research.documents.source import Fetch
from omh_research.errors import ToolInputError
from omh_research.tools.urls import canonical

FETCH_LEDGER = "fetch_ledger.jsonl"
EVIDENCE_LEDGER = "evidence_ledger.jsonl"
MAX_QUOTE_CHARS = 1_600
_MAX_LINE_CHARS = 1_000_000


class EvidenceRow(Struct, frozen=True):
    """One row of `evidence_ledger.jsonl`, the fields of T19; "" where a row does not say.

    `quote` holds at most 1,600 characters. `confidence` is a label of T22.
    """

    schema_version: int = 1
    source_id: str = ""
    canonical_url: str = ""
    title: str = ""
    publisher: str = ""
    published_at: str = ""
    accessed_at: str = ""
    source_type: str = ""
    subquestion: str = ""
    claim: str = ""
    quote: str = ""
    confidence: str = ""
    limitations: str = ""
    content_sha256: str = ""


def read_rows(text: str, name: str) -> list[dict[str, Any]]:
    """Return the JSON objects of a ledger's lines in order; blank lines are skipped.

    A last line that does not parse is a torn write and is left out. Raises ToolInputError with
    `name` and the line's number for any other malformed line.
    """
    rows: list[dict[str, Any]] = []
    lines = text.split("\n")
    last = max((i for i, line in enumerate(lines) if line.strip()), default=-1)
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        try:
            if len(line) > _MAX_LINE_CHARS:
                raise ValueError("the line is too long")
            row = msgspec.json.decode(line)
        except (ValueError, RecursionError) as error:  # DecodeError is a ValueError
            if number == last and number == len(lines) - 1:
                break
            raise _bad_line(name, number, f"is not valid JSON: {error}") from error
        if not isinstance(row, dict):
            raise _bad_line(name, number, "is not a JSON object")
        rows.append(row)
    return rows


def _bad_line(name: str, number: int, what: str) -> ToolInputError:
    return ToolInputError(f"{name} line {number + 1} {what}.", hint="Repair or remove that line.")


def parse_evidence_ledger(text: str, name: str = EVIDENCE_LEDGER) -> list[EvidenceRow]:
    """Return the rows of an evidence ledger; unknown fields are ignored, missing ones are "".

    Raises ToolInputError as `read_rows` does, and for a field of the wrong type.
    """
    return _convert(read_rows(text, name), EvidenceRow, name)


def parse_fetch_ledger(text: str, name: str = FETCH_LEDGER) -> list[Fetch]:
    """Return the rows of a fetch ledger. Raises ToolInputError as `parse_evidence_ledger` does."""
    rows = read_rows(text, name)
    for row in rows:
        is_search = row.get("query") is not None and not row.get("canonical_url")
        row.setdefault("kind", "search" if is_search else "fetch")
        row.setdefault("status", "")
        row.setdefault("accessed_at", "")
    return _convert(rows, Fetch, name)


def _convert(rows: list[dict[str, Any]], kind: Any, name: str) -> list[Any]:
    """Return `rows` as Structs of `kind`, null fields taken as missing."""
    converted = []
    for number, row in enumerate(rows):
        known = {key: value for key, value in row.items() if value is not None}
        try:
            converted.append(msgspec.convert(known, kind, strict=False))
        except msgspec.ValidationError as error:
            raise _bad_line(name, number, f"has a wrong field: {error}") from error
    return converted


def by_source(rows: Iterable[EvidenceRow]) -> dict[str, list[EvidenceRow]]:
    """Return the rows under their source id and under their canonical URL, in ledger order."""
    found: dict[str, list[EvidenceRow]] = {}
    for row in rows:
        for key in {row.source_id, canonical(row.canonical_url) if row.canonical_url else ""}:
            if key:
                found.setdefault(key, []).append(row)
    return found
