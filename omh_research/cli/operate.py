"""Commands for operators: status, show, log, wait, cancel, retry, clear, recover.

Importers: cli.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from omh_research.cli.number import Finite
from omh_research.cli.opening import open_project
from omh_research.cli.render import print_json, say, visible
from omh_research.errors import NoSuchRunError, OmhError, UsageError

if TYPE_CHECKING:
    from omh_research.project import Project
    from omh_research.status import RunStatus

ROOT = click.option("--root", type=click.Path(), default=None, help="Project root (or OMH_ROOT).")
JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
WAIT_POLL_S = 0.2
MAX_REPORTS = 20
EXIT_OF_END = {"confirmed": 0, "cancelled": 4}


@click.command()
@click.argument("slug", required=False)
@click.option("--batch", "batch_id", default="", help="A batch as a whole.")
@ROOT
@JSON
def status(slug: str | None, batch_id: str, root: str | None, as_json: bool) -> int:
    """List the active runs and the confirmed reports, or show run SLUG (an ended one too).

    With --batch, show a batch. Never writes, never waits.
    """
    if batch_id:
        return _batch_status(open_project(root), batch_id, as_json)
    from omh_research import status as looking

    project = open_project(root)
    if slug is not None:
        one = looking.status_one(project, slug)
        if as_json:
            print_json({"ok": True, **looking.as_json(one)})
        else:
            click.echo(visible(_detail(one)))
        return {"cancelled": 4, "damaged": 7}.get(one.status, 0)
    rows = looking.status_all(project)
    confirmed: list[str] = []
    try:
        confirmed = looking.confirmed_reports(project, {row.slug for row in rows})
    except OmhError as error:  # the runs are listed all the same
        say(f"note: the reports cannot be listed: {error}")
    if as_json:
        more = {"confirmed": confirmed} if confirmed else {}
        print_json({"ok": True, "runs": [looking.as_json(row) for row in rows], **more})
    else:
        lines = [visible(_line(row)) for row in rows] + _reports(confirmed)
        click.echo("\n".join(lines) or "No runs here.")
    return 0


def _reports(slugs: list[str]) -> list[str]:
    """Return the lines about the confirmed reports: how many, and the latest by name."""
    if not slugs:
        return []
    noun = "report" if len(slugs) == 1 else "reports"
    earlier = len(slugs) - MAX_REPORTS
    lines = [f"{len(slugs)} confirmed {noun} (show SLUG prints one):"]
    if earlier > 0:
        lines.append(f"  … {earlier} earlier ones: status --json names them all")
    return lines + [f"  {slug}" for slug in slugs[-MAX_REPORTS:]]


def _batch_status(project: Project, batch_id: str, as_json: bool) -> int:
    from omh_research.batch.looking import look, table

    record = look(project, batch_id)
    if as_json:
        import msgspec

        print_json({"ok": True, **msgspec.to_builtins(record), "counts": record.counts()})
    else:
        click.echo(visible(table(record)))
    return 0


def _line(row: RunStatus) -> str:
    done = f"{row.subtopics_done}/{row.subtopics_total}"
    tail = row.problem or row.topic[:60]
    return f"{row.slug:<56} {row.status:<12} {row.phase:<10} {done:<5} {tail}"


def _detail(row: RunStatus) -> str:
    done = f"{row.subtopics_done}/{row.subtopics_total}"
    # Counts go with the state: of a run that has ended none is known, which is not none.
    is_over = row.status in ("confirmed", "cancelled")
    lines = [
        ("run", row.slug),
        ("topic", row.topic),
        ("status", row.status),
        ("phase", row.phase),
        ("subtopics", done if is_over else f"{done} (batch {row.batch})"),
        ("failed drafts", "" if is_over else str(row.synthesis_attempts)),
        ("delegate", row.delegate),
        ("started", row.started_at),
        ("owner", f"process {row.owner_pid} on {row.owner_host}" if row.owner_pid else ""),
        ("heartbeat", f"{row.heartbeat_age_s} s ago" if row.heartbeat_age_s is not None else ""),
        ("spent", "" if is_over else _spent(row)),
        ("remaining", ", ".join(f"{key} {value:g}" for key, value in row.remaining.items())),
        ("last event", f"{row.last_event} {row.last_event_at}".strip()),
        ("blocked", row.blocked_reason),
        ("problem", row.problem),
        ("report", row.report),
        ("next", row.next_step),
    ]
    return "\n".join(f"{name:<14} {value}" for name, value in lines if value)


def _spent(row: RunStatus) -> str:
    spent = row.spent
    cost = "unknown" if spent.cost_usd is None else f"${spent.cost_usd:.4f}"
    return (
        f"{spent.tasks} tasks, {spent.model_calls} model calls, {spent.fetches} fetches, "
        f"{spent.input_tokens + spent.output_tokens} tokens, {cost}"
    )


@click.command()
@click.argument("slug")
@click.option("--plan", "what", flag_value="plan", help="The plan.")
@click.option("--findings", "what", flag_value="findings", help="All findings.")
@click.option("--report", "what", flag_value="report", default=True, help="The report (default).")
@click.option("--verdict", "what", flag_value="verdict", help="The last verifier feedback.")
@click.option("--panel", "what", flag_value="panel", help="The claim panel's result.")
@click.option("--evidence", "what", flag_value="evidence", help="The evidence ledger.")
@ROOT
@JSON
def show(slug: str, what: str, root: str | None, as_json: bool) -> int:
    """Print a part of run SLUG."""
    from omh_research.showing import part_of

    text = part_of(open_project(root), slug, what)
    if as_json:
        print_json({"ok": True, "slug": slug, "part": what, "text": text})
    else:
        click.echo(visible(text))
    return 0


@click.command()
@click.argument("slug")
@click.option("--follow", is_flag=True, help="Go on until the run ends.")
@ROOT
@JSON
def log(slug: str, follow: bool, root: str | None, as_json: bool) -> int:
    """Print the events of run SLUG, each once."""
    from omh_research import status as looking
    from omh_research.documents.names import check_slug

    project = open_project(root)
    session_id = project.reader.session_of(check_slug(slug))
    events = project.reader.events(session_id) if session_id else []
    if not events and project.reader.state_bytes(slug) is None:
        raise NoSuchRunError(f"No log of {slug} here.")
    shown = 0
    while True:
        _print_events(events[shown:], as_json, follow)
        shown = len(events)
        if not follow or looking.end_of(project, slug):
            return 0
        time.sleep(WAIT_POLL_S)
        events = project.reader.events(session_id)


def _print_events(events: list[Any], as_json: bool, lines: bool) -> None:
    from omh_research.documents.event import render

    plain = [
        {"time": e.time, "event": e.word, "slug": e.slug, "step": e.step, **dict(e.fields)}
        for e in events
    ]
    if not as_json:
        for event in events:
            click.echo(render(event, event.time))
    elif lines:
        for row in plain:
            print_json(row)
    else:
        print_json({"ok": True, "events": plain})


@click.command()
@click.argument("slug")
@click.option("--timeout", type=Finite(min=0), default=None, help="Seconds.")
@ROOT
@JSON
def wait(slug: str, timeout: float | None, root: str | None, as_json: bool) -> int:
    """Wait until run SLUG ends: 0 confirmed, 3 blocked, 4 cancelled, 7 unknown, 124 timed out."""
    end = _wait(slug, timeout, root)
    if as_json:
        print_json({"ok": end == "confirmed", "slug": slug, "status": end or "timeout"})
    else:
        click.echo(end or "timed out")
    return {"confirmed": 0, "blocked": 3, "cancelled": 4}.get(end, 124)


def _wait(slug: str, timeout: float | None, root: str | None) -> str:
    import os

    from omh_research.sentinel import is_confirmed

    deadline = None if timeout is None else time.monotonic() + timeout
    chosen = root or os.environ.get("OMH_ROOT") or os.getcwd()
    if is_confirmed(chosen, slug):  # what pollers meet most: nothing else is imported
        return "confirmed"
    from omh_research import status as looking

    looking.check_slug(slug)
    project = open_project(root)
    while True:
        end = looking.end_of(project, slug)
        left = WAIT_POLL_S if deadline is None else deadline - time.monotonic()
        if end or left <= 0:
            return end
        time.sleep(min(WAIT_POLL_S, left))


@click.command()
@click.argument("slug", required=False)
@click.option("--batch", "batch_id", default="", help="Every run of this batch.")
@click.option("--reason", default="", help="Kept with the cancel.")
@ROOT
@JSON
def cancel(slug: str | None, batch_id: str, reason: str, root: str | None, as_json: bool) -> int:
    """Ask run SLUG (or a whole batch) to stop; it does at the next boundary.

    A run that nobody works on ends at the next command on it: `omh-research step SLUG`.
    A cancelled batch starts no topic any more; `start` begins one of them anew.
    """
    from omh_research import operate
    from omh_research import status as looking

    if bool(slug) == bool(batch_id):
        raise UsageError("Name a run, or a batch with --batch ID.")
    if batch_id:
        from omh_research.batch.record import cancel_batch

        slugs = cancel_batch(open_project(root), batch_id, reason)
        if as_json:
            print_json({"ok": True, "batch": batch_id, "cancelling": slugs})
        else:
            click.echo(f"{batch_id}: {len(slugs)} runs asked to stop")
        return 0
    one = operate.cancel(open_project(root), str(slug), reason)
    if as_json:
        print_json({"ok": True, **looking.as_json(one)})
    else:
        click.echo(f"{slug}: {one.status}{_when_it_ends(one)}")
    return 0


def _when_it_ends(one: RunStatus) -> str:
    """Return when a cancel that was asked for takes effect (E8, E35), in words."""
    if one.status != "cancelling":
        return ""
    command = f"the next command on it (omh-research step {one.slug})"
    if one.heartbeat_age_s is None:
        return f"; nobody works on it now: it ends at {command}"
    return f"; it ends at the next boundary of whoever works on it, else at {command}"


@click.command()
@click.argument("slug")
@ROOT
@JSON
def retry(slug: str, root: str | None, as_json: bool) -> int:
    """Set blocked run SLUG going again where it stopped."""
    from omh_research import operate
    from omh_research import status as looking

    one = operate.retry(open_project(root, forgiving=False), slug)
    if as_json:
        print_json({"ok": True, **looking.as_json(one)})
    else:
        back = f"back in phase {one.phase}; {one.next_step}"
        click.echo(f"{slug}: {one.status if one.status in EXIT_OF_END else back}")
    return EXIT_OF_END.get(one.status, 0)


@click.command()
@click.argument("slug")
@click.option("--yes", is_flag=True, help="Really.")
@ROOT
@JSON
def clear(slug: str, yes: bool, root: str | None, as_json: bool) -> int:
    """Forget the state of run SLUG; its plan, findings and report stay."""
    from omh_research import operate

    if not yes:
        raise UsageError(f"clear forgets where {slug} stands.", hint="Add --yes to do it.")
    operate.clear(open_project(root), slug)
    if as_json:
        print_json({"ok": True, "slug": slug, "status": "cleared"})
    else:
        click.echo(f"{slug}: cleared")
    return 0


@click.command()
@click.option("--move-damaged", is_flag=True, help="Move damaged states to NAME.corrupt-N.")
@ROOT
@JSON
def recover(move_damaged: bool, root: str | None, as_json: bool) -> int:
    """Sweep what crashes left behind in this root; name every damaged file."""
    from omh_research import operate

    rows = operate.recover(open_project(root), move_damaged=move_damaged)
    if as_json:
        print_json({"ok": True, "runs": rows})
    for row in rows if not as_json else ():
        say(f"{row['slug']}: {row['found']}" + (f" ({row['done']})" if row["done"] else ""))
    if not as_json:
        click.echo(f"{len(rows)} found" if rows else "Nothing to recover.")
    return 0
