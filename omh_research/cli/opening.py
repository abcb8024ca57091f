"""Opening a project for commands that look or stop: a damaged configuration never stops them.

Job: the project of a root, with default settings and a warning where `.omh/config.yaml` cannot be
used; what a run was started with stands in its state. Refuses to serve commands that do research:
they must not work with other settings than were asked for. Importers: cli.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from omh_research.cli.render import say

if TYPE_CHECKING:
    from omh_research.project import Project


def open_project(root: str | None, *, forgiving: bool = True) -> Project:
    """Return the project at `root` (else `OMH_ROOT`, else the current folder).

    Raises:
        UsageError: not `forgiving`, and the configuration is damaged.
    """
    from omh_research.project import Project
    from omh_research.settings import load_settings

    return Project(load_settings(root, on_damage=_warn if forgiving else None))


def _warn(problem: str) -> None:
    say(f"warning: {problem} Going on with the default settings.")
