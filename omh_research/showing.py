"""The parts of a run as text: plan, findings, report, verdict, panel, evidence (spec O3).

Job: read one part, an ended run's too. Refuses to write. Importers: cli, api.
"""

from __future__ import annotations

from collections.abc import Callable

from omh_research.documents.names import check_slug
from omh_research.errors import NoSuchRunError
from omh_research.project import Project

PARTS = ("plan", "findings", "report", "verdict", "panel", "evidence")


def part_of(project: Project, slug: str, part: str) -> str:
    """Return one part of a run.

    Raises:
        NoSuchRunError: the run, or this part of it, is not there.
    """
    readers: dict[str, Callable[[Project, str], str | None]] = {
        "plan": lambda project, slug: project.reader.plan_text(slug),
        "findings": _findings,
        "report": _report,
        "verdict": _verdict,
        "panel": lambda project, slug: project.reader.evidence(slug, "panel.json"),
        "evidence": lambda project, slug: project.reader.evidence(slug, "evidence_ledger.jsonl"),
    }
    text = readers[part](project, check_slug(slug))
    if not text:
        from omh_research.status import ended_status

        if project.reader.state_bytes(slug) is None and project.reader.plan_text(slug) is None:
            ended_status(project, slug)  # raises where there is nothing of it at all
        raise NoSuchRunError(
            f"{slug} has no {part} here.", hint=f"`omh-research status {slug}` says where it is."
        )
    return text.rstrip("\n")


def _report(project: Project, slug: str) -> str | None:
    """The report with the generated section Verification, if a panel judged it (P10)."""
    text = project.reader.report(slug)
    panel = project.reader.evidence(slug, "panel.json")
    if text is None or panel is None:
        return text
    from omh_research.documents import frontmatter
    from omh_research.export.verification import read_panel, with_verification

    _, body = frontmatter.parse(text, where=project.layout.relative(project.layout.report(slug)))
    return with_verification(text, read_panel(panel, body, f"{slug}: panel.json"))


def _findings(project: Project, slug: str) -> str | None:
    plan = project.reader.plan(slug)
    if plan is None:
        return None
    stems = [finding.stem for finding in project.reader.findings(slug, plan)]
    files = [project.reader.finding_file(slug, stem) or "" for stem in stems]
    return "\n\n".join(file.rstrip("\n") for file in files)


def _verdict(project: Project, slug: str) -> str | None:
    state = project.reader.state(slug)
    if state is None:
        return None
    blocked = f"blocked: {state.blocked_reason}\n" if state.blocked_reason else ""
    return (blocked + (state.last_verifier_feedback or "")) or None
