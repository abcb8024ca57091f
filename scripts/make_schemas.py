#!/usr/bin/env python3
"""Write `state_schema/*.schema.json` from the types: make_schemas.py [--check]."""

from __future__ import annotations

import json
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from omh_research.schemas import KINDS, make_schema  # noqa: E402


def main() -> int:
    """Write the schemas, or only say which are not current."""
    stale = []
    for kind in KINDS:
        path = PROJECT / "state_schema" / f"{kind}.schema.json"
        text = json.dumps(make_schema(kind), indent=2, ensure_ascii=False) + "\n"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(path.name)
            if "--check" not in sys.argv:
                path.parent.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
    print(("stale: " if "--check" in sys.argv else "written: ") + (", ".join(stale) or "none"))
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
