"""Stopping in mid-run with an honest result: a labelled partial report (spec O5).

Job: the Outcome of a cap or an open breaker: what is proven so far, `status: partial`, blocked.
Refuses to call it a draft, let alone confirmed. Importers: engine.
"""

from __future__ import annotations

from omh_research.documents import event, frontmatter
from omh_research.documents.event import Word
from omh_research.documents.heads import ReportHead, checked
from omh_research.documents.snapshot import Snapshot
from omh_research.machine import Trigger
from omh_research.outcome import Artifact, Outcome
from omh_research.phases import goals
from omh_research.phases.contract import Services
from omh_research.phases.synthesize import count_sources


def stopped(snapshot: Snapshot, services: Services, reason: str, detail: str) -> Outcome:
    """Return the outcome that blocks the run with `reason` ("cap" or "breaker")."""
    state = snapshot.state
    artifacts: tuple[Artifact, ...] = ()
    if snapshot.plan is not None and snapshot.findings:
        artifacts = (Artifact("report", state.slug, _report(snapshot, services, detail)),)
    blocked = event.make(Word.BLOCKED, state.slug, state.step + 1, reason=reason)
    return Outcome(
        trigger=Trigger.STOPPED,
        artifacts=artifacts,
        events=(blocked,),
        changes={"blocked_reason": reason},
        notes=(f"stopped: {detail}",),
    )


def _report(snapshot: Snapshot, services: Services, detail: str) -> str:
    plan = snapshot.plan
    assert plan is not None
    task = goals.synthesist_task(snapshot, plan, "", True)
    body = services.report_without_model(task).text
    title, _, rest = body.partition("\n")
    label = (
        f"> **Partial report.** The run was stopped: {detail} It holds only what is proven so far."
    )
    fetched, declared = count_sources(snapshot.findings, services)
    meta: dict[str, object] = {
        "status": "partial",
        "topic": plan.topic,
        "slug": plan.slug,
        "language": plan.language,
        "sources_fetched": fetched,
        "sources_declared": declared,
    }
    checked(meta, ReportHead, f"the report of {plan.slug}")
    return frontmatter.render(meta, f"{title}\n\n{label}\n{rest}")
