#!/usr/bin/env python3
"""Plant one mistake at a time and see whether the harnesses find it: mutations.py [NAME ...].

Each mutation is a change of the program's text in a copy of the project; the job named beside it
must report a violation there. Exit 1 if one is not found (or if its text is not there any more).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

import run
import scenario


class Mutation(NamedTuple):
    """A mistake: in which file, what stands there, what stands there instead, who must find it."""

    file: str
    old: str
    new: str
    job: str


DISK, WRITER, COMMIT = "store/disk.py", "store/writer.py", "commit.py"
EXECUTE = (
    "        for op in commit.ops:\n            guard()\n            self._do(commit.slug, op)\n"
)
EXECUTE_FIRST = (
    "        for op in sorted(commit.ops, key=lambda op: not isinstance(op, FIRST)):\n"
    "            self._do(commit.slug, op)\n"
)
MUTATIONS: dict[str, Mutation] = {
    "the state before the findings": Mutation(
        WRITER, EXECUTE, EXECUTE_FIRST.replace("FIRST", "PutState"), "kill"
    ),
    "cleared before confirmed": Mutation(
        WRITER, EXECUTE, EXECUTE_FIRST.replace("FIRST", "Clear"), "kill"
    ),
    "confirmed before sealed": Mutation(
        COMMIT,
        "        Seal(report),\n        PutFiles((report,)),\n",
        "        PutFiles((report,)),\n        Seal(report),\n",
        "kill",
    ),
    "no fsync of a file": Mutation(
        DISK,
        "                if durable:\n                    os.fsync(fd)\n",
        "",
        "power",
    ),
    "no fsync of the folder after a rename": Mutation(
        DISK,
        '        with _storage_errors("write", path):\n'
        "            sync_directory(os.path.dirname(path))\n",
        "        pass\n",
        "power",
    ),
    "no fsync of the folder of several files": Mutation(
        DISK, "            sync_directory(folder)\n", "            pass\n", "power"
    ),
    "no fsync of the folder above a new one": Mutation(
        DISK, "            sync_directory(os.path.dirname(folder))\n", "", "power"
    ),
    "no fsync of the folder after a removal": Mutation(
        DISK,
        "        if durable:\n            sync_directory(os.path.dirname(path))\n    return True\n",
        "    return True\n",
        "power",
    ),
    "no fsync of a log": Mutation(
        DISK,
        '                _write_all(fd, encode(line) + b"\\n")\n            os.fsync(fd)\n',
        '                _write_all(fd, encode(line) + b"\\n")\n',
        "power",
    ),
    "written in place": Mutation(
        DISK,
        "        fd = _open_temp(temp, mode)\n",
        "        temp = path\n"
        "        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)\n",
        "kill",
    ),
    "a log line glued to a torn one": Mutation(
        DISK, "                _write_all(fd, TORN_MARK)\n", "                pass\n", "kill"
    ),
    "another program's cancel written over": Mutation(
        WRITER,
        "            cancel_requested=found.cancel_requested,\n",
        "",
        "tests/store/test_writer.py",
    ),
    "a stored reply not durable": Mutation(
        "store/mailbox.py",
        "        disk.replace(path, data, mode=disk.STATE_MODE)\n",
        "        disk.replace(path, data, mode=disk.STATE_MODE, durable=False)\n",
        "host",
    ),
    "a lock that locks nothing": Mutation(
        "store/lock.py", "            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)\n", "", "race"
    ),
    "the state not read again after waiting": Mutation(
        WRITER,
        "        if is_own(found):\n            check_revision(found, op.base)\n",
        "        if is_own(found):\n            pass\n",
        "tests/store/test_writer.py",
    ),
}


def copy_project(folder: Path) -> Path:
    """Return a copy of what the harnesses need of the project."""
    copy = folder / "project"
    for part in ("omh_research", "roles", "state_schema", "scripts", "tests"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(scenario.PROJECT / part, copy / part, ignore=ignored)
    shutil.copy(scenario.PROJECT / "pyproject.toml", copy)
    return copy


def is_found(mutation: Mutation) -> bool:
    """Plant one mistake in a copy; tell whether its job fails there."""
    with tempfile.TemporaryDirectory(prefix="omh-mutation-") as scratch:
        copy = copy_project(Path(scratch))
        path = copy / "omh_research" / mutation.file
        text = path.read_text(encoding="utf-8")
        if text.count(mutation.old) != 1:
            raise SystemExit(f"{mutation.file}: the text to change is not there once")
        path.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
        tools = run.tools_folder()
        own = {"PYTHONPATH": str(copy), "OMH_SHARED_TOOLS": str(tools)}
        if mutation.job.endswith(".py"):
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", mutation.job]
        else:
            tool = str(copy / "scripts" / "harness" / "run.py")
            command = [sys.executable, tool, "--stop-after", "1", mutation.job]
        done = subprocess.run(
            command,
            cwd=copy,
            env={**os.environ, **own},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in (0, 1):
            raise SystemExit(f"could not be run: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.returncode == 1


def main() -> int:
    """Plant the mutations that were named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="; ".join(MUTATIONS))
    names = parser.parse_args().names or list(MUTATIONS)
    reason = run.missing()
    if reason:
        print(f"skipped: {reason}")
        return 2
    missed = []
    for name in names:
        found = is_found(MUTATIONS[name])
        print(f"{'found' if found else 'MISSED'}: {name} ({MUTATIONS[name].job})", flush=True)
        if not found:
            missed.append(name)
    print(f"mutations: {len(names)} planted, {len(names) - len(missed)} found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
