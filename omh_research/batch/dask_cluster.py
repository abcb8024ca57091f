"""A Dask cluster: many machines that share the root's folder (spec S2, S3).

Job: units as futures, each released when it is done, because Dask may run a finished unit again
when the worker that holds its result is lost (which is harmless: a unit is idempotent). The one
door to `distributed`. Refuses to wait in silence for a cluster that is not there. Importers:
batch.executors.
"""

from __future__ import annotations

import contextlib
import queue
import time
from collections import deque
from importlib import import_module
from typing import Any

from omh_research.batch.executors import Work
from omh_research.batch.unit import Done, Unit
from omh_research.errors import PrerequisiteError

CONNECT_S = 30.0
WORKERS_S = 60.0
LOOK_EVERY_S = 2.0
UNITS_A_THREAD = 8  # sent and fetched together: one by one each costs a round trip
GONE_AFTER_S = 60.0
_INSTALL = "Install it: pip install 'omh-research[cluster]'."
_START = "Start one: `dask scheduler`, then `dask worker tcp://HOST:8786 --nthreads 1` anywhere."


class DaskExecutor:
    """Units on the cluster at `address`, else on a local one of `workers` processes.

    Raises:
        PrerequisiteError: `distributed` is missing, no scheduler answers, or it has no worker.
    """

    def __init__(self, do: Work, workers: int, address: str) -> None:
        try:
            dask: Any = import_module("distributed")
        except ModuleNotFoundError as error:
            message = "The dask executor needs `distributed`."
            raise PrerequisiteError(message, hint=_INSTALL) from error
        self._do = do
        self._cluster: Any = None
        self._units: dict[str, tuple[Unit, Any]] = {}
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._waiting: list[Unit] = []
        self._ready: deque[Done] = deque()
        self._silent_since: float | None = None
        target: Any = address
        if not address:
            self._cluster = target = dask.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None
            )
        try:
            self._client: Any = dask.Client(target, timeout=CONNECT_S)
            self._client.wait_for_workers(1, timeout=WORKERS_S)
        except (OSError, ValueError) as error:  # TimeoutError is an OSError
            self._close_all()
            where = address or "the local cluster"
            raise PrerequisiteError(
                f"No Dask scheduler with workers at {where}: {str(error)[:200]}.", hint=_START
            ) from error
        self._width, self._looked = 1, 0.0

    @property
    def room(self) -> int:
        """Some units a thread of the cluster, looked up now and then: workers come and go."""
        now = time.monotonic()
        if now - self._looked > LOOK_EVERY_S:
            with contextlib.suppress(OSError):
                self._width = max(1, sum(self._client.nthreads().values()))
            self._looked = time.monotonic()
        return self._width * UNITS_A_THREAD

    def submit(self, unit: Unit) -> None:
        """Hand a unit over; it goes to the cluster, with others, before the next is waited for."""
        self._waiting.append(unit)

    def _send(self) -> None:
        units, self._waiting = self._waiting, []
        futures = self._client.map(self._do, units, pure=False, retries=0) if units else []
        for unit, future in zip(units, futures, strict=True):
            self._units[future.key] = unit, future  # a future that nobody holds is cancelled
            future.add_done_callback(self._done.put)

    def completed(self, timeout_s: float | None = None) -> Done | None:
        """Return the next result; a unit that failed with its worker is "lost".

        Raises:
            PrerequisiteError: the scheduler is gone and does not come back.
        """
        if self._ready:
            return self._ready.popleft()
        self._send()
        pause = LOOK_EVERY_S if timeout_s is None else min(timeout_s, LOOK_EVERY_S)
        try:
            futures = [self._done.get(timeout=pause)]
        except queue.Empty:
            self._check_scheduler()
            return None
        self._silent_since = None
        while not self._done.empty():
            futures.append(self._done.get())
        self._ready.extend(self._fetch(futures))
        return self._ready.popleft()

    def _fetch(self, futures: list[Any]) -> list[Done]:
        """Return the results of futures that are done, fetched at once, and release them."""
        finished = [future for future in futures if future.status == "finished"]
        try:
            fetched = self._client.gather(finished)
        except Exception:  # a result went with its worker: one by one
            fetched = [self._fetch_one(future) for future in finished]
        results = dict(zip([future.key for future in finished], fetched, strict=True))
        found = []
        for future in futures:
            unit, _ = self._units.pop(future.key)
            done = results.get(future.key)
            if done is None:
                done = Done(unit.slug, unit.expected, "lost", self._reason(future))
            found.append(done)
            future.release()
        return found

    @staticmethod
    def _fetch_one(future: Any) -> Done | None:
        try:
            done: Done = future.result()
        except Exception:  # whatever it was: the unit is lost, and will be tried again
            return None
        return done

    @staticmethod
    def _reason(future: Any) -> str:
        if future.status != "error":
            return f"the unit was {future.status}"
        return str(future.exception())[:200]

    def _check_scheduler(self) -> None:
        if self._client.status == "running":
            self._silent_since = None
            return
        now = time.monotonic()
        self._silent_since = self._silent_since or now
        if self._client.status == "closed" or now - self._silent_since > GONE_AFTER_S:
            message = "The Dask scheduler is gone; every run is resumable."
            raise PrerequisiteError(message, hint=f"{_START} Then call batch again.")

    def close(self, *, now: bool = False) -> None:
        """Leave the cluster; units under way are given up; a local cluster is stopped."""
        self._close_all()

    def _close_all(self) -> None:
        for part in (getattr(self, "_client", None), self._cluster):
            if part is not None:
                with contextlib.suppress(Exception):  # a cluster that is gone is closed
                    part.close()
