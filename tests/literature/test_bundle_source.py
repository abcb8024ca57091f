"""A bundle as a run's source (B12, B15)."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest

from omh_research.errors import DamagedFileError
from omh_research.literature.pool import address_of, load_pool
from omh_research.providers.bundle import BundleSource, open_bundle
from omh_research.providers.interface import Reader, SearchProvider

from .conftest import QUERIES, Runs
from .papers import HARD, made
from .provider_server import Answer, openalex_body, refuse, work

TOPICS = (
    "zinc deficiency in infants",
    "copper door handles",
    "silver wound dressings",
    "铜 表面 抗菌",
    "iron and anaemia",
)


def script(provider: str, query: str) -> Answer:
    if provider != "openalex":
        return refuse(404)
    at = QUERIES.index(query)
    abstract = {"copper": [0], "alloys": [1], "kill": [2], "germs": [3]} if at == 1 else None
    return openalex_body(
        [
            work(
                at,
                title=f"On {TOPICS[at]}",
                abstract_inverted_index=abstract,
                ids={"pmid": f"https://pubmed.ncbi.nlm.nih.gov/{77 + at}"},
            )
        ]
    )


@pytest.fixture
def folder(runs: Runs) -> Path:
    return runs.run(script)[1]


def test_b12_the_source_has_the_shape_of_a_provider_and_a_reader(folder: Path) -> None:
    source = open_bundle(str(folder))
    provider: SearchProvider = source
    reader: Reader = source
    assert provider.name == reader.name == "bundle"


def test_b12_a_search_finds_papers_and_carries_their_identifiers(folder: Path) -> None:
    source = open_bundle(str(folder))
    hits = source.search("copper handles", limit=3)
    assert hits[0].title == "On copper door handles" and hits[0].rank == 1
    assert hits[0].url == "https://doi.org/10.1000/work.1"
    assert hits[0].identifiers.doi == "10.1000/work.1" and hits[0].identifiers.pmid == "78"
    assert hits[0].date == "2020-03-01" and hits[0].provider == "bundle"
    assert source.search("抗菌", limit=3)[0].title == "On 铜 表面 抗菌"
    assert source.search("quantum chromodynamics", limit=3) == []
    assert source.search("copper", limit=0) == []


def test_b12_reading_gives_the_abstract_or_says_that_there_is_none(folder: Path) -> None:
    source = open_bundle(str(folder))
    page = source.read("https://doi.org/10.1000/work.1")
    assert (page.state, page.text) == ("ok", "copper alloys kill germs")
    assert page.identifiers.doi == "10.1000/work.1" and page.author == "Anna Casey"
    bare = source.read("https://doi.org/10.1000/work.2")
    assert (bare.state, bare.text) == ("empty", "") and "no abstract" in bare.detail
    for url in ("https://example.org/", "bundle:x", "/etc/passwd", ""):
        assert source.read(url).state == "refused"


def test_b12_papers_without_an_abstract_come_last() -> None:
    hits = BundleSource(_pool()).search("copper", limit=5)
    assert [bool(h.snippet) for h in hits] == sorted((bool(h.snippet) for h in hits), reverse=True)


def _pool() -> list:  # type: ignore[type-arg]
    from omh_research.literature.pool import _pool_paper

    return [
        _pool_paper(
            made(title=f"copper {i}", abstract="copper" if i % 2 else "", doi=f"10.1000/{i}")
        )
        for i in range(6)
    ]


def test_every_paper_has_an_address_of_its_own() -> None:
    assert address_of(made(doi=None, arxiv="2001.00001")) == "https://arxiv.org/abs/2001.00001"
    assert address_of(made(pmid="12")) == "https://pubmed.ncbi.nlm.nih.gov/12/"
    assert address_of(made(url=None)).startswith("bundle:title:")
    assert address_of(made(url="javascript:alert(1)")).startswith("bundle:")
    doi = HARD[0].doi
    assert doi is not None and unquote(address_of(HARD[0])) == f"https://doi.org/{doi}"
    assert " " not in address_of(HARD[0]) and "<" not in address_of(HARD[0])


def test_b15_only_a_valid_bundle_is_opened(folder: Path, tmp_path: Path) -> None:
    assert [p.title for p in load_pool(str(folder))] == [f"On {t}" for t in TOPICS]
    (folder / "provenance.jsonl").write_bytes(b"")
    with pytest.raises(DamagedFileError):
        open_bundle(str(folder))
    with pytest.raises(DamagedFileError):
        open_bundle(str(tmp_path / "none"))
