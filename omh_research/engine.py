"""One lap: lock, read a Snapshot, think, plan a Commit, write it (spec 10-engine, One invocation).

Job: `advance` a run by exactly one phase, recovering first what an earlier lap left half done.
Refuses to parse arguments, to print, and to know delegates or providers. Importers: api, batch.
"""

from __future__ import annotations

import contextlib
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from omh_research import commit, hooks, recovery
from omh_research.budget import crossed_cap
from omh_research.commit import Clear, Commit
from omh_research.documents.snapshot import Snapshot
from omh_research.documents.state import Spent, is_own
from omh_research.documents.task import Task
from omh_research.errors import (
    PrerequisiteError,
    UsageError,
)
from omh_research.holding import Held, guard_of
from omh_research.machine import Phase
from omh_research.outcome import Outcome
from omh_research.phases.accounts import spent_on
from omh_research.phases.contract import AwaitingHost, CancelSeen, CapReached, Services
from omh_research.phases.standing import made_whole, run_phase
from omh_research.project import Project

BREAKER_TEXT = "three calls failed in a row."
UNRECORDED = "confirmed by its own status line; no verifier's pass is on record: audit it"


class StepReport(Struct, frozen=True, kw_only=True):
    """What one lap did. `status` is active, awaiting, confirmed, blocked or cancelled.

    `phase` is the run's phase afterwards; `moved` whether a phase was committed; `tasks` those
    that wait for the host; `events` the words logged, in order.
    """

    slug: str
    phase: str
    status: str
    moved: bool = False
    notes: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    tasks: tuple[Task, ...] = ()
    blocked_reason: str = ""
    feedback: str = ""
    spent: Spent = Spent()


class ServicesFor(Protocol):
    """Builds the Services of one lap."""

    def __call__(self, snapshot: Snapshot) -> Services:
        """Return the services for this snapshot."""
        ...


class StoredReplies(Protocol):
    """Looks up the stored replies of a run."""

    def __call__(self, slug: str, tasks: tuple[Task, ...]) -> list[object]:
        """Return each task's stored reply or None."""
        ...


def advance(
    project: Project, slug: str, services_for: ServicesFor, *, expected: str = "", stop: str = ""
) -> StepReport:
    """Advance one run by one phase (or finish what a crash left half done).

    With `expected`, a run that is past that phase is left alone (spec S2); with `stop`, it ends in
    a labelled partial report for that reason.

    Raises:
        BusyError: another process holds it.
        NoSuchRunError: the run has no state.
        DamagedFileError, StorageError, DelegateError: see `errors`.
    """
    with Held(project, slug):
        return advance_held(project, slug, services_for, expected=expected, stop=stop)


def advance_held(
    project: Project, slug: str, services_for: ServicesFor, *, expected: str = "", stop: str = ""
) -> StepReport:
    """Do what `advance` does for a run that this process holds already."""
    snapshot = read_snapshot(project, slug)
    ended = recover_held(project, snapshot, services_for)
    if ended is not None:
        return ended
    if recovery.diagnose(snapshot) is not None:  # it was no confirmed report after all
        snapshot = read_snapshot(project, slug)
    if snapshot.state.phase == Phase.BLOCKED:
        project.writer.log(recovery.blocked_event(snapshot))
        hooks.make_up(project, snapshot.state)
        return _blocked(snapshot)
    if expected and snapshot.state.phase != expected:
        state = snapshot.state
        return StepReport(slug=slug, phase=state.phase, status="active", spent=state.spent)
    services = services_for(snapshot)
    try:
        if stop:
            outcome = _stopped(snapshot, services, "cap", stop)
        elif snapshot.state.breaker_open:
            outcome = _stopped(snapshot, services, "breaker", BREAKER_TEXT)
        elif late := _time_is_up(project, snapshot):
            outcome = _stopped(snapshot, services, "cap", late)
        else:
            outcome = run_phase(snapshot, services)
    except CapReached as capped:
        outcome = _stopped(snapshot, services, "cap", str(capped))
    except AwaitingHost as waiting:
        return StepReport(
            slug=slug, phase=snapshot.state.phase, status="awaiting", tasks=waiting.tasks
        )
    except CancelSeen:
        return _cancel(project, snapshot, services)
    planned = commit.plan(outcome, snapshot, spent_by(project, slug))
    hooks.carry_out(project, planned, snapshot.state, guard_of(project, snapshot))
    report = _report(planned, outcome.notes)
    if planned.state is not None and _is_cancel_asked(project, slug):
        fresh = read_snapshot(project, slug)
        return _cancel(project, fresh, services_for(fresh), outcome.notes)
    return report


def _time_is_up(project: Project, snapshot: Snapshot) -> str:
    """Return that a host's run is over its time; other delegates are told before each call."""
    if snapshot.state.delegate != "host" or not snapshot.options.max_wall_s:
        return ""
    return crossed_cap(snapshot, 0, project.clock())


def spent_by(project: Project, slug: str) -> Spent:
    """Return what every stored reply of the run cost (O5)."""
    from omh_research.store.mailbox import Mailbox

    return spent_on(Mailbox(project.layout, slug).all())


def _stopped(snapshot: Snapshot, services: Services, reason: str, detail: str) -> Outcome:
    """Import the partial report only where one is made: it brings half of the tools along."""
    from omh_research.phases.partial import stopped

    whole = made_whole(snapshot, services)
    return whole.completed(stopped(whole.snapshot, services, reason, detail))


def _is_cancel_asked(project: Project, slug: str) -> bool:
    """Look again: another program's cancel may stand in the state that we re-based on."""
    return project.reader.cancel_request(slug, project.reader.state(slug)) is not None


def read_snapshot(project: Project, slug: str) -> Snapshot:
    """Read the run; fill from plan, log and slug what another program's write left out (E2)."""
    snapshot = project.reader.snapshot(slug)
    state, plan = snapshot.state, snapshot.plan
    if state.session_id and state.delegate and (state.step or is_own(state)):
        return snapshot
    session_id = state.session_id or (plan.session_id if plan is not None else "")
    session_id = session_id or _session_of(slug)
    logged = project.reader.edge_events(session_id)
    mended = replace(
        state,
        session_id=session_id,
        started_at=state.started_at or (plan.started_at if plan is not None else ""),
        delegate=state.delegate or (plan.delegate if plan is not None else "") or "host",
        subtopic_count=state.subtopic_count or (len(plan.subtopics) if plan is not None else 0),
        step=max([state.step, *(event.step for event in logged if event.slug == slug)]),
    )
    return replace(snapshot, state=mended, logged=tuple(event.word for event in logged))


def _session_of(slug: str) -> str:
    """Return the session id of a run that no program gave one: the same each time."""
    import uuid

    return str(uuid.uuid5(uuid.NAMESPACE_OID, slug))


def recover_held(
    project: Project, snapshot: Snapshot, services_for: ServicesFor
) -> StepReport | None:
    """Phase 0 for one held run: a cancel asked for, or a confirmed report not cleared."""
    if snapshot.cancel is not None and snapshot.state.phase in (Phase.SEARCH, Phase.GAP_CHECK):
        with contextlib.suppress(PrerequisiteError, UsageError):  # its delegate is gone: still end
            return _cancel(project, snapshot, services_for(snapshot))
    finishing = recovery.cancelled(snapshot) or recovery.diagnose(snapshot)
    if finishing is None:
        return None
    if finishing.phase == Phase.CONFIRMED and not _is_proven(project, snapshot, services_for):
        _take_back(project, snapshot)
        return None
    notes: tuple[str, ...] = ()
    if finishing.phase == Phase.CONFIRMED and not _is_on_record(project, snapshot):
        notes = (f"{UNRECORDED} with omh-research audit {snapshot.slug}",)
    hooks.carry_out(project, finishing, snapshot.state, guard_of(project, snapshot))
    return _report(finishing, notes)


def _is_on_record(project: Project, snapshot: Snapshot) -> bool:
    """Tell whether a verifier's pass stands in the log, or in the seal that follows one (E29)."""
    from omh_research.store.seal import seals_report

    return "VERIFY_PASS" in snapshot.logged or seals_report(project.layout, snapshot.slug)


def _is_proven(project: Project, snapshot: Snapshot, services_for: ServicesFor) -> bool:
    """Tell whether a report that says `confirmed` was confirmed by a program, not by an edit.

    The seal is written before the status (E29). Another program that confirms leaves none: then
    the gate must let the report pass, as always.
    """
    from omh_research.store.seal import seals_report

    if seals_report(project.layout, snapshot.slug):
        return True
    from omh_research.phases.verify import is_passed_by_gate

    return is_passed_by_gate(snapshot, services_for(snapshot))


def _take_back(project: Project, snapshot: Snapshot) -> None:
    """Put a report that nothing proves back to draft; verify then judges it as any other."""
    from omh_research.documents.frontmatter import set_status
    from omh_research.outcome import Artifact

    draft = set_status(snapshot.report or "", "draft")
    ops = (commit.PutFiles((Artifact("report", snapshot.slug, draft),)),)
    planned = Commit(snapshot.slug, ops, snapshot.state, snapshot.state.phase)
    project.writer.execute(planned, guard_of(project, snapshot))


def _cancel(
    project: Project, snapshot: Snapshot, services: Services, notes: tuple[str, ...] = ()
) -> StepReport:
    from omh_research.phases.salvage import open_tasks, salvage
    from omh_research.store.mailbox import Mailbox

    mailbox = Mailbox(project.layout, snapshot.slug)
    tasks = open_tasks(snapshot, services)
    replies = [mailbox.get(task.id) for _, task in tasks]
    planned = commit.plan(salvage(snapshot, services, tasks, replies), snapshot)
    project.writer.execute(planned, guard_of(project, snapshot))
    return _report(planned, notes)


def _report(planned: Commit, notes: tuple[str, ...]) -> StepReport:
    words = [event.word for op in planned.ops if isinstance(op, commit.Log) for event in op.events]
    status = "active"
    if planned.state is None:
        status = planned.phase
    elif planned.phase == Phase.BLOCKED:
        status = "blocked"
    ended = isinstance(planned.ops[-1], Clear)
    return StepReport(
        slug=planned.slug,
        phase=planned.phase,
        status=status if not ended else planned.phase,
        moved=True,
        notes=notes,
        events=tuple(words),
        blocked_reason=planned.state.blocked_reason if planned.state is not None else "",
        feedback=(planned.state.last_verifier_feedback or "") if planned.state is not None else "",
        spent=planned.state.spent if planned.state is not None else planned.spent,
    )


def _blocked(snapshot: Snapshot) -> StepReport:
    state = snapshot.state
    return StepReport(
        slug=state.slug,
        phase=state.phase,
        status="blocked",
        events=("BLOCKED",),
        blocked_reason=state.blocked_reason,
        feedback=state.last_verifier_feedback or "",
        spent=state.spent,
    )
