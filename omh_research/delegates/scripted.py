"""A delegate that says what it was told to say: tests, demos, rehearsals of faults.

Job: answer tasks from a script (a YAML or JSON file, or a callable), fail in the ways real
delegates fail, and write down every call so that a test can see a reply asked for twice (E20).
Refuses to think and to touch the network. Importers: registry, tests.

A script is `replies`, tried in order; the first that matches answers. Example:

    replies:
      - role: researcher            # each matcher may be left out
        subtopic: Storage
        reads: ["corpus:a.md"]      # read through the Library first, so that the text is held
        text: "SUBTOPIC: Storage ..."
      - role: research-verifier
        sequence: ["VERDICT: FAIL ...", "VERDICT: PASS ..."]   # by the task's attempt number
      - role: researcher
        fault: fail                 # fail | sleep | hang | deaf | empty | endless
        times: 1                    # only the first call for a task, then `text`
        text: "SUBTOPIC: {{subtopic}} ..."

In texts `{{topic}}`, `{{subtopic}}` and `{{slug}}` stand for the task's own.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, assert_never

import msgspec
from msgspec import Struct

from omh_research.delegates.interface import Library
from omh_research.delegates.registry import Surroundings, read_options
from omh_research.documents.task import Reply, Task, Usage
from omh_research.errors import DelegateError, UsageError

SCRIPT_VARIABLE = "OMH_SCRIPT"
CALLS_VARIABLE = "OMH_SCRIPT_CALLS"
POLL_S = 0.02

Fault = Literal["", "fail", "sleep", "hang", "deaf", "empty", "endless"]


class ScriptedReply(Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a script: what it matches, what it does first, what it says.

    `fault` is what goes wrong: `fail` (DelegateError with `reason`), `sleep` (`seconds`, then
    the text), `hang` (until told to stop), `deaf` (`seconds`, ignoring every stop), `empty`,
    `endless` (`size` characters). `times` limits the fault to that many calls for one task.
    """

    role: str = ""
    subtopic: str = ""
    id: str = ""
    goal_contains: str = ""
    text: str = ""
    sequence: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    fault: Fault = ""
    times: int = 0
    seconds: float = 0.2
    size: int = 5_000_000
    reason: str = "the script says so"
    notes: tuple[str, ...] = ()
    usage: Usage = Usage(model_calls=1)


class Script(Struct, frozen=True, forbid_unknown_fields=True):
    """A whole script, first match wins."""

    replies: tuple[ScriptedReply, ...] = ()


class ScriptedOptions(Struct, frozen=True):
    """`script` is the script's path, `calls` the file that gets one line a call."""

    script: str = ""
    calls: str = ""


Answer = Callable[[Task], str | Reply]


class ScriptedDelegate:
    """Answers from a script or a callable. Safe to call from several threads at once."""

    name = "scripted"
    can_scope_tools = True

    def __init__(self, script: Script | Answer, *, calls: Path | None = None) -> None:
        self._script = script
        self._calls = calls
        self._seen: dict[str, int] = {}
        self._lock = threading.Lock()
        replies = script.replies if isinstance(script, Script) else ()
        self.needs_library = any(line.searches or line.reads for line in replies)

    @classmethod
    def from_options(cls, options: Mapping[str, object], around: Surroundings) -> ScriptedDelegate:
        """Return the delegate of a script file.

        Without options the environment's OMH_SCRIPT and OMH_SCRIPT_CALLS are used, so that a
        test can reach into a run started by another process.
        """
        given = read_options("scripted", options, ScriptedOptions)
        script = given.script or around.environ.get(SCRIPT_VARIABLE, "")
        calls = given.calls or around.environ.get(CALLS_VARIABLE, "")
        read = read_script(Path(script)) if script else Script()
        return cls(read, calls=Path(calls) if calls else None)

    def answer(self, task: Task, library: Library | None, should_stop: Callable[[], bool]) -> Reply:
        """Return the scripted reply; raise `DelegateError` where the script has none or fails."""
        earlier = self._note_call(task)
        if not isinstance(self._script, Script):
            said = self._script(task)
            return said if isinstance(said, Reply) else _reply(task, said)
        line = _match(self._script, task)
        _use_library(line, library)
        fault = line.fault if not line.times or earlier < line.times else ""
        text = _break(line, _words(line, task), fault, should_stop)
        return Reply(task_id=task.id, text=text, usage=line.usage, notes=line.notes)

    def _note_call(self, task: Task) -> int:
        """Write the call down; return how many calls for this task came before it."""
        with self._lock:
            earlier = self._seen.get(task.id, 0)
            self._seen[task.id] = earlier + 1
            if self._calls is None:
                return earlier
            earlier = _count_lines(self._calls, f"{task.id} ")
            line = f"{task.id} {task.role}\n".encode()
            # One write on an appending descriptor: lines of several processes never mix.
            descriptor = os.open(self._calls, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                os.write(descriptor, line)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            return earlier


def read_script(path: Path) -> Script:
    """Return the script in a YAML (or JSON) file; raise `UsageError` if it is none."""
    try:
        data = path.read_bytes()
        if path.suffix == ".json":
            return msgspec.json.decode(data, type=Script)
        return msgspec.yaml.decode(data, type=Script)
    except OSError as error:
        raise UsageError(f"The script {path} cannot be read: {error.strerror}.") from error
    except (msgspec.DecodeError, ValueError) as error:
        raise UsageError(f"The script {path} is wrong: {error}.") from error


def _count_lines(path: Path, prefix: str) -> int:
    if not path.exists():
        return 0
    return sum(line.startswith(prefix) for line in path.read_text("utf-8").split("\n"))


def _match(script: Script, task: Task) -> ScriptedReply:
    for line in script.replies:
        if (
            line.role in ("", task.role)
            and line.subtopic in ("", task.brief.subtopic)
            and line.id in ("", task.id)
            and line.goal_contains in task.goal
        ):
            return line
    raise DelegateError(f"The script has no reply for the task {task.id} ({task.role}).")


def _use_library(line: ScriptedReply, library: Library | None) -> None:
    if library is None:
        if line.searches or line.reads:
            raise DelegateError("The script searches or reads, but the task has no library.")
        return
    for query in line.searches:
        library.search(query)
    for url in line.reads:
        library.read(url)


def _words(line: ScriptedReply, task: Task) -> str:
    text = line.text
    if line.sequence:
        text = line.sequence[min(task.brief.attempt, len(line.sequence) - 1)]
    brief = task.brief
    for name in ("topic", "subtopic", "slug"):
        text = text.replace("{{" + name + "}}", getattr(brief, name))
    return text


def _break(line: ScriptedReply, text: str, fault: Fault, should_stop: Callable[[], bool]) -> str:
    match fault:
        case "":
            return text
        case "fail":
            raise DelegateError(line.reason)
        case "empty":
            return ""
        case "deaf":
            time.sleep(line.seconds)
            return text
        case "sleep":
            _wait(line.seconds, should_stop)
            return text
        case "hang":
            _wait(float("inf"), should_stop)
            raise DelegateError("The scripted reply hung until it was stopped.")
        case "endless":
            unit = text or "and so on "
            return (unit * (line.size // len(unit) + 1))[: line.size]
        case _:
            assert_never(fault)


def _wait(seconds: float, should_stop: Callable[[], bool]) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and not should_stop():
        time.sleep(POLL_S)


def _reply(task: Task, text: str) -> Reply:
    return Reply(task_id=task.id, text=text, usage=Usage(model_calls=1))
