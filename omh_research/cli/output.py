"""Where a command writes what it was asked to write (`-o`, `--out`, `--output`).

Job: judge an output path before any work, then write to it. `-` and the shell's names of stdout
are stdout; a file is replaced whole or not at all, a link's target likewise; a pipe or a terminal
is written to, never replaced. Refuses a folder, and every place inside the project's `.omh/`,
which the engine alone writes. Importers: cli.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import time

from msgspec import Struct

from omh_research.errors import StorageError, UsageError
from omh_research.lazy_re import lazy_re

LEFTOVER_S = 60  # a younger one may be another command's, still being written
_STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
_DESCRIPTOR = lazy_re(r"(?:/dev/fd|/proc/self/fd)/(\d{1,6})")


class Output(Struct, frozen=True):
    """A judged output path: `shown` as the user wrote it.

    `path` is the file to replace, "" where `descriptor` is written to; `opened` is a pipe or a
    device that is opened first.
    """

    shown: str
    path: str = ""
    descriptor: int = -1
    opened: str = ""
    mode: int = 0o644

    @property
    def is_stdout(self) -> bool:
        """Tell whether the result goes to standard output: then nothing else may."""
        return self.descriptor == 1


def judge(out: str, root: str, option: str, *, follow: bool = True) -> Output:
    """Return where `out` leads; `root` is the project's, `option` names the option in errors.

    `follow=False` refuses a link (T25).

    Raises:
        UsageError: no usable path, a folder, a link in a circle, or a place inside `.omh/`.
    """
    if not out.strip() or "\0" in out:
        raise UsageError(f"{option}: no usable path.", hint="Name a file, or - for stdout.")
    if out in _STDOUT:
        return Output(out, descriptor=1)
    if out == "/dev/stderr":
        return Output(out, descriptor=2)
    if number := _DESCRIPTOR.fullmatch(out):
        return Output(out, descriptor=int(number[1]))
    path = os.path.abspath(out)
    refuse_inside(path, root, option)
    if out.endswith(("/", os.sep)):
        raise UsageError(f"{option} {out} is a folder.", hint="Name a file.")
    is_link = os.path.islink(path)
    if is_link and not follow:
        raise UsageError(f"{option} {out} is a link.", hint="Name a plain file.")
    try:
        info = os.stat(path)
    except FileNotFoundError:
        target = os.path.realpath(path) if is_link else path
        if not os.path.isdir(os.path.dirname(target)):
            raise UsageError(
                f"{option} {out}: there is no folder {os.path.dirname(target)}.", hint="Make it."
            ) from None
        return Output(out, target)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{option} {out}: {reason}.", hint="Name a file.") from None
    if stat.S_ISDIR(info.st_mode):
        raise UsageError(f"{option} {out} is a folder.", hint="Name a file.")
    if stat.S_ISFIFO(info.st_mode) or stat.S_ISCHR(info.st_mode):
        return Output(out, opened=path)
    if not stat.S_ISREG(info.st_mode):
        raise UsageError(f"{option} {out} is neither a file nor a pipe.", hint="Name a file.")
    real = os.path.realpath(path) if is_link else path
    return Output(out, real, mode=stat.S_IMODE(info.st_mode))


def refuse_stdout(out: str, option: str) -> None:
    """Refuse the names of standard output where a folder is written: `-` would become a folder.

    Raises:
        UsageError: `out` is one of them.
    """
    if out in _STDOUT:
        raise UsageError(
            f"{option} {out}: a folder of files cannot go to standard output.",
            hint="Name a folder.",
        )


def refuse_inside(path: str, root: str, option: str) -> None:
    """Refuse a path that lies in the project's `.omh/`, links and `..` resolved.

    Raises:
        UsageError: it does.
    """
    try:
        base = os.stat(os.path.join(root, ".omh"))
    except OSError:
        base = None
    spelt, resolved = os.path.abspath(path), os.path.realpath(path)
    written = os.path.join(os.path.abspath(root), ".omh")
    for step in (*_upward(spelt), *_upward(resolved)):
        is_inside = step in (written, os.path.realpath(written))
        if not is_inside and base is not None:
            with contextlib.suppress(OSError):  # other spellings of one folder
                is_inside = os.path.samestat(base, os.stat(step))
        if is_inside:
            raise UsageError(
                f"{option}: {path} lies inside .omh/, which only the engine writes.",
                hint="Choose a place outside of it.",
            )


def _upward(path: str) -> list[str]:
    steps = [path]
    while (above := os.path.dirname(steps[-1])) != steps[-1]:
        steps.append(above)
    return steps


def write(output: Output, data: bytes) -> None:
    """Write the whole of `data` where `output` leads.

    Raises:
        StorageError: the file system refused; an old file is as it was.
        BrokenPipeError: the reader of a pipe went away.
    """
    if output.path:
        from omh_research.store import disk

        disk.replace(output.path, data, mode=output.mode)
        _sweep(output.path)
        return
    if output.is_stdout:
        if sys.stdout is None:
            raise StorageError("Standard output is closed.", hint="Name a file.")
        write_stdout(data)
        return
    try:
        if output.opened:
            with open(output.opened, "wb", buffering=0) as stream:
                _write_all(stream.fileno(), data)
        else:
            _write_all(output.descriptor, data)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise StorageError(f"Cannot write {output.shown}: {error.strerror}.") from error


def write_stdout(data: bytes) -> None:
    """Write bytes to standard output, whatever the console's code page; nothing if it is closed."""
    if sys.stdout is None:
        return
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(data.decode("utf-8", "replace"))
        return
    sys.stdout.flush()
    view = memoryview(data)
    while view:  # unbuffered, a write may take a part only
        view = view[stream.write(view) :]
    stream.flush()


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _sweep(path: str) -> None:
    """Take away what a stopped write of the same file left behind."""
    import re

    from omh_research.store import disk

    folder, name = os.path.split(path)
    leftover = re.compile(
        re.escape(f".{name[:200]}.") + r"[0-9a-f]{12}" + re.escape(disk.TEMP_SUFFIX)
    )
    for other in os.listdir(folder):
        full = os.path.join(folder, other)
        with contextlib.suppress(FileNotFoundError):  # another command took it away
            if leftover.fullmatch(other) and os.lstat(full).st_mtime < time.time() - LEFTOVER_S:
                disk.remove(full)
