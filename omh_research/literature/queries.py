"""The query file of a literature run (B1).

Job: read `{"queries": [...]}`, an array of objects or an array of strings; drop blank ones; number
what is left. Fails closed and names every fault at once. Refuses to open files. Importers:
literature, cli.
"""

from __future__ import annotations

import json
from typing import Any

from omh_research.errors import UsageError
from omh_research.literature.manifest import PlannedQuery, QueryPlan, digest
from omh_research.literature.rls_contract import (
    MAX_QUERIES,
    MAX_QUERY_CHARS,
    MAX_QUERY_FILE_BYTES,
    MIN_QUERIES,
)


class QueriesError(UsageError):
    """The query file cannot be used; the message names every fault.

    `requested` is how many entries it has, 0 when it cannot be read at all.
    """

    code = "invalid_queries"
    exit_code = 1
    requested = 0


def parse_queries(data: bytes, *, source: str) -> QueryPlan:
    """Return the plan in a query file; `source` is its name, without a path.

    Raises:
        QueriesError: not JSON of a known shape, or not 5 to 25 usable queries.
    """
    rows = _rows(data, source)
    items: list[PlannedQuery] = []
    faults: list[str] = []
    for number, row in enumerate(rows, 1):
        try:
            query, rationale = _query_of(row)
        except ValueError as fault:
            faults.append(f"entry {number} {fault}")
            continue
        if query:
            items.append(PlannedQuery(f"q{len(items) + 1:02d}", query, rationale))
    if not MIN_QUERIES <= len(items) <= MAX_QUERIES:
        faults.append(f"{len(items)} usable queries, {MIN_QUERIES} to {MAX_QUERIES} are needed")
    if faults:
        error = QueriesError(f"{source}: {'; '.join(faults)}.", hint="Correct the query file.")
        error.requested = len(rows)
        raise error
    return QueryPlan(source, digest(data), len(rows), len(items), tuple(items))


def _rows(data: bytes, source: str) -> list[Any]:
    if len(data) > MAX_QUERY_FILE_BYTES:
        raise QueriesError(f"{source}: larger than {MAX_QUERY_FILE_BYTES} bytes.")
    try:
        value = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_no_duplicates)
    except (ValueError, RecursionError) as error:
        raise QueriesError(f"{source}: not valid JSON ({error or 'nested too deep'}).") from None
    rows = value.get("queries") if isinstance(value, dict) else value
    if not isinstance(rows, list):
        raise QueriesError(
            f"{source}: a list of queries is expected.",
            hint='Write {"queries": ["…", …]} or a plain array.',
        )
    return rows


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _query_of(row: Any) -> tuple[str, str | None]:
    """Return query and rationale of one entry; ("", None) for a blank one."""
    rationale = None
    if isinstance(row, dict):
        rationale = row.get("rationale")
        row = row.get("query")
    if row is None:
        return "", None
    if not isinstance(row, str):
        raise ValueError("is neither a text nor an object with a query")
    if rationale is not None and not isinstance(rationale, str):
        raise ValueError("has a rationale that is no text")
    for text in (row, rationale or ""):
        if any("\ud800" <= char <= "\udfff" for char in text):
            raise ValueError("holds a broken character")
    query = " ".join(row.split())
    if any(ord(char) < 32 or ord(char) == 127 for char in query):
        raise ValueError("holds a control character")
    if len(query) > MAX_QUERY_CHARS:
        raise ValueError(f"is longer than {MAX_QUERY_CHARS} characters")
    return query, rationale
