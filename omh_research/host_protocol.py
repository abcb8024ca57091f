"""The host protocol: hand tasks out, take answers in (spec D2, E38, E39).

Job: `next_tasks` advances to where answers are needed; `submit` stores one answer at once and
commits at most the phase it completes. Refuses an answer to an unknown, finished or cancelled
task, and a cut one. Importers: api.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from omh_research import commit, engine, hooks
from omh_research.documents.finding import parse_finding
from omh_research.documents.names import FOLLOWUP_STEM, check_task_id
from omh_research.documents.snapshot import Snapshot
from omh_research.documents.source import Fetch
from omh_research.documents.state import State
from omh_research.documents.task import Reply, Task, Usage
from omh_research.engine import ServicesFor, StepReport, advance
from omh_research.errors import CancelledError, NoSuchRunError, UsageError
from omh_research.holding import Held, guard_of
from omh_research.machine import Phase
from omh_research.phases.contract import AwaitingHost
from omh_research.phases.standing import run_phase
from omh_research.project import Project
from omh_research.status import no_such_run
from omh_research.store.mailbox import Mailbox
from omh_research.store.sources import Sources

SUBMIT_WAIT_S = 20.0
MAX_TEXT_CHARS = 2_000_000
CUT_MARK = "[SUMMARY TRUNCATED"
MAX_LAPS = 400
MAX_ANSWER_NOTES = 5


class HostSource(Struct, frozen=True):
    """One line of `--sources`: a page the host read, with its text."""

    url: str
    text: str
    title: str = ""
    date: str = ""
    accessed_at: str = ""


class Answer(Struct, frozen=True, kw_only=True):
    """What a host hands in for one task: a text, or the reason of a failure."""

    task_id: str
    text: str = ""
    failed: str = ""
    sources: tuple[HostSource, ...] = ()


class SubmitReport(Struct, frozen=True, kw_only=True):
    """What `submit` did: `stored` is False when the same text was there already."""

    slug: str
    task_id: str
    stored: bool
    phase: str
    waiting: int
    status: str = "active"
    notes: tuple[str, ...] = ()


def ended_report(project: Project, slug: str) -> StepReport:
    """Return the report of a run without state that ended.

    Raises:
        NoSuchRunError: cleared, or never there (spec E41).
    """
    end = project.reader.ended(slug)
    if end in ("confirmed", "cancelled"):
        return StepReport(slug=slug, phase=end, status=end)
    raise no_such_run(project, slug, end)


def step(project: Project, slug: str, services_for: ServicesFor) -> StepReport:
    """Advance a run by one phase; an ended one only says how it ended."""
    if project.reader.state_bytes(slug) is not None:
        with contextlib.suppress(NoSuchRunError):  # it ended while we waited for the lock
            return advance(project, slug, services_for)
    return ended_report(project, slug)


def next_tasks(project: Project, slug: str, services_for: ServicesFor) -> StepReport:
    """Advance through phases that need no answer until tasks wait or the run ends."""
    notes: list[str] = []
    events: list[str] = []
    for _ in range(MAX_LAPS):
        report = step(project, slug, services_for)
        notes += report.notes
        events += report.events
        if report.status != "active":
            break
    else:
        raise UsageError(f"{slug} did not come to an end or a task in {MAX_LAPS} steps.")
    return msgspec.structs.replace(report, notes=tuple(notes), events=tuple(events))


def parse_sources(data: bytes, where: str) -> tuple[HostSource, ...]:
    """Return the sources of a JSON-lines file.

    Raises:
        UsageError: a line is not `{"url", "text", …}`; its number is named.
    """
    found = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            source = msgspec.json.decode(line, type=HostSource)
            source.text.encode("utf-8")
        except (msgspec.MsgspecError, UnicodeEncodeError) as error:
            raise UsageError(
                f"{where}: line {number} is no source ({error}).",
                hint='Each line is {"url": …, "text": …} with optional title and date.',
            ) from None
        found.append(source)
    return tuple(found)


def submit(project: Project, slug: str, answer: Answer, services_for: ServicesFor) -> SubmitReport:
    """Store one answer; commit the batch or phase it completes, and no other.

    Sources may follow their answer (the same text again, now with sources) until its batch or
    phase is committed; the evidence rows are made then, and later sources could prove nothing.

    Raises:
        UsageError: unknown or finished task, another text for it, an empty or cut text, or new
            sources for an answer that is committed.
        CancelledError: the run is cancelled.
        BusyError: another process holds the run for too long; nothing was stored.
    """
    check_task_id(answer.task_id)
    _check_answer(answer)
    if project.reader.state_bytes(slug) is None:
        raise _refusal(ended_report(project, slug))
    with Held(project, slug, wait_s=SUBMIT_WAIT_S):
        if project.reader.state_bytes(slug) is None:  # it ended while we waited for the lock
            raise _refusal(ended_report(project, slug))
        snapshot = engine.read_snapshot(project, slug)
        ended = engine.recover_held(project, snapshot, services_for)
        if ended is not None:
            raise _refusal(ended)
        return _take(project, snapshot, answer, services_for)


def _refusal(ended: StepReport) -> CancelledError | UsageError:
    """Return why a run that ended takes no answer."""
    if ended.status == "cancelled":
        return CancelledError(f"{ended.slug} is cancelled; the answer was not stored.")
    return UsageError(f"{ended.slug} is confirmed already; its tasks are finished.")


def _check_answer(answer: Answer) -> None:
    if answer.failed:
        return
    if not answer.text.strip():
        raise UsageError(
            "The answer is empty; nothing was stored.", hint="Use --failed REASON if there is none."
        )
    if len(answer.text) > MAX_TEXT_CHARS:
        raise UsageError(f"The answer has over {MAX_TEXT_CHARS} characters; nothing was stored.")
    if CUT_MARK in answer.text[-2000:]:
        raise UsageError(
            "The answer was cut by the host (SUMMARY TRUNCATED); nothing was stored.",
            hint="Submit the full text from the file that the footer names.",
        )


def _take(
    project: Project, snapshot: Snapshot, answer: Answer, services_for: ServicesFor
) -> SubmitReport:
    slug, state = snapshot.slug, snapshot.state
    mailbox = Mailbox(project.layout, slug)
    held = mailbox.get(answer.task_id)
    asked, open_tasks = _asked_tasks(snapshot, services_for)
    task = next((task for task in open_tasks if task.id == answer.task_id), None)
    said: tuple[str, ...] = ()
    if task is not None:
        said = (*_keep_sources(project, slug, task, answer), *_not_understood(task, answer))
        mailbox.put(_reply(project, task, answer))
    elif held is not None and held.status == "answered" and held.text == answer.text:
        known = next((task for task in asked if task.id == answer.task_id), None)
        said = _keep_sources(project, slug, known, answer)
        if open_tasks or not _is_of_phase(answer.task_id, state):
            return _report(slug, answer, False, state.phase, open_tasks, said)
        # The last answer was stored before, and its commit was not reached: make up for it.
    else:
        raise UsageError(
            f"{slug} has no open task {answer.task_id}"
            + (": it is finished." if held is not None else "."),
            hint=f"`omh-research next {slug} --json` lists the open ones.",
        )
    snapshot = engine.read_snapshot(project, slug)
    services = services_for(snapshot)
    try:
        outcome = run_phase(snapshot, services)
    except AwaitingHost as waiting:
        return _report(slug, answer, task is not None, state.phase, waiting.tasks, said)
    planned = commit.plan(outcome, snapshot, engine.spent_by(project, slug))
    hooks.carry_out(project, planned, snapshot.state, guard_of(project, snapshot))
    status = "active" if planned.state is not None else planned.phase
    if planned.phase == Phase.BLOCKED:
        status = "blocked"
    report = _report(slug, answer, task is not None, planned.phase, ())
    return msgspec.structs.replace(report, status=status, notes=(*outcome.notes, *said))


def _is_of_phase(task_id: str, state: State) -> bool:
    """Tell whether a task is of the phase in which the run stands; ids begin with their phase."""
    is_host = state.delegate == "host" and state.phase != Phase.BLOCKED
    return is_host and task_id.startswith(f"{state.phase.replace('_', '-')}-")


def _asked_tasks(
    snapshot: Snapshot, services_for: ServicesFor
) -> tuple[tuple[Task, ...], tuple[Task, ...]]:
    """Return the tasks whose answers the phase has yet to commit, and those still open."""
    if snapshot.state.phase == Phase.BLOCKED or snapshot.state.delegate != "host":
        return (), ()  # and a delegate that we run is not set to work by a submission
    services = services_for(snapshot)
    asked: list[Task] = []

    def ask(tasks: Sequence[Task]) -> tuple[Reply, ...]:
        asked.extend(tasks)
        return services.ask(tasks)

    try:
        run_phase(snapshot, msgspec.structs.replace(services, ask=ask))
    except AwaitingHost as waiting:
        return tuple(asked), waiting.tasks
    return tuple(asked), ()


def _reply(project: Project, task: Task, answer: Answer) -> Reply:
    usage = Usage(fetches=len(answer.sources))
    if answer.failed:
        return Reply(
            task_id=task.id,
            status="failed",
            reason=" ".join(answer.failed.split())[:500],
            received_at=project.now(),
        )
    return Reply(task_id=task.id, text=answer.text, usage=usage, received_at=project.now())


def _not_understood(task: Task, answer: Answer) -> tuple[str, ...]:
    """Return what the findings file will lack: the answer is stored, its writer should know."""
    if task.role != "researcher" or answer.failed:
        return ()
    from omh_research.phases.judging import trouble_of

    if trouble := trouble_of(task, answer.text):
        return (f"answer to {task.id} cannot be used and will be asked for again: {trouble}",)
    finding = parse_finding(answer.text)
    notes = list(finding.notes)
    wanted, named = (" ".join(name.split()) for name in (task.brief.subtopic, finding.subtopic))
    if named and wanted != FOLLOWUP_STEM and named.casefold() != wanted.casefold():
        notes.insert(0, f"it names the subtopic {named[:80]!r}, the task is about {wanted[:80]!r}")
    return tuple(f"answer to {task.id}: {note}" for note in notes[:MAX_ANSWER_NOTES])


def _keep_sources(
    project: Project, slug: str, task: Task | None, answer: Answer
) -> tuple[str, ...]:
    """Hold the answer's new sources; return what the output must say of them.

    Raises:
        UsageError: there are new ones and no `task`: its batch or phase is committed.
    """
    if not answer.sources:
        return ()
    from omh_research.tools.urls import canonical

    record = Sources(project.layout, slug, canonical)
    known = {row.canonical_url for row in record.rows() if row.sha256 and row.kind == "fetch"}
    new: dict[str, HostSource] = {}
    for source in answer.sources:
        if canonical(source.url) not in known:
            new.setdefault(canonical(source.url), source)
    held = len(answer.sources) - len(new)
    said = f"sources: {len(new)} kept"
    said += f", {held} held before (the first text of an address stays)" if held else ""
    if not new:
        return (said,)
    if task is None:
        raise UsageError(
            f"{answer.task_id} is finished and its findings are written: its sources came too "
            f"late and were not kept ({len(new)} new).",
            hint="Hand sources in with the answer, or before the last task of its batch.",
        )
    for url, source in new.items():
        record.record(
            Fetch(
                kind="fetch",
                status="ok",
                accessed_at=source.accessed_at or project.now(),
                canonical_url=url,
                subquestion=task.brief.subtopic,
                provider="host",
                charge=1,
                title=source.title,
                date=source.date,
                sha256=record.hold(source.text),
            )
        )
    return (said,)


def _report(
    slug: str,
    answer: Answer,
    stored: bool,
    phase: str,
    waiting: tuple[Task, ...],
    notes: tuple[str, ...] = (),
) -> SubmitReport:
    return SubmitReport(
        slug=slug,
        task_id=answer.task_id,
        stored=stored,
        phase=phase,
        waiting=len(waiting),
        notes=notes,
    )


def task_json(task: Task) -> dict[str, object]:
    """Return a task as `next --json` prints it."""
    return {
        "id": task.id,
        "role": task.role,
        "goal": task.goal,
        "context": task.context,
        "tools": list(task.tools),
    }


def render_tasks(tasks: tuple[Task, ...]) -> str:
    """Return tasks as text for people."""
    return "\n\n".join(json.dumps(task_json(task), ensure_ascii=False, indent=1) for task in tasks)
