"""Where units run: in this process, in a pool of processes, or on a Dask cluster (spec S2).

Job: one small interface (submit, completed, close) with three implementations. Refuses to know
what a unit means. Importers: batch.runner, cli.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol

from omh_research.batch.unit import Done, Unit
from omh_research.errors import PrerequisiteError, UsageError

EXECUTORS = ("serial", "processes", "dask")
_INSTALL = "Install it: pip install 'omh-research[cluster]'."


class Executor(Protocol):
    """Runs units. `completed` blocks until one is done; a lost unit comes back as "lost"."""

    width: int

    def submit(self, unit: Unit) -> None:
        """Hand a unit over."""
        ...

    def completed(self) -> Done:
        """Return the next unit that is done."""
        ...

    def close(self) -> None:
        """Stop; units that are under way may be given up (they are resumable)."""
        ...


class SerialExecutor:
    """Runs each unit when its result is asked for."""

    width = 1

    def __init__(self, do: Callable[[Unit], Done]) -> None:
        self._do = do
        self._waiting: deque[Unit] = deque()

    def submit(self, unit: Unit) -> None:
        """Queue a unit."""
        self._waiting.append(unit)

    def completed(self) -> Done:
        """Run the oldest unit."""
        return self._do(self._waiting.popleft())

    def close(self) -> None:
        """Forget what is queued."""
        self._waiting.clear()


class ProcessExecutor:
    """A pool of processes; a pool broken by a killed worker is made anew, its units are lost."""

    def __init__(self, do: Callable[[Unit], Done], workers: int) -> None:
        self._do, self.width = do, workers
        self._pool: Any = None
        self._running: dict[Any, Unit] = {}

    def _start(self) -> Any:
        if self._pool is None:
            import multiprocessing
            from concurrent.futures import ProcessPoolExecutor

            context = multiprocessing.get_context("spawn")  # no fork while locks are held
            self._pool = ProcessPoolExecutor(self.width, mp_context=context)
        return self._pool

    def submit(self, unit: Unit) -> None:
        """Hand a unit to the pool."""
        from concurrent.futures.process import BrokenProcessPool

        try:
            future = self._start().submit(self._do, unit)
        except BrokenProcessPool:
            self._pool = None
            future = self._start().submit(self._do, unit)
        self._running[future] = unit

    def completed(self) -> Done:
        """Return the next result; a unit whose worker was killed is "lost"."""
        from concurrent.futures import FIRST_COMPLETED, wait
        from concurrent.futures.process import BrokenProcessPool

        done, _ = wait(self._running, return_when=FIRST_COMPLETED)
        future = next(iter(done))
        unit = self._running.pop(future)
        try:
            result: Done = future.result()
        except BrokenProcessPool:
            self._pool = None
            return Done(unit.slug, unit.expected, "lost", "its worker was killed")
        return result

    def close(self) -> None:
        """Stop the pool without waiting for queued units."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)


class DaskExecutor:
    """A Dask cluster: at `address`, else a local one. Each future is released when it is done,

    because Dask may run a finished unit again when the worker that holds its result is lost.
    """

    def __init__(self, do: Callable[[Unit], Done], workers: int, address: str) -> None:
        try:
            dask: Any = import_module("distributed")
        except ModuleNotFoundError as error:
            message = "The dask executor needs `distributed`."
            raise PrerequisiteError(message, hint=_INSTALL) from error
        self._do = do
        self._cluster: Any = None
        target: Any = address
        if not address:
            self._cluster = target = dask.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None
            )
        self._client: Any = dask.Client(target)
        threads = sum(self._client.nthreads().values())
        self.width = max(1, threads if address else workers)
        self._done: Any = dask.as_completed()
        self._units: dict[str, Unit] = {}

    def submit(self, unit: Unit) -> None:
        """Hand a unit to the cluster."""
        future = self._client.submit(self._do, unit, pure=False, retries=0)
        self._units[future.key] = unit
        self._done.add(future)

    def completed(self) -> Done:
        """Return the next result; a unit that failed with its worker is "lost"."""
        future = next(self._done)
        unit = self._units.pop(future.key)
        try:
            if future.status != "finished":
                return Done(unit.slug, unit.expected, "lost", str(future.exception())[:200])
            result: Done = future.result()
            return result
        finally:
            future.release()

    def close(self) -> None:
        """Leave the cluster; a local one is stopped."""
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()


def make_executor(
    name: str, do: Callable[[Unit], Done], *, workers: int, address: str = ""
) -> Executor:
    """Return the executor called `name`.

    Raises:
        UsageError: no such executor. PrerequisiteError: its package is missing.
    """
    if name == "serial":
        return SerialExecutor(do)
    if name == "processes":
        return ProcessExecutor(do, workers)
    if name == "dask":
        return DaskExecutor(do, workers, address)
    raise UsageError(f"No executor is called {name!r}.", hint=f"Known: {', '.join(EXECUTORS)}.")
