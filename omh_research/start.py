"""Starting a run: phase 0 over all runs, one topic one run, then decompose (spec E8-E16, E40).

Job: judge topic and plan before any file is written; resume, show or adopt what is there; mint a
slug; make the run visible; decompose. Refuses to work twice on one topic. Importers: api.
"""

from __future__ import annotations

import contextlib
import os
import unicodedata
from collections.abc import Callable

from msgspec import Struct

from omh_research import commit, engine
from omh_research.documents import event
from omh_research.documents.event import Word
from omh_research.documents.names import check_decoded, fold_topic, make_slug
from omh_research.documents.options import RunOptions, public, to_plain
from omh_research.documents.plan_file import Plan
from omh_research.documents.state import State
from omh_research.engine import ServicesFor, StepReport, advance_held, recover_held
from omh_research.errors import BusyError, NoSuchRunError, OmhError, ScopeError, UsageError
from omh_research.holding import Held, held_start
from omh_research.machine import Phase
from omh_research.project import Project
from omh_research.store.listing import list_runs
from omh_research.store.row import Row

MAX_TOPIC_CHARS = 4_000
MAX_NEAR = 500
IF_CONFIRMED = ("refresh", "view", "cancel")


class StartReport(Struct, frozen=True, kw_only=True):
    """What `start` did. `status` as in StepReport; `report` is relative to the root, or ""."""

    slug: str
    phase: str
    status: str
    resumed: bool = False
    report: str = ""
    notes: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    tasks: tuple[object, ...] = ()


def check_topic(topic: str) -> str:
    """Return the topic with whitespace folded.

    Raises:
        UsageError: empty, too long, or with control characters or lone surrogates.
    """
    folded = " ".join(topic.split())
    if not folded:
        raise UsageError("The topic is empty.", hint='Say what to research: start "QUESTION".')
    if len(folded) > MAX_TOPIC_CHARS:
        raise UsageError(
            f"The topic has {len(folded)} characters; at most {MAX_TOPIC_CHARS} are taken.",
            hint="Put long material into a file and give its folder with --corpus.",
        )
    check_decoded(folded, "topic")
    bad = [char for char in folded if unicodedata.category(char) in ("Cc", "Cs")]
    if bad:
        raise UsageError(f"The topic holds a control character (U+{ord(bad[0]):04X}).")
    if not any(unicodedata.category(char)[0] in "LNS" for char in folded):
        raise UsageError("The topic holds no letter, digit or symbol.")
    return folded


def check_scope(project: Project, topic: str, options: RunOptions) -> None:
    """Refuse a new topic that is a choice and names nothing to choose by (P7).

    A plan, subtopics, named candidates, a corpus or a bundle say what is meant; a run or a report
    on the topic is resumed or shown, not questioned.

    Raises:
        ScopeError: with the two or three questions that would narrow it.
    """
    from omh_research.tools.scope import find_questions

    if options.subtopics or options.corpus or options.bundle or options.landscape:
        return
    questions = find_questions(topic)
    if not questions or _is_known(project, check_topic(topic)):
        return
    raise ScopeError(
        "The topic asks for a choice and names no budget, use, region or time.",
        questions=questions,
        hint="Answer with --detail TEXT (repeat it), or pass --no-scope-check.",
    )


def _is_known(project: Project, topic: str) -> bool:
    if not os.path.isdir(project.layout.base):
        return False
    if _match(list_runs(project.layout).rows, topic) is not None:
        return True
    return _confirmed_slug(project, topic) is not None or _orphan_plan(project, topic) is not None


def is_only_shown(project: Project, topic: str, if_confirmed: str, can_ask: bool) -> bool:
    """Tell whether a start on this topic resumes a run or shows its report.

    Then this call's delegate and sources are not used, and nothing is asked of them (E36).
    """
    if not os.path.isdir(project.layout.base):
        return False
    if _match(list_runs(project.layout).rows, topic) is not None:
        return True
    is_refreshed = if_confirmed == "refresh" or (can_ask and not if_confirmed)
    return not is_refreshed and _confirmed_slug(project, topic) is not None


class Request(Struct, frozen=True, kw_only=True):
    """What `start` was asked for. `ask_user` chooses on a terminal (spec E11), None without one."""

    topic: str
    delegate: str
    options: RunOptions
    if_confirmed: str = ""
    ask_user: Callable[[str], str] | None = None


def start(project: Project, request: Request, services_for: ServicesFor) -> StartReport:
    """Start or resume the run on a topic.

    Raises:
        UsageError, PlanError: topic or plan are wrong; nothing was written.
        StorageError: `.omh/` cannot be written; nothing was spent.
        BusyError: another process is starting a run here and does not finish.
    """
    topic = check_topic(request.topic)
    _judge(request.options)
    project.writer.prepare_root()
    layout = project.layout
    with held_start(project):
        notes = phase_zero(project, services_for)
        project.writer.sweep_unborn()
        rows = list_runs(layout).rows
        active = _match(rows, topic)
        if active is not None:
            with contextlib.suppress(NoSuchRunError):  # unless it ended just now
                return _resume(project, request, active, notes)
        shown = _confirmed(project, request, topic)
        if shown is not None:
            return shown
        near = _near(rows, topic)
        adopted = _orphan_plan(project, topic)
        slug = adopted.slug if adopted is not None else _new_slug(project, topic)
        held = contextlib.ExitStack()
        held.enter_context(Held(project, slug))
        with held:  # the run is visible before another start may look
            state = _first_state(project, request, topic, slug, adopted)
            started = event.make(Word.STARTED, slug, state.step)
            project.writer.execute(commit.creation(state, started), lambda: None)
            kept = held.pop_all()
    with kept:
        report = advance_held(project, slug, services_for)
    return _started(project, report, (*notes, *near), adopted is not None)


def _judge(options: RunOptions) -> None:
    """Refuse caps and subtopics that no phase could work with, before anything is written."""
    if options.caps:
        from omh_research.tools.caps import check_cap_names

        check_cap_names(options.caps)
    if not options.subtopics:
        return
    from omh_research.documents.plan import Subtopic
    from omh_research.phases.decompose import settle
    from omh_research.phases.granting import overrides

    given = tuple(Subtopic(name, queries) for name, queries in options.subtopics)
    settle(given, overrides(options))


def phase_zero(project: Project, services_for: ServicesFor) -> tuple[str, ...]:
    """Finish what other runs left: cancels asked for, confirmed reports not cleared, leftovers.

    A busy run and a damaged one are skipped; the damaged one is named in a note.
    """
    project.writer.sweep_root()
    listing = list_runs(project.layout)
    notes: list[str] = []
    for row in listing.rows:
        if row.problem:
            notes.append(f"{row.slug}: {row.problem}")
            continue
        asked = row.cancel_requested or row.slug in listing.cancels
        if not asked and project.reader.report_status(row.slug) != "confirmed":
            continue
        try:
            with Held(project, row.slug):
                snapshot = engine.read_snapshot(project, row.slug)
                ended = recover_held(project, snapshot, services_for)
            if ended is not None:
                notes += [f"{row.slug}: {word}" for word in (ended.status, *ended.notes)]
        except BusyError:
            continue
        except OmhError as error:
            notes.append(f"{row.slug}: {error.message}")
    for slug in listing.orphans:
        try:
            with Held(project, slug):
                project.writer.sweep_orphans(slug)
        except OmhError:
            continue
    return tuple(notes)


def _match(rows: tuple[Row, ...], topic: str) -> Row | None:
    folded = fold_topic(topic)
    for row in rows:
        if not row.problem and fold_topic(row.topic) == folded:
            return row
    return None


def _near(rows: tuple[Row, ...], topic: str) -> tuple[str, ...]:
    from omh_research.tools.similarity import is_near_duplicate

    near = [
        row for row in rows[:MAX_NEAR] if not row.problem and is_near_duplicate(row.topic, topic)
    ]
    return tuple(f"a run on a similar topic is active: {row.slug} ({row.topic})" for row in near)


def _resume(project: Project, request: Request, row: Row, notes: tuple[str, ...]) -> StartReport:
    snapshot = engine.read_snapshot(project, row.slug)
    differing = _differing(request, snapshot.state, snapshot.options)
    if row.phase == Phase.BLOCKED:
        from omh_research.recovery import blocked_event

        project.writer.log(blocked_event(snapshot))
    status = "active"
    if row.phase == Phase.BLOCKED:
        status = "blocked"
    elif row.phase == Phase.DECOMPOSE and snapshot.state.delegate == "host":
        status = "awaiting"  # as the start said that left its planner task
    return StartReport(
        slug=row.slug,
        phase=row.phase,
        status=status,
        resumed=True,
        notes=(*notes, *differing),
    )


def _differing(request: Request, state: State, options: RunOptions) -> tuple[str, ...]:
    asked, held = to_plain(request.options), to_plain(options)
    names = [
        name for name, value in asked.items() if name != "subtopics" and held.get(name) != value
    ]
    if request.delegate != state.delegate:
        names.append("delegate")
    if not names:
        return ()
    told = f"the run goes on with its own options; not applied: {', '.join(sorted(names))}"
    if state.phase == Phase.BLOCKED:
        told = (
            f"the run is blocked and keeps its own options; not applied: {', '.join(sorted(names))}"
            f". To use them: omh-research clear {state.slug} --yes, then run again"
        )
    return (told,)


def _unapplied(project: Project, request: Request, slug: str) -> tuple[str, ...]:
    """Name the options that a confirmed report was not made with; it is only shown (E11)."""
    try:
        plan = project.reader.plan(slug)
    except OmhError:
        return ()
    if plan is None:
        return ()
    names = [
        name for name, value in public(request.options).items() if plan.options.get(name) != value
    ]
    made = tuple((subtopic.name, subtopic.queries) for subtopic in plan.subtopics)
    if request.options.subtopics and request.options.subtopics != made:
        names.append("plan")
    if request.delegate not in ("extractive", plan.delegate):  # extractive: nobody was named
        names.append("delegate")
    if not names:
        return ()
    return (
        f"the report was made with other options; not applied: {', '.join(sorted(names))}. "
        "To research anew with them: --if-confirmed refresh",
    )


def _confirmed(project: Project, request: Request, topic: str) -> StartReport | None:
    found = _confirmed_slug(project, topic)
    if found is None:
        return None
    choice = request.if_confirmed
    path = project.layout.relative(project.layout.report(found))
    if not choice and request.ask_user is not None:
        choice = request.ask_user(path)
    if choice == "refresh":
        return None
    notes = _unapplied(project, request, found)
    if choice == "cancel":
        notes = ("nothing was started",)
    return StartReport(slug=found, phase="confirmed", status="confirmed", report=path, notes=notes)


def _confirmed_slug(project: Project, topic: str) -> str | None:
    from omh_research.store.topics import plans_on

    for slug in reversed(plans_on(project.layout, project.reader, fold_topic(topic))):
        if project.reader.report_status(slug) == "confirmed":
            return slug
    return None


def _orphan_plan(project: Project, topic: str) -> Plan | None:
    """Return a plan on this topic without state, report and end (spec E13)."""
    from omh_research.store.topics import plans_on

    reader = project.reader
    for slug in plans_on(project.layout, reader, fold_topic(topic)):
        untouched = reader.state_bytes(slug) is None and reader.report_status(slug) is None
        if untouched and not reader.ended(slug):
            return reader.plan(slug)
    return None


def slugs_by_topic(project: Project) -> dict[str, list[str]]:
    """Return the slugs of every plan by folded topic, oldest name first: one scan for many."""
    from omh_research.store.topics import topics_of

    found: dict[str, list[str]] = {}
    for slug, topic in sorted(topics_of(project.layout, project.reader).items()):
        found.setdefault(topic, []).append(slug)
    return found


def new_state(project: Project, request: Request) -> State:
    """Return the first state of a new run; topic and plan are judged before.

    Raises:
        UsageError, PlanError: topic or plan are wrong.
    """
    topic = check_topic(request.topic)
    _judge(request.options)
    return _first_state(project, request, topic, _new_slug(project, topic), None)


def _new_slug(project: Project, topic: str) -> str:
    for _ in range(64):
        slug = make_slug(topic, project.today(), project.rand(4))
        if _is_free(project, slug):
            return slug
    raise UsageError("No free slug for this topic today.", hint="Word the topic differently.")


def _is_free(project: Project, slug: str) -> bool:
    layout = project.layout
    paths = (layout.state(slug), layout.plan(slug), layout.report(slug), layout.lock(slug))
    return not any(os.path.lexists(path) for path in paths)


def _first_state(
    project: Project, request: Request, topic: str, slug: str, adopted: Plan | None
) -> State:
    plan = adopted
    return State(
        phase=Phase.DECOMPOSE.value,
        slug=slug,
        topic=plan.topic if plan is not None else topic,
        started_at=(plan.started_at if plan is not None else "") or project.now(),
        session_id=(plan.session_id if plan is not None else "") or project.new_session_id(),
        revision=1,
        step=1,
        delegate=request.delegate,
        options=to_plain(request.options),
    )


def _started(
    project: Project, report: StepReport, notes: tuple[str, ...], adopted: bool
) -> StartReport:
    return StartReport(
        slug=report.slug,
        phase=report.phase,
        status=report.status,
        resumed=adopted,
        notes=(*notes, *report.notes),
        events=("STARTED", *report.events),
        tasks=report.tasks,
    )
