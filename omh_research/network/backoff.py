"""How long to wait before asking again.

Job: read `Retry-After`, choose the next wait, say when a wait is too long to be slept. Refuses to
sleep. Importers: transport, providers.
"""

from __future__ import annotations

import datetime

RETRIED_STATUSES = frozenset({429, 500, 502, 503, 504})
MAX_ATTEMPTS = 3
_FIRST_WAIT_S = 0.5
_LONGEST_RETRY_AFTER_S = 366 * 24 * 3600.0


def parse_retry_after(value: str, now: datetime.datetime) -> float | None:
    """Return the seconds a `Retry-After` header asks for (RFC 9110 10.2.3), None if unreadable.

    Never negative, at most a year; `now` is aware.
    """
    text = value.strip()
    if text.isascii() and text.replace(".", "", 1).isdigit() and len(text) <= 12:
        return min(float(text), _LONGEST_RETRY_AFTER_S)
    from email.utils import parsedate_to_datetime

    try:
        when = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=datetime.UTC)
    return min(max((when - now).total_seconds(), 0.0), _LONGEST_RETRY_AFTER_S)


def next_wait_s(attempt: int, asked_s: float | None, left_s: float) -> float | None:
    """Return how long to wait before attempt `attempt` + 1, None when not to try again.

    `attempt` counts from 1, `asked_s` is what the server asked for, `left_s` what is left of the
    caller's time. A wait that does not fit is never slept (spec T7b).
    """
    if attempt >= MAX_ATTEMPTS:
        return None
    own = _FIRST_WAIT_S * 2.0 ** (attempt - 1)
    wait = own if asked_s is None else max(asked_s, 0.05)
    # Leave time for the request itself: a wait that ends at the deadline buys nothing.
    return wait if wait < left_s * 0.8 else None
