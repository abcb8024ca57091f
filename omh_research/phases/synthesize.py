"""Synthesize: all findings into one draft (spec E24-E26).

Job: inline every finding, whole where the budget allows, ask for the report, keep the answer
unedited but for one leading frontmatter block. Refuses to edit the report. Importers: phases.
"""

from __future__ import annotations

from omh_research.documents import event, frontmatter
from omh_research.documents.event import Word
from omh_research.documents.finding import parse_finding
from omh_research.documents.heads import ReportHead, checked
from omh_research.documents.plan_file import Plan
from omh_research.documents.snapshot import Snapshot
from omh_research.documents.task import FindingText
from omh_research.errors import DamagedFileError
from omh_research.machine import Trigger
from omh_research.outcome import Artifact, Outcome, render_json
from omh_research.phases import goals
from omh_research.phases.accounts import accounted
from omh_research.phases.contract import MAX_FAILURES, Services
from omh_research.phases.search import plan_of
from omh_research.phases.shortening import shorten_findings
from omh_research.tools.urls import canonical

CUTS = "context_cuts.json"


def run(snapshot: Snapshot, services: Services) -> Outcome:
    """Return the outcome of one draft."""
    plan = plan_of(snapshot)
    state = snapshot.state
    excerpt = goals.plan_excerpt(plan)
    room = snapshot.options.context_budget - len(excerpt)
    findings, cuts = shorten_findings(snapshot.findings, plan.topic, room)
    context = f"{excerpt}\n\n{goals.findings_text(findings, plan.slug)}"
    task = goals.synthesist_task(snapshot, plan, context, services.require_quotes)
    replies = services.ask([task])
    reply = replies[0]
    changes = accounted(state, replies)
    step = state.step + 1
    if reply.status != "answered":
        failures = {**state.failures, "report": state.failures.get("report", 0) + 1}
        failed = event.make(
            Word.DELEGATE_FAILED, state.slug, step, task="report", attempt=failures["report"]
        )
        stopped = failures["report"] >= MAX_FAILURES
        changes["failures"] = failures
        if stopped:
            changes["blocked_reason"] = "synthesis_failed"
        return Outcome(
            trigger=Trigger.STOPPED if stopped else Trigger.DRAFT_FAILED,
            events=(failed,),
            changes=changes,
            notes=(*reply.notes, f"the synthesist failed: {reply.reason}"),
        )
    body, had_block = frontmatter.strip_leading_block(reply.text)
    notes = list(reply.notes)
    if had_block:
        notes.append("a frontmatter block in the synthesist's answer was removed and ignored")
    artifacts = [Artifact("report", state.slug, draft(snapshot, services, body))]
    if cuts:
        artifacts.insert(0, Artifact("evidence", CUTS, render_json(cuts)))
        shortened = ", ".join(str(cut["finding"]) for cut in cuts)
        notes.append(f"SYNTHESIS of {shortened} was shortened to fit the context budget")
    return Outcome(
        trigger=Trigger.DRAFTED,
        artifacts=tuple(artifacts),
        events=(event.make(Word.REPORT_DRAFT, state.slug, step, attempt=state.synthesis_attempts),),
        changes={**changes, "verdict_asks": 0, "undecided": 0},
        notes=tuple(notes),
    )


def draft(snapshot: Snapshot, services: Services, body: str) -> str:
    """Return the report file: our frontmatter with `status: draft`, the body as returned."""
    return render_report(
        plan_of(snapshot), "draft", count_sources(snapshot.findings, services), body
    )


def render_report(plan: Plan, status: str, sources: tuple[int, int], body: str) -> str:
    """Return a report file; `sources` are how many are held, and how many only declared."""
    meta: dict[str, object] = {
        "status": status,
        "topic": plan.topic,
        "slug": plan.slug,
        "language": plan.language,
        "sources_fetched": sources[0],
        "sources_declared": sources[1],
    }
    checked(meta, ReportHead, f"the report of {plan.slug}")
    return frontmatter.render(meta, body)


def count_sources(findings: tuple[FindingText, ...], services: Services) -> tuple[int, int]:
    """Return how many sources of the findings are held, and how many are only declared (T23)."""
    held = services.held()
    urls = {
        canonical(source.url)
        for finding in findings
        for source in parse_finding(finding.text).sources
        if source.url
    }
    fetched = sum(url in held for url in urls)
    return fetched, len(urls) - fetched


def draft_body(snapshot: Snapshot) -> str:
    """Return the body of the draft.

    Raises:
        DamagedFileError: the report is missing or damaged.
    """
    if snapshot.report is None:
        raise DamagedFileError(
            f"The draft {snapshot.slug}-report.md is missing.",
            hint=f"Put it back into .omh/research, or run omh-research clear {snapshot.slug} "
            "--yes and start again.",
        )
    return frontmatter.parse(snapshot.report, where=f"{snapshot.slug}-report.md")[1]
