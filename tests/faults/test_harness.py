"""The outside harnesses on the real program: a slice in CI, everything with --deep (81 section 8)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HARNESS = Path(__file__).resolve().parents[2] / "scripts" / "harness" / "run.py"
pytestmark = pytest.mark.timeout(7200)


def run_harness(*args: str) -> str:
    done = subprocess.run(
        [sys.executable, str(HARNESS), *args], capture_output=True, text=True, check=False
    )
    if done.returncode == 2 and done.stdout.startswith("skipped:"):
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("job", ["power", "cancel"])
def test_a_slice_of_the_crash_states(job: str) -> None:
    """E1, E29, E35: power loss in the strict model, and a cancel."""
    assert "violations: 0" in run_harness(job)


@pytest.mark.deep
@pytest.mark.parametrize(
    "job",
    ["kill", "power", "power-ordered", "host", "cancel", "nested", "storm-time", "storm-sweep",
     "storm-eio", "storm-eio-fsync", "storm-enospc", "race", "race-topics", "race-slow", "race-kill"],
)  # fmt: skip
def test_every_harness_in_full(job: str, capsys: pytest.CaptureFixture[str]) -> None:
    summary = run_harness("--deep", job)
    with capsys.disabled():
        print("\n" + summary.strip())
    assert "violations: 0" in summary


@pytest.mark.deep
def test_every_planted_mistake_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    """81 section 8: swapped writes, dropped syncs, writing in place, a lock that locks nothing …"""
    done = subprocess.run(
        [sys.executable, str(HARNESS.with_name("mutations.py"))],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode == 2 and done.stdout.startswith("skipped:"):
        pytest.skip(done.stdout.strip())
    with capsys.disabled():
        print("\n" + done.stdout.strip().splitlines()[-1])
    assert done.returncode == 0, done.stdout + done.stderr
