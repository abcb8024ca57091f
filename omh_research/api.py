"""The Python API: `from omh_research import Engine` (spec D11).

Job: one class whose methods are the commands; the command line is a thin layer over it. Refuses
to print and to exit. Importers: users, cli, mcp server, batch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from omh_research.documents.names import check_slug
from omh_research.documents.options import RunOptions
from omh_research.errors import UsageError
from omh_research.project import Project, random_hex, utc_now
from omh_research.settings import Settings, load_settings

if TYPE_CHECKING:  # each command imports what it does
    from datetime import datetime

    from omh_research.engine import StepReport
    from omh_research.host_protocol import HostSource, SubmitReport
    from omh_research.start import StartReport
    from omh_research.status import RunStatus

END_STATUSES = ("confirmed", "blocked", "cancelled")
WAIT_POLL_S = 0.2


class Engine:
    """A research engine on one project root.

    >>> engine = Engine("/path/to/project")                                    # doctest: +SKIP
    >>> options = RunOptions(corpus=("docs",))                                 # doctest: +SKIP
    >>> started = engine.start("What is X?", options=options)                  # doctest: +SKIP
    >>> engine.run(started.slug).status                                        # doctest: +SKIP
    'confirmed'

    `clock` and `rand` are for repeatable runs: the time, and so many random hex digits.
    """

    def __init__(
        self,
        root: str | None = None,
        *,
        settings: Settings | None = None,
        clock: Callable[[], datetime] = utc_now,
        rand: Callable[[int], str] = random_hex,
    ) -> None:
        from omh_research.wiring import Wiring

        self.settings = settings or load_settings(root)
        self.project = Project(self.settings, clock=clock, rand=rand)
        self.wiring = Wiring(self.project)

    def start(
        self,
        topic: str,
        *,
        delegate: str = "extractive",
        options: RunOptions | None = None,
        if_confirmed: str = "",
        ask_user: Callable[[str], str] | None = None,
        scope_check: bool = False,
    ) -> StartReport:
        """Start the run on a topic, or resume it; decompose it (spec E8-E16, E40).

        `scope_check` True refuses a new topic that is a choice with nothing to choose by; the
        command line asks for it, a program must (P7).

        Raises:
            ScopeError: its `questions` would narrow the topic; nothing was written.
            UsageError, PlanError, PrerequisiteError: before any file is written.
            StorageError, BusyError, DelegateError: see `omh_research.errors`.
        """
        from omh_research import start

        chosen = _checked(options or RunOptions())
        start.check_topic(topic)
        if chosen.landscape:
            from omh_research.phases.landscape import check_candidates

            names = check_candidates(topic, chosen.landscape)
            chosen = msgspec.structs.replace(chosen, landscape=names)
        if scope_check:
            start.check_scope(self.project, topic, chosen)
        if not start.is_only_shown(self.project, topic, if_confirmed, ask_user is not None):
            self.wiring.check(delegate, chosen)
        request = start.Request(
            topic=topic,
            delegate=delegate,
            options=chosen,
            if_confirmed=if_confirmed,
            ask_user=ask_user,
        )
        started = start.start(self.project, request, self.wiring.services)
        if started.resumed or started.report:
            return started
        notes = (*started.notes, *self.wiring.corpus_notes(delegate, chosen))
        return msgspec.structs.replace(started, notes=notes)

    def step(self, slug: str) -> StepReport:
        """Advance a run by exactly one phase; an ended one only says how it ended (E41)."""
        from omh_research import host_protocol

        return host_protocol.step(self.project, check_slug(slug), self.wiring.services)

    def run(self, slug: str, on_step: Callable[[StepReport], None] | None = None) -> StepReport:
        """Step until the run is confirmed, blocked, cancelled or waits for a host."""
        while True:
            report = self.step(slug)
            if on_step is not None:
                on_step(report)
            if report.status != "active":
                return report

    def next(self, slug: str | None = None) -> StepReport:
        """Advance to where answers are needed and return the open tasks (E38)."""
        from omh_research import host_protocol

        chosen = check_slug(slug) if slug else self.only_active()
        return host_protocol.next_tasks(self.project, chosen, self.wiring.services)

    def only_active(self) -> str:
        """Return the slug of the only active run.

        Raises:
            UsageError: there is none, or more than one (they are named).
        """
        from omh_research.store.listing import list_runs

        slugs = [row.slug for row in list_runs(self.project.layout).rows]
        if len(slugs) == 1:
            return slugs[0]
        if not slugs:
            raise UsageError("No run is active here.", hint='Begin with: start "QUESTION".')
        raise UsageError(f"{len(slugs)} runs are active; name one: {', '.join(slugs[:20])}.")

    def submit(
        self,
        slug: str,
        task_id: str,
        text: str = "",
        *,
        failed: str = "",
        sources: Sequence[HostSource] = (),
    ) -> SubmitReport:
        """Store one answer; commit the batch or phase it completes (E39)."""
        from omh_research import host_protocol

        answer = host_protocol.Answer(
            task_id=task_id, text=text, failed=failed, sources=tuple(sources)
        )
        services = self.wiring.services
        return host_protocol.submit(self.project, check_slug(slug), answer, services)

    def status(self, slug: str) -> RunStatus:
        """Return one run as operators see it; never writes."""
        from omh_research import status

        return status.status_one(self.project, slug)

    def status_all(self) -> list[RunStatus]:
        """Return every run that has a state."""
        from omh_research import status

        return status.status_all(self.project)

    def wait(self, slug: str, timeout_s: float | None = None) -> str:
        """Poll until the run ends; return how, or "" when the time is up. Never writes."""
        from omh_research import status

        check_slug(slug)
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            end = status.end_of(self.project, slug)
            left = WAIT_POLL_S if deadline is None else deadline - time.monotonic()
            if end or left <= 0:
                return end
            time.sleep(min(WAIT_POLL_S, left))

    def cancel(self, slug: str, reason: str = "") -> RunStatus:
        """Ask for a cancel; never waits for the run's lock, never expires (E35)."""
        from omh_research import operate

        return operate.cancel(self.project, slug, reason)

    def retry(self, slug: str) -> RunStatus:
        """Set a blocked run going again."""
        from omh_research import operate

        return operate.retry(self.project, slug)

    def clear(self, slug: str) -> None:
        """Forget a run's state; its plan, findings and report stay."""
        from omh_research import operate

        operate.clear(self.project, slug)

    def recover(self, *, move_damaged: bool = False) -> list[dict[str, str]]:
        """Sweep what crashes left; move damaged states aside if asked."""
        from omh_research import operate

        return operate.recover(self.project, move_damaged=move_damaged)

    def report(self, slug: str) -> str:
        """Return the report file of a run.

        Raises:
            NoSuchRunError: there is none.
        """
        from omh_research.errors import NoSuchRunError

        text = self.project.reader.report(check_slug(slug))
        if text is None:
            raise NoSuchRunError(f"{slug} has no report here.")
        return text


def _checked(options: RunOptions) -> RunOptions:
    """Return the options; their types are not checked where they are made (`corpus="docs"`)."""
    try:
        return msgspec.convert(msgspec.to_builtins(options), RunOptions)
    except (msgspec.ValidationError, TypeError) as error:
        raise UsageError(
            f"RunOptions: {error}.", hint="See omh_research.documents.options."
        ) from None
