"""A research report's structure: title, sections, subsections, quotations.

Job: read the report form of spec D5b, leniently in heading style and language, and find the
quotations in a piece of it. Refuses to resolve citations or to judge anything (see
`omh_research.tools.gate`). Importers: tools, phases, delegates, literature, cli.
"""

from __future__ import annotations

import re

from msgspec import Struct

from omh_research.documents.answer_text import is_fence_line
from omh_research.documents.heading_text import heading_text
from omh_research.documents.labels import (
    REPORT_SECTIONS,
    fold_label,
    match_section,
    read_label_line,
)
from omh_research.lazy_re import lazy_re
from omh_research.unicode_form import unicode_form

INSUFFICIENT = "(insufficient sources for this subtopic)"
UNVERIFIED = "(unverified)"

_HEADING = lazy_re(r"[ ]{0,3}(#{1,6})(?:[ \t]+|(?=[^\s#]))(.*)")
_UNDERLINE = lazy_re(r"[ ]{0,3}(=+|-{3,})[ \t]*")
_FOLD_DROP = lazy_re(r"\[\d[\d,;\s–-]*\]|[\W_]+")


class Section(Struct, frozen=True):
    """A heading and the text up to the next heading of any level.

    `kind` is summary, details, takeaways, questions, sources, subsection (below details) or ""
    for any other; `level` is 0 for what stands before the first heading.
    """

    kind: str
    title: str
    level: int
    text: str


class Report(Struct, frozen=True):
    """A report body, read: its title and its sections in order."""

    title: str
    sections: tuple[Section, ...]

    def of_kind(self, kind: str) -> tuple[Section, ...]:
        """Return the sections of one kind."""
        return tuple(section for section in self.sections if section.kind == kind)

    def text_of(self, kind: str) -> str:
        """Return the joined text of the sections of one kind."""
        return "\n\n".join(section.text.strip("\n") for section in self.of_kind(kind))

    @property
    def subtopics(self) -> tuple[Section, ...]:
        """The subsections of Detailed Findings; without that heading, every other section."""
        found = self.of_kind("subsection")
        return found or tuple(s for s in self.sections if s.kind == "" and s.level >= 2)


def parse_report(body: str) -> Report:
    """Return the structure of a report body; any text gives a result.

    Headings are `#` lines, underlined lines, and bold or `LABEL:` lines that name a section of
    the form. Nothing inside a code fence is a heading.
    """
    title = ""
    sections: list[Section] = []
    current, lines = ("", "", 0), list[str]()
    details_level = 0
    for heading, level, line in _lines_with_headings(body):
        if not level:
            lines.append(line)
            continue
        sections.append(Section(*current, text="\n".join(lines)))
        lines = []
        kind = match_section(fold_label(heading), REPORT_SECTIONS, loose=True)
        if level == 1 and not title and not kind:
            title = heading
            current = ("title", heading, level)
            continue
        if details_level and level > details_level and kind != "sources":
            kind = "subsection"
        elif kind == "details":
            details_level = level
        else:
            details_level = 0
        current = (kind, heading, level)
    sections.append(Section(*current, text="\n".join(lines)))
    return Report(title, tuple(s for s in sections if s.level or s.text.strip()))


def fold_title(text: str) -> str:
    """Return the form in which a heading and a subtopic's name are the same.

    NFKC, case folded, letters and digits only; list numbers, citations and markup do not count.
    """
    folded = fold_label(unicode_form("NFKC", text))
    return _FOLD_DROP.sub("", folded)


def find_subtopic(report: Report, name: str) -> Section | None:
    """Return the section of Detailed Findings that is about the subtopic `name`, or None.

    Its heading is the name, or the name with something before or after it ("1. Cost", "Cost: an
    overview").
    """
    wanted = fold_title(name)
    if not wanted:
        return next((s for s in report.subtopics if s.title.strip() == name.strip()), None)
    exact = [s for s in report.subtopics if fold_title(s.title) == wanted]
    if exact:
        return exact[0]
    if len(wanted) < 4:
        return None
    return next((s for s in report.subtopics if _opens_with(s.title, name)), None)


def _opens_with(title: str, name: str) -> bool:
    """Return whether `title` is `name` followed by a remark set off by punctuation."""
    folded, wanted = (
        " ".join(unicode_form("NFKC", t).casefold().split()) for t in (fold_label(title), name)
    )
    rest = folded.removeprefix(wanted)
    return rest != folded and bool(re.match(r"\s*[:：(（\[—–|,;]|\s-\s", rest))


def _lines_with_headings(body: str) -> list[tuple[str, int, str]]:
    """Return (heading text, level, line) for each line; level 0 is no heading."""
    found: list[tuple[str, int, str]] = []
    inside = False
    for line in body.replace("\r\n", "\n").split("\n"):
        if is_fence_line(line) or line.lstrip().startswith("```"):
            inside = not inside
            found.append(("", 0, line))
            continue
        heading, level = ("", 0) if inside else _heading(line)
        if not level and not inside and found and _UNDERLINE.fullmatch(line):
            before = found[-1]
            if (
                not before[1]
                and before[2].strip()
                and len(before[2]) <= 200
                and line.strip()[0] == "="
            ):
                found[-1] = (before[2].strip(), 1, before[2])
                continue
        found.append((heading, level, line))
    return found


def _heading(line: str) -> tuple[str, int]:
    match = _HEADING.fullmatch(line[:1_000])
    if match and match[2].strip("#* \t"):
        return heading_text(match[2]).strip().strip("*_").strip(), len(match[1])
    text = line.strip()
    bold = (
        len(text) > 4
        and text.startswith(("**", "__"))
        and text.rstrip(":：").endswith(("**", "__"))
    )
    if bold or (
        text[-1:] in (":", "：") and len(text) <= 40 and not text.startswith(("-", "*", "|", ">"))
    ):
        opener = read_label_line(line)
        if opener and not opener.rest and match_section(opener.label, REPORT_SECTIONS, loose=False):
            return text.strip("*_:： "), 2
    return "", 0
