"""What may be said when a run found no usable source (spec T21): a shortlist of checks, or nothing.

Job: choose between silence, abstention and the advisory fallback for a run that was blocked for
want of evidence. Refuses to name anything of its own. Importers: cli.
"""

from __future__ import annotations

from omh_research.project import Project

WITHOUT_SOURCES = "insufficient_evidence"


def advice_on(project: Project, slug: str) -> str:
    """Return the text for a run that ended without usable sources, or "".

    A legal, medical, financial, policy or safety question is abstained from; a landscape gets its
    shortlist, every item labelled; any other question gets nothing.
    """
    from omh_research.documents.options import parse_options
    from omh_research.store.sources import Sources
    from omh_research.tools.advisory import fallback
    from omh_research.tools.sensitive import sensitive_kind
    from omh_research.tools.urls import canonical

    state = project.reader.state(slug)
    if state is None or state.blocked_reason != WITHOUT_SOURCES:
        return ""
    candidates = parse_options(state.options, where=slug).landscape
    if not candidates and not sensitive_kind(state.topic):
        return ""
    held = Sources(project.layout, slug, canonical).held()
    return fallback(
        state.topic,
        candidates,
        cutoff=project.now()[:10],
        sources=tuple((url, text.accessed_at[:10]) for url, text in sorted(held.items())),
    )
