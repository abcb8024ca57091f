"""Requests under way in one run: no request twice at once, no budget spent twice.

Job: make a second task wait while a first one asks the same thing (it then finds the answer on
record, spec T19), and count the fetches that are reserved but not yet on record (spec T5). Refuses
to fetch and to record. Lives as long as one lap; between processes the run's lock does the same.
Importers: recorded, wiring.
"""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Iterator


class Traffic:
    """What the tasks of one run are asking for just now; safe in threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.RLock())
        self._asked: set[str] = set()
        self._reserved: Counter[str] = Counter()

    @contextlib.contextmanager
    def alone(self, request: str) -> Iterator[None]:
        """Be the only one who makes `request`; wait while another makes it."""
        with self._changed:
            self._changed.wait_for(lambda: request not in self._asked)
            self._asked.add(request)
        try:
            yield
        finally:
            with self._changed:
                self._asked.discard(request)
                self._changed.notify_all()

    @contextlib.contextmanager
    def settled(self) -> Iterator[None]:
        """Hold all reservations still: what is counted and changed inside is one step."""
        with self._changed:
            yield

    def reserve(self, subquestion: str) -> None:
        """Count one fetch as spent, until `release`."""
        with self._changed:
            self._reserved[subquestion] += 1

    def release(self, subquestion: str) -> None:
        """Take back one reservation: the fetch is on record, or was not made."""
        with self._changed:
            self._reserved[subquestion] -= 1

    def reserved(self, subquestion: str) -> tuple[int, int]:
        """Return how many fetches are reserved: in all, and for this subquestion."""
        with self._changed:
            return self._reserved.total(), self._reserved[subquestion]
