"""Executing commits: the only writes to run files (spec E1, E2, E29).

Job: make each op durable before the next begins; refuse a stale owner; re-base on a foreign
write of the state, so that a cancel asked for by another program is never lost. Refuses to decide
anything about a run. Importers: engine, api.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from typing import assert_never

from msgspec.structs import replace

from omh_research.commit import Clear, Commit, Log, Op, PutFiles, PutRows, PutState, Seal
from omh_research.documents.event import render
from omh_research.documents.state import State, is_own, render_state
from omh_research.errors import FencedError, NoSuchRunError, StorageError
from omh_research.outcome import Artifact
from omh_research.store import disk
from omh_research.store.layout import Layout
from omh_research.store.reader import Reader
from omh_research.store.seal import SEAL, make_seal

README_TEXT = """# .omh

Working folder of omh_research. `research/` holds plans, findings, reports and their evidence and
is worth keeping; `state/`, `logs/` and `cache/` are this machine's own. A report is finished when
its first lines say `status: confirmed`.
"""
GITIGNORE_TEXT = "state/\nlogs/\ncache/\n"
CANCEL_TRIES = 20


@contextlib.contextmanager
def _swept_away() -> Iterator[None]:
    """Let pass that a sweeper took the temporary file of a write made without its lock."""
    try:
        yield
    except StorageError as error:
        if not isinstance(error.__cause__, FileNotFoundError):
            raise


class Writer:
    """Writes one root. `now` returns the time as ISO-8601 UTC with Z and whole seconds."""

    def __init__(self, layout: Layout, reader: Reader, now: Callable[[], str], version: str):
        self._layout, self._reader, self._now, self._version = layout, reader, now, version
        self._temps: dict[str, list[str]] | None = None
        self._last: tuple[bytes, State] | None = None  # the state that was written last

    def prepare_root(self) -> None:
        """Create `.omh/` and its folders; seed README and .gitignore once, never overwritten.

        Raises:
            StorageError: the root cannot be written.
            DamagedFileError: something that is no folder stands in the way.
        """
        layout = self._layout
        for folder in (layout.locks_dir, layout.research_dir, layout.logs_dir):
            disk.make_directories(layout.base, folder)
        for name, text in (("README.md", README_TEXT), (".gitignore", GITIGNORE_TEXT)):
            path = os.path.join(layout.base, name)
            if not os.path.lexists(path):
                with _swept_away():
                    disk.replace(path, text.encode())

    def execute(self, commit: Commit, guard: Callable[[], None]) -> None:
        """Make a commit true, op by op; `guard` raises if this process no longer owns the run."""
        for op in commit.ops:
            guard()
            self._do(commit.slug, op)

    def _do(self, slug: str, op: Op) -> None:
        match op:
            case PutFiles():
                self._put_files(slug, op.artifacts)
            case PutRows():
                disk.make_directories(self._layout.base, self._layout.evidence_dir(slug))
                disk.append_missing(self._layout.evidence(slug, op.name), op.lines)
            case Log():
                self.log(op)
            case Seal():
                text = make_seal(self._layout, slug, disk.encode(op.report.text))
                self._put_files(slug, (Artifact("evidence", SEAL, text),))
            case PutState():
                self.put_state(op)
            case Clear():
                self.clear(op.slug)
            case _:
                assert_never(op)

    def log(self, op: Log) -> None:
        """Append events to a session's log."""
        disk.make_directories(self._layout.base, self._layout.logs_dir)
        now = self._now()
        disk.append(self._layout.log(op.session_id), [render(event, now) for event in op.events])

    def _path(self, slug: str, artifact: Artifact) -> str:
        match artifact.kind:
            case "plan":
                return self._layout.plan(slug)
            case "finding":
                return self._layout.finding(slug, artifact.name)
            case "report":
                return self._layout.report(slug)
            case "evidence":
                return self._layout.evidence(slug, artifact.name)
        raise ValueError(f"no such kind of artifact: {artifact.kind}")

    def _put_files(self, slug: str, artifacts: tuple[Artifact, ...]) -> None:
        files = []
        for artifact in artifacts:
            path = self._path(slug, artifact)
            disk.make_directories(self._layout.base, os.path.dirname(path))
            files.append((path, disk.encode(artifact.text)))
        disk.replace_all(files)

    def put_state(self, op: PutState) -> None:
        """Write the state, re-based on what is on disk now."""
        state = self._rebased(op)
        data = render_state(state, written_at=self._now(), version=self._version)
        disk.replace(self._layout.state(state.slug), data, mode=disk.STATE_MODE)
        self._last = data, state

    def _found(self, slug: str) -> State | None:
        """Return the state on disk; what this process itself wrote last is known by its bytes."""
        if self._last is not None and self._last[1].slug == slug:
            data, state = self._last
            if self._reader.state_bytes(slug) == data:
                return state
        return self._reader.state(slug)

    def _rebased(self, op: PutState) -> State:
        """Return the state to write, on top of what is on disk now (spec E2, O4)."""
        found = self._found(op.state.slug)
        if op.base is None:
            if found is not None:
                raise FencedError(f"A run {op.state.slug} exists already.")
            return op.state
        if found is None:
            raise NoSuchRunError(f"The state of {op.base.slug} was removed while it was advanced.")
        if is_own(found) or (self._last is not None and found is self._last[1]):
            check_revision(found, op.base)
            return replace(op.state, unknown=found.unknown)
        return replace(
            op.state,
            revision=max(op.state.revision, found.revision + 1),
            unknown=found.unknown,
            cancel_requested=found.cancel_requested,
            cancel_reason=found.cancel_reason,
            cancel_at=found.cancel_at,
            cancel_requested_by=found.cancel_requested_by,
        )

    def put_cancel(self, slug: str, reason: str, by: str) -> None:
        """Leave the cancel marker, durable; never waits for the run's lock (spec E35)."""
        plain = {"cancel_requested": True, "reason": reason, "at": self._now(), "by": by}
        data = json.dumps(plain, ensure_ascii=True).encode("ascii") + b"\n"
        for _ in range(CANCEL_TRIES):
            with _swept_away():
                disk.replace(self._layout.cancel(slug), data, mode=disk.STATE_MODE)
                return
        # The holder sweeps faster than we rename: the marker's presence alone is the cancel, and
        # its readers accept one that is cut.
        disk.write_marker(self._layout.cancel(slug), data)

    def clear(self, slug: str) -> None:
        """Remove a run's replies, state and markers, the state durable before the marker goes."""
        disk.remove_folder(self._layout.tasks_dir(slug))
        disk.remove(self._layout.state(slug))
        disk.remove(self._layout.hook(slug))  # not before the state: a hook runs once (D10b)
        disk.remove(self._layout.cancel(slug))

    def sweep(self, slug: str, *, thorough: bool = True) -> None:
        """Remove what a crash left of this run: temporary files.

        The two folders that all runs share are listed once, and again when `thorough`: an owner
        that crashed since left its heartbeat. So a lap costs the same however many runs there are.
        """
        layout = self._layout
        shared = {layout.state_dir: f".research--{slug}.", layout.research_dir: f".{slug}-"}
        if thorough or self._temps is None:
            self._temps = {folder: disk.temps(folder) for folder in shared}
        for folder, prefix in shared.items():
            disk.remove_temps(folder, prefix, self._temps[folder])
        for folder in (
            layout.findings_dir(slug),
            layout.evidence_dir(slug),
            layout.texts_dir(slug),
            layout.tasks_dir(slug),
        ):
            disk.sweep_temps(folder)

    def sweep_orphans(self, slug: str) -> bool:
        """Remove replies and markers of a run that ended; tell whether there were any.

        Replies of a run whose state was lost stay: started again, it finds them answered (E13).
        """
        if self._reader.state_bytes(slug) is not None:
            return False
        if not disk.check_directory(self._layout.state_dir):
            return False
        tasks = self._layout.tasks_dir(slug)
        swept = disk.check_directory(tasks) and self._reader.ended(slug) != ""
        if swept:
            disk.remove_folder(tasks)
        swept = disk.remove(self._layout.hook(slug)) or swept
        return disk.remove(self._layout.cancel(slug)) or swept

    def sweep_unborn(self) -> None:
        """Remove temporary files of runs without state; call it under the start lock.

        Under that lock alone runs are created: what a crashed start left belongs to no run.
        """
        folder = self._layout.state_dir
        if not disk.check_directory(folder):
            return
        for name in disk.names(folder):
            slug = name.removeprefix(".research--").partition(".")[0]
            ours = name.startswith(f".research--{slug}.")
            if ours and not os.path.lexists(self._layout.state(slug)):
                disk.sweep_temps(folder, f".research--{slug}.")

    def sweep_root(self) -> None:
        """Remove temporary files of the caches and of the seeded files; harmless at any time."""
        disk.sweep_temps(self._layout.cache_dir)
        disk.sweep_temps(self._layout.base)

    def move_aside(self, path: str) -> str:
        """Rename a damaged file to `NAME.corrupt-N`; return the new name."""
        number = 1
        while os.path.lexists(f"{path}.corrupt-{number}"):
            number += 1
        disk.rename(path, f"{path}.corrupt-{number}")
        return os.path.basename(f"{path}.corrupt-{number}")


def check_revision(found: State, base: State) -> None:
    """Refuse when our own program has written the state since `base` was read.

    Raises:
        FencedError: another owner took the run over while this one was paused.
    """
    if found.revision != base.revision or found.session_id != base.session_id:
        raise FencedError(
            f"{base.slug} was taken over by another process (revision {found.revision}, this one "
            f"knew {base.revision}).",
            hint="Nothing more was written; run the command again.",
        )
