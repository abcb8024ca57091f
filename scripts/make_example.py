"""Write a real run on the demo corpus into README.md, between the example markers.

With --check: exit 1 if the README holds no example made by this script's question.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
README = PROJECT / "README.md"
BEGIN, END = "<!-- example: scripts/make_example.py -->", "<!-- end of example -->"
QUESTION = "What causes tides?"


def example() -> str:
    """Return the example: the command, and what it printed."""
    command = [os.path.join(os.path.dirname(sys.executable), "omh-research"), "run", QUESTION]
    command += ["--corpus", str(PROJECT / "scripts" / "demo_corpus"), "--show-report"]
    with tempfile.TemporaryDirectory() as root:
        full = [*command, "--root", root]
        done = subprocess.run(full, capture_output=True, text=True, check=True)
    shown = f'$ scripts/run "{QUESTION}"\n{done.stdout.strip()}'
    return f"```\n{shown}\n```"


def main() -> int:
    """Rewrite or check the part of the README between the markers."""
    text = README.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    inside, _, tail = rest.partition(END)
    if "--check" in sys.argv:
        return 0 if QUESTION in inside and "status: confirmed" in inside else 1
    README.write_text(f"{head}{BEGIN}\n{example()}\n{END}{tail}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
