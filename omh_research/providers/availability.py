"""Can the web be used here, before a run is started?

Job: say in one line what stands in the way (spec E36), and for `doctor` which providers can be
reached. Refuses to search or to read: it only opens a connection and closes it. Importers: wiring,
doctor.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from omh_research.errors import OmhError
from omh_research.providers.endpoints import base_url, host_list
from omh_research.providers.together import run_together

if TYPE_CHECKING:
    from collections.abc import Mapping

    from omh_research.settings import Settings
    from omh_research.transport import Transport

PROBE_TIMEOUT_S = 4.0
_PROBED_FIRST = 4


def web_trouble(settings: Settings) -> str:
    """Return why the web cannot be used, "" when at least one search provider can be reached."""
    if settings.offline:
        return "OMH_OFFLINE forbids the network"
    from omh_research.providers.web import LAST_RESORTS
    from omh_research.providers.web.searching import configured_names

    environ = _environ(settings)
    names = [*configured_names(environ), *LAST_RESORTS][:_PROBED_FIRST]
    troubles = _reach(names, environ)
    if any(not trouble for _, trouble in troubles):
        return ""
    return "no search provider can be reached: " + "; ".join(
        f"{name}: {trouble}" for name, trouble in troubles
    )


def reach_all(settings: Settings) -> list[tuple[str, str]]:
    """Return (provider, trouble) for every provider that is set up; trouble "" when it answers."""
    if settings.offline:
        return [("web", "OMH_OFFLINE forbids the network")]
    from omh_research.providers.web import LAST_RESORTS
    from omh_research.providers.web.searching import configured_names

    environ = _environ(settings)
    names = [*configured_names(environ), *LAST_RESORTS, "datacite"]
    return _reach(names, environ)


def _environ(settings: Settings) -> Mapping[str, str]:
    from omh_research.providers.web import web_environ

    return web_environ(settings)


def _reach(names: list[str], environ: Mapping[str, str]) -> list[tuple[str, str]]:
    from omh_research.transport import Transport

    transport = Transport(environ=environ)
    jobs: dict[str, Callable[[], str]] = {
        name: partial(_trouble, name, transport, environ) for name in names
    }
    found = []
    for name, outcome in run_together(jobs).items():
        if isinstance(outcome, Exception):
            raise outcome
        found.append((name, outcome))
    return found


def _trouble(name: str, transport: Transport, environ: Mapping[str, str]) -> str:
    try:
        base = base_url(name, environ)
        transport.probe(base, timeout_s=PROBE_TIMEOUT_S, allowed_hosts=host_list(base))
    except OmhError as error:
        return error.message
    return ""
