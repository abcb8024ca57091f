"""What a run may use: its caps, before and after there is a caps plan.

Job: the overrides of a run's options, and the caps plan it has. Refuses to count what was used.
Importers: phases, wiring, start, estimate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from omh_research.documents.options import RunOptions
    from omh_research.documents.snapshot import Snapshot

PANEL_FETCHES = 10


def overrides(run_options: RunOptions) -> dict[str, float]:
    """Return the run's cap overrides; a panel lowers the fetches and makes room for its votes (P8).

    What the run was given wins over both.
    """
    if not run_options.panel:
        return run_options.caps
    from omh_research.tools import caps
    from omh_research.tools.claims import MAX_CLAIMS

    calls = caps.DEFAULT_CAPS["max_model_calls"] + run_options.panel * MAX_CLAIMS
    room = min(calls, caps.ABSOLUTE_CAPS["max_model_calls"])
    return {"max_fetches": PANEL_FETCHES, "max_model_calls": room, **run_options.caps}


def granted_caps(snapshot: Snapshot) -> dict[str, Any]:
    """Return the run's caps plan; before there is one, what the run was given grants the planner.

    The planner is one subquestion (spec T5).
    """
    if snapshot.caps_plan is not None:
        return snapshot.caps_plan
    from omh_research.tools import caps

    lowered = overrides(snapshot.options)
    return caps.plan({"subquestions": [snapshot.state.topic], "depth": 0, "caps": lowered})
