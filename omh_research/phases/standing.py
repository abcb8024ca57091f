"""Running a phase on a run that stands whole: all findings there, no subtopic unsearched.

Job: before a phase, write again from the stored answers the findings that are gone (E20), and
refuse to go on where that cannot be done or where the plan names what was never searched (E17):
a report is never silently made from less. Refuses to ask a delegate. Importers: engine,
host_protocol.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from omh_research.documents.names import FOLLOWUP_STEM, finding_stems
from omh_research.documents.plan import Subtopic
from omh_research.documents.plan_file import Plan
from omh_research.documents.snapshot import Snapshot
from omh_research.documents.task import FindingText
from omh_research.errors import DamagedFileError
from omh_research.machine import Phase
from omh_research.outcome import Artifact, Outcome
from omh_research.phases import PHASES
from omh_research.phases.contract import MAX_FAILURES, Services

if TYPE_CHECKING:  # a lap on a whole run, and the first one, need none of the parts that mend
    from omh_research.documents.task import Task

LATE = (Phase.SYNTHESIZE, Phase.VERIFY)


class Whole(Struct, frozen=True):
    """A snapshot with every findings file it must have, and those to be written again."""

    snapshot: Snapshot
    again: tuple[Artifact, ...] = ()
    notes: tuple[str, ...] = ()

    def completed(self, outcome: Outcome) -> Outcome:
        """Return `outcome` with the findings that are written again before all else."""
        if not self.again:
            return outcome
        fresh = {artifact.name for artifact in outcome.artifacts if artifact.kind == "finding"}
        again = tuple(artifact for artifact in self.again if artifact.name not in fresh)
        return replace(
            outcome,
            artifacts=(*again, *outcome.artifacts),
            notes=(*self.notes, *outcome.notes),
        )


def run_phase(snapshot: Snapshot, services: Services) -> Outcome:
    """Return the outcome of the snapshot's phase.

    Raises:
        DamagedFileError: findings are gone for good, or the plan names an unsearched subtopic.
        AwaitingHost, CancelSeen, CapReached: see `Services`.
    """
    whole = made_whole(snapshot, services)
    return whole.completed(PHASES[snapshot.state.phase](whole.snapshot, services))


def made_whole(snapshot: Snapshot, services: Services) -> Whole:
    """Return the snapshot with the findings that its state says it has.

    Raises:
        DamagedFileError: see `run_phase`.
    """
    plan, state = snapshot.plan, snapshot.state
    if plan is None:
        return Whole(snapshot)
    if state.phase in LATE:
        _refuse_unsearched(snapshot, plan)
    found = {finding.stem: finding for finding in snapshot.findings}
    again: list[Artifact] = []
    for subtopic, stem in _missing(snapshot, plan, found):
        from omh_research.documents.finding_file import render_finding

        text = _stored_text(snapshot, services, plan, (subtopic, stem))
        if text is None:
            raise _gone(snapshot, stem)
        again.append(Artifact("finding", stem, render_finding(subtopic.name, text)))
        found[stem] = FindingText(stem, subtopic.name, text)
    if not again:
        return Whole(snapshot)
    order = (*finding_stems(plan.names), FOLLOWUP_STEM)
    findings = tuple(found[stem] for stem in order if stem in found)
    names = ", ".join(artifact.name for artifact in again)
    note = f"findings were missing and are written again from the stored answers: {names}"
    return Whole(replace(snapshot, findings=findings), tuple(again), (note,))


def _refuse_unsearched(snapshot: Snapshot, plan: Plan) -> None:
    from omh_research.phases.search import unsearched

    names = unsearched(snapshot, plan)
    if names:
        raise DamagedFileError(
            f"The plan of {snapshot.slug} names what was never searched: {'; '.join(names)}. "
            f"It was changed after the search; the run is in phase {snapshot.state.phase}.",
            hint="Put the plan back as it was, or start anew with this one (--plan).",
        )


def _missing(
    snapshot: Snapshot, plan: Plan, found: dict[str, FindingText]
) -> Iterator[tuple[Subtopic, str]]:
    """Yield (subtopic, stem) of each findings file that must be there and is not.

    The follow-up comes last: whether there was one is told by the gaps of the others.
    """
    done = set(snapshot.state.completed_subtopics)
    for subtopic, stem in zip(plan.subtopics, finding_stems(plan.names), strict=True):
        if subtopic.name in done and stem not in found:
            yield subtopic, stem
    is_followed_up = snapshot.state.phase in LATE and snapshot.options.rounds == 1
    if is_followed_up and FOLLOWUP_STEM not in found:
        from omh_research.phases.gap_check import gaps_of

        gaps = gaps_of(replace(snapshot, findings=tuple(found.values())))
        if gaps:
            yield Subtopic(FOLLOWUP_STEM, gaps), FOLLOWUP_STEM


def _stored_text(
    snapshot: Snapshot, services: Services, plan: Plan, item: tuple[Subtopic, str]
) -> str | None:
    """Return the text that the missing file held; None if its answer is not stored either."""
    from omh_research.documents.finding import empty_finding
    from omh_research.phases.judging import judged

    subtopic, _ = item
    for attempt, task in _tasks(snapshot, services, plan, item):
        reply = services.stored(task)
        if reply is None:
            continue
        (reply,) = judged([task], [reply])
        if reply.status == "answered":
            return reply.text
        if attempt == MAX_FAILURES - 1:  # the honest empty block of the last failure (E21)
            return empty_finding(subtopic.name, subtopic.queries, [reply.reason])
    return None


def _tasks(
    snapshot: Snapshot, services: Services, plan: Plan, item: tuple[Subtopic, str]
) -> Iterator[tuple[int, Task]]:
    """Yield (attempt, task) under every id the answer may have been given, the latest first."""
    from omh_research.phases import goals

    subtopic, stem = item
    tools, state = services.research_tools, snapshot.state
    counted = "followup" if stem == FOLLOWUP_STEM else stem
    for retries in range(state.retries, -1, -1):
        for attempt in range(MAX_FAILURES - 1, -1, -1):
            then = replace(state, retries=retries, failures={counted: attempt})
            asked = replace(snapshot, state=then)
            if stem == FOLLOWUP_STEM:
                yield attempt, goals.followup_task(asked, plan, subtopic.queries, tools)
            else:
                yield attempt, goals.researcher_task(asked, plan, subtopic, stem, tools)


def _gone(snapshot: Snapshot, stem: str) -> DamagedFileError:
    return DamagedFileError(
        f"The findings {snapshot.slug}-findings/{stem}.md are missing, and the state says that "
        "they were written; no stored answer is left to write them again.",
        hint=f"Put the file back, or run omh-research clear {snapshot.slug} --yes and start again.",
    )
