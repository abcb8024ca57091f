"""The command `batch`: many topics, one file (spec S1). Importers: cli."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from omh_research.cli.number import Finite
from omh_research.cli.render import print_json, say, visible
from omh_research.cli.run_options import lowered_caps, make_options, run_options

if TYPE_CHECKING:
    from omh_research.api import Engine
    from omh_research.batch.allowance import BatchRules
    from omh_research.batch.record import Entry, Record
    from omh_research.batch.topics import Topic

ROOT = click.option("--root", type=click.Path(), default=None, help="Project root (or OMH_ROOT).")
JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
BUDGET = "The whole batch, in US dollars."


@click.command()
@click.argument("file", type=click.Path())
@run_options
@click.option(
    "--executor",
    type=click.Choice(["serial", "processes", "dask"]),
    default=None,
    help="Where topics are worked on (else processes, dask with --scheduler).",
)
@click.option("-j", "workers", type=click.IntRange(1, 256), default=None, help="Workers.")
@click.option("--scheduler", default="", help="Address of a Dask scheduler.")
@click.option("--batch-max-cost", type=Finite(min=0), default=None, help=BUDGET)
@click.option("--batch-max-calls", type=click.IntRange(min=1), default=None, help="Model calls.")
@ROOT
@JSON
def batch(
    file: str,
    executor: str | None,
    workers: int | None,
    scheduler: str,
    batch_max_cost: float | None,
    batch_max_calls: int | None,
    root: str | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Run every topic of FILE (txt: one a line; or YAML, JSON lines); carries on when called again.

    --max-cost is the whole batch's budget too: each topic has it as its own cap as well. Exit 0
    when every topic has ended, however; 1 if one has not.
    """
    from omh_research.api import Engine
    from omh_research.batch.allowance import BatchRules
    from omh_research.batch.topics import batch_id, read_topics

    engine = Engine(root)
    delegate, options = make_options(engine.settings.root, given)
    for note in lowered_caps(options):
        say(f"note: {note}")
    topics = read_topics(file, engine.settings.root, delegate, options)
    rules = BatchRules(
        max_cost_usd=batch_max_cost if batch_max_cost is not None else given["max_cost"],
        max_model_calls=batch_max_calls or 0,
        if_confirmed=given["if_confirmed"] or "view",
    )
    if given["dry_run"]:
        return _dry_run(topics, rules, as_json)
    name = batch_id(file, topics)
    count = workers or os.cpu_count() or 1
    chosen = executor or ("dask" if scheduler else "processes" if count > 1 else "serial")
    with _only_one(engine, name):
        (say if as_json else click.echo)(name)
        record = _run(engine, name, topics, rules, (chosen, count, scheduler))
    if as_json:
        import msgspec

        print_json({"ok": record.has_ended, **msgspec.to_builtins(record)})
    else:
        from omh_research.batch.looking import table

        click.echo(visible(table(record)))
    return 0 if record.has_ended else 1


def _dry_run(topics: tuple[Topic, ...], rules: BatchRules, as_json: bool) -> int:
    import msgspec

    from omh_research.batch.forecast import forecast
    from omh_research.estimate import render_estimate

    found = forecast(topics, rules.max_cost_usd)
    if as_json:
        plain = msgspec.to_builtins(found)
        print_json({"ok": True, "dry_run": True, "topics": len(topics), "estimate": plain})
    else:
        click.echo(f"{len(topics)} topics: {render_estimate(found)}")
    return 0


@contextlib.contextmanager
def _only_one(engine: Engine, name: str) -> Iterator[None]:
    """Hold the batch's own lock: two calls of one batch would count its budget twice."""
    from omh_research.errors import BusyError
    from omh_research.store import lock

    engine.project.writer.prepare_root()
    try:
        held = lock.acquire(engine.project.layout.lock(f"_batch_{name}"))
    except BusyError:
        hint = f"Watch it: omh-research watch --batch {name}"
        raise BusyError(f"The batch {name} is being run by another process.", hint=hint) from None
    try:
        yield
    finally:
        held.release()


def _run(
    engine: Engine,
    name: str,
    topics: tuple[Topic, ...],
    rules: BatchRules,
    where: tuple[str, int, str],
) -> Record:
    from omh_research.batch.executors import make_executor
    from omh_research.batch.registering import open_record, register
    from omh_research.batch.runner import Runner
    from omh_research.batch.unit import advance_unit

    executor, count, scheduler = where
    pool = make_executor(executor, advance_unit, workers=count, address=scheduler)
    try:
        record = open_record(engine, name, topics)
        register(engine, record, topics, rules, say)
    except BaseException:
        pool.close(now=True)
        raise
    return Runner(engine.project, record, pool, rules).run(_tell)


def _tell(entry: Entry) -> None:
    detail = f" ({entry.detail[:120]})" if entry.detail else ""
    say(f"{entry.slug}: {entry.phase if entry.status == 'active' else entry.status}{detail}")
