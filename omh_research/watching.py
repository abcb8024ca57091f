"""What `watch` shows: a run's progress from its files alone (spec O2).

Job: one frame of text for a run: subtopics, votes, fetches, spend. Refuses to write and to know a
terminal. Importers: cli.
"""

from __future__ import annotations

import os

from omh_research.errors import OmhError
from omh_research.project import Project
from omh_research.status import RunStatus, status_one
from omh_research.store import disk

BAR = 24


def frame(project: Project, slug: str) -> tuple[str, RunStatus]:
    """Return the lines to show for a run, and its status."""
    run = status_one(project, slug)
    done, total = run.subtopics_done, run.subtopics_total
    filled = BAR * done // total if total else 0
    bar = "#" * filled + "." * (BAR - filled)
    lines = [
        f"{run.slug}  {run.status}",
        f"phase     {run.phase or '-'}  (failed drafts {run.synthesis_attempts})",
        f"subtopics [{bar}] {done}/{total}",
        *_subtopics(project, slug),
    ]
    votes, answers = _answers(project, slug)
    if answers:
        lines.append(f"answers   {answers} stored" + (f", {votes} of them votes" if votes else ""))
    if run.phase not in ("", "confirmed"):  # an ended run's state, and its account, are gone
        cost = "unknown" if run.spent.cost_usd is None else f"${run.spent.cost_usd:.4f}"
        tokens = run.spent.input_tokens + run.spent.output_tokens
        lines.append(
            f"spent     {run.spent.model_calls} calls, {_fetches(project, slug)} fetches, "
            f"{tokens} tokens, {cost}"
        )
    if run.last_event:
        lines.append(f"last      {run.last_event} {run.last_event_at}")
    if run.blocked_reason:
        lines.append(f"blocked   {run.blocked_reason}")
    return "\n".join(lines), run


def _subtopics(project: Project, slug: str) -> list[str]:
    try:
        plan, state = project.reader.plan(slug), project.reader.state(slug)
    except OmhError:
        return []
    if plan is None:
        return []
    completed = set(state.completed_subtopics) if state is not None else set(plan.names)
    return [f"  {'done   ' if name in completed else 'pending'} {name}" for name in plan.names]


def _answers(project: Project, slug: str) -> tuple[int, int]:
    folder = project.layout.tasks_dir(slug)
    if not disk.check_directory(folder):
        return 0, 0
    names = [name for name in os.listdir(folder) if name.endswith(".json")]
    return sum("-vote-" in name for name in names), len(names)


def _fetches(project: Project, slug: str) -> int:
    lines = project.reader.evidence_lines(slug, "fetch_ledger.jsonl")
    return sum('"charge": 1' in line or '"charge":1' in line for line in lines)
