"""Stopping the engine inside the process at any one change of the disk, as a SIGKILL would.

`crash_at` counts the store's changing system calls; at the chosen one it stops before it, or in
the middle of a write. From then on nothing changes the disk any more, as in a dead process, and
the locks are let go, as the kernel would.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from omh_research.store import disk, lease, lock

CHANGES = ("write", "fsync", "replace", "rename", "link", "unlink", "mkdir", "rmdir", "ftruncate")


class Crash(BaseException):
    """The process is gone."""


class DyingOs:
    """The `os` module of a process that dies at the `at`-th change (0: never)."""

    def __init__(self, at: int, torn: bool) -> None:
        self.at, self.torn = at, torn
        self.count = 0
        self.dead = False
        self.kinds: list[str] = []

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name == "open":
            return self._opening
        if name not in CHANGES:
            return real

        def call(*args: Any, **kwargs: Any) -> Any:
            if self.dead:
                raise Crash
            self.count += 1
            self.kinds.append(name)
            if self.count == self.at:
                self.dead = True
                if self.torn and name == "write":
                    real(args[0], bytes(args[1][: len(args[1]) // 2]))
                raise Crash
            return real(*args, **kwargs)

        return call

    def _opening(self, path: Any, flags: int, *args: Any, **kwargs: Any) -> int:
        if self.dead and flags & (os.O_CREAT | os.O_WRONLY | os.O_RDWR):
            raise Crash
        return os.open(path, flags, *args, **kwargs)


@contextmanager
def crash_at(patch: pytest.MonkeyPatch, at: int, *, torn: bool = False) -> Iterator[DyingOs]:
    """Let the store die at its `at`-th change; leave as a new process would find the machine."""
    dying = DyingOs(at, torn)
    held: list[lock.Lock] = []
    real = lock.acquire

    def acquire(path: str, **kwargs: Any) -> lock.Lock:
        if dying.dead:
            raise Crash
        taken = real(path, **kwargs)
        held.append(taken)
        return taken

    with patch.context() as inner:
        inner.setattr(disk, "os", dying)
        inner.setattr(lease, "os", dying)
        inner.setattr(lock, "acquire", acquire)
        try:
            yield dying
        except Crash:
            pass
        finally:
            for taken in held:
                taken.release()
