"""The findings file: frontmatter about the sources, body the researcher's text verbatim.

Job: write and read `{slug}-findings/{stem}.md` (spec 10-engine, Files; E22). Refuses to drop what
does not fit silently: what was left out of the frontmatter is said in its `parse` notes.
Importers: phases, store, cli.
"""

from __future__ import annotations

from collections.abc import Sequence

from omh_research.documents import frontmatter
from omh_research.documents.finding import ParsedFinding, parse_finding
from omh_research.documents.heads import FindingHead, checked
from omh_research.documents.source_lines import Source

MAX_TITLE_CHARS = 300
MAX_URL_CHARS = 2_000
MAX_NOTES = 20
# Room that the sources may take in the 64 kB of the frontmatter, each address standing twice.
SOURCES_BUDGET_BYTES = 48_000


def render_finding(subtopic: str, text: str, finding: ParsedFinding | None = None) -> str:
    """Return the findings file of `subtopic`: what `text` declares in the frontmatter, then `text`.

    `finding` is `parse_finding(text)` when the caller has it already.
    """
    parsed = finding or parse_finding(text)
    sources, left_out = _fitting(parsed.sources)
    notes = list(parsed.notes[:MAX_NOTES])
    if left_out:
        notes.append(f"{left_out} of {len(parsed.sources)} sources stand in the text only")
    meta: dict[str, object] = {
        "subtopic": subtopic[:1_000],
        "source_urls": list(dict.fromkeys(source.url for source in sources)),
        "sources": [
            {
                "n": source.n,
                "title": source.title[:MAX_TITLE_CHARS],
                "url": source.url,
                "credibility": source.credibility,
                "date": source.date,
            }
            for source in sources
        ],
        "parse": [note[:300] for note in notes],
    }
    checked(meta, FindingHead, f"the findings on {subtopic[:80]}")
    return frontmatter.render(meta, text)


def read_finding_file(text: str, *, where: str) -> tuple[str, ParsedFinding, str]:
    """Return (subtopic, parsed body, body) of a findings file.

    Raises DamagedFileError when its frontmatter does not read. The body is parsed anew, so a
    frontmatter edited by hand adds no source.
    """
    meta, body = frontmatter.parse(text, where=where)
    subtopic = meta.get("subtopic", "")
    return (subtopic if isinstance(subtopic, str) else ""), parse_finding(body), body


def _fitting(sources: Sequence[Source]) -> tuple[list[Source], int]:
    """Return the sources whose entries fit the frontmatter, and how many do not."""
    kept: list[Source] = []
    size = 0
    for source in sources:
        title = frontmatter.quote_scalar(source.title[:MAX_TITLE_CHARS])
        url = frontmatter.quote_scalar(source.url)
        rest = frontmatter.quote_scalar(source.credibility + source.date)
        size += len((title + url + url + rest).encode()) + 90
        if len(source.url) <= MAX_URL_CHARS and size <= SOURCES_BUDGET_BYTES:
            kept.append(source)
    return kept, len(sources) - len(kept)
