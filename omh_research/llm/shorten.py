"""Making a context fit a model without losing what a check needs (spec E24, complaint 32).

Job: cut running prose from a context, the least relevant first, and say where. Lines that hold an
address, a citation tag, a number, a heading or a gap stay word for word. Refuses to rewrite a
line. Importers: delegates.llm.
"""

from __future__ import annotations

import re

from msgspec import Struct

from omh_research.documents.labels import FINDING_SECTIONS, match_section, read_label_line
from omh_research.lazy_re import lazy_re

_NEEDED = lazy_re(r"https?://|\[\d|【\d|\d|^\s*#|^\s*---|^\s*===|\(insufficient", re.IGNORECASE)
_KEPT_SECTIONS = ("sources", "gaps", "evidence", "queries_run")
CUT = "[… {count} characters of prose cut to fit the model …]"


class Shortened(Struct, frozen=True):
    """A context that was cut: the text and how many characters went."""

    text: str
    cut_chars: int


def shorten_context(text: str, query: str, max_chars: int) -> Shortened:
    """Return `text` with prose cut until about `max_chars` are left.

    What is needed for checking is never cut, so the result may be longer than asked.
    """
    if len(text) <= max_chars:
        return Shortened(text, 0)
    blocks = _blocks(text)
    needed = sum(len(block) + 1 for block, is_prose in blocks if not is_prose)
    prose = [block for block, is_prose in blocks if is_prose]
    kept = _best(prose, query, max(0, max_chars - needed - 70 * len(prose)))
    lines: list[str] = []
    cut = index = 0
    for block, is_prose in blocks:
        if not is_prose:
            lines.append(block)
            continue
        gone = len(block) - len(kept[index])
        if kept[index]:
            lines.append(kept[index])
        if gone > 0:
            lines.append(CUT.format(count=gone))
            cut += gone
        index += 1
    return Shortened("\n".join(lines), cut)


def _blocks(text: str) -> list[tuple[str, bool]]:
    """Return the text as blocks of whole lines, each with whether it is prose that may go."""
    blocks: list[tuple[list[str], bool]] = []
    section = ""
    for line in text.split("\n"):
        label = read_label_line(line)
        named = match_section(label.label, FINDING_SECTIONS, loose=True) if label else ""
        if named:
            section = named
        is_prose = not (
            named or section in _KEPT_SECTIONS or _NEEDED.search(line) or not line.strip()
        )
        if blocks and blocks[-1][1] == is_prose:
            blocks[-1][0].append(line)
        else:
            blocks.append(([line], is_prose))
    return [("\n".join(lines), is_prose) for lines, is_prose in blocks]


def _best(prose: list[str], query: str, budget: int) -> list[str]:
    """Return each prose block cut to its relevant literal parts, together within `budget`."""
    if budget <= 0 or not prose:
        return [""] * len(prose)
    from omh_research.tools.compress import compress

    sources = [
        {"id": str(n), "url": f"https://context.invalid/{n}", "title": "", "text": block}
        for n, block in enumerate(prose)
    ]
    answer = compress({"query": query, "sources": sources, "max_chars": budget})
    chunks: dict[str, list[tuple[int, str]]] = {}
    for part in answer["kept"]:
        chunks.setdefault(str(part["source"]), []).append((part["chunk_index"], part["chunk"]))
    return [
        "\n".join(chunk for _, chunk in sorted(chunks.get(str(n), []))) for n in range(len(prose))
    ]
