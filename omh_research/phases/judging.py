"""Judging a researcher's reply: is it an answer at all, and one about its own subtopic?

Job: turn an answered reply that cannot be used into a failed one, so that it is asked again and
counts for the breaker like any failed call (spec E21, O5): a refusal, an error, a verdict, a block
that was cut off, a swapped answer is no finding. Refuses to judge what a findings block says: too
little evidence is an honest answer, and plain prose is read as leniently as ever (E22).
Importers: phases, host_protocol.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from omh_research.documents.finding import parse_finding
from omh_research.documents.names import FOLLOWUP_STEM, fold_topic
from omh_research.documents.task import Reply, Task
from omh_research.lazy_re import lazy_re
from omh_research.phases.goals import base_name

NO_ANSWER = "not a findings block, and without any link"
# How a text begins that says why there is no answer, or that is one to another question.
_REFUSAL = lazy_re(
    r"\W{0,8}(?:(?:i['’]?m |i am |we are |we['’]re )?(?:very |so |really |terribly )?sorry\b"
    r"|(?:unfortunately,? )?i (?:can ?not|can['’]t|am (?:unable|not able)|won['’]t|apologi[sz]e"
    r"|(?:do not|don['’]t) have)|i['’]m (?:unable|not able|afraid)|unfortunately\b|as an ai\b"
    r"|unable to\b|error\b|\w{3,30}(?:error|exception)\s*:|traceback\b"
    r"|\{\s*[\"'](?:error|detail|message)"
    r"|rate limit|too many requests|(?:http )?[45]\d\d\b|(?:request )?time[ds]? ?-?out\b"
    r"|verdict\b|vote\b|es tut mir leid|leider\b|entschuldig|lo siento|no puedo|désolé"
    r"|je suis désolé"
    r"|je ne peux|mi dispiace|non posso|desculpe|não posso|к сожалению|извините|не могу|آسف|عذر"
    r"|抱歉|很抱歉|对不起|對不起|无法|無法|我不能|我无法|申し訳|すみません|できません|죄송)",
    re.IGNORECASE,
)
_MAX_REFUSAL_CHARS = 2_000


def judged(tasks: Sequence[Task], replies: Sequence[Reply]) -> tuple[Reply, ...]:
    """Return the replies in order, those that cannot be used as failed ones with the reason."""
    found = []
    for task, reply in zip(tasks, replies, strict=True):
        trouble = trouble_of(task, reply.text) if reply.status == "answered" else ""
        found.append(replace(reply, status="failed", reason=trouble) if trouble else reply)
    return tuple(found)


def trouble_of(task: Task, text: str) -> str:
    """Return why a researcher's answer cannot be used; "" if it can.

    An answer that names another subtopic of the same plan was handed in for the wrong task; a
    subtopic in other words (a translation, a short form) is no fault. Items of later rounds carry
    their subproblem's name.
    """
    finding = parse_finding(text)
    if not finding.is_block and not finding.sources:
        was_begun = bool(finding.subtopic or finding.queries_run)
        is_short = len(text) <= _MAX_REFUSAL_CHARS
        if was_begun or (is_short and _REFUSAL.match(text)):
            return NO_ANSWER
    wanted, named = (fold_topic(base_name(n)) for n in (task.brief.subtopic, finding.subtopic))
    if not named or task.brief.subtopic == FOLLOWUP_STEM or named == wanted:
        return ""
    others = {fold_topic(base_name(name)) for name, _ in task.brief.subtopics} - {wanted}
    if named in others:
        about, not_about = (name[:80] for name in (finding.subtopic, task.brief.subtopic))
        return f"the answer is about another subtopic of the plan, {about!r}, not {not_about!r}"
    return ""
