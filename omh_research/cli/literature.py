"""`omh-research literature`: bundles of candidate papers. Importers: cli."""

from __future__ import annotations

import os
from typing import Any

import click

from omh_research.cli.render import print_json, say, visible
from omh_research.errors import UsageError

JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
SCOPE = click.option("--scope-root", default=None, help="All paths must lie inside this folder.")
FORCE = click.option("--force", is_flag=True, help="Replace what is there.")


@click.group()
def literature() -> None:
    """Find candidate papers for a topic, de-duplicated and traceable: a bundle.

    A bundle is a folder whose only entrance is manifest.json.
    """


@literature.command("run")
@click.option("--topic", default="", help="What the search is about.")
@click.option("--query-file", "--queries", "query_file", default="", help="JSON, 5 to 25 queries.")
@click.option("--output-dir", default="", help="The bundle's folder; it must not be there yet.")
@click.option("--domain", default=None, help="Field of research, recorded in the manifest.")
@click.option("--min-year", type=int, default=None, help="Earliest year of publication.")
@click.option("--max-year", type=int, default=None, help="Latest year of publication.")
@click.option("--publication-type", multiple=True, help="article, review, book-chapter …; repeat.")
@click.option("--exclude-preprints", is_flag=True, help="Leave preprints out of the pool.")
@click.option("--language", default=None, help="ISO 639-1 code.")
@click.option(
    "--open-access/--any-access",
    "open_access",
    default=None,
    help="Only papers free to read, or any (default).",
)
@click.option(
    "--provider-order", default="", help="Comma list of openalex, semantic_scholar, crossref."
)
@click.option(
    "--max-results-per-query",
    type=int,
    default=50,
    show_default=True,
    help="Hits that a provider is asked for a query.",
)
@click.option(
    "--max-total",
    type=int,
    default=500,
    show_default=True,
    help="Hits that are kept in all, before duplicates are merged.",
)
@click.option(
    "--preprint-profile",
    default="auto",
    show_default=True,
    help="What counts as a preprint: auto, the one rule there is.",
)
@SCOPE
@FORCE
@JSON
def run(as_json: bool, **given: Any) -> int:
    """Ask the providers every query and write a bundle.

    Exit 0 for success and partial_success, 1 for a failed run (its manifest says why).
    """
    from omh_research.cli.output import refuse_inside, refuse_stdout
    from omh_research.literature.searching import outside, run_search
    from omh_research.project import random_hex, utc_now
    from omh_research.providers.web import web_environ
    from omh_research.settings import load_settings
    from omh_research.transport import Transport

    settings = load_settings()
    refuse_stdout(given["output_dir"], "--output-dir")
    refuse_inside(given["output_dir"] or ".", settings.root, "--output-dir")
    environ = web_environ(settings)
    world = outside(Transport(environ=environ), clock=utc_now, rand=random_hex, environ=environ)
    manifest = run_search(_request(given), world)
    counts = manifest.counts
    if as_json:
        import msgspec

        print_json({
            "ok": manifest.status != "failed", "status": manifest.status,
            "failure_code": manifest.failure_code, "search_run_id": manifest.search_run_id,
            "counts": msgspec.to_builtins(counts), "warnings": list(manifest.warnings),
        })  # fmt: skip
    else:
        click.echo(f"{manifest.status}: {counts.deduped} papers from {counts.raw} hits")
        for warning in manifest.warnings:
            say(f"warning: {warning}")
    return 1 if manifest.status == "failed" else 0


def _request(given: dict[str, Any]) -> Any:
    from omh_research.literature.manifest import FilterSet
    from omh_research.literature.rls_contract import PROVIDER_ORDER
    from omh_research.literature.searching import SearchRequest

    order = tuple(name.strip() for name in given["provider_order"].split(",") if name.strip())
    return SearchRequest(
        topic=given["topic"],
        query_file=given["query_file"],
        output_dir=given["output_dir"],
        domain=given["domain"],
        filters=FilterSet(
            given["min_year"],
            given["max_year"],
            tuple(given["publication_type"]),
            given["exclude_preprints"],
            given["language"],
            given["open_access"] or None,  # "any" asks for no filter, not for the closed ones
        ),
        provider_order=order or PROVIDER_ORDER,
        max_results_per_query=given["max_results_per_query"],
        max_total=given["max_total"],
        scope_root=given["scope_root"],
        preprint_profile=given["preprint_profile"],
        force=given["force"],
    )


@literature.command("enrich-abstracts")
@click.option("--input", "input_path", required=True, help="JSONL of rls.paper.v1 rows.")
@click.option("--output", "output_path", required=True, help="Enriched JSONL.")
@click.option("--legacy", "adapt_legacy", is_flag=True, help="Adapt old title/year/id rows.")
@SCOPE
@FORCE
@JSON
def enrich_abstracts(as_json: bool, **given: Any) -> int:
    """Fill missing abstracts of chosen papers from the providers."""
    import msgspec

    from omh_research.literature.enrich import EnrichRequest, enrich_file
    from omh_research.literature.manifest import FilterSet
    from omh_research.literature.searching import outside
    from omh_research.project import random_hex, utc_now
    from omh_research.transport import Transport

    given["output_path"] = _file_to_write(given["output_path"], "--output")
    world = outside(Transport(), clock=utc_now, rand=random_hex)
    done = enrich_file(EnrichRequest(**given), world.ask(FilterSet()), utc_now)
    counts = msgspec.to_builtins(done.counts)
    if as_json:
        print_json({"ok": True, "counts": counts, "warnings": list(done.warnings)})
    else:
        click.echo(", ".join(f"{name} {number}" for name, number in counts.items()))
        for warning in done.warnings:
            say(f"warning: {warning}")
    return 0


@literature.command("validate")
@click.option("--bundle", "folder", required=True, help="The bundle's folder.")
@JSON
def validate(folder: str, as_json: bool) -> int:
    """Check a bundle: hashes, sizes, counts, every line, every name.

    Exit 0 only for a success or partial_success bundle that holds.
    """
    from omh_research.literature.validate import check_bundle

    check = check_bundle(folder)
    status = check.manifest.status if check.manifest else None
    if as_json:
        print_json({"ok": check.is_usable, "status": status, "problems": list(check.problems)})
    else:
        for problem in check.problems:
            click.echo(visible(problem))
        holds = "holds" if not check.problems else "does not hold"
        click.echo(f"{status or 'unreadable'}: the bundle {holds}")
    return 0 if check.is_usable else 1


@literature.command("export")
@click.option("--bundle", "folder", required=True, help="The bundle's folder.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["bibtex", "ris", "csl-json", "prisma"]),
    default="bibtex",
    show_default=True,
    help="bibtex, ris and csl-json for reference managers; prisma: the counts of a flow diagram.",
)
@click.option("--output", default=None, help="File to write (default: standard output).")
@SCOPE
@FORCE
def export(folder: str, form: str, output: str | None, scope_root: str | None, force: bool) -> int:
    """Write the pool for a reference manager, or the counts of a PRISMA flow."""
    from omh_research.cli.output import judge, write
    from omh_research.literature.bundle import check_in_scope
    from omh_research.literature.export import export_bundle, write_export

    target = judge("-" if output is None else output, _root(), "--output")
    if target.opened:
        check_in_scope(target.opened, scope_root, "--output")
    text = export_bundle(folder, form)
    if target.path:
        write_export(text, target.path, scope_root=scope_root, force=force)
    else:
        write(target, text.encode("utf-8"))
    return 0


def _root() -> str:
    return os.environ.get("OMH_ROOT") or os.getcwd()


def _file_to_write(path: str, option: str) -> str:
    """Return a file outside `.omh/` to be replaced, a link's target for a link."""
    from omh_research.cli.output import judge

    target = judge(path, _root(), option)
    if not target.path:
        raise UsageError(f"{option} {path} is no file.", hint="Name a file.")
    return target.path
