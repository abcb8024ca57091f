"""Running a batch: every run advanced by one phase at a time, fairly, until all have ended.

Job: a round-robin of units over an executor; a run that is busy elsewhere is tried again later; one
whose worker dies again and again is tried alone, so that it cannot take others with it; a global
budget; a record. Refuses to let one broken topic stop the others. Importers: cli.
"""

from __future__ import annotations

import heapq
import time
from collections import deque
from collections.abc import Callable

from omh_research.batch.allowance import Allowance, BatchRules
from omh_research.batch.executors import Executor
from omh_research.batch.record import ENDED, Entry, Record, note_cost, write_record
from omh_research.batch.unit import Done, Unit
from omh_research.errors import PrerequisiteError
from omh_research.project import Project

ALONE_AFTER = 2
MAX_LOST_ALONE = 3
BUSY_FIRST_S = 0.1
BUSY_MOST_S = 5.0
BUSY_LIMIT_S = 1800.0
RECORD_EVERY_S = 2.0
RECORD_SHARE = 20


class Runner:
    """Advances the runs of one record over one executor."""

    def __init__(
        self, project: Project, record: Record, executor: Executor, rules: BatchRules
    ) -> None:
        self._project, self._record, self._executor = project, record, executor
        self._allowance = Allowance(rules, record.entries)
        self._entries = {entry.slug: entry for entry in record.entries if entry.slug}
        self._ready = deque(e.slug for e in record.entries if e.status == "active")
        self._later: list[tuple[float, str]] = []
        self._suspects: deque[str] = deque()
        self._running = 0
        self._lost: dict[str, int] = {}
        self._busy: dict[str, tuple[float, float]] = {}
        self._write_after = 0.0

    def run(self, on_done: Callable[[Entry], None] | None = None) -> Record:
        """Advance until every topic has ended, or waits for a host, or cannot go on.

        Raises:
            PrerequisiteError: a worker does not see the folder, or the cluster is gone.
            KeyboardInterrupt: passed on; workers are ended, every run is resumable.
        """
        orderly = False
        try:
            while True:
                self._wake()
                self._fill()
                if self._running:
                    done = self._executor.completed(self._pause_s())
                    if done is not None:
                        self._take(done, on_done)
                elif self._later:
                    time.sleep(min(0.2, self._pause_s() or 0.0))
                elif not (self._ready or self._suspects):
                    break
                self._save(durable=False)
            orderly = True
        finally:
            self._executor.close(now=not orderly)
            self._save(durable=True)
        return self._record

    def _wake(self) -> None:
        while self._later and self._later[0][0] <= time.monotonic():
            self._ready.append(heapq.heappop(self._later)[1])

    def _pause_s(self) -> float | None:
        return max(0.0, self._later[0][0] - time.monotonic()) if self._later else None

    def _fill(self) -> None:
        """Hand out units while there is room; a suspect goes alone."""
        if self._suspects:
            if not self._running and self._may_go(self._suspects[0]):
                self._submit(self._suspects.popleft())
            return
        while self._ready and self._running < self._executor.room:
            if not self._may_go(self._ready[0]):
                return
            self._submit(self._ready.popleft())

    def _may_go(self, slug: str) -> bool:
        answer = self._allowance.ask(self._entries[slug].phase)
        if answer == "stop" and not self._record.stopped:
            self._record.stopped = self._allowance.reason()
        return answer != "wait"

    def _submit(self, slug: str) -> None:
        phase = self._entries[slug].phase
        project, stop = self._project, self._record.stopped
        unit = Unit(project.settings.root, self._record.id, slug, phase, stop)
        self._executor.submit(unit)
        self._allowance.begin(slug, phase)
        self._running += 1

    def _take(self, done: Done, on_done: Callable[[Entry], None] | None) -> None:
        self._running -= 1
        entry = self._entries[done.slug]
        self._allowance.end(entry, done)
        if done.status == "unreachable":
            raise PrerequisiteError(
                f"A unit could not be done: {done.detail}",
                hint="Every worker needs the root's folder under the same path and this version.",
            )
        if done.status == "lost":
            self._note_lost(entry, done.detail)
        elif done.status == "busy":
            self._note_busy(entry, done.detail)
        else:
            self._note(entry, done)
        if on_done is not None:
            on_done(entry)

    def _note(self, entry: Entry, done: Done) -> None:
        self._busy.pop(done.slug, None)
        self._lost.pop(done.slug, None)
        entry.phase, entry.status, entry.detail = done.phase, done.status, done.detail
        if done.status == "active":
            self._ready.append(done.slug)
        elif done.status in ENDED:
            note_cost(self._project, self._record.id, entry)

    def _note_lost(self, entry: Entry, detail: str) -> None:
        """Queue a unit again whose worker died; from the second time on it goes alone."""
        lost = self._lost[entry.slug] = self._lost.get(entry.slug, 0) + 1
        entry.detail = f"{detail}; tried again"
        if lost >= ALONE_AFTER + MAX_LOST_ALONE:
            entry.status = "failed"
            entry.detail = (
                f"its worker died {lost} times, the last {MAX_LOST_ALONE} alone ({detail})"
            )
        elif lost >= ALONE_AFTER:
            self._suspects.append(entry.slug)
        else:
            self._ready.append(entry.slug)

    def _note_busy(self, entry: Entry, detail: str) -> None:
        """Try later: another process has the run; the pause grows while it does."""
        now = time.monotonic()
        since, pause = self._busy.get(entry.slug, (now, BUSY_FIRST_S))
        entry.detail = detail
        if now - since > BUSY_LIMIT_S:
            entry.status = "busy"
            return
        heapq.heappush(self._later, (now + pause, entry.slug))
        self._busy[entry.slug] = since, min(BUSY_MOST_S, pause * 2)

    def _save(self, *, durable: bool) -> None:
        """Write the record now and then: never for more than a twentieth of the time."""
        begin = time.monotonic()
        if durable or begin > self._write_after:
            write_record(self._project, self._record, durable=durable)
            took = time.monotonic() - begin
            self._write_after = begin + max(RECORD_EVERY_S, took * RECORD_SHARE)
