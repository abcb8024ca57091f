"""What a phase is and what it may use.

Job: the Phase protocol, the Services a phase is handed, the words of its tasks. Refuses to name a
delegate, a provider or a path: phases return data, the store writes. Importers: phases, engine,
wiring.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from omh_research.documents.snapshot import Snapshot
from omh_research.documents.source import HeldText
from omh_research.documents.state import Spent
from omh_research.documents.task import Reply, Task
from omh_research.outcome import Outcome

MAX_FAILURES = 3
SEARCH_TOOLS = ("web_search", "web_extract")


class Services(Struct, frozen=True, kw_only=True):
    """What a phase may ask for.

    `ask` answers tasks in order (from the record where they were answered before), or raises
    `AwaitingHost` / `Cancelled`. `held` returns the fetched texts by canonical URL, `leads` the
    URLs that searches found. `keeps_ledger` tells whether every fetch of this delegate went
    through our recorder. `plan_without_model` answers a planner task without any model.
    """

    ask: Callable[[Sequence[Task]], tuple[Reply, ...]]
    held: Callable[[], Mapping[str, HeldText]]
    leads: Callable[[], frozenset[str]]
    plan_without_model: Callable[[Task], Reply]
    keeps_ledger: bool
    require_quotes: bool
    can_scope_tools: bool
    research_tools: tuple[str, ...] = SEARCH_TOOLS


class AwaitingHost(Exception):
    """Flow signal: these tasks wait for the host's answers; nothing was changed."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        super().__init__(f"{len(tasks)} tasks wait for the host")
        self.tasks = tuple(tasks)


class CancelSeen(Exception):
    """Flow signal: a cancel was asked for while a delegate was at work."""


class Phase(Protocol):
    """One phase: reads a Snapshot, asks Services, returns an Outcome; changes nothing."""

    def __call__(self, snapshot: Snapshot, services: Services) -> Outcome:
        """Return what to make true."""
        ...


def language_of(snapshot: Snapshot) -> str:
    """Return the report's language: the option, else the plan's, else the topic's (spec O7)."""
    if snapshot.options.language:
        return snapshot.options.language
    if snapshot.plan is not None and snapshot.plan.language:
        return snapshot.plan.language
    from omh_research.tools.tokens import detect_language

    return detect_language(snapshot.state.topic)


def add_spent(spent: Spent, replies: Sequence[Reply]) -> Spent:
    """Return `spent` with the usage of `replies`; one unknown price makes the sum unknown."""
    cost = spent.cost_usd
    for reply in replies:
        if reply.usage.cost_usd is None and reply.usage.model_calls:
            cost = None
        elif cost is not None:
            cost += reply.usage.cost_usd or 0.0
    return Spent(
        model_calls=spent.model_calls + sum(reply.usage.model_calls for reply in replies),
        fetches=spent.fetches + sum(reply.usage.fetches for reply in replies),
        input_tokens=spent.input_tokens + sum(reply.usage.input_tokens for reply in replies),
        output_tokens=spent.output_tokens + sum(reply.usage.output_tokens for reply in replies),
        cost_usd=cost,
        tasks=spent.tasks + len(replies),
    )
