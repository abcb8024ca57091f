"""`omh-research mcp`: serve the engine to agents over MCP. Importers: cli."""

from __future__ import annotations

import os

import click


@click.command()
@click.option("--root", type=click.Path(), default=None, help="Project root (or OMH_ROOT).")
def mcp(root: str | None) -> int:
    """Serve start, next, submit, status, wait, cancel and more over standard input and output.

    Point an MCP client at this command; it needs the extra `mcp`.
    """
    from omh_research.mcp_server import serve

    serve(os.path.abspath(root or os.environ.get("OMH_ROOT") or os.getcwd()))
    return 0
