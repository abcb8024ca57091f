"""The record of a batch: `.omh/batch/{batch id}.json`, its cancel marker, its ledger (spec S1).

Job: which topic is which run and how it stands; written whole; a view, never the truth (that is
each run's own files). What ended runs have cost stands in a ledger beside it, a line a run, because
their states are gone. Refuses to decide. Importers: batch, cli.
"""

from __future__ import annotations

import os

import msgspec
from msgspec import Struct

from omh_research.documents.state import Spent
from omh_research.errors import DamagedFileError, NoSuchRunError, OmhError, UsageError
from omh_research.lazy_re import lazy_re
from omh_research.project import Project
from omh_research.store import disk

ENDED = ("confirmed", "partial", "blocked", "cancelled", "damaged", "cleared", "refused")
MAX_ID_CHARS = 80
_ID = lazy_re(r"[a-z0-9]+(?:-[a-z0-9]+)*")


class Entry(Struct):
    """One topic of a batch. `status` as in Done, or "refused" (it could not be started).

    `session` names the run's log; `cost_usd` is None where a price is unknown.
    """

    topic: str
    slug: str = ""
    phase: str = ""
    status: str = "waiting"
    detail: str = ""
    model_calls: int = 0
    cost_usd: float | None = 0.0
    session: str = ""

    def has_cost(self, spent: Spent) -> None:
        """Take over what a run has cost by now; it never falls, and an unknown price stays so."""
        self.model_calls = max(self.model_calls, spent.model_calls)
        if spent.cost_usd is None or self.cost_usd is None:
            self.cost_usd = None
        else:
            self.cost_usd = max(self.cost_usd, spent.cost_usd)


class Record(Struct):
    """A whole batch. `stopped` says why no new work was begun, or ""."""

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


class Cost(Struct, frozen=True):
    """One line of the ledger: what an ended run has cost."""

    slug: str
    model_calls: int
    cost_usd: float | None


def record_path(project: Project, batch_id: str) -> str:
    """Return the path of a batch's record.

    Raises:
        UsageError: not a batch id.
    """
    if len(batch_id) > MAX_ID_CHARS or not _ID.fullmatch(batch_id):
        raise UsageError(
            f"not a batch id: {batch_id[:90]!a}.", hint="`batch FILE` prints it first."
        )
    return os.path.join(project.layout.batch_dir, f"{batch_id}.json")


def read_record(project: Project, batch_id: str) -> Record:
    """Return a batch's record.

    Raises:
        NoSuchRunError: no such batch. DamagedFileError: its record cannot be read.
    """
    path = record_path(project, batch_id)
    data = None
    if disk.check_directory(project.layout.base) and disk.check_directory(project.layout.batch_dir):
        data = disk.read_bytes(path)
    if data is None:
        raise NoSuchRunError(f"No batch {batch_id} here.", hint=_known(project))
    try:
        return msgspec.json.decode(data, type=Record)
    except (msgspec.MsgspecError, RecursionError) as error:
        where = project.layout.relative(path)
        message = f"{where}: not a batch record ({error})."
        raise DamagedFileError(message, hint="`batch FILE` writes it anew.") from None


def _known(project: Project) -> str:
    if not os.path.isdir(project.layout.batch_dir):
        return "`batch FILE` starts one and prints its id."
    names = sorted(disk.names(project.layout.batch_dir))
    ids = [name[:-5] for name in names if name.endswith(".json") and not name.startswith(".")]
    return f"Known: {', '.join(ids[:10])}." if ids else "`batch FILE` starts one."


def write_record(project: Project, record: Record, *, durable: bool = True) -> None:
    """Write a batch's record whole."""
    record.written_at = project.now()
    disk.make_directories(project.layout.base, project.layout.batch_dir)
    data = msgspec.json.format(msgspec.json.encode(record), indent=1) + b"\n"
    disk.replace(record_path(project, record.id), data, durable=durable)


def _ledger_path(project: Project, batch_id: str) -> str:
    return record_path(project, batch_id)[: -len("json")] + "spent"


def note_cost(project: Project, batch_id: str, entry: Entry) -> None:
    """Add what an ended run has cost to the ledger, so that a killed batch still knows it."""
    if entry.model_calls or entry.cost_usd != 0.0:
        line = msgspec.json.encode(Cost(entry.slug, entry.model_calls, entry.cost_usd))
        disk.append(_ledger_path(project, batch_id), [line.decode()])


def add_costs(project: Project, batch_id: str, entries: list[Entry]) -> None:
    """Set what the ledger knows of ended runs in their entries; what is torn is left out."""
    data = None
    if disk.check_directory(project.layout.batch_dir):
        data = disk.read_bytes(_ledger_path(project, batch_id))
    found: dict[str, Cost] = {}
    for line in (data or b"").split(b"\n"):
        try:
            cost = msgspec.json.decode(line, type=Cost)
        except msgspec.MsgspecError:
            continue
        found[cost.slug] = cost
    for entry in entries:
        spent = found.get(entry.slug)
        if spent is not None:
            entry.model_calls = max(entry.model_calls, spent.model_calls)
            entry.cost_usd = spent.cost_usd


def _cancel_path(project: Project, batch_id: str) -> str:
    return record_path(project, batch_id)[: -len("json")] + "cancel"


def cancelled_at(project: Project, batch_id: str) -> str:
    """Return when the batch was cancelled (ISO-8601 UTC), or ""; a cancel never expires.

    The marker's presence is the cancel: one that cannot be read counts as the latest time.
    """
    path = _cancel_path(project, batch_id)
    if not os.path.lexists(path):
        return ""
    try:
        words = msgspec.json.decode(disk.read_bytes(path, max_bytes=100_000) or b"")
        return str(words["at"])
    except (OmhError, msgspec.MsgspecError, KeyError, TypeError):
        return "9999"


def cancel_batch(project: Project, batch_id: str, reason: str) -> list[str]:
    """Ask every run of a batch that goes on to stop, and the batch to start none; return slugs.

    The marker is durable before the record is read: a batch that is registering its topics right
    now sees the marker when it is done.

    Raises:
        NoSuchRunError: no such batch.
    """
    read_record(project, batch_id)
    words = {"reason": reason, "at": project.now()}
    disk.write_marker(_cancel_path(project, batch_id), msgspec.json.encode(words) + b"\n")
    slugs = [entry.slug for entry in read_record(project, batch_id).entries if entry.slug]
    return [slug for slug in slugs if cancel_run(project, slug, reason or f"batch {batch_id}")]


def cancel_run(project: Project, slug: str, reason: str) -> bool:
    """Ask one run of a batch to stop; tell whether it goes on: an ended one has none to stop."""
    from omh_research import operate
    from omh_research.errors import NoSuchRunError, UsageError

    if project.reader.state_bytes(slug) is None:
        return False
    try:
        operate.cancel(project, slug, reason)
    except (NoSuchRunError, UsageError):  # it ended just now
        return False
    return True
