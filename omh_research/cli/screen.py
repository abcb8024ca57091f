"""A live view on a terminal: its own screen, cut to the window, left by q or Ctrl-C (spec O2).

Job: draw frames in place whatever the window's size becomes, and wait for a key between two.
Refuses to run without a terminal. Importers: cli.watch.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import time
import unicodedata
from types import TracebackType
from typing import Any

QUIT_KEYS = "qQ\x1b\x04"
_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_HOME, _TO_LINE_END, _TO_END = "\x1b[H", "\x1b[K", "\x1b[J"


def is_live() -> bool:
    """Tell whether stdout is a terminal that understands cursor movements."""
    return (
        sys.stdout is not None
        and sys.stdout.isatty()
        and os.environ.get("TERM", "") not in ("", "dumb")
    )


def window() -> os.terminal_size:
    """Return the size of the terminal itself: an exported COLUMNS or LINES does not change."""
    with contextlib.suppress(OSError, ValueError):
        size = os.get_terminal_size(sys.stdout.fileno())
        if size.columns and size.lines:
            return size
    return shutil.get_terminal_size()


def fitted(text: str, columns: int, lines: int) -> list[str]:
    """Return the lines of a text cut to a window; what is left out at the foot is counted."""
    rows = [_cut(line, columns) for line in text.split("\n")]
    if len(rows) <= lines:
        return rows
    kept = max(1, lines - 1)
    return [*rows[:kept], _cut(f"... {len(rows) - kept} more lines", columns)][:lines]


def _cut(line: str, columns: int) -> str:
    width = 0
    for index, char in enumerate(line):
        if not unicodedata.combining(char):
            width += 2 if unicodedata.east_asian_width(char) in "WF" else 1
        if width > columns:
            return line[:index]
    return line


class Screen:
    """The terminal's second screen while it is open; the first one comes back as it was."""

    def __init__(self) -> None:
        self._saved: Any = None

    def __enter__(self) -> Screen:
        with contextlib.suppress(ImportError, OSError, ValueError):
            import termios
            import tty

            if sys.stdin is not None and sys.stdin.isatty():
                self._saved = termios.tcgetattr(sys.stdin)
                tty.setcbreak(sys.stdin)
        sys.stdout.write(_ENTER)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._saved is not None:
            import termios

            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, self._saved)
        sys.stdout.write(_LEAVE)
        sys.stdout.flush()

    def draw(self, text: str) -> None:
        """Show a text from the upper left corner, cut to the window as it is now."""
        size = window()
        rows = fitted(text, size.columns, max(1, size.lines - 1))
        body = "".join(f"{row}{_TO_LINE_END}\n" for row in rows)
        sys.stdout.write(_HOME + body + _TO_END)
        sys.stdout.flush()

    def wait(self, seconds: float) -> bool:
        """Wait; return True at once when a key to leave is pressed."""
        if self._saved is None:
            time.sleep(seconds)
            return False
        import select

        if not select.select([sys.stdin], [], [], seconds)[0]:
            return False
        pressed = os.read(sys.stdin.fileno(), 64).decode("utf-8", "replace")
        return not pressed or pressed in QUIT_KEYS
