"""Write the state diagram, generated from the table, into omh_research/README.md.

With --check: exit 1 if the diagram there is not the current one.
"""

from __future__ import annotations

import sys
from pathlib import Path

from omh_research.machine import TRANSITIONS

README = Path(__file__).resolve().parent.parent / "omh_research" / "README.md"
BEGIN, END = "<!-- state diagram: scripts/draw_machine.py -->", "<!-- end of state diagram -->"


def diagram() -> str:
    """Return the Mermaid diagram of the table."""
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> decompose"]
    for phase, row in TRANSITIONS.items():
        targets: dict[str, list[str]] = {}
        for trigger, after in row.items():
            targets.setdefault(after.value, []).append(trigger.value)
        lines += [
            f"    {phase.value} --> {after}: {', '.join(triggers)}"
            for after, triggers in targets.items()
        ]
    lines += ["    confirmed --> [*]", "    cancelled --> [*]", "```"]
    return "\n".join(lines)


def main() -> int:
    """Rewrite or check the part of the README between the markers."""
    text = README.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    wanted = f"{head}{BEGIN}\n{diagram()}\n{END}{tail}"
    if "--check" in sys.argv:
        return 0 if wanted == text else 1
    README.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
