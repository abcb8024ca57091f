"""Where units run: in this process, in a pool of processes, or on a Dask cluster (spec S2).

Job: one small interface (submit, completed, close), the serial implementation and the choice; the
others stand in `process_pool` and `dask_cluster`. Refuses to know what a unit means. Importers:
batch, cli.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from omh_research.batch.unit import Done, Unit
from omh_research.errors import UsageError

EXECUTORS = ("serial", "processes", "dask")
Work = Callable[[Unit], Done]


class Executor(Protocol):
    """Runs units; a unit whose worker died comes back as "lost"."""

    @property
    def room(self) -> int:
        """How many units may run or wait there at once; it may change while a cluster grows."""
        ...

    def submit(self, unit: Unit) -> None:
        """Hand a unit over."""
        ...

    def completed(self, timeout_s: float | None = None) -> Done | None:
        """Return the next unit that is done, or None when the time is up."""
        ...

    def close(self, *, now: bool = False) -> None:
        """Stop; with `now`, units under way are given up (they are resumable)."""
        ...


class SerialExecutor:
    """Runs each unit when its result is asked for."""

    room = 1

    def __init__(self, do: Work) -> None:
        self._do = do
        self._waiting: deque[Unit] = deque()

    def submit(self, unit: Unit) -> None:
        """Queue a unit."""
        self._waiting.append(unit)

    def completed(self, timeout_s: float | None = None) -> Done | None:
        """Run the oldest unit to its end, whatever the time."""
        return self._do(self._waiting.popleft())

    def close(self, *, now: bool = False) -> None:
        """Forget what is queued."""
        self._waiting.clear()


def make_executor(name: str, do: Work, *, workers: int, address: str = "") -> Executor:
    """Return the executor called `name`; `do` must be importable by a worker.

    Raises:
        UsageError: no such executor. PrerequisiteError: its package or its cluster is missing.
    """
    if name == "serial":
        return SerialExecutor(do)
    if name == "processes":
        from omh_research.batch.process_pool import ProcessExecutor

        return ProcessExecutor(do, workers)
    if name == "dask":
        from omh_research.batch.dask_cluster import DaskExecutor

        return DaskExecutor(do, workers, address)
    raise UsageError(f"No executor is called {name!r}.", hint=f"Known: {', '.join(EXECUTORS)}.")
