"""Run the whole fabrication battery and write its table into README.md, between its markers.

Every kind of fault, at every place of every clean report of tests/tools/gate_cases.py and
wording_cases.py, and how many of them the gate caught; then what it does not catch. A README
without the markers is left alone. The table is printed too; takes minutes.
With --check: exit 1 unless the README's table names just the kinds of the battery, all caught, and
every line of what is not caught. Nothing is run.
"""

from __future__ import annotations

import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
README = PROJECT / "README.md"
BEGIN = "<!-- fabrication table: scripts/make_fabrication_table.py -->"
END = "<!-- end of fabrication table -->"

sys.path.insert(0, str(PROJECT))

from tests.tools.fabrications import KINDS  # noqa: E402
from tests.tools.test_fabrication import NOT_CAUGHT, all_clean, print_table, run_battery  # noqa: E402


def table() -> str:
    """Return the table of all mutants, as Markdown."""
    lines: list[str] = []
    print_table(list(run_battery(all_clean(), 0)), lines.append)
    return "\n".join(lines)


def faults_of(inside: str) -> list[str]:
    """Say what is wrong with the README's table; nothing wrong: an empty list."""
    rows = [line.strip("| ").split(" | ") for line in inside.split("\n") if line.startswith("| ")]
    kinds = {row[0]: row[1:] for row in rows[1:] if row[0] != "all"}
    wrong = [f"not a kind, or missing: {kind}" for kind in kinds.keys() ^ KINDS.keys()]
    wrong += [f"not all caught: {kind}" for kind, (made, caught) in kinds.items() if made != caught]
    return wrong + [f"not named: {kind}" for kind, _ in NOT_CAUGHT if kind not in inside]


def main() -> int:
    """Rewrite or check the part of the README between the markers."""
    is_check = "--check" in sys.argv
    made = "" if is_check else table()
    # Read after the long run, so that nothing written meanwhile is lost.
    head, marker, rest = README.read_text(encoding="utf-8").partition(BEGIN)
    inside, _, tail = rest.partition(END)
    if is_check:
        found = faults_of(inside)
        print("\n".join(found))
        return 1 if found else 0
    print(made)
    if marker:
        README.write_text(f"{head}{BEGIN}\n{made}\n{END}{tail}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
