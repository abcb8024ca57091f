"""Titles as de-duplication compares them (B7)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.literature.titles import (
    compare,
    is_contained,
    is_one_edit,
    read_title,
    similarity,
    tokens_of,
)


def likeness(a: str, b: str) -> str:
    return compare(read_title(a), read_title(b))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Zinc, copper and CD4 count", "ZINC, COPPER, and CD4 count."),
        ("Déjà vu: a mechanism", "Deja vu - a mechanism"),
        ("Tests of H<sub>2</sub>O uptake", "Tests of H2O uptake"),
        ("The α subunit of PI3K", "The alpha subunit of PI3K"),
        ("Early sorting for decisionsupport", "Early sorting for decision support"),
        ("Objects and SQL (panel session): strange relations?", "Objects and SQL: strange relations?"),
        ("[Incretin and atherosclerosis]. [Japanese]", "[Incretin and atherosclerosis]"),
        ("Chest tubes after surgery.[Erratum appears in J Surg. 2011;26(2):244]", "Chest tubes after surgery"),
        ("RETRACTED ARTICLE: A trial of zinc", "A trial of zinc"),
        ("The effects of incretin", "Effects of incretin"),
        ("深度学习综述：方法", "深度学习综述 方法"),
        ("R&amp;D in AT&amp;T labs", "R&D in AT&T labs"),
    ],
)  # fmt: skip
def test_b7_the_same_title_in_another_spelling_is_the_same(a: str, b: str) -> None:
    assert likeness(a, b) == "same"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Secure bufering in firm real-time database systems", "Secure buffering in firm real-time database systems"),
        ("A desktop emperiment management environment", "A desktop experiment management environment"),
        ("Towards mining benchmarking with a testbed for study of frequent patterns", "Towards mining benchmarking with a test bed for the study of frequent patterns"),
    ],
)  # fmt: skip
def test_b7_typing_slips_and_split_words_are_near(a: str, b: str) -> None:
    assert likeness(a, b) == "near"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("A long study of copper in hospital wards, part I", "A long study of copper in hospital wards, part II"),
        ("Annual report of the national registry of joints 2019", "Annual report of the national registry of joints 2020"),
        ("Linomide in relapsing MS: trial 1 design and results", "Linomide in relapsing MS: trial 2 design and results"),
        ("Cognitive load and security alerts: human errors", "Cognitive load and security alerts"),
        ("Pleural effusion", "Malignant pleural effusion"),
        ("机器学习方法综述", "深度学习方法研究"),
    ],
)  # fmt: skip
def test_b7_part_numbers_years_and_subtitles_make_other_works(a: str, b: str) -> None:
    assert likeness(a, b) == ""


def test_b7_one_meaningful_word_is_told_from_a_slip() -> None:
    a = "Effects of copper surfaces on hospital acquired infections in adult intensive care patients"
    b = "Effects of copper surfaces on hospital acquired infections in infant intensive care patients"
    assert likeness(a, b) in ("worded", "")
    assert likeness(a, b) != "near"


@pytest.mark.parametrize(
    ("title", "notice"),
    [
        ("Publisher Correction: Suppression of insulin feedback", "erratum"),
        ("Correction for Taniguchi et al., Phosphoinositide 3-kinase", "erratum"),
        ("Suppression of insulin feedback - Corrigendum", "erratum"),
        ("Retraction notice to 'A trial of zinc'", "retraction"),
        ("Reply to: A trial of zinc", "reply"),
        ("A trial of zinc: authors' reply", "reply"),
        ("Re: A trial of zinc", "reply"),
        ("A trial of zinc and the immune response", ""),
        ("Corrections officers and health", ""),
        ("Regret in surgery", ""),
        ("Retracted: A trial of zinc", ""),
    ],
)
def test_b7_items_about_another_item_are_told_from_it(title: str, notice: str) -> None:
    assert read_title(title).notice == notice


def test_b7_placeholders_are_no_titles() -> None:
    assert all(read_title(t).is_null for t in ("UNKNOWN", "[Untitled]", "", "  ...", "N/A"))
    assert not read_title("Unknown unknowns").is_null


def test_similarity_is_the_normalised_indel_similarity() -> None:
    # kitten, sitting: LCS "ittn" of 4 -> 2 * 4 / 13.
    assert similarity("kitten", "sitting") == pytest.approx(8 / 13)
    assert similarity("same", "same") == 1.0
    assert similarity("", "x") == 0.0
    assert similarity("kitten", "sitting", floor=0.92) == 0.0


def _plain_lcs(a: str, b: str) -> int:
    row = [0] * (len(b) + 1)
    for x in a:
        before = 0
        for j, y in enumerate(b, 1):
            before, row[j] = row[j], before + 1 if x == y else max(row[j], row[j - 1])
    return row[-1]


@given(st.text("abc 研", max_size=40), st.text("abc 研", max_size=40))
def test_similarity_equals_the_textbook_recurrence(a: str, b: str) -> None:
    expected = 1.0 if a == b else 2 * _plain_lcs(a, b) / max(len(a) + len(b), 1)
    assert similarity(a, b) == pytest.approx(expected)
    assert similarity(a, b) == pytest.approx(similarity(b, a))


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_can_be_read_and_comparing_is_symmetric(a: str, b: str) -> None:
    one, two = read_title(a), read_title(b)
    assert compare(one, two) == compare(two, one)
    assert compare(one, one) == "same"


def test_long_titles_cost_bounded_time() -> None:
    a, b = "(" * 200_000 + "x", "[" * 100_000 + "a " * 100_000
    assert read_title(a).is_null and read_title(b).is_null
    assert len(read_title("word " * 100_000).compact) <= 1_000


def test_one_edit() -> None:
    assert is_one_edit("buffering", "bufering")
    assert is_one_edit("form", "from")
    assert not is_one_edit("hyper", "hypo")
    assert not is_one_edit("men", "women")


def test_cjk_titles_are_compared_by_pairs_of_signs() -> None:
    assert tokens_of("深度学习 bert") == ["深度", "度学", "学习", "bert"]


def test_a_left_out_subtitle_is_containment() -> None:
    a = read_title("Optimal therapy of malignant pleural effusions")
    b = read_title("Optimal therapy of malignant pleural effusions: report of a trial")
    assert is_contained(a, b)
    assert not is_contained(read_title("Optimal"), b)
