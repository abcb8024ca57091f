"""The command `batch`: many topics, one file (spec S1). Importers: cli."""

from __future__ import annotations

import os
from typing import Any

import click

from omh_research.cli.render import print_json, say, visible
from omh_research.cli.run_options import make_options, run_options

ROOT = click.option("--root", type=click.Path(), default=None, help="Project root (or OMH_ROOT).")
JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
BUDGET = "The whole batch, in US dollars."


@click.command()
@click.argument("file", type=click.Path())
@run_options
@click.option("--executor", type=click.Choice(["serial", "processes", "dask"]), default=None)
@click.option("-j", "workers", type=click.IntRange(1, 256), default=None, help="Workers.")
@click.option("--scheduler", default="", help="Address of a Dask scheduler.")
@click.option("--batch-max-cost", type=click.FloatRange(min=0), default=None, help=BUDGET)
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

    --max-cost is the whole batch's budget too: each topic has it as its own cap as well.
    """
    from omh_research.api import Engine
    from omh_research.batch.executors import make_executor
    from omh_research.batch.record import Entry, Record
    from omh_research.batch.runner import BatchRules, Runner, open_record, register
    from omh_research.batch.topics import batch_id, read_topics
    from omh_research.batch.unit import advance_unit

    engine = Engine(root)
    delegate, options = make_options(engine.settings.root, given)
    topics = read_topics(file, engine.settings.root, delegate, options)
    name = batch_id(file, topics)
    if not as_json:
        click.echo(name)
    rules = BatchRules(
        max_cost_usd=batch_max_cost if batch_max_cost is not None else given["max_cost"],
        max_model_calls=batch_max_calls or 0,
        if_confirmed=given["if_confirmed"] or "view",
    )
    record: Record = open_record(engine, name, topics)
    register(engine, record, topics, rules)
    count = workers or os.cpu_count() or 1
    chosen = executor or ("dask" if scheduler else "processes" if count > 1 else "serial")
    pool = make_executor(chosen, advance_unit, workers=count, address=scheduler)

    def tell(entry: Entry) -> None:
        say(f"{entry.slug}: {entry.phase or entry.status}")

    record = Runner(engine, record, pool, rules).run(tell)
    if as_json:
        import msgspec

        print_json({"ok": record.has_ended, **msgspec.to_builtins(record)})
    else:
        click.echo(visible(table(record)))
    return 0 if record.has_ended else 1


def table(record: Any) -> str:
    """Return the table a batch ends with."""
    lines = [
        f"{entry.status:<10} {entry.slug or '-':<56} {entry.topic[:60]}"
        + (f"  ({entry.detail[:80]})" if entry.detail else "")
        for entry in record.entries
    ]
    counts = ", ".join(f"{count} {status}" for status, count in record.counts().items())
    return "\n".join([*lines, f"{record.id}: {counts}"])
