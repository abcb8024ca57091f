"""Every lazily compiled pattern of the package is a valid one, and behaves as `re.compile` does."""

import importlib
import pkgutil
import re
import types
from collections.abc import Iterator

import pytest

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


def test_every_lazy_pattern_of_the_package_compiles() -> None:
    seen = 0
    for module in _modules():
        for value in vars(module).values():
            for lazy in _patterns(value):
                assert isinstance(lazy.pattern, str | bytes)  # type: ignore[attr-defined]
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
