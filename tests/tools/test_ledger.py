"""Ledgers (T16, T19): torn last lines pass, other bad lines are named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.documents.source import Fetch
from omh_research.errors import ToolInputError
from omh_research.tools.ledger import (
    EvidenceRow,
    by_source,
    parse_evidence_ledger,
    parse_fetch_ledger,
    read_rows,
)

ROW = '{"schema_version":1,"source_id":"s1","canonical_url":"https://a.org/","quote":"q","claim":"c","confidence":"LOW","more":[1]}'


def test_evidence_rows_have_the_fields_of_the_spec() -> None:
    assert (
        parse_evidence_ledger(f"{ROW}\n\n{ROW}\n")
        == [
            EvidenceRow(
                source_id="s1",
                canonical_url="https://a.org/",
                quote="q",
                claim="c",
                confidence="LOW",
            )
        ]
        * 2
    )
    assert parse_evidence_ledger("") == []
    assert parse_evidence_ledger('{"quote":null,"schema_version":"1"}\n') == [EvidenceRow()]


def test_fetch_rows_are_read_with_or_without_a_kind() -> None:
    text = '{"kind":"fetch","status":"ok","accessed_at":"2026-01-01T00:00:00Z","canonical_url":"https://a.org/","charge":1}\n{"query":"x"}\n'
    first, second = parse_fetch_ledger(text)
    assert first == Fetch(
        "fetch", "ok", "2026-01-01T00:00:00Z", canonical_url="https://a.org/", charge=1
    )
    assert (second.kind, second.query) == ("search", "x")


@given(st.integers(1, len(ROW) - 1))
def test_a_torn_last_line_is_left_out(cut: int) -> None:
    """T19: a crash while a line was written."""
    assert len(parse_evidence_ledger(f"{ROW}\n{ROW[:cut]}")) == 1
    assert parse_evidence_ledger(ROW[:cut]) == []


@pytest.mark.parametrize(
    "bad", ["{", "[1]", "null", '"x"', "{}{}", '{"claim":1,"claim"', "[" * 100_000, '{"quote":[]}']
)
def test_any_other_bad_line_is_an_error_with_its_number(bad: str) -> None:
    """T4: a malformed ledger line is an error with its number."""
    with pytest.raises(ToolInputError, match=r"evidence_ledger\.jsonl line 2 "):
        parse_evidence_ledger(f"{ROW}\n{bad}\n{ROW}\n")


def test_rows_are_found_by_id_and_by_any_spelling_of_the_address() -> None:
    rows = [
        EvidenceRow(source_id="s1", canonical_url="http://www.a.org/x/", quote="one"),
        EvidenceRow(canonical_url="https://a.org/x", quote="two"),
    ]
    found = by_source(rows)
    assert [row.quote for row in found["https://a.org/x"]] == ["one", "two"]
    assert [row.quote for row in found["s1"]] == ["one"]
    assert read_rows("\n", "x") == []
