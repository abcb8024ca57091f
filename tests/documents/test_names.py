"""Names: slugs, stems, task ids, folded topics (E5-E7, E10)."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.documents.names import (
    check_slug,
    check_task_id,
    finding_stems,
    fold_topic,
    kebab,
    make_slug,
)
from omh_research.errors import UsageError

SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@pytest.mark.parametrize(
    ("topic", "readable"),
    [
        ("光合作用 与 植物", "guanghezuoyong-yu-zhiwu"),
        ("Größe & Maß: Ünïcode", "grosse-mass-unicode"),
        ("Ελλάδα σήμερα", "ellada-simera"),
        ("مرحبا", "mrhb"),
        ("../../etc/passwd", "etc-passwd"),
        ("What is -- CRISPR?!", "what-is-crispr"),
        ("", "topic"),
        ("?!… \x00\u202e", "topic"),
        ("\ud800", "topic"),
    ],
)
def test_e5_a_topic_in_any_script_gives_a_readable_slug(topic: str, readable: str) -> None:
    assert make_slug(topic, "20260131", "00af") == f"{readable}-20260131-00af"


def test_e5_the_cut_at_forty_leaves_no_trailing_hyphen() -> None:
    topic = "a" * 39 + " bcd"
    assert kebab(topic, 40) == "a" * 39


@pytest.mark.parametrize(("today", "rand4"), [("2026-01-31", "00af"), ("20260131", "00AF")])
def test_e5_a_malformed_date_or_random_part_is_refused(today: str, rand4: str) -> None:
    with pytest.raises(ValueError, match="YYYYMMDD"):
        make_slug("x", today, rand4)


@given(st.text(max_size=300))
def test_e5_e7_every_made_slug_passes_the_check(topic: str) -> None:
    slug = make_slug(topic, "20260131", "beef")
    assert check_slug(slug) == slug
    assert SLUG.fullmatch(slug)
    assert len(slug) <= 54


@pytest.mark.parametrize(
    "text",
    ["", "a--b", "-a", "a-", "A-b", "a\n", "a/b", "../a", "a.b", "ａ", "a_b", "a" * 81, "a b"],
)
def test_e7_what_is_not_a_slug_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_slug(text)
    assert caught.value.exit_code == 2
    assert str(caught.value).isascii()


@pytest.mark.parametrize(
    "text", ["", "../x", "a/b", "a\\b", ".", "a..b", ".a", "a.", "A", "a\0", "x" * 201]
)
def test_e7_what_is_not_a_task_id_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError):
        check_task_id(text)


@pytest.mark.parametrize("text", ["search-1-solar", "x.y-2", "search-0-_followup"])
def test_e7_task_ids_pass_unchanged(text: str) -> None:
    assert check_task_id(text) == text


def test_e6_collisions_are_numbered_in_plan_order() -> None:
    assert finding_stems(["Solar!", "solar", "SOLAR", "wind"]) == (
        "solar",
        "solar-2",
        "solar-3",
        "wind",
    )


def test_e6_a_second_a_and_a_literal_a_2_do_not_collide() -> None:
    assert finding_stems(["a", "a", "a-2"]) == ("a", "a-2", "a-2-2")
    assert finding_stems(["a-2", "a", "a"]) == ("a-2", "a", "a-3")


def test_e6_reserved_and_empty_names_get_safe_stems() -> None:
    assert finding_stems(["CON", "lpt1", "!!!", "_followup"]) == (
        "subtopic-con",
        "subtopic-lpt1",
        "subtopic",
        "followup",
    )


@given(st.lists(st.text(alphabet="aA-2 _é", max_size=6), max_size=8), st.text(max_size=8))
def test_e6_stems_are_distinct_stable_when_the_plan_grows_and_never_reserved(
    names: list[str], extra: str
) -> None:
    stems = finding_stems(names)
    assert len(set(stems)) == len(names)
    assert finding_stems([*names, extra])[: len(names)] == stems
    assert "_followup" not in stems


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("What is  CRISPR?", "what is crispr", True),
        ("“光合作用”。", "光合作用", True),
        ("ＣＲＩＳＰＲ", "crispr", True),
        ("Straße", "STRASSE", True),
        ("C#", "C", False),
        ("C++", "C", False),
        ("???", "!!!", False),
        ("solar cells", "solar cell", False),
    ],
)
def test_e10_topics_fold_to_the_same_form_only_if_they_are_the_same(
    one: str, other: str, same: bool
) -> None:
    assert (fold_topic(one) == fold_topic(other)) is same


@given(st.text(max_size=100))
def test_e10_folding_twice_changes_nothing(topic: str) -> None:
    assert fold_topic(fold_topic(topic)) == fold_topic(topic)
