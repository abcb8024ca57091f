"""Verify: the deterministic gate first and always, then the verifier (spec E27-E32).

Job: judge the draft by the gate; only a draft that passes is shown to the verifier; act on the
verdict by the three-strikes rule. Refuses to let any verdict overrule the gate, and to read a
verdict that is not one exact line. Importers: phases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from omh_research.documents import event, frontmatter
from omh_research.documents.event import Event, Word
from omh_research.documents.snapshot import Snapshot
from omh_research.documents.task import Reply
from omh_research.documents.verdict import Verdict, parse_verdict
from omh_research.machine import MAX_SYNTHESIS_FAILURES, Trigger
from omh_research.outcome import Artifact, Outcome
from omh_research.phases import goals
from omh_research.phases.accounts import accounted
from omh_research.phases.contract import Services
from omh_research.phases.search import plan_of
from omh_research.phases.synthesize import draft_body
from omh_research.tools.gate import GateInput, GateResult, check, render_feedback

if TYPE_CHECKING:
    from omh_research.phases import panel

MAX_VERDICT_ASKS = 2
INSUFFICIENT = "insufficient_evidence"
EXHAUSTED = "retries_exhausted"
UNREADABLE = "unreadable verdict"
UNVERIFIABLE = "verification_could_not_run"


def gate_input(snapshot: Snapshot, services: Services, body: str) -> GateInput:
    """Return what the gate judges, from the snapshot and the held texts."""
    from omh_research.documents.finding import parse_finding

    plan = plan_of(snapshot)
    state = snapshot.state
    return GateInput(
        topic=plan.topic,
        subtopics=goals.report_names(snapshot, plan),
        report=body,
        findings=tuple(
            (finding.stem, parse_finding(finding.text)) for finding in snapshot.findings
        ),
        held=tuple(services.held().values()),
        leads=services.leads(),
        require_quotes=services.require_quotes,
        declared_allowed=not services.keeps_ledger,
        previous_feedback=(state.last_verifier_feedback or "") if state.synthesis_attempts else "",
        needs_two_sources=snapshot.options.rounds > 1,
    )


def is_passed_by_gate(snapshot: Snapshot, services: Services) -> bool:
    """Tell whether the gate alone finds nothing wrong with the report as it stands."""
    gate = check(gate_input(snapshot, services, draft_body(snapshot)))
    return gate.has_usable_source and not gate.failures


def run(snapshot: Snapshot, services: Services) -> Outcome:
    """Return the outcome of one verification."""
    body = draft_body(snapshot)
    gate = check(gate_input(snapshot, services, body))
    if not gate.has_usable_source:
        return _insufficient(snapshot, gate)
    if gate.failures:
        return _failed(snapshot, render_feedback(gate), "gate", (), gate)
    plan = plan_of(snapshot)
    task = goals.verifier_task(snapshot, plan, body)
    replies = services.ask([task])
    reply = replies[0]
    verdict = parse_verdict(reply.text, shown=task.context)
    if reply.status != "answered":
        verdict = Verdict(kind="unreadable", why=reply.reason, text=reply.text)
    if verdict.kind == "unreadable":
        return _unreadable(snapshot, verdict, replies, gate)
    if verdict.kind == "FAIL":
        return _failed(snapshot, verdict.text, "verifier", replies, gate)
    if not snapshot.options.panel:
        return _passed(snapshot, services, replies, gate)
    from omh_research.phases import panel

    result = panel.judge(snapshot, services, body)
    if result.of("refuted"):
        failed = _failed(snapshot, panel.refutations(result), "panel", replies, gate)
        return replace(failed, artifacts=(_panel_file(result, body),))
    if result.is_undecided:
        return _undecided(snapshot, result, replies)
    return _passed(snapshot, services, replies, gate, result)


def _panel_file(result: panel.PanelResult, body: str) -> Artifact:
    from omh_research.phases import panel

    return Artifact("evidence", panel.PANEL, panel.panel_json(result, body))


def _undecided(
    snapshot: Snapshot, result: panel.PanelResult, replies: tuple[Reply, ...]
) -> Outcome:
    """Not one claim reached a quorum: ask again for what failed, thrice at most (P5)."""
    from omh_research.phases import panel

    state = snapshot.state
    asked = state.undecided + 1
    step = state.step + 1
    stopped = asked >= panel.MAX_UNDECIDED or not result.may_ask
    word = Word.BLOCKED if stopped else Word.PANEL_COMPLETE
    fields = {"reason": UNVERIFIABLE} if stopped else {"outcome": "undecided"}
    # A failed vote is an abstention (P2): it neither opens nor closes the breaker.
    changes: dict[str, Any] = {"undecided": asked, **accounted(state, replies)}
    if stopped:
        changes["blocked_reason"] = UNVERIFIABLE
        changes["last_verifier_feedback"] = panel.summary_of(result)
    return Outcome(
        trigger=Trigger.STOPPED if stopped else Trigger.UNDECIDED,
        artifacts=(_panel_file(result, draft_body(snapshot)),),
        events=(event.make(word, state.slug, step, **fields),),
        changes=changes,
        notes=(panel.summary_of(result),),
    )


def _passed(
    snapshot: Snapshot,
    services: Services,
    replies: tuple[Reply, ...],
    gate: GateResult,
    judged: panel.PanelResult | None = None,
) -> Outcome:
    state = snapshot.state
    step = state.step + 1
    draft = snapshot.report or ""
    notes = _notes(replies, gate)
    artifacts: list[Artifact] = []
    if judged is not None:
        from omh_research.phases import panel

        artifacts.append(_panel_file(judged, draft_body(snapshot)))
        draft = _counted(draft, len(judged.of("unverified")))
        notes = (*notes, panel.summary_of(judged))
    confirmed = frontmatter.set_status(draft, "confirmed")
    artifacts.append(Artifact("report", state.slug, confirmed))
    if not services.can_scope_tools:
        notes = (*notes, "this delegate cannot scope tools: the verifier was asked not to use any")
    return Outcome(
        trigger=Trigger.PASSED,
        artifacts=tuple(artifacts),
        changes=accounted(state, replies),
        events=(
            event.make(Word.VERIFY_PASS, state.slug, step),
            event.make(Word.REPORT_CONFIRMED, state.slug, step),
        ),
        notes=notes,
    )


def _counted(report: str, unverified: int) -> str:
    """Return the report with the number of unverified claims in its frontmatter (P5)."""
    meta, body = frontmatter.parse(report, where="report")
    return frontmatter.render({**meta, "unverified": unverified}, body)


def _failed(
    snapshot: Snapshot,
    feedback: str,
    by: str,
    replies: tuple[Reply, ...],
    gate: GateResult,
) -> Outcome:
    """A FAIL of the gate or the verifier: a retry while there are any, else blocked (E30, E31)."""
    state = snapshot.state
    step = state.step + 1
    exhausted = state.synthesis_attempts >= MAX_SYNTHESIS_FAILURES
    usable = [by != UNREADABLE] * len(replies)
    events: list[Event] = [event.make(Word.VERIFY_FAIL, state.slug, step, by=by.split()[0])]
    changes: dict[str, Any] = {
        "last_verifier_feedback": feedback,
        **accounted(state, replies, usable),
    }
    if exhausted:
        events.append(event.make(Word.BLOCKED_RETRIES_EXHAUSTED, state.slug, step))
        changes["blocked_reason"] = EXHAUSTED
    else:
        attempt = state.synthesis_attempts + 1
        events.append(event.make(Word.SYNTHESIS_RETRY, state.slug, step, attempt=attempt))
    return Outcome(
        trigger=Trigger.FAILED,
        events=tuple(events),
        changes=changes,
        notes=(*_notes(replies, gate), f"the {by} refused the draft"),
    )


def _unreadable(
    snapshot: Snapshot, verdict: Verdict, replies: tuple[Reply, ...], gate: GateResult
) -> Outcome:
    """Ask again at most twice, then it counts as FAIL: in doubt, fail (E32)."""
    state = snapshot.state
    if state.verdict_asks >= MAX_VERDICT_ASKS:
        feedback = "No verdict could be read in three answers of the verifier.\n" + verdict.text
        return _failed(snapshot, feedback, UNREADABLE, replies, gate)
    asked = state.verdict_asks + 1
    return Outcome(
        trigger=Trigger.VERDICT_UNREADABLE,
        events=(event.make(Word.VERDICT_UNREADABLE, state.slug, state.step + 1, asks=asked),),
        changes={"verdict_asks": asked, **accounted(state, replies, [False] * len(replies))},
        notes=(*_notes(replies, gate), f"the verdict could not be read: {verdict.why}"),
    )


def _insufficient(snapshot: Snapshot, gate: GateResult) -> Outcome:
    """No subtopic has a usable source: never confirmed (E28c); the draft lists what was sought."""
    state = snapshot.state
    plan = plan_of(snapshot)
    queries = dict.fromkeys(query for subtopic in plan.subtopics for query in subtopic.queries)
    sought = "\n".join(f"- {query}" for query in queries)
    feedback = f"No subtopic has a usable source. Sought in vain:\n{sought}"
    step = state.step + 1
    artifacts: tuple[Artifact, ...] = ()
    if snapshot.report is not None and "\n## Sought in vain\n" not in snapshot.report:
        text = f"{snapshot.report.rstrip()}\n\n## Sought in vain\n\n{sought}\n"
        artifacts = (Artifact("report", state.slug, text),)
    return Outcome(
        trigger=Trigger.STOPPED,
        artifacts=artifacts,
        events=(
            event.make(Word.VERIFY_FAIL, state.slug, step, by="gate"),
            event.make(Word.BLOCKED, state.slug, step, reason=INSUFFICIENT),
        ),
        changes={"last_verifier_feedback": feedback, "blocked_reason": INSUFFICIENT},
        notes=(*gate.notes, "no subtopic has a usable source"),
    )


def _notes(replies: tuple[Reply, ...], gate: GateResult) -> tuple[str, ...]:
    notes = [note for reply in replies for note in reply.notes]
    notes += gate.notes
    if gate.insufficient_subtopics:
        names = ", ".join(gate.insufficient_subtopics)
        notes.append(f"without sufficient sources (recorded, not penalised): {names}")
    return tuple(dict.fromkeys(notes))
