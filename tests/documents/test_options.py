"""A run's options: kept whole in the state, without private paths in durable files (E33, E42)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omh_research.documents.options import RunOptions, parse_options, public, to_plain
from omh_research.errors import DamagedFileError

TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30)
OPTIONS = st.builds(
    RunOptions,
    corpus=st.lists(TEXT, max_size=2).map(tuple),
    language=st.sampled_from(("", "en", "de")),
    require_quotes=st.none() | st.booleans(),
    caps=st.dictionaries(TEXT, st.floats(0, 100), max_size=2),
    host_tools=st.none() | st.lists(TEXT, max_size=2).map(tuple),
    subtopics=st.lists(
        st.tuples(TEXT, st.lists(TEXT, min_size=1, max_size=3).map(tuple)), max_size=3
    ).map(tuple),
    context_budget=st.integers(2_000, 90_000),
    task_timeout_s=st.floats(0, 90),
    delegate_options=st.dictionaries(TEXT, TEXT, max_size=2),
)


@settings(max_examples=150, deadline=None)
@given(OPTIONS)
def test_options_come_back_from_json(options: RunOptions) -> None:
    """E2: what the state keeps is what the run was started with."""
    plain = json.loads(json.dumps(to_plain(options)))
    assert parse_options(plain, where="state") == options


def test_unknown_options_of_a_later_version_are_ignored() -> None:
    assert parse_options({"language": "de", "new": 1}, where="state") == RunOptions(language="de")


@pytest.mark.parametrize(
    "raw",
    [
        {"corpus": "docs"},
        {"corpus": [1]},
        {"caps": {"x": "many"}},
        {"context_budget": "wide"},
        {"context_budget": None},
        {"subtopics": [["a"]]},
        {"require_quotes": "maybe"},
        {"delegate_options": []},
    ],
)
def test_a_wrong_type_is_damaged_and_the_file_is_named(raw: dict[str, Any]) -> None:
    """E3."""
    with pytest.raises(DamagedFileError) as caught:
        parse_options(raw, where=".omh/state/research--x.json")
    assert "research--x.json" in str(caught.value)


@pytest.mark.parametrize(
    "path",
    ["/home/ann/docs", "C:\\Users\\ann\\docs", "\\\\server\\share\\docs", "~/docs", "../docs", "a/../../docs"],
)  # fmt: skip
def test_no_durable_file_says_where_a_folder_outside_lies(path: str) -> None:
    """E33: no user name and no absolute path; E42: paths inside stay as they are."""
    shown = public(RunOptions(corpus=(path, "docs/inner"), bundle=path))
    assert shown["corpus"] == ["(outside the root)/docs", "docs/inner"]
    assert shown["bundle"] == "(outside the root)/docs"
    assert "ann" not in json.dumps(shown)


def test_commands_keys_and_given_plans_stay_out_of_durable_files() -> None:
    """E33: the delegate's own settings may hold a command line with a user's paths."""
    options = RunOptions(
        subtopics=(("a", ("b", "c")),),
        notes=("n",),
        delegate_options={"command": "/home/ann/bin/agent --key secret"},
    )
    assert public(options) == {}
