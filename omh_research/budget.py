"""Hard caps of a run: would so many further calls cross one? (spec T2, O5)

Job: compare what the committed replies cost with the caps of `caps_plan.json` and the options.
Fetches are the library's own cap and refuse single reads. Refuses to estimate. Importers: wiring.
"""

from __future__ import annotations

from datetime import UTC, datetime

from omh_research.documents.snapshot import Snapshot

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
    if options.max_wall_s and _elapsed_s(state.started_at, now) >= options.max_wall_s:
        return f"the time cap of {options.max_wall_s:g} s is reached."
    return ""


def _is_over(used: float, share: float, cap: float) -> bool:
    return used >= cap or used * (1 + share) > cap


def _elapsed_s(started_at: str, now: datetime) -> float:
    try:
        started = datetime.fromisoformat(started_at.replace("Z", "+00:00"))
    except ValueError:
        return 0.0
    return (now.astimezone(UTC) - started).total_seconds()
