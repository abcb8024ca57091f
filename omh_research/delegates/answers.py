"""From what an agent program printed to the answer it meant.

Job: remove terminal colours, unpack the JSON shapes agent programs print, and refuse what is no
whole answer (spec D3, 85-hosts sections 2.3 and 4). Refuses to run anything and to repair an
answer's content. Importers: command, host.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from omh_research.delegates.presets import ResultFormat
from omh_research.delegates.second_pass import EmptyAnswerError
from omh_research.documents.task import Usage
from omh_research.errors import DelegateError
from omh_research.lazy_re import lazy_re

# ECMA-48 sequences: CSI, OSC (ended by BEL or ST), and the two-character ones.
_ESCAPES = lazy_re(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]"
)
_CONTROLS = lazy_re(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f]")
_TRUNCATED = lazy_re(r"^[ \t*_>\-]*\[SUMMARY TRUNCATED\b", re.IGNORECASE | re.MULTILINE)


class Answer(Struct, frozen=True):
    """What a program answered, and what it says that cost."""

    text: str
    usage: Usage = Usage(model_calls=1)


def clean_terminal_text(text: str) -> str:
    """Return `text` as it would read on paper: no escapes, no overwritten progress lines."""
    text = _ESCAPES.sub("", text).replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return _CONTROLS.sub("", text)


def read_answer(stdout: str, result: ResultFormat) -> Answer:
    """Return the answer in a program's output.

    `result` says its form: `text` as it is, `json` one object (`.result` or `.response`),
    `jsonl` one event a line; `auto` is `json` if the whole output is such an object, else text.
    Raises `DelegateError` for an empty answer, an error reported inside the output, a form that
    is not there, or a shortened one.
    """
    text = clean_terminal_text(stdout)
    match result:
        case "text":
            answer = Answer(text)
        case "auto":
            answer = _read_object(text) or Answer(text)
        case "json":
            found = _read_object(text) or _read_object(_last_object_line(text))
            if found is None:
                raise DelegateError("The program printed no JSON object with an answer.")
            answer = found
        case "jsonl":
            answer = _read_events(text)
    return check_answer(answer)


def check_answer(answer: Answer) -> Answer:
    """Return `answer`; raise `DelegateError` if it is empty or was shortened on the way."""
    if not answer.text.strip():
        raise EmptyAnswerError("The program gave an empty answer.")
    if _TRUNCATED.search(answer.text):
        raise DelegateError(
            "The answer was shortened on the way ([SUMMARY TRUNCATED]).",
            hint="Hand in the full text from the file its footer names.",
        )
    return answer


def read_usage_report(data: bytes, said: str) -> Usage:
    """Return the usage in a Hermes usage file; raise `DelegateError` if it reports a failure.

    `said` is what the program printed: after a failure that is the reason, not an answer.
    """
    report = _parse(data.decode("utf-8", "replace"))
    if not isinstance(report, dict):
        return Usage(model_calls=1)
    if report.get("failed"):
        reason = report.get("failure") or clean_terminal_text(said).strip()[-300:] or "no reason"
        raise DelegateError(f"The program reports a failure: {reason}")
    known = report.get("cost_status") not in (None, "unknown")
    return Usage(
        model_calls=_count(report.get("api_calls"), 1),
        input_tokens=_count(report.get("input_tokens")),
        output_tokens=_count(report.get("output_tokens")),
        cost_usd=_money(report.get("estimated_cost_usd")) if known else None,
    )


def _read_object(text: str) -> Answer | None:
    value = _parse(text)
    if isinstance(value, list):  # claude with verbose output: all events, the result last
        value = next((item for item in reversed(value) if _holds_answer(item)), None)
    if not isinstance(value, dict) or not _holds_answer(value):
        return None
    if value.get("is_error") or value.get("error"):
        raise DelegateError(f"The program reports an error: {_error_text(value)}")
    said = next((value[key] for key in ("result", "response") if key in value), "")
    if not isinstance(said, str):
        return None
    if isinstance(value.get("stats"), dict):
        return Answer(said, _usage_of_stats(value["stats"]))
    used = _object(value.get("usage"))
    read = sum(_count(used.get(key)) for key in _INPUT_KEYS)
    return Answer(
        said,
        Usage(
            model_calls=_count(value.get("num_turns"), 1),
            input_tokens=read,
            output_tokens=_count(used.get("output_tokens")),
            cost_usd=_money(value.get("total_cost_usd")),
        ),
    )


def _usage_of_stats(stats: dict[str, Any]) -> Usage:
    """Return what Gemini tells of each model it called, added up."""
    rows = [_object(row) for row in _object(stats.get("models")).values()]
    calls = [_object(row.get("api")) for row in rows]
    tokens = [_object(row.get("tokens")) for row in rows]
    return Usage(
        model_calls=max(1, sum(_count(each.get("totalRequests")) for each in calls)),
        input_tokens=sum(_count(each.get("prompt")) for each in tokens),
        output_tokens=sum(
            _count(each.get("candidates")) + _count(each.get("thoughts")) for each in tokens
        ),
    )


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


_INPUT_KEYS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def _holds_answer(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return bool({"result", "response"} & set(value)) or isinstance(value.get("error"), dict)


def _last_object_line(text: str) -> str:
    lines = [line for line in text.split("\n") if line.lstrip().startswith(("{", "["))]
    return lines[-1] if lines else ""


def _read_events(text: str) -> Answer:
    """Read opencode's event lines: texts joined, finished steps counted."""
    said: list[str] = []
    calls, read, written = 0, 0, 0
    costs: list[float | None] = []
    for event in _events(text):
        part = event.get("part")
        part = part if isinstance(part, dict) else {}
        match event.get("type"):
            case "text":
                said.append(str(part.get("text") or event.get("text") or ""))
            case "step_finish":
                tokens = part.get("tokens")
                tokens = tokens if isinstance(tokens, dict) else {}
                calls += 1
                read += _count(tokens.get("input"))
                written += _count(tokens.get("output"))
                costs.append(_money(part.get("cost")))
            case "error":
                raise DelegateError(f"The program reports an error: {_error_text(event)}")
            case _:
                pass
    known = [cost for cost in costs if cost]
    cost = sum(known) if known and len(known) == len(costs) else None
    return Answer("\n".join(said), Usage(calls or 1, 0, read, written, cost))


def _events(text: str) -> Iterator[dict[str, Any]]:
    seen = False
    for line in text.split("\n"):
        value = _parse(line) if line.lstrip().startswith("{") else None
        if isinstance(value, dict):
            seen = True
            yield value
    if not seen:
        raise DelegateError("The program printed no JSON event.")


def _parse(text: str) -> Any:
    if not text.strip():
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _error_text(value: dict[str, Any]) -> str:
    error = value.get("error")
    if isinstance(error, dict):
        data = error.get("data")
        nested = data.get("message") if isinstance(data, dict) else ""
        error = error.get("message") or nested or json.dumps(error, ensure_ascii=False)
    return str(error or value.get("result") or value.get("subtype") or "no reason given")[:400]


def _count(value: Any, default: int = 0) -> int:
    return (
        value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else default
    )


def _money(value: Any) -> float | None:
    """Return a price, or None: a program that says 0 or nothing does not know."""
    return float(value) if isinstance(value, int | float) and value > 0 else None
