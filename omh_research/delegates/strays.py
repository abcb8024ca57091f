"""Processes that escaped their group, found by a token in their environment.

Job: name the processes that a program started and that left its process group (daemons), so that
they can be ended too. Works where `/proc` is (Linux); elsewhere it finds none. Refuses to end
anything itself. Importers: command.
"""

from __future__ import annotations

import os
from pathlib import Path

TOKEN_VARIABLE = "OMH_COMMAND_TOKEN"


def find_strays(token: str, *, proc: Path = Path("/proc")) -> tuple[int, ...]:
    """Return the ids of all processes whose environment holds this call's `token`."""
    wanted = f"{TOKEN_VARIABLE}={token}".encode()
    own = os.getpid()
    found = []
    try:
        names = os.listdir(proc)
    except OSError:
        return ()
    for name in names:
        if not name.isdigit() or int(name) == own:
            continue
        try:
            environment = (proc / name / "environ").read_bytes()
        except OSError:
            continue  # gone, or another user's
        if wanted in environment.split(b"\0"):
            found.append(int(name))
    return tuple(found)
