"""The event log's lines: nothing forges one, nothing torn counts, repeats count once (E16, E33)."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omh_research.documents import event as events
from omh_research.documents.event import Event, Word, make, parse_line, parse_log, render
from omh_research.store.disk import TORN_MARK

SLUG = "tides-20261130-ab12"
NOW = "2026-11-30T09:00:00Z"
LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ [A-Z_]+ slug=\S+( [a-z_]+=.*)? step=\d+")

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


def test_the_seeds_lines_are_written_as_it_says() -> None:
    """E33: `TIME EVENT key=value`, single spaces, the slug in every event."""
    batch = make(Word.BATCH_COMPLETE, SLUG, 3, batch=1, subtopics=("Moon and Sun", "Küsten"))
    assert render(batch, NOW) == (
        f'{NOW} BATCH_COMPLETE slug={SLUG} batch=1 subtopics=["Moon and Sun","K\\u00fcsten"] step=3'
    )
    assert render(make(Word.PLAN_WRITTEN, SLUG, 2, subtopics=4), NOW) == (
        f"{NOW} PLAN_WRITTEN slug={SLUG} subtopics=4 step=2"
    )


FORGERIES = [
    f"x\n{NOW} REPORT_CONFIRMED slug={SLUG} step=9",
    f"x\r{NOW} CANCELLED slug={SLUG} step=9",
    f"x\u2028{NOW} CANCELLED slug={SLUG} step=9",
    f"x\u0085{NOW} CANCELLED slug={SLUG} step=9",
    f"x\x0b{NOW} CANCELLED slug={SLUG} step=9",
    f"x step=9 slug={SLUG}",
    f'x" step=9 slug="{SLUG}',
    '["a"] step=9',
    "[1,\n2]",
    "[[1], [2]]",
    '["a", {"b": "c d"}]',
    "[]",
    "",
    " ",
    "\x00\x1b[31m",
    "\\",
    '"',
    "[",
]


@pytest.mark.parametrize("text", FORGERIES)
def test_a_name_cannot_forge_a_line_or_a_field(text: str) -> None:
    """E33: no newline or control character from a topic can forge a line."""
    event = make(Word.DELEGATE_FAILED, SLUG, 4, subtopic=text, attempt=1)
    line = render(event, NOW)
    assert len(line.splitlines()) == 1 and line.isascii() and line.isprintable()
    back = parse_line(line)
    assert back is not None, line
    assert (back.word, back.slug, back.step) == ("DELEGATE_FAILED", SLUG, 4)
    assert dict(back.fields) == {"subtopic": text, "attempt": "1"}
    assert [e.word for e in parse_log(line + "\n")] == ["DELEGATE_FAILED"]


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(list(Word)),
    st.integers(0, 10**9),
    st.dictionaries(
        st.sampled_from(("subtopic", "reason", "phase")), ANY_TEXT | st.integers(-9, 9), max_size=3
    ),
    st.lists(ANY_TEXT, max_size=3).map(tuple),
)
def test_any_values_come_back(
    word: Word, step: int, fields: dict[str, str | int], names: tuple[str, ...]
) -> None:
    event = make(word, SLUG, step, **fields, subtopics=names)
    line = render(event, NOW)
    assert LINE.fullmatch(line) and line.isascii() and line.isprintable()
    assert parse_line(line) == Event(word.value, SLUG, step, event.fields, NOW)


def test_a_line_torn_at_any_place_is_no_event() -> None:
    """E33: what a crash left of a line is skipped, before and after the next writer ended it."""
    line = render(make(Word.BATCH_COMPLETE, SLUG, 12, batch=1, subtopics=("a b", "c")), NOW)
    good = render(make(Word.STARTED, SLUG, 1), NOW)
    for length in range(len(line) + 1):
        assert [e.word for e in parse_log(f"{good}\n{line[:length]}")] == ["STARTED"]
        if length:
            ended = f"{line[:length]}{TORN_MARK.decode()}{good}\n"
            assert [e.word for e in parse_log(ended)] == ["STARTED"], length


@pytest.mark.parametrize(
    "rubbish",
    [
        "",
        "\0" * 60,
        "hello",
        f"{NOW} lower slug={SLUG}",
        f"{NOW}  DOUBLE slug={SLUG} step=1",
        f"{NOW} GLUED slug={SLUG} step=1{NOW} STARTED slug={SLUG} step=1",
        f"{NOW} ÜMLAUT slug={SLUG}",
        f"{NOW} STARTED slug={SLUG} note=ü step=1",
        f'{NOW} STARTED slug={SLUG} note="open step=1',
        f'{NOW} STARTED slug={SLUG} note="\\x" step=1',
        f"{NOW} STARTED slug={SLUG} step=1\x1b[0m",
        f"2026-11-30 09:00 STARTED slug={SLUG} step=1",
        "x" * 70_000,
    ],
)
def test_what_is_no_line_is_skipped_and_hides_nothing(rubbish: str) -> None:
    """E33: readers skip what does not match the grammar (NULs, foreign and glued lines)."""
    good = render(make(Word.STARTED, SLUG, 1), NOW)
    found = parse_log(f"{rubbish}\n{good}\n")
    assert [(e.word, e.step) for e in found] == [("STARTED", 1)]


def test_a_nul_tail_is_tolerated() -> None:
    """E33, 81 section 2: after a power cut a log may end in NULs."""
    good = render(make(Word.STARTED, SLUG, 1), NOW)
    assert [e.word for e in parse_log(good + "\n" + "\0" * 200)] == ["STARTED"]


def test_an_event_written_again_after_a_crash_counts_once() -> None:
    """E16: the same step number; another time does not make another event."""
    events = [
        make(Word.STARTED, SLUG, 1),
        make(Word.BATCH_COMPLETE, SLUG, 3, batch=1, subtopics=("a",)),
        make(Word.BATCH_COMPLETE, SLUG, 4, batch=2, subtopics=("b",)),
    ]
    lines = [render(e, NOW) for e in events]
    again = [render(e, "2026-11-30T10:00:00Z") for e in events]
    found = parse_log(
        "\n".join([lines[0], lines[1], again[1], lines[2], again[0], again[2]]) + "\n"
    )
    assert [(e.word, e.step) for e in found] == [
        ("STARTED", 1), ("BATCH_COMPLETE", 3), ("BATCH_COMPLETE", 4)
    ]  # fmt: skip


def test_events_without_a_step_are_never_merged() -> None:
    cleared = render(make(Word.CLEARED, SLUG, 0), NOW)
    assert len(parse_log(f"{cleared}\n{cleared}\n")) == 2


def test_two_slugs_in_one_log_stay_apart() -> None:
    other = "moon-20261130-cd34"
    lines = [render(make(Word.STARTED, slug, 1), NOW) for slug in (SLUG, other)]
    assert [e.slug for e in parse_log("\n".join(lines) + "\n")] == [SLUG, other]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("unit", ["a", '"', "[", '["', '"\\', " k=", '["a"', " a=["])
def test_no_hostile_line_makes_the_grammar_backtrack(unit: str) -> None:
    """81 section 7: quadratic work on 60,000 characters would run into the time limit."""
    head = f"{NOW} STARTED slug={SLUG} note="
    for _ in range(20):
        found = parse_line(head + unit * (60_000 // len(unit)))
        assert found is None or found.slug == SLUG


def test_e33_a_log_with_crlf_line_ends_is_read_and_nothing_more() -> None:
    """E33: what an editor made of the line ends hides no event; a bare CR still ends none."""
    lines = [render(make(Word.PLAN_WRITTEN, SLUG, n, subtopics=4), NOW) for n in (2, 3)]
    plain = parse_log("\n".join(lines) + "\n")
    assert len(plain) == 2
    assert parse_log("\ufeff" + "\r\n".join(lines) + "\r\n") == plain
    assert parse_log("\r".join(lines) + "\r\n") == []
    assert parse_log("\r\n".join(lines)) == plain[:1], "the last one is torn"


@given(
    st.lists(
        st.tuples(st.text("abz_", min_size=1), st.text("a1=.:-/\x01~", min_size=1)), max_size=5
    )
)
def test_a_line_without_strings_is_read_as_the_general_way_reads_it(
    fields: list[tuple[str, str]],
) -> None:
    line = " ".join(["2026-01-01T00:00:00Z STARTED", *(f"{key}={value}" for key, value in fields)])
    start = len("2026-01-01T00:00:00Z STARTED")
    quick = events._read_bare(line, start)
    assert quick is None or quick == events._read_fields(line, start)
    if fields and not any("\x01" in value for _, value in fields):
        assert quick == fields
