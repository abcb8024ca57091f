"""Gap check: two branches only (spec E23, seed phase 3).

Job: merge the gaps of all findings; none: on to synthesis; some: one follow-up researcher, then
on to synthesis. Refuses thresholds, counting and a third branch. Importers: phases.
"""

from __future__ import annotations

from omh_research.documents import event
from omh_research.documents.event import Word
from omh_research.documents.finding import empty_finding, parse_finding
from omh_research.documents.finding_file import render_finding
from omh_research.documents.gaps import merge_gaps
from omh_research.documents.names import FOLLOWUP_STEM
from omh_research.documents.plan_file import Plan
from omh_research.documents.snapshot import Snapshot
from omh_research.machine import Trigger
from omh_research.outcome import Artifact, Outcome, Rows
from omh_research.phases import goals
from omh_research.phases.accounts import accounted
from omh_research.phases.contract import MAX_FAILURES, Services
from omh_research.phases.judging import judged
from omh_research.phases.search import plan_of, unsearched


def gaps_of(snapshot: Snapshot) -> tuple[str, ...]:
    """Return the merged gaps of all findings but the follow-up's own."""
    return merge_gaps(
        parse_finding(finding.text).gaps
        for finding in snapshot.findings
        if finding.stem != FOLLOWUP_STEM
    )


def run(snapshot: Snapshot, services: Services) -> Outcome:
    """Return the outcome of the gap check."""
    plan = plan_of(snapshot)
    state = snapshot.state
    if unsearched(snapshot, plan) and not _is_half_revised(snapshot, plan):
        return _back_to_search(snapshot, plan)
    if snapshot.options.rounds > 1:
        from omh_research.phases import rounds

        return rounds.run(snapshot, services)
    gaps = gaps_of(snapshot)
    step = state.step + 1
    complete = event.make(Word.GAP_CHECK_COMPLETE, state.slug, step, gaps=len(gaps))
    if not gaps:
        return Outcome(trigger=Trigger.GAPS_CHECKED, events=(complete,))
    task = goals.followup_task(snapshot, plan, gaps, services.research_tools)
    replies = judged([task], services.ask([task]))
    reply = replies[0]
    failures = dict(state.failures)
    changes = {"failures": failures, **accounted(state, replies)}
    notes = reply.notes
    text = reply.text
    events = [complete]
    if reply.status != "answered":
        failures["followup"] = failures.get("followup", 0) + 1
        failed = event.make(
            Word.DELEGATE_FAILED,
            state.slug,
            step,
            subtopic=FOLLOWUP_STEM,
            attempt=failures["followup"],
        )
        notes = (*notes, f"the follow-up researcher failed: {reply.reason}")
        if failures["followup"] < MAX_FAILURES:
            return Outcome(
                trigger=Trigger.FOLLOWUP_FAILED, events=(failed,), changes=changes, notes=notes
            )
        events.insert(0, failed)
        text = empty_finding(FOLLOWUP_STEM, gaps, [reply.reason])
    finding = parse_finding(text)
    from omh_research.phases.evidence import evidence_rows

    rows = evidence_rows(FOLLOWUP_STEM, finding, services.held())
    rendered = render_finding(FOLLOWUP_STEM, text, finding)
    return Outcome(
        trigger=Trigger.GAPS_CHECKED,
        artifacts=(Artifact("finding", FOLLOWUP_STEM, rendered),),
        rows=(Rows("evidence_ledger.jsonl", rows),) if rows else (),
        events=tuple(events),
        changes=changes,
        notes=notes,
    )


def _is_half_revised(snapshot: Snapshot, plan: Plan) -> bool:
    """Tell whether a lap of several rounds was cut off between its new plan and its state (L1)."""
    return snapshot.options.rounds > 1 and plan.revision > snapshot.state.iteration


def _back_to_search(snapshot: Snapshot, plan: Plan) -> Outcome:
    """The plan was changed after the search: what it now names is searched first (E17)."""
    state = snapshot.state
    added = unsearched(snapshot, plan)
    gone = [name for name in state.completed_subtopics if name not in plan.names]
    revised = event.make(Word.PLAN_REVISED, state.slug, state.step + 1, added=added)
    notes = [f"the plan was changed after the search; to be searched: {'; '.join(added)}"]
    if gone:
        notes.append(f"no longer in the plan, its findings are not used: {'; '.join(gone)}")
    return Outcome(
        trigger=Trigger.PLAN_REVISED,
        events=(revised,),
        changes={"subtopic_count": len(plan.subtopics)},
        notes=tuple(notes),
    )
