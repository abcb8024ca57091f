"""A commit as data: the ordered list of writes that make an outcome true.

Job: the op types and `plan`, which puts artifacts before events and the state last (spec E16,
E18, E29: on confirmation the seal, the report, its event, then the state goes). Refuses I/O.
Importers: engine, recovery, store.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from omh_research import machine
from omh_research.documents.event import Event
from omh_research.documents.snapshot import Snapshot
from omh_research.documents.state import Spent, State
from omh_research.machine import Trigger
from omh_research.outcome import Artifact, Outcome


class PutFiles(Struct, frozen=True):
    """Write durable files whole, in order; those of one folder share its sync."""

    artifacts: tuple[Artifact, ...]


class PutRows(Struct, frozen=True):
    """Append to a ledger those lines it does not hold yet; create it if it is not there."""

    name: str
    lines: tuple[str, ...]


class Log(Struct, frozen=True):
    """Append events to the session's log: one write each, one sync."""

    session_id: str
    events: tuple[Event, ...]


class Seal(Struct, frozen=True):
    """Hash every durable file of the run, with the report as it will read when confirmed."""

    report: Artifact


class PutState(Struct, frozen=True):
    """Write the state. `base` is the state the lap started from (None: the run is new)."""

    state: State
    base: State | None


class Clear(Struct, frozen=True):
    """Remove the run's state and everything that lives and dies with it."""

    slug: str


Op = PutFiles | PutRows | Log | Seal | PutState | Clear


class Commit(Struct, frozen=True):
    """Writes in order. `state` is the run's state afterwards, None if it has ended (at `spent`)."""

    slug: str
    ops: tuple[Op, ...]
    state: State | None
    phase: str
    spent: Spent = Spent()


def plan(outcome: Outcome, snapshot: Snapshot, spent: Spent | None = None) -> Commit:
    """Return the commit that makes `outcome` true for the run of `snapshot`.

    `spent` is what the run has cost by now; None: nothing was asked, it stays.
    """
    if spent is not None:
        outcome = replace(outcome, changes={**outcome.changes, "spent": spent})
    state = machine.advance(snapshot.state, outcome.trigger, **outcome.changes)
    ops: list[Op] = []
    if outcome.trigger is Trigger.PASSED:
        return _confirmation(outcome, snapshot)
    if outcome.artifacts:
        ops.append(PutFiles(outcome.artifacts))
    ops += [PutRows(rows.name, rows.lines) for rows in outcome.rows]
    if outcome.events:
        ops.append(Log(state.session_id, outcome.events))
    if outcome.trigger is Trigger.CANCELLED:
        ops.append(Clear(state.slug))
        return Commit(state.slug, tuple(ops), None, state.phase)
    ops.append(PutState(state, snapshot.state))
    return Commit(state.slug, tuple(ops), state, state.phase)


def _confirmation(outcome: Outcome, snapshot: Snapshot) -> Commit:
    """VERIFY_PASS; the seal; (1) report confirmed; (2) REPORT_CONFIRMED; (3) clear (spec E29)."""
    report = outcome.artifacts[-1]
    session = snapshot.state.session_id
    ops: list[Op] = [PutRows(rows.name, rows.lines) for rows in outcome.rows]
    if outcome.artifacts[:-1]:
        ops.append(PutFiles(outcome.artifacts[:-1]))
    ops += [
        Log(session, outcome.events[:1]),
        Seal(report),
        PutFiles((report,)),
        Log(session, outcome.events[1:]),
        Clear(snapshot.slug),
    ]
    spent = outcome.changes.get("spent", snapshot.state.spent)
    return Commit(snapshot.slug, tuple(ops), None, machine.Phase.CONFIRMED.value, spent)


def creation(state: State, started: Event) -> Commit:
    """Return the first commit of a run: it becomes visible on disk, then the log says so."""
    ops = (PutState(state, None), Log(state.session_id, (started,)))
    return Commit(state.slug, ops, state, state.phase)
