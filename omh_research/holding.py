"""Holding a run: its lock, its claim between machines, its heartbeat (spec E12, O4, S3).

Job: `Held`, for the length of a `with` block. A run taken over from a machine that went silent is
fenced first: its revision grows, so that the old owner, should it wake, is refused at its next
write. Refuses to read anything else of a run. Importers: engine and the verbs above it.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from omh_research.documents.names import check_slug
from omh_research.documents.snapshot import Snapshot
from omh_research.documents.state import State, is_own
from omh_research.errors import BusyError, DamagedFileError, FencedError, NoSuchRunError
from omh_research.project import Project
from omh_research.store import heartbeat, lease, lock
from omh_research.store.heartbeat import Heartbeat
from omh_research.store.writer import check_revision

START_LOCK = "_start"
START_WAIT_S = 30.0
START_LEASE_S = 20.0
START_POLL_S = 0.05


class Held:
    """A run held by this process: its lock and its heartbeat, for the length of a `with` block."""

    def __init__(self, project: Project, slug: str, *, wait_s: float = lock.GRACE_S) -> None:
        self._project, self._slug, self._wait_s = project, check_slug(slug), wait_s
        self._path = project.layout.heartbeat(slug)
        self._lock: lock.Lock | None = None
        self._beating: heartbeat.Beating | None = None
        self._own = heartbeat.Heartbeat()
        self._data = b""

    def __enter__(self) -> Held:
        layout, lease_s = self._project.layout, self._project.settings.lease_s
        if not os.path.isdir(layout.locks_dir):
            self._project.writer.prepare_root()
        try:
            self._lock = lock.acquire(layout.lock(self._slug), wait_s=self._wait_s)
        except BusyError:
            raise _busy(self._slug, heartbeat.read_heartbeat(self._path)) from None
        self._own = heartbeat.make_heartbeat("", self._project.now(), lease_s=lease_s)
        self._data = heartbeat.render_heartbeat(self._own)
        try:
            met = self._claim()
            self._project.writer.sweep(self._slug, thorough=not met.is_clean)
            if met.silent is not None:
                self._fence()
        except BaseException:
            self._let_go()
            raise
        self._beating = heartbeat.Beating(self._beat, lease_s)
        self._beating.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._beating is not None:
            self._beating.stop()
        self._let_go()

    def _let_go(self) -> None:
        if self._data:
            lease.give_up(self._path, self._data)
        if self._lock is not None:
            self._lock.release()

    def _claim(self) -> lease.Claimed:
        try:
            return lease.claim(self._path, self._data)
        except lease.HeldElsewhere as error:
            self._data = b""
            raise _busy(self._slug, error.beat) from None

    def _beat(self) -> bool:
        """Refresh the claim; tell whether the run is still ours to keep."""
        after = replace(self._own, beat_at=self._project.now())
        data = heartbeat.render_heartbeat(after)
        if not lease.refresh(self._path, self._data, data):
            return False
        self._data = data
        return True

    def _fence(self) -> None:
        """Let the revision grow first: whoever knows the old one may write no more.

        A state that is gone or damaged needs no fence: nobody writes on it.
        """
        from omh_research.commit import PutState

        with contextlib.suppress(DamagedFileError):
            state = self._project.reader.state(self._slug)
            if state is not None:
                fenced = replace(state, revision=state.revision + 1)
                self._project.writer.put_state(PutState(fenced, state))


@contextlib.contextmanager
def held_start(project: Project, wait_s: float = START_WAIT_S) -> Iterator[None]:
    """Hold the right to begin runs in this root, between machines too; never for long.

    Raises:
        BusyError: somebody else has it and does not finish within `wait_s`.
    """
    own = heartbeat.make_heartbeat("start", project.now(), lease_s=START_LEASE_S)
    data = heartbeat.render_heartbeat(own)
    path = os.path.join(project.layout.locks_dir, f"{START_LOCK}.heartbeat")
    deadline = time.monotonic() + wait_s
    with lock.held(project.layout.lock(START_LOCK), wait_s=wait_s):
        while True:
            try:
                lease.claim(path, data)
                break
            except lease.HeldElsewhere as error:
                if time.monotonic() >= deadline:
                    host = f" on {error.beat.host}" if error.beat is not None else ""
                    raise BusyError(f"Another process{host} is starting runs here.") from None
                time.sleep(START_POLL_S)
        try:
            yield
        finally:
            lease.give_up(path, data)


def guard_of(project: Project, snapshot: Snapshot) -> Callable[[], None]:
    """Return a check that this process still owns the run as it was in `snapshot`.

    It raises `FencedError` if another owner has it, `NoSuchRunError` if its state is gone.
    """
    slug, base = snapshot.slug, snapshot.state
    good: bytes | None = None

    def guard() -> None:
        nonlocal good
        now = project.reader.state_bytes(slug)
        if now is not None and now == good:
            return
        found = project.reader.state(slug)
        if found is None:
            raise NoSuchRunError(f"The state of {slug} was removed while it was advanced.")
        if is_own(found):
            check_revision(found, base)
        beat = heartbeat.read_heartbeat(project.layout.heartbeat(slug))
        if beat is not None and (beat.pid, beat.host) != (os.getpid(), heartbeat.own_host()):
            raise FencedError(f"{slug} was taken over by process {beat.pid} on {beat.host}.")
        good = now

    return guard


def fence_of(project: Project, state: State) -> Callable[[], None]:
    """Return a check for answers and fetches as they arrive; it raises `FencedError`.

    It does if the run was taken over or ended by another owner since `state` was read. A state
    that is merely lost refuses nothing: started again, the run finds its answers (spec E13).
    """
    slug = state.slug
    good: bytes | None = None

    def fence() -> None:
        nonlocal good
        now = project.reader.state_bytes(slug)
        if now is None:
            if project.reader.ended(slug):
                raise FencedError(f"{slug} was ended by another process.")
            return
        if now != good:
            with contextlib.suppress(DamagedFileError):
                found = project.reader.state(slug)
                if found is not None and is_own(found):
                    check_revision(found, state)
            good = now

    return fence


def _busy(slug: str, beat: Heartbeat | None) -> BusyError:
    if beat is None:
        return BusyError(f"{slug} is being advanced by another process.")
    where = "" if beat.host == heartbeat.own_host() else f" on {beat.host}"
    return BusyError(
        f"{slug} is being advanced by process {beat.pid}{where} since {beat.started_at}.",
        hint="Nothing was changed; try again when it is done.",
    )
