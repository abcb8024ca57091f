"""The synthesist's task: one report made of quotes.

Job: merge the findings' quotes into the report template, the best answer first, every section from
its own subtopic's evidence, no quote twice, sources numbered once, gaps said (D1, D1b, Q14).
Refuses every sentence of its own; reads no document. Importers: delegates.
"""

from __future__ import annotations

from msgspec import Struct

from omh_research.documents.finding import INSUFFICIENT, parse_finding
from omh_research.documents.names import FOLLOWUP_STEM
from omh_research.documents.source import Page
from omh_research.documents.source_lines import Source
from omh_research.documents.task import Brief
from omh_research.extractive.choosing import Chosen, Quote
from omh_research.extractive.labels import labels_of
from omh_research.extractive.lines import (
    one_line,
    plain_label,
    quote_line,
    read_quote_lines,
    source_line,
)
from omh_research.extractive.scoring import ask, ask_about, coverage, names_subject, subject_of
from omh_research.extractive.units import asks
from omh_research.lazy_re import lazy_re
from omh_research.tools.normal_form import normalise
from omh_research.tools.tokens import content_tokens

# Q14 measures reports of at most 2,500 characters of quotes.
MAX_QUOTED_CHARS = 2_450
SECTION_QUOTES = 2
SUMMARY_QUOTES = 2
MIN_SECTION_COVERAGE = 0.5
NEAR_SHARE = 0.2
# What stands in the summary beside the lead holds this share of what the lead holds of the topic.
SUMMARY_SHARE = 0.35
# A sentence longer than this stands in a section only if nothing shorter does.
LONG_CHARS = 320
# One quote is one source: where two are asked for, each takeaway says what it lacks, and a section
# without any says that nothing more is known (L6).
_UNCERTAIN = {"zh": "不确定", "ja": "不確か", "de": "unsicher", "fr": "incertain", "es": "incierto"}
_NOT_KNOWN = {"zh": "不明", "ja": "不明", "de": "Unklar", "fr": "Incertain", "es": "Incierto"}


_POINT = lazy_re(r"^\d+\. \[(?P<rule>[a-z_]+)\] ")
_NAMED = lazy_re(r"\"([^\"]{4,})\"|'([^']{4,80})'")


class _Row(Struct, frozen=True):
    """A quote of the findings: its best place in them, and whose finding it came from."""

    quote: Quote
    place: int
    stems: frozenset[str]


class _Budget:
    """How many quoted characters are left."""

    def __init__(self, characters: int) -> None:
        self.left = characters

    def take(self, quote: Quote) -> bool:
        """Take the quote's length if it still fits."""
        if len(quote.text) > self.left:
            return False
        self.left -= len(quote.text)
        return True


class _Draft(Struct):
    """The report's quotes by section."""

    summary: list[Quote]
    sections: dict[str, list[Quote]]
    takeaways: list[Quote]
    told_elsewhere: frozenset[str] = frozenset()


def write_report(brief: Brief) -> str:
    """Return the report's Markdown (no frontmatter), in the template of D5b."""
    sources: dict[str, Source] = {}
    rows, gaps = _collect(brief, sources)
    draft = _compose(brief, rows)
    order = [*draft.summary, *(q for quotes in draft.sections.values() for q in quotes)]
    numbers: dict[str, int] = {}
    for quote in [*order, *draft.takeaways]:
        numbers.setdefault(quote.url, len(numbers) + 1)
    return _render(brief, draft, gaps, [(numbers[url], sources[url]) for url in numbers])


def _collect(brief: Brief, sources: dict[str, Source]) -> tuple[list[_Row], list[str]]:
    """Return the findings' quotes, best place first, and their gaps; fills `sources` by URL."""
    places: dict[tuple[str, str], int] = {}
    stems: dict[tuple[str, str], set[str]] = {}
    quotes: dict[tuple[str, str], Quote] = {}
    gaps: dict[str, None] = {}
    for finding in brief.findings:
        parsed = parse_finding(finding.text)
        by_number = {source.n: source for source in parsed.sources}
        pages = {line.text: line.page for line in read_quote_lines(finding.text)}
        late = 1_000 if finding.stem == FOLLOWUP_STEM else 0
        gaps.update(dict.fromkeys(parsed.gaps))
        for place, row in enumerate(parsed.evidence):
            source = by_number.get(row.n)
            if source is None or not row.quote:
                continue
            sources.setdefault(source.url, source)
            text = one_line(row.quote)
            key = (normalise(text), source.url)
            if key not in quotes:
                terms = frozenset(content_tokens(text, brief.language))
                quotes[key] = Quote(text, source.url, pages.get(text, 0), terms)
            places[key] = min(places.get(key, 10_000), place + late)
            stems.setdefault(key, set()).add(finding.stem)
    rows = [_Row(quote, places[key], frozenset(stems[key])) for key, quote in quotes.items()]
    refused = _refused_words(brief.feedback)
    kept = [row for row in rows if not any(word in normalise(row.quote.text) for word in refused)]
    return sorted(kept, key=lambda row: row.place), list(gaps)


def _refused_words(feedback: str) -> list[str]:
    """What the last verdict named as wrong: no quote that holds it is put forward again (E30).

    A verdict's points name what fails in quotation marks, or before a colon ("7, 2019: this ...").
    """
    named: list[str] = []
    for line in feedback.split("\n"):
        point = _POINT.match(line)
        if point is None:
            continue
        for match in _NAMED.finditer(line):
            named.append((match[1] or match[2]).rstrip("…"))
        if point["rule"].startswith(("figure", "date", "name")):
            message = line[point.end() :]
            for head in (part.rpartition(": ")[2] for part in message.split(": this ")[:1]):
                named += [item for item in head.split(", ") if item]
    return [form for word in named if len(form := normalise(word)) >= 2]


def _compose(brief: Brief, rows: list[_Row]) -> _Draft:
    chosen, budget = Chosen(), _Budget(MAX_QUOTED_CHARS)
    draft = _Draft([], {name: [] for name, _ in brief.subtopics}, [])
    if rows and _take(rows[0].quote, chosen, budget):
        draft.summary.append(rows[0].quote)
    ranked = {name: _ranked(brief, (name, *queries), rows) for name, queries in brief.subtopics}
    for number in range(SECTION_QUOTES):  # in turns, so that no section takes all the best ones
        for name, quotes in ranked.items():
            section = draft.sections[name]
            if len(section) == number:
                rest = [quote for quote in quotes if not (section and asks(quote.text))]
                section += _next(rest, section, chosen, budget)
    for row, share in _near_topic(brief, rows):
        if not asks(row.quote.text) and _take(row.quote, chosen, budget):
            is_answer = share >= SUMMARY_SHARE and len(draft.summary) < SUMMARY_QUOTES
            (draft.summary if is_answer else draft.takeaways).append(row.quote)
    told = {id(quote) for quotes in _all_of(draft) for quote in quotes}
    draft.told_elsewhere = frozenset(
        name for name, quotes in ranked.items() if any(id(quote) in told for quote in quotes)
    )
    return draft


def _all_of(draft: _Draft) -> list[list[Quote]]:
    return [draft.summary, *draft.sections.values(), draft.takeaways]


def _near_topic(brief: Brief, rows: list[_Row]) -> list[tuple[_Row, float]]:
    """Return the rows that answer the topic itself: of the lead's document, or with its words.

    With each, how much of the topic it holds, as a share of what the lead holds.
    """
    if not rows:
        return []
    question = subject_of(ask(brief.topic, brief.language, (row.quote.terms for row in rows)))
    lead = rows[0].quote
    held = coverage(question, lead.terms) or 1.0
    shares = [(row, coverage(question, row.quote.terms) / held) for row in rows[1:]]
    return [
        (row, share)
        for row, share in shares
        if row.quote.url == lead.url
        or (share >= NEAR_SHARE and names_subject(question, row.quote.terms))
    ]


def _take(quote: Quote, chosen: Chosen, budget: _Budget) -> bool:
    """Add the quote if it fits and repeats none."""
    if not budget.take(quote):
        return False
    if not chosen.add(quote):
        budget.left += len(quote.text)
        return False
    return True


def _ranked(brief: Brief, texts: tuple[str, ...], rows: list[_Row]) -> list[Quote]:
    """Return the quotes about a subtopic, the best first; long ones and questions last."""
    pool = [row.quote.terms for row in rows]
    questions = [ask_about(text, brief.topic, brief.language, pool) for text in texts]
    rated: list[tuple[bool, float, int, Quote]] = []
    for row in rows:
        share = max(coverage(question, row.quote.terms) for question in questions)
        if share >= MIN_SECTION_COVERAGE:
            # Near the top of the findings means near the topic.
            fit = share + 0.5 / (1 + 0.2 * min(row.place, 50))
            is_late = len(row.quote.text) > LONG_CHARS or asks(row.quote.text)
            rated.append((is_late, -fit, row.place, row.quote))
    return [item[-1] for item in sorted(rated, key=lambda item: item[:3])]


def _next(
    quotes: list[Quote], section: list[Quote], chosen: Chosen, budget: _Budget
) -> list[Quote]:
    """Return the section's next quote: of a document it has not quoted yet, if there is one."""
    quoted = {quote.url for quote in section}
    others = [quote for quote in quotes if quote.url not in quoted]
    for quote in [*others, *quotes]:
        if _take(quote, chosen, budget):
            return [quote]
    return []


def _render(brief: Brief, draft: _Draft, gaps: list[str], sources: list[tuple[int, Source]]) -> str:
    labels = labels_of(brief.language)
    numbers = {source.url: number for number, source in sources}

    def listed(quotes: list[Quote], doubt: str = "") -> list[str]:
        return [quote_line(q.text, numbers[q.url], q.page, labels, doubt) for q in quotes]

    lines = [f"# {plain_label(brief.topic) or 'Report'}", "", "## Executive Summary", ""]
    lines += listed(draft.summary) or [INSUFFICIENT]
    lines += ["", "## Detailed Findings", ""]
    for name, quotes in draft.sections.items():
        # A passage is quoted once: where another section has it, this one lacks no sources.
        bare = f"- {labels.elsewhere}" if name in draft.told_elsewhere else INSUFFICIENT
        lines += [f"### {one_line(name)}", "", *(listed(quotes) or [bare]), ""]
    lines += ["## Key Takeaways", ""]
    doubt = not_known = ""
    if brief.needs_two_sources:
        doubt = _UNCERTAIN.get(brief.language, "uncertain")
        not_known = f"{_NOT_KNOWN.get(brief.language, 'Not known')}: "
    lines += listed(draft.takeaways, doubt) or [f"- {not_known}{labels.nothing_more}"]
    lines += ["", "## Open Questions", ""]
    lines += [f"- {labels.sought}: {plain_label(gap)}" for gap in gaps]
    lines += [] if gaps else [f"- {labels.nothing_open}"]
    lines += ["", "## Sources", ""]
    lines += [source_line(number, _page(source), source.credibility or "secondary")
              for number, source in sources]  # fmt: skip
    return "\n".join(lines) + "\n"


def _page(source: Source) -> Page:
    date = "" if source.date.casefold() in ("n.d.", "nd") else source.date
    return Page(source.url, source.url, "ok", title=source.title, date=date)
