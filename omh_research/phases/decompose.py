"""Decompose: from a topic to a durable plan of 3 to 5 subtopics (spec E15, E16).

Job: take the plan that was given, else the delegate's planner, else the model-free planner; drop
near duplicates by the caps tool and say so. Refuses to start with fewer than 3 or more than 5.
Importers: phases, api (to judge a given plan before any file is written).
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from omh_research.documents import event, options, plan_file
from omh_research.documents.event import Word
from omh_research.documents.plan import Subtopic, check_plan, parse_planner_answer
from omh_research.documents.plan_file import Plan
from omh_research.documents.snapshot import Snapshot
from omh_research.documents.task import Reply
from omh_research.errors import PlanError
from omh_research.machine import Trigger
from omh_research.outcome import Artifact, Outcome, Rows, render_json
from omh_research.phases import goals, landscape
from omh_research.phases.accounts import accounted
from omh_research.phases.contract import MAX_FAILURES, Services, language_of
from omh_research.phases.granting import overrides
from omh_research.phases.subtopic_names import check_names
from omh_research.tools import caps

CAPS_PLAN = "caps_plan.json"


class Settled(Struct, frozen=True):
    """A plan that keeps the rules, its caps, and what was dropped on the way."""

    subtopics: tuple[Subtopic, ...]
    caps_plan: dict[str, Any]
    notes: tuple[str, ...]


def settle(subtopics: tuple[Subtopic, ...], lowered: dict[str, float]) -> Settled:
    """Drop near duplicates, apply the caps, check the rules.

    Raises:
        PlanError: a rule is broken; the message names it.
        ToolInputError: an override is no cap.
    """
    check_plan(subtopics, counted=False)
    names = [subtopic.name for subtopic in subtopics]
    check_names(tuple(names))
    granted = caps.plan({"subquestions": names, "depth": 0, "caps": lowered})
    kept = list(granted["subquestions"])
    chosen = tuple(subtopic for subtopic in subtopics if subtopic.name in kept)
    dropped = granted["dropped"]
    notes = tuple(
        f"subtopic dropped ({why}): {name}"
        for why, key in (("near duplicate", "duplicates"), ("over the cap", "over_cap"))
        for name in dropped[key]
    )
    try:
        check_plan(chosen)
    except PlanError as error:
        rule = error.message.removesuffix(".")
        raise PlanError("; ".join([rule, *notes]) + ".", hint=error.hint) from None
    return Settled(chosen, granted, notes)


def run(snapshot: Snapshot, services: Services) -> Outcome:
    """Return the outcome that makes the plan durable and opens the search."""
    language = language_of(snapshot)
    if snapshot.plan is not None:  # written before a crash: adopted, nothing is asked again
        settled = settle(snapshot.plan.subtopics, overrides(snapshot.options))
        told = services.stored(goals.planner_task(snapshot, language))
        paid = () if told is None else (told,)
        return _planned(snapshot, settled, snapshot.plan.language or language, paid)
    given = snapshot.options.subtopics
    if given:
        subtopics = tuple(Subtopic(name=name, queries=queries) for name, queries in given)
        return _planned(snapshot, settle(subtopics, overrides(snapshot.options)), language, ())
    if snapshot.options.landscape:
        subtopics = landscape.subtopics_of(snapshot.options.landscape, language)
        return _planned(snapshot, settle(subtopics, overrides(snapshot.options)), language, ())
    failed = snapshot.state.failures.get("planner", 0)
    trouble = snapshot.state.last_verifier_feedback or ""
    task = goals.planner_task(snapshot, language, trouble)
    replies: tuple[Reply, ...]
    note: tuple[str, ...] = ()
    if failed >= MAX_FAILURES:
        replies = (services.plan_without_model(task),)
        note = ("the planner's answers could not be used; the model-free planner made the plan",)
    else:
        replies = services.ask([task])
    reply = replies[0]
    try:
        if reply.status != "answered":
            raise PlanError(reply.reason or "no answer")
        settled = settle(parse_planner_answer(reply.text), overrides(snapshot.options))
    except PlanError as error:
        if failed >= MAX_FAILURES:
            raise
        # Its hint speaks to who gave a plan by hand, not to a planner.
        return _planner_failed(snapshot, error.message, replies)
    settled = replace(settled, notes=settled.notes + note)
    return _planned(snapshot, settled, language, replies)


def _planner_failed(snapshot: Snapshot, reason: str, replies: tuple[Reply, ...]) -> Outcome:
    state = snapshot.state
    failures = {**state.failures, "planner": state.failures.get("planner", 0) + 1}
    failed = event.make(
        Word.DELEGATE_FAILED,
        state.slug,
        state.step + 1,
        task="planner",
        attempt=failures["planner"],
    )
    return Outcome(
        trigger=Trigger.PLANNER_FAILED,
        events=(failed,),
        changes={
            "failures": failures,
            "last_verifier_feedback": reason,
            **accounted(state, replies, [False] * len(replies)),
        },
        notes=(f"the planner's answer could not be used: {reason}",),
    )


def _planned(
    snapshot: Snapshot, settled: Settled, language: str, replies: tuple[Reply, ...]
) -> Outcome:
    state = snapshot.state
    run_options = replace(snapshot.options, subtopics=())
    plan = Plan(
        topic=state.topic,
        slug=state.slug,
        subtopics=settled.subtopics,
        session_id=state.session_id,
        started_at=state.started_at,
        delegate=state.delegate,
        language=language,
        options=options.public(run_options),
    )
    artifacts: tuple[Artifact, ...] = (
        Artifact("plan", state.slug, plan_file.render_plan(plan)),
        Artifact("evidence", CAPS_PLAN, render_json(settled.caps_plan)),
    )
    if snapshot.plan is not None:
        artifacts = artifacts[1:]
    step = state.step + 1
    events = [
        event.make(Word.PLAN_WRITTEN, state.slug, step, subtopics=len(settled.subtopics)),
    ]
    if Word.STARTED not in snapshot.logged:
        events.insert(0, event.make(Word.STARTED, state.slug, 1))
    return Outcome(
        trigger=Trigger.PLANNED,
        artifacts=artifacts,
        rows=(Rows("fetch_ledger.jsonl", ()), Rows("evidence_ledger.jsonl", ())),
        events=tuple(events),
        changes={
            "subtopic_count": len(settled.subtopics),
            "options": options.to_plain(run_options),
            "last_verifier_feedback": None,
            **accounted(state, replies),
        },
        notes=settled.notes,
    )
