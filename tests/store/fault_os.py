"""A stand-in for the `os` module inside `omh_research.store.disk` that counts, records and fails.

Everything is passed on to the real `os`; a rule may make the n-th call of one name fail, and
`short` makes every write take at most so many bytes, as a full disk or a signal may.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from omh_research.store import disk

CHANGING = (
    "open", "write", "fsync", "close", "replace", "rename", "unlink", "mkdir", "rmdir", "ftruncate",
)  # fmt: skip


class FaultyOs:
    """`calls` holds (name, file name or descriptor) of the calls that change the disk, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.short = 0
        self._fail: dict[str, tuple[int, int, bool]] = {}
        self._counts: dict[str, int] = {}
        self._names: dict[int, str] = {}

    def fail(self, name: str, number: int, code: int = errno.EIO, *, onwards: bool = False) -> None:
        """Make the `number`-th call (from 1) of `name` fail with `code`."""
        self._fail[name] = (number, code, onwards)

    def count(self, name: str) -> int:
        """Return how often `name` was called."""
        return self._counts.get(name, 0)

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in CHANGING:
            return real

        def call(*args: Any, **kwargs: Any) -> Any:
            return self._call(name, real, args, kwargs)

        return call

    def _call(self, name: str, real: Any, args: Any, kwargs: Any) -> Any:
        number = self._counts[name] = self.count(name) + 1
        target = args[0]
        shown = (
            self._names.get(target, "?") if isinstance(target, int) else os.path.basename(target)
        )
        self.calls.append((name, shown))
        planned, code, onwards = self._fail.get(name, (0, 0, False))
        if number == planned or (onwards and planned and number > planned):
            if name == "close":
                real(*args)
            raise OSError(code, os.strerror(code))
        if name == "write" and self.short:
            args = (target, bytes(args[1][: self.short]))
        result = real(*args, **kwargs)
        if name == "open":
            self._names[result] = shown
        return result

    def names(self) -> list[str]:
        """Return the names of the recorded calls without `open` and `close`."""
        return [name for name, _ in self.calls if name not in ("open", "close")]


@contextmanager
def faulty_disk(patch: pytest.MonkeyPatch) -> Iterator[FaultyOs]:
    """Let the store's system calls go through a `FaultyOs`."""
    fake = FaultyOs()
    with patch.context() as inner:
        inner.setattr(disk, "os", fake)
        yield fake
