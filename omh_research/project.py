"""One project root, opened: settings, paths, reader, writer, clock, random numbers.

Job: the value every verb starts from; clock and ids are handed in here and nowhere else, so a run
can be repeated from its seed. Refuses to do anything by itself. Importers: engine, api, wiring.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from omh_research import __version__
from omh_research.settings import Settings
from omh_research.store.layout import Layout
from omh_research.store.reader import Reader

if TYPE_CHECKING:
    from omh_research.store.writer import Writer


def utc_now() -> datetime:
    """Return the time now, aware, in UTC."""
    return datetime.now(UTC)


def random_hex(digits: int) -> str:
    """Return so many random lower-case hex digits."""
    import secrets

    return secrets.token_hex((digits + 1) // 2)[:digits]


class Project:
    """A root with everything that reads and writes it. Opening it touches no file."""

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Callable[[], datetime] = utc_now,
        rand: Callable[[int], str] = random_hex,
    ) -> None:
        self.settings = settings
        self.clock, self.rand = clock, rand
        self.layout = Layout(settings.root)
        self.reader = Reader(self.layout)

    @cached_property
    def writer(self) -> Writer:
        """The only writer of this root; reading commands never import it."""
        from omh_research.store.writer import Writer

        return Writer(self.layout, self.reader, self.now, __version__)

    def now(self) -> str:
        """Return the time as ISO-8601 UTC with Z and whole seconds."""
        return self.clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def today(self) -> str:
        """Return the date as YYYYMMDD, UTC."""
        return self.clock().astimezone(UTC).strftime("%Y%m%d")

    def new_session_id(self) -> str:
        """Return a uuid4."""
        digits = self.rand(32)
        variant = "89ab"[int(digits[16], 16) % 4]
        return (
            f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:]}"
        )
