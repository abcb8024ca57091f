"""Subtopic names that no report could carry as a heading of Detailed Findings (spec E15, E28).

Job: say why a name cannot be such a heading, so that a plan is refused at the start and not after
four drafts. Refuses nothing that works: `C#`, a leading `#`, brackets and question marks stay.
Importers: decompose, landscape.
"""

from __future__ import annotations

import re

from omh_research.documents.report import (
    INSUFFICIENT,
    UNVERIFIED,
    find_subtopic,
    fold_title,
    parse_report,
)
from omh_research.errors import PlanError
from omh_research.lazy_re import lazy_re

_OWN_HEADINGS = frozenset(
    ("executivesummary", "detailedfindings", "keytakeaways", "openquestions", "sources")
)
_CITATION = lazy_re(r"\[\d[\d,;\s–-]*\]|【\d+】")
_ADDRESS = lazy_re(r"\]\(|(?i:https?://|\bwww\.)")
_HINT = "Give the subtopic a name of plain words, as it shall stand as a heading in the report."


def check_names(names: tuple[str, ...]) -> None:
    """Refuse names that a report's form cannot carry.

    Raises:
        PlanError: the first such name, with the reason.
    """
    for name in names:
        if reason := why_unusable(name):
            raise PlanError(f"The subtopic name {name[:80]!a} cannot stand: {reason}.", hint=_HINT)


def why_unusable(name: str) -> str:
    """Return why a report could not have a section of this name; "" if it could."""
    if not any(char.isalnum() for char in name):
        return "it has no letter or digit"
    if fold_title(name) in _OWN_HEADINGS:
        return "it is the heading of a part that every report has"
    if _CITATION.search(name):
        return "it holds a citation mark like [1]"
    if _ADDRESS.search(name):
        return "it holds a link or an address"
    if INSUFFICIENT in name or UNVERIFIED in name:
        return "it holds a mark that says something of a section or sentence"
    if "<" in name and _holds_html(name):
        return "it holds HTML"
    if re.search("[:：]", name) and _reads_as_verdict(name):
        return "it reads as a verdict"
    read = parse_report(f"## Detailed Findings\n\n### {name}\n\nx\n")
    found = find_subtopic(read, name)
    if found is None or found.kind != "subsection":
        return "as a heading it opens the list of sources or is no heading of its own"
    return ""


def _holds_html(name: str) -> bool:
    from omh_research.tools.gate.markup import find_html

    return bool(find_html(name))


def _reads_as_verdict(name: str) -> bool:
    from omh_research.documents.verdict import has_verdict_line

    return has_verdict_line(name)
