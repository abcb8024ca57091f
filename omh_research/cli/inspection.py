"""Commands that inspect: audit, doctor, roles, schema. Importers: cli."""

from __future__ import annotations

import click

from omh_research.cli.opening import open_project
from omh_research.cli.render import print_json, visible
from omh_research.errors import UsageError

ROOT = click.option("--root", type=click.Path(), default=None, help="Project root (or OMH_ROOT).")
JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")


@click.command()
@click.argument("slug")
@ROOT
@JSON
def audit(slug: str, root: str | None, as_json: bool) -> int:
    """Re-check the confirmed report of SLUG from its folder alone: offline, no model.

    Exit 0 if everything that can be checked holds, 1 if anything does not.
    """
    from omh_research.audit import audit_run, render_audit

    result = audit_run(open_project(root), slug)
    if as_json:
        import msgspec

        print_json({"ok": result.holds, **msgspec.to_builtins(result)})
    else:
        click.echo(visible(render_audit(result)))
    return 0 if result.holds else 1


@click.command()
@ROOT
@click.option("--online", is_flag=True, help="Also try whether the providers can be reached.")
@JSON
def doctor(root: str | None, online: bool, as_json: bool) -> int:
    """Say what works here: root, locks, extras, delegates, keys (never shown), providers."""
    from omh_research.doctor import examine
    from omh_research.settings import load_settings

    damage: list[str] = []
    settings = load_settings(root, on_damage=damage.append)
    rows = examine(settings, online=online, damage=damage)
    if as_json:
        print_json({"ok": all(row.state != "bad" for row in rows),
                    "checks": [{"name": row.name, "state": row.state, "detail": row.detail}
                               for row in rows]})  # fmt: skip
    else:
        for row in rows:
            click.echo(visible(f"{row.state:<5} {row.name:<28} {row.detail}"))
    return 1 if any(row.state == "bad" for row in rows) else 0


@click.command()
@click.argument("name", required=False)
@ROOT
@JSON
def roles(name: str | None, root: str | None, as_json: bool) -> int:
    """Print the text of role NAME (the project's own wins), or list the roles."""
    from omh_research.documents.task import ROLES
    from omh_research.wiring import Wiring

    if name is None:
        if as_json:
            print_json({"ok": True, "roles": list(ROLES)})
        else:
            click.echo("\n".join(ROLES))
        return 0
    text = Wiring(open_project(root)).role_text(name)
    if as_json:
        print_json({"ok": True, "name": name, "text": text})
    else:
        click.echo(text.rstrip("\n"))
    return 0


@click.command()
@click.argument("name", required=False)
@JSON
def schema(name: str | None, as_json: bool) -> int:
    """Print the JSON Schema NAME, or list them."""
    from omh_research.resources import resource_names, resource_text

    names = [file.removesuffix(".schema.json") for file in resource_names("state_schema")]
    if name is None:
        if as_json:
            print_json({"ok": True, "schemas": names})
        else:
            click.echo("\n".join(names))
        return 0
    if name not in names:
        raise UsageError(f"There is no schema {name!r}.", hint=f"Known: {', '.join(names)}.")
    click.echo(resource_text("state_schema", f"{name}.schema.json").rstrip("\n"))
    return 0
