"""From a run's options to working parts: the one place that names the concretes.

Job: build the Services of a lap (delegate, desk, mailbox, sources, library) lazily. Refuses to
decide anything about a run. Importers: api, cli, batch.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec.structs import replace

from omh_research.budget import allowance, clock_start, crossed_cap, elapsed_s, time_cap
from omh_research.delegates.desk import Desk, DeskRules
from omh_research.delegates.interface import Delegate, Library
from omh_research.delegates.recorded import LibraryRules, RecordedLibrary, budget_of
from omh_research.delegates.registry import make
from omh_research.delegates.traffic import Traffic
from omh_research.documents.options import RunOptions
from omh_research.documents.snapshot import Snapshot
from omh_research.documents.task import Reply, Task
from omh_research.errors import OmhError, PrerequisiteError, UsageError
from omh_research.holding import fence_of
from omh_research.phases.accounts import spent_on
from omh_research.phases.contract import SEARCH_TOOLS, Services
from omh_research.project import Project
from omh_research.providers.interface import Reader, Renewable, SearchProvider
from omh_research.store.mailbox import Mailbox
from omh_research.store.sources import Sources

if TYPE_CHECKING:
    from omh_research.corpus.index import Refreshed

CORPUS_TOOLS = ("corpus_search", "corpus_read")
NO_WEB = "omh-deep-research requires the `web` toolset (web_search + web_extract); aborting."
QUOTES_BY_DEFAULT = ("extractive", "llm")


class Wiring:
    """Builds parts for one project; providers are shared by its runs of the same sources."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._sources: dict[tuple[str, ...], tuple[Sequence[SearchProvider], Reader]] = {}
        self._corpora: dict[tuple[str, ...], Callable[[], Refreshed]] = {}
        self._looked: set[tuple[str, int]] = set()

    def role_text(self, name: str) -> str:
        """Return a role's text: the project's own, else the packaged one (spec D5)."""
        from omh_research.roles import load_role

        return load_role(name, self._own_role(name)).text

    def _own_role(self, name: str) -> str | None:
        from omh_research.store import disk

        path = self._project.layout.role(name)
        if not os.path.lexists(path):
            return None
        data = disk.read_bytes(path, max_bytes=256_000)
        return None if data is None else data.decode("utf-8", "replace")

    def delegate(self, name: str, options: RunOptions) -> Delegate:
        """Return the delegate called `name`, with the run's options for it."""
        from omh_research.providers.web.keys import for_delegates

        environ = for_delegates(os.environ, self._project.layout.root)
        return make(name, options.delegate_options, role_text=self.role_text, environ=environ)

    def check(self, name: str, options: RunOptions) -> None:
        """Fail fast, before any file is written (spec E36, E42).

        Raises:
            PrerequisiteError: the delegate needs the web and has none, or a source is missing.
            UsageError: no such delegate, or its options are wrong.
        """
        if name == "host":
            self._check_host_tools(options)
        delegate = self.delegate(name, options)
        if options.panel and not getattr(delegate, "can_judge", True):
            raise UsageError(
                f"--panel needs somebody who judges claims; the {name} delegate only quotes.",
                hint="Choose --delegate llm, command or host, or leave --panel out.",
            )
        for path in (*options.corpus, options.bundle):
            if path and not os.path.isdir(self.absolute(path)):
                raise PrerequisiteError(f"There is no folder {path}.", hint="Check the path.")
        self._check_not_own(options.corpus)
        if delegate.needs_library and not (options.corpus or options.bundle):
            self._check_web()

    def _check_not_own(self, corpus: Sequence[str]) -> None:
        """A run that quoted earlier reports would take its own words for a source."""
        own = os.path.normcase(os.path.realpath(self.absolute(".omh")))
        for path in corpus:
            folder = os.path.normcase(os.path.realpath(self.absolute(path)))
            if folder == own or folder.startswith(own + os.sep):
                raise UsageError(
                    f"The corpus {path} lies in .omh, where the runs' own reports are.",
                    hint="Copy what is a source elsewhere.",
                )

    def _check_host_tools(self, options: RunOptions) -> None:
        if options.host_tools is None or options.corpus or options.bundle:
            return
        if not set(options.host_tools) & set(SEARCH_TOOLS):
            raise PrerequisiteError(NO_WEB)

    def _check_web(self) -> None:
        from omh_research.providers.availability import web_trouble

        trouble = web_trouble(self._project.settings)
        if trouble:
            hint = f"\n({trouble}) Give a folder with --corpus to work without the web."
            raise PrerequisiteError(NO_WEB, hint=hint)

    def absolute(self, path: str) -> str:
        """Return a corpus or bundle path as it is opened: relative ones lie in the root."""
        return os.path.normpath(os.path.join(self._project.layout.root, path))

    def sources_of(self, options: RunOptions) -> tuple[Sequence[SearchProvider], Reader]:
        """Return the search providers and the reader of a run, made once per process."""
        key = (options.bundle, *options.corpus)
        if key not in self._sources:
            self._sources[key] = self._make_sources(options)
        return self._sources[key]

    def corpus_notes(self, name: str, options: RunOptions) -> tuple[str, ...]:
        """Return a line for each reason why documents of the corpus are not read (E43)."""
        if not options.corpus or not self.delegate(name, options).needs_library:
            return ()
        from omh_research.corpus.notes import notes_of

        self.sources_of(options)
        report = self._corpora[options.corpus]()
        return notes_of(report, options.corpus)

    def _cache_dir(self) -> str | None:
        """Return the folder of caches if it is, or can be made, a real one below `.omh/` (E7)."""
        from omh_research.store import disk

        layout = self._project.layout
        try:
            disk.make_directories(layout.base, layout.cache_dir)
        except OmhError:
            return None
        return layout.cache_dir

    def _make_sources(self, options: RunOptions) -> tuple[Sequence[SearchProvider], Reader]:
        if options.corpus:
            from omh_research.providers.folder import open_folders

            folders = [self.absolute(path) for path in options.corpus]
            folder = open_folders(folders, self._cache_dir())
            self._corpora[options.corpus] = folder.report
            return (folder,), folder
        if options.bundle:
            from omh_research.providers.bundle import open_bundle

            bundle = open_bundle(self.absolute(options.bundle))
            return (bundle,), bundle
        from omh_research.providers.web import open_web

        return open_web(self._project.settings)

    def services(self, snapshot: Snapshot) -> Services:
        """Return the Services of one lap."""
        from omh_research.phases.granting import granted_caps
        from omh_research.tools.urls import canonical

        state, options = snapshot.state, snapshot.options
        layout = self._project.layout
        delegate = self.delegate(state.delegate, options)
        fence = fence_of(self._project, state)
        record = Sources(layout, state.slug, canonical, fence)
        mailbox = Mailbox(layout, state.slug, fence)
        budget = budget_of(granted_caps(snapshot))
        rules = LibraryRules(canonical, self._project.now, budget, Traffic(), state.retries)

        def library_for(task: Task) -> Library | None:
            own = options.corpus or options.bundle
            wants = delegate.needs_library or (own and getattr(delegate, "wants_library", False))
            if not wants or task.role not in ("researcher", "planner"):
                return None
            providers, reader = self.sources_of(options)
            self._look_again(reader, (state.slug, state.retries))
            subquestion = task.brief.subtopic or "(plan)"
            return RecordedLibrary(subquestion, record, providers, reader, rules)

        desk = Desk(delegate, mailbox, library_for, self._desk_rules(snapshot))
        tools = CORPUS_TOOLS if options.corpus or options.bundle else SEARCH_TOOLS
        quotes = options.require_quotes
        return Services(
            ask=desk.ask,
            stored=desk.stored,
            held=lambda: record.proven(state.spent.fetches),
            leads=record.leads,
            plan_without_model=self._without_model,
            report_without_model=self._without_model,
            keeps_ledger=bool(getattr(delegate, "keeps_ledger", delegate.name == "llm")),
            require_quotes=state.delegate in QUOTES_BY_DEFAULT if quotes is None else quotes,
            can_scope_tools=delegate.can_scope_tools,
            research_tools=tools,
        )

    def _look_again(self, reader: Reader, run: tuple[str, int]) -> None:
        """Look at the folders anew for each run and after each retry: a process may live long."""
        if run not in self._looked:
            self._looked.add(run)
            if isinstance(reader, Renewable):
                reader.renew()

    def _without_model(self, task: Task) -> Reply:
        from omh_research.delegates.extractive import ExtractiveDelegate

        return ExtractiveDelegate().answer(task, None, lambda: False)

    def _desk_rules(self, snapshot: Snapshot) -> DeskRules:
        from omh_research.phases.granting import granted_caps

        settings, slug = self._project.settings, snapshot.slug
        own = snapshot.options.task_timeout_s
        marker = self._project.layout.cancel(slug)

        seen: bytes | None = None

        def is_cancelled() -> bool:
            nonlocal seen
            if os.path.lexists(marker):
                return True
            data = self._project.reader.state_bytes(slug)
            if data is None or data == seen:  # asked before every search and every reading
                return False
            state = self._project.reader.state(slug)
            if state is not None and state.cancel_requested:
                return True
            seen = data
            return False

        def now() -> Snapshot:
            spent = spent_on(Mailbox(self._project.layout, slug).all())
            return replace(
                snapshot,
                state=replace(snapshot.state, spent=spent),
                caps_plan=granted_caps(snapshot),
            )

        return DeskRules(
            now=self._project.now,
            is_cancelled=is_cancelled,
            timeout_s=own or settings.task_timeout_s,
            side_by_side=settings.side_by_side,
            host_deadline_passed=self._host_is_late(snapshot, own or settings.host_timeout_s),
            crossed_cap=lambda calls: crossed_cap(now(), calls, self._project.clock()),
            allowance=lambda tasks: allowance(now(), tasks),
            time_left_s=self._time_left(snapshot),
            time_cap=time_cap(snapshot.options.max_wall_s),
        )

    def _time_left(self, snapshot: Snapshot) -> float | None:
        """Return what the run's time cap leaves, in seconds; None without a cap (spec O5)."""
        wall = snapshot.options.max_wall_s
        if not wall:
            return None
        return max(0.0, wall - elapsed_s(clock_start(snapshot.state), self._project.clock()))

    def _host_is_late(self, snapshot: Snapshot, limit_s: float) -> bool:
        if not limit_s:
            return False
        try:
            handed = datetime.fromisoformat(snapshot.state.meta.written_at.replace("Z", "+00:00"))
        except ValueError:
            return False
        return (self._project.clock() - handed).total_seconds() > limit_s
