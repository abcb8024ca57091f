"""The command `export`: a report in another form (spec O6, L5). Importers: cli."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import click

from omh_research.cli.opening import open_project
from omh_research.cli.output import judge, refuse_inside, refuse_stdout, write
from omh_research.cli.render import print_json
from omh_research.errors import UsageError

if TYPE_CHECKING:
    from omh_research.project import Project

ROOT = click.option("--root", type=click.Path(), default=None, help="Project root (or OMH_ROOT).")
JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
FORM = "html, json, docx, pdf, bibtex, ris, csl-json, auto-deep-research."


@click.command()
@click.argument("slug")
@click.option("--to", "form", required=True, help=FORM)
@click.option(
    "-o", "--out", default="", type=click.Path(), help="File or folder to write; - for stdout."
)
@ROOT
@JSON
def export(slug: str, form: str, out: str, root: str | None, as_json: bool) -> int:
    """Write the report of SLUG in another form; every form has the same numbering."""
    from omh_research.export.registry import FOLDER_FORMS, FORMS, check_form, render
    from omh_research.export.view import view_of

    check_form(form)  # before the run is looked for: the call's words come first
    project = open_project(root)
    base = project.layout.root
    if form in FOLDER_FORMS:
        path = _write_folder(project, slug, out)
        is_shown = True
    else:
        path = out or f"{slug}{FORMS[form][1]}"
        target = judge(path, base, "-o")
        if as_json and target.is_stdout:
            raise UsageError("-o - and --json both want stdout.", hint="Name a file with -o.")
        write(target, render(view_of(project, slug), form))
        is_shown = not target.is_stdout
    if as_json:
        print_json({"ok": True, "slug": slug, "form": form, "path": path})
    elif is_shown:
        click.echo(path)
    return 0


def _write_folder(project: Project, slug: str, out: str) -> str:
    """Write the form that is a folder of files; return the folder."""
    from omh_research.export.auto_deep_research import to_files
    from omh_research.export.view import view_of

    base = project.layout.root
    refuse_stdout(out, "-o")
    if out:
        refuse_inside(out, base, "-o")
    if out and os.path.lexists(out) and not os.path.isdir(out):
        raise UsageError(f"-o {out} is no folder.", hint="This form is a folder of files.")
    view = view_of(project, slug)
    path = out or _new_folder(view.topic, project.today())
    os.makedirs(path, exist_ok=True)
    targets = [
        (judge(os.path.join(path, name), base, "-o"), text)
        for name, text in to_files(project, view).items()
    ]
    for target, text in targets:
        write(target, text.encode("utf-8"))
    return path


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
