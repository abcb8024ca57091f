"""Frontmatter: strict reading, writing that every YAML reader agrees on, the status line."""

from typing import Any

import frontmatter as oracle
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from omh_research.documents.frontmatter import parse, render, set_status, strip_leading_block
from omh_research.errors import DamagedFileError

SCALAR = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    st.sampled_from(
        ["yes", "no", "null", "~", "1.10", "010", "1e3", "2024-01-02", "10:30", "", " x ", "- a",
         "a: b", "#c", "<<", "*x", "&x", "!x", "'", '"', "a\nb", "---", "\u2028", "\x85", "\x7f", "n", "on"]
    ),
)  # fmt: skip
KEY = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
META = st.dictionaries(
    KEY,
    st.one_of(
        SCALAR,
        st.integers(-10, 10_000),
        st.lists(SCALAR, max_size=3),
        st.lists(
            st.dictionaries(KEY, st.one_of(SCALAR, st.lists(SCALAR, max_size=3)), max_size=3),
            max_size=3,
        ),
        st.dictionaries(KEY, SCALAR, max_size=3),
    ),
    max_size=5,
)
BODY = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)


def as_strings(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: as_strings(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_strings(item) for item in value]
    return str(value)


@given(META, BODY)
def test_what_is_rendered_reads_back_the_same(meta: dict[str, Any], body: str) -> None:
    read, read_body = parse(render(meta, body), where="f.md")
    assert read == as_strings(meta)
    assert list(read) == list(meta)
    assert read_body == body


@given(META, BODY)
def test_other_yaml_readers_see_the_same_values(meta: dict[str, Any], body: str) -> None:
    """python-frontmatter is the oracle; it refuses two key names and non-string keys itself."""
    if {"content", "handler", "encoding"} & set(meta):
        return
    post = oracle.loads(render(meta, body))
    assert post.metadata == meta
    block = render(meta, body).split("---\n")[1]
    assert (yaml.load(block, Loader=yaml.SafeLoader) or {}) == meta


def test_values_stand_as_the_sentinel_needs_them() -> None:
    """E34: `status: draft` reads exactly so, unquoted."""
    text = render({"status": "draft", "topic": "yes", "sources_fetched": 0}, "# T\n")
    assert text == '---\nstatus: draft\ntopic: "yes"\nsources_fetched: 0\n---\n\n# T\n'


def test_a_plan_reads_like_the_seeds_example() -> None:
    text = render({"subtopics": [{"name": "A b", "queries": ["q1", "q 2"]}]}, "")
    assert text == '---\nsubtopics:\n  - name: "A b"\n    queries: [q1, "q 2"]\n---\n\n'


def test_an_unpaired_surrogate_is_replaced_because_it_is_no_text() -> None:
    text = render({"topic": "a\ud800"}, "")
    assert parse(text, where="f")[0] == {"topic": "a\ufffd"}
    assert oracle.loads(text)["topic"] == "a\ufffd"


@pytest.mark.parametrize(
    ("block", "rule"),
    [
        ("status: draft\nstatus: confirmed", "twice"),
        ("a: &x {status: confirmed}\n<<: *x", "anchors"),
        ("<<: {status: confirmed}", "merge"),
        ("a: *x", "alias"),
        ("status: !!str confirmed", "tags"),
        ("status: !evil x", "tags"),
        ("? [a, b]\n: c", "key"),
        ("- a\n- b", "key: value"),
        ("just text", "key: value"),
        ("a: [1", "cannot be read"),
        ("a: 'b", "cannot be read"),
        ("\tstatus: draft", "cannot be read"),
        ("a: " + "[" * 60 + "]" * 60, "deeper"),
        ("a: " + "[" * 20_000, ""),
        ("a: " + "x" * 70_000, "size limit"),
        ("a: x\u2028status: confirmed", "line break"),
        ("a: x\rstatus: confirmed", "line break"),
        ("%YAML 1.1\n--- \na: b", ""),
        ("a: b\n...\nc: d", ""),
    ],
)
def test_hostile_frontmatter_is_refused_with_its_rule(block: str, rule: str) -> None:
    with pytest.raises(DamagedFileError, match=rule or "YAML|frontmatter") as caught:
        parse(f"---\n{block}\n---\n\nbody", where="research/x-report.md")
    assert "research/x-report.md" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# no block",
        "---\nstatus: confirmed\n",
        "--- \nstatus: confirmed",
        "\n---\na: b\n---\n",
        "---a: b\n---\n",
    ],
)
def test_a_missing_fence_is_damage_never_an_empty_block(text: str) -> None:
    with pytest.raises(DamagedFileError, match="---"):
        parse(text, where="f")


def test_scalars_keep_their_spelling() -> None:
    block = "a: 2024-01-02\nb: 10:30\nc: no\nd: 1.10\ne: 010\nf: 1e3\ng: ~\nh:\n1: x\nnull: y\ncontent: z"
    meta, _ = parse(f"---\n{block}\n---\n", where="f")
    assert meta == {
        "a": "2024-01-02", "b": "10:30", "c": "no", "d": "1.10", "e": "010", "f": "1e3", "g": "~",
        "h": "", "1": "x", "null": "y", "content": "z",
    }  # fmt: skip


def test_bom_and_crlf_are_read() -> None:
    meta, body = parse(
        "\ufeff---\r\nstatus: draft\r\na: |\r\n  ---\r\n  x\r\n---\r\n\r\nbody\r\n", where="f"
    )
    assert meta == {"status": "draft", "a": "---\nx\n"}
    assert body == "body\r\n"


def test_rules_in_the_body_do_not_matter() -> None:
    body = "---\nstatus: confirmed\n---\nx"
    assert parse(render({"status": "draft"}, body), where="f") == ({"status": "draft"}, body)


def test_a_block_too_large_to_read_again_is_not_rendered() -> None:
    with pytest.raises(ValueError, match="65536"):
        render({"a": "ä" * 33_000}, "")


@pytest.mark.parametrize("meta", [{"a": None}, {"a": 1.5}, {"a b": "x"}, {"": "x"}, {"a": [b"x"]}])
def test_values_outside_the_format_are_refused(meta: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="frontmatter"):
        render(meta, "")


@pytest.mark.parametrize(
    ("answer", "rest"),
    [
        ("---\nstatus: confirmed\n---\n\n# T\n", "# T\n"),
        ("\n\ufeff ---\nstatus: confirmed\n---\n# T", "# T"),
        ("---\r\nstatus: confirmed\r\n---\r\n# T\r\n", "# T\r\n"),
        ("---\nstatus: draft\nstatus: confirmed\n<<: *x\nlist:\n  - a\n...\n# T", "# T"),
        ("---\n---\n# T", "# T"),
    ],
)
def test_e26_a_leading_block_in_an_answer_goes(answer: str, rest: str) -> None:
    assert strip_leading_block(answer) == (rest, True)


@pytest.mark.parametrize(
    "answer",
    [
        "# T\n\n---\nstatus: confirmed\n---\n",
        "---\n\nA sentence of text.\n\n---\n# T",
        "---\nstatus: confirmed\n# T",
        "",
    ],
)
def test_e26_other_text_stays_verbatim(answer: str) -> None:
    assert strip_leading_block(answer) == (answer, False)


def test_e26_only_one_block_goes() -> None:
    answer = "---\na: b\n---\n---\nstatus: confirmed\n---\nx"
    assert strip_leading_block(answer) == ("---\nstatus: confirmed\n---\nx", True)


@given(META, BODY)
def test_set_status_changes_the_status_line_and_no_other_byte(
    meta: dict[str, Any], body: str
) -> None:
    before = render({**{k: v for k, v in meta.items() if k != "status"}, "status": "draft"}, body)
    after = set_status(before, "confirmed")
    assert after.replace("\nstatus: confirmed\n", "\nstatus: draft\n", 1) == before
    assert parse(after, where="f")[0]["status"] == "confirmed"
    assert set_status(after, "confirmed") == after


def test_set_status_keeps_comments_order_and_line_ends() -> None:
    text = "---\r\nz: 1 # c\r\nstatus: 'draft'\r\na: 'x'\r\n---\r\nstatus: draft\r\n"
    assert set_status(text, "confirmed") == text.replace("status: 'draft'", "status: confirmed")


@pytest.mark.parametrize(
    "text",
    [
        "no block, status: draft",
        "---\ntopic: x\n---\nstatus: draft\n",
        "---\nnested:\n  status: draft\n---\n",
        "---\ntopic: |\n  x\nstatus:\n  - draft\n---\n",
        "---\nstatus: 'draft\n  more'\n---\n",
    ],
)
def test_set_status_refuses_a_file_without_a_plain_status_line(text: str) -> None:
    with pytest.raises(DamagedFileError):
        set_status(text, "confirmed")


@pytest.mark.parametrize("status", ["yes", "a b", "x\ny: z", ""])
def test_set_status_takes_plain_words_only(status: str) -> None:
    with pytest.raises(ValueError, match="status word"):
        set_status("---\nstatus: draft\n---\n", status)


@given(st.text("-:\n\r abc#&*!<\"'[]{}|>%\t\ufeff", max_size=60))
def test_any_text_reads_or_is_damage(text: str) -> None:
    for candidate in (text, f"---\n{text}", f"---\n{text}\n---\n"):
        try:
            meta, _ = parse(candidate, where="f")
        except DamagedFileError:
            continue
        assert isinstance(meta, dict)
