"""The state file: strict reading, exact round trips, kept fields (E2, E3, E4; 81 section 3)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omh_research.documents.state import (
    PHASES,
    State,
    is_own,
    parse_state,
    render_state,
    to_plain,
)
from omh_research.errors import DamagedFileError, NewerVersionError

SLUG = "tides-20261130-ab12"
WHERE = f".omh/state/research--{SLUG}.json"


def a_state(**fields: Any) -> State:
    given = {
        "phase": "search",
        "slug": SLUG,
        "topic": "Why do tides differ?",
        "subtopic_count": 3,
        "completed_subtopics": ("Moon", "Coasts"),
        "started_at": "2026-11-30T08:00:00Z",
        "session_id": "0d9e8f7a-1b2c-4d3e-8f4a-5b6c7d8e9f0a",
        "step": 3,
        "revision": 5,
        "delegate": "host",
        **fields,
    }
    return State(**given)


def plain_state(**fields: Any) -> dict[str, Any]:
    return {**json.loads(render(a_state())), **fields}


def render(state: State) -> bytes:
    return render_state(state, written_at="2026-11-30T09:00:00Z", version="1.0")


def parse(data: bytes) -> State:
    return parse_state(data, where=WHERE, slug=SLUG)


def reparse(plain: dict[str, Any]) -> State:
    return parse(json.dumps(plain).encode())


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
STATES = st.builds(
    a_state,
    phase=st.sampled_from(PHASES),
    topic=TEXT.filter(str.strip),
    completed_subtopics=st.lists(TEXT, max_size=5).map(tuple),
    synthesis_attempts=st.integers(0, 4),
    last_verifier_feedback=st.none() | TEXT,
    cancel_requested=st.booleans(),
    cancel_reason=TEXT,
    failures=st.dictionaries(TEXT, st.integers(0, 5), max_size=3),
    blocked_reason=TEXT,
    blocked_phase=st.sampled_from(("", "search", "verify")),
    options=st.dictionaries(TEXT, JSON, max_size=3),
    unknown=st.dictionaries(TEXT.map(lambda text: "x_" + text), JSON, max_size=3),
)


@settings(max_examples=150, deadline=None)
@given(STATES)
def test_a_state_comes_back_as_it_was_written(state: State) -> None:
    """E2: what is read is what was written, unknown top-level fields included."""
    back = parse(render(state))
    expected = to_plain(state)
    found = to_plain(back)
    assert found.pop("_meta")["written_by"] == "omh_research 1.0"
    expected.pop("_meta")
    assert found == expected


def test_the_file_has_the_envelope_and_fields_of_the_contract() -> None:
    """E2: the fields a reader of the `omh_state` format and the seed's skill look for."""
    plain = json.loads(render(a_state(phase="verify", synthesis_attempts=1)))
    assert plain["_meta"] == {
        "written_at": "2026-11-30T09:00:00Z",
        "mode": "research",
        "schema_version": 1,
        "written_by": "omh_research 1.0",
    }
    for name in (
        "phase", "slug", "topic", "subtopic_count", "completed_subtopics", "started_at",
        "session_id", "synthesis_attempts", "last_verifier_feedback", "active", "state_version",
        "revision", "delegate", "options",
    ):  # fmt: skip
        assert name in plain, name
    assert plain["active"] is True
    assert not [name for name in plain if name.startswith("cancel_")], "only when one is asked for"


def test_a_cancel_stands_at_top_level_with_its_reason() -> None:
    """E2: the four fields of the `omh_state` cancel."""
    asked = a_state(cancel_requested=True, cancel_reason="stop", cancel_at="2026-11-30T09:00:00Z",
                    cancel_requested_by="user")  # fmt: skip
    plain = json.loads(render(asked))
    assert (plain["cancel_requested"], plain["cancel_reason"]) == (True, "stop")
    assert (plain["cancel_at"], plain["cancel_requested_by"]) == ("2026-11-30T09:00:00Z", "user")


def test_a_state_of_the_seeds_skill_is_read() -> None:
    """E2, E4: no version, no revision, written by the plugin: migrated on reading, and foreign."""
    plain = {
        "phase": "search",
        "slug": SLUG,
        "topic": "Why do tides differ?",
        "subtopic_count": 4,
        "completed_subtopics": ["Moon"],
        "started_at": "2026-11-30T08:00:00+00:00",
        "session_id": "0d9e8f7a-1b2c-4d3e-8f4a-5b6c7d8e9f0a",
        "synthesis_attempts": 0,
        "_meta": {
            "written_at": "2026-11-30T08:00:00.123456+00:00",
            "mode": "research",
            "schema_version": 1,
            "written_by": "omh-plugin",
            "session_id": "elsewhere",
        },
        "notes_of_another_tool": {"a": [1, None]},
    }
    state = reparse(plain)
    assert (state.state_version, state.revision, state.delegate) == (1, 0, "")
    assert not is_own(state) and is_own(parse(render(state)))
    assert json.loads(render(state))["notes_of_another_tool"] == {"a": [1, None]}


@pytest.mark.parametrize(
    ("field", "value"),
    [("state_version", 2), ("state_version", 99), ("_meta", {"schema_version": 2})],
)
def test_a_newer_version_is_refused_and_named(field: str, value: Any) -> None:
    """E4: exit 7, the version is said, and the advice is not to mend the file."""
    with pytest.raises(NewerVersionError) as caught:
        reparse(plain_state(**{field: value}))
    assert caught.value.exit_code == 7
    assert "newer" in str(caught.value) and "not touched" in caught.value.hint


DAMAGED: dict[str, bytes] = {
    "empty": b"",
    "NULs": b"\0" * 300,
    "a number": b"12",
    "a list": b"[]",
    "a string": b'"state"',
    "null": b"null",
    "cut": b'{"phase": "search", "slug": "ti',
    "NaN": json.dumps(plain_state(extra="@")).replace('"@"', "NaN").encode(),
    "Infinity": json.dumps(plain_state(extra="@")).replace('"@"', "-Infinity").encode(),
    "1e999": json.dumps(plain_state(extra="@")).replace('"@"', "1e999").encode(),
    "5000 digits": json.dumps(plain_state(extra="@")).replace('"@"', "9" * 5000).encode(),
    "100000 [": b"[" * 100_000,
    "deep inside": json.dumps(plain_state(extra="@")).replace('"@"', "[" * 400 + "]" * 400).encode(),
    "a key twice": render(a_state()).replace(b'"phase"', b'"phase": "verify",\n "phase"', 1),
    "an inner key twice": b'{"a": {"b": 1, "b": 2}}',
    "lone surrogate": json.dumps(plain_state(topic="a\ud800")).encode(),
    "lone surrogate in a key": json.dumps(plain_state(**{"k\udc00": 1})).encode(),
    "Latin-1": json.dumps(plain_state(topic="Gezeiten für Köln"), ensure_ascii=False).encode("latin-1"),
    "UTF-16": render(a_state()).decode().encode("utf-16"),
    "two documents": render(a_state()) * 2,
    "trailing NULs": render(a_state()) + b"\0" * 40,
    "over the limit": json.dumps(plain_state(extra="x" * 1_000_001)).encode(),
    "phase unknown": json.dumps(plain_state(phase="sleep")).encode(),
    "phase an end": json.dumps(plain_state(phase="confirmed")).encode(),
    "phase a number": json.dumps(plain_state(phase=3)).encode(),
    "another slug": json.dumps(plain_state(slug="moon-20261130-ab12")).encode(),
    "slug a path": json.dumps(plain_state(slug="../../etc")).encode(),
    "slug with newline": json.dumps(plain_state(slug=SLUG + "\n")).encode(),
    "slug missing": json.dumps({k: v for k, v in plain_state().items() if k != "slug"}).encode(),
    "topic missing": json.dumps({k: v for k, v in plain_state().items() if k != "topic"}).encode(),
    "topic empty": json.dumps(plain_state(topic="  ")).encode(),
    "attempts a string": json.dumps(plain_state(synthesis_attempts="1")).encode(),
    "attempts negative": json.dumps(plain_state(synthesis_attempts=-1)).encode(),
    "attempts a boolean": json.dumps(plain_state(synthesis_attempts=True)).encode(),
    "revision enormous": json.dumps(plain_state(revision=2**60)).encode(),
    "completed a string": json.dumps(plain_state(completed_subtopics="Moon")).encode(),
    "completed of numbers": json.dumps(plain_state(completed_subtopics=[1])).encode(),
    "version a string": json.dumps(plain_state(state_version="1")).encode(),
    "version negative": json.dumps(plain_state(state_version=-1)).encode(),
    "version a boolean": json.dumps(plain_state(state_version=True)).encode(),
    "session a path": json.dumps(plain_state(session_id="/../../evil")).encode(),
    "session with newline": json.dumps(plain_state(session_id="a\nb")).encode(),
    "failures a list": json.dumps(plain_state(failures=[1])).encode(),
    "cost infinite": json.dumps(plain_state(spent={"cost_usd": 1})).replace('"cost_usd": 1', '"cost_usd": 1e400').encode(),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(DAMAGED))
def test_anything_else_is_damaged_never_a_traceback(name: str) -> None:
    """E3, 81 section 3: the corpus; the error names the file and is exit 7."""
    with pytest.raises(DamagedFileError) as caught:
        parse(DAMAGED[name])
    assert WHERE in str(caught.value) and caught.value.exit_code == 7


def test_a_byte_order_mark_is_refused() -> None:
    """81 section 3: no silent second reading of what another program wrote."""
    with pytest.raises(DamagedFileError):
        parse(b"\xef\xbb\xbf" + render(a_state()))


def test_every_truncation_is_damaged_or_the_whole_state() -> None:
    """81 section 3: never a silent restart from half a state."""
    data = render(a_state())
    whole = to_plain(parse(data))
    for length in range(len(data)):
        try:
            state = parse(data[:length])
        except DamagedFileError:
            continue
        assert to_plain(state) == whole, length  # only the newline at the end is missing
        assert length == len(data) - 1


def test_every_change_of_one_byte_is_a_valid_state_or_damaged() -> None:
    """81 section 3: each byte, changed to each of the bytes that matter to JSON and UTF-8."""
    data = render(a_state(unknown={"x": [1.5, {"y": None}]}))
    survived = 0
    for position in range(len(data)):
        for new in (0, 0x20, 0x22, 0x2C, 0x30, 0x39, 0x5B, 0x5C, 0x7B, 0x7D, 0x61, 0x80, 0xFF):
            if data[position] == new:
                continue
            changed = data[:position] + bytes([new]) + data[position + 1 :]
            try:
                state = parse(changed)
            except DamagedFileError:
                continue
            survived += 1
            assert state.slug == SLUG and state.phase in PHASES
            assert parse(render(state)), "what was accepted can be written and read again"
    assert survived > 100, "texts may differ by a byte and stay a state"


@settings(max_examples=200, deadline=None)
@given(
    st.binary(max_size=200)
    | st.text(max_size=100).map(lambda text: text.encode("utf-8", "replace"))
)
def test_noise_is_damaged(data: bytes) -> None:
    with pytest.raises(DamagedFileError):
        parse(data)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(plain_state())), JSON, min_size=1, max_size=3))
def test_any_field_of_any_type_is_a_state_or_damaged(fields: dict[str, Any]) -> None:
    """81 section 3: what is accepted can be rendered again."""
    try:
        state = reparse(plain_state(**fields))
    except DamagedFileError:
        return
    assert to_plain(parse(render(state))) | {"_meta": 0} == to_plain(state) | {"_meta": 0}
