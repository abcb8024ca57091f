"""Tasks and a small library for the delegates' tests."""

from __future__ import annotations

from omh_research.documents.source import Hit, Page
from omh_research.documents.task import Brief, Task
from omh_research.errors import ProviderError

WEB = ("web_search", "web_extract")
CORPUS = ("corpus_search", "corpus_read")

PAGES = {
    "https://rivers.example/rhine": (
        "The Rhine",
        "The Rhine is 1,233 km long. It rises in the Swiss Alps and ends in the North Sea.",
    ),
    "https://rivers.example/elbe": (
        "The Elbe",
        "The Elbe is 1,094 km long. It rises in the Giant Mountains of the Czech Republic.",
    ),
}


def a_task(
    role: str = "researcher",
    *,
    id: str = "t-1",
    goal: str = "Research the Rhine. [omh-role:researcher]",
    context: str = "plan: rivers",
    tools: tuple[str, ...] = (),
    brief: Brief | None = None,
) -> Task:
    brief = brief or Brief(
        topic="European rivers", slug="european-rivers-20260101-abcd", subtopic="Rhine",
        queries=("length of the Rhine",),
    )  # fmt: skip
    return Task(id=id, role=role, goal=goal, context=context, tools=tools, brief=brief)


class MemoryLibrary:
    """Pages held in memory, with a fetch budget; remembers what it was asked."""

    def __init__(self, pages: dict[str, tuple[str, str]] | None = None, budget: int = 8) -> None:
        self.pages = PAGES if pages is None else pages
        self.budget = budget
        self.searched: list[str] = []
        self.was_read: list[str] = []
        self.down = False

    def search(self, query: str, *, limit: int = 10) -> list[Hit]:
        self.searched.append(query)
        if self.down:
            raise ProviderError("the search is throttled")
        words = {word.strip("?.,").casefold() for word in query.split() if len(word) > 3}
        found = [
            Hit(url=url, title=title, snippet=text[:40], provider="memory", rank=rank)
            for rank, (url, (title, text)) in enumerate(self.pages.items(), 1)
            if words & {word.strip("?.,").casefold() for word in f"{title} {text}".split()}
        ]
        return found[:limit]

    def read(self, url: str) -> Page:
        self.was_read.append(url)
        if self.budget <= 0:
            return Page(url=url, final_url=url, state="refused", detail="the budget is spent")
        self.budget -= 1
        if url not in self.pages:
            return Page(url=url, final_url=url, state="not_found")
        title, text = self.pages[url]
        return Page(url=url, final_url=url, state="ok", title=title, text=text)

    def remaining_fetches(self) -> int:
        return self.budget


def never() -> bool:
    return False
