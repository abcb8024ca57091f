"""Hard caps of a run: would so many further calls cross one? (spec T2, O5)

Job: compare what the committed replies cost with the caps of `caps_plan.json` and the options.
Fetches are the library's own cap and refuse single reads. Refuses to estimate. Importers: wiring.
"""

from __future__ import annotations

from datetime import UTC, datetime

from omh_research.documents.snapshot import Snapshot

MODEL_DELEGATES = ("llm",)


def crossed_cap(snapshot: Snapshot, calls: int, now: datetime) -> str:
    """Return which cap `calls` further calls would cross, in a sentence, or ""."""
    state, options = snapshot.state, snapshot.options
    caps = (snapshot.caps_plan or {}).get("caps") or {}
    spent = state.spent
    model_calls = caps.get("max_model_calls")
    if state.delegate in MODEL_DELEGATES and model_calls is not None:
        wanted = spent.model_calls + calls
        if wanted > model_calls:
            return f"the cap of {model_calls:g} model calls is reached ({spent.model_calls} made)."
    cost = caps.get("max_cost_usd")
    if cost is not None and spent.cost_usd is not None and spent.cost_usd >= cost:
        return f"the cost cap of ${cost:g} is reached (${spent.cost_usd:.4f} spent)."
    tokens = spent.input_tokens + spent.output_tokens
    if options.max_tokens and tokens >= options.max_tokens:
        return f"the cap of {options.max_tokens} tokens is reached ({tokens} used)."
    if options.max_wall_s and _elapsed_s(state.started_at, now) >= options.max_wall_s:
        return f"the time cap of {options.max_wall_s:g} s is reached."
    return ""


def _elapsed_s(started_at: str, now: datetime) -> float:
    try:
        started = datetime.fromisoformat(started_at.replace("Z", "+00:00"))
    except ValueError:
        return 0.0
    return (now.astimezone(UTC) - started).total_seconds()
