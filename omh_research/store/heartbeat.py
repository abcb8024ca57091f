"""The heartbeat of a run that is being advanced: who, since when, until when (spec O4, S3).

Job: write, refresh, read and remove `research--{slug}.heartbeat`. For display and for the lease
between machines; on one machine the kernel lock decides. Refuses to hold up a run: a heartbeat
that cannot be written is no failure. Importers: store, engine.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from types import TracebackType
from typing import Self

import msgspec
from msgspec import Struct

from omh_research.errors import OmhError
from omh_research.store import disk

BEAT_S = 5.0


class Heartbeat(Struct, frozen=True):
    """Owner and times (ISO-8601 UTC). `deadline` is "" when the phase has none."""

    pid: int = 0
    host: str = ""
    phase: str = ""
    started_at: str = ""
    beat_at: str = ""
    deadline: str = ""
    lease_s: float = 60.0


def own_host() -> str:
    """Return this machine's name as heartbeats carry it."""
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")


def read_heartbeat(path: str) -> Heartbeat | None:
    """Return the heartbeat, or None if there is none or it cannot be read."""
    try:
        data = disk.read_bytes(path, max_bytes=10_000)
        return None if data is None else msgspec.json.decode(data, type=Heartbeat)
    except (OmhError, msgspec.MsgspecError):
        return None


class Beating:
    """Keeps a heartbeat fresh from a daemon thread for the length of a `with` block."""

    def __init__(self, path: str, beat: Heartbeat, now: object) -> None:
        self._path, self._beat, self._now = path, beat, now
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._write()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
        with contextlib.suppress(OmhError):
            disk.remove(self._path, durable=False)

    def _run(self) -> None:
        while not self._stop.wait(BEAT_S):
            self._write()

    def _write(self) -> None:
        now = self._now() if callable(self._now) else ""
        self._beat = msgspec.structs.replace(self._beat, beat_at=now)
        data = json.dumps(msgspec.to_builtins(self._beat)).encode("ascii")
        with contextlib.suppress(OmhError):
            disk.replace(self._path, data, mode=disk.STATE_MODE, durable=False)


def make_heartbeat(phase: str, now: str, deadline: str = "", lease_s: float = 60.0) -> Heartbeat:
    """Return this process's heartbeat."""
    return Heartbeat(
        pid=os.getpid(),
        host=own_host(),
        phase=phase,
        started_at=now,
        beat_at=now,
        deadline=deadline,
        lease_s=lease_s,
    )
