"""Packages left bare: submodules load without them, and the first use loads them whole (Q13)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from omh_research.bare_packages import leave_bare
leave_bare("outer_pkg", "outer_pkg.inner", "no_such_package")
from outer_pkg.inner.leaf import LEAF
print(LEAF, [name for name in ("outer_loaded", "inner_loaded") if name in sys.modules])
import outer_pkg
print(outer_pkg.NAME, outer_pkg.inner.leaf.LEAF, "inner_loaded" in sys.modules)
from outer_pkg.inner import OTHER
print(OTHER, hasattr(outer_pkg, "nothing"))
"""


def test_a_bare_package_is_loaded_by_its_first_use_and_by_nothing_before(tmp_path: Path) -> None:
    inner = tmp_path / "outer_pkg" / "inner"
    inner.mkdir(parents=True)
    mark = "import sys; sys.modules['{0}_loaded'] = sys\n"
    (inner.parent / "__init__.py").write_text(mark.format("outer") + "NAME = 'outer'\n")
    (inner / "__init__.py").write_text(
        mark.format("inner") + "from outer_pkg.inner.leaf import LEAF\nOTHER = LEAF + 1\n"
    )
    (inner / "leaf.py").write_text("LEAF = 41\n")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["41 []", "outer 41 False", "42 False"]


def test_the_server_starts_without_the_client_side_of_its_library() -> None:
    pytest.importorskip("mcp", reason="needs the extra mcp")
    words = "import sys, omh_research.mcp_server; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "mcp.server.lowlevel.server" in loaded
    assert not loaded & {"mcp.client", "mcp.server.mcpserver", "omh_research.cli.research"}
