"""Whether an answer has the shape its role was asked for (spec D5b, P6).

Job: a cheap yes or no before an answer is handed on; the phases parse for real. Refuses to judge
content. Importers: second_pass, llm.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from omh_research.documents.answer_text import unwrap_answer
from omh_research.documents.labels import FINDING_SECTIONS, match_section, read_label_line
from omh_research.lazy_re import lazy_re

_HEADING = lazy_re(r"^#{1,3} +\S", re.MULTILINE)
_PLAN_NAME = lazy_re(r"""(?:^|[\[{,])[ \t\[{-]*["']?name["']?[ \t]*:""", re.MULTILINE)


def _is_plan(text: str) -> bool:
    return bool(_PLAN_NAME.search(text))


def _is_finding(text: str) -> bool:
    found = set()
    for line in text.split("\n"):
        label = read_label_line(line)
        if label is not None:
            found.add(match_section(label.label, FINDING_SECTIONS, loose=label.level > 0))
    return {"sources", "synthesis"} <= found


def _is_report(text: str) -> bool:
    return len(_HEADING.findall(text)) >= 2


# The verifier and the claim-skeptic are missing on purpose: P6 never restructures a verdict.
_SHAPES: dict[str, Callable[[str], bool]] = {
    "planner": _is_plan,
    "researcher": _is_finding,
    "research-synthesist": _is_report,
}

RESTRUCTURED_ROLES = frozenset(_SHAPES)


def has_structure(role: str, text: str) -> bool:
    """Tell whether `text` has the sections of `role`; true for roles without a shape here."""
    shape = _SHAPES.get(role)
    return True if shape is None else shape(unwrap_answer(text))
