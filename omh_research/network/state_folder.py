"""The user's state folder: small facts about providers that outlive one process.

Job: find the folder (`OMH_STATE_HOME` or the platform's place), read and atomically replace JSON
files in it, and lock one for a moment. Refuses to fail a fetch: where the folder cannot be
written, callers carry on without it. Never holds keys, queries or texts. Importers: network,
transport, providers.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

MAX_STATE_BYTES = 64 * 1024
_APP = "omh-research"


def state_home(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder of per-user state: `OMH_STATE_HOME`, else the platform's default."""
    env = os.environ if environ is None else environ
    if chosen := env.get("OMH_STATE_HOME"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = env.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
        return Path(base) / _APP
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / _APP
    base = env.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(base) / _APP


def state_file(folder: str, key: str, environ: Mapping[str, str] | None = None) -> Path:
    """Return the file that holds the fact about `key` (a base URL or host) in `folder`."""
    digest = hashlib.sha256(key.encode("utf-8")).hexdigest()[:24]
    return state_home(environ) / folder / f"{digest}.json"


def read_fact(path: Path) -> dict[str, Any]:
    """Return the JSON object in `path`; {} when absent, unreadable or damaged."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_STATE_BYTES + 1)
        fact = json.loads(raw) if len(raw) <= MAX_STATE_BYTES else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return fact if isinstance(fact, dict) else {}


def write_fact(path: Path, fact: Mapping[str, Any]) -> bool:
    """Replace `path` with `fact` in one step; False when the folder cannot be written.

    Not fsynced: losing a pacing note or an exhaustion mark to a power cut costs one request.
    """
    import tempfile  # slow to load, and only needed here

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".new")
    except OSError:
        return False
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(dict(fact), file, ensure_ascii=False, sort_keys=True)
        os.replace(name, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(name)
        return False
    return True


@contextlib.contextmanager
def held(path: Path) -> Iterator[bool]:
    """Hold the lock that guards `path` while inside; yields False when there can be none.

    The lock is the operating system's, on a file beside `path` that stays for ever: it is freed
    when its holder dies. It is held for one read and one write, never over a wait.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        yield False
        return
    try:
        yield _lock(handle)
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError:
        return False
    return True
