"""Providers that told us to stay away, remembered across processes.

Job: mark a provider `exhausted_until`, ask for the mark, forget it when over. Refuses to wait.
Keyed by base URL and kept in the user's state folder (spec T7b). Importers: providers.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable

from omh_research.network.state_folder import read_fact, state_file, write_fact

_FOLDER = "exhausted"
_LONGEST = datetime.timedelta(days=31)

Clock = Callable[[], datetime.datetime]


def utc_now() -> datetime.datetime:
    """Return the current time, aware, in UTC."""
    return datetime.datetime.now(datetime.UTC)


def mark_exhausted(base_url: str, wait_s: float, reason: str, *, clock: Clock = utc_now) -> str:
    """Remember that `base_url` must not be asked for `wait_s` seconds; return until when (ISO).

    At most 31 days: a provider that asks for more is asked again then.
    """
    wait = min(datetime.timedelta(seconds=wait_s), _LONGEST)
    until = (clock() + wait).replace(microsecond=0).isoformat().replace("+00:00", "Z")
    fact = {"base_url": base_url, "until": until, "reason": reason[:200]}
    write_fact(state_file(_FOLDER, base_url), fact)
    return until


def exhausted_until(base_url: str, *, clock: Clock = utc_now) -> str | None:
    """Return the ISO time until which `base_url` must not be asked, None when it may be."""
    until = read_fact(state_file(_FOLDER, base_url)).get("until")
    if not isinstance(until, str):
        return None
    try:
        moment = datetime.datetime.fromisoformat(until)
    except ValueError:
        return None
    now = clock()
    if moment.tzinfo is None or moment <= now or moment > now + _LONGEST:
        return None
    return until
