"""Running a batch: register every topic once, then advance each by one phase at a time, fairly.

Job: one registration under the start lock, a round-robin of units over an executor, a global
budget, a record. Refuses to let one broken topic stop the others. Importers: cli.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct

from omh_research import commit, start
from omh_research.api import Engine
from omh_research.batch.executors import Executor
from omh_research.batch.record import ENDED, Entry, Record, read_record, write_record
from omh_research.batch.topics import Topic
from omh_research.batch.unit import Done, Unit
from omh_research.documents import event
from omh_research.documents.names import fold_topic
from omh_research.errors import DamagedFileError, NoSuchRunError, OmhError
from omh_research.store import lock
from omh_research.store.listing import list_runs
from omh_research.store.row import Row

MAX_LOST = 20
BUSY_PAUSE_S = 0.2
RECORD_EVERY_S = 2.0


class BatchRules(Struct, frozen=True):
    """`max_cost_usd` stops new work when all topics together have spent it (None: no limit)."""

    max_cost_usd: float | None = None
    max_model_calls: int = 0
    if_confirmed: str = "view"


def open_record(engine: Engine, batch_id: str, topics: tuple[Topic, ...]) -> Record:
    """Return the record of a batch: the one on disk, else a new one, written at once."""
    project = engine.project
    project.writer.prepare_root()
    try:
        held = {entry.topic: entry for entry in read_record(project, batch_id).entries}
    except (NoSuchRunError, DamagedFileError):
        held = {}
    entries = [held.get(topic.topic, Entry(topic.topic)) for topic in topics]
    record = Record(batch_id, entries, started_at=project.now())
    write_record(project, record)
    return record


def register(engine: Engine, record: Record, topics: tuple[Topic, ...], rules: BatchRules) -> None:
    """Give every topic its run: resumed, confirmed already, or new; one scan for all (spec S1)."""
    project = engine.project
    project.writer.prepare_root()
    with lock.held(project.layout.lock(start.START_LOCK), wait_s=start.START_WAIT_S):
        start.phase_zero(project, engine.wiring.services)
        rows = list_runs(project.layout).rows
        active = {fold_topic(row.topic): row for row in rows if not row.problem}
        damaged = {row.slug: row.problem for row in rows if row.problem}
        known = start.slugs_by_topic(project)
        for entry, topic in zip(record.entries, topics, strict=True):
            folded = fold_topic(topic.topic)
            try:
                found = _Found(active.get(folded), known.get(folded, []), damaged)
                _register_one(engine, entry, topic, found, rules)
            except OmhError as error:
                entry.status, entry.detail = "refused", str(error)


class _Found(NamedTuple):
    """What the scan found on a topic: an active run, plans on it; damaged states of the root."""

    active: Row | None
    slugs: list[str]
    damaged: dict[str, str]


def _register_one(
    engine: Engine,
    entry: Entry,
    topic: Topic,
    found: _Found,
    rules: BatchRules,
) -> None:
    project = engine.project
    row, slugs, damaged = found
    if row is not None:
        entry.slug, entry.phase = row.slug, row.phase
        entry.status = "blocked" if entry.phase == "blocked" else "active"
        return
    for slug in slugs:
        if slug in damaged:
            entry.slug, entry.status, entry.detail = slug, "damaged", damaged[slug]
            return
    if entry.slug in damaged:
        entry.status, entry.detail = "damaged", damaged[entry.slug]
        return
    ends = {slug: project.reader.ended(slug) for slug in slugs}
    for slug, end in ends.items():
        if end == "confirmed" and rules.if_confirmed != "refresh":
            entry.slug, entry.phase, entry.status = slug, "confirmed", "confirmed"
            return
    if entry.slug and ends.get(entry.slug) == "cancelled":
        entry.phase = entry.status = "cancelled"
        return
    if topic.problem:
        entry.status, entry.detail = "refused", topic.problem
        return
    request = start.Request(topic=topic.topic, delegate=topic.delegate, options=topic.options)
    engine.wiring.check(topic.delegate, topic.options)
    state = start.new_state(project, request)
    started = event.make(event.Word.STARTED, state.slug, state.step)
    project.writer.execute(commit.creation(state, started), lambda: None)
    entry.slug, entry.phase, entry.status = state.slug, state.phase, "active"


class Runner:
    """Advances the runs of one record over one executor."""

    def __init__(self, engine: Engine, record: Record, executor: Executor, rules: BatchRules):
        self._engine, self._record, self._executor = engine, record, executor
        self._rules = rules
        self._entries = {entry.slug: entry for entry in record.entries if entry.slug}
        self._lost: dict[str, int] = {}
        self._written = 0.0

    def run(self, on_done: Callable[[Entry], None] | None = None) -> Record:
        """Advance until every topic has ended or waits for a host; return the record."""
        ready = deque(
            entry.slug for entry in self._record.entries if entry.status in ("active", "awaiting")
        )
        running = 0
        try:
            while ready or running:
                while ready and running < self._executor.width * 2:
                    self._executor.submit(self._unit(ready.popleft()))
                    running += 1
                done = self._executor.completed()
                running -= 1
                entry = self._note(done)
                if self._goes_on(entry):
                    ready.append(entry.slug)
                if on_done is not None:
                    on_done(entry)
                self._save(durable=False)
        finally:
            self._executor.close()
            self._save(durable=True)
        return self._record

    def _unit(self, slug: str) -> Unit:
        stop = self._over_budget()
        self._record.stopped = self._record.stopped or stop
        return Unit(self._engine.settings.root, slug, self._entries[slug].phase, stop)

    def _over_budget(self) -> str:
        entries = self._record.entries
        limit = self._rules.max_cost_usd
        cost = sum(entry.cost_usd or 0.0 for entry in entries)
        if limit is not None and cost >= limit:
            return f"the batch's cost cap of ${limit:g} is reached."
        calls = sum(entry.model_calls for entry in entries)
        if self._rules.max_model_calls and calls >= self._rules.max_model_calls:
            return f"the batch's cap of {self._rules.max_model_calls} model calls is reached."
        return ""

    def _note(self, done: Done) -> Entry:
        entry = self._entries[done.slug]
        if done.status == "lost":
            self._lost[done.slug] = self._lost.get(done.slug, 0) + 1
            if self._lost[done.slug] > MAX_LOST:
                entry.status, entry.detail = "failed", "its workers were killed again and again"
            return entry
        entry.phase, entry.status, entry.detail = done.phase, done.status, done.detail
        if done.status not in ("busy",):
            entry.model_calls = max(entry.model_calls, done.model_calls)
            if done.cost_usd is not None and entry.cost_usd is not None:
                entry.cost_usd = max(entry.cost_usd, done.cost_usd)
        if done.status == "busy":
            time.sleep(BUSY_PAUSE_S)
        return entry

    def _goes_on(self, entry: Entry) -> bool:
        return entry.status not in ENDED and entry.status != "awaiting"

    def _save(self, *, durable: bool) -> None:
        now = time.monotonic()
        if durable or now - self._written > RECORD_EVERY_S:
            write_record(self._engine.project, self._record, durable=durable)
            self._written = now
