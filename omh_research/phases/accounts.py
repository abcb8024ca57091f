"""Keeping account of replies: what they cost, and how many failed in a row (spec O5).

Job: the breaker's changes that a batch of replies makes to a State; what stored replies cost.
Refuses to stop a run: the engine does that. Importers: phases, engine, host_protocol, wiring.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from omh_research.documents.state import Spent, State
from omh_research.documents.task import Reply
from omh_research.lazy_re import lazy_re

BREAKER_AFTER = 3
_ATTEMPT = lazy_re(r"^(search|gap-check|decompose)-\d+|^(synthesize|verify)-\d+-\d+")


def accounted(
    state: State, replies: Sequence[Reply], usable: Sequence[bool] | None = None
) -> dict[str, Any]:
    """Return the breaker's fields after `replies` (what they cost is counted by `spent_on`).

    `usable` says of each reply whether its text could be used; without it every answered one was.
    The breaker opens after three failed calls with no success between, over more than one task:
    the three tries of a single task are handled by its phase.
    """
    judged = [reply.status == "answered" for reply in replies] if usable is None else usable
    count, tasks = state.failed_calls, list(state.failed_tasks)
    for reply, is_good in zip(replies, judged, strict=True):
        if is_good:
            count, tasks = 0, []
        else:
            count += 1
            tasks.append(_ATTEMPT.sub(r"\1\2", reply.task_id))
    is_open = count >= BREAKER_AFTER and len(set(tasks)) > 1
    return {
        "failed_calls": count,
        "failed_tasks": tuple(dict.fromkeys(tasks)),
        "breaker_open": state.breaker_open or is_open,
    }


def spent_on(replies: Sequence[Reply]) -> Spent:
    """Return what these replies cost; one unknown price makes the sum unknown.

    Given every stored reply of a run it is right after any crash, cap and retry: a reply that was
    found again is not counted again, and one paid for in a lap that was stopped is counted.
    """
    cost: float | None = 0.0
    for reply in replies:
        if reply.usage.cost_usd is None and reply.usage.model_calls:
            cost = None
        elif cost is not None:
            cost += reply.usage.cost_usd or 0.0
    return Spent(
        model_calls=sum(reply.usage.model_calls for reply in replies),
        fetches=sum(reply.usage.fetches for reply in replies),
        input_tokens=sum(reply.usage.input_tokens for reply in replies),
        output_tokens=sum(reply.usage.output_tokens for reply in replies),
        cost_usd=cost,
        tasks=len(replies),
    )
