#!/usr/bin/env python3
"""The seed's commands `run`, `enrich-abstracts` and `validate`, flags unchanged (B16)."""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    try:
        from omh_research.cli import main
    except ModuleNotFoundError:  # run from a checkout that is not installed
        sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
        from omh_research.cli import main
    main(["literature", *sys.argv[1:]])
