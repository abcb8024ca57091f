"""The seed's JSON contract for the evidence tools: in, out, failure (spec 20-evidence-tools).

Job: read one JSON object from a file or stdin, give `{"ok": true, "data": …}` on stdout (and to
`--out`, whole or not at all), or `{"ok": false, "error": …}` on stderr with exit 1 and no output
file. A lone `--` before the options is ignored. Refuses to compute. Importers: cli.evidence.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import stat
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import click

from omh_research.cli.output import refuse_inside, write_stdout
from omh_research.errors import OmhError, ToolInputError, UsageError

MAX_INPUT_BYTES = 256 * 1024 * 1024
# The shell's names for a pipe that the caller made ("/dev/fd/63" for `<(…)`).
_STREAMS = ("/dev/stdin", "/dev/fd/")


class ToolCommand(click.Command):
    """A command under the contract: every failure, of usage too, is an envelope and exit 1."""

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,
    ) -> click.Context:
        """Parse, after dropping a lone `--` that some callers put before the options."""
        if args and args[0] == "--":
            args = args[1:]
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            fail(error.format_message())


def run(operation: Callable[[], dict[str, Any]], out: str | None) -> None:
    """Run `operation` and give its result; any of our errors becomes the failure envelope."""
    try:
        target = check_out(out) if out is not None else None
        text = _dump({"ok": True, "data": operation()})
        # A lone surrogate of the input becomes its JSON escape, the only form UTF-8 can hold.
        data = text.encode("utf-8", "backslashreplace") + b"\n"
        if target is not None:
            from omh_research.store.disk import replace

            replace(target, data)
    except OmhError as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.strerror or error}: {error.filename or ''}".rstrip(": "))
    except (RecursionError, MemoryError):
        fail("The input is nested too deep or too large.")
    except Exception as error:  # a bug: the contract holds all the same
        from omh_research.cli.render import fault_of

        fail(fault_of(error))
    write_stdout(data)


def _dump(envelope: dict[str, Any]) -> str:
    """Return strict JSON: a NaN or infinity that came with the input goes back as null."""
    try:
        return json.dumps(envelope, ensure_ascii=False, allow_nan=False, indent=2)
    except ValueError:
        finite = _finite(envelope)
    return json.dumps(finite, ensure_ascii=False, allow_nan=False, indent=2)


def _finite(value: object) -> object:
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    is_number = not isinstance(value, float) or math.isfinite(value)
    return value if is_number else None


def fail(reason: str) -> NoReturn:
    """Print the failure envelope on stderr and exit 1."""
    text = json.dumps({"ok": False, "error": " ".join(reason.split())}, ensure_ascii=True)
    with contextlib.suppress(OSError):  # nobody is left to tell
        click.echo(text, err=True)
    sys.exit(1)


def read_payload(path: str | None) -> dict[str, Any]:
    """Return the JSON object in the file at `path`, or on stdin. Raises ToolInputError."""
    return parse_object(read_input(path), path or "stdin")


def read_input(path: str | None) -> str:
    """Return the text of a file, or of stdin for None or `-`. Raises ToolInputError."""
    if path is None or path == "-":
        stream = getattr(sys.stdin, "buffer", None)
        if stream is None:
            raise ToolInputError("stdin is closed.", hint="Name the input with --input FILE.")
        raw: bytes = stream.read(MAX_INPUT_BYTES + 1)
    else:
        try:
            is_stream = path.startswith(_STREAMS)
            if not is_stream and not stat.S_ISREG(os.stat(path).st_mode):
                raise ToolInputError(f"{path} is not a regular file.")
            with open(path, "rb") as file:
                raw = file.read(MAX_INPUT_BYTES + 1)
        except OSError as error:
            raise ToolInputError(f"Cannot read {path}: {error.strerror or error}.") from error
    if len(raw) > MAX_INPUT_BYTES:
        raise ToolInputError(f"{path or 'stdin'} is larger than {MAX_INPUT_BYTES} bytes.")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ToolInputError(f"{path or 'stdin'} is not UTF-8: {error}.") from error


def parse_object(text: str, name: str) -> dict[str, Any]:
    """Return the JSON object that `text` is. Raises ToolInputError, naming `name`.

    NaN and infinities are read: for caps they count as 0 (T2).
    """
    try:
        value = json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        raise ToolInputError(f"{name} is not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise ToolInputError(f"The payload in {name} must be a JSON object.")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object; of a name given twice one value would vanish, so it is refused."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the name {name[:80]!r} stands twice in one object")
        found[name] = value
    return found


def check_out(out: str) -> str:
    """Return the absolute path to write, refusing `..`, links and what is no regular file.

    Raises ToolInputError before anything is computed.
    """
    parts = out.replace("\\", "/").split("/")
    if not out or ".." in parts or parts[-1] in ("", "."):
        raise ToolInputError(
            f"--out refuses this path: {out!r}.", hint="Name a file, without `..`."
        )
    path = os.path.abspath(out)
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise ToolInputError(f"--out: the folder of {out} does not exist.")
    for step in _steps(out, path):
        try:
            mode = os.lstat(step).st_mode
        except FileNotFoundError:
            continue
        if stat.S_ISLNK(mode):
            raise ToolInputError(f"--out refuses links: {step}.")
        if step == path and not stat.S_ISREG(mode):
            raise ToolInputError(f"--out: {out} is not a regular file.")
    try:
        refuse_inside(path, os.environ.get("OMH_ROOT") or os.getcwd(), "--out")
    except UsageError as error:
        raise ToolInputError(error.message, hint=error.hint) from None
    return path


def _steps(out: str, path: str) -> list[str]:
    """Return the file and the folders that the caller named: all of a relative path's."""
    steps, step = [path], os.path.dirname(path)
    stop = os.getcwd() if not os.path.isabs(out) else os.path.dirname(step)
    while step not in (stop, os.path.dirname(step)):
        steps.append(step)
        step = os.path.dirname(step)
    return steps
