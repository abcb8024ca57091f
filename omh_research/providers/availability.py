"""Can the web be used from here? (spec E36, E42)

Job: ask the configured search providers' front doors side by side, briefly. Refuses to search and
to guess: a host that answers anything is reachable. Importers: wiring, doctor, scripts/run.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from omh_research.errors import OmhError, TransportError
from omh_research.settings import Settings

if TYPE_CHECKING:
    from omh_research.transport import Transport

PROBE_TIMEOUT_S = 5.0
PROBE_BYTES = 2_000_000


def web_trouble(settings: Settings) -> str:
    """Return why the web cannot be used, or "" when at least one search provider answers."""
    if settings.offline:
        return "OMH_OFFLINE is set"
    answers = reach_all(settings)
    if any(not trouble for _, trouble in answers):
        return ""
    return "; ".join(f"{name}: {trouble}" for name, trouble in answers) or "no provider is set up"


def reach_all(settings: Settings) -> list[tuple[str, str]]:
    """Return each configured provider with "" when it answers, else the reason it does not."""
    from omh_research.providers.together import run_together
    from omh_research.providers.web.searching import configured_names
    from omh_research.transport import Transport

    names = configured_names(os.environ, Path(settings.root))
    transport = Transport()
    outcomes = run_together({name: _Probe(name, transport) for name in names})
    return [
        (name, outcome if isinstance(outcome, str) else str(outcome))
        for name, outcome in outcomes.items()
    ]


class _Probe:
    def __init__(self, name: str, transport: Transport) -> None:
        self._name, self._transport = name, transport

    def __call__(self) -> str:
        from omh_research.providers.endpoints import base_url

        try:
            url = base_url(self._name, os.environ)
            self._transport.get(url, timeout_s=PROBE_TIMEOUT_S, max_bytes=PROBE_BYTES)
        except TransportError as error:
            return "" if error.state == "too_large" else error.state
        except OmhError as error:
            return error.message
        return ""
