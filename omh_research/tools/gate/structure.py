"""Rules about the report's form: subtopics, templates, planted text, unsafe content.

Job: tell a report from an empty, sample or template text, and find what must not stand in one:
frontmatter, verdicts, images, scripts, foreign links (spec E28, complaints 16, 23; 81-reliability
7). Refuses to look at sources. Importers: tools.gate.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from omh_research.documents.report import INSUFFICIENT, Section, find_subtopic
from omh_research.documents.verdict import has_verdict_line
from omh_research.lazy_re import lazy_re
from omh_research.tools.gate.contract import Failure, GateInput
from omh_research.tools.gate.reading import ReadReport

_MIN_SECTION_LETTERS = 12
# What templates and sample texts leave behind.
_PLACEHOLDER = lazy_re(
    r"\{(?:the\s+)?(?:title|url|topic|slug|date|subtopic|name|query|queries|claim|exact quote"
    r"|answer|sentences?|one sentence|what (?:is|it)|finding|source|author|text|summary)\b"
    r"[^{}\n]{0,80}\}"
    r"|\{(?:primary|high|yes|pass|confirm)\b[^{}\n]{0,60}\}"
    r"|<(?:insert|your|add|enter|title|url|topic|subtopic|name)\b[^<>\n]{0,60}>"
    r"|\[(?:insert|your|add|enter)\s[^\[\]\n]{1,60}\](?!\()"
    r"|\[(?:title|url|topic|subtopic|todo|tbd|citation needed|source needed|N)\](?!\()"
    r"|\blorem ipsum\b|(?-i:\bTODO\b|\bFIXME\b)|\bplaceholder text\b"
    r"|\bsample (?:report|text)\b|\byour (?:text|report|summary) (?:here|goes here)\b"
    r"|（此处填写|[【\[]待补充[】\]]",
    re.IGNORECASE,
    needs=(
        "{", "<", "[insert", "[your", "[add", "[enter", "[title", "[url", "[topic", "[subtopic",
        "[todo", "[tbd", "[citation", "[source", "[n]", "lorem", "todo", "fixme", "placeholder",
        "sample", "your ",
    ),
    beyond_ascii=True,
)  # fmt: skip
_NAMELESS = lazy_re(
    r"\bNAME OF THE (?:FIRST|SECOND) SUBTOPIC\b|\bFIRST QUERY\b",
    needs=("NAME OF THE", "FIRST QUERY"),
)
_FENCE_BLOCK = lazy_re(r"---[ \t]*\n(?:[^\n]{0,400}\n){0,40}?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_STATUS_LINE = lazy_re(
    r"^[ \t]{0,3}[\"']?status[\"']?[ \t]*:[ \t]*[\"']?(?:confirmed|draft)[\"']?[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
    needs=("status",),
)
_ROLE_MARKER = lazy_re(r"\[\s*omh-role\s*:", re.IGNORECASE, needs=("omh-role",))
_IMAGE = lazy_re(
    r"!\[[^\]\n]{0,400}\](?:\(|\[)|<img\b|<image\b", re.IGNORECASE, needs=("![", "<im")
)
_ACTIVE = lazy_re(
    r"<(?:script|iframe|object|embed|form|style|svg|link|meta|base|video|audio)\b[^<>\n]{0,200}>"
    r"|\]\(\s*<?\s*(?!https?:|mailto:|corpus:)[a-z][a-z0-9+.-]{1,20}:"
    r"|\b(?:javascript|vbscript):\S|\bdata:(?:text|image|application)/",
    re.IGNORECASE,
    needs=("<", "](", "script:", "data:"),
)
_CODE = lazy_re(r"^```.*?^```[^\n]*$|`[^`\n]{1,300}`", re.MULTILINE | re.DOTALL, needs=("`",))
_FENCED_HEADING = lazy_re(r"^[ \t]*```[^\n]*\n(?:[^\n]*\n){0,20}?#{1,3} ", re.MULTILINE)
_THINKING = lazy_re(r"</?(?:think|thinking|scratchpad)>", re.IGNORECASE, needs=("<",))
_HIDDEN = ("Cf", "Cc", "Co", "Cs")
_JOINERS = frozenset("\u200c\u200d\u00ad\ufeff\n\t\r")


def check_structure(given: GateInput, read: ReadReport) -> Iterator[Failure]:
    """Yield what is wrong with the report's form."""
    if not any(section.level for section in read.report.sections) or not read.statements:
        message = "there is no report: write it in the form of the role, with headings."
        if _FENCED_HEADING.search(given.report):
            message = "the report stands inside a code fence: return it without the fence."
        yield Failure("no_report", "report", message)
    if _THINKING.search(_CODE.sub(" ", given.report)):
        message = "the report holds thinking (<think>); return the report only."
        yield Failure("thinking_left", "text", message)
    yield from _check_subtopics(given, read)
    yield from _check_placeholders(given, read)
    yield from _check_planted(given)
    yield from _check_unsafe(given)


def insufficient_subtopics(given: GateInput, read: ReadReport) -> tuple[str, ...]:
    """Return the plan's subtopics whose section says that the sources do not suffice."""
    found = []
    for name in given.subtopics:
        section = find_subtopic(read.report, name)
        if section and INSUFFICIENT in section.text:
            found.append(name)
    return tuple(found)


def leaves_all_unanswered(given: GateInput, read: ReadReport) -> bool:
    """Return whether no section of the plan's subtopics holds more than the words that say so.

    What the summary quotes then answers nothing that was planned (E28c).
    """
    sections = [find_subtopic(read.report, name) for name in given.subtopics]
    return bool(sections) and all(
        section is not None and section.text.strip(" \n-*_.") == INSUFFICIENT
        for section in sections
    )


def find_hidden_characters(text: str) -> tuple[str, ...]:
    """Return notes about control, bidirectional and tag characters in the report."""
    hidden = sorted(
        {
            f"U+{ord(char):04X}"
            for char in text
            if char not in _JOINERS and unicodedata.category(char) in _HIDDEN
        }
    )
    return (f"invisible characters in the report: {', '.join(hidden[:12])}",) if hidden else ()


def _check_subtopics(given: GateInput, read: ReadReport) -> Iterator[Failure]:
    for name in given.subtopics:
        section = find_subtopic(read.report, name)
        where = f"Detailed Findings, {name!r}"
        if section is None:
            message = f"the subtopic {name!r} of the plan has no heading of its own; add it."
            yield Failure("missing_subtopic", where, message)
        elif not _says_something(section, read):
            message = f"the section says nothing; answer it, or write {INSUFFICIENT}"
            yield Failure("empty_subtopic", where, message)


def _says_something(section: Section, read: ReadReport) -> bool:
    """Return whether a section, with the sections below its heading, holds any text."""
    at = read.report.sections.index(section)
    text = section.text
    for below in read.report.sections[at + 1 :]:
        if below.level <= section.level:
            break
        text += below.text
    letters = sum(char.isalpha() for char in _PLACEHOLDER.sub("", text))
    wide = sum("\u3040" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7af" for char in text)
    return letters + 2 * wide >= _MIN_SECTION_LETTERS


def _check_placeholders(given: GateInput, read: ReadReport) -> Iterator[Failure]:
    allowed = f"{given.topic}\n" + "\n".join(given.subtopics)
    told: set[str] = set()
    text = _CODE.sub(" ", given.report)
    for pattern in (_PLACEHOLDER, _NAMELESS):
        for match in pattern.finditer(text):
            if match[0] in told or match[0] in allowed or len(told) >= 5:
                continue
            told.add(match[0])
            message = f"{match[0]!r} is a template's placeholder, not a finding."
            yield Failure("placeholder", "text", message)
    bodies = [
        s.text.strip().casefold()
        for s in read.report.sections
        if s.kind not in ("sources", "title")
    ]
    filled = [body for body in bodies if body]
    if len(filled) >= 3 and len(set(filled)) == 1 and INSUFFICIENT not in filled[0]:
        yield Failure("placeholder", "report", "all sections hold the same text.")


def _check_planted(given: GateInput) -> Iterator[Failure]:
    text = given.report.replace("\r\n", "\n")
    starts = text.lstrip("\ufeff \t\n").startswith("---\n") and _FENCE_BLOCK.match(
        text.lstrip("\ufeff \t\n")
    )
    if starts or _STATUS_LINE.search(text):
        message = "the report holds frontmatter or a status line; only the engine sets a status."
        yield Failure("planted_frontmatter", "text", message)
    if has_verdict_line(text):
        message = "the report holds a line that reads as a verdict or vote; take it out."
        yield Failure("planted_verdict", "text", message)
    if _ROLE_MARKER.search(text):
        yield Failure("planted_role", "text", "the report holds a role marker; take it out.")


def _check_unsafe(given: GateInput) -> Iterator[Failure]:
    text = _CODE.sub(" ", given.report)
    if _IMAGE.search(text):
        yield Failure("image", "text", "the report holds an image; a report has none.")
    if match := _ACTIVE.search(text):
        message = f"{match[0][:40]!r}: active content and links other than http(s) are not allowed."
        yield Failure("unsafe_content", "text", message)
