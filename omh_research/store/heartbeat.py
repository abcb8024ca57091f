"""The heartbeat of a run that is being advanced: who, since when, until when (spec O4, S3).

Job: what `research--{slug}.heartbeat` says, and keeping it fresh. For display and for the lease
between machines (`store.lease`); on one machine the kernel lock decides. Refuses to hold up a run:
a heartbeat that cannot be written is no failure. Importers: store, holding, status.
"""

import json
import os
import threading
from collections.abc import Callable

import msgspec
from msgspec import Struct

from omh_research.errors import OmhError
from omh_research.store import disk

BEAT_S = 5.0
BEATS_A_LEASE = 4


class Heartbeat(Struct, frozen=True):
    """Owner and times (ISO-8601 UTC). `deadline` is "" when the phase has none."""

    pid: int = 0
    host: str = ""
    phase: str = ""
    started_at: str = ""
    beat_at: str = ""
    deadline: str = ""
    lease_s: float = 60.0
    token: str = ""


def own_host() -> str:
    """Return this machine's name as heartbeats carry it."""
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")


def parse_heartbeat(data: bytes | None) -> Heartbeat | None:
    """Return what a heartbeat file says, or None if it says nothing that can be read."""
    try:
        return None if data is None else msgspec.json.decode(data, type=Heartbeat)
    except (msgspec.MsgspecError, RecursionError):
        return None


def read_heartbeat(path: str) -> Heartbeat | None:
    """Return the heartbeat, or None if there is none or it cannot be read."""
    try:
        return parse_heartbeat(disk.read_bytes(path, max_bytes=10_000))
    except OmhError:
        return None


def render_heartbeat(beat: Heartbeat) -> bytes:
    """Return the file's bytes; of one owner they always have one length."""
    return json.dumps(msgspec.to_builtins(beat)).encode("ascii")


def make_heartbeat(phase: str, now: str, deadline: str = "", lease_s: float = 60.0) -> Heartbeat:
    """Return this process's heartbeat; its token is like no other's, on no other machine."""
    return Heartbeat(
        pid=os.getpid(),
        host=own_host(),
        phase=phase,
        started_at=now,
        beat_at=now,
        deadline=deadline,
        lease_s=lease_s,
        token=os.urandom(8).hex(),
    )


class Beating:
    """Calls `beat` now and then from a daemon thread, until it says that the run is lost."""

    def __init__(self, beat: Callable[[], bool], lease_s: float) -> None:
        self._beat = beat
        self._every_s = min(BEAT_S, lease_s / BEATS_A_LEASE)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, and wait until no beat is under way."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self._every_s):
            if not self._beat():
                return
