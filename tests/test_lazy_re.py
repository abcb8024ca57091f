"""Every lazily compiled pattern of the package is a valid one, and behaves as `re.compile` does."""

import importlib
import pkgutil
import re
import types
from collections.abc import Iterator
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import omh_research
from omh_research.lazy_re import lazy_re


def _patterns(value: object) -> Iterator[object]:
    if type(value).__name__ == "_LazyPattern":
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _patterns(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from _patterns(part)


def _modules() -> Iterator[types.ModuleType]:
    for found in pkgutil.walk_packages(omh_research.__path__, "omh_research."):
        if found.name.endswith("__main__"):
            continue
        try:
            yield importlib.import_module(found.name)
        except ImportError as missing:
            assert not (missing.name or "").startswith("omh_research")


@cache
def _promising() -> list[object]:
    from omh_research.extractive import questions

    questions._asked()
    found = {
        id(lazy): lazy
        for module in _modules()
        for value in (*vars(module).values(), questions._asked())
        for lazy in _patterns(value)
        if vars(lazy)["_needs"] or vars(lazy)["_beyond_ascii"] or vars(lazy)["_guard"]
    }
    return list(found.values())


@settings(max_examples=800, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_every_match_of_a_pattern_holds_what_the_pattern_says_it_needs(data: st.DataObject) -> None:
    lazy = data.draw(st.sampled_from(_promising()))
    source, flags = vars(lazy)["_source"], vars(lazy)["_flags"]
    text = data.draw(st.from_regex(re.compile(source, flags), alphabet=st.characters()))
    assert vars(type(lazy))["may_match"](lazy, text), (source, text)


def test_patterns_that_say_what_they_need_are_many_and_fold_no_letters_beyond_ascii() -> None:
    promising = _promising()
    assert len(promising) > 40
    for lazy in promising:
        if vars(lazy)["_folds"]:
            for part in vars(lazy)["_needs"]:
                assert part == part.lower()
                assert part.isascii() or not any(char.isalpha() for char in part if char > "\x7f")


@pytest.mark.parametrize(
    ("text", "found"),
    [("plain", 0), ("see ARX\u0131V:1", 1), ("arxiv", 0), ("a ArXiv:2 and arxiv:3", 2)],
)
def test_a_text_without_what_a_pattern_needs_is_answered_without_compiling(
    text: str, found: int
) -> None:
    eager = re.compile(r"arxiv:\d", re.IGNORECASE)

    def make() -> re.Pattern[str]:
        return lazy_re(eager.pattern, re.IGNORECASE, needs=("arxiv",))

    assert len(make().findall(text)) == len(list(make().finditer(text))) == found
    assert bool(make().search(text)) == bool(eager.search(text)) == bool(found)
    assert bool(make().match(text)) == bool(eager.match(text))
    assert bool(make().fullmatch(text)) == bool(eager.fullmatch(text))
    assert make().split(text) == eager.split(text)
    assert make().sub("-", text) == eager.sub("-", text)
    assert make().sub(lambda match: match[0][:2], text, 1) == eager.sub(
        lambda match: match[0][:2], text, 1
    )
    lazy = make()
    lazy.search(text)
    assert ("_compiled" in vars(lazy)) == ("arx" in text.lower())


def test_every_lazy_pattern_of_the_package_compiles() -> None:
    seen = 0
    for module in _modules():
        for value in vars(module).values():
            for lazy in _patterns(value):
                assert lazy.groups >= 0  # type: ignore[attr-defined]
                seen += 1
    assert seen > 300


def test_a_lazy_pattern_answers_as_a_compiled_one() -> None:
    lazy, eager = lazy_re(r"(?P<x>a+)b", re.IGNORECASE), re.compile(r"(?P<x>a+)b", re.IGNORECASE)
    text = "xaab AB aab"
    assert lazy.sub("-", text) == eager.sub("-", text)
    assert [found["x"] for found in lazy.finditer(text)] == ["aa", "A", "aa"]
    assert (lazy.pattern, lazy.flags, lazy.groupindex) == (
        eager.pattern, eager.flags, eager.groupindex,
    )  # fmt: skip
    assert lazy_re(rb"\d+").findall(b"1 22") == [b"1", b"22"]


def test_a_wrong_lazy_pattern_fails_at_its_first_use_each_time() -> None:
    wrong = lazy_re("(")
    for _ in range(2):
        with pytest.raises(re.error):
            wrong.match("x")


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(max_codepoint=0x7F)))
def test_patterns_for_ascii_find_there_what_the_general_ones_find(text: str) -> None:
    from omh_research.tools import proper_names, sentences

    for quick, general in (
        (proper_names._ASCII_WORD, proper_names._WORD),
        (sentences._ASCII_END, sentences._END),
        (sentences._ASCII_NEXT, sentences._NEXT),
    ):
        found = [(match.span(), match.groups()) for match in quick.finditer(text)]
        assert found == [(match.span(), match.groups()) for match in general.finditer(text)]
