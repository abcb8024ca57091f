"""One key for one address (T15, complaints 18 and 23): spellings meet, look-alikes stay apart."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omh_research.tools.tracking import is_tracking
from omh_research.tools.urls import canonical, same_source
from tests.documents.shared_data import shared_data

SAME = [
    ("http://example.org/a", "https://www.example.org/a/"),
    ("HTTPS://Example.ORG:443/a#part", "https://example.org/a"),
    ("http://example.org:80", "https://example.org/"),
    ("https://example.org/a?utm_source=x&b=2&a=1&fbclid=9", "https://example.org/a?a=1&b=2"),
    ("https://example.org/%7Euser/%c3%bc", "https://example.org/~user/ü"),
    ("https://example.org/a/./b/../c", "https://example.org/a/c"),
    ("https://bücher.example/", "https://xn--bcher-kva.example"),
    ("https://example.org/a b", "https://example.org/a%20b"),
    ("https://example.org/?q=a+b", "https://example.org/?q=a%20b"),
    ("  <https://example.org/a>  ", "https://example.org/a"),
    ("https://exam\u200bple.org/a", "https://example.org/a"),
    ("www.example.org/a", "https://example.org/a"),
    ("https:\\\\example.org\\a", "https://example.org/a"),
    ("doi:10.1000/ABC", "https://doi.org/10.1000/abc"),
    ("http://dx.doi.org/10.1000/abc", "https://doi.org/10.1000/ABC"),
    ("https://github.com/Owner/Repo", "https://github.com/owner/repo/"),
    ("https://youtu.be/x1?si=abc", "https://youtu.be/x1"),
    ("https://user:pw@example.org/a", "https://example.org/a"),
    ("https://example.org./a", "https://example.org/a"),
    ("https://example.org/a?", "https://example.org/a"),
]
DIFFERENT = [
    ("https://example.org/a", "https://example.com/a"),
    ("https://example.org/a1", "https://example.org/a2"),
    ("https://example.org/a", "https://examp1e.org/a"),
    ("https://example.org/a", "https://exаmple.org/a"),  # a Cyrillic letter
    ("https://example.org/a", "https://sub.example.org/a"),
    ("https://example.org/a", "https://example.org.evil.net/a"),
    ("https://example.org/a", "https://example.org@evil.net/a"),
    ("https://example.org/a", "https://example.org:8443/a"),
    ("http://127.0.0.1:8000/a", "http://127.0.0.1:9000/a"),
    ("http://127.0.0.1:8000/a", "https://127.0.0.1:8000/a"),
    ("https://example.org/A", "https://example.org/a"),
    ("https://example.org/a?lang=de", "https://example.org/a"),
    ("https://example.org/a?id=1", "https://example.org/a?id=2"),
    ("https://example.org/a?a=1&a=2", "https://example.org/a?a=2&a=1"),
    ("https://example.org/a%2Fb", "https://example.org/a/b"),
    ("https://example.org/#/one", "https://example.org/#/two"),
    ("https://example.org/a?ref=main", "https://example.org/a?ref=dev"),
    ("https://github.com/o/r/blob/main/A.md", "https://github.com/o/r/blob/main/a.md"),
    ("https://wwwexample.org/a", "https://example.org/a"),
    ("docs/a.md", "docs/b.md"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_spellings_of_one_address_meet(one: str, other: str) -> None:
    assert canonical(one) == canonical(other)
    assert same_source(one, other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_look_alikes_stay_apart(one: str, other: str) -> None:
    """Complaint 18: one changed digit, letter, host or port is another address."""
    assert canonical(one) != canonical(other)
    assert not same_source(one, other)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "notes/a.md",
        "mailto:a@b.org",
        "ftp://example.org/x",
        "http://",
        "http://[::1",
        "http://a b/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "C:\\docs\\a.md",
    ],
)
def test_what_is_no_web_address_comes_back_as_it_is(text: str) -> None:
    assert canonical(text) == text


def test_only_tracking_parameters_go() -> None:
    assert is_tracking("example.org", "UTM_Campaign")
    assert is_tracking("youtube.com", "si")
    assert not is_tracking("example.org", "si")
    for name in ("id", "q", "page", "ref", "source", "lang", "v", "t", "s", "category"):
        assert not is_tracking("example.org", name)


@given(st.text(max_size=80))
@settings(max_examples=300, deadline=None)
def test_any_text_has_a_stable_form(text: str) -> None:
    assert canonical(canonical(text)) == canonical(text)


@given(
    st.text("abcABC123%~ü/._-", max_size=20),
    st.lists(
        st.tuples(st.sampled_from(["a", "b", "utm_x"]), st.text("xyz1%&=+ ", max_size=5)),
        max_size=4,
    ),
)
@settings(max_examples=300, deadline=None)
def test_canonical_addresses_are_fixed_points(path: str, query: list[tuple[str, str]]) -> None:
    url = f"http://www.example.org/{path}?" + "&".join(f"{name}={value}" for name, value in query)
    form = canonical(url)
    assert form.startswith("https://example.org/")
    assert canonical(form) == form
    assert "utm_x" not in form.partition("=")[0]


@pytest.mark.data
def test_the_recorded_variants_fall_into_one_key() -> None:
    """Issue 3: groups of real variants; letter case of a path and content parameters do not meet."""
    text = (shared_data() / "identifiers" / "url-variants.jsonl").read_text("utf-8")
    for row in (json.loads(line) for line in text.split("\n") if line):
        keys = {canonical(url) for url in row["variants"]}
        differs = set(row["differs_in"])
        if not differs or (
            differs == {"query"} and any("lang=" in url for url in row["variants"])
        ):  # two ports of one host: two servers
            assert len(keys) == 2
        elif "path_case" in differs and not any(
            host in row["variants"][0] for host in ("github.com/", "doi.org/")
        ):
            assert len(keys) == 2  # only some hosts take a path in either case
        else:
            assert len(keys) == 1, row["variants"]
