"""Identifiers (T14, E28, complaint 23): found exactly, one key for one work."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omh_research.tools.identifiers import (
    find_arxiv,
    find_dois,
    find_pmids,
    is_doi,
    normalise_doi,
    work_key,
)
from tests.documents.shared_data import shared_data


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(doi:10.1000/xyz123).", ["10.1000/xyz123"]),
        ("[10.1000/xyz](https://doi.org/10.1000/xyz)", ["10.1000/xyz"]),
        (
            "10.1002/(SICI)1097-4636(199823)43:4<473::AID-JBM15>3.0.CO;2-9",
            ["10.1002/(sici)1097-4636(199823)43:4<473::aid-jbm15>3.0.co;2-9"],
        ),
        ("DOI：10.1000/abc。后面的话", ["10.1000/abc"]),
        ("https://doi.org/10.1000/a?x=1#y", ["10.1000/a"]),
        ("https://doi.org/10.1016%2FS0140-6736%2820%2930183-5", ["10.1016/s0140-6736(20)30183-5"]),
        ("<a href='https://doi.org/10.1000/abc'>10.1000/abc</a>", ["10.1000/abc"]),
        ("10.1000/abc,10.1000/def; 10.1000/ghi", ["10.1000/abc", "10.1000/def", "10.1000/ghi"]),
        ("10.1038/s41586–020–2649–2", ["10.1038/s41586-020-2649-2"]),
        (
            "https://x.org/doi/10.1111/j.1756-185X.2010.01524.x/full",
            ["10.1111/j.1756-185x.2010.01524.x"],
        ),
        (
            "https://www.biorxiv.org/content/10.1101/2020.01.30.927871v2.full.pdf",
            ["10.1101/2020.01.30.927871"],
        ),
        ("**10.1000/abc**, `10.1000/def`", ["10.1000/abc", "10.1000/def"]),
        ("doi=10.1371/journal.pone.0012345&type=printable", ["10.1371/journal.pone.0012345"]),
        ("10.1000/abc_(def) and 10.1000/xyz)", ["10.1000/abc_(def)", "10.1000/xyz"]),
        ("version 10.1234/ and 110.1000/abc and 3.10.1000/abc and 10.99/abc", []),
        ("ratio 10.5/12 and 10.1000", []),
        ("", []),
    ],
)
def test_dois_in_running_text(text: str, expected: list[str]) -> None:
    assert find_dois(text) == expected


def test_a_neighbouring_doi_is_another() -> None:
    """Complaint 18: one digit off, one character more."""
    assert normalise_doi("10.1000/abc1") != normalise_doi("10.1000/abc2")
    assert normalise_doi("10.1000/abc") != normalise_doi("10.1000/abcd")


@pytest.mark.parametrize(
    "text",
    [
        "10.1000/abc",
        "doi:10.1000/ABC",
        "DOI: 10.1000/abc",
        "https://doi.org/10.1000/abc",
        "http://dx.doi.org/10.1000/a(b)c",
    ],
)
def test_well_formed_dois(text: str) -> None:
    assert is_doi(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "10.99/x",
        "10.1000",
        "10.1000/",
        "abc",
        "10.1000/a b",
        "https://example.org/10.1000/abc",
        "10.1000/abc 10.1000/def",
        "11.1000/abc",
    ],
)
def test_malformed_dois(text: str) -> None:
    assert not is_doi(text)


def test_arxiv_and_pubmed_ids() -> None:
    text = "arXiv:2301.00001v2, https://arxiv.org/pdf/2301.00002.pdf, arXiv: hep-th/9901001, 2301.00003, PMID 123, https://pubmed.ncbi.nlm.nih.gov/456/"
    assert find_arxiv(text) == ["2301.00001", "2301.00002", "hep-th/9901001"]
    assert find_pmids(text) == ["123", "456"]


ARXIV = [
    "https://arxiv.org/abs/2301.00001",
    "http://www.arxiv.org/abs/2301.00001v3",
    "https://arxiv.org/pdf/2301.00001",
    "https://arxiv.org/pdf/2301.00001v1.pdf?utm_source=x",
    "https://export.arxiv.org/abs/2301.00001",
    "https://arxiv.org/html/2301.00001v2",
    "https://doi.org/10.48550/arXiv.2301.00001",
    "doi:10.48550/arxiv.2301.00001",
]
JOURNAL = [
    "https://doi.org/10.1111/j.1756-185X.2010.01524.x",
    "https://onlinelibrary.wiley.com/doi/10.1111/j.1756-185X.2010.01524.x/abstract",
    "https://onlinelibrary.wiley.com/doi/pdf/10.1111/j.1756-185x.2010.01524.x?utm_campaign=y",
    "http://dx.doi.org/10.1111%2Fj.1756-185X.2010.01524.x",
]
PUBMED = [
    "https://pubmed.ncbi.nlm.nih.gov/36682364/",
    "https://www.ncbi.nlm.nih.gov/pubmed/36682364",
    "https://europepmc.org/article/med/36682364",
]
NATURE = [
    "https://www.nature.com/articles/s41586-020-2649-2",
    "https://www.nature.com/articles/s41586-020-2649-2.pdf",
    "https://doi.org/10.1038/s41586-020-2649-2",
]


@pytest.mark.parametrize("group", [ARXIV, JOURNAL, PUBMED, NATURE])
def test_one_work_has_one_key(group: list[str]) -> None:
    """Complaint 23: abstract, PDF, version, DOI, PubMed and tracked links of one paper."""
    assert len({work_key(url) for url in group}) == 1


def test_different_works_have_different_keys() -> None:
    groups = [
        ARXIV,
        JOURNAL,
        PUBMED,
        NATURE,
        ["https://arxiv.org/abs/2301.00010"],
        ["https://example.org/2301.00001"],
    ]
    assert len({work_key(group[0]) for group in groups}) == len(groups)


def test_a_known_doi_joins_pages_that_do_not_show_it() -> None:
    doi = "10.1111/j.1756-185X.2010.01524.x"
    assert work_key(PUBMED[0], doi) == work_key(JOURNAL[0])
    assert work_key("https://example.org/paper.pdf", doi) == work_key(JOURNAL[0])
    assert work_key("https://example.org/paper.pdf", "not a doi") == "https://example.org/paper.pdf"


@given(st.text(max_size=60), st.text("abcXYZ019.-_()/", min_size=1, max_size=30))
@settings(max_examples=300, deadline=None)
def test_found_dois_are_well_formed_and_stable(noise: str, suffix: str) -> None:
    for doi in find_dois(f"{noise} 10.1234/{suffix} {noise}"):
        assert is_doi(doi)
        assert doi == doi.lower()
        assert normalise_doi(doi) == doi


@pytest.mark.data
def test_recorded_strings_are_read_exactly() -> None:
    """Issue 3: DOIs in odd forms, in running text, and texts without any."""
    folder = shared_data() / "identifiers"
    lines = (folder / "doi-strings.jsonl").read_text("utf-8").split("\n")
    for row in (json.loads(line) for line in lines if line):
        assert normalise_doi(row["raw"]) == row["expected"]
        assert find_dois(f"See {row['raw']}. Then more.") == [row["expected"]]
    text = (folder / "text_with_one_doi.txt").read_text("utf-8", errors="replace")
    assert find_dois(text) == ["10.1093/nar/gkq776"]
    assert find_dois((folder / "text_with_no_dois.txt").read_text("utf-8", errors="replace")) == []
