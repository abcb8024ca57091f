"""Looking at runs: one, or all of a root (spec O1, E41).

Job: what `status` and `wait` show, from files alone; works where nothing can be written. Refuses
to write, and to import more than it needs: it is polled. Importers: operate, api, cli.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from omh_research.documents.state import SLUG, Spent
from omh_research.errors import DamagedFileError, NoSuchRunError, OmhError, UsageError
from omh_research.project import Project
from omh_research.store import disk
from omh_research.store.row import Row, row_of

if TYPE_CHECKING:
    from omh_research.documents.plan_file import Plan
    from omh_research.store.heartbeat import Heartbeat


class RunStatus(Struct, frozen=True, kw_only=True):
    """One run as `status` shows it.

    `status` is running, interrupted, awaiting, active, blocked, cancelling, confirmed, cancelled
    or damaged; `heartbeat_age_s` is None without a heartbeat; `report` is relative to the root.
    """

    slug: str
    status: str
    phase: str = ""
    topic: str = ""
    delegate: str = ""
    subtopics_done: int = 0
    subtopics_total: int = 0
    batch: int = 0
    synthesis_attempts: int = 0
    started_at: str = ""
    owner_pid: int | None = None
    owner_host: str = ""
    heartbeat_age_s: float | None = None
    deadline: str = ""
    spent: Spent = Spent()
    remaining: dict[str, float] = {}
    last_event: str = ""
    last_event_at: str = ""
    blocked_reason: str = ""
    report: str = ""
    problem: str = ""
    next_step: str = ""


def status_all(project: Project) -> list[RunStatus]:
    """Return every run that has a state, by slug."""
    from omh_research.store.listing import list_runs

    listing = list_runs(project.layout)
    return [_from_row(project, row, row.slug in listing.heartbeats,
                      row.cancel_requested or row.slug in listing.cancels)
            for row in listing.rows]  # fmt: skip


def confirmed_reports(project: Project, active: Collection[str]) -> list[str]:
    """Return the slugs of the confirmed reports whose runs have ended, the oldest day first.

    Only the heads of reports that are of no `active` run are read.
    """
    ended = project.reader.report_slugs(active)
    found = [slug for slug in ended if project.reader.report_status(slug) == "confirmed"]
    return sorted(found, key=lambda slug: (slug[-DATED:], slug))


def status_one(project: Project, slug: str) -> RunStatus:
    """Return one run, an ended one included.

    Raises:
        NoSuchRunError: cleared, or never there.
    """
    check_slug(slug)
    reader, layout = project.reader, project.layout
    try:
        state = reader.state(slug)
    except DamagedFileError as error:
        return RunStatus(slug=slug, status="damaged", problem=error.message, next_step=_RECOVER)
    if state is None:
        return ended_status(project, slug)
    beating = os.path.lexists(layout.heartbeat(slug))
    cancelling = os.path.lexists(layout.cancel(slug)) or state.cancel_requested
    row = row_of(state)
    shown = _from_row(project, row, beating, cancelling)
    last = _last_event(project, state.session_id)
    report = layout.report(slug)
    return replace(
        shown,
        remaining=_remaining(project, slug, state.spent),
        last_event=last[1],
        last_event_at=last[0],
        report=layout.relative(report) if os.path.lexists(report) else "",
    )


def check_slug(slug: str) -> None:
    """Refuse what is no slug (the rule of `documents.names`, without its imports)."""
    if len(slug) > 80 or not SLUG.fullmatch(slug):
        raise UsageError(
            f"not a slug: {slug[:90]!a}.", hint="A slug is lower-case words joined by `-`."
        )


DATED = len("20261130-0000")  # how a slug ends: its day, four digits
_RECOVER = "omh-research recover --move-damaged moves damaged files aside"


def ended_status(project: Project, slug: str) -> RunStatus:
    """Return how a run without state ended.

    Raises:
        NoSuchRunError: cleared, or never there.
    """
    end = project.reader.ended(slug)
    if end not in ("confirmed", "cancelled"):
        raise no_such_run(project, slug, end)
    plan = None
    try:
        plan = project.reader.plan(slug)
    except OmhError:
        plan = None
    report = project.layout.report(slug)
    return RunStatus(
        slug=slug,
        status=end,
        phase=end,
        topic=plan.topic if plan is not None else "",
        delegate=plan.delegate if plan is not None else "",
        started_at=plan.started_at if plan is not None else "",
        subtopics_total=len(plan.subtopics) if plan is not None else 0,
        subtopics_done=_searched(project, plan, end) if plan is not None else 0,
        report=project.layout.relative(report) if os.path.lexists(report) else "",
        next_step=f"omh-research show {slug} --report" if end == "confirmed" else "",
    )


def no_such_run(project: Project, slug: str, end: str = "") -> NoSuchRunError:
    """Return the error of a slug without state that did not end as far as its files say (E41).

    A report that is there all the same is named with what its status line reads (E34).
    """
    cleared = " (it was cleared)" if end == "cleared" else ""
    word = project.reader.report_status(slug)
    if word is None:
        return NoSuchRunError(
            f"No run {slug} here{cleared}.",
            hint="`omh-research status` lists the runs and confirmed reports of this root.",
        )
    path = project.layout.relative(project.layout.report(slug))
    reads = f"its status reads {word}"
    if word == "damaged":
        reads = "its head has no plain status line (a byte order mark, other quotes?)"
    return NoSuchRunError(
        f"No run {slug} is active here{cleared}. There is a report, {path}, but {reads}: only "
        "`status: confirmed` counts.",
        hint="If it was confirmed once, its file was changed since: put it back as it was.",
    )


def _from_row(project: Project, row: Row, beating: bool, cancelling: bool) -> RunStatus:
    if row.problem:
        return RunStatus(slug=row.slug, status="damaged", problem=row.problem, next_step=_RECOVER)
    beat = _heartbeat(project, row.slug) if beating else None
    status = "active"
    if row.phase == "blocked":
        status = "blocked"
    elif row.delegate == "host":
        status = "awaiting"
    if beating:
        status = "running" if _is_running(project, row.slug, beat) else "interrupted"
    if cancelling:
        status = "cancelling"
    return RunStatus(
        slug=row.slug,
        status=status,
        phase=row.phase,
        topic=row.topic,
        delegate=row.delegate,
        subtopics_done=row.done,
        subtopics_total=row.total,
        batch=row.batch,
        synthesis_attempts=row.attempts,
        started_at=row.started_at,
        owner_pid=beat.pid if beat is not None else None,
        owner_host=beat.host if beat is not None else "",
        heartbeat_age_s=_age(project, beat),
        deadline=beat.deadline if beat is not None else "",
        spent=row.spent,
        blocked_reason=row.blocked_reason,
        next_step=_next_step(row.slug, status, row.delegate),
    )


def _heartbeat(project: Project, slug: str) -> Heartbeat | None:
    from omh_research.store.heartbeat import read_heartbeat

    return read_heartbeat(project.layout.heartbeat(slug))


def _searched(project: Project, plan: Plan, end: str) -> int:
    """Return how many subtopics an ended run had findings for."""
    if end == "confirmed":
        return len(plan.subtopics)
    from omh_research.documents.names import finding_stems

    paths = [project.layout.finding(plan.slug, stem) for stem in finding_stems(plan.names)]
    return sum(map(os.path.isfile, paths))


def _is_running(project: Project, slug: str, beat: Heartbeat | None) -> bool:
    from omh_research.store import heartbeat, lock

    if beat is not None and beat.host and beat.host != heartbeat.own_host():
        age = _age(project, beat)
        return age is not None and age < beat.lease_s
    return lock.is_held(project.layout.lock(slug))


def _age(project: Project, beat: Heartbeat | None) -> float | None:
    if beat is None or not beat.beat_at:
        return None
    try:
        beaten = datetime.fromisoformat(beat.beat_at.replace("Z", "+00:00"))
    except ValueError:
        return None
    return round((project.clock().astimezone(UTC) - beaten).total_seconds(), 1)


def _next_step(slug: str, status: str, delegate: str) -> str:
    if status == "blocked":
        return f"omh-research show {slug} --verdict; then retry {slug} or clear {slug} --yes"
    if status == "running":
        return f"omh-research wait {slug}"
    if delegate == "host":
        return f"omh-research next {slug} --json"
    return f"omh-research step {slug}"


def _last_event(project: Project, session_id: str) -> tuple[str, str]:
    """Return (time, word) of the last whole line of the run's log."""
    if not session_id or not all(char.isalnum() or char == "-" for char in session_id):
        return "", ""
    try:
        tail = disk.read_tail(project.layout.log(session_id), 8192)
    except OmhError:
        return "", ""
    for line in reversed(tail.split(b"\n")[:-1]):
        time, _, rest = line.partition(b" ")
        word = rest.partition(b" ")[0]
        if len(time) == 20 and time.endswith(b"Z") and word.isalnum() | (b"_" in word):
            return time.decode("ascii", "replace"), word.decode("ascii", "replace")
    return "", ""


def _remaining(project: Project, slug: str, spent: Spent) -> dict[str, float]:
    try:
        plan = project.reader.caps_plan(slug)
    except OmhError:
        return {}
    caps = plan.get("caps") if plan is not None else None
    if not isinstance(caps, dict):
        return {}
    left: dict[str, float] = {}
    for name, used in (
        ("max_fetches", spent.fetches),
        ("max_model_calls", spent.model_calls),
        ("max_cost_usd", spent.cost_usd),
    ):
        cap = caps.get(name)
        if isinstance(cap, int | float) and used is not None:
            left[name] = max(0, cap - used)
    return left


def end_of(project: Project, slug: str) -> str:
    """Return "confirmed", "blocked" or "cancelled", or "" while the run goes on. One look.

    Raises:
        NoSuchRunError: no such run.
    """
    if project.reader.report_status(slug) == "confirmed":
        return "confirmed"
    state = project.reader.state(slug)
    if state is None:
        return ended_status(project, slug).status
    return "blocked" if state.phase == "blocked" else ""


def as_json(status: RunStatus) -> dict[str, object]:
    """Return a status as the command prints it."""
    plain: dict[str, object] = to_builtins(status)
    done, total = plain.pop("subtopics_done"), plain.pop("subtopics_total")
    plain["subtopics"] = {"done": done, "total": total}
    pid, host = plain.pop("owner_pid"), plain.pop("owner_host")
    plain["owner"] = {"pid": pid, "host": host} if pid is not None else None
    return plain
