"""Hard caps of a run: would so many further calls cross one? (spec T2, O5)

Job: compare what the committed replies cost with the caps of `caps_plan.json` and the options.
Fetches are the library's own cap and refuse single reads. Refuses to estimate. Importers: wiring.
"""

from __future__ import annotations

from datetime import UTC, datetime

from omh_research.documents.snapshot import Snapshot
from omh_research.documents.state import State
from omh_research.documents.task import Allowance

# Draft and verdict: what the researchers leave for.
LATER_TASKS = 2
UNCOUNTED = ("host", "extractive")  # the one pays its own calls, the other makes none


def crossed_cap(snapshot: Snapshot, calls: int, now: datetime) -> str:
    """Return which cap `calls` further calls would cross, in a sentence, or "".

    What a call will cost is not known before it: it is taken to cost what the earlier ones did.
    """
    state, options = snapshot.state, snapshot.options
    caps = (snapshot.caps_plan or {}).get("caps") or {}
    spent = state.spent
    model_calls = caps.get("max_model_calls")
    if state.delegate not in UNCOUNTED and model_calls is not None:
        wanted = spent.model_calls + calls
        if wanted > model_calls:
            return f"the cap of {model_calls:g} model calls is reached ({spent.model_calls} made)."
    cost = caps.get("max_cost_usd")
    share = calls / spent.model_calls if spent.model_calls else 0.0
    if cost is not None and spent.cost_usd is not None and _is_over(spent.cost_usd, share, cost):
        return f"the cost cap of ${cost:g} is reached (${spent.cost_usd:.4f} spent)."
    tokens = spent.input_tokens + spent.output_tokens
    if options.max_tokens and _is_over(tokens, share, options.max_tokens):
        return f"the cap of {options.max_tokens} tokens is reached ({tokens} used)."
    if options.max_wall_s and elapsed_s(clock_start(state), now) >= options.max_wall_s:
        return time_cap(options.max_wall_s)
    return ""


def time_cap(max_wall_s: float) -> str:
    """Return the sentence that says that the run's time is over."""
    return f"the time cap of {max_wall_s:g} s is reached."


def allowance(snapshot: Snapshot, open_tasks: int) -> Allowance:
    """Return what each of `open_tasks` may spend: its share of what the caps leave.

    Researchers share with the subtopics after theirs and leave room for draft and verdict.
    """
    state, options = snapshot.state, snapshot.options
    caps = (snapshot.caps_plan or {}).get("caps") or {}
    spent, later = state.spent, 0
    if state.phase in ("search", "gap_check"):
        later = LATER_TASKS
    if state.phase == "search" and snapshot.plan is not None:
        left = len(snapshot.plan.subtopics) - len(state.completed_subtopics)
        open_tasks = max(open_tasks, left)
    calls = caps.get("max_model_calls")
    if calls is not None:
        calls = max(1, (int(calls) - spent.model_calls - later) // open_tasks)
    tokens = options.max_tokens or None
    if tokens is not None:
        used = spent.input_tokens + spent.output_tokens
        tokens = max(0, tokens - used) // (open_tasks + later)
    cost = caps.get("max_cost_usd")
    if cost is not None:
        known = spent.cost_usd if spent.cost_usd is not None else 0.0
        cost = max(0.0, cost - known) / (open_tasks + later)
    return Allowance(calls, tokens, cost)


def _is_over(used: float, share: float, cap: float) -> bool:
    return used >= cap or used * (1 + share) > cap


def clock_start(state: State) -> str:
    """Return when the time cap began to count: at the last retry, else at the start (O5)."""
    return state.clock_from or state.started_at


def elapsed_s(started_at: str, now: datetime) -> float:
    """Return the seconds since an ISO-8601 time; 0 for what is no time."""
    try:
        started = datetime.fromisoformat(started_at.replace("Z", "+00:00"))
    except ValueError:
        return 0.0
    return (now.astimezone(UTC) - started).total_seconds()
