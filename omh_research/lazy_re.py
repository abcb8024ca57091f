"""Regular expressions that are compiled when they are first used.

Its job: keep a module's patterns readable constants at its top without paying for them at import;
compiling the evidence tools' patterns costs more than all other work of a phase, and one
invocation uses a few of them. It refuses to change what a pattern matches or how it is called: what
it returns answers every attribute of `re.Pattern`. Any module may import it.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _LazyPattern:
    """Stands for one pattern; what was looked up once is kept, so later uses cost nothing."""

    def __init__(self, source: Any, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "_compiled":
            compiled: Any = re.compile(self._source, self._flags)
            self._compiled = compiled
            return compiled
        value = getattr(self._compiled, name)
        setattr(self, name, value)
        return value

    def __repr__(self) -> str:
        return f"lazy_re({self._source!r}, {self._flags})"


def lazy_re(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a stand-in for `re.compile(source, flags)` that compiles at its first use.

    A wrong pattern raises `re.error` then, not here; the tests compile every one. It is not an
    instance of `re.Pattern`: call its methods, never `re.sub(pattern, ...)`.
    """
    return cast("re.Pattern[AnyStr]", _LazyPattern(source, flags))
