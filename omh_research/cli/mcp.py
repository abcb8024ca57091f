"""`omh-research mcp`: serve the engine to agents over MCP. Importers: cli."""

from __future__ import annotations

import os

import click


@click.command()
@click.option("--root", type=click.Path(), default=None, help="Project root (or OMH_ROOT).")
def mcp(root: str | None) -> int:
    """Serve the engine over standard input and output; point an MCP client at this command.

    Tools: research_start, research_next, research_submit, research_status, research_wait,
    research_cancel, research_report, research_audit, research_roles; evidence_caps,
    evidence_compress, evidence_citations; academic_search, literature_run. It needs the extra
    `mcp`.
    """
    from omh_research.mcp_server import serve

    serve(os.path.abspath(root or os.environ.get("OMH_ROOT") or os.getcwd()))
    return 0
