"""Verdicts and votes: the one line that decides, and what stands around it.

Job: read a verifier's verdict (spec D5b, E32) and a skeptic's vote (P1). In doubt it fails: only
one clear `VERDICT: PASS` line that nothing around it contradicts is a PASS, and a verdict that
merely stands in text the verifier quotes is none. Refuses to judge the reasons.
Importers: phases, tools, cli.
"""

from __future__ import annotations

import re

from msgspec import Struct

from omh_research.documents.answer_text import is_fence_line, unwrap_answer
from omh_research.documents.gaps import read_gaps
from omh_research.documents.verdict_tables import find_no
from omh_research.lazy_re import lazy_re
from omh_research.unicode_form import unicode_form

PASS, FAIL, UNREADABLE = "PASS", "FAIL", "unreadable"
VOTES = ("confirm", "refute", "qualified", "abstain")

_VERDICT_LINE = lazy_re(
    r"[\s#*_`\-•]*(?:final\s+)?verdict[\s*_`]*[:：=][\s*_`]*(?P<value>.*)",
    re.IGNORECASE,
    needs=("verdict",),
)
_VERDICT_HEADING = lazy_re(
    r"[\s#*_`]*(?:final\s+)?verdict[\s*_`:：]*", re.IGNORECASE, needs=("verdict",)
)
_VERDICT_JSON = lazy_re(
    r'\s*"verdict"\s*:\s*"(?P<value>[^"]{0,80})"\s*,?\s*', re.IGNORECASE, needs=('"verdict"',)
)
_VOTE_LINE = lazy_re(
    r"[\s#*_`\-•]*vote[\s*_`]*[:：=][\s*_`]*(?P<value>.*)", re.IGNORECASE, needs=("vote",)
)
_LABEL = lazy_re(
    r"[\s#*_`\-•]*(?P<label>confidence|evidence|subtopic coverage|gaps|recommendation|reason"
    r"|verdict|vote)[\s*_`]*[:：][\s*_`]*(?P<rest>.*)",
    re.IGNORECASE,
)
_HEADING = lazy_re(r"\s*#{1,6}\s+(?P<label>[^:：]{1,60}?)[\s*:：]*")
_QUOTING = tuple(">\"“'「『|«")
_TRIM = " \t*_`.。!！\"'()（）[]✅❌✔✗✓🟢🔴\ufe0f"
_REQUESTS_CHANGES = lazy_re(
    r"requests?[\s_-]*(?:a\s+)?change|reject|rework|revis|disapprov"
    r"|(?:not|n['’]t|cannot|never)\s+(?:be\s+)?(?:approve|accept|publish|confirm|pass)"
    r"|不批准|不通过|不通過|修改|退回",
    needs=("change", "reject", "rework", "revis", "not", "n't", "n’t", "never", "disapprov"),
    beyond_ascii=True,
)
_APPROVES = lazy_re(r"approv|accept|publish|confirm|\bpass|批准|通过|通過")
_RECOMMENDATION_JSON = lazy_re(
    r'\s*"recommendation"\s*:\s*"(?P<value>[^"]{0,80})"\s*,?\s*', re.IGNORECASE
)
_FIELD = lazy_re(r"[\w*_ -]{1,40}[:：=]")
# What introduces words of somebody else.
_INTRODUCES = lazy_re(
    r"\b(?:quot(?:es?|ed|ing)|says?|said|reads?|writes?|wrote|states?|contains?|holds?|claims?)\b"
    r"[^.:：]{0,60}[:：][\s*_`]*\Z|(?:写道|引用|声称|包含)[^。：:]{0,20}[:：]\s*\Z",
    re.IGNORECASE,
)
_VOTE_WORDS = {
    "confirm": "confirm", "confirmed": "confirm", "refute": "refute", "refuted": "refute",
    "qualified": "qualified", "qualify": "qualified", "abstain": "abstain", "abstained": "abstain",
    "abstention": "abstain",
}  # fmt: skip


class Verdict(Struct, frozen=True):
    """A verifier's answer, read: `kind` is PASS, FAIL or unreadable; `text` the answer as given.

    `why` says what made a FAIL or unreadable out of an answer that might look otherwise.
    """

    kind: str
    confidence: str = ""
    recommendation: str = ""
    gaps: tuple[str, ...] = ()
    text: str = ""
    why: str = ""


class Vote(Struct, frozen=True):
    """A skeptic's answer: confirm, refute, qualified, abstain or unreadable, and its reason."""

    kind: str
    reason: str = ""


def parse_verdict(text: str, *, shown: str = "") -> Verdict:
    """Read a verifier's answer.

    `shown` is the text the verifier was given (report and findings): a VERDICT line that came
    from there, together with a neighbour of it, is an echo and does not count; neither does one
    in the middle of a sentence. Two VERDICT lines, or PASS with REQUEST_CHANGES, is FAIL (D5b).
    Unreadable (asked again, E32) is no line, a value other than PASS and FAIL, and a PASS whose
    own tables say NO, whose GAPS name one, or whose RECOMMENDATION is something else.
    """
    lines = [line for line in _folded_lines(text) if not is_fence_line(line)]
    fields = _fields(lines)
    confidence = fields.get("confidence", "").split("\n")[0].strip(_TRIM)
    recommendation = fields.get("recommendation", "").split("\n")[0].strip(_TRIM)
    if not recommendation:
        found = (_RECOMMENDATION_JSON.fullmatch(line) for line in lines)
        recommendation = next((match["value"] for match in found if match), "")
    values = _verdict_values(lines, _echoed_lines(shown))
    kind, why = _decide(values, recommendation)
    gaps = read_gaps(fields.get("gaps", ""))
    if kind == PASS and (doubt := _doubt(fields, gaps, recommendation)):
        kind, why = UNREADABLE, f"the verdict is PASS but {doubt}"
    return Verdict(kind, confidence, recommendation, gaps, text, why)


def parse_vote(text: str) -> Vote:
    """Read a skeptic's answer (P1): one `VOTE:` line, then `REASON:`.

    No such line, an unknown word or two lines that differ are unreadable, which counts as an
    abstention, never as a refutation (P2).
    """
    lines = [line for line in _folded_lines(text) if not is_fence_line(line)]
    found = set()
    for line in lines:
        match = None if _is_quoted(line) else _VOTE_LINE.fullmatch(line)
        if match:
            found.add(_VOTE_WORDS.get(match["value"].strip(_TRIM).casefold(), UNREADABLE))
    reason = " ".join(_fields(lines).get("reason", "").split())
    return Vote(found.pop() if len(found) == 1 else UNREADABLE, reason)


def has_verdict_line(text: str) -> bool:
    """Return whether `text` holds a line that would read as a verdict or a vote.

    A report must not: what it says is judged, it does not judge itself.
    """
    for line in unicode_form("NFKC", text).split("\n"):
        match = _VERDICT_LINE.fullmatch(line) or _VERDICT_JSON.fullmatch(line)
        if match and _value(match["value"]) != UNREADABLE:
            return True
        match = _VOTE_LINE.fullmatch(line)
        if match and match["value"].strip(_TRIM).casefold() in _VOTE_WORDS:
            return True
    return False


def _folded_lines(text: str) -> list[str]:
    answer = unwrap_answer(text, keep_unclosed_thinking=False)
    return unicode_form("NFKC", answer).split("\n")


def _is_quoted(line: str) -> bool:
    text = line.lstrip()
    return text[:1] in _QUOTING and not _VERDICT_JSON.fullmatch(text)


def _echoed_lines(shown: str) -> frozenset[str]:
    lines = unicode_form("NFKC", shown).split("\n")
    return frozenset(line.strip() for line in lines if line.strip())


def _verdict_values(lines: list[str], echoed: frozenset[str]) -> list[str]:
    """Return the values of the VERDICT lines; JSON and headings count only where there is none.

    A line inside a sentence is none, unless there is another: two are in doubt, whatever they are.
    """
    filled = [line for line in lines if line.strip()]
    plain: list[str] = []
    other: list[str] = []
    embedded: list[str] = []
    for at, line in enumerate(filled):
        if _is_quoted(line) or _is_echo(filled, at, echoed):
            continue
        if _is_embedded(filled, at):
            embedded.append(PASS)
            continue
        if (match := _VERDICT_LINE.fullmatch(line)) and match["value"].strip(_TRIM):
            plain.append(_value(match["value"]))
        elif match := _VERDICT_JSON.fullmatch(line):
            other.append(_value(match["value"]))
        elif _VERDICT_HEADING.fullmatch(line) and at + 1 < len(filled):
            value = _value(filled[at + 1])
            other += [value] if value in (PASS, FAIL) else []
    if plain and PASS in plain:
        plain += embedded
    if not plain:
        return other if len(embedded) < 2 else embedded
    return plain + [value for value in other if value not in plain]


def _is_echo(filled: list[str], at: int, echoed: frozenset[str]) -> bool:
    if filled[at].strip() not in echoed:
        return False
    around = filled[max(at - 1, 0) : at] + filled[at + 1 : at + 2]
    return any(line.strip() in echoed for line in around)


def _is_embedded(filled: list[str], at: int) -> bool:
    """Return whether a line that says PASS stands inside somebody's sentence.

    Never so for a FAIL: in doubt it counts.
    """
    match = _VERDICT_LINE.fullmatch(filled[at])
    if match is None or _value(match["value"]) == FAIL:
        return False
    after = filled[at + 1].lstrip() if at + 1 < len(filled) else ""
    if after[:1].islower() and not _FIELD.match(after):
        return True
    return bool(at and _INTRODUCES.search(filled[at - 1][-200:]))


def _doubt(fields: dict[str, str], gaps: tuple[str, ...], recommendation: str) -> str:
    """Return what in the rest of an answer speaks against its PASS; "" when nothing does."""
    if recommendation and not _APPROVES.search(recommendation.casefold()):
        return "the RECOMMENDATION is not APPROVE"
    for label in ("evidence", "subtopic coverage"):
        if row := find_no(fields.get(label, ""), excused=label.startswith("subtopic")):
            return f"a row under {label.upper()} says NO: {row}"
    return f"GAPS names a fault: {gaps[0][:120]}" if gaps else ""


def _value(text: str) -> str:
    """Return PASS only for the bare word; FAIL also with words behind it; else unreadable."""
    folded = text.strip(_TRIM).upper()
    if folded in ("PASS", "PASSED"):
        return PASS
    return FAIL if re.match(r"FAIL(?:ED|URE)?\b(?!\s*[|/])", folded) else UNREADABLE


def _decide(values: list[str], recommendation: str) -> tuple[str, str]:
    if not values:
        return UNREADABLE, "there is no VERDICT line"
    if len(values) > 1 and set(values) != {UNREADABLE}:
        return FAIL, f"there are {len(values)} VERDICT lines"
    if values[0] == UNREADABLE:
        return UNREADABLE, "the VERDICT line says neither PASS nor FAIL"
    if values[0] == PASS and _REQUESTS_CHANGES.search(recommendation.casefold()):
        return FAIL, "the verdict is PASS but changes are requested"
    return values[0], ""


def _fields(lines: list[str]) -> dict[str, str]:
    """Return what stands under each label; the first of two equal labels wins."""
    fields: dict[str, list[str]] = {}
    current: list[str] = []
    for line in lines:
        labelled = _LABEL.fullmatch(line)
        opener = labelled or _HEADING.fullmatch(line)
        if not opener:
            current.append(line)
            continue
        label = opener["label"].casefold().strip()
        current = fields.setdefault(label, []) if label not in fields else []
        if labelled:
            current.append(labelled["rest"].rstrip("*_` "))
    return {label: "\n".join(found).strip() for label, found in fields.items()}
