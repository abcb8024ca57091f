"""The environment of the scripts: one `.venv` beside the project, made and kept by itself.

Job: find a Python >= 3.11, create the environment, install the project with the wanted extras, and
do nothing when that is done already. Standard library only: it runs before anything is installed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
VENV = PROJECT / ".venv"
LOCK = PROJECT / "requirements-dev.lock"
NEWEST_FIRST = ("python3.14", "python3.13", "python3.12", "python3.11", "python3")


def find_python() -> str:
    """Return a Python of at least 3.11: the running one if it is."""
    if sys.version_info >= (3, 11):
        return sys.executable
    for name in NEWEST_FIRST:
        path = shutil.which(name)
        if path is None:
            continue
        test = "import sys; sys.exit(sys.version_info < (3, 11))"
        if subprocess.run([path, "-c", test], check=False).returncode == 0:
            return path
    sys.exit("omh-research needs Python 3.11 or newer; none was found on PATH.")


def binary(name: str) -> str:
    """Return a program of the environment."""
    folder = VENV / ("Scripts" if os.name == "nt" else "bin")
    return str(folder / (f"{name}.exe" if os.name == "nt" else name))


@contextlib.contextmanager
def _one_at_a_time() -> Iterator[None]:
    path = PROJECT / ".venv.lock"
    with open(path, "a+", encoding="utf-8") as stream:
        try:
            import fcntl

            fcntl.flock(stream, fcntl.LOCK_EX)
        except ImportError:
            pass
        yield


def ensure(kind: str, install: list[list[str]]) -> None:
    """Make the environment ready for `kind`; `install` holds pip argument lists, in order."""
    facts = [kind, sys.version, str(PROJECT)]
    facts += [path.read_text("utf-8") for path in (PROJECT / "pyproject.toml", LOCK)
              if path.exists()]  # fmt: skip
    stamp_text = hashlib.sha256("\0".join(facts).encode()).hexdigest()
    stamp = VENV / f".ready-{kind}"
    with _one_at_a_time():
        if stamp.exists() and stamp.read_text("utf-8") == stamp_text:
            return
        print(f"Preparing {VENV.name} ({kind}) ...", file=sys.stderr, flush=True)
        if not Path(binary("python")).exists():
            subprocess.run([find_python(), "-m", "venv", str(VENV)], check=True)
        for arguments in install:
            _pip(arguments)
        stamp.write_text(stamp_text, encoding="utf-8")


def _pip(arguments: list[str]) -> None:
    command = [binary("python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*command, *arguments], cwd=PROJECT, check=False)
    if done.returncode:
        sys.exit(
            "The packages could not be installed (the lines above say why). A Python package "
            "index must be reachable for the first run; run the command again when it is."
        )
