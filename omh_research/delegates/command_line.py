"""Command lines for agent programs: which arguments, which files, where the prompt goes.

Job: turn the command delegate's options and one prompt into one ready call. Refuses to start
anything and to use a shell. Importers: command, registry's options.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from msgspec import Struct

from omh_research.delegates.presets import MAX_ARGUMENT_BYTES, PRESETS, Preset, ResultFormat
from omh_research.documents.task import Task
from omh_research.errors import DelegateError, PrerequisiteError, UsageError

PROMPT_FILE, ANSWER_FILE, USAGE_FILE = "prompt.txt", "answer.txt", "usage.json"


class CommandOptions(Struct, frozen=True):
    """`preset` names an agent program, `command` is a free command line (or a preset's name).

    `arguments` are appended to a preset's (for example `--model NAME`). `timeout_s` bounds one
    run of the program, `max_bytes` its output. `result` is the output's form for a free command.
    `gather`: read the task's texts beforehand and put them into the prompt; `auto` does so for
    free commands and for corpus tools, which an outside program cannot call.
    """

    preset: str = ""
    command: str = ""
    arguments: str = ""
    timeout_s: float = 900.0
    max_bytes: int = 4_000_000
    result: ResultFormat = "auto"
    gather: Literal["auto", "always", "never"] = "auto"


class Call(Struct, frozen=True):
    """One run of a program. `stdin` None means the null device; `folder` takes its output."""

    argv: tuple[str, ...]
    stdin: Path | None
    folder: Path
    cwd: Path
    timeout_s: float
    max_bytes: int
    notes: tuple[str, ...] = ()


class CommandLine:
    """The command line of one delegate; made once, prepared for every task."""

    def __init__(self, options: CommandOptions) -> None:
        """Raise `UsageError` without exactly one of preset and command."""
        self._options = options
        self._preset = _preset_of(options)
        self._argv = () if self._preset else _split(options.command, "command line")
        self._extra = _split(options.arguments, "arguments") if options.arguments else ()
        self.limits_to_list = self._preset is not None and self._preset.limits_to_list
        self.result: ResultFormat = self._preset.result if self._preset else options.result

    def check_program(self) -> None:
        """Raise `PrerequisiteError` if the program is not there: before any work is begun."""
        _find_program(self._preset.program if self._preset else self._argv[0])

    def gathers(self, task: Task) -> bool:
        """Tell whether the task's texts are to be read before the program is asked."""
        if self._options.gather != "auto":
            return self._options.gather == "always"
        return self._preset is None or any(tool.startswith("corpus_") for tool in task.tools)

    def prepare(self, folder: Path, prompt: str, *, browses: bool) -> Call:
        """Write the prompt into `folder` and return the call for a role that browses or not.

        Raises `PrerequisiteError` if the program is not there and `DelegateError` for a prompt
        that does not fit an argument where the program takes it no other way.
        """
        prompt = prompt.replace("\0", "")
        (folder / PROMPT_FILE).write_text(prompt, encoding="utf-8", errors="replace")
        work = folder / "work"
        work.mkdir()
        if self._preset is None:
            words = _Words((*self._argv, *self._extra), _UNSCOPED)
        else:
            words = _preset_words(self._preset, self._extra, prompt, browses)
            for name, content in self._preset.files_web if browses else self._preset.files_closed:
                (work / name).write_text(content, encoding="utf-8")
        if words.spilled:
            prompt = f"Read the file {folder / PROMPT_FILE} and do what it says."
        takes_prompt = any("{prompt}" in part or "{prompt_file}" in part for part in words.argv)
        return Call(
            argv=_fill(words.argv, folder, prompt),
            stdin=None if takes_prompt else folder / PROMPT_FILE,
            folder=folder,
            # A free command may name files of the user's folder; an agent program gets none.
            cwd=Path.cwd() if self._preset is None else work,
            timeout_s=self._options.timeout_s,
            max_bytes=self._options.max_bytes,
            notes=(words.note,) if words.note else (),
        )


_UNSCOPED = "the program's tools could not be scoped: only the words of its prompt limit them"


def _preset_of(options: CommandOptions) -> Preset | None:
    if bool(options.preset) == bool(options.command):
        raise UsageError(
            "The command delegate needs either a preset or a command line.",
            hint=f"Presets: {', '.join(PRESETS)}.",
        )
    if options.command:
        return PRESETS.get(options.command.strip())
    if options.preset not in PRESETS:
        raise UsageError(
            f"No preset is called {options.preset!r}.", hint=f"Presets: {', '.join(PRESETS)}."
        )
    return PRESETS[options.preset]


def _split(line: str, what: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(line, posix=os.name == "posix"))
    except ValueError as error:
        raise UsageError(f"The {what} {line!r} cannot be read: {error}.") from error
    if not words:
        raise UsageError(f"The {what} is empty.")
    return words


class _Words(NamedTuple):
    """A command line before its placeholders are filled, and what must be said of its limits."""

    argv: tuple[str, ...]
    note: str
    spilled: bool = False


def _preset_words(preset: Preset, extra: tuple[str, ...], prompt: str, browses: bool) -> _Words:
    scope, note = (preset.web if browses else preset.closed), preset.note
    spilled = bool(preset.spilled) and _bytes(prompt) > MAX_ARGUMENT_BYTES
    if spilled:
        scope, note = preset.spilled, preset.spilled_note
    elif note:
        note = f"tools could not be scoped to a list: {note}"
    return _Words((preset.program, *preset.arguments, *scope, *extra), note, spilled)


def _fill(argv: Sequence[str], folder: Path, prompt: str) -> tuple[str, ...]:
    """Put prompt and file names into the arguments and find the program."""
    if any("{prompt}" in part for part in argv) and _bytes(prompt) > MAX_ARGUMENT_BYTES:
        raise DelegateError(
            f"The prompt has {_bytes(prompt)} bytes; an argument holds {MAX_ARGUMENT_BYTES}.",
            hint="Use {prompt_file} in the command line, or leave the prompt to standard input.",
        )
    names = {
        "{prompt_file}": str(folder / PROMPT_FILE),
        "{answer_file}": str(folder / ANSWER_FILE),
        "{usage_file}": str(folder / USAGE_FILE),
    }
    filled = []
    for part in argv:
        for name, path in names.items():
            part = part.replace(name, path)
        filled.append(part.replace("{prompt}", prompt))
    return (_find_program(filled[0]), *filled[1:])


def _find_program(name: str) -> str:
    program = shutil.which(name)
    if program is None:
        raise PrerequisiteError(
            f"The program {name!r} is not installed or not on PATH.",
            hint="Install it, or give another one with --command.",
        )
    return str(Path(program).absolute())


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
