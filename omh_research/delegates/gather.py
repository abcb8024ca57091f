"""Reading for those who cannot read: searches and pages fetched before the task is handed out.

Job: run a task's own queries through its Library and return what was read as one text, for
programs and models without tools. Every hit and page thereby is on record and can be quoted and
checked. Refuses to judge and to go past the budget. Importers: command, llm.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from omh_research.delegates.interface import Library
from omh_research.documents.source import Hit, Page
from omh_research.documents.task import Task
from omh_research.errors import ProviderError

HITS_PER_QUERY = 6
MAX_CHARS = 40_000


class Gathered(Struct, frozen=True):
    """What was read for one task: the text to hand over, pages read, and what went wrong."""

    text: str = ""
    fetches: int = 0
    notes: tuple[str, ...] = ()


def gather(task: Task, library: Library, should_stop: Callable[[], bool]) -> Gathered:
    """Search the task's queries, read the best hits within the budget, return extracts.

    A search or page that failed is a note, never silence: an unknown answer is not "nothing".
    """
    queries = task.brief.queries or (task.brief.subtopic or task.brief.topic,)
    hits, notes = _search_all(queries, library, should_stop)
    pages: list[Page] = []
    reads = 0
    for hit in hits:
        if should_stop() or library.remaining_fetches() <= 0 or reads >= task.brief.max_fetches:
            break
        reads += 1
        try:
            page = library.read(hit.url)
        except ProviderError as error:
            notes.append(f"{hit.url} could not be read: {error.message}")
            continue
        if page.state == "ok" and page.text.strip():
            pages.append(page)
        else:
            notes.append(f"{hit.url} could not be read: {page.state}")
    if not pages:
        notes.append("no text could be read for this task")
    return Gathered(text=_as_text(queries, pages, notes), fetches=reads, notes=tuple(notes))


def _search_all(
    queries: tuple[str, ...], library: Library, should_stop: Callable[[], bool]
) -> tuple[list[Hit], list[str]]:
    """Return the hits of all queries, best of each first, no URL twice, and the failures."""
    answers: list[list[Hit]] = []
    notes: list[str] = []
    for query in queries:
        if should_stop():
            break
        try:
            answers.append(library.search(query, limit=HITS_PER_QUERY))
        except ProviderError as error:
            notes.append(f"the search {query!r} could not be answered: {error.message}")
    merged: dict[str, Hit] = {}
    for rank in range(HITS_PER_QUERY):
        for hits in answers:
            if rank < len(hits):
                merged.setdefault(hits[rank].url, hits[rank])
    return list(merged.values()), notes


def _as_text(queries: tuple[str, ...], pages: list[Page], notes: list[str]) -> str:
    blocks = ["Queries run: " + "; ".join(queries)]
    for page, text in zip(pages, _extracts(queries, pages), strict=True):
        date = f"\nDate: {page.date}" if page.date else ""
        blocks.append(f"Title: {page.title or page.url}\nURL: {page.url}{date}\n\n{text}")
    if notes:
        blocks.append("Not read:\n" + "\n".join(f"- {note}" for note in notes))
    return "\n\n----\n\n".join(blocks)


def _extracts(queries: tuple[str, ...], pages: list[Page]) -> list[str]:
    """Return one extract a page, together at most MAX_CHARS: literal slices, so quotes hold."""
    if sum(len(page.text) for page in pages) <= MAX_CHARS:
        return [page.text for page in pages]
    from omh_research.tools.compress import compress

    answer = compress(
        {
            "query": " ".join(queries),
            "sources": [
                {"id": str(n), "url": page.url, "title": page.title, "text": page.text}
                for n, page in enumerate(pages)
            ],
            "max_chars": MAX_CHARS,
        }
    )
    chunks: dict[str, list[tuple[int, str]]] = {}
    for kept in answer["kept"]:
        chunks.setdefault(str(kept["source"]), []).append((kept["chunk_index"], kept["chunk"]))
    return [
        "\n[…]\n".join(text for _, text in sorted(chunks.get(str(n), [])))
        or "(no part of this page concerns the queries)"
        for n in range(len(pages))
    ]
