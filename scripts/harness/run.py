#!/usr/bin/env python3
"""Run the crash, kill and race harnesses against the engine: run.py [--deep] [NAME ...].

The harnesses themselves (crashstates, killstorm, racestorm) are found through OMH_SHARED_TOOLS or
in `../shared/tools` beside the checkout; they need `strace`. Without `--deep` each job is a small
slice. Prints one line a job with its counts; exit 1 if any job found a violation, 2 if a job could
not be run.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import scenario

HERE = Path(__file__).resolve().parent
PY = shlex.quote(sys.executable)
ONE = f"{PY} {shlex.quote(str(HERE / 'scenario.py'))}"
CHECK = HERE / "crash_check.py"
COUNTS = re.compile(r"^(?:states|sessions|storms|nested|.*violations?).*$", re.M)
RUN = (
    f"{PY} -m omh_research run {shlex.quote(scenario.TOPIC)} --delegate scripted "
    "--if-confirmed view"
)
DURABLE = "write,fsync,rename,renameat,renameat2,mkdir,unlink,unlinkat,rmdir"


def tools_folder() -> Path | None:
    """Return the folder of the harnesses, or None."""
    given = os.environ.get("OMH_SHARED_TOOLS")
    folder = Path(given) if given else scenario.PROJECT.parent / "shared" / "tools"
    return folder if (folder / "crashstates" / "crashstates.py").is_file() else None


def missing() -> str:
    """Return why the harnesses cannot be run here, or ""."""
    if tools_folder() is None:
        return "no harness tools: set OMH_SHARED_TOOLS"
    if shutil.which("strace") is None:
        return "no strace: apt-get install strace"
    return ""


class Job:
    """Builds the command of one job in a scratch folder of its own."""

    def __init__(self, scratch: Path, deep: bool, stop_after: int = 0) -> None:
        tools = tools_folder()
        assert tools is not None
        self.tools, self.scratch, self.deep = tools, scratch, deep
        self.stop_after = stop_after

    def size(self, small: int, deep: int) -> str:
        """Return a count as an argument; a hunt for one violation looks at more cases."""
        return str(deep if self.deep else small * (10 if self.stop_after else 1))

    def crashstates(self, how: str, check: str, *more: str, laps: int) -> list[str]:
        """Explore the crashes of so many invocations."""
        runs = [part for _ in range(laps) for part in ("--run", f"{ONE} {how}")]
        tool = str(self.tools / "crashstates" / "crashstates.py")
        return [sys.executable, tool, *runs, "--check-py", f"{CHECK}:{check}", "--quiet",
                "--stop-after", str(self.stop_after), *more]  # fmt: skip

    def half_done(self, laps: int) -> Path:
        """Return a tree in which so many invocations were made."""
        folder = self.scratch / "setup"
        folder.mkdir()
        for _ in range(laps):
            subprocess.run([*shlex.split(ONE)], cwd=folder, check=True, capture_output=True)
        return folder

    def killstorm(self, *more: str) -> list[str]:
        """Kill or fail whole runs."""
        tool = str(self.tools / "killstorm" / "killstorm.py")
        checks = ("--check", f"{PY} {CHECK} finished", "--always", f"{PY} {CHECK} always")
        return [sys.executable, tool, "--run", RUN, *checks, "--forbid", "Traceback", *more]

    def racestorm(self, check: str, *more: str, run: str = RUN) -> list[str]:
        """Let many processes run at once."""
        tool = str(self.tools / "racestorm.py")
        return [sys.executable, tool, "--run", run, "--check", f"{PY} {CHECK} {check}",
                "--ok", "0,6", *more]  # fmt: skip


def _cancelled(job: Job) -> list[str]:
    setup = ("--setup", str(job.half_done(2)))
    cancel = ("--run", f"{ONE} cancel", "--run", f"{ONE} || [ $? = 4 ]")
    command = job.crashstates("scripted", "check_cancel", "--max", job.size(25, 0), *setup, laps=0)
    return [*command, *cancel]


SCRIPTED, HOST = 8, 12
JOBS: dict[str, Callable[[Job], list[str]]] = {
    "kill": lambda job: job.crashstates(
        "scripted", "check", "--mode", "kill", "--torn", "all" if job.deep else "few",
        "--max", job.size(60, 1500), laps=SCRIPTED),
    "power": lambda job: job.crashstates(
        "scripted", "check", "--mode", "power", "--fs", "strict", "--max", job.size(20, 0),
        laps=SCRIPTED),
    "power-ordered": lambda job: job.crashstates(
        "scripted", "check", "--mode", "power", "--fs", "ordered", "--max", job.size(40, 0),
        laps=SCRIPTED),
    "host": lambda job: job.crashstates(
        "host", "check_host", "--max", job.size(60, 1000), laps=HOST),
    "cancel": _cancelled,
    "nested": lambda job: job.crashstates(
        "scripted", "check", "--mode", "kill", "--max", job.size(20, 200), "--recover", ONE,
        "--nest", job.size(3, 50), laps=SCRIPTED),
    "storm-time": lambda job: job.killstorm(
        "--mode", "time", "--rounds", job.size(4, 60), "--max-runs", "80"),
    "storm-sweep": lambda job: job.killstorm(
        "--mode", "sweep", "--rounds", job.size(10, 0)),
    "storm-eio": lambda job: job.killstorm(
        "--mode", "sweep", "--rounds", job.size(10, 0), "--error", "EIO", "--calls", DURABLE,
        "--ok", "0,1"),
    "storm-eio-fsync": lambda job: job.killstorm(
        "--mode", "sweep", "--rounds", job.size(10, 0), "--error", "EIO", "--calls", "fsync",
        "--ok", "0,1", "--must-fail"),
    "storm-enospc": lambda job: job.killstorm(
        "--mode", "sweep", "--rounds", job.size(10, 0), "--error", "ENOSPC+",
        "--calls", "write,fsync,mkdir", "--ok", "0,1,120"),
    "race": lambda job: job.racestorm("confirmed-once", "-n", "8", "-m", job.size(2, 50)),
    "race-topics": lambda job: job.racestorm(
        "all-confirmed 8", "-n", "8", "-m", job.size(1, 20),
        run=RUN.replace(scenario.TOPIC, "How do tides shape coast {i}?")),
    "race-slow": lambda job: job.racestorm(
        "confirmed-once", "-n", job.size(3, 8), "-m", job.size(1, 50),
        "--slow", "rename,unlink,flock,fsync:5"),
    "race-kill": lambda job: job.racestorm(
        "always", "-n", "8", "-m", job.size(1, 50), "--volleys", "3", "--kill", "0.5",
        "--kill-within", "2500", "--ok", "0,6,-9,137"),
}  # fmt: skip


def run_job(name: str, deep: bool, stop_after: int = 0) -> tuple[int, str]:
    """Run one job; return its exit status and its summary."""
    with tempfile.TemporaryDirectory(prefix="omh-harness-") as folder:
        scratch = Path(folder)
        own = scenario.write_script(scratch)
        if name.startswith("race"):
            own["OMH_SCRIPT_CALLS"] = "calls.txt"  # in the storm's root: counted storm by storm
        os.environ.update(own, OMH_OFFLINE="1")
        command = JOBS[name](Job(scratch, deep, stop_after))
        started = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        took = time.monotonic() - started
    lines = COUNTS.findall(done.stdout) or (done.stdout + done.stderr).strip().splitlines()[-3:]
    summary = f"{name}: {' | '.join(lines[-2:])} ({took:.0f} s, exit {done.returncode})"
    if done.returncode:
        summary += "\n" + (done.stdout + done.stderr)[-6000:]
    return done.returncode, summary


def main() -> int:
    """Run the jobs that were named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(JOBS))
    parser.add_argument("--deep", action="store_true", help="the full sweeps")
    parser.add_argument("--stop-after", type=int, default=0, metavar="N", help="violations")
    asked = parser.parse_args()
    reason = missing()
    if reason:
        print(f"skipped: {reason}")
        return 2
    worst = 0
    for name in asked.names or JOBS:
        code, summary = run_job(name, asked.deep, asked.stop_after)
        print(summary, flush=True)
        worst = max(worst, code)
    return worst


if __name__ == "__main__":
    sys.exit(main())
