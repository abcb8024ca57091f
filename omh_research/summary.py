"""The few lines a person sees when a report is confirmed (spec E29, T23).

Job: say where the report is and on what it stands; how many sources were read and how many are
only declared comes first when none was read. Refuses to judge. Importers: cli, api.
"""

from __future__ import annotations

from omh_research.documents import frontmatter
from omh_research.errors import OmhError
from omh_research.project import Project


def summarise(project: Project, slug: str) -> str:
    """Return the summary of a confirmed run."""
    path = project.layout.relative(project.layout.report(slug))
    text = project.reader.report(slug) or ""
    try:
        meta, body = frontmatter.parse(text, where=path)
    except OmhError:
        meta, body = {}, ""
    fetched, declared = meta.get("sources_fetched", "?"), meta.get("sources_declared", "?")
    noun = "source" if fetched == "1" else "sources"
    sources = f"{fetched} {noun} read, {declared} only declared"
    insufficient = body.count("(insufficient sources for this subtopic)")
    lines = [f"confirmed: {path}", f"sources: {sources}"]
    if fetched == "0":
        lines[0] = f"confirmed ({sources}): {path}"
        del lines[1]
    if insufficient:
        lines.append(f"subtopics without sufficient sources: {insufficient}")
    lines.append(f"check it again at any time: omh-research audit {slug}")
    return "\n".join(lines)
