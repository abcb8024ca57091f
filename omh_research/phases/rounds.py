"""The loop of several rounds: is there enough evidence, and what is still to be searched (L1, L2).

Job: evaluate a round from the findings, revise the plan by appending, keep memo and sources.
Refuses to edit an old subproblem, to go past `rounds`, and to go on without anything new.
Importers: phases.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from omh_research.documents import event, plan_file
from omh_research.documents.event import Word
from omh_research.documents.finding import ParsedFinding, parse_finding
from omh_research.documents.names import FOLLOWUP_STEM
from omh_research.documents.plan import Subtopic
from omh_research.documents.plan_file import Plan
from omh_research.documents.snapshot import Snapshot
from omh_research.machine import Trigger
from omh_research.outcome import Artifact, Outcome, render_json
from omh_research.phases.contract import Services
from omh_research.phases.goals import base_name, report_names
from omh_research.phases.novelty import NEEDED, blind_spot, new_concept
from omh_research.phases.search import plan_of
from omh_research.tools import memo
from omh_research.tools.independence import SourceFact, independent_sources
from omh_research.tools.urls import canonical

MAX_QUERIES = 3


class Evaluation(Struct, frozen=True):
    """What a round came to. `lacking` names subproblems with fewer than two independent sources."""

    lacking: tuple[str, ...]
    concept: str
    concept_sources: tuple[str, ...]
    blind_spot: str
    conflicts: tuple[str, ...]


def grouped(snapshot: Snapshot, plan: Plan) -> dict[str, list[ParsedFinding]]:
    """Return the parsed findings by subproblem, in plan order."""
    groups: dict[str, list[ParsedFinding]] = {name: [] for name in report_names(snapshot, plan)}
    for finding in snapshot.findings:
        if finding.stem != FOLLOWUP_STEM:
            groups.setdefault(base_name(finding.subtopic), []).append(parse_finding(finding.text))
    return groups


def evaluate(snapshot: Snapshot, services: Services) -> Evaluation:
    """Judge the round that has just ended."""
    plan = plan_of(snapshot)
    groups = grouped(snapshot, plan)
    texts = {url: held.text for url, held in services.held().items()}
    lacking = []
    for name, findings in groups.items():
        facts = [
            SourceFact(s.url, credibility=s.credibility, text=texts.get(canonical(s.url), ""))
            for finding in findings
            for s in finding.sources
            if s.url
        ]
        if len(independent_sources(facts)) < NEEDED:
            lacking.append(name)
    covered = [*plan.names, *snapshot.state.concepts]
    covered += [query for item in plan.subtopics for query in item.queries]
    found = new_concept(groups, plan.topic, covered, texts)
    conflicts = tuple(
        f"{point.point} ???"
        for findings in groups.values()
        for finding in findings
        for point in finding.key_points
        if point.conflict
    )
    return Evaluation(
        tuple(lacking),
        found.phrase,
        found.sources,
        blind_spot(groups, plan.topic, covered),
        tuple(dict.fromkeys(conflicts)),
    )


def run(snapshot: Snapshot, services: Services) -> Outcome:
    """Return the outcome of the gap check of a run with several rounds."""
    snapshot = replace(snapshot, plan=_searched(snapshot))
    plan = plan_of(snapshot)
    state = snapshot.state
    iteration = state.iteration + 1
    judged = evaluate(snapshot, services)
    step = state.step + 1
    pending = () if iteration >= snapshot.options.rounds else _pending(snapshot, plan, judged)
    concepts = (*state.concepts, judged.concept) if judged.concept and pending else state.concepts
    changes = {"iteration": iteration, "concepts": concepts}
    if not pending:
        complete = event.make(
            Word.GAP_CHECK_COMPLETE, state.slug, step, gaps=len(judged.lacking), rounds=iteration
        )
        uncertain = uncertain_points(judged, plan.language)
        artifacts = memo_files(snapshot, services, concepts, uncertain)
        return Outcome(
            trigger=Trigger.GAPS_CHECKED,
            artifacts=artifacts,
            events=(complete,),
            changes=changes,
            notes=uncertain,
        )
    revised = replace(plan, subtopics=plan.subtopics + pending, revision=plan.revision + 1)
    logged = event.make(
        Word.PLAN_REVISED,
        state.slug,
        step,
        round=iteration,
        added=tuple(item.name for item in pending),
        reason=_reason(judged),
        sources=judged.concept_sources,
    )
    return Outcome(
        trigger=Trigger.PLAN_REVISED,
        artifacts=(
            *memo_files(snapshot, services, concepts, ()),
            Artifact("plan", plan.slug, plan_file.render_plan(revised)),
        ),
        events=(logged,),
        changes={**changes, "subtopic_count": len(revised.subtopics)},
    )


def _searched(snapshot: Snapshot) -> Plan:
    """Return the plan as it was searched: without items that a lap cut off had appended already.

    The same evaluation then appends the same items again.
    """
    plan = plan_of(snapshot)
    done = set(snapshot.state.completed_subtopics)
    kept = tuple(item for item in plan.subtopics if item.name in done)
    if len(kept) == len(plan.subtopics) or not kept:
        return plan
    return replace(plan, subtopics=kept, revision=plan.revision - 1)


def _reason(judged: Evaluation) -> str:
    parts = []
    if judged.lacking:
        parts.append("fewer than two independent sources: " + "; ".join(judged.lacking))
    if judged.concept:
        parts.append(f"new concept: {judged.concept}")
    if judged.blind_spot:
        parts.append(f"not touched by any finding: {judged.blind_spot}")
    return ". ".join(parts)


def uncertain_points(judged: Evaluation, language: str) -> tuple[str, ...]:
    """Return what stays uncertain, by name (L1): thin subproblems and conflicts."""
    word = "独立来源不足两个" if language == "zh" else "fewer than two independent sources"
    return (*(f"{name}: {word}" for name in judged.lacking), *judged.conflicts)


def _pending(snapshot: Snapshot, plan: Plan, judged: Evaluation) -> tuple[Subtopic, ...]:
    """Return the items to append; nothing that was searched before in the same words."""
    number = snapshot.state.iteration + 2
    known = {query.casefold() for item in plan.subtopics for query in item.queries}
    suffix = f"（第 {number} 轮）" if plan.language == "zh" else f"(round {number})"
    suffix = suffix.replace("（", "(").replace("）", ")")
    groups = grouped(snapshot, plan)
    wanted: list[tuple[str, list[str]]] = []
    for name in judged.lacking:
        gaps = [gap for finding in groups.get(name, []) for gap in finding.gaps]
        wanted.append((f"{name} {suffix}", [*gaps, f"{plan.topic} {name}"]))
    new = judged.concept or judged.blind_spot
    if new:
        wanted.append((new, [f"{new} {plan.topic}", new]))
    items = []
    for name, queries in wanted:
        fresh = [q for q in dict.fromkeys(_clean(q) for q in queries) if q.casefold() not in known]
        if fresh:
            items.append(Subtopic(name[:200], tuple(fresh[:MAX_QUERIES])))
    return tuple(items)


def _clean(query: str) -> str:
    return " ".join(query.split())[:400]


def memo_files(
    snapshot: Snapshot, services: Services, concepts: tuple[str, ...], uncertain: tuple[str, ...]
) -> tuple[Artifact, ...]:
    """Return memo.json, memo.md and sources.json of the findings so far, in plan order (L3, L4)."""
    plan = plan_of(snapshot)
    built = memo.build_parts(grouped(snapshot, plan), services.held())
    whole = memo.Memo(built.parts, concepts, uncertain)
    return (
        Artifact("evidence", "memo.json", render_json(memo.memo_json(whole))),
        Artifact("evidence", "memo.md", memo.memo_markdown(whole, plan.language)),
        Artifact("evidence", "sources.json", render_json(memo.sources_json(whole, built.added))),
    )
