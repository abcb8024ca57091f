"""robots.txt: may this page be read by us?

Job: parse the file (RFC 9309: groups, longest match, `*` and `$`) and remember it per host for one
process. Refuses to read a page whose host's file cannot be had because of a server fault.
Importers: providers.web.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from msgspec import Struct

from omh_research.errors import TransportError
from omh_research.providers.web.page_state import state_of_status

if TYPE_CHECKING:
    from omh_research.transport import Transport

AGENT = "omh-research"
MAX_BYTES = 1_000_000
MAX_RULES = 5_000
_TIME_SHARE = 0.4
_SAFE = "/?&=%*$@:!,;+'()~"


class Rule(Struct, frozen=True):
    """One line: `path` is a pattern with `*` and a final `$`."""

    allow: bool
    path: str


class Robots(Struct, frozen=True):
    """The rules for one agent.

    `unavailable` says why there are none and nothing may be read, `state` which page state that is
    (the host is at fault, so it is not `robots`).
    """

    rules: tuple[Rule, ...] = ()
    unavailable: str = ""
    state: str = "robots"

    def allows(self, url: str) -> bool:
        """Return whether `url` may be read: the longest matching rule decides, allow on a tie."""
        if self.unavailable:
            return False
        parts = urlsplit(url)
        path = _normal(parts.path or "/") + (f"?{_normal(parts.query)}" if parts.query else "")
        best = Rule(True, "")
        for rule in self.rules:
            longer = len(rule.path) > len(best.path)
            tie = len(rule.path) == len(best.path) and rule.allow
            if (longer or tie) and matches(rule.path, path):
                best = rule
        return best.allow


def _normal(text: str) -> str:
    return quote(unquote(text), safe=_SAFE)


def matches(pattern: str, path: str) -> bool:
    """Return whether `path` starts as `pattern` says; linear in both, no regular expression."""
    anchored = pattern.endswith("$")
    parts = (pattern[:-1] if anchored else pattern).split("*")
    if not path.startswith(parts[0]):
        return False
    place = len(parts[0])
    if len(parts) == 1:
        return not anchored or place == len(path)
    for part in parts[1:-1]:
        found = path.find(part, place)
        if found < 0:
            return False
        place = found + len(part)
    last = parts[-1]
    if anchored:
        return path.endswith(last) and len(path) - len(last) >= place
    return path.find(last, place) >= 0


def parse_robots(text: str, agent: str = AGENT) -> Robots:
    """Return the rules for `agent`: its own groups where it is named, else those of `*`."""
    own: list[Rule] = []
    others: list[Rule] = []
    named = False
    targets: list[list[Rule]] = []
    in_agents = False
    for line in text.lstrip("\ufeff").splitlines():
        field, colon, value = line.partition("#")[0].partition(":")
        field, value = field.strip().lower(), value.strip()
        if not colon:
            continue
        if field == "user-agent":
            if not in_agents:
                targets = []
            in_agents = True
            token = value.lower()
            if token == "*":
                targets.append(others)
            elif token and agent.startswith(token.partition("/")[0].strip()):
                named = True
                targets.append(own)
        elif field in ("allow", "disallow"):
            in_agents = False
            if value and len(own) + len(others) < MAX_RULES:
                rule = Rule(field == "allow", _normal(value))
                for rules in targets:
                    rules.append(rule)
    return Robots(tuple(own if named else others))


class RobotsGate:
    """Asks each host for its file once per process. Safe to use from several threads."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._known: dict[str, Robots] = {}
        self._guard = threading.Lock()

    def allows(self, url: str, timeout_s: float) -> Robots:
        """Return the rules that hold for `url`'s host."""
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        with self._guard:
            known = self._known.get(origin)
        if known is None:
            known = self._fetch(f"{origin}/robots.txt", timeout_s * _TIME_SHARE)
            with self._guard:
                self._known[origin] = known
        return known

    def _fetch(self, url: str, timeout_s: float) -> Robots:
        """Return the file's rules. No file (4xx) allows all; a fault (5xx, time) forbids all.

        An address that the door refuses settles nothing here: the page's own request says why.
        """
        try:
            response = self._transport.get(
                url, timeout_s=timeout_s, max_bytes=MAX_BYTES, accept="text/plain, */*"
            )
        except TransportError as error:
            if error.state in ("refused", "offline", "too_large"):
                return Robots()
            why = f"not asked for, because its robots.txt could not be read: {error.message}"
            return Robots(unavailable=why, state=error.state)
        if response.status >= 500 or response.status == 429:
            why = f"not asked for, because its robots.txt answered HTTP {response.status}"
            markup = response.body[:100_000].decode("utf-8", errors="replace")
            settled = state_of_status(response.status, response.headers, markup)
            return Robots(unavailable=why, state=settled.state if settled else "error")
        is_page = "html" in response.content_type
        if response.status != 200 or is_page:
            return Robots()
        return parse_robots(response.body.decode("utf-8", errors="replace"))
