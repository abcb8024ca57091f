"""Fitting findings into the context budget (spec E24, seed phase 4).

Job: shorten SYNTHESIS bodies, longest first, by whole sentences; say what was cut. Refuses to
touch SOURCES, EVIDENCE, GAPS or the follow-up, and to cut a sentence with a URL, a citation tag
or a digit. Importers: phases.
"""

from __future__ import annotations

from msgspec.structs import replace

from omh_research.documents.labels import FINDING_SECTIONS, match_section, read_label_line
from omh_research.documents.names import FOLLOWUP_STEM
from omh_research.documents.task import FindingText
from omh_research.lazy_re import lazy_re

_KEEP = lazy_re(r"\d|https?://|\[\^?\w+\]|【")


def shorten_findings(
    findings: tuple[FindingText, ...], topic: str, room: int
) -> tuple[tuple[FindingText, ...], list[dict[str, object]]]:
    """Return findings that fit `room` characters where that can be had, and the cuts made."""
    excess = sum(len(finding.text) for finding in findings) - room
    if excess <= 0:
        return findings, []
    shortened = {finding.stem: finding for finding in findings}
    cuts: list[dict[str, object]] = []
    candidates = [
        (end - start, finding.stem, start, end)
        for finding in findings
        if finding.stem != FOLLOWUP_STEM
        for start, end in [synthesis_span(finding.text)]
        if end > start
    ]
    for _, stem, start, end in sorted(candidates, key=lambda row: (-row[0], row[1])):
        if excess <= 0:
            break
        text = shortened[stem].text
        kept, removed = _cut(text[start:end], topic, excess)
        if not removed:
            continue
        shortened[stem] = replace(shortened[stem], text=text[:start] + kept + text[end:])
        gained = (end - start) - len(kept)
        excess -= gained
        cuts.append({"finding": stem, "characters_cut": gained, "removed": removed})
    return tuple(shortened[finding.stem] for finding in findings), cuts


def synthesis_span(text: str) -> tuple[int, int]:
    """Return the span of the SYNTHESIS body in a researcher's text; (0, 0) if there is none."""
    start = end = 0
    position = 0
    inside = False
    for line in text.split("\n"):
        opener = read_label_line(line)
        name = (
            match_section(opener.label, FINDING_SECTIONS, loose=bool(opener.level))
            if opener is not None
            else ""
        )
        after = position + len(line) + 1
        if name == "synthesis" and opener is not None:
            inside = True
            start = position + (line.rfind(opener.rest) if opener.rest else len(line))
        elif name and inside:
            break
        if inside:
            end = min(after, len(text))
        position = after
    return start, end


def _cut(body: str, topic: str, excess: int) -> tuple[str, list[str]]:
    """Drop the least relevant sentences that may be dropped, until `excess` is gone."""
    from omh_research.tools import ranking, sentences

    spans = sentences.split(body)
    texts = [span.text for span in spans]
    order = [ranked.index for ranked in ranking.rank(topic, texts, limit=len(texts))]
    least_first = [index for index in range(len(texts)) if index not in set(order)]
    least_first += reversed(order)
    dropped: set[int] = set()
    for index in least_first:
        if excess <= 0:
            break
        if _KEEP.search(texts[index]):
            continue
        dropped.add(index)
        excess -= len(texts[index])
    if not dropped:
        return body, []
    pieces: list[str] = []
    position = 0
    for index, span in enumerate(spans):
        if index in dropped:
            pieces.append(body[position : span.start])
            position = span.end
    pieces.append(body[position:])
    return "".join(pieces), [texts[index] for index in sorted(dropped)]
