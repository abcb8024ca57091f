"""The command `export`: a report in another form (spec O6, L5). Importers: cli."""

from __future__ import annotations

import contextlib
import os
import re
import time

import click

from omh_research.cli.render import print_json
from omh_research.errors import UsageError

ROOT = click.option("--root", type=click.Path(), default=None, help="Project root (or OMH_ROOT).")
JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
LEFTOVER_S = 60  # a younger one may be another export's, still being written
FORM = "html, json, docx, pdf, bibtex, ris, csl-json, auto-deep-research."


@click.command()
@click.argument("slug")
@click.option("--to", "form", required=True, help=FORM)
@click.option("-o", "--out", default="", type=click.Path(), help="File or folder to write.")
@ROOT
@JSON
def export(slug: str, form: str, out: str, root: str | None, as_json: bool) -> int:
    """Write the report of SLUG in another form; every form has the same numbering."""
    from omh_research.export.registry import FOLDER_FORMS, FORMS, render
    from omh_research.export.view import view_of
    from omh_research.project import Project
    from omh_research.settings import load_settings

    project = Project(load_settings(root))
    view = view_of(project, slug)
    if form in FOLDER_FORMS:
        from omh_research.export.auto_deep_research import to_files

        path = out or _new_folder(view.topic, project.today())
        os.makedirs(path, exist_ok=True)
        for name, text in to_files(project, view).items():
            _put(os.path.join(os.path.abspath(path), name), text.encode("utf-8"))
    else:
        data = render(view, form)
        path = out or f"{slug}{FORMS[form][1]}"
        if os.path.isdir(path):
            raise UsageError(f"{path} is a folder.", hint="Give a file with -o.")
        _put(os.path.abspath(path), data)
    if as_json:
        print_json({"ok": True, "slug": slug, "form": form, "path": path})
    else:
        click.echo(path)
    return 0


def _put(path: str, data: bytes) -> None:
    """Write a file whole or not at all; take away what a stopped export of it left behind."""
    from omh_research.store import disk

    disk.replace(path, data)
    folder, name = os.path.split(path)
    leftover = re.compile(
        re.escape(f".{name[:200]}.") + r"[0-9a-f]{12}" + re.escape(disk.TEMP_SUFFIX)
    )
    for other in os.listdir(folder):
        full = os.path.join(folder, other)
        with contextlib.suppress(FileNotFoundError):  # another export took it away
            if leftover.fullmatch(other) and os.lstat(full).st_mtime < time.time() - LEFTOVER_S:
                disk.remove(full)


def _new_folder(topic: str, today: str) -> str:
    """Return `output/{topic keywords}_{YYYYMMDD}/`, with `-2`, … when it is there already (L5)."""
    from omh_research.documents.names import kebab

    name = f"{re.sub('-+', '-', kebab(topic, 40)) or 'topic'}_{today}"
    base = os.path.join("output", name)
    path, number = base, 1
    while os.path.exists(path):
        number += 1
        path = f"{base}-{number}"
    return path
