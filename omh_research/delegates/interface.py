"""The delegate seam: who thinks.

Job: the protocol every delegate satisfies and the protocols of what it is handed. Refuses to
name a concrete delegate. Importers: phases, delegates, wiring.

A delegate is given tasks and returns texts. It never touches `.omh/`: everything it searches or
reads goes through the `Library` it is handed, which enforces the caps, records every hit list
and page as it arrives, and answers a repeated request from the record (what is recorded is not
asked for again; what was in flight at a crash is).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from omh_research.documents.source import Hit, Page
from omh_research.documents.task import Reply, Task


class Library(Protocol):
    """Where a researcher finds text: a corpus, the web or a bundle, behind caps and recorder.

    One Library serves one task. `search` and `read` raise `omh_research.errors.ProviderError`
    when the answer is unknown (down, throttled, refused); an empty list means a real "nothing
    found". A read past the budget returns a Page with state "refused" and says so in `detail`.
    """

    def search(self, query: str, *, limit: int = 10) -> list[Hit]:
        """Return at most `limit` hits, best first."""
        ...

    def read(self, url: str) -> Page:
        """Return the page or document at `url` (as given by a hit, or any URL)."""
        ...

    def remaining_fetches(self) -> int:
        """Return how many more reads this task may make."""
        ...


class Delegate(Protocol):
    """Answers tasks. Stateless between calls; safe to call from several threads at once.

    Three more facts may be stated as class attributes: `keeps_ledger` (True: every text it reads
    comes through its Library, so nothing merely declared may be cited; default False),
    `side_by_side` (how many tasks of a batch to run at once; default 3) and `can_judge` (False: it
    has no vote to give on a claim; default True).
    """

    name: str
    needs_library: bool
    can_scope_tools: bool

    def answer(self, task: Task, library: Library | None, should_stop: Callable[[], bool]) -> Reply:
        """Return the reply to one task.

        `should_stop` turns true when the run is cancelled or the deadline has passed: a long
        answer looks at it and returns early. Raises `DelegateError` (or returns a failed Reply)
        when no answer can be had; anything else it raises is treated the same way by the caller.
        """
        ...
