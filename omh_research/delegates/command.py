"""Any program as a delegate, once per task: prompt in, answer out (spec D3).

Job: compose the command line, run it where it can harm nothing, bound it in time and size, end
it and all it started, and hand back its answer. The one door to `subprocess`. Refuses to use a
shell, to guess at a failed program's meaning, and to retry. Importers: registry.

Output goes to a file, not a pipe: some agent programs lose what does not fit a pipe when they
exit (85-hosts section 4). A program gets its own session, so it has no terminal to ask at.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

from msgspec import Struct
from msgspec.structs import replace

from omh_research.delegates.answers import Answer, read_answer, read_usage_report
from omh_research.delegates.command_line import (
    ANSWER_FILE,
    USAGE_FILE,
    Call,
    CommandLine,
    CommandOptions,
)
from omh_research.delegates.gather import Gathered, gather
from omh_research.delegates.interface import Library
from omh_research.delegates.prompt import GATHERED_RULE, NO_TOOLS_RULE, WEB_RULE, compose
from omh_research.delegates.redaction import redact
from omh_research.delegates.registry import RoleText, Surroundings, read_options
from omh_research.delegates.second_pass import answer_with_second_pass
from omh_research.delegates.strays import TOKEN_VARIABLE, find_strays
from omh_research.documents.task import Reply, Task, Usage
from omh_research.errors import CapCrossedError, DelegateError, PrerequisiteError

POLL_S = 0.03
GRACE_S = 1.0
STDERR_TAIL_CHARS = 600
_NEW_PROCESS_GROUP = 0x200  # Windows: CREATE_NEW_PROCESS_GROUP


class CommandDelegate:
    """Answers each task with one run of a program. Safe to call from several threads at once."""

    name = "command"
    needs_library = False
    # It can do without, but reads a folder's texts for programs that cannot (see CommandOptions).
    wants_library = True

    def __init__(
        self,
        options: CommandOptions,
        role_text: RoleText,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        """`environ` holds the secrets that no error may repeat: also those of a `.env` file, which
        the program can read by itself."""
        self._options = options
        self._environ = environ
        self._role_text = role_text
        self._line = CommandLine(options)
        self.can_scope_tools = self._line.limits_to_list

    @classmethod
    def from_options(cls, options: Mapping[str, object], around: Surroundings) -> CommandDelegate:
        """Return the delegate.

        Raises `UsageError` without exactly one of preset and command, `PrerequisiteError` if the
        program is not there (E36: before any file is written).
        """
        made = cls(
            read_options("command", options, CommandOptions), around.role_text, around.environ
        )
        made._line.check_program()
        return made

    def answer(self, task: Task, library: Library | None, should_stop: Callable[[], bool]) -> Reply:
        """Return the program's answer to `task`.

        Raises `DelegateError` for a program that failed, said nothing, said too much, took too
        long or was stopped, and `PrerequisiteError` for one that is not there.
        """
        read = Gathered()
        if library is not None and task.role == "researcher" and self._line.gathers(task):
            read = gather(task, library, should_stop)

        made = 0

        def ask(step: Task, structuring: bool) -> Reply:
            nonlocal made
            calls = task.brief.allowance.calls
            if calls is not None and made >= calls:
                raise CapCrossedError(f"the {calls} calls left to this task are made.")
            made += 1
            return self._run(step, "" if structuring else read.text, should_stop)

        try:
            reply = answer_with_second_pass(ask, task)
        except CapCrossedError as error:
            if not made:
                raise
            paid = Usage(model_calls=made)  # the call that was made gave nothing, and was paid
            reply = Reply(
                task.id, status="failed", reason=error.message, usage=paid, stopped_by="cap"
            )
        notes = [*read.notes, *reply.notes]
        if read.fetches:
            notes.append(f"{read.fetches} texts were read before the program was asked")
        usage = replace(reply.usage, fetches=reply.usage.fetches + read.fetches)
        return replace(reply, usage=usage, notes=tuple(notes))

    def _run(self, task: Task, gathered: str, should_stop: Callable[[], bool]) -> Reply:
        browses = bool(task.tools) and not gathered
        rule = WEB_RULE if browses else GATHERED_RULE if gathered else NO_TOOLS_RULE
        prompt = compose(task, self._role_text, rule=rule, gathered=gathered).joined()
        with tempfile.TemporaryDirectory(prefix="omh-command-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            call = self._line.prepare(folder, prompt, browses=browses)
            ended = run_program(call, should_stop)
            _refuse_failure(ended, call, self._environ)
            answer = self._read(folder, ended)
        return Reply(task_id=task.id, text=answer.text, usage=answer.usage, notes=call.notes)

    def _read(self, folder: Path, ended: Ended) -> Answer:
        usage_file = folder / USAGE_FILE
        # First the usage: a failure it reports explains an empty answer.
        usage = None
        if usage_file.is_file():
            said = _redacted(ended.stdout, self._environ)
            usage = read_usage_report(usage_file.read_bytes(), said)
        answer_file = folder / ANSWER_FILE
        if answer_file.is_file():
            text = answer_file.read_bytes()[: self._options.max_bytes].decode("utf-8", "replace")
            answer = read_answer(text, "text")
        else:
            answer = read_answer(ended.stdout, self._line.result)
        return answer if usage is None else Answer(answer.text, usage)


class Ended(Struct, frozen=True):
    """How a run ended. `how` is exited, stopped, timeout or too_large; `code` the exit code."""

    how: str
    code: int
    stdout: str
    stderr: str


def run_program(call: Call, should_stop: Callable[[], bool]) -> Ended:
    """Run one program to its end and end everything it started.

    Raises `PrerequisiteError` if it cannot be started. Whatever happens here, an interrupt
    included, the program and its children are gone afterwards; if this process itself is killed,
    a small watcher ends the program's group.
    """
    token = secrets.token_hex(16)
    out_path, err_path = call.folder / "stdout", call.folder / "stderr"
    with out_path.open("wb") as out, err_path.open("wb") as err, _watcher() as watch:
        program = _start(call, token, out, err)
        try:
            watch(program.pid)
            how = _wait(program, call, (out_path, err_path), should_stop)
        finally:
            _end_group(program, token)
    with out_path.open("rb") as file:
        stdout = file.read(call.max_bytes).decode("utf-8", "replace")
    return Ended(how, program.returncode, stdout, _tail(err_path))


def _start(call: Call, token: str, out: IO[bytes], err: IO[bytes]) -> subprocess.Popen[bytes]:
    # PWD as well: some programs look for their settings there instead of in their folder.
    environment = {
        **os.environ,
        TOKEN_VARIABLE: token,
        "PWD": str(call.cwd),
        "NO_COLOR": "1",
        "TERM": "dumb",
    }
    posix = os.name == "posix"
    try:
        with open(call.stdin or os.devnull, "rb") as given:
            return subprocess.Popen(
                call.argv,
                stdin=given,
                stdout=out,
                stderr=err,
                cwd=call.cwd,
                env=environment,
                start_new_session=posix,
                creationflags=0 if posix else _NEW_PROCESS_GROUP,
            )
    except (OSError, ValueError) as error:
        raise PrerequisiteError(
            f"The program {call.argv[0]!r} cannot be started: {error}.",
            hint="Install it, or give another one with --command.",
        ) from error


@contextlib.contextmanager
def _watcher() -> Iterator[Callable[[int], None]]:
    """Keep a shell that ends the group it is told when our end of its standard input closes.

    That happens when this process dies, however it dies; a program that outlives the run that
    asked it would go on spending. The shell stands before the program is started.
    """
    shell = _start_shell() if os.name == "posix" else None
    if shell is None or shell.stdin is None:
        yield lambda group: None
        return
    stdin = shell.stdin

    def watch(group: int) -> None:
        with contextlib.suppress(OSError):
            stdin.write(b"%d\n" % group)

    try:
        yield watch
    finally:
        shell.kill()
        shell.wait()
        with contextlib.suppress(OSError):
            stdin.close()


def _start_shell() -> subprocess.Popen[bytes] | None:
    script = 'read -r group && { read -r _; kill -s KILL -- "-$group"; }'
    try:
        return subprocess.Popen(
            ["/bin/sh", "-c", script],
            bufsize=0,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return None


def _wait(
    program: subprocess.Popen[bytes],
    call: Call,
    outputs: Sequence[Path],
    should_stop: Callable[[], bool],
) -> str:
    end = time.monotonic() + call.timeout_s
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            program.wait(timeout=POLL_S)
        if any(path.stat().st_size > call.max_bytes for path in outputs):
            return "too_large"
        if program.returncode is not None:
            return "exited"
        if should_stop():
            return "stopped"
        if time.monotonic() >= end:
            return "timeout"


def _end_group(program: subprocess.Popen[bytes], token: str) -> None:
    """End the program and everything it started: asked first, then killed."""
    if sys.platform == "win32":
        if program.poll() is None:
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(program.pid)], check=False)
        program.wait()
        return
    if _signal_group(program, signal.SIGTERM):
        end = time.monotonic() + GRACE_S
        while time.monotonic() < end and _signal_group(program, 0):
            program.poll()
            time.sleep(POLL_S)
        _signal_group(program, signal.SIGKILL)
    program.wait()
    for pid in find_strays(token):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            continue


def _signal_group(program: subprocess.Popen[bytes], number: int) -> bool:
    """Signal the program's group; tell whether anybody is left in it."""
    program.poll()
    try:
        os.killpg(program.pid, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        return program.returncode is None
    return True


def _refuse_failure(ended: Ended, call: Call, environ: Mapping[str, str]) -> None:
    program = Path(call.argv[0]).name
    said = _redacted(" ".join(ended.stderr.split()), environ)
    because = f" It said: {said}" if said else ""
    match ended.how:
        case "stopped":
            raise DelegateError(f"{program} was stopped: the run was cancelled or out of time.")
        case "timeout":
            raise DelegateError(
                f"{program} gave no answer within {call.timeout_s:g} s and was ended.{because}"
            )
        case "too_large":
            raise DelegateError(f"{program} printed more than {call.max_bytes} bytes.")
        case _:
            pass
    if ended.code < 0:
        raise DelegateError(f"{program} was ended by signal {-ended.code}.{because}")
    if ended.code > 0:
        printed = _redacted(ended.stdout.strip()[-300:], environ)
        detail = because or (f" It said: {printed}" if printed else " It said nothing.")
        raise DelegateError(f"{program} ended with exit code {ended.code}.{detail}")


def _redacted(text: str, environ: Mapping[str, str]) -> str:
    """Without the secrets of the process, which the program inherits, and those of `environ`."""
    return redact(redact(text, os.environ), environ)


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 4 * STDERR_TAIL_CHARS))
        return file.read(4 * STDERR_TAIL_CHARS).decode("utf-8", "replace")[-STDERR_TAIL_CHARS:]
