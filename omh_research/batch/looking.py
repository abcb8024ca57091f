"""Looking at a batch as a whole: how every topic stands, from the runs' own files (S1, O1, O2).

Job: `look` and what `status --batch`, `watch --batch` and the end of `batch` print. One listing for
all runs, however many. Refuses to write. Importers: cli.
"""

from __future__ import annotations

from omh_research.batch.record import ENDED, Entry, Record, add_costs, read_record
from omh_research.errors import OmhError
from omh_research.project import Project
from omh_research.status import RunStatus, status_all

BAR = 32
ORDER = ("running", "interrupted", "active", "awaiting", "busy", "cancelling", "waiting", "failed")


def look(project: Project, batch_id: str) -> Record:
    """Return a batch's record with each run as its own files say it stands now.

    Raises:
        NoSuchRunError: no such batch. DamagedFileError: its record cannot be read.
    """
    record = read_record(project, batch_id)
    rows = {row.slug: row for row in status_all(project)}
    for entry in record.entries:
        if not entry.slug:
            continue
        row = rows.get(entry.slug)
        if row is not None:
            _show_active(project, entry, row)
        elif entry.status != "cancelled":
            _show_ended(project, entry)
    add_costs(project, batch_id, record.entries)
    return record


def _show_active(project: Project, entry: Entry, row: RunStatus) -> None:
    entry.status, entry.phase = row.status, row.phase
    entry.detail = row.blocked_reason or row.problem or entry.detail
    if row.status == "blocked" and project.reader.report_status(entry.slug) == "partial":
        entry.status = "partial"
    entry.has_cost(row.spent)


def _show_ended(project: Project, entry: Entry) -> None:
    try:
        end = project.reader.ended(entry.slug)
    except OmhError as error:
        entry.detail = error.message
        return
    entry.status = entry.phase = end or "cleared"
    entry.detail = ""


def table(record: Record) -> str:
    """Return a line a topic, and the sums."""
    lines = [_line(entry) for entry in record.entries]
    return "\n".join([*lines, summary(record)])


def _line(entry: Entry) -> str:
    detail = f"  ({entry.detail[:120]})" if entry.detail else ""
    return f"{entry.status:<11} {entry.slug or '-':<56} {entry.topic[:60]}{detail}"


def summary(record: Record) -> str:
    """Return one line: how many topics have which status, and what they cost."""
    counts = ", ".join(f"{count} {status}" for status, count in record.counts().items())
    calls = sum(entry.model_calls for entry in record.entries)
    known = [entry.cost_usd for entry in record.entries if entry.cost_usd is not None]
    cost = f"${sum(known):.4f}" + ("" if len(known) == len(record.entries) else " and unknown")
    stopped = f"; stopped: {record.stopped}" if record.stopped else ""
    return f"{record.id}: {counts}; {calls} model calls, {cost}{stopped}"


def frame(record: Record, lines: int) -> str:
    """Return what `watch` shows in so many lines: a bar, the sums, the topics that go on."""
    total = len(record.entries)
    ended = sum(entry.status in ENDED for entry in record.entries)
    filled = BAR * ended // total if total else 0
    bar = f"[{'#' * filled}{'.' * (BAR - filled)}] {ended}/{total} ended"
    going = [entry for entry in record.entries if entry.status not in ENDED]
    going.sort(key=lambda entry: _rank(entry.status))
    room = max(0, lines - 3)
    shown = [_line(entry) for entry in going[:room]]
    if len(going) > room:
        shown.append(f"... and {len(going) - room} more go on")
    return "\n".join([bar, summary(record), *shown])


def _rank(status: str) -> int:
    return ORDER.index(status) if status in ORDER else len(ORDER)
