"""Topic files: what they may hold, and what hostile ones come to (S1)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from omh_research.batch.topics import Topic, batch_id, read_topics
from omh_research.documents.options import RunOptions
from omh_research.errors import UsageError

DEFAULTS = RunOptions(caps={"max_fetches": 3.0}, delegate_options={"model": "m", "x": 1})


def read(path: Path) -> tuple[Topic, ...]:
    return read_topics(str(path), str(path.parent / "root"), "extractive", DEFAULTS)


def write(tmp_path: Path, name: str, data: str | bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_text_file_holds_a_topic_a_line(tmp_path: Path, mark: bytes, end: str) -> None:
    """S1: BOM, CRLF, comments, blank lines, white space; equal topics once, the first stays."""
    lines = [
        "# mine",
        "",
        "  What is a  tide? ",
        "Wie hoch ist die Flut?",
        "what is a TIDE?",
        "潮?",
    ]
    path = write(tmp_path, "topics.txt", mark + end.join(lines).encode())
    topics = read(path)
    assert [t.topic for t in topics] == ["What is a tide?", "Wie hoch ist die Flut?", "潮?"]
    assert all(t.options == DEFAULTS and t.delegate == "extractive" for t in topics)
    assert not any(t.problem for t in topics)


ROW = {
    "topic": "What is a tide?",
    "subtopics": [{"name": f"Part {n}", "queries": [f"a {n}", f"b {n}"]} for n in range(3)],
    "corpus": ["notes"],
    "language": "de",
    "rounds": 2,
    "panel": 3,
    "max_tokens": 1000,
    "max_cost": 0.5,
    "task_timeout": 2.5,
    "require_quotes": True,
    "caps": {"max_fetches": 1},
    "options": {"x": 2, "y": "z"},
}


def as_yaml() -> str:
    parts = "".join(f"    - name: Part {n}\n      queries: [a {n}, b {n}]\n" for n in range(3))
    return (
        "topics:\n- topic: What is a tide?\n  subtopics:\n" + parts + "  corpus: notes\n"
        "  language: de\n  rounds: 2\n  panel: 3\n  max_tokens: 1000\n  max_cost: 0.5\n"
        "  task_timeout: 2.5\n  require_quotes: true\n  caps: {max_fetches: 1}\n"
        "  options: {x: 2, y: z}\n- A plain topic\n"
    )


@pytest.mark.parametrize("kind", ["jsonl", "json", "yaml"])
def test_a_row_brings_its_own_options(tmp_path: Path, kind: str) -> None:
    """S1: plan, corpus and options per topic, over the batch's own as defaults; paths from it."""
    texts = {
        "jsonl": json.dumps(ROW) + "\r\n" + json.dumps("A plain topic") + "\n",
        "json": json.dumps([ROW, "A plain topic"]),
        "yaml": as_yaml(),
    }
    first, plain = read(write(tmp_path, f"t.{kind}", texts[kind]))
    options = first.options
    assert first.problem == "" and first.topic == "What is a tide?"
    assert [name for name, _ in options.subtopics] == ["Part 0", "Part 1", "Part 2"]
    assert options.corpus == (str(tmp_path / "notes"),)  # outside the root: as an absolute path
    assert (options.language, options.rounds, options.panel) == ("de", 2, 3)
    assert (options.max_tokens, options.task_timeout_s, options.require_quotes) == (1000, 2.5, True)
    assert options.caps == {"max_fetches": 1.0, "max_cost_usd": 0.5}
    own = options.delegate_options
    assert own["model"] == "m" and str(own["x"]) == "2" and own["y"] == "z"
    assert plain == Topic("A plain topic", "extractive", DEFAULTS)


def test_a_command_or_a_model_implies_its_delegate(tmp_path: Path) -> None:
    """S1: as on the command line."""
    rows = [{"topic": "a", "command": "cat"}, {"topic": "b", "model": "x"}, {"topic": "c"}]
    path = write(tmp_path, "t.jsonl", "\n".join(map(json.dumps, rows)))
    assert [t.delegate for t in read(path)] == ["command", "llm", "extractive"]
    assert read(path)[0].options.delegate_options["command"] == "cat"


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("t.txt", b"", "holds no topic"),
        ("t.txt", b"# only\n\n  \n", "holds no topic"),
        ("t.txt", b"\xff\xfeW\x00h\x00", "not UTF-8"),
        ("t.txt", "Grüße".encode("latin-1"), "not UTF-8"),
        ("t.txt", b"\x7fELF\x02\x01\x00\x00\x00\x00", "NUL bytes"),
        ("t.yaml", b"", "a list of topics"),
        ("t.yaml", b"topic: x\n", "a list of topics"),
        ("t.yaml", b"topics: [a, b", "cannot be read"),
        ("t.yaml", b"a: &a [x, x]\nb: [*a, *a]\ntopics: [*a]\n", "anchor"),
        ("t.yaml", b"- !!python/object/apply:os.system [id]\n", "tag"),
        ("t.yaml", b"- topic: a\n  topic: b\n", "stands twice"),
        ("t.yaml", b"- a\n---\n- b\n", "second document"),
        ("t.yaml", b"- " * 4000 + b"x\n", "deeper"),
        ("t.yaml", b"- a topic of some length\n" * 4000, "JSON lines"),
        ("t.json", b"{", "t.json"),
        ("t.json", b"[" * 100_000, "t.json"),
        ("t.json", b'"x"', "a list of topics"),
        ("t.jsonl", b"", "holds no topic"),
    ],
)
def test_a_file_that_is_none_is_refused_in_one_line(
    tmp_path: Path, name: str, data: bytes, says: str
) -> None:
    """S1, 81 section 4: empty, binary, another encoding, YAML bombs; what and where is said."""
    path = write(tmp_path, name, data)
    with pytest.raises(UsageError) as caught:
        read(path)
    assert says in str(caught.value) and name in str(caught.value)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 600


def test_what_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "absent.txt", tmp_path):
        with pytest.raises(UsageError, match="Cannot read"):
            read(path)


def test_too_large_and_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S1: limits are said with their figure."""
    from omh_research.batch import topics

    monkeypatch.setattr(topics, "MAX_TOPICS", 10)
    monkeypatch.setattr(topics, "MAX_FILE_BYTES", 1000)
    with pytest.raises(UsageError, match="more than 10 topics"):
        read(write(tmp_path, "many.txt", "\n".join(f"topic {n}" for n in range(11))))
    with pytest.raises(UsageError, match="larger than 1000 bytes"):
        read(write(tmp_path, "big.txt", b"x" * 1001))


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({"topic": "x", "depth": 3}, "unknown option: depth"),
        ({"topic": 7}, "a topic is a text"),
        ({"name": "x"}, "a topic is a text"),
        ([1, 2], "a topic is a text"),
        (None, "a topic is a text"),
        ({"topic": "x", "plan": "absent.yaml"}, "Cannot read the plan absent.yaml"),
        ({"topic": "x", "plan": "bomb.yaml"}, "anchor"),
        ({"topic": "x", "plan": ["a"]}, "plan wants a text"),
        ({"topic": "x", "plan": "p", "subtopics": []}, "not both"),
        ({"topic": "x", "subtopics": 7}, "subtopics"),
        ({"topic": "x", "rounds": 9}, "rounds wants a number from 1 to 5"),
        ({"topic": "x", "rounds": 1.5}, "whole number"),
        ({"topic": "x", "panel": 4}, "3, 5 or 7"),
        ({"topic": "x", "panel": True}, "panel wants a number"),
        ({"topic": "x", "caps": [1]}, "caps wants"),
        ({"topic": "x", "caps": {"max_fetches": "many"}}, "max_fetches wants a number"),
        ({"topic": "x", "max_cost": float("nan")}, "max_cost wants"),
        ({"topic": "x", "max_cost": -1}, "max_cost wants"),
        ({"topic": "x", "corpus": [3]}, "corpus wants a text"),
        ({"topic": "x", "bundle": {}}, "bundle wants a text"),
        ({"topic": "x", "require_quotes": "perhaps"}, "true or false"),
        ({"topic": "x", "options": "a=b"}, "options wants"),
        ({"topic": "x", "model": 3}, "model wants a text"),
        ({"topic": "x", "delegate": ["llm"]}, "delegate wants a text"),
    ],
)
def test_a_broken_row_is_a_topic_that_fails_by_itself(
    tmp_path: Path, row: object, says: str
) -> None:
    """S1: one broken topic never stops the others; the reason is kept for the table."""
    write(tmp_path, "bomb.yaml", "a: &a [x, x]\nsubtopics: [*a, *a]\n")
    lines = [json.dumps("before"), json.dumps(row), "{not json", json.dumps("after")]
    topics = read(write(tmp_path, "t.jsonl", "\n".join(lines)))
    assert [t.problem == "" for t in topics] == [True, False, False, True]
    assert says in topics[1].problem and len(topics[1].problem) <= 300
    assert "line 3 is not JSON" in topics[2].problem


def test_the_same_file_with_the_same_options_is_the_same_batch(tmp_path: Path) -> None:
    """S1: the id is kebab-case, and another option or topic is another batch."""
    path = write(tmp_path, "My Topics!.txt", "a\nb\n")
    one = batch_id(str(path), read(path))
    assert one == batch_id(str(path), read(path)) and one.startswith("my-topics-")
    other = read_topics(str(path), str(tmp_path), "extractive", RunOptions(language="de"))
    path.write_text("a\nb\nc\n")
    assert len({one, batch_id(str(path), other), batch_id(str(path), read(path))}) == 3


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["topic", "plan", "subtopics", "caps", "options", "rounds", "name"])
            | st.text(max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rows=st.lists(_JSON, min_size=1, max_size=5), cut=st.integers(0, 400))
def test_any_rows_and_any_cut_give_topics_or_a_usage_error(
    tmp_path: Path, rows: list[object], cut: int
) -> None:
    """81 section 8, damaged inputs: never a traceback; each topic can be stored and named."""
    text = "\n".join(json.dumps(row) for row in rows)
    for name, data in (("t.jsonl", text), ("t.jsonl", text[:cut]), ("t.json", json.dumps(rows))):
        path = write(tmp_path, name, data)
        try:
            topics = read(path)
        except UsageError:
            continue
        assert topics and all(t.topic.encode() is not None for t in topics)
        assert batch_id(str(path), topics)


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.binary(max_size=200), name=st.sampled_from(["t.txt", "t.yaml", "t.json", "t.jsonl"]))
def test_any_bytes_give_topics_or_a_usage_error(tmp_path: Path, data: bytes, name: str) -> None:
    path = write(tmp_path, name, data)
    try:
        assert read(path)
    except UsageError as error:
        assert name in str(error)
