"""The embedded default delegate: no model, no key, quotes only (spec D1, D1b, E15).

Job: answer every role's task from the Library and the brief. Refuses to write a sentence of its
own: a report holds quotes and fixed labels, so every sentence verifies. Stateless; safe in threads.
Importers: wiring, registry.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from omh_research.delegates.interface import Library
from omh_research.documents.source import Hit
from omh_research.documents.task import Brief, Reply, Task, Usage
from omh_research.errors import DelegateError, ProviderError

WIDER_QUERY_CHARS = 300
PLAN_DOCUMENTS = 3
# A web search tells of a page what fits in two lines, and many pages cannot be read.
PLAN_PAGES = 5
PLAN_READS = 8
PLAN_CHARS = 20_000


class ExtractiveDelegate:
    """Plans, researches, reports and checks by quoting."""

    name = "extractive"
    needs_library = True
    can_scope_tools = True
    keeps_ledger = True
    can_judge = False
    side_by_side = 1  # it computes, so threads gain nothing, and one order makes one ledger

    def answer(self, task: Task, library: Library | None, should_stop: Callable[[], bool]) -> Reply:
        """Return the reply to one task; see `Delegate.answer`.

        A planner works without a Library (generic facets); a researcher does not. A provider that
        is down fails the task: unknown is not the same as nothing found. Raises `DelegateError`
        for a role it does not know.
        """
        brief = task.brief
        match task.role:
            case "planner":
                return Reply(task.id, text=_plan(brief, library))
            case "researcher":
                return _research(task, library, should_stop)
            case "research-synthesist":
                from omh_research.extractive.report import write_report

                return Reply(task.id, text=write_report(brief))
            case "research-verifier":
                from omh_research.extractive.verification import verify

                return Reply(task.id, text=verify(brief))
            case _:
                raise DelegateError(
                    f"The extractive delegate has no answer for the role {task.role!r}.",
                    hint="Choose a delegate with a model: --delegate llm, command or host.",
                )


def _plan(brief: Brief, library: Library | None) -> str:
    from omh_research.extractive.facets import count_facets, plan_facets, render_plan
    from omh_research.extractive.research import SEARCH_LIMIT

    hits: list[Hit] = []
    if library is not None:
        try:
            hits = _read_first(library, library.search(brief.topic, limit=SEARCH_LIMIT))
            if hits and count_facets(brief, hits) < brief.wanted_subtopics[0]:
                # Too little was found for the words of the topic: look beside the best passage.
                more = library.search(hits[0].snippet[:WIDER_QUERY_CHARS], limit=SEARCH_LIMIT)
                known = {hit.url for hit in hits}
                hits = [*hits, *(hit for hit in more if hit.url not in known)]
        except ProviderError:
            pass  # the researchers will say that the search is down; a plan can be made
    return render_plan(plan_facets(brief, hits))


def _read_first(library: Library, hits: list[Hit]) -> list[Hit]:
    """Return the hits, the first ones with their documents' text: facets come from whole texts.

    What cannot be read does not count. The researchers read the same documents first, so nothing
    is fetched twice.
    """
    is_web = any(hit.url.startswith(("http://", "https://")) for hit in hits)
    wanted = PLAN_PAGES if is_web else PLAN_DOCUMENTS
    found: list[Hit] = []
    read = 0
    for place, hit in enumerate(hits):
        if read < wanted and place < PLAN_READS:
            page = library.read(hit.url)
            if page.state == "ok":
                read += 1
                hit = structs.replace(hit, snippet=page.text[:PLAN_CHARS])
        found.append(hit)
    return found


def _research(task: Task, library: Library | None, should_stop: Callable[[], bool]) -> Reply:
    from omh_research.extractive.research import render_finding, research

    if library is None:
        return Reply(task.id, status="failed", reason="a researcher needs documents to search")
    try:
        found = research(task.brief, library, should_stop)
    except ProviderError as error:
        return Reply(task.id, status="failed", reason=str(error))
    if should_stop():
        return Reply(task.id, status="failed", reason="stopped before the answer was complete")
    text = render_finding(task.brief, found)
    return Reply(task.id, text=text, usage=Usage(fetches=found.fetches), notes=found.notes)
