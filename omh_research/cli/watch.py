"""The command `watch`: a live view on a terminal, quiet without one (spec O2). Importers: cli."""

from __future__ import annotations

import time
from collections.abc import Callable

import click

from omh_research.cli.opening import open_project
from omh_research.cli.render import visible
from omh_research.cli.screen import Screen, is_live, window

ROOT = click.option("--root", type=click.Path(), default=None, help="Project root (or OMH_ROOT).")
POLL_S = 0.5
LEAVE = "q leaves; the run goes on"
ENDS = {"confirmed": 0, "blocked": 3, "cancelled": 4, "damaged": 7}


@click.command()
@click.argument("slug", required=False)
@click.option("--batch", "batch_id", default="", help="A batch as a whole.")
@click.option("--once", is_flag=True, help="One look, then exit.")
@ROOT
def watch(slug: str | None, batch_id: str, once: bool, root: str | None) -> int:
    """Show run SLUG (else the only active one, or a batch) live until it ends.

    q or Ctrl-C leaves; the run goes on. Without a terminal it prints nothing but the last state.
    """
    project = open_project(root)
    if slug is None and not batch_id:
        from omh_research.api import Engine

        slug = Engine(settings=project.settings).only_active()

    def look() -> tuple[str, int | None]:
        return _batch(project, batch_id) if batch_id else _run(project, str(slug))

    text, code = look()
    if not once and code is None:
        if is_live():
            text, code = _live(look)
        else:
            while code is None:
                time.sleep(POLL_S)
                text, code = look()
    click.echo(visible(text))
    return code or 0


def _live(look: Callable[[], tuple[str, int | None]]) -> tuple[str, int | None]:
    """Redraw until the run ends or the watcher leaves; return the last frame."""
    with Screen() as screen:
        while True:
            text, code = look()
            screen.draw(f"{visible(text)}\n\n{LEAVE}")
            if code is not None or screen.wait(POLL_S):
                return text, code


def _run(project: object, slug: str) -> tuple[str, int | None]:
    from omh_research.project import Project
    from omh_research.watching import frame

    assert isinstance(project, Project)
    text, status = frame(project, slug)
    return text, ENDS.get(status.status)


def _batch(project: object, batch_id: str) -> tuple[str, int | None]:
    from omh_research.batch.looking import frame, look
    from omh_research.project import Project

    assert isinstance(project, Project)
    record = look(project, batch_id)
    lines = window().lines - 2  # what says how to leave stands below
    return frame(record, lines), 0 if record.has_ended else None
