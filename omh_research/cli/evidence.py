"""The evidence tools as commands: caps, academic, compress, citations (spec 20-evidence-tools).

Job: options of the seed's contract, one call of the tool, its envelope. Refuses to decide
anything; the engine uses the same functions. Importers: cli.
"""

from __future__ import annotations

import os
from typing import Any

import click

from omh_research.cli.envelope import (
    ToolCommand,
    fail,
    parse_object,
    read_input,
    read_payload,
    run,
)
from omh_research.cli.number import Finite

INPUT = click.option("--input", "input_", default=None, help="JSON file (default: stdin).")
OUT = click.option("--out", default=None, help="Also write the result to this file.")


class ToolGroup(click.Group):
    """The group of the tools: a lone `--` after the tool's name is the tool's to ignore."""

    command_class = ToolCommand

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the tool; an unknown one is a failure envelope like any other."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            fail(error.format_message())


@click.group(cls=ToolGroup)
def tools() -> None:
    """Evidence tools: JSON in, JSON out, no model.

    Success is {"ok": true, "data": ...} on stdout, failure {"ok": false, "error": ...} on stderr
    with exit 1 and no output file.
    """


@tools.command()
@click.option(
    "--op",
    type=click.Choice(["plan", "account"]),
    default="plan",
    show_default=True,
    help="Plan a budget, or account for one.",
)
@click.option("--plan", default=None, help="account: the file that `--op plan --out` wrote.")
@click.option("--fetch-ledger", default=None, help="account: the run's fetch_ledger.jsonl.")
@INPUT
@OUT
def caps(
    op: str, plan: str | None, fetch_ledger: str | None, input_: str | None, out: str | None
) -> None:
    """Plan a fetch budget, or account for what was spent."""

    def operation() -> dict[str, Any]:
        from omh_research.errors import ToolInputError
        from omh_research.tools import caps as tool

        if plan is None and fetch_ledger is None:
            payload = read_payload(input_)
            return tool.plan(payload) if op == "plan" else tool.account(payload)
        if op != "account" or plan is None or fetch_ledger is None or input_ is not None:
            raise ToolInputError("--plan and --fetch-ledger go together, with --op account only.")
        document = parse_object(read_input(plan), plan)
        return tool.account_ledger(document, read_input(fetch_ledger))

    run(operation, out)


@tools.command()
@click.option(
    "--op",
    type=click.Choice(["search"]),
    default="search",
    expose_value=False,
    help="The one there is.",
)
@click.option("--query", default="", help="What to search for.")
@click.option("--sources", default="", help="Names, separated by commas (default: all).")
@click.option("--limit", default=5, show_default=True, help="Results a source, 1 to 25.")
@click.option(
    "--timeout", type=Finite(), default=30.0, show_default=True, help="Seconds for all, 1 to 60."
)
@OUT
def academic(query: str, sources: str, limit: int, timeout: float, out: str | None) -> None:
    """Search arXiv, Crossref, OpenAlex, Semantic Scholar and PubMed, no key needed."""

    def operation() -> dict[str, Any]:
        from omh_research.errors import ToolInputError
        from omh_research.providers.web import web_environ
        from omh_research.settings import load_settings
        from omh_research.tools.academic import search

        if not query.strip():
            raise ToolInputError("The query is empty.", hint="Give one with --query.")
        names = [name.strip().lower() for name in sources.split(",") if name.strip()]
        environ = web_environ(load_settings())
        return search(query, names or None, limit, timeout, environ=environ)

    run(operation, out)


@tools.command()
@click.option("--op", type=click.Choice(["compress"]), hidden=True, expose_value=False)
@click.option("--max-chars", type=int, default=None, help="Budget (default: the payload's).")
@INPUT
@OUT
def compress(max_chars: int | None, input_: str | None, out: str | None) -> None:
    """Keep the passages that speak to a query, within a budget of characters."""

    def operation() -> dict[str, Any]:
        from omh_research.tools.compress import compress as tool

        payload = read_payload(input_)
        return tool(payload if max_chars is None else {**payload, "max_chars": max_chars})

    run(operation, out)


@tools.command()
@click.option(
    "--op",
    type=click.Choice(["verify", "references"]),
    default="verify",
    show_default=True,
    help="Check claims, or list and number their sources.",
)
@click.option("--ledger", default=None, help="Resume: an evidence_ledger.jsonl with saved quotes.")
@INPUT
@OUT
def citations(op: str, ledger: str | None, input_: str | None, out: str | None) -> None:
    """Check drafted claims: source known, quote in it, DOI its own, claim carried by the quote.

    An evidence_ledger.jsonl beside the input file fills missing dates and limitations.
    """

    def operation() -> dict[str, Any]:
        from omh_research.tools.citations import references, verify
        from omh_research.tools.ledger import EVIDENCE_LEDGER, parse_evidence_ledger

        payload = read_payload(input_)
        path = ledger
        if path is None and input_ not in (None, "-"):
            beside = os.path.join(os.path.dirname(os.path.abspath(str(input_))), EVIDENCE_LEDGER)
            path = beside if os.path.isfile(beside) else None
        rows = parse_evidence_ledger(read_input(path), path) if path is not None else []
        tool = verify if op == "verify" else references
        return tool(payload, rows, resume=ledger is not None)

    run(operation, out)
