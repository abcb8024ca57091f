"""What all topics of a batch together may still spend (spec S3, O5).

Job: keep the sums as units come back, and say before each unit whether it may go. What a unit will
cost is not known before it: it is taken to cost the most that a unit of its phase has cost so far;
the first of a phase goes alone. Refuses to look at a run. Importers: batch.runner.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from omh_research.batch.record import Entry
from omh_research.batch.unit import Done

Answer = Literal["go", "wait", "stop"]


class BatchRules(Struct, frozen=True):
    """`max_cost_usd` and `max_model_calls` hold for all topics together (None, 0: no limit)."""

    max_cost_usd: float | None = None
    max_model_calls: int = 0
    if_confirmed: str = "view"


class Allowance:
    """The budget of one batch. Sums are kept, never counted again: no unit costs a look at all."""

    def __init__(self, rules: BatchRules, entries: list[Entry]) -> None:
        self._rules = rules
        self.calls = sum(entry.model_calls for entry in entries)
        self.cost = sum(entry.cost_usd or 0.0 for entry in entries)
        self._flying: dict[str, str] = {}
        self._seen: dict[str, tuple[int, float]] = {}

    @property
    def _is_limited(self) -> bool:
        return self._rules.max_cost_usd is not None or self._rules.max_model_calls > 0

    def ask(self, phase: str) -> Answer:
        """Say whether a unit of this phase may go now, must wait for others, or may not go."""
        if not self._is_limited:
            return "go"
        if self._crossed(self.calls, self.cost):
            return "stop"
        phases = list(self._flying.values())
        if phase not in self._seen:
            return "wait" if phase in phases else "go"
        expected = [self._seen.get(name, (0, 0.0)) for name in (*phases, phase)]
        if self._seen[phase] == (0, 0.0):
            return "go"
        calls = self.calls + sum(each[0] for each in expected)
        cost = self.cost + sum(each[1] for each in expected)
        if not self._exceeds(calls, cost):
            return "go"
        return "wait" if phases else "stop"

    def _crossed(self, calls: int, cost: float) -> bool:
        most, dearest = self._rules.max_model_calls, self._rules.max_cost_usd
        return bool(most and calls >= most) or (dearest is not None and cost >= dearest)

    def _exceeds(self, calls: int, cost: float) -> bool:
        most, dearest = self._rules.max_model_calls, self._rules.max_cost_usd
        return bool(most and calls > most) or (dearest is not None and cost > dearest + 1e-9)

    def reason(self) -> str:
        """Return why new work was stopped, in a sentence."""
        dearest, most = self._rules.max_cost_usd, self._rules.max_model_calls
        costly = dearest is not None and self.cost >= dearest
        if most and not costly and (dearest is None or self.calls >= most):
            return f"the batch's cap of {most} model calls is reached ({self.calls} made)."
        return f"the batch's cost cap of ${dearest or 0:g} is reached (${self.cost:.4f} spent)."

    def begin(self, slug: str, phase: str) -> None:
        """Note that a unit is under way."""
        self._flying[slug] = phase

    def end(self, entry: Entry, done: Done) -> None:
        """Take a unit's cost into the sums and into its entry."""
        phase = self._flying.pop(done.slug, "")
        calls = max(0, done.model_calls - entry.model_calls)
        cost = 0.0
        if done.cost_usd is None or entry.cost_usd is None:
            entry.cost_usd = None
        else:
            cost = max(0.0, done.cost_usd - entry.cost_usd)
            entry.cost_usd += cost
        entry.model_calls += calls
        self.calls += calls
        self.cost += cost
        if done.status not in ("busy", "lost", "failed"):
            most = self._seen.get(phase, (0, 0.0))
            self._seen[phase] = (max(most[0], calls), max(most[1], cost))
