"""Independent sources, registrable domains, priority tags (L1, L3)."""

from __future__ import annotations

import pytest

from omh_research.tools.independence import (
    SourceFact,
    independent_sources,
    priority_of,
    registrable_domain,
    tag_of,
)

PAGE = "The tide rises twice a day because the earth turns under two bulges of water every day. "


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://docs.python.org/3/", "python.org"),
        ("https://www.bbc.co.uk/news", "bbc.co.uk"),
        ("https://example.com", "example.com"),
        ("http://192.0.2.7/a", "192.0.2.7"),
        ("corpus:a/b.md", "corpus:a/b.md"),
        ("https://x.gov.cn/a", "x.gov.cn"),
    ],
)
def test_registrable_domain(url: str, domain: str) -> None:
    assert registrable_domain(url) == domain


def test_one_domain_one_work_one_text_is_one_source() -> None:
    """L1: same domain, same DOI, syndicated copy."""
    first = SourceFact("https://a.example.com/1", text=PAGE * 3)
    same_domain = SourceFact("https://b.example.com/2", text="Something else entirely, at length.")
    copy = SourceFact("https://other.org/3", text="Reprinted. " + PAGE * 3)
    apart = SourceFact("https://third.net/4", text="Quite another text on quite another matter.")
    assert independent_sources([first, same_domain, copy, apart]) == (first, apart)
    doi = SourceFact("https://doi.org/10.1234/abc.5")
    mirror = SourceFact("https://mirror.org/x", doi="10.1234/ABC.5")
    other = SourceFact("https://doi.org/10.1234/zzz.9")
    assert independent_sources([doi, mirror, other]) == (doi, other)


@pytest.mark.parametrize(
    ("url", "tag", "priority"),
    [
        ("https://docs.python.org/3/", "blog", 1),
        ("https://arxiv.org/abs/2401.00001", "", 2),
        ("https://someone.medium.com/p", "", 3),
        ("https://github.com/a/b", "primary", 4),
        ("https://stackoverflow.com/q/1", "", 5),
        ("https://x.com/a", "primary", 6),
        ("https://www.nasa.gov/x", "", 1),
        ("https://mit.edu/x", "", 2),
        ("https://acme.example/blog/post", "primary", 3),
    ],
)
def test_priorities_come_from_the_table_and_the_rules(url: str, tag: str, priority: int) -> None:
    assert priority_of(SourceFact(url, credibility=tag)) == priority
    assert priority_of(SourceFact(url), {registrable_domain(url): 5}) == 5, "overridable"


def test_tags_are_the_seeds() -> None:
    """L9."""
    assert [tag_of(n, "zh") for n in range(1, 7)] == [
        "P1-官方", "P2-权威", "P3-博客", "P4-GitHub", "P5-社区", "P6-社交",
    ]  # fmt: skip
    assert tag_of(1, "en") == "P1-official" and tag_of(6, "fr") == "P6-social"
