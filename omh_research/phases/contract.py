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
from omh_research.documents.task import Reply, Task
from omh_research.outcome import Outcome

MAX_FAILURES = 3
SEARCH_TOOLS = ("web_search", "web_extract")


class Services(Struct, frozen=True, kw_only=True):
    """What a phase may ask for.

    `ask` answers tasks in order (from the record where they were answered before), or raises
    `AwaitingHost`, `CancelSeen` or `CapReached`; `stored` looks one reply up. `held` returns the
    fetched texts by canonical URL, `leads` the URLs that searches found. `keeps_ledger` tells
    whether every fetch of this delegate went through our recorder. `plan_without_model` and
    `report_without_model` answer a planner's and a synthesist's task without any model.
    """

    ask: Callable[[Sequence[Task]], tuple[Reply, ...]]
    stored: Callable[[Task], Reply | None]
    held: Callable[[], Mapping[str, HeldText]]
    leads: Callable[[], frozenset[str]]
    plan_without_model: Callable[[Task], Reply]
    report_without_model: Callable[[Task], Reply]
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


class CapReached(Exception):
    """Flow signal: the next call would cross a hard cap; it was not made (spec O5)."""


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
