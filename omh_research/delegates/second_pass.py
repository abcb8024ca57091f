"""One second chance for an answer without structure (spec P6), never in verification.

Job: ask once more as free text when an answer is empty, then have a tool-less task put the text
into the form asked for; count both. Refuses to invent structure itself, and to touch verdicts
and votes: a verdict that cannot be read stays unread. Importers: command, llm.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from omh_research.delegates.structure import RESTRUCTURED_ROLES, has_structure
from omh_research.documents.task import Reply, Task, Usage, add_usage
from omh_research.errors import DelegateError

FIRED = "fallbacksFired: 1"
RECOVERED = "fallbackRecovered: 1"
NOT_RECOVERED = "fallbackRecovered: 0"

_FREE_TEXT = (
    "\n\nAn earlier try gave an empty answer. Answer now in plain words; no form is needed, but "
    "give every source with its full URL."
)
_STRUCTURE = (
    "\n\nThe work itself is done: the context holds the answer, without its form. Put that text "
    "into the form described above. Add no fact, source or number that is not in it, leave none "
    "out, and write what it lacks into the section for gaps. Return only the form, filled in."
)


class EmptyAnswerError(DelegateError):
    """The delegate answered, but with nothing."""


Ask = Callable[[Task, bool], Reply]
"""Asks for one answer; the flag is true for the structuring task, which needs no sources."""


def answer_with_second_pass(ask: Ask, task: Task) -> Reply:
    """Return the answer to `task`, after one second pass if it came without usable structure.

    Notes say whether a pass was made and whether it helped; usage holds all calls. If it did
    not help, the best raw text is returned as it is. Raises what `ask` raises; an answer that is
    empty twice is a `DelegateError`.
    """
    if task.role not in RESTRUCTURED_ROLES:
        return ask(task, False)
    try:
        first = ask(task, False)
    except EmptyAnswerError:
        first = Reply(task_id=task.id, usage=Usage(model_calls=1))
    if first.status != "answered" or has_structure(task.role, first.text):
        return first
    raw = first
    if not first.text.strip():
        raw = _add(first, ask(replace(task, goal=task.goal + _FREE_TEXT), False))
    if raw.status != "answered" or not raw.text.strip():
        return _noted(replace(raw, status="failed", reason=raw.reason or "empty twice"), FIRED)
    if has_structure(task.role, raw.text):
        return _noted(raw, FIRED, RECOVERED)
    return _structure(ask, task, raw)


def _structure(ask: Ask, task: Task, raw: Reply) -> Reply:
    step = replace(task, goal=task.goal + _STRUCTURE, context=raw.text, tools=())
    try:
        formed = ask(step, True)
    except DelegateError as error:
        # The raw text is paid for and may still be read leniently: keep it.
        return _noted(raw, FIRED, NOT_RECOVERED, f"the structuring task failed: {error.message}")
    total = _add(raw, formed)
    if formed.status == "answered" and has_structure(task.role, formed.text):
        return _noted(total, FIRED, RECOVERED)
    return _noted(replace(total, text=raw.text, status="answered", reason=""), FIRED, NOT_RECOVERED)


def _add(before: Reply, after: Reply) -> Reply:
    notes = tuple(dict.fromkeys([*before.notes, *after.notes]))
    return replace(after, usage=add_usage(before.usage, after.usage), notes=notes)


def _noted(reply: Reply, *notes: str) -> Reply:
    return replace(reply, notes=tuple(dict.fromkeys([*reply.notes, *notes])))
