"""Stopping in mid-run with an honest result: a labelled partial report (spec O5).

Job: the Outcome of a cap or an open breaker: what is proven so far, the answers of the present
batch that had arrived included; `status: partial`, blocked. After a cap there is always a report;
one of a run that found nothing says so. Refuses to call it a draft, let alone confirmed.
Importers: engine.
"""

from __future__ import annotations

from msgspec.structs import replace

from omh_research.documents import event
from omh_research.documents.event import Word
from omh_research.documents.names import FOLLOWUP_STEM, finding_stems
from omh_research.documents.plan import Subtopic
from omh_research.documents.plan_file import Plan
from omh_research.documents.snapshot import Snapshot
from omh_research.documents.task import FindingText
from omh_research.machine import Trigger
from omh_research.outcome import Artifact, Outcome, Rows
from omh_research.phases import goals
from omh_research.phases.contract import Services, language_of
from omh_research.phases.judging import judged
from omh_research.phases.salvage import open_tasks
from omh_research.phases.search import findings_of
from omh_research.phases.synthesize import count_sources, render_report


def stopped(snapshot: Snapshot, services: Services, reason: str, detail: str) -> Outcome:
    """Return the outcome that blocks the run with `reason` ("cap" or "breaker")."""
    state = snapshot.state
    snapshot, artifacts, rows = _with_arrived(snapshot, services)
    if snapshot.findings or reason == "cap":
        report = Artifact("report", state.slug, _report(snapshot, services, detail))
        artifacts = (*artifacts, report)
    blocked = event.make(Word.BLOCKED, state.slug, state.step + 1, reason=reason)
    return Outcome(
        trigger=Trigger.STOPPED,
        artifacts=artifacts,
        rows=(rows,) if rows.lines else (),
        events=(blocked,),
        changes={"blocked_reason": reason},
        notes=(f"stopped: {detail}",),
    )


def _with_arrived(
    snapshot: Snapshot, services: Services
) -> tuple[Snapshot, tuple[Artifact, ...], Rows]:
    """Return the snapshot with the answers that had arrived as findings, their files and rows.

    Their subtopics do not count as completed: when the run goes on, the search finds the same
    answers and writes the same files again.
    """
    texts: list[tuple[Subtopic, str]] = []
    for subtopic, task in open_tasks(snapshot, services):
        reply = services.stored(task)
        if reply is not None and judged([task], [reply])[0].status == "answered":
            texts.append((subtopic, reply.text))
    names = snapshot.plan.names if snapshot.plan is not None else ()
    stems = dict(zip(names, finding_stems(names), strict=True))
    stems.setdefault(FOLLOWUP_STEM, FOLLOWUP_STEM)
    artifacts, rows = findings_of(texts, stems, snapshot, services)
    new = {stems[item.name]: FindingText(stems[item.name], item.name, t) for item, t in texts}
    kept = [found for found in snapshot.findings if found.stem not in new]
    return replace(snapshot, findings=(*kept, *new.values())), artifacts, rows


def _report(snapshot: Snapshot, services: Services, detail: str) -> str:
    state = snapshot.state
    # Before there is a plan the report has no sections; its label says why.
    plan = snapshot.plan or Plan(
        topic=state.topic, slug=state.slug, subtopics=(), language=language_of(snapshot)
    )
    task = goals.synthesist_task(snapshot, plan, "", True)
    body = services.report_without_model(task).text
    title, _, rest = body.partition("\n")
    label = f"> **Partial report.** The run was stopped: {detail} {_extent(snapshot, plan)}"
    sources = count_sources(snapshot.findings, services)
    return render_report(plan, "partial", sources, f"{title}\n\n{label}\n{rest}")


def _extent(snapshot: Snapshot, plan: Plan) -> str:
    """Return what the report holds and what was never examined."""
    if not plan.subtopics:
        return "There was no plan yet: nothing was searched."
    found = {finding.subtopic for finding in snapshot.findings}
    open_names = [goals.one_line(name) for name in plan.names if name not in found]
    if len(open_names) == len(plan.names):
        return f"Nothing was found before that. Not researched: {'; '.join(open_names)}."
    holds = "It holds only what is proven so far."
    return f"{holds} Not researched: {'; '.join(open_names)}." if open_names else holds
