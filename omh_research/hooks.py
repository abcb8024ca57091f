"""The commands that are told of a run's end: `on_confirmed`, `on_blocked` (spec D10b).

Job: carry out a commit and, where it confirms or blocks the run, start the configured command with
the report's path. Refuses a shell (the command line is split into words, and no word comes from
the topic), and to let the command's fate change anything but the log. Importers: engine,
host_protocol, operate.

Once means: never a second time. Before the command starts, a durable marker says so; a crash
between the sentinel and that marker is made up for by the next invocation (the state is still
there), a crash after it is not repeated but logged as `HOOK_FAILED reason=interrupted`. The marker
of a confirmed run goes with its state; the command has then long ended. The run's lock is held
meanwhile, so the command may read the run but not advance it.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from msgspec.structs import replace

from omh_research.commit import Clear, Commit, Log
from omh_research.documents import event
from omh_research.documents.state import State
from omh_research.errors import OmhError
from omh_research.machine import Phase
from omh_research.project import Project
from omh_research.store import disk

PLACE = "{report}"
MAX_OUTPUT_BYTES = 1_000_000
_MAX_MARKER_BYTES = 200


def carry_out(project: Project, planned: Commit, state: State, guard: Callable[[], None]) -> None:
    """Execute a commit made from `state`, and the hook of the end it brings.

    Raises what `Writer.execute` raises; nothing because of the hook.
    """
    ending = planned.state is None and planned.phase == Phase.CONFIRMED
    if ending and project.settings.on_confirmed and isinstance(planned.ops[-1], Clear):
        project.writer.execute(replace(planned, ops=planned.ops[:-1]), guard)
        _tell(project, state, Phase.CONFIRMED, "confirmed")
        project.writer.execute(replace(planned, ops=planned.ops[-1:]), guard)
        return
    project.writer.execute(planned, guard)
    if planned.state is not None:
        make_up(project, planned.state)


def make_up(project: Project, state: State) -> None:
    """Start the hook of a blocked run unless it was started for this very block.

    A retry that ends blocked again is another block.
    """
    if state.phase == Phase.BLOCKED and project.settings.on_blocked:
        _tell(project, state, Phase.BLOCKED, f"blocked {state.step}")


def _tell(project: Project, state: State, phase: Phase, key: str) -> None:
    """Start the phase's command unless the marker says that it was; log what went wrong."""
    path = project.layout.hook(state.slug)
    marker = (disk.read_bytes(path, max_bytes=_MAX_MARKER_BYTES) or b"").decode("ascii", "replace")
    if marker == f"done {key}\n":
        return
    if marker == f"started {key}\n":
        trouble = "interrupted"
    else:
        disk.replace(path, f"started {key}\n".encode(), mode=disk.STATE_MODE)
        settings = project.settings
        command = settings.on_confirmed if phase == Phase.CONFIRMED else settings.on_blocked
        trouble = _run(project, command, project.layout.report(state.slug))
    if trouble:
        name = f"on_{phase.value}"
        failed = event.make(
            event.Word.HOOK_FAILED, state.slug, state.step, hook=name, reason=trouble
        )
        project.writer.log(Log(state.session_id, (failed,)))
    if phase == Phase.BLOCKED:
        disk.replace(path, f"done {key}\n".encode(), mode=disk.STATE_MODE)


def _run(project: Project, command: str, report: str) -> str:
    """Run the command to its end; return what went wrong, "" if nothing did."""
    import shlex
    import tempfile
    from pathlib import Path

    from omh_research.delegates.command import run_program
    from omh_research.delegates.command_line import Call

    try:
        words = shlex.split(command, posix=os.name == "posix")
    except ValueError:
        return "command_unreadable"
    if not words:
        return "command_empty"
    argv = [word.replace(PLACE, report) for word in words]
    if argv == words:
        argv.append(report)
    try:
        with tempfile.TemporaryDirectory(prefix="omh-hook-", ignore_cleanup_errors=True) as folder:
            call = Call(
                argv=tuple(argv),
                stdin=None,
                folder=Path(folder),
                cwd=Path(project.layout.root),
                timeout_s=project.settings.hook_timeout_s,
                max_bytes=MAX_OUTPUT_BYTES,
            )
            ended = run_program(call, lambda: False)
    except OmhError:
        return "cannot_be_started"
    except OSError as error:
        return f"os_error_{error.errno}"
    if ended.how != "exited":
        return ended.how
    if ended.code < 0:
        return f"signal_{-ended.code}"
    return f"exit_code_{ended.code}" if ended.code else ""
