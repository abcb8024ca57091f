"""What the quick reader reads, a YAML reader reads the same; all we write, it reads."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from omh_research.documents.frontmatter import render
from omh_research.documents.own_yaml import read_own_yaml
from tests.documents.test_frontmatter import META, as_strings


class _Strings(yaml.SafeLoader):
    """Reads every scalar as the string it is written as."""


_Strings.yaml_implicit_resolvers = {}


def _block(meta: dict[str, Any]) -> str:
    return render(meta, "").removeprefix("---\n").removesuffix("---\n\n")


@given(META)
def test_what_is_written_is_read_or_left_to_the_full_reader(meta: dict[str, Any]) -> None:
    read = read_own_yaml(_block(meta))
    assert read in (None, as_strings(meta))


@given(META, st.data())
def test_a_changed_block_is_read_as_yaml_reads_it_or_not_at_all(
    meta: dict[str, Any], data: st.DataObject
) -> None:
    block = _block(meta)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(block)))
        cut = data.draw(st.integers(0, 3))
        new = data.draw(st.sampled_from([*"\n :-[]{},\"'#&*!|>%@`\\?a1\t\x85\u2028\ud83d", "  ", ": ", "- ", "\\u0041", "\\x41", "---\n"]))  # fmt: skip
        block = block[:at] + new + block[at + cut :]
    read = read_own_yaml(block)
    if read is not None:
        assert read == (yaml.load(block, Loader=_Strings) or {})


@pytest.mark.parametrize(
    "text",
    ["a: &x b\n", "a: *x\n", "a: !t b\n", "a: b\na: c\n", "<<: b\n", "a: b", "a: [b, c\n", "a:\n",
     "a: b # c\n", "a: 'b'\n", "a: b c\n", "a: 010\n", "a:  b\n", "a: {b: c, b: d}\n", "a: \"\\ud83d\"\n",
     "a:\n  - b\n    c: d\n", "a:\n    b: c\n", "a: [[[[[[b]]]]]]\n", "%YAML 1.1\n", "a: [b,c]\n",
     "a: \"b\" c\n", "a: ~\n", "a: \"\\u0000\"\n"],
)  # fmt: skip
def test_what_only_a_full_reader_can_judge_is_left_to_it(text: str) -> None:
    assert read_own_yaml(text) is None


def test_a_plan_is_read_without_the_yaml_package() -> None:
    meta = {
        "status": "planning",
        "topic": "Wie viel? “ja” — 多少",
        "subtopics": [{"name": "a b", "queries": ["a", "b c"]}, {"name": "n", "queries": []}],
        "revision": 0,
        "n": {"x": "y: z", "no": [1, -2]},
        "empty": [],
        "nothing": {},
    }
    assert read_own_yaml(_block(meta)) == as_strings(meta)


def test_a_planners_list_is_read_without_the_yaml_package() -> None:
    text = '- name: "a: b"\n  queries: ["c", "d e"]\n- name: "f"\n  queries: []\n'
    expected = [{"name": "a: b", "queries": ["c", "d e"]}, {"name": "f", "queries": []}]
    assert read_own_yaml(text) == expected == yaml.safe_load(text)
    for odd in ("- a\n b\n", "- a\n- b: c\n   d: e\n", "-  a\n", "- a: b\nc: d\n"):
        assert read_own_yaml(odd) is None
