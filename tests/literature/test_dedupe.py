"""De-duplication by behaviour (B7): what is one work, what is not, in any order, at any size."""

from __future__ import annotations

import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.literature.bibrecord import BibRecord, clean_doi, record_from, split_authors
from omh_research.literature.citation import issue_pages, page_spans, read_volume, start_pages
from omh_research.literature.dedupe import Deduplication, dedupe, near_titles
from omh_research.literature.venues import read_venue, venues_agree

TITLE = "Role of copper in reducing hospital environment contamination"
BASE = {
    "title": TITLE,
    "authors": ["Casey, A. L.", "Adams, D.", "Karpanen, T. J."],
    "year": 2010,
    "venue": "Journal of Hospital Infection",
    "volume": "74",
    "pages": "72-77",
    "doi": "10.1016/j.jhin.2009.08.018",
}


def row(**changes: object) -> dict[str, object]:
    return {**BASE, **changes}


def merged(*rows: dict[str, object]) -> Deduplication:
    return dedupe([record_from(r) for r in rows])


def is_one(*rows: dict[str, object]) -> bool:
    return len(merged(*rows).clusters) == 1


def test_b7_the_same_doi_in_any_spelling_is_one_work() -> None:
    assert is_one(
        row(), row(doi="https://doi.org/10.1016/J.JHIN.2009.08.018", year=None, authors=[])
    )


def test_b7_each_registry_id_joins() -> None:
    bare = {"title": "A", "venue": ""}
    for name in ("pmid", "arxiv", "openalex", "semantic_scholar"):
        assert is_one(
            {**bare, "identifiers": {name: "123"}}, {"title": "B", "identifiers": {name: "123"}}
        )
    assert is_one(
        {"title": TITLE, "arxiv": "2001.00001v2"},
        {"title": TITLE, "doi": "10.48550/arXiv.2001.00001"},
    )


def test_b7_one_doi_on_two_abstracts_of_a_supplement_does_not_join_them() -> None:
    a = row(
        title="Incretins suppress foam cells in mice",
        authors=["Hirano T."],
        pages="S354",
        doi="10.1/sup",
    )
    b = row(
        title="Glucose and the kidney of old rats",
        authors=["Terasaki M."],
        pages="S354",
        doi="10.1/sup",
    )
    assert not is_one(a, b)


def test_b7_without_identifiers_title_authors_and_year_decide() -> None:
    a, b = (
        row(doi=""),
        row(doi="", title=TITLE.upper(), authors="A. L. Casey; D. Adams", pages="", volume=""),
    )
    assert is_one(a, b)
    assert not is_one(a, row(doi="", authors=["Miller, X.", "Young, Z."], pages="1200"))
    assert not is_one(a, row(doi="", year=2013))


def test_b7_online_first_and_issue_are_one() -> None:
    assert is_one(row(doi="", pages="1-7", volume="", year=2009), row(doi=""))
    assert is_one(row(doi="", pages="", volume="(no pagination)", year=2009), row(doi=""))


def test_b7_a_conference_and_a_journal_version_are_two() -> None:
    a = row(doi="", venue="Journal of Digital Studies", volume="", pages="")
    assert not is_one(a, {**a, "venue": "Workshop of Digital Studies"})
    assert not is_one(a, {**a, "venue": "International Conference on Digital Studies"})


def test_b7_two_abstracts_of_one_title_on_two_pages_are_two() -> None:
    assert not is_one(row(doi="", pages="51"), row(doi="", pages="52"))


def test_b7_two_publishers_dois_are_two_works_but_a_wrong_one_is_not() -> None:
    other = "10.1586/other"
    assert not is_one(row(pages="", volume=""), row(pages="", volume="", doi=other))
    assert is_one(row(), row(doi=other))  # same volume, pages, venue, authors: a wrong DOI


def test_b7_versions_of_one_record_are_one() -> None:
    a = row(doi="10.1002/14651858.cd002273.pub2", pages="CD002273", volume="", year=2009)
    assert is_one(a, {**a, "doi": "10.1002/14651858.cd002273.pub3", "year": 2010})


def test_b7_the_published_version_is_canonical() -> None:
    preprint = row(doi="10.1101/014852", venue="bioRxiv", volume="", pages="", year=2009)
    for rows in ((preprint, row()), (row(), preprint)):
        out = merged(*rows)
        assert len(out.clusters) == 1
        assert rows[out.clusters[0][0]]["venue"] == "Journal of Hospital Infection"
        assert out.edges[0].rule == "preprint_of"


def test_b7_a_preprint_years_before_is_not_merged() -> None:
    assert not is_one(
        row(doi="10.1101/014852", venue="bioRxiv", volume="", pages="", year=2007), row()
    )


def test_b7_an_erratum_stays_apart_even_with_the_articles_doi() -> None:
    assert not is_one(row(), row(title=f"Erratum: {TITLE}"))
    assert is_one(row(title=f"Erratum: {TITLE}"), row(title=f"Erratum: {TITLE}"))


def test_b7_headings_and_placeholders_never_join_works() -> None:
    for title in ("Editorial", "UNKNOWN", "Book Review Column", "Chair's Message"):
        a = row(title=title, doi="", pages="", volume="", authors=["Aberer, K."])
        assert not is_one(a, a | {"year": 2010}), title


def test_b7_a_short_title_needs_several_authors_or_pages() -> None:
    a = row(title="Updating XML", doi="", pages="", volume="", authors=["Ives, Z.", "Weld, D."])
    assert is_one(a, dict(a))
    single = a | {"authors": ["Ives, Z."]}
    assert not is_one(single, dict(single))


def test_b7_a_translated_title_with_the_whole_citation_is_the_same_work() -> None:
    a = row(doi="", title="[Comparison of amoxicillin and cefamandole in lung surgery]")
    b = row(doi="", title="Antibiotic prophylaxis in pulmonary surgery, a controlled study")
    assert is_one(a, b)
    assert not is_one(a | {"title": str(a["title"]).strip("[]")}, b)


def test_b7_a_record_between_two_abstracts_joins_only_one() -> None:
    pages = [row(doi="", pages="51"), row(doi="", pages="52"), row(doi="", pages="")]
    assert sorted(len(c) for c in merged(*pages).clusters) == [1, 2]


def test_b7_title_alone_proves_nothing() -> None:
    a = {"title": TITLE, "semantic_scholar": "aa"}
    assert not is_one(a, {"title": TITLE, "semantic_scholar": "bb"})
    assert not is_one({"title": TITLE}, {"title": TITLE})


POOL = [
    row(), row(doi=""), row(doi="", pages="72-7", venue="J Hosp Infect"),
    row(doi="10.1101/014852", venue="bioRxiv", volume="", pages=""), row(doi="", pages="99"),
    row(title=f"Reply to: {TITLE}"), row(doi="", year=2011, pages="", volume=""),
    {"title": TITLE}, row(doi="", title="Updating XML"), row(doi="", title="Updating XML", pages=""),
]  # fmt: skip


@given(st.permutations(range(len(POOL))))
def test_b10_the_order_of_the_input_changes_nothing(order: list[int]) -> None:
    def works(rows: list[dict[str, object]], at: list[int]) -> set[tuple[int, tuple[int, ...]]]:
        return {(at[c[0]], tuple(sorted(at[i] for i in c))) for c in merged(*rows).clusters}

    straight = works(POOL, list(range(len(POOL))))
    assert works([POOL[i] for i in order], list(order)) == straight


@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["title", "authors", "year", "venue", "doi", "pages", "volume", "identifiers"]),
            st.one_of(st.none(), st.text(max_size=30), st.integers(), st.lists(st.text(max_size=8), max_size=3),
                      st.floats(allow_nan=True), st.dictionaries(st.text(max_size=6), st.text(max_size=6))),
        ),
        max_size=8,
    )
)  # fmt: skip
def test_any_rows_are_clustered_without_loss(rows: list[dict[str, object]]) -> None:
    out = merged(*rows)
    assert sorted(i for c in out.clusters for i in c) == list(range(len(rows)))


def _many(count: int) -> list[BibRecord]:
    rnd = random.Random(7)
    words = [
        f"{a}{b}{c}"
        for a in "bdfgklmnprst"
        for b in ("a", "er", "or")
        for c in ("n", "mi", "tu", "ss")
    ]
    return [
        BibRecord(
            title=" ".join(rnd.choices(words, k=9)),
            authors=(f"{rnd.choice(words)}, A.",),
            year=1990 + i % 30,
        )
        for i in range(count)
    ]


def test_b7_pairs_looked_at_grow_with_the_records_not_their_square() -> None:
    same = [
        BibRecord(title=TITLE, authors=("Casey, A.",), year=2000 + i % 20) for i in range(3_000)
    ]
    assert len(dedupe(same).clusters) < 3_000
    # Three words in every title: the worst case for blocking by tokens.
    words = [f"alpha beta gamma delta w{i} v{i} u{i}" for i in range(2_000)]
    assert sum(1 for _ in near_titles(words)) <= 2_000 * 24 * 28


@pytest.mark.deep
def test_b7_memory_stays_bounded_on_many_records() -> None:
    records = _many(30_000)
    tracemalloc.start()
    dedupe(records)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 30_000 * 2_500 + 5_000_000


def test_authors_in_any_common_form() -> None:
    for text in ("Casey, Anna and Adams, David", "A. Casey; D. Adams", "Anna Casey, David Adams",
                 "Casey A. L.Adams D.", "Anna Casey\nDavid Adams"):  # fmt: skip
        assert len(split_authors(text)) == 2, text
    assert split_authors("Fran&#231;oise Fabret, Bj&#246;rn Smith") == (
        "Françoise Fabret",
        "Björn Smith",
    )
    assert split_authors(["", 3, "X"]) == ("X",)
    assert split_authors("Smith, John") == ("Smith, John",)
    assert split_authors({"a": 1}) == ()


def test_pages_and_volumes_as_databases_write_them() -> None:
    assert start_pages("72-77") == start_pages("72--7") == {72}
    assert start_pages("S67") == {67}
    assert start_pages("21-Aug") == {21, 8}  # a spreadsheet's date for 21-8
    assert start_pages("230-5, 246-51") == {230, 246}
    assert start_pages("(no pagination)") == frozenset()
    assert page_spans("742-8") == {(742, 748)}
    assert [read_volume(v) for v in ("65 (Supplement 1)", "30a", "2)", "", "Journal. 69")] == [
        65,
        30,
        None,
        None,
        69,
    ]
    assert issue_pages(BibRecord(title="x", pages="1-17")) == frozenset()
    assert issue_pages(BibRecord(title="x", pages="1-17", volume="3")) == {1}


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("Curr Vasc Pharmacol", "Current Vascular Pharmacology", True),
        ("J Atheroscler Thromb", "Journal of Atherosclerosis and Thrombosis", True),
        ("VLDB", "Very Large Data Bases", True),
        ("ACM SIGMOD Record", "SIGMOD Record", True),
        ("Circulation", "Circulation. Conference: Resuscitation Science Symposium", True),
        ("PNAS", "Proceedings of the National Academy of Sciences", True),
        ("SIGMOD Conference", "International Conference on Management of Data", True),
        ("Diabetes", "Fundamental and Clinical Pharmacology", False),
        ("Chest", "Neurology", False),
        ("", "Chest", None),
    ],
)
def test_venue_names(a: str, b: str, expected: bool | None) -> None:
    one, two = (read_venue(BibRecord(title="t", venue=v)) for v in (a, b))
    assert venues_agree(one, two) is expected
    assert venues_agree(two, one) is expected


def test_kinds_of_venues() -> None:
    kinds = {
        "Proceedings of the National Academy of Sciences": "journal",
        "Proceedings of the VLDB Endowment": "journal",
        "Proceedings of the 5th International Conference on Data": "conference",
        "Circulation. Conference: Resuscitation Science Symposium": "",
        "Workshop on Data": "workshop",
        "bioRxiv": "preprint",
    }
    assert {v: read_venue(BibRecord(title="t", venue=v)).kind for v in kinds} == kinds


def test_preprint_places() -> None:
    kinds = {
        "10.1101/014852": "preprint",
        "10.1101/2020.01.02.123456": "preprint",
        "10.1101/gr.123456.111": "",
        "10.2139/ssrn.123": "preprint",
        "10.48550/arxiv.2001.00001": "preprint",
        "10.1016/j.x.2001.01": "",
    }
    assert {d: read_venue(BibRecord(title="t", doi=d)).kind for d in kinds} == kinds


def test_dois_as_people_write_them() -> None:
    assert clean_doi("https://doi.org/10.1016/J.X.2001.01.") == "10.1016/j.x.2001.01"
    assert (
        clean_doi("doi:10.1002/(SICI)1097-0258(19980815)17:15")
        == "10.1002/(sici)1097-0258(19980815)17:15"
    )
    assert clean_doi("(10.1000/abc)") == "10.1000/abc"
    assert clean_doi("11.1000/abc") is None
    assert clean_doi("10.1/x") is None
