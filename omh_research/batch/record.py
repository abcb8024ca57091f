"""The record of a batch: `.omh/batch/{batch id}.json` (spec S1).

Job: which topic is which run and how it stands; written whole; a view, never the truth (that is
each run's own files). Refuses to decide. Importers: batch.runner, cli.
"""

from __future__ import annotations

import os
import re

import msgspec
from msgspec import Struct

from omh_research.errors import DamagedFileError, NoSuchRunError, UsageError
from omh_research.project import Project
from omh_research.store import disk

ENDED = ("confirmed", "blocked", "cancelled", "damaged", "failed", "cleared", "refused")
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


class Entry(Struct):
    """One topic of a batch. `status` as in Done, or "refused" (it could not be started)."""

    topic: str
    slug: str = ""
    phase: str = ""
    status: str = "waiting"
    detail: str = ""
    model_calls: int = 0
    cost_usd: float | None = 0.0


class Record(Struct):
    """A whole batch."""

    id: str
    entries: list[Entry]
    started_at: str = ""
    written_at: str = ""
    stopped: str = ""

    def counts(self) -> dict[str, int]:
        """Return how many topics have each status."""
        found: dict[str, int] = {}
        for entry in self.entries:
            found[entry.status] = found.get(entry.status, 0) + 1
        return dict(sorted(found.items()))

    @property
    def has_ended(self) -> bool:
        """Whether every topic has ended, however."""
        return all(entry.status in ENDED for entry in self.entries)


def record_path(project: Project, batch_id: str) -> str:
    """Return the path of a batch's record.

    Raises:
        UsageError: not a batch id.
    """
    if len(batch_id) > 80 or not _ID.fullmatch(batch_id):
        raise UsageError(f"not a batch id: {batch_id[:90]!a}.")
    return os.path.join(project.layout.batch_dir, f"{batch_id}.json")


def read_record(project: Project, batch_id: str) -> Record:
    """Return a batch's record.

    Raises:
        NoSuchRunError: no such batch. DamagedFileError: its record cannot be read.
    """
    path = record_path(project, batch_id)
    data = disk.read_bytes(path) if disk.check_directory(project.layout.batch_dir) else None
    if data is None:
        raise NoSuchRunError(f"No batch {batch_id} here.")
    try:
        return msgspec.json.decode(data, type=Record)
    except msgspec.MsgspecError as error:
        where = project.layout.relative(path)
        raise DamagedFileError(f"{where}: not a batch record ({error}).") from None


def write_record(project: Project, record: Record, *, durable: bool = True) -> None:
    """Write a batch's record whole."""
    record.written_at = project.now()
    disk.make_directories(project.layout.base, project.layout.batch_dir)
    data = msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"
    disk.replace(record_path(project, record.id), data, durable=durable)


def look(project: Project, batch_id: str) -> Record:
    """Return a batch's record with each run as its own files say it stands now."""
    from omh_research.errors import OmhError
    from omh_research.status import status_one

    record = read_record(project, batch_id)
    for entry in record.entries:
        if not entry.slug:
            continue
        try:
            seen = status_one(project, entry.slug)
        except OmhError as error:
            entry.detail = error.message
            continue
        entry.status, entry.phase = seen.status, seen.phase
        entry.detail = seen.blocked_reason or seen.problem or entry.detail
    return record


def cancel_batch(project: Project, batch_id: str, reason: str) -> list[str]:
    """Ask every run of a batch that goes on to stop; return their slugs."""
    from omh_research import operate

    slugs = []
    for entry in read_record(project, batch_id).entries:
        if entry.slug and project.reader.state_bytes(entry.slug) is not None:
            operate.cancel(project, entry.slug, reason or f"batch {batch_id}")
            slugs.append(entry.slug)
    return slugs
