"""A polite rate per host, shared by all processes of one user.

Job: hand out the moment at which the next request to a host may start. Refuses to sleep for
longer than the caller has. Importers: transport.

Each request takes the next free slot: slots of one host lie `interval_s` apart (spec T7b, D7).
The slot is written to the user's state folder under a lock, so two processes share one rate.
Wall-clock time is used because processes share no other; a slot absurdly far ahead (the clock was
set back) is ignored.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping

from omh_research.network.state_folder import held, read_fact, state_file, write_fact

DEFAULT_INTERVAL_S = 0.5
"""Seconds between two requests to a host that has no rule of its own."""

INTERVALS_S: Mapping[str, float] = {
    "export.arxiv.org": 3.0,  # arXiv API manual: one request every three seconds
    "api.semanticscholar.org": 1.0,  # one request a second
    "eutils.ncbi.nlm.nih.gov": 0.34,  # three requests a second without a key
    "api.crossref.org": 0.2,
    "api.openalex.org": 0.1,
    "api.datacite.org": 0.2,
    "api.search.brave.com": 1.0,
    "html.duckduckgo.com": 2.0,
}
_FURTHEST_SLOTS = 240


class Pace:
    """Slots per host. Safe to use from several threads."""

    def __init__(self, intervals_s: Mapping[str, float], default_s: float) -> None:
        self._intervals_s = intervals_s
        self._default_s = default_s
        self._own: dict[str, float] = {}
        self._guard = threading.Lock()

    def interval_s(self, host: str) -> float:
        """Return the seconds between two requests to `host`."""
        return self._intervals_s.get(host, self._default_s)

    def take_slot(self, host: str, longest_s: float) -> float | None:
        """Reserve the next slot of `host`; return the seconds until it starts.

        None when it starts later than `longest_s` from now; then nothing is reserved.
        """
        interval = self.interval_s(host)
        if interval <= 0:
            return 0.0
        path = state_file("pace", host)
        with self._guard, held(path) as shared:
            now = time.time()
            free = read_fact(path).get("next", 0.0) if shared else 0.0
            free = max(free if isinstance(free, int | float) else 0.0, self._own.get(host, 0.0))
            if free > now + _FURTHEST_SLOTS * interval:
                free = now
            start = max(now, free)
            if start - now > longest_s:
                return None
            self._own[host] = start + interval
            if shared:
                write_fact(path, {"host": host, "next": start + interval})
        return start - now
