"""The command `watch`: a live view on a terminal, quiet without one (spec O2). Importers: cli."""

from __future__ import annotations

import sys
import time

import click

from omh_research.cli.render import visible

ROOT = click.option("--root", type=click.Path(), default=None, help="Project root (or OMH_ROOT).")
POLL_S = 0.5
ENDS = {"confirmed": 0, "blocked": 3, "cancelled": 4, "damaged": 7}


@click.command()
@click.argument("slug", required=False)
@click.option("--batch", "batch_id", default="", help="A batch as a whole.")
@click.option("--once", is_flag=True, help="One look, then exit.")
@ROOT
def watch(slug: str | None, batch_id: str, once: bool, root: str | None) -> int:
    """Show run SLUG (else the only active one, or a batch) live until it ends.

    Without a terminal it prints nothing but the last state.
    """
    from omh_research.project import Project
    from omh_research.settings import load_settings

    project = Project(load_settings(root))
    if slug is None and not batch_id:
        from omh_research.api import Engine

        slug = Engine(root).only_active()
    live = sys.stdout.isatty() and not once
    shown = 0
    while True:
        text, code = _batch(project, batch_id) if batch_id else _run(project, str(slug))
        if live:
            shown = _draw(text, shown)
        if once or code is not None:
            if not live:
                click.echo(visible(text))
            return code or 0
        time.sleep(POLL_S)


def _run(project: object, slug: str) -> tuple[str, int | None]:
    from omh_research.project import Project
    from omh_research.watching import frame

    assert isinstance(project, Project)
    text, status = frame(project, slug)
    return text, ENDS.get(status.status)


def _batch(project: object, batch_id: str) -> tuple[str, int | None]:
    import shutil

    from omh_research.batch.looking import frame, look
    from omh_research.project import Project

    assert isinstance(project, Project)
    record = look(project, batch_id)
    lines = shutil.get_terminal_size().lines
    return frame(record, lines), 0 if record.has_ended else None


def _draw(text: str, before: int) -> int:
    """Redraw in place; return how many lines stand now."""
    lines = visible(text).split("\n")
    if before:
        sys.stdout.write(f"\x1b[{before}A")
    for line in lines:
        sys.stdout.write(f"\x1b[2K{line}\n")
    for _ in range(before - len(lines)):
        sys.stdout.write("\x1b[2K\n")
    sys.stdout.flush()
    return max(len(lines), before)
