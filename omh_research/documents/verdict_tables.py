"""The tables of a verdict: does a row of EVIDENCE or SUBTOPIC COVERAGE say NO?

Job: find the cell with which a verifier takes its own PASS back (spec D5b: one NO is FAIL).
Refuses to weigh a row's words: only cells that answer yes or no are read. Importers: documents.
"""

from __future__ import annotations

import re

from omh_research.lazy_re import lazy_re

# Columns that hold words of the report or remarks, not an answer.
_FREE_COLUMN = lazy_re(
    r"#|n|no\.?|nr\.?|claim|statement|sentence|takeaway|cited|citations?|sources?|subtopic|topic"
    r"|name|notes?|remarks?|comments?|reason|evidence|quote",
    re.IGNORECASE,
)
_NO = lazy_re(
    r"(?:no|not(?! applicable)|none|false|fails?|failed|partial(?:ly)?|unsupported|unproven"
    r"|missing|wrong|nein|non|нет|لا)(?!\w)|[✗✘❌✕]|[否无無]|不|没",
    re.IGNORECASE,
    needs=(
        "no", "false", "fail", "partial", "unsupported", "unproven", "missing", "wrong", "nein",
    ),
    beyond_ascii=True,
)  # fmt: skip
_INSUFFICIENT = lazy_re(r"insufficient|不足", re.IGNORECASE)
_RULE = lazy_re(r"[\s|:+-]+")
_TRIM = " \t*_`.()[]\ufe0f"
_MAX_SHOWN = 120


def find_no(section: str, *, excused: bool) -> str:
    """Return the first table row of `section` with an answer NO, shortened; "" when there is none.

    The first row names the columns; a column of claims, sources or notes answers nothing. With
    `excused` a row that says that the sources do not suffice is no NO (E28).
    """
    columns: list[bool] = []
    for line in section.split("\n"):
        text = line.strip()
        if not text.startswith("|") or _RULE.fullmatch(text):
            continue
        cells = [cell.strip(_TRIM) for cell in text.strip("|").split("|")]
        if not columns:
            columns = [not _is_free(cell) for cell in cells]
            if any(columns) and not any(_NO.match(cell) for cell in cells[1:]):
                continue
            columns = [False] + [True] * (len(cells) - 1)  # a table without a heading row
        for at, cell in enumerate(cells):
            if excused and _INSUFFICIENT.search(text):
                break
            if at < len(columns) and columns[at] and _NO.match(cell):
                return text[:_MAX_SHOWN]
    return ""


def _is_free(heading: str) -> bool:
    words = re.findall(r"[^\W_]+|#", heading)
    return not words or bool(_FREE_COLUMN.fullmatch(words[0]))
