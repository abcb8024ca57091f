"""Search: one batch of at most three researchers a step, re-entrant (spec E17-E22).

Job: hand out the next pending subtopics, turn replies into findings and evidence rows, keep the
order findings, completed, phase. Refuses to search or fetch itself (E19).
Importers: phases.
"""

from __future__ import annotations

from msgspec.structs import replace

from omh_research.documents import event
from omh_research.documents.event import Event, Word
from omh_research.documents.finding import empty_finding, parse_finding
from omh_research.documents.finding_file import render_finding
from omh_research.documents.names import finding_stems
from omh_research.documents.plan import Subtopic
from omh_research.documents.plan_file import Plan
from omh_research.documents.snapshot import Snapshot
from omh_research.documents.task import FindingText, Reply, Task
from omh_research.errors import DamagedFileError
from omh_research.machine import Trigger
from omh_research.outcome import Artifact, Outcome, Rows
from omh_research.phases import goals
from omh_research.phases.accounts import accounted
from omh_research.phases.contract import MAX_FAILURES, Services
from omh_research.phases.judging import judged

BATCH = 3


def plan_of(snapshot: Snapshot) -> Plan:
    """Return the run's plan.

    Raises:
        DamagedFileError: it is gone, and the phase cannot go on without it.
    """
    if snapshot.plan is None:
        raise DamagedFileError(
            f"The plan of {snapshot.slug} is missing, and its state says {snapshot.state.phase}.",
            hint=f"Restore the plan file, or `omh-research clear {snapshot.slug} --yes`.",
        )
    return snapshot.plan


def batch_of(snapshot: Snapshot, services_tools: tuple[str, ...]) -> list[tuple[Subtopic, Task]]:
    """Return the next batch: the first three pending subtopics with their tasks."""
    plan = plan_of(snapshot)
    stems = finding_stems(plan.names)
    done = set(snapshot.state.completed_subtopics)
    pending = [
        (subtopic, stem)
        for subtopic, stem in zip(plan.subtopics, stems, strict=True)
        if subtopic.name not in done
    ]
    return [
        (subtopic, goals.researcher_task(snapshot, plan, subtopic, stem, services_tools))
        for subtopic, stem in pending[:BATCH]
    ]


def unsearched(snapshot: Snapshot, plan: Plan) -> tuple[str, ...]:
    """Return the plan's subtopics that the state does not say are completed (E17)."""
    done = set(snapshot.state.completed_subtopics)
    return tuple(name for name in plan.names if name not in done)


def run(snapshot: Snapshot, services: Services) -> Outcome:
    """Return the outcome of one batch."""
    plan = plan_of(snapshot)
    batch = batch_of(snapshot, services.research_tools)
    tasks = [task for _, task in batch]
    replies = judged(tasks, services.ask(tasks)) if batch else ()
    stems = dict(zip(plan.names, finding_stems(plan.names), strict=True))
    state = snapshot.state
    failures = dict(state.failures)
    texts: list[tuple[Subtopic, str]] = []
    events: list[Event] = []
    step = state.step + 1
    for (subtopic, _), reply in zip(batch, replies, strict=True):
        stem = stems[subtopic.name]
        if reply.status == "answered":
            texts.append((subtopic, reply.text))
            continue
        failures[stem] = failures.get(stem, 0) + 1
        events.append(
            event.make(
                Word.DELEGATE_FAILED,
                state.slug,
                step,
                subtopic=subtopic.name,
                attempt=failures[stem],
            )
        )
        if failures[stem] >= MAX_FAILURES:
            texts.append((subtopic, empty_finding(subtopic.name, subtopic.queries, [reply.reason])))
    done = tuple(subtopic.name for subtopic, _ in texts)
    completed = state.completed_subtopics + done
    number = state.batch + 1 if done else state.batch
    if done:
        events.append(
            event.make(Word.BATCH_COMPLETE, state.slug, step, batch=number, subtopics=done)
        )
    finished = set(plan.names) <= set(completed)
    artifacts, rows = findings_of(texts, stems, snapshot, services)
    if snapshot.options.rounds > 1:
        artifacts += _memo(snapshot, services, texts, stems)
    return Outcome(
        trigger=Trigger.ALL_FOUND if finished else Trigger.BATCH_DONE,
        artifacts=artifacts,
        rows=(rows,) if rows.lines else (),
        events=tuple(events),
        changes={
            "completed_subtopics": completed,
            "batch": number,
            "failures": failures,
            **accounted(state, replies),
        },
        notes=notes_of(batch, replies),
    )


def _memo(
    snapshot: Snapshot,
    services: Services,
    texts: list[tuple[Subtopic, str]],
    stems: dict[str, str],
) -> tuple[Artifact, ...]:
    """Return the memo with the new findings merged in plan order (L4, L8)."""
    from omh_research.phases.rounds import memo_files

    new = [FindingText(stems[subtopic.name], subtopic.name, text) for subtopic, text in texts]
    order = list(stems)
    fresh = {found.stem for found in new}  # a lap cut off may have written some already
    kept = [found for found in snapshot.findings if found.stem not in fresh]
    both = sorted((*kept, *new), key=lambda found: order.index(found.subtopic))
    merged = replace(snapshot, findings=tuple(both))
    return memo_files(merged, services, snapshot.state.concepts, ())


def findings_of(
    texts: list[tuple[Subtopic, str]],
    stems: dict[str, str],
    snapshot: Snapshot,
    services: Services,
) -> tuple[tuple[Artifact, ...], Rows]:
    """Return the findings files and the evidence rows of researchers' texts."""
    from omh_research.phases.evidence import evidence_rows

    artifacts: list[Artifact] = []
    lines: list[str] = []
    held = services.held()
    for subtopic, text in texts:
        finding = parse_finding(text)
        rendered = render_finding(subtopic.name, text, finding)
        artifacts.append(Artifact("finding", stems[subtopic.name], rendered))
        lines += evidence_rows(subtopic.name, finding, held)
    return tuple(artifacts), Rows("evidence_ledger.jsonl", tuple(lines))


def notes_of(batch: list[tuple[Subtopic, Task]], replies: tuple[Reply, ...]) -> tuple[str, ...]:
    """Return what the output must say: failures with their reasons, and the replies' own notes."""
    notes: list[str] = []
    for (subtopic, _), reply in zip(batch, replies, strict=True):
        if reply.status != "answered":
            notes.append(f"researcher of {subtopic.name!r} failed: {reply.reason}")
        notes += reply.notes
    return tuple(dict.fromkeys(notes))
