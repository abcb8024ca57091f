"""`watch` seen in a real terminal multiplexer: progress, votes, spend, resizing, leaving (O2)."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from omh_research.cli.screen import fitted
from tests.runs import (
    NAMES,
    SUBTOPICS,
    Run,
    child_command,
    child_environment,
    finding,
    report,
    verdict,
)

TMUX = shutil.which("tmux")
needs_tmux = pytest.mark.skipif(TMUX is None, reason="no tmux on PATH")

SLOW = """
import pathlib, sys, time
prompt = sys.stdin.read()
here = pathlib.Path(__file__).parent
if "VOTE: CONFIRM" in prompt:
    # The first votes come at once, the others when the watcher has seen enough.
    (here / f"vote-{{time.monotonic_ns()}}").touch()
    while len(list(here.glob("vote-*"))) > 2 and not (here / "go-on").exists():
        time.sleep(0.05)
    print("VOTE: CONFIRM\\nREASON: the quote says so")
elif "VERDICT: " in prompt:
    print((here / "verdict.txt").read_text())
elif "Executive Summary" in prompt:
    print((here / "report.txt").read_text())
else:
    name = max({names!r}, key=prompt.rfind)
    print((here / f"{{name}}.txt").read_text())
"""


class Terminal:
    """A tmux server of its own with one window that runs a shell."""

    def __init__(self, folder: Path) -> None:
        self._socket = str(folder / "tmux")
        self.environment = child_environment(TERM="screen-256color", LC_ALL="C.UTF-8", PS1="$ ")
        self("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "30", "sh")

    def __call__(self, *args: str) -> str:
        done = subprocess.run(
            [str(TMUX), "-u", "-S", self._socket, *args],
            env=self.environment, capture_output=True, timeout=30, check=True,
        )  # fmt: skip
        return done.stdout.decode("utf-8", "replace")

    def type(self, line: str) -> None:
        self("send-keys", "-l", line)
        self("send-keys", "Enter")

    def resize(self, columns: int, lines: int) -> None:
        """Give the window another size; a server without clients may drop the first of two."""
        for width in (columns + 1, columns):
            self("resize-window", "-x", str(width), "-y", str(lines))
            time.sleep(0.5)

    def screen(self) -> str:
        return self("capture-pane", "-p")

    def until(self, found: Callable[[str], bool]) -> str:
        """Return the screen once it holds what is waited for."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            shown = self.screen()
            if found(shown):
                return shown
            time.sleep(0.1)
        raise AssertionError(f"not seen within 60 s; the screen was:\n{self.screen()}")


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    opened = Terminal(tmp_path)
    yield opened
    opened("kill-server")


def _slow_run(folder: Path) -> Run:
    """A started run whose answers come from a program that waits for `go-on`."""
    program = folder / "agent.py"
    program.write_text(SLOW.format(names=NAMES))
    for name in NAMES:
        (folder / f"{name}.txt").write_text(finding(name))
    (folder / "report.txt").write_text(report())
    (folder / "verdict.txt").write_text(verdict())
    run = Run(folder)
    command = f"{shlex.quote(sys.executable)} {shlex.quote(str(program))}"
    started = run.start("--command", command, "--panel", "3", *SUBTOPICS, delegate="command")
    assert started.code == 0, started.err
    return run


@needs_tmux
def test_watch_in_a_terminal_shows_progress_votes_and_spend(
    tmp_path: Path, terminal: Terminal
) -> None:
    run = _slow_run(tmp_path)
    words = child_command("watch", run.slug, "--root", str(run.root))
    terminal.type(f"{shlex.join(words)}; echo EXIT:$?")
    terminal.until(lambda shown: "subtopics [....." in shown and "q leaves" in shown)
    go = "import sys; from omh_research import Engine; Engine(sys.argv[1]).run(sys.argv[2])"
    work = subprocess.Popen(
        [sys.executable, "-c", go, str(run.root), run.slug],
        env=child_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        shown = terminal.until(lambda shown: "of them votes" in shown)
        assert "3/3" in shown and all(f"done    {name}" in shown for name in NAMES)
        assert "phase     verify" in shown and "spent     4 calls" in shown
        # Narrower and lower: every line fits, nothing scrolls, the cut is said.
        terminal.resize(40, 8)
        shown = terminal.until(lambda shown: "more lines" in shown)
        assert shown.startswith(run.slug[:20]), shown
        assert max(len(line) for line in shown.splitlines()) <= 40
        terminal.resize(100, 30)
        shown = terminal.until(lambda shown: "q leaves" in shown)
        assert shown.count("subtopics [") == 1
        terminal("send-keys", "q")
        shown = terminal.until(lambda shown: "EXIT:0" in shown)
        assert "subtopics [" in shown, "the last frame stays"
        assert work.poll() is None, "the run goes on"
    finally:
        (tmp_path / "go-on").touch()
        out, err = work.communicate(timeout=120)
    assert work.returncode == 0, (out, err)


@needs_tmux
def test_ctrl_c_leaves_the_terminal_as_it_was(tmp_path: Path, terminal: Terminal) -> None:
    run = Run(tmp_path)
    run.start()
    before = terminal.until(lambda shown: bool(shown.strip()))
    words = child_command("watch", run.slug, "--root", str(run.root))
    terminal.type(f"{shlex.join(words)}; echo EXIT:$?")
    terminal.until(lambda shown: "q leaves" in shown)
    terminal("send-keys", "C-c")
    shown = terminal.until(lambda shown: "EXIT:130" in shown)
    assert "Traceback" not in shown and before.strip()[0] in shown
    terminal.type("stty -a")
    terminal.until(lambda shown: " icanon" in shown and " echo " in shown)
    assert run.state()["phase"] == "search"


@needs_tmux
def test_watch_ends_with_the_run_and_shows_its_end(tmp_path: Path, terminal: Terminal) -> None:
    run = Run(tmp_path)
    run.start()
    words = child_command("watch", run.slug, "--root", str(run.root))
    terminal.type(f"{shlex.join(words)}; echo EXIT:$?")
    terminal.until(lambda shown: "q leaves" in shown)
    assert run.to_end().json["status"] == "confirmed"
    shown = terminal.until(lambda shown: "EXIT:0" in shown)
    assert f"{run.slug}  confirmed" in shown


@needs_tmux
def test_a_dumb_terminal_gets_no_cursor_movements(tmp_path: Path, terminal: Terminal) -> None:
    run = Run(tmp_path)
    run.start()
    run.to_end()
    words = child_command("watch", run.slug, "--root", str(run.root))
    terminal.type(f"TERM=dumb {shlex.join(words)} | od -c | grep -c 033; echo DONE")
    assert "\n0\n" in terminal.until(lambda shown: "\nDONE" in shown)


def test_a_frame_is_cut_to_its_window_wide_characters_counted() -> None:
    text = "abcdef\n潮汐如何塑造海岸\nthird\nfourth"
    assert fitted(text, 5, 9) == ["abcde", "潮汐", "third", "fourt"]
    assert fitted(text, 80, 3) == ["abcdef", "潮汐如何塑造海岸", "... 2 more lines"]
    assert fitted(text, 80, 1) == ["abcdef"]
    assert fitted("e\u0301" * 9, 4, 1) == ["e\u0301" * 4]
    assert os.linesep not in "".join(fitted(text, 80, 9))
