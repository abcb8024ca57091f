"""Reading one root: states, plans, findings, reports, logs, cancels (spec 10-engine).

Job: every read of run files, each strict and bounded; one Snapshot a lap. Refuses to write, and
works where nothing can be written. Importers: engine, api, audit, wiring.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from omh_research.documents.state import SLUG, State, load_json_object, parse_state
from omh_research.errors import DamagedFileError, NoSuchRunError, OmhError
from omh_research.store import disk
from omh_research.store.layout import Layout

if TYPE_CHECKING:
    from omh_research.documents.event import Event
    from omh_research.documents.plan_file import Plan
    from omh_research.documents.snapshot import CancelRequest, Snapshot
    from omh_research.documents.task import FindingText

MAX_PLAN_BYTES = 1_000_000
MAX_FINDING_BYTES = 16_000_000
MAX_REPORT_BYTES = 16_000_000
MAX_LOG_BYTES = 400_000_000
EDGE_BYTES = 65_536
FOREIGN_WRITE_PAUSES_S = (0.02, 0.05)
_PREFIX, _SUFFIX = "research--", ".json"


class Reader:
    """Reads one root. Checks each folder once that it is no link."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._checked: set[str] = set()

    def _is_reachable(self, folder: str) -> bool:
        """Tell whether `folder` is there; it and those above it must be no links."""
        if folder in self._checked:
            return True
        chain = [folder]
        while chain[-1] != self.layout.base and len(chain) < 6:
            chain.append(os.path.dirname(chain[-1]))
        if not all(disk.check_directory(part) for part in reversed(chain)):
            return False
        self._checked.add(folder)
        return True

    def _bytes(self, path: str, max_bytes: int) -> bytes | None:
        if not self._is_reachable(os.path.dirname(path)):
            return None
        return disk.read_bytes(path, max_bytes=max_bytes)

    def _text(self, path: str, max_bytes: int) -> str | None:
        data = self._bytes(path, max_bytes)
        if data is None:
            return None
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            raise DamagedFileError(f"{self.layout.relative(path)}: not UTF-8 text.") from None

    def slugs(self) -> list[str]:
        """Return the slugs that have a state file, sorted."""
        folder = self.layout.state_dir
        if not (disk.check_directory(self.layout.base) and disk.check_directory(folder)):
            return []
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries]
        return sorted(
            name[len(_PREFIX) : -len(_SUFFIX)]
            for name in names
            if name.startswith(_PREFIX)
            and name.endswith(_SUFFIX)
            and SLUG.fullmatch(name[len(_PREFIX) : -len(_SUFFIX)])
        )

    def state_bytes(self, slug: str) -> bytes | None:
        """Return the raw bytes of a state file, or None."""
        return self._bytes(self.layout.state(slug), 1_000_001)

    def state(self, slug: str) -> State | None:
        """Return the state of a run, or None if it has none.

        Raises:
            DamagedFileError, NewerVersionError: the file is there but cannot be used.
        """
        where = self.layout.relative(self.layout.state(slug))
        for pause_s in FOREIGN_WRITE_PAUSES_S:
            data = self.state_bytes(slug)
            if data is None:
                return None
            try:
                return parse_state(data, where=where, slug=slug)
            except DamagedFileError:
                # Another program may write in place: what it has half written is no damage.
                time.sleep(pause_s)
        data = self.state_bytes(slug)
        return None if data is None else parse_state(data, where=where, slug=slug)

    def plan_text(self, slug: str) -> str | None:
        """Return the plan file whole, or None."""
        return self._text(self.layout.plan(slug), MAX_PLAN_BYTES)

    def plan(self, slug: str) -> Plan | None:
        """Return the plan of a run, or None."""
        text = self.plan_text(slug)
        if text is None:
            return None
        from omh_research.documents.plan_file import parse_plan

        return parse_plan(text, where=self.layout.relative(self.layout.plan(slug)), slug=slug)

    def report(self, slug: str) -> str | None:
        """Return the whole report file, or None."""
        return self._text(self.layout.report(slug), MAX_REPORT_BYTES)

    def report_status(self, slug: str) -> str | None:
        """Return `confirmed`, `draft`, … of a report's head, or None if there is no report."""
        from omh_research.sentinel import read_status

        if not self._is_reachable(self.layout.research_dir):
            return None
        return read_status(self.layout.report(slug))

    def finding_body(self, slug: str, stem: str) -> str | None:
        """Return the body of one findings file, or None."""
        path = self.layout.finding(slug, stem)
        text = self._text(path, MAX_FINDING_BYTES)
        if text is None:
            return None
        from omh_research.documents import frontmatter

        return frontmatter.parse(text, where=self.layout.relative(path))[1]

    def finding_file(self, slug: str, stem: str) -> str | None:
        """Return one findings file whole, or None."""
        return self._text(self.layout.finding(slug, stem), MAX_FINDING_BYTES)

    def findings(self, slug: str, plan: Plan) -> tuple[FindingText, ...]:
        """Return the findings that exist, in plan order, the follow-up last."""
        from omh_research.documents.names import FOLLOWUP_STEM, finding_stems
        from omh_research.documents.task import FindingText

        stems = [*zip(finding_stems(plan.names), plan.names, strict=True)]
        found = []
        for stem, name in [*stems, (FOLLOWUP_STEM, FOLLOWUP_STEM)]:
            body = self.finding_body(slug, stem)
            if body is not None:
                found.append(FindingText(stem=stem, subtopic=name, text=body))
        return tuple(found)

    def evidence(self, slug: str, name: str) -> str | None:
        """Return a file of the evidence folder, or None."""
        return self._text(self.layout.evidence(slug, name), MAX_REPORT_BYTES * 4)

    def evidence_lines(self, slug: str, name: str) -> tuple[str, ...]:
        """Return the complete lines of a ledger."""
        text = self.evidence(slug, name) or ""
        return tuple(text.split("\n")[:-1])

    def caps_plan(self, slug: str) -> dict[str, Any] | None:
        """Return the caps plan written at decompose, or None."""
        path = self.layout.evidence(slug, "caps_plan.json")
        data = self._bytes(path, 1_000_000)
        where = self.layout.relative(path)
        return None if data is None else load_json_object(data, where=where)

    def cancel_request(self, slug: str, state: State | None) -> CancelRequest | None:
        """Return the cancel asked for by our marker or by a foreign state write; never expires."""
        from omh_research.documents.snapshot import CancelRequest

        if os.path.lexists(self.layout.cancel(slug)):
            try:
                data = self._bytes(self.layout.cancel(slug), 100_000) or b"{}"
                raw = load_json_object(data, where="cancel marker")
            except OmhError:
                raw = {}
            words = {key: str(raw.get(key, "")) for key in ("reason", "at", "by")}
            return CancelRequest(**words)
        if state is not None and state.cancel_requested:
            return CancelRequest(
                reason=state.cancel_reason, at=state.cancel_at, by=state.cancel_requested_by
            )
        return None

    def events(self, session_id: str) -> list[Event]:
        """Return a session's events, each once, in order; torn lines are skipped."""
        from omh_research.documents.event import parse_log

        if not _is_session(session_id):
            return []
        data = self._bytes(self.layout.log(session_id), MAX_LOG_BYTES)
        return [] if data is None else parse_log(data.decode("utf-8", "replace"))

    def edge_events(self, session_id: str) -> list[Event]:
        """Return the first and the last events of a session: bounded, however long its log is."""
        from omh_research.documents.event import parse_log

        if not _is_session(session_id) or not self._is_reachable(self.layout.logs_dir):
            return []
        path = self.layout.log(session_id)
        tail = disk.read_tail(path, EDGE_BYTES)
        if len(tail) == EDGE_BYTES:  # there may be more: its first line is cut
            tail = disk.read_head(path, EDGE_BYTES) + b"\n" + tail[tail.find(b"\n") + 1 :]
        return parse_log(tail.decode("utf-8", "replace"))

    def session_of(self, slug: str) -> str:
        """Return the session id of a run that may have ended: from state, plan or log."""
        try:
            state = self.state(slug)
        except DamagedFileError:
            state = None
        if state is not None:
            return state.session_id
        try:
            plan = self.plan(slug)
        except DamagedFileError:
            plan = None
        if plan is not None:
            return plan.session_id
        return self._session_by_log(slug)

    def _session_by_log(self, slug: str) -> str:
        mark = f" slug={slug} ".encode()
        for session_id in self._sessions():
            if mark in disk.read_head(self.layout.log(session_id), 4096):
                return session_id
        return ""

    def _sessions(self) -> Iterator[str]:
        if not disk.check_directory(self.layout.logs_dir):
            return
        with os.scandir(self.layout.logs_dir) as entries:
            names = sorted(entry.name for entry in entries)
        for name in names:
            session_id = name.removeprefix("research-").removesuffix(".log")
            if name == f"research-{session_id}.log" and _is_session(session_id):
                yield session_id

    def ended(self, slug: str) -> str:
        """Return "confirmed", "cancelled", "cleared" or "" for a run without state (spec E41)."""
        if self.report_status(slug) == "confirmed":
            return "confirmed"
        session_id = self.session_of(slug)
        word = ""
        for event in self.edge_events(session_id):
            if event.slug == slug and event.word in ("CANCELLED", "CLEARED", "STARTED"):
                word = event.word
        return {"CANCELLED": "cancelled", "CLEARED": "cleared"}.get(word, "")

    def plan_slugs(self) -> list[str]:
        """Return the slugs that have a plan, sorted."""
        return self._slugs_of("-plan.md", ())

    def report_slugs(self, besides: Collection[str]) -> list[str]:
        """Return the slugs that have a report, whatever its status, but not `besides`; sorted."""
        return self._slugs_of("-report.md", besides)

    def _slugs_of(self, ending: str, besides: Collection[str]) -> list[str]:
        folder = self.layout.research_dir
        if not (disk.check_directory(self.layout.base) and disk.check_directory(folder)):
            return []
        cut = -len(ending)
        stems = {name[:cut] for name in os.listdir(folder) if name[cut:] == ending}
        return sorted(stem for stem in stems.difference(besides) if SLUG.fullmatch(stem))

    def snapshot(self, slug: str) -> Snapshot:
        """Read everything one lap needs, once.

        Raises:
            NoSuchRunError: the run has no state.
            DamagedFileError: a file of the run cannot be used.
        """
        from omh_research.documents.options import parse_options
        from omh_research.documents.snapshot import Snapshot

        state = self.state(slug)
        if state is None:
            raise NoSuchRunError(f"No active run {slug} here.")
        plan = self.plan(slug)
        where = self.layout.relative(self.layout.state(slug))
        return Snapshot(
            state=state,
            options=parse_options(state.options, where=where),
            plan=plan,
            findings=() if plan is None else self.findings(slug, plan),
            report=self.report(slug),
            cancel=self.cancel_request(slug, state),
            caps_plan=self.caps_plan(slug),
            logged=tuple(event.word for event in self.edge_events(state.session_id)),
            evidence=self.evidence_lines(slug, "evidence_ledger.jsonl"),
        )


def _is_session(text: str) -> bool:
    return 0 < len(text) <= 64 and all(char.isalnum() or char == "-" for char in text)
