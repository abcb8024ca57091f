"""Commands for the web: search it, read a page (spec D6b). Importers: cli."""

from __future__ import annotations

import json
from typing import Any

import click

from omh_research.cli.number import Finite
from omh_research.cli.output import Output, judge, write
from omh_research.cli.render import print_json, say, visible
from omh_research.errors import UsageError

ROOT = click.option("--root", type=click.Path(), default=None, help="Project root (or OMH_ROOT).")
JSON = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout.")
OUT = click.option("--out", type=click.Path(), default=None, help="Write the result to this file.")


@click.group()
def web() -> None:
    """Search the web, read a page: every request through the one guarded door."""


@web.command()
@click.argument("query")
@click.option(
    "-n",
    "limit",
    type=click.IntRange(1, 50),
    default=10,
    show_default=True,
    help="Results at most.",
)
@click.option("--provider", default="", help="The search provider to ask first.")
@ROOT
@OUT
@JSON
def search(
    query: str, limit: int, provider: str, root: str | None, out: str | None, as_json: bool
) -> int:
    """Search for QUERY. Exit 0 when a provider answered, 1 when none did (that is "unknown")."""
    from omh_research.providers.web import web_environ
    from omh_research.providers.web.searching import WebSearch
    from omh_research.settings import load_settings
    from omh_research.transport import Transport

    if not query.strip():
        raise UsageError("The query is empty.")
    settings = load_settings(root)
    target = _judged(out, settings.root)
    environ = web_environ(settings)
    searcher = WebSearch(Transport(environ=environ), environ=environ, provider=provider)
    outcome = searcher.find(query, limit=limit)
    results = [
        {"title": hit.title, "url": hit.url, "snippet": hit.snippet, "date": hit.date or None,
         "provider": hit.provider, "rank": hit.rank}
        for hit in outcome.hits
    ]  # fmt: skip
    attempts = [
        {"provider": each.provider, "state": each.state, "results": each.results,
         "detail": each.detail}
        for each in outcome.attempts
    ]  # fmt: skip
    answer = {"ok": outcome.is_known, "query": query, "results": results, "attempts": attempts}
    for attempt in attempts:
        if attempt["state"] not in ("ok", "empty"):
            say(f"{attempt['provider']}: {attempt['detail']}")
    text = "\n\n".join(_result_lines(result) for result in results)
    _give(answer, text, target if outcome.is_known else None, as_json)
    return 0 if outcome.is_known else 1


def _result_lines(result: dict[str, Any]) -> str:
    dated = f" ({result['date']})" if result["date"] else ""
    lines = [f"{result['rank']}. {result['title']}{dated}", f"   {result['url']}"]
    if result["snippet"]:
        lines.append(f"   {result['snippet']}")
    return "\n".join(lines)


@web.command()
@click.argument("url")
@click.option("--timeout", type=Finite(1, 60), default=30.0, show_default=True,
              help="Seconds the page may take in all.")  # fmt: skip
@click.option("--ignore-robots", is_flag=True, help="Read even what robots.txt does not allow.")
@click.option("--links", is_flag=True, help="Keep link targets in the text.")
@click.option("--jina", is_flag=True, help="Let Jina Reader try once when our own reading fails.")
@ROOT
@OUT
@JSON
def read(
    url: str,
    timeout: float,
    ignore_robots: bool,
    links: bool,
    jina: bool,
    root: str | None,
    out: str | None,
    as_json: bool,
) -> int:
    """Read URL: its main text as Markdown. Exit 1 with the page's state when it was not read."""
    from omh_research.providers.web import open_jina, web_environ
    from omh_research.providers.web.page_cache import PageCache
    from omh_research.providers.web.reading import ReadingRules, WebReader
    from omh_research.settings import load_settings
    from omh_research.transport import Transport

    settings = load_settings(root)
    target = _judged(out, settings.root)
    environ = web_environ(settings)
    transport = Transport(environ=environ)
    second = open_jina(transport, environ) if jina else None
    rules = ReadingRules(timeout, not ignore_robots, links)
    reader = WebReader(transport, rules=rules, second=second, cache=PageCache())
    page, status, _ = reader.examine(url)
    answer = {
        "url": page.url, "final_url": page.final_url, "status": status, "title": page.title,
        "language": page.language, "date": page.date or None, "author": page.author or None,
        "text": page.text, "state": page.state, "detail": page.detail,
    }  # fmt: skip
    is_read = page.state == "ok"
    if not is_read:
        say(f"{page.state}: {page.detail} ({page.url})")
    title = f"# {page.title}\n\n" if page.title and not page.text.startswith("# ") else ""
    _give(answer, title + page.text, target if is_read else None, as_json)
    return 0 if is_read else 1


def _judged(out: str | None, root: str) -> Output | None:
    """Return where `--out` leads, judged before anything is asked; a link is refused (T25)."""
    return None if out is None else judge(out, root, "--out", follow=False)


def _give(answer: dict[str, Any], text: str, out: Output | None, as_json: bool) -> None:
    """Print the answer, or write it to `out` (nothing is written when there is no result)."""
    if out is not None and not out.is_stdout:
        content = json.dumps(answer, ensure_ascii=False, indent=1) if as_json else text
        write(out, (content.rstrip("\n") + "\n").encode("utf-8", "replace"))
    if as_json:
        print_json(answer)
    elif text and (out is None or out.is_stdout):
        click.echo(visible(text))
