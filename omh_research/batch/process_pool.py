"""A pool of processes on this machine (spec S2).

Job: units over `concurrent.futures`; a pool broken by a killed worker is made anew and its units
are "lost"; workers end with their batch, however it ends: each watches a pipe whose other end only
the batch holds. Refuses to leave a process behind. Importers: batch.executors.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from typing import Any

from omh_research.batch.executors import Work
from omh_research.batch.unit import Done, Unit


class ProcessExecutor:
    """Units in so many processes of their own, started by spawn: no fork while locks are held."""

    def __init__(self, do: Work, workers: int) -> None:
        self._do, self._workers, self.room = do, workers, workers * 2
        self._pool: Any = None
        self._leash: Any = None
        self._running: dict[Any, Unit] = {}
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def _start(self) -> Any:
        if self._pool is None:
            import multiprocessing
            from concurrent.futures import ProcessPoolExecutor

            context = multiprocessing.get_context("spawn")
            watched, leash = context.Pipe(duplex=False)
            self._leash = (leash, watched)
            self._pool = ProcessPoolExecutor(
                self._workers, mp_context=context, initializer=begin_worker, initargs=(watched,)
            )
        return self._pool

    def submit(self, unit: Unit) -> None:
        """Hand a unit to the pool."""
        from concurrent.futures.process import BrokenProcessPool

        try:
            future = self._start().submit(self._do, unit)
        except BrokenProcessPool:
            self._drop()
            future = self._start().submit(self._do, unit)
        self._running[future] = unit
        future.add_done_callback(self._done.put)

    def completed(self, timeout_s: float | None = None) -> Done | None:
        """Return the next result; a unit whose worker was killed is "lost"."""
        from concurrent.futures import BrokenExecutor, CancelledError

        try:
            future = self._done.get(timeout=timeout_s)
        except queue.Empty:
            return None
        unit = self._running.pop(future)
        try:
            result: Done = future.result()
        except (BrokenExecutor, CancelledError):
            return Done(unit.slug, unit.expected, "lost", "its worker was killed")
        return result

    def _drop(self) -> None:
        """End what is left of a broken pool."""
        pool, self._pool = self._pool, None
        for end in self._leash:
            end.close()
        pool.shutdown(wait=True, cancel_futures=True)

    def close(self, *, now: bool = False) -> None:
        """Stop the pool; with `now`, its workers end at once."""
        if self._pool is None:
            return
        if now:
            self._drop()
            return
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = None
        for end in self._leash:
            end.close()


def begin_worker(watched: Any) -> None:
    """Prepare a worker: Ctrl-C is its batch's to handle; it ends when its batch is gone."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_batch, args=(watched,), name="leash", daemon=True).start()


def _end_with_batch(watched: Any) -> None:
    with contextlib.suppress(EOFError, OSError):
        watched.recv_bytes()
    os._exit(1)
