"""The plan file: what is written is read back, by us and by any YAML reader; hostile ones refused."""

from __future__ import annotations

from typing import Any

import frontmatter as python_frontmatter
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omh_research.documents.plan import Subtopic
from omh_research.documents.plan_file import Plan, parse_plan, render_plan, same_topic
from omh_research.errors import DamagedFileError

SLUG = "tides-20261130-ab12"
WHERE = f".omh/research/{SLUG}-plan.md"
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)
NAMED = st.builds(Subtopic, TEXT, st.lists(TEXT, min_size=1, max_size=3).map(tuple))
PLANS = st.builds(
    Plan,
    topic=TEXT,
    slug=st.just(SLUG),
    subtopics=st.lists(NAMED, min_size=1, max_size=5).map(tuple),
    session_id=st.just("0d9e8f7a-1b2c-4d3e-8f4a-5b6c7d8e9f0a"),
    started_at=st.just("2026-11-30T08:00:00Z"),
    delegate=st.sampled_from(("host", "extractive")),
    language=st.sampled_from(("", "en", "zh")),
    options=st.dictionaries(TEXT, TEXT | st.integers(-9, 9) | st.booleans(), max_size=3),
    revision=st.integers(0, 9),
)


def a_plan(**fields: Any) -> Plan:
    given = {
        "topic": "Why do tides differ?",
        "slug": SLUG,
        "subtopics": (
            Subtopic("Moon and Sun", ("spring tides", "neap tides")),
            Subtopic("Coasts", ("funnel bays", "tidal range")),
            Subtopic("Measuring", ("tide gauges", "satellite altimetry")),
        ),
        **fields,
    }
    return Plan(**given)


@settings(max_examples=150, deadline=None)
@given(PLANS)
def test_a_plan_comes_back_as_it_was_written(plan: Plan) -> None:
    assert parse_plan(render_plan(plan), where=WHERE) == plan


@settings(max_examples=60, deadline=None)
@given(PLANS)
def test_any_yaml_reader_sees_the_same_names_and_queries(plan: Plan) -> None:
    """E16: the seed's skill reads it with python-frontmatter."""
    read = python_frontmatter.loads(render_plan(plan)).metadata
    assert (read["status"], read["topic"], read["slug"]) == ("planning", plan.topic, SLUG)
    assert read["subtopics"] == [
        {"name": item.name, "queries": list(item.queries)} for item in plan.subtopics
    ]


def test_the_head_reads_as_the_contract_says() -> None:
    lines = render_plan(a_plan()).split("\n")
    assert lines[:5] == [
        "---",
        "status: planning",
        'topic: "Why do tides differ?"',
        f"slug: {SLUG}",
        "subtopics:",
    ]


HOSTILE = {
    "nothing": "",
    "no frontmatter": "# Plan\n",
    "not closed": f"---\nslug: {SLUG}\n",
    "no subtopics": f"---\ntopic: a\nslug: {SLUG}\n---\n",
    "subtopics a word": "---\nsubtopics: many\n---\n",
    "subtopics empty": "---\nsubtopics: []\n---\n",
    "subtopics of words": "---\nsubtopics: [a, b, c]\n---\n",
    "no name": "---\nsubtopics: [{queries: [a, b]}]\n---\n",
    "name a list": "---\nsubtopics: [{name: [a], queries: [a, b]}]\n---\n",
    "no queries": "---\nsubtopics: [{name: a}]\n---\n",
    "queries a word": "---\nsubtopics: [{name: a, queries: b}]\n---\n",
    "queries of lists": "---\nsubtopics: [{name: a, queries: [[b]]}]\n---\n",
    "alias": "---\na: &x [b]\nsubtopics: [{name: a, queries: *x}]\n---\n",
    "merge": "---\nsubtopics: [{<<: {name: a}, queries: [b]}]\n---\n",
    "tag": "---\nsubtopics: !!python/object/apply:os.system ['true']\n---\n",
    "a key twice": "---\ntopic: a\ntopic: b\nsubtopics: [{name: a, queries: [b]}]\n---\n",
    "options not JSON": "---\nsubtopics: [{name: a, queries: [b]}]\noptions: nonsense\n---\n",
    "session a path": "---\nsubtopics: [{name: a, queries: [b]}]\nsession_id: /../../x\n---\n",
    "bomb": "---\n" + "".join(f"k{i}: &k{i} [{', '.join(f'*k{i - 1}' for _ in range(9)) or 'x'}]\n" for i in range(9)) + "---\n",
    "too big": "---\ntopic: " + "x" * 70_000 + "\nsubtopics: [{name: a, queries: [b]}]\n---\n",
    "deep": "---\nsubtopics: " + "[" * 5_000 + "]" * 5_000 + "\n---\n",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_a_hostile_or_broken_plan_is_damaged_and_named(name: str) -> None:
    """E3: the path and the reason, exit 7."""
    with pytest.raises(DamagedFileError) as caught:
        parse_plan(HOSTILE[name], where=WHERE)
    assert WHERE in str(caught.value) and caught.value.exit_code == 7


def test_a_plan_under_another_slugs_name_is_damaged() -> None:
    """E7: a slug is checked on every entry, file names included."""
    with pytest.raises(DamagedFileError):
        parse_plan(render_plan(a_plan()), where=WHERE, slug="moon-20261130-cd34")


def test_every_truncation_is_a_plan_or_damaged() -> None:
    text = render_plan(a_plan())
    end = text.index("\n---\n", 4)
    for length in range(len(text)):
        try:
            plan = parse_plan(text[:length], where=WHERE)
        except DamagedFileError:
            assert length < end + 5
            continue
        assert plan == a_plan(), "the frontmatter is whole, only the list for people is cut"


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("Why do tides differ?", "  why do TIDES differ ", True),
        ("Ｗｈｙ do tides differ", "Why do tides differ?", True),
        ("“Tides”", "tides", True),
        ("Straße", "STRASSE", True),
        ("C", "C#", False),
        ("tides", "tide", False),
    ],
)
def test_topics_are_one_after_folding(first: str, second: str, same: bool) -> None:
    """E10: NFKC, casefold, whitespace and outer punctuation."""
    assert same_topic(first, second) is same
