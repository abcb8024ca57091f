"""Exports read back by well-kept parsers with nothing lost (B12)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.errors import DamagedFileError, UsageError
from omh_research.literature.bibtex import write_bibtex
from omh_research.literature.csl import write_csl
from omh_research.literature.export import export_bundle, write_export
from omh_research.literature.record import Paper
from omh_research.literature.reference_fields import citation_keys, kind_of, name_parts
from omh_research.literature.ris import write_ris

from .conftest import QUERIES, Runs
from .papers import HARD, made
from .provider_server import Answer, openalex_body, refuse, work


def one_line(text: str | None) -> str | None:
    return " ".join(text.split()) if text else None


def read_bibtex(text: str) -> list[dict[str, str]]:
    bibtexparser = pytest.importorskip("bibtexparser")
    if not hasattr(bibtexparser, "parse_string"):
        pytest.skip("bibtexparser 2 is needed")
    from bibtexparser.middlewares import LatexDecodingMiddleware

    # Addresses and identifiers are verbatim fields, as biblatex has it: only texts are decoded.
    raw = bibtexparser.parse_string(text)
    decoded = bibtexparser.parse_string(text, append_middleware=[LatexDecodingMiddleware()])
    assert raw.failed_blocks == [] and decoded.failed_blocks == []
    verbatim = ("doi", "url", "eprint", "pmid", "openalex", "semanticscholar", "recordid")
    rows = []
    for plain, entry in zip(raw.entries, decoded.entries, strict=True):
        values = {f.key: f.value for f in entry.fields}
        values |= {f.key: f.value for f in plain.fields if f.key in verbatim}
        rows.append({"TYPE": entry.entry_type, "KEY": entry.key, **values})
    return rows


def read_ris(text: str) -> list[dict[str, object]]:
    rispy = pytest.importorskip("rispy")
    return list(rispy.loads(text))


def as_in_source(name: str) -> str:
    """An author as read back, in the order of the source."""
    family, _, given = name.partition(", ")
    return f"{given} {family}" if given else name


def test_b12_bibtex_loses_nothing() -> None:
    rows = read_bibtex(write_bibtex(HARD))
    assert len(rows) == len(HARD)
    for row, paper in zip(rows, HARD, strict=True):
        assert row["title"] == one_line(paper.title)
        assert row.get("abstract") == one_line(paper.abstract)
        assert row.get("doi") == paper.doi
        assert row.get("url") == paper.url
        assert row.get("year") == (str(paper.year) if paper.year else None)
        assert row.get("eprint") == paper.arxiv_id and row.get("pmid") == paper.pmid
        assert row.get("openalex") == paper.openalex_id
        assert row["recordid"] == paper.record_id
        venue = next(
            (
                row[k]
                for k in ("journal", "booktitle", "school", "howpublished", "publisher")
                if k in row
            ),
            None,
        )
        assert venue == paper.venue
        authors = (
            [a.strip("{}") for a in row.get("author", "").split(" and ")] if "author" in row else []
        )
        if not any(" and " in a for a in paper.authors):
            assert authors == list(paper.authors)
    assert len({row["KEY"].lower() for row in rows}) == len(rows)
    assert "author = {{Jane Doe and Sons Ltd}}" in write_bibtex(HARD)


def test_b12_ris_loses_nothing() -> None:
    rows = read_ris(write_ris(HARD))
    assert len(rows) == len(HARD)
    for row, paper in zip(rows, HARD, strict=True):
        assert row["title"] == one_line(paper.title)
        assert row.get("abstract") == one_line(paper.abstract)
        assert row.get("doi") == paper.doi
        assert row.get("secondary_title") == paper.venue
        assert row.get("year") == (str(paper.year) if paper.year else None)
        assert row.get("urls") == ([paper.url] if paper.url else None)
        back = [as_in_source(str(a)) for a in row.get("authors", [])]  # type: ignore[attr-defined]
        assert back == [as_in_source(a) for a in paper.authors]
        if paper.arxiv_id:
            assert f"arXiv:{paper.arxiv_id}" in row["notes"]  # type: ignore[operator]


def test_b12_csl_items_follow_the_schema_and_a_processor_reads_them() -> None:
    items = json.loads(write_csl(HARD))
    allowed = {
        "id",
        "type",
        "title",
        "author",
        "container-title",
        "issued",
        "DOI",
        "PMID",
        "URL",
        "language",
        "abstract",
        "note",
    }
    for item, paper in zip(items, HARD, strict=True):
        assert set(item) <= allowed
        assert item["title"] == paper.title and item.get("DOI") == paper.doi
        names = [
            f"{n['given']} {n['family']}" if "family" in n else n["literal"]
            for n in item.get("author", [])
        ]
        assert names == [as_in_source(a) for a in paper.authors]
        dates = item.get("issued", {"date-parts": [[None]]})["date-parts"][0]
        assert dates[0] == paper.year
    citeproc = pytest.importorskip("citeproc.source.json")
    # citeproc-py knows only a part of the schema's types; those it knows it must read.
    known = [i for i in items if i["type"] not in ("dataset", "document")]
    source = citeproc.CiteProcJSON(known)
    assert sorted(source) == sorted({i["id"].lower() for i in known})


@given(st.text(max_size=80), st.lists(st.text(max_size=20), max_size=3), st.text(max_size=80))
def test_b12_any_text_survives_bibtex_and_ris(
    title: str, authors: list[str], abstract: str
) -> None:
    try:
        paper: Paper = made(title=title, authors=tuple(authors), abstract=abstract)
    except ValueError:
        return
    assert len(read_bibtex(write_bibtex([paper]))) == 1
    rows = read_ris(write_ris([paper]))
    assert len(rows) == 1
    if one_line(paper.title):
        assert rows[0]["title"] == one_line(paper.title)
    assert json.loads(write_csl([paper]))[0]["title"] == paper.title


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("Anna Casey", ("Casey", "Anna")),
        ("Anna van der Berg", ("van der Berg", "Anna")),
        ("Casey, Anna", ("Casey", "Anna")),
        ("A. L. Casey", ("Casey", "A. L.")),
        ("Plato", None),
        ("王 伟", None),
        ("WHO Study Group", None),
        ("Smith John Jr", None),
        ("Ministry of Health", None),
    ],
)
def test_names_are_taken_apart_only_where_that_is_no_guess(
    name: str, parts: tuple[str, str] | None
) -> None:
    assert name_parts(name) == parts


def test_citation_keys_are_distinct_and_plain() -> None:
    keys = citation_keys(HARD)
    assert len({k.lower() for k in keys}) == len(keys)
    assert all(k.isascii() and all(c.isalnum() or c == "-" for c in k) for k in keys)


def test_kinds() -> None:
    assert kind_of(HARD[3]).ris == "UNPB"
    assert kind_of(made(publication_type="something new", venue=None)).bibtex == "misc"
    assert kind_of(made(publication_type="something new", venue="J")).csl == "article-journal"


def script(provider: str, query: str) -> Answer:
    start = 3 * QUERIES.index(query)
    return (
        openalex_body([work(start + i) for i in range(4)])
        if provider == "openalex"
        else refuse(404)
    )


def test_b12_a_bundle_is_exported_in_each_format(runs: Runs, tmp_path: Path) -> None:
    _, folder = runs.run(script)
    assert export_bundle(str(folder), "bibtex").count("@article{") == 16
    assert export_bundle(str(folder), "ris").count("TY  - JOUR") == 16
    assert len(json.loads(export_bundle(str(folder), "csl-json"))) == 16
    flow = json.loads(export_bundle(str(folder), "prisma"))
    assert flow["identified"] == {
        "by_provider": {"openalex": 20, "semantic_scholar": 0, "crossref": 0},
        "total": 20,
    }
    assert flow["removed_before_screening"] == {"duplicates": 4, "over_total_limit": 0}
    assert flow["records_to_screen"] == 16
    assert flow["unanswered_requests"] == 6
    with pytest.raises(UsageError, match="no format"):
        export_bundle(str(folder), "docx")
    target = tmp_path / "out.bib"
    write_export("x", str(target), scope_root=None, force=False)
    with pytest.raises(UsageError, match="there already"):
        write_export("y", str(target), scope_root=None, force=False)
    assert target.read_text("utf-8") == "x"


def test_b12_the_flow_adds_up_when_the_total_cut(runs: Runs) -> None:
    _, folder = runs.run(script, max_total=6)
    flow = json.loads(export_bundle(str(folder), "prisma"))
    removed = flow["removed_before_screening"]
    assert flow["identified"]["total"] - sum(removed.values()) == flow["records_to_screen"]


def test_b15_a_damaged_bundle_is_not_exported(runs: Runs) -> None:
    _, folder = runs.run(script)
    (folder / "search_log.json").unlink()
    with pytest.raises(DamagedFileError):
        export_bundle(str(folder), "ris")
