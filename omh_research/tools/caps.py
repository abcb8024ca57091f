"""Caps: what a run may fetch, ask and spend, planned before and accounted after.

Job: the seed's `caps` operations as pure functions (spec T1-T4, T25). Refuses to count by itself:
it plans and adds up what callers report; the engine enforces (T5). Reads no file: the ledger comes
as text. Importers: tools, phases, delegates, cli.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from omh_research.errors import ToolInputError, UsageError
from omh_research.tools.similarity import split_duplicates

DEFAULT_CAPS: dict[str, Any] = {
    "max_subquestions": 8,
    "max_fetches": 40,
    "max_fetches_per_subquestion": 8,
    "max_model_calls": 30,
    "max_depth": 2,
    "max_cost_usd": None,
}
ABSOLUTE_CAPS: dict[str, int] = {
    "max_subquestions": 20,
    "max_fetches": 100,
    "max_fetches_per_subquestion": 20,
    "max_model_calls": 100,
    "max_depth": 4,
}
_SEARCH_KINDS = frozenset({"search", "query", "web_search"})
# Rows the engine writes for requests that never left: served from the ledger, or refused (T5, T19).
_FREE_STATUS = frozenset({"deduplicated", "refused_cap"})


def _number(value: object) -> float:
    """A finite number >= 0; garbage, negative numbers and NaN count as 0 (T2)."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return 0.0
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return 0.0
    return number if math.isfinite(number) and number > 0 else 0.0


def _ceiling(value: object, ceiling: int) -> int:
    if isinstance(value, float) and value == math.inf:
        return ceiling
    return min(int(_number(value)), ceiling)


def check_cap_names(names: Iterable[str]) -> None:
    """Refuse the name of a cap that there is not, naming those there are (O5).

    Raises:
        UsageError: one is unknown.
    """
    unknown = ", ".join(sorted(set(names) - DEFAULT_CAPS.keys()))
    if unknown:
        raise UsageError(f"There is no cap {unknown}.", hint=f"Caps: {', '.join(DEFAULT_CAPS)}.")


def effective_caps(overrides: Mapping[str, Any] | None) -> dict[str, Any]:
    """The caps in force: defaults, overridden, never past ABSOLUTE_CAPS (T2).

    A field that is None keeps its default. Raises ToolInputError for an unknown field, naming the
    allowed ones, and for anything but an object.
    """
    if overrides is None:
        return dict(DEFAULT_CAPS)
    if not isinstance(overrides, Mapping):
        raise ToolInputError("caps must be an object.", hint=f"Allowed fields: {_allowed()}.")
    unknown = sorted(str(name) for name in overrides if name not in DEFAULT_CAPS)
    if unknown:
        raise ToolInputError(
            f"unknown caps field(s): {', '.join(unknown)}; allowed fields: {_allowed()}"
        )
    caps = dict(DEFAULT_CAPS)
    for name, value in overrides.items():
        if value is None:
            continue
        if name in ABSOLUTE_CAPS:
            caps[name] = _ceiling(value, ABSOLUTE_CAPS[name])
        else:
            caps[name] = _number(value)
    return caps


def _allowed() -> str:
    return ", ".join(DEFAULT_CAPS)


def _list(payload: Mapping[str, Any], name: str) -> list[Any]:
    value = payload.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise ToolInputError(f"{name} must be a list, not {type(value).__name__}.")
    return value


def _payload(payload: object) -> Mapping[str, Any]:
    if not isinstance(payload, Mapping):
        raise ToolInputError("The input must be a JSON object.")
    return payload


def plan(payload: dict[str, Any]) -> dict[str, Any]:
    """The seed's `plan` (T1): `{subquestions, depth?, caps?}` to the budget of a run.

    Exact and near duplicates go, then what is over the cap; order is kept and `dropped` says what
    went (`invalid` appears there only when entries were not text). Raises ToolInputError for a
    payload of the wrong shape.
    """
    payload = dict(_payload(payload))
    caps = effective_caps(payload.get("caps"))
    depth = int(_number(payload.get("depth")))
    entries = _list(payload, "subquestions")
    questions = [entry.strip() for entry in entries if isinstance(entry, str) and entry.strip()]
    first, repeated = split_duplicates(questions)
    kept = [questions[index] for index in first]
    limit = caps["max_subquestions"]
    dropped: dict[str, list[Any]] = {
        "duplicates": [questions[index] for index in repeated],
        "over_cap": kept[limit:],
    }
    invalid = [entry for entry in entries if not isinstance(entry, str) or not entry.strip()]
    if invalid:
        dropped["invalid"] = invalid
    kept = kept[:limit]
    fetches = caps["max_fetches"]
    share = max(1, fetches // max(1, len(kept))) if fetches else 0
    allowed = depth <= caps["max_depth"]
    return {
        "allowed": allowed,
        "reason": None if allowed else "max_depth_exceeded",
        "depth": depth,
        "subquestions": kept,
        "fetch_budget_per_subquestion": min(caps["max_fetches_per_subquestion"], share),
        "total_fetch_budget": fetches,
        "dropped": dropped,
        "caps": caps,
    }


def account(payload: dict[str, Any]) -> dict[str, Any]:
    """The seed's `account` (T4): `{steps: [{step, fetches, model_calls, cost_usd}], caps?}`.

    A limit that is reached stops; `exceeded` and `limits_reached` are the same list of caps.
    `remaining.cost_usd` is there only when a cost limit is set.
    """
    payload = dict(_payload(payload))
    caps = effective_caps(payload.get("caps"))
    by_step: dict[str, dict[str, Any]] = {}
    totals = _empty_counts()
    for entry in _list(payload, "steps"):
        step: Mapping[str, Any] = entry if isinstance(entry, Mapping) else {}
        counts = by_step.setdefault(str(step.get("step") or "?"), _empty_counts())
        for target in (counts, totals):
            target["fetches"] += int(_number(step.get("fetches")))
            target["model_calls"] += int(_number(step.get("model_calls")))
            target["cost_usd"] = round(target["cost_usd"] + _number(step.get("cost_usd")), 6)
    reached: list[str] = []
    remaining: dict[str, Any] = {}
    for field in totals:
        limit = caps[f"max_{field}"]
        if limit is None:
            continue
        remaining[field] = round(max(0, limit - totals[field]), 6)
        if totals[field] >= limit:
            reached.append(f"max_{field}")
    return {
        "by_step": by_step,
        "totals": totals,
        "remaining": remaining,
        "exceeded": reached,
        "limits_reached": list(reached),
        "stop": bool(reached),
        "caps": caps,
    }


def _empty_counts() -> dict[str, Any]:
    return {"fetches": 0, "model_calls": 0, "cost_usd": 0.0}


def _charge(row: Mapping[str, Any]) -> int:
    """Fetches one ledger row counts for: attempts count, searches and free answers do not."""
    kind = str(row.get("kind") or "").strip().casefold()
    addressed = row.get("canonical_url") or row.get("url")
    if kind in _SEARCH_KINDS or (not kind and row.get("query") is not None and not addressed):
        return 0
    if "charge" in row:
        return int(_number(row["charge"]))
    return 0 if row.get("status") in _FREE_STATUS else 1


def count_attempts(ledger: str) -> int:
    """Fetch attempts in the text of a `fetch_ledger.jsonl` (T4, T19).

    Failed and repeated attempts count, searches do not. A last line without its line end is a torn
    write and is left out. Raises ToolInputError with the number of any other malformed line.
    """
    attempts = 0
    lines = ledger.split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeEncodeError) as exc:
            if number == len(lines) and line.lstrip().startswith("{"):
                break
            raise ToolInputError(
                f"fetch ledger line {number} is not valid JSON: {exc}.",
                hint="Repair or remove that line.",
            ) from exc
        if not isinstance(row, dict):
            raise ToolInputError(f"fetch ledger line {number} must be a JSON object.")
        attempts += _charge(row)
    return attempts


def account_ledger(plan_document: dict[str, Any], ledger: str) -> dict[str, Any]:
    """`account` from a saved plan and ledger (T4: `--plan caps_plan.json --fetch-ledger …`).

    `plan_document` is the parsed plan: the envelope `{ok, data}` that `caps --op plan --out` wrote,
    or its `data` alone. Raises ToolInputError when it holds no caps, or for a malformed line.
    """
    document = _payload(plan_document)
    data = document.get("data", document)
    caps = data.get("caps") if isinstance(data, Mapping) else None
    if not isinstance(caps, Mapping):
        raise ToolInputError(
            "caps plan data must contain a caps object.",
            hint="Give the file that `caps --op plan --out` wrote.",
        )
    steps = [{"step": "fetch_ledger", "fetches": count_attempts(ledger)}]
    return account({"caps": dict(caps), "steps": steps})
