"""Filling abstracts, and old rows adapted on demand (B9)."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from omh_research.errors import ToolInputError, UsageError
from omh_research.literature.enrich import Enriched, EnrichRequest, enrich_file
from omh_research.literature.legacy import adapt
from omh_research.literature.record import Paper, is_flat
from omh_research.providers.academic.record import ProviderAnswer, Record

from .papers import made


def now() -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC)


def known(*records: Record) -> ProviderAnswer:
    return ProviderAnswer("x", "success" if records else "empty", records)


Ask = Callable[[str, str, int], ProviderAnswer]


class Desk:
    """Enriches rows in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.asked: list[tuple[str, str]] = []

    def enrich(
        self, rows: list[Any], ask: Ask, **changes: Any
    ) -> tuple[Enriched, list[dict[str, Any]]]:
        source, target = self.folder / "in.jsonl", self.folder / "out.jsonl"
        lines = [
            r if isinstance(r, bytes) else json.dumps(r, ensure_ascii=False).encode() for r in rows
        ]
        source.write_bytes(b"\n".join(lines) + b"\n")

        def noted(provider: str, query: str, limit: int) -> ProviderAnswer:
            self.asked.append((provider, query))
            return ask(provider, query, limit)

        request = EnrichRequest(str(source), str(target), **changes)
        done = enrich_file(request, noted, now)
        return done, [json.loads(line) for line in target.read_text("utf-8").split("\n") if line]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def row(**fields: Any) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(msgspec.json.encode(made(**fields)))
    return plain


def record(**fields: Any) -> Record:
    base = {
        "provider": "crossref",
        "provider_record_id": "k",
        "title": "A study of copper",
        "abstract": "Found.",
    }
    return Record(**{**base, **fields})


def test_b9_an_abstract_is_filled_from_the_first_provider_that_has_it(desk: Desk) -> None:
    def ask(provider: str, query: str, limit: int) -> ProviderAnswer:
        if provider == "openalex":
            return known(record(doi="10.1000/a", abstract=""))
        return known(record(doi="10.1000/other", title="Else"), record(doi="10.1000/a"))

    done, rows = desk.enrich([row(doi="10.1000/a")], ask)
    assert rows[0]["abstract"] == "Found." and rows[0]["abstract_status"] == "present"
    assert rows[0]["abstract_provenance"] == {
        "provider": "semantic_scholar",
        "provider_record_id": "k",
    }
    assert [p for p, _ in desk.asked] == ["openalex", "semantic_scholar"]
    assert (done.counts.filled, done.counts.missing, done.warnings) == (1, 0, ())
    msgspec.convert(rows[0], Paper)


def test_b9_what_is_there_is_neither_asked_for_nor_changed(desk: Desk) -> None:
    before = row(abstract="Mine.") | {"score": 7, "note": "of a later step"}
    done, rows = desk.enrich([before], lambda *_: known())
    assert rows == [before] and desk.asked == []
    assert done.counts.already_present == 1


def test_b9_the_abstract_of_another_work_is_never_taken(desk: Desk) -> None:
    others = [
        record(
            title="A study of copper",
            doi="10.1000/b",
            year=2020,
            authors=("Anna Casey",),
            venue="X",
        ),
        record(title="Erratum: A study of copper", doi="10.1000/a"),
        record(title="Something else entirely about the moon", year=2020),
    ]
    _, rows = desk.enrich([row(doi="10.1000/a", venue="Y")], lambda *_: known(*others))
    assert rows[0]["abstract"] is None and rows[0]["abstract_status"] == "missing"


def test_b9_missing_and_unknown_are_told_apart(desk: Desk) -> None:
    def ask(provider: str, query: str, limit: int) -> ProviderAnswer:
        if "down" in query and provider == "crossref":
            return ProviderAnswer("crossref", "error", reason="down")
        return known()

    rows_in = [
        row(title="A work nobody has an abstract of"),
        row(title="A work asked while one is down"),
    ]
    done, rows = desk.enrich(rows_in, ask)
    assert [r["abstract_status"] for r in rows] == ["missing", "attempted"]
    assert (done.counts.missing, done.counts.attempted) == (1, 1)
    assert len(done.warnings) == 2 and all(
        "abstract_missing" in r["quality_warnings"] for r in rows
    )


def test_a_dead_provider_is_left_alone(desk: Desk) -> None:
    rows_in = [row(title=f"Work number {i} of many others") for i in range(9)]
    desk.enrich(rows_in, lambda provider, *_: ProviderAnswer(provider, "error", reason="down"))
    assert len(desk.asked) == 9


OLD = [
    {
        "title": "Deep learning",
        "year": 2015,
        "id": "doi:10.1038/nature14539",
        "authors": "LeCun, Y. and Bengio, Y.",
    },
    {
        "title": "Attention is all you need",
        "year": "2017",
        "id": "arXiv:1706.03762v5",
        "abstract": "We propose.",
    },
    {
        "title": "Köln 研究",
        "id": "https://openalex.org/W2741809807",
        "doi": "not a doi",
        "note": "keep",
    },
]


def test_b9_old_rows_are_adapted_only_when_asked_to(desk: Desk) -> None:
    with pytest.raises(ToolInputError, match=r"line 1.*--legacy"):
        desk.enrich(OLD, lambda *_: known())
    done, rows = desk.enrich(OLD, lambda *_: known(), adapt_legacy=True)
    assert all("legacy_adapted" in r["quality_warnings"] for r in rows)
    assert done.counts.legacy_adapted == 3 and done.counts.already_present == 1
    assert rows[0]["record_id"] == "doi:10.1038/nature14539"
    assert rows[0]["authors"] == ["LeCun, Y.", "Bengio, Y."] and rows[0]["year"] == 2015
    assert rows[1]["arxiv_id"] == "1706.03762" and rows[1]["year"] == 2017
    assert rows[2]["openalex_id"] == "W2741809807" and rows[2]["doi"] is None
    assert "invalid_doi_discarded" in rows[2]["quality_warnings"] and rows[2]["note"] == "keep"
    for each in rows:
        assert is_flat(msgspec.convert(each, Paper))


def test_b9_an_old_row_never_passes_for_the_new_schema(desk: Desk) -> None:
    with pytest.raises(ToolInputError, match="line 1"):
        desk.enrich(
            [{**OLD[0], "schema_version": "rls.paper.v1"}], lambda *_: known(), adapt_legacy=True
        )
    with pytest.raises(ToolInputError, match="needs a title"):
        adapt({"id": 3}, line=1, seen_at="")


@pytest.mark.parametrize(
    "line", [b"[1]", b"{", b'{"a": NaN}', b'{"title": 1, "title": 2}', b"[" * 9_999, b"\xff"]
)
def test_hostile_lines_are_named(desk: Desk, line: bytes) -> None:
    with pytest.raises(ToolInputError, match="line 2"):
        desk.enrich([row(), line], lambda *_: known())
    assert not (desk.folder / "out.jsonl").exists()


def test_b15_the_output_is_not_overwritten_without_force(desk: Desk) -> None:
    (desk.folder / "out.jsonl").write_text("mine", "utf-8")
    with pytest.raises(UsageError, match="--force"):
        desk.enrich([row(abstract="x")], lambda *_: known())
    assert (desk.folder / "out.jsonl").read_text("utf-8") == "mine"
    desk.enrich([row(abstract="x")], lambda *_: known(), force=True)


def test_a_missing_input_and_a_path_outside_the_scope(desk: Desk) -> None:
    with pytest.raises(UsageError, match="no file"):
        enrich_file(
            EnrichRequest(str(desk.folder / "none"), str(desk.folder / "o")),
            lambda *_: known(),
            now,
        )
    with pytest.raises(UsageError, match="scope"):
        desk.enrich([row()], lambda *_: known(), scope_root=str(desk.folder / "deeper"))
