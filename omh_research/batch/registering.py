"""Giving every topic of a batch its run: resumed, ended already, or new (spec S1).

Job: one scan for many topics under the start lock, in turns of a few seconds, so that other
starts get in between; a run is made visible before it works. Refuses to advance a run, and to let
one topic's trouble stop the others. Importers: cli.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import cached_property

from omh_research import commit, start
from omh_research.api import Engine
from omh_research.batch.allowance import BatchRules
from omh_research.batch.record import (
    Entry,
    Record,
    add_costs,
    cancel_run,
    cancelled_at,
    read_record,
    write_record,
)
from omh_research.batch.topics import Topic
from omh_research.documents import event
from omh_research.documents.names import fold_topic
from omh_research.errors import DamagedFileError, NoSuchRunError, OmhError, StorageError
from omh_research.holding import held_start
from omh_research.project import Project
from omh_research.store import disk
from omh_research.store.listing import list_runs
from omh_research.store.row import Row

TURN_S = 5.0
_HEAD_BYTES = 4096


def open_record(engine: Engine, batch_id: str, topics: tuple[Topic, ...]) -> Record:
    """Return the record of a batch: the one on disk, else a new one, written at once."""
    project = engine.project
    project.writer.prepare_root()
    try:
        before = read_record(project, batch_id)
    except (NoSuchRunError, DamagedFileError):
        before = Record(batch_id, [])
    held = {entry.topic: entry for entry in before.entries}
    entries = [held.get(topic.topic, Entry(topic.topic)) for topic in topics]
    add_costs(project, batch_id, entries)
    record = Record(batch_id, entries, started_at=before.started_at or project.now())
    write_record(project, record)
    return record


def register(
    engine: Engine,
    record: Record,
    topics: tuple[Topic, ...],
    rules: BatchRules,
    tell: Callable[[str], None] = lambda line: None,
) -> None:
    """Give every topic its run, then write the record; a cancelled batch gets no new runs.

    Raises:
        BusyError: another process is starting a run here and does not finish.
        StorageError: `.omh/` cannot be written.
    """
    project = engine.project
    waiting = list(zip(record.entries, topics, strict=True))
    waiting.reverse()
    first, total = True, len(waiting)
    while waiting:
        with held_start(project):
            if first:
                start.phase_zero(project, engine.wiring.services)
                project.writer.sweep_unborn()
            first = False
            turn = _Turn(engine, rules, cancelled_at(project, record.id))
            until = time.monotonic() + TURN_S
            while waiting and time.monotonic() < until:
                turn.take(*waiting.pop())
        write_record(project, record, durable=not waiting)
        if waiting:
            tell(f"{record.id}: {total - len(waiting)} of {total} topics registered")
    since = cancelled_at(project, record.id)
    if since:
        _cancel_all(project, record, since)


def _cancel_all(project: Project, record: Record, since: str) -> None:
    """Cancel what goes on, but for a run that was started anew after the batch was cancelled."""
    started = {row.slug: row.started_at for row in list_runs(project.layout).rows}
    for entry in record.entries:
        if entry.status == "active" and started.get(entry.slug, "") <= since:
            cancel_run(project, entry.slug, f"batch {record.id}")


class _Turn:
    """One scan of the root, and the topics registered from it."""

    def __init__(self, engine: Engine, rules: BatchRules, cancelled: str) -> None:
        self._engine, self._project, self._rules = engine, engine.project, rules
        self._is_cancelled = bool(cancelled)
        rows = list_runs(self._project.layout).rows
        self._active: dict[str, Row] = {fold_topic(r.topic): r for r in rows if not r.problem}
        self._damaged = {row.slug: row.problem for row in rows if row.problem}
        self._known = start.slugs_by_topic(self._project)
        self._checked: Topic | None = None

    def take(self, entry: Entry, topic: Topic) -> None:
        """Register one topic; its own trouble becomes its status."""
        entry.detail = ""
        try:
            self._take(entry, topic)
        except StorageError:
            raise
        except (OmhError, OSError) as error:
            entry.status, entry.detail = "refused", str(error)[:300]

    def _take(self, entry: Entry, topic: Topic) -> None:
        folded = fold_topic(topic.topic)
        row = self._active.get(folded)
        if row is not None:
            _resume(self._project, entry, row)
            return
        slugs = self._known.get(folded, [])
        for slug in (*slugs, entry.slug):
            if slug in self._damaged:
                entry.slug, entry.status, entry.detail = slug, "damaged", self._damaged[slug]
                return
        end = self._end(entry, slugs)
        if end:
            entry.phase = entry.status = end
        elif topic.problem:
            entry.status, entry.detail = "refused", topic.problem
        elif self._is_cancelled:
            entry.status, entry.detail = "cancelled", "the batch was cancelled before it began"
        else:
            self._create(entry, topic)

    def _end(self, entry: Entry, slugs: list[str]) -> str:
        """Return how the topic's run ended, its slug in the entry, or "" if it is to be started."""
        reader = self._project.reader
        if self._rules.if_confirmed != "refresh" or entry.status == "confirmed":
            for slug in reversed(slugs):
                if reader.report_status(slug) == "confirmed":
                    entry.slug = slug
                    return "confirmed"
        if not entry.slug:
            return ""
        if entry.slug in slugs:
            return "cancelled" if reader.ended(entry.slug) == "cancelled" else ""
        session = entry.session or self._sessions.get(entry.slug, "")
        ends = [e.word for e in reader.edge_events(session) if e.slug == entry.slug]
        return "cancelled" if "CANCELLED" in ends else ""

    @cached_property
    def _sessions(self) -> dict[str, str]:
        """Every log's session by the slug its first lines name: for runs that left no plan."""
        folder, found = self._project.layout.logs_dir, {}
        for name in disk.names(folder) if disk.check_directory(folder) else ():
            session = name.removeprefix("research-").removesuffix(".log")
            if name == f"research-{session}.log" and len(session) <= 64:
                head = disk.read_head(os.path.join(folder, name), _HEAD_BYTES)
                slug = head.partition(b" slug=")[2].partition(b" ")[0]
                found[slug.decode("ascii", "replace")] = session
        return found

    def _create(self, entry: Entry, topic: Topic) -> None:
        project = self._project
        held = self._checked
        if held is None or (held.delegate, held.options) != (topic.delegate, topic.options):
            self._engine.wiring.check(topic.delegate, topic.options)
            self._checked = topic
        request = start.Request(topic=topic.topic, delegate=topic.delegate, options=topic.options)
        state = start.new_state(project, request)
        started = event.make(event.Word.STARTED, state.slug, state.step)
        project.writer.execute(commit.creation(state, started), lambda: None)
        entry.slug, entry.phase, entry.status = state.slug, state.phase, "active"
        entry.session = state.session_id


def _resume(project: Project, entry: Entry, row: Row) -> None:
    entry.slug, entry.phase, entry.session = row.slug, row.phase, row.session_id
    entry.status = "blocked" if row.phase == "blocked" else "active"
    entry.detail = row.blocked_reason
    if row.phase == "blocked" and project.reader.report_status(row.slug) == "partial":
        entry.status = "partial"
    entry.has_cost(row.spent)
