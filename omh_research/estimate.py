"""What a run will cost, before it starts: a low-high range of everything (spec O5, P8).

Job: count tasks, calls, fetches, votes and tokens from the options and the machine's own limits;
price them where the model's price is known. Refuses to guess a price: unknown is said. Importers:
cli, mcp server.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from omh_research.budget import UNCOUNTED
from omh_research.documents.options import RunOptions
from omh_research.machine import MAX_SYNTHESIS_FAILURES
from omh_research.phases.contract import MAX_FAILURES
from omh_research.phases.granting import overrides
from omh_research.tools import caps
from omh_research.tools.claims import MAX_CLAIMS

CALLS_PER_RESEARCHER = (1, 12)
TOKENS_PER_CALL = (400, 14_000)
OUTPUT_PER_CALL = (50, 2_500)
VERDICT_ASKS = 3
UNDECIDED = 3


class Range(Struct, frozen=True):
    """Least and most; `most` is what the hard limits allow, not what is likely."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}" if self.low != self.high else f"{self.low:g}"


class Estimate(Struct, frozen=True, kw_only=True):
    """The ranges of one run; `cost_usd` is None when a price is unknown, dated `priced_as_of`."""

    tasks: Range
    model_calls: Range
    fetches: Range
    votes: Range
    tokens: Range
    cost_usd: Range | None
    priced_as_of: str = ""


def estimate(options: RunOptions, delegate: str) -> Estimate:
    """Return the ranges for a run with these options."""
    lowest = len(options.subtopics) or 3
    highest = len(options.subtopics) or (3 if options.rounds > 1 else 5)
    per_round = highest + 1 if options.rounds > 1 else 0
    researchers = Range(lowest, (highest + per_round * (options.rounds - 1)) * MAX_FAILURES)
    planner = Range(0, 0) if options.subtopics or options.landscape else Range(1, MAX_FAILURES)
    drafts = MAX_SYNTHESIS_FAILURES + 1
    votes = Range(0, options.panel * MAX_CLAIMS * UNDECIDED * drafts)
    tasks = Range(
        planner.low + researchers.low + 1,
        planner.high
        + researchers.high
        + MAX_FAILURES
        + drafts * MAX_FAILURES
        + drafts * VERDICT_ASKS
        + votes.high,
    )
    limits = caps.effective_caps(dict(overrides(options)))
    calls = Range(0, 0)
    if delegate not in UNCOUNTED:
        own = researchers.high * (CALLS_PER_RESEARCHER[1] - 1) if delegate == "llm" else 0
        most = tasks.high + own
        calls = Range(min(tasks.low, limits["max_model_calls"]),
                      min(most, limits["max_model_calls"]))  # fmt: skip
    fetches = Range(0, limits["max_fetches"])
    told = calls.low if delegate == "llm" else 0  # other programs may not say what they used
    tokens = Range(
        told * (TOKENS_PER_CALL[0] + OUTPUT_PER_CALL[0]),
        calls.high * (TOKENS_PER_CALL[1] + OUTPUT_PER_CALL[1]),
    )
    cost, as_of = _cost(options, calls, limits)
    if delegate not in ("llm", "command"):
        cost, as_of = Range(0, 0), ""
    return Estimate(
        tasks=tasks,
        model_calls=calls,
        fetches=fetches,
        votes=votes,
        tokens=tokens,
        cost_usd=cost if delegate != "command" else None,
        priced_as_of=as_of,
    )


def _cost(options: RunOptions, calls: Range, limits: dict[str, Any]) -> tuple[Range | None, str]:
    """Price the calls by the dated table; a cost cap lowers the most that can be spent."""
    import os

    from omh_research.llm.prices import PRICES_VARIABLE, load_prices

    model = str(options.delegate_options.get("model", ""))
    table = load_prices(os.environ.get(PRICES_VARIABLE, ""))
    low = table.cost(
        model, int(calls.low) * TOKENS_PER_CALL[0], int(calls.low) * OUTPUT_PER_CALL[0]
    )
    high = table.cost(
        model, int(calls.high) * TOKENS_PER_CALL[1], int(calls.high) * OUTPUT_PER_CALL[1]
    )
    if low is None or high is None:
        return None, table.as_of
    cap = limits.get("max_cost_usd")
    if cap is not None:
        low, high = min(low, cap), min(high, cap)
    return Range(round(low, 4), round(high, 4)), table.as_of


def render_estimate(found: Estimate) -> str:
    """Return the estimate as one line."""
    cost = "unknown" if found.cost_usd is None else f"${found.cost_usd}"
    dated = f" (prices of {found.priced_as_of})" if found.priced_as_of and found.cost_usd else ""
    parts = [
        f"tasks {found.tasks}",
        f"model calls {found.model_calls}",
        f"fetches {found.fetches}",
        f"votes {found.votes}",
        f"tokens {found.tokens}",
        f"cost {cost}{dated}",
    ]
    return ", ".join(parts)
