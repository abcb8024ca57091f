"""A cancel that first keeps the findings which had come back (spec E35).

Job: name the researcher tasks of the phase that a cancel stops, and turn their stored replies into
findings files beside the CANCELLED event. Refuses to ask a delegate. Importers: engine.
"""

from __future__ import annotations

from collections.abc import Sequence

from omh_research.documents import event
from omh_research.documents.event import Word
from omh_research.documents.names import FOLLOWUP_STEM, finding_stems
from omh_research.documents.plan import Subtopic
from omh_research.documents.snapshot import Snapshot
from omh_research.documents.task import Reply, Task
from omh_research.machine import Phase, Trigger
from omh_research.outcome import Outcome
from omh_research.phases import goals
from omh_research.phases.contract import Services
from omh_research.phases.gap_check import gaps_of
from omh_research.phases.search import batch_of, findings_of


def open_tasks(snapshot: Snapshot, services: Services) -> list[tuple[Subtopic, Task]]:
    """Return the researcher tasks whose answers a cancel in this phase would keep."""
    if snapshot.plan is None:
        return []
    tools = services.research_tools
    if snapshot.state.phase == Phase.SEARCH:
        return batch_of(snapshot, tools)
    if snapshot.state.phase == Phase.GAP_CHECK and snapshot.options.rounds == 1:
        gaps = gaps_of(snapshot)
        task = goals.followup_task(snapshot, snapshot.plan, gaps, tools) if gaps else None
        return [(Subtopic(FOLLOWUP_STEM, gaps), task)] if task is not None else []
    return []


def salvage(
    snapshot: Snapshot,
    services: Services,
    tasks: Sequence[tuple[Subtopic, Task]],
    replies: Sequence[Reply | None],
) -> Outcome:
    """Return the outcome that ends the run as cancelled, findings first."""
    names = snapshot.plan.names if snapshot.plan is not None else ()
    stems = dict(zip(names, finding_stems(names), strict=True))
    texts: list[tuple[Subtopic, str]] = []
    for (subtopic, task), reply in zip(tasks, replies, strict=True):
        if task.brief.subtopic == FOLLOWUP_STEM:
            stems = {FOLLOWUP_STEM: FOLLOWUP_STEM}
        if reply is not None and reply.status == "answered":
            texts.append((subtopic, reply.text))
    artifacts, rows = findings_of(texts, stems, snapshot, services)
    cancelled = event.make(Word.CANCELLED, snapshot.slug, snapshot.state.step + 1)
    return Outcome(
        trigger=Trigger.CANCELLED,
        artifacts=artifacts,
        rows=(rows,) if rows.lines else (),
        events=(cancelled,),
    )
