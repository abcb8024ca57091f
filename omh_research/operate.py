"""What operators do with runs: cancel, retry, clear, recover (spec 70-operators O1, O3).

Job: one function a verb. Refuses to advance a run; looking is `status`'s.
Importers: api.
"""

from __future__ import annotations

import os

from msgspec.structs import replace

from omh_research.documents.names import check_slug
from omh_research.errors import (
    BusyError,
    DamagedFileError,
    NewerVersionError,
    NoSuchRunError,
    OmhError,
    StorageError,
    UsageError,
)
from omh_research.project import Project
from omh_research.status import RunStatus, ended_status, status_one
from omh_research.store import lock
from omh_research.store.listing import list_runs


def cancel(project: Project, slug: str, reason: str, by: str = "user") -> RunStatus:
    """Ask for a cancel; it holds until consumed, whoever is advancing the run (spec E35).

    Raises:
        NoSuchRunError: no such run. UsageError: it is confirmed already.
    """
    check_slug(slug)
    if project.reader.report_status(slug) == "confirmed":  # also where its state is still there
        raise UsageError(f"{slug} is confirmed already; there is nothing to cancel.")
    if project.reader.state_bytes(slug) is None:
        return ended_status(project, slug)
    project.writer.put_cancel(slug, reason, by)
    try:
        with lock.held(project.layout.lock(slug), wait_s=0):
            _note_cancel(project, slug, reason, by)
    except (BusyError, DamagedFileError, StorageError):
        pass  # the marker is durable: whoever advances the run sees it
    return status_one(project, slug)


def _note_cancel(project: Project, slug: str, reason: str, by: str) -> None:
    from omh_research.commit import PutState

    state = project.reader.state(slug)
    if state is None or state.cancel_requested:
        return
    asked = replace(
        state,
        cancel_requested=True,
        cancel_reason=reason,
        cancel_at=project.now(),
        cancel_requested_by=by,
        revision=state.revision + 1,
    )
    project.writer.put_state(PutState(asked, state))


def retry(project: Project, slug: str) -> RunStatus:
    """Set a blocked run going again where it stopped (spec E14, O5); phase 0 comes first.

    Raises:
        NoSuchRunError: no such run. UsageError: it is not blocked.
    """
    from omh_research import commit, hooks, recovery
    from omh_research.engine import read_snapshot
    from omh_research.holding import Held, guard_of
    from omh_research.retrying import retried
    from omh_research.store.seal import seals_report

    check_slug(slug)
    if project.reader.state_bytes(slug) is None:
        ended = ended_status(project, slug)
        raise UsageError(f"{slug} is not blocked: it is {ended.status}.")
    with Held(project, slug):
        snapshot = read_snapshot(project, slug)
        planned = recovery.cancelled(snapshot)
        if planned is None and seals_report(project.layout, slug):
            planned = recovery.diagnose(snapshot)
        if planned is None:
            planned = commit.plan(retried(snapshot.state, project.now()), snapshot)
        hooks.carry_out(project, planned, snapshot.state, guard_of(project, snapshot))
    return status_one(project, slug)


def clear(project: Project, slug: str) -> None:
    """Forget a run's state; plan, findings and report stay (spec O3).

    Raises:
        NoSuchRunError: there is no state to clear.
    """
    from omh_research.commit import Log
    from omh_research.documents import event
    from omh_research.holding import Held

    check_slug(slug)
    if not os.path.lexists(project.layout.state(slug)):
        raise NoSuchRunError(f"No state of {slug} here: nothing was cleared.")
    with Held(project, slug):
        session_id = project.reader.session_of(slug)
        if session_id:
            cleared = event.make(event.Word.CLEARED, slug, 0)
            project.writer.log(Log(session_id, (cleared,)))
        project.writer.clear(slug)


def recover(project: Project, *, move_damaged: bool) -> list[dict[str, str]]:
    """Sweep leftovers of every run; move damaged states aside if asked. One row a finding."""
    from omh_research.holding import held_start

    rows: list[dict[str, str]] = []
    if not os.path.lexists(project.layout.base):
        return rows
    project.writer.prepare_root()
    with held_start(project):
        project.writer.sweep_root()
        project.writer.sweep_unborn()
    listing = list_runs(project.layout, use_cache=False)
    slugs = [(row.slug, row.problem) for row in listing.rows]
    for slug, problem in [*slugs, *((slug, "") for slug in sorted(listing.orphans))]:
        try:
            if problem:
                done = _recover_damaged(project, slug, move_damaged)
                rows.append({"slug": slug, "found": problem, "done": done})
            else:
                rows += _recover_one(project, slug, slug in listing.heartbeats)
        except OmhError as error:
            found = "running" if isinstance(error, BusyError) else error.message
            rows.append({"slug": slug, "found": found, "done": ""})
    return rows


def _recover_damaged(project: Project, slug: str, move: bool) -> str:
    from omh_research.holding import Held

    if not move:
        return ""
    with Held(project, slug):
        try:
            project.reader.state(slug)
        except NewerVersionError:
            raise  # not damaged: never touched (spec E4)
        except DamagedFileError:
            return f"moved to {project.writer.move_aside(project.layout.state(slug))}"
    return "mended meanwhile"


def _recover_one(project: Project, slug: str, beating: bool) -> list[dict[str, str]]:
    from omh_research.holding import Held

    with Held(project, slug):  # taking the run sweeps what a crash left
        if project.writer.sweep_orphans(slug):
            return [{"slug": slug, "found": "leftovers of an ended run", "done": "removed"}]
    if not beating:
        return []
    return [{"slug": slug, "found": "interrupted", "done": "leftovers swept"}]
