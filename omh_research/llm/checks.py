"""What a model's answer must not be: its own thinking, the template back, or half a text.

Job: clean an answer and name the faults real models have (complaints 16 and 32). Refuses to
judge whether an answer is true. Importers: delegates.llm.
"""

from __future__ import annotations

import re

from omh_research.documents.answer_text import unwrap_answer
from omh_research.documents.finding import INSUFFICIENT, NONE_FOUND
from omh_research.lazy_re import lazy_re
from omh_research.unicode_form import unicode_form

ECHO_SHARE = 0.6
MIN_LINE_CHARS = 12
MIN_PLACEHOLDERS = 2

_PLACEHOLDER = lazy_re(r"\{[A-Za-z][A-Za-z0-9 _.|/-]{1,60}\}|<[a-z][a-z0-9 _.|/-]{2,60}>")
_TEMPLATE_TOKEN = lazy_re(
    r"<\|(?:im_start|im_end|start_header_id|end_header_id|eot_id|endoftext|assistant|user|system)"
    r"\|>|\[/?INST\]|<(?:start|end)_of_turn>"
)
_PLAN_START = lazy_re(r"""^[ \t]*(?:subtopics:|-[ \t]*\{?["']?name["']?[ \t]*:)""", re.MULTILINE)
_FENCE = lazy_re(r"^[ \t]*(?:`{3,}|~{3,})", re.MULTILINE)


def clean_answer(role: str, text: str) -> str:
    """Return the answer without thinking and wrappers; a planner's without prose around it."""
    text = unwrap_answer(text) if text.strip() else ""
    return _bare_plan(text) if role == "planner" else text


def find_fault(text: str, asked: str) -> str:
    """Return what is wrong with an answer to the words `asked`, or "" if nothing shows.

    Found are an answer that repeats the template it was to fill in, and one that leaks a chat
    template's tokens.
    """
    if _TEMPLATE_TOKEN.search(text):
        return "the answer holds the tokens of a chat template"
    filled = {match.group() for match in _PLACEHOLDER.finditer(text)}
    if len(filled & {match.group() for match in _PLACEHOLDER.finditer(asked)}) >= MIN_PLACEHOLDERS:
        return "the answer is the template, not filled in"
    lines = [line for line in map(_plain, text.split("\n")) if _is_content(line)]
    asked_lines = {_plain(line) for line in asked.split("\n")}
    repeated = sum(len(line) for line in lines if line in asked_lines)
    total = sum(map(len, lines))
    if total and repeated / total > ECHO_SHARE:
        return "the answer repeats the words of the task"
    return ""


def _plain(line: str) -> str:
    return " ".join(unicode_form("NFKC", line).strip(" \t-*#>`_").casefold().split())


def _is_content(line: str) -> bool:
    # The words for "nothing found" stand in the template and are right answers.
    return len(line) >= MIN_LINE_CHARS and not (INSUFFICIENT in line or NONE_FOUND in line)


def _bare_plan(text: str) -> str:
    start = _PLAN_START.search(text)
    if start is None:
        return text
    plan = text[start.start() :]
    fence = _FENCE.search(plan)
    if fence is not None:
        plan = plan[: fence.start()]
    kept: list[str] = []
    for line in plan.split("\n"):
        # A list ends where prose begins again: a line at the margin that is no list item.
        if kept and line.strip() and not re.match(r"[ \t]|-|subtopics:", line):
            break
        kept.append(line)
    return "\n".join(kept).strip("\n") + "\n"
