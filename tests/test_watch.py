"""`watch`: live on a terminal, quiet without one (O2)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runs import SUBTOPICS, Run, child_command, child_environment


def test_without_a_terminal_it_prints_the_last_state_once(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.start(*SUBTOPICS)
    run.step()
    once = run.child("watch", run.slug, "--once")
    assert once.code == 0 and "\x1b" not in once.out
    assert "subtopics [########################] 3/3" in once.out
    assert "phase     gap_check" in once.out and "spent     3 calls" in once.out
    run.to_end()
    ended = run.child("watch", run.slug)
    assert ended.code == 0 and ended.out.count("confirmed") >= 1


def test_a_blocked_run_ends_it_with_its_exit_code(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.start("--cap", "max_model_calls=3", *SUBTOPICS)
    run.to_end()
    ended = run.child("watch", run.slug)
    assert ended.code == 3 and "blocked   cap" in ended.out


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals on Windows")
def test_on_a_terminal_it_redraws_in_place_until_the_run_ends(tmp_path: Path) -> None:
    import pty

    run = Run(tmp_path)
    run.start(*SUBTOPICS)
    for _ in range(3):
        run.step()
    ours, theirs = pty.openpty()
    command = child_command("watch", run.slug, "--root", str(run.root))
    child = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=child_environment()
    )
    os.close(theirs)
    shown = b""
    while b"verify" not in shown:
        shown += os.read(ours, 4096)
    assert run.step().json["status"] == "confirmed"
    while True:
        try:
            more = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not more:
            break
        shown += more
    assert child.wait(timeout=30) == 0
    os.close(ours)
    assert b"\x1b[" in shown and b"confirmed" in shown
