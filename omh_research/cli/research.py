"""Commands that begin research: start and run. Importers: cli."""

from __future__ import annotations

from typing import Any

import click
from msgspec.structs import replace

from omh_research.cli.render import EXIT_OF, is_terminal, print_json, say, visible
from omh_research.cli.run_options import lowered_caps, make_options, run_options, unused_head
from omh_research.cli.scope import narrowed, scope_options
from omh_research.cli.stepping import (
    JSON,
    ROOT,
    open_engine,
    say_notes,
    show_step,
    step_json,
    words_of,
)
from omh_research.errors import UsageError


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
    say_notes(lowered_caps(options))
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
    unused = unused_head(given["plan_file"], topic, report.slug)
    return replace(report, notes=(*lowered_caps(options), *unused, *report.notes))


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
    engine = open_engine(root)
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
        say_notes(report.notes)
        click.echo(report.report or report.slug)
        say(words_of(report))
    return EXIT_OF["blocked"] if report.status == "blocked" else 0


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
    engine = open_engine(root)
    if given["dry_run"]:
        return _dry_run(engine, given, as_json)
    started = _start(engine, topic, given)
    say_notes(started.notes)
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
            step_json(engine, done)
            if done is not None
            else {"ok": True, "slug": started.slug, "phase": "confirmed", "status": "confirmed",
                  "report": started.report, **plain}
        )  # fmt: skip
    elif started.report:
        click.echo(started.report)
    else:
        show_step(engine, report, False)
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
            say_notes(new)

    say(f"{started.slug}: {started.phase}")
    return engine.run(started.slug, tell), tuple(told)
