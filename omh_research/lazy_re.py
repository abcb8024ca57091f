"""Regular expressions that are compiled when they are first used.

Its job: keep a module's patterns readable constants at its top without paying for them at import;
compiling the evidence tools' patterns costs more than all other work of a phase, and one
invocation uses a few of them. A pattern that says what every match holds (`needs`) is not compiled
for texts that hold none of it either. It refuses to change what a pattern matches or how it is
called: what it returns answers every attribute of `re.Pattern`. Any module may import it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, AnyStr, cast

# What a method answers for a text without a match, by its name.
_NOTHING: dict[str, Callable[[Any], Any]] = {
    "search": lambda text: None,
    "match": lambda text: None,
    "fullmatch": lambda text: None,
    "findall": lambda text: [],
    "finditer": lambda text: iter(()),
    "split": lambda text: [text],
}


class _LazyPattern:
    """Stands for one pattern; what was looked up once is kept, so later uses cost nothing."""

    def __init__(
        self,
        source: Any,
        flags: int,
        needs: tuple[str, ...] = (),
        beyond_ascii: bool = False,
        guard: Callable[[str], bool] | None = None,
    ) -> None:
        self._source = source
        self._flags = flags
        self._needs = needs
        self._beyond_ascii = beyond_ascii
        self._guard = guard
        # As `(?i)`, or for a part as `(?i:...)`.
        self._folds = bool(flags & re.IGNORECASE) or (bool(needs) and "(?i" in source)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "pattern":
            return self._source
        if name == "_compiled":
            compiled: Any = re.compile(self._source, self._flags)
            self._compiled = compiled
            return compiled
        is_guarded = bool(self._needs or self._beyond_ascii or self._guard)
        if is_guarded and "_compiled" not in vars(self):
            if name in _NOTHING:
                guarded = self._guarded(name)
                setattr(self, name, guarded)
                return guarded
            if name == "sub":
                return self._guarded_sub
        value = getattr(self._compiled, name)
        setattr(self, name, value)
        return value

    def may_match(self, text: str) -> bool:
        """Tell whether `text` holds something that every match of the pattern holds."""
        if self._guard is not None:
            return self._guard(text)
        if self._beyond_ascii and not text.isascii():
            return True
        if self._folds:  # to a pattern that ignores case a dotless i is an i, and a long s an s
            text = text.lower().replace("\u0131", "i").replace("\u017f", "s")
        return any(part in text for part in self._needs)

    def _guarded(self, name: str) -> Callable[..., Any]:
        def ask(string: str, *places: int) -> Any:
            if not self.may_match(string):
                return _NOTHING[name](string)
            value = getattr(self._compiled, name)
            setattr(self, name, value)
            return value(string, *places)

        return ask

    def _guarded_sub(self, repl: Any, string: str, count: int = 0) -> str:
        if not self.may_match(string):
            return string
        return cast("str", self._compiled.sub(repl, string, count))

    def __repr__(self) -> str:
        return f"lazy_re({self._source!r}, {self._flags})"


def is_unprintable(text: str) -> bool:
    """Tell whether a text holds a control, a format or an unassigned character: a cheap guard."""
    return not text.isprintable()


def lazy_re(
    source: AnyStr,
    flags: int = 0,
    *,
    needs: tuple[str, ...] = (),
    beyond_ascii: bool = False,
    guard: Callable[[str], bool] | None = None,
) -> re.Pattern[AnyStr]:
    """Return a stand-in for `re.compile(source, flags)` that compiles at its first use.

    `needs` are strings of which every match of a text pattern holds one; if `flags` ignore case
    they are in lower case and hold no letters beyond ASCII. `beyond_ascii` says that a match
    without them holds a character beyond ASCII. A `guard` stands in place of both: it is true of
    every text that holds a match anywhere. The tests hold all three to the pattern. A wrong pattern
    raises `re.error` at its first use, not here; the tests compile every one. It is not an instance
    of `re.Pattern`: call its methods, never `re.sub(pattern, ...)`.
    """
    lazy = _LazyPattern(source, flags, needs, beyond_ascii, guard)
    return cast("re.Pattern[AnyStr]", lazy)
