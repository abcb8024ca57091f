"""Commands that do research: start, step, run, next, submit. Importers: cli."""

from __future__ import annotations

import os
import sys
from typing import Any

import click
from msgspec.structs import replace

from omh_research.cli.render import EXIT_OF, is_terminal, print_json, say, visible
from omh_research.cli.run_options import lowered_caps, make_options, run_options
from omh_research.cli.scope import narrowed, scope_options
from omh_research.errors import UsageError

ROOT = click.option("--root", type=click.Path(), default=None, help="Project root (or OMH_ROOT).")
JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")


def _engine(root: str | None) -> Any:
    from omh_research.api import Engine

    return Engine(root)


def _ask_if_confirmed(path: str) -> str:
    say(f"A confirmed report on this topic exists: {path}")
    return str(
        click.prompt(
            "refresh, view or cancel?",
            type=click.Choice(["refresh", "view", "cancel"]),
            default="view",
            err=True,
        )
    )


def _dry_run(engine: Any, given: dict[str, Any], as_json: bool) -> int:
    from omh_research.estimate import estimate, render_estimate

    delegate, options = make_options(engine.settings.root, given)
    _say_notes(lowered_caps(options))
    found = estimate(options, delegate)
    if as_json:
        import msgspec

        print_json({"ok": True, "dry_run": True, "estimate": msgspec.to_builtins(found)})
    else:
        click.echo(render_estimate(found))
    return 0


def _start(engine: Any, topic: str, given: dict[str, Any]) -> Any:
    delegate, options = make_options(engine.settings.root, given)
    chosen = given["if_confirmed"] or ("" if is_terminal() else "view")

    def begin(question: str, check: bool) -> Any:
        if delegate in ("llm", "command"):
            _say_expected(engine, question, chosen, (options, delegate))
        return engine.start(
            question,
            delegate=delegate,
            options=options,
            if_confirmed=chosen,
            ask_user=None if chosen else _ask_if_confirmed,
            scope_check=check,
        )

    report = narrowed(topic, given["detail"], given["scope_check"], begin)
    if report.resumed or report.report:
        return report
    return replace(report, notes=(*lowered_caps(options), *report.notes))


def _say_expected(engine: Any, topic: str, chosen: str, asked: tuple[Any, str]) -> None:
    """Say what a new run would cost; one that is resumed or only shown costs other or nothing."""
    from omh_research.estimate import estimate, render_estimate
    from omh_research.start import is_only_shown

    if not is_only_shown(engine.project, topic, chosen, not chosen):
        say(f"expected: {render_estimate(estimate(*asked))}")


@click.command()
@click.argument("topic")
@run_options
@scope_options
@ROOT
@JSON
def start(topic: str, root: str | None, as_json: bool, **given: Any) -> int:
    """Start research on TOPIC: phase 0, then decompose. Resumes a run on the same topic."""
    engine = _engine(root)
    if given["dry_run"]:
        return _dry_run(engine, given, as_json)
    report = _start(engine, topic, given)
    if as_json:
        print_json(
            {
                "ok": True,
                "slug": report.slug,
                "phase": report.phase,
                "status": report.status,
                "resumed": report.resumed,
                "report": report.report or None,
                "notes": list(report.notes),
            }
        )
    else:
        _say_notes(report.notes)
        click.echo(report.report or report.slug)
        say(_words(report))
    return EXIT_OF["blocked"] if report.status == "blocked" else 0


def _words(report: Any) -> str:
    words = {
        "confirmed": f"{report.slug} is confirmed.",
        "cancelled": f"{report.slug} is cancelled.",
        "awaiting": f"{report.slug} waits for its host: omh-research next {report.slug} --json",
        "blocked": f"{report.slug} is blocked: see omh-research show {report.slug} --verdict",
    }
    return words.get(
        report.status, f"{report.slug} is in phase {report.phase}: omh-research step {report.slug}"
    )


def _say_notes(notes: tuple[str, ...]) -> None:
    for note in notes:
        say(f"note: {note}")


def _step_json(engine: Any, report: Any) -> dict[str, Any]:
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
    engine = _engine(root)
    report = engine.step(slug)
    _show_step(engine, report, as_json)
    return EXIT_OF[report.status]


def _show_step(engine: Any, report: Any, as_json: bool) -> None:
    if as_json:
        print_json(_step_json(engine, report))
        return
    _say_notes(report.notes)
    if report.status == "confirmed":
        _summary(engine, report.slug)
    else:
        click.echo(_words(report))
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


@click.command()
@click.argument("topic")
@run_options
@scope_options
@click.option("--show-report/--no-show-report", default=False, help="Print the report at the end.")
@ROOT
@JSON
def run(topic: str, show_report: bool, root: str | None, as_json: bool, **given: Any) -> int:
    """Start (or carry on) research on TOPIC, then step until it ends or waits for a host."""
    if show_report and as_json:
        raise UsageError(
            "--show-report prints the report and --json one object: choose one of them.",
            hint="The object names the report's path.",
        )
    engine = _engine(root)
    if given["dry_run"]:
        return _dry_run(engine, given, as_json)
    started = _start(engine, topic, given)
    _say_notes(started.notes)
    if started.report:
        report: Any = started
    elif started.status in ("awaiting", "blocked"):
        report = engine.step(started.slug)
    else:
        report, notes = _run_on(engine, started)
        report = replace(report, notes=notes) if as_json else report
    if as_json:
        plain = {
            "events": [], "notes": list(started.notes), "tasks": (), "blocked_reason": "",
        }  # fmt: skip
        done = report if not started.report else None
        print_json(
            _step_json(engine, done)
            if done is not None
            else {"ok": True, "slug": started.slug, "phase": "confirmed", "status": "confirmed",
                  "report": started.report, **plain}
        )  # fmt: skip
    elif started.report:
        click.echo(started.report)
    else:
        _show_step(engine, report, False)
    if show_report and report.status == "confirmed":
        from omh_research.showing import part_of

        click.echo(visible(part_of(engine.project, report.slug, "report")))
    return EXIT_OF[report.status]


def _run_on(engine: Any, started: Any) -> tuple[Any, tuple[str, ...]]:
    """Step until the end, saying each phase and what it noted; return the end and all notes."""
    told = dict.fromkeys(started.notes)

    def tell(lap: Any) -> None:
        new = tuple(note for note in lap.notes if note not in told)
        told.update(dict.fromkeys(new))
        say(f"{lap.slug}: {lap.phase}")
        if lap.status == "active":  # the last one's are said with the end
            _say_notes(new)

    say(f"{started.slug}: {started.phase}")
    return engine.run(started.slug, tell), tuple(told)


@click.command("next")
@click.argument("slug", required=False)
@ROOT
@JSON
def next_tasks(slug: str | None, root: str | None, as_json: bool) -> int:
    """Hand out the tasks of run SLUG (else of the only active run), again until answered."""
    from omh_research.host_protocol import render_tasks, task_json

    engine = _engine(root)
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
        _say_notes(report.notes)
        click.echo(visible(render_tasks(report.tasks)) if report.tasks else _words(report))
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

    engine = _engine(root)
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
        _say_notes(report.notes)
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
