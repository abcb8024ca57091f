"""The `skill` command group: install the Agent Skill for a host. Importers: cli."""

from __future__ import annotations

import os
from pathlib import Path

import click

from omh_research.cli.output import refuse_stdout
from omh_research.cli.render import print_json
from omh_research.skill.installer import HOSTS, install, skills_folder


@click.group()
def skill() -> None:
    """Teach an agent program to drive omh-research."""


@skill.command("install")
@click.option("--host", type=click.Choice(HOSTS), required=True, help="Which program reads it.")
@click.option(
    "--dir", "folder", type=click.Path(), help="Skills folder to write into (else the host's own)."
)
@click.option("--link", is_flag=True, help="Link to the packaged skill instead of copying it.")
@click.option(
    "--with-aliases", is_flag=True, help="Also auto-deep-research and deep-research-harness."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
def install_command(
    host: str, folder: str | None, link: bool, with_aliases: bool, as_json: bool
) -> int:
    """Write the skill omh-deep-research where HOST looks for skills."""
    refuse_stdout(folder or "", "--dir")
    target = Path(folder) if folder else skills_folder(host, os.environ, Path.home())
    done = install(host, target, link=link, aliases=with_aliases)
    if as_json:
        folders = [{"path": path, "action": action} for path, action in done.folders]
        print_json({"ok": True, "host": host, "folders": folders})
    else:
        for path, action in done.folders:
            click.echo(f"{action}: {path}")
    return 0
