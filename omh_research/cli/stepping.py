"""Commands that advance a run or serve its host: step, next, submit. Importers: cli.

Apart from start and run, whose many options cost time to read at every step.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from omh_research.cli.render import EXIT_OF, print_json, say, visible
from omh_research.errors import UsageError

ROOT = click.option("--root", type=click.Path(), default=None, help="Project root (or OMH_ROOT).")
JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")


def open_engine(root: str | None) -> Any:
    """Return the engine of a root."""
    from omh_research.api import Engine

    return Engine(root)


def words_of(report: Any) -> str:
    """Return a sentence on where a run stands and what to call next."""
    words = {
        "confirmed": f"{report.slug} is confirmed.",
        "cancelled": f"{report.slug} is cancelled.",
        "awaiting": f"{report.slug} waits for its host: omh-research next {report.slug} --json",
        "blocked": f"{report.slug} is blocked: see omh-research show {report.slug} --verdict",
    }
    return words.get(
        report.status, f"{report.slug} is in phase {report.phase}: omh-research step {report.slug}"
    )


def say_notes(notes: tuple[str, ...]) -> None:
    """Print notes on stderr, a line each."""
    for note in notes:
        say(f"note: {note}")


def step_json(engine: Any, report: Any) -> dict[str, Any]:
    """Return one step as `--json` prints it."""
    path = engine.project.layout.report(report.slug)
    advice = _advice(engine, report)
    return {
        "ok": True,
        "slug": report.slug,
        "phase": report.phase,
        "status": report.status,
        "events": list(report.events),
        "notes": list(report.notes),
        "waiting": len(report.tasks),
        "blocked_reason": report.blocked_reason or None,
        "report": engine.project.layout.relative(path) if os.path.lexists(path) else None,
        **({"advice": advice} if advice else {}),
    }


@click.command()
@click.argument("slug")
@ROOT
@JSON
def step(slug: str, root: str | None, as_json: bool) -> int:
    """Advance run SLUG by exactly one phase."""
    engine = open_engine(root)
    report = engine.step(slug)
    show_step(engine, report, as_json)
    return EXIT_OF[report.status]


def show_step(engine: Any, report: Any, as_json: bool) -> None:
    """Print what one step did, or the end it came to."""
    if as_json:
        print_json(step_json(engine, report))
        return
    say_notes(report.notes)
    if report.status == "confirmed":
        _summary(engine, report.slug)
    else:
        click.echo(words_of(report))
        if report.status == "blocked" and report.feedback:
            click.echo(visible(report.feedback))
        if advice := _advice(engine, report):
            click.echo(visible(advice))


def _advice(engine: Any, report: Any) -> str:
    """Return what may be said without sources (T21) where a run is blocked for want of them."""
    from omh_research.advice import WITHOUT_SOURCES, advice_on

    if report.blocked_reason != WITHOUT_SOURCES:
        return ""
    return advice_on(engine.project, report.slug)


def _summary(engine: Any, slug: str) -> None:
    from omh_research.summary import summarise

    click.echo(visible(summarise(engine.project, slug)))


@click.command("next")
@click.argument("slug", required=False)
@ROOT
@JSON
def next_tasks(slug: str | None, root: str | None, as_json: bool) -> int:
    """Hand out the tasks of run SLUG (else of the only active run), again until answered."""
    from omh_research.host_protocol import render_tasks, task_json

    engine = open_engine(root)
    report = engine.next(slug)
    if as_json:
        print_json(
            {
                "ok": True,
                "slug": report.slug,
                "phase": report.phase,
                "status": report.status,
                "tasks": [task_json(task) for task in report.tasks],
                "blocked_reason": report.blocked_reason or None,
                "notes": list(report.notes),
            }
        )
    else:
        say_notes(report.notes)
        click.echo(visible(render_tasks(report.tasks)) if report.tasks else words_of(report))
    return 0 if report.status == "awaiting" else EXIT_OF[report.status]


@click.command()
@click.argument("slug")
@click.argument("task_id")
@click.option("--file", "file", type=click.Path(), help="The answer (default: stdin).")
@click.option("--sources", type=click.Path(), help="JSON lines of read pages: url, text, …")
@click.option("--failed", default="", help="The task failed: say why.")
@ROOT
@JSON
def submit(
    slug: str,
    task_id: str,
    file: str | None,
    sources: str | None,
    failed: str,
    root: str | None,
    as_json: bool,
) -> int:
    """Hand in the answer to TASK_ID of run SLUG."""
    from omh_research.host_protocol import parse_sources

    engine = open_engine(root)
    text = "" if failed else _text(file)
    pages = parse_sources(_read(sources), sources) if sources else ()
    report = engine.submit(slug, task_id, text, failed=failed, sources=pages)
    if as_json:
        print_json(
            {
                "ok": True,
                "slug": report.slug,
                "task_id": report.task_id,
                "stored": report.stored,
                "phase": report.phase,
                "waiting": report.waiting,
                "status": report.status,
                "notes": list(report.notes),
            }
        )
    else:
        say_notes(report.notes)
        click.echo(f"{report.task_id}: stored; {report.waiting} waiting; phase {report.phase}")
    return EXIT_OF["blocked"] if report.status == "blocked" else 0


def _text(file: str | None) -> str:
    if file and file != "-":
        data = _read(file)
    elif sys.stdin is None:
        raise UsageError("Standard input is closed.", hint="Name the answer with --file FILE.")
    else:
        data = sys.stdin.buffer.read()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError("The answer is not UTF-8 text; nothing was stored.") from None


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError as error:
        raise UsageError(f"Cannot read {path}: {error.strerror}.") from None
