"""Tasks side by side over one record: nothing fetched twice, no budget crossed (T5, T19, O5)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from omh_research.delegates.recorded import Budget, LibraryRules, RecordedLibrary
from omh_research.delegates.traffic import Traffic
from omh_research.documents.source import Hit, Page
from omh_research.errors import ProviderError
from omh_research.store.layout import Layout
from omh_research.store.sources import Sources
from omh_research.tools.urls import canonical


class SlowWeb:
    """Answers after a while, so that all who ask at once are under way together."""

    name = "slow"

    def __init__(self, fails: bool = False) -> None:
        self.asked: list[str] = []
        self._fails = fails

    def search(self, query: str, *, limit: int) -> list[Hit]:
        self.asked.append(query)
        time.sleep(0.05)
        if self._fails:
            raise ProviderError("down")
        return [Hit("https://a.example/1", "A", "", self.name, 1)]

    def read(self, url: str) -> Page:
        self.asked.append(url)
        time.sleep(0.05)
        if self._fails:
            raise RuntimeError("a fault of the reader")
        return Page(url, url, "ok", "T", "Some text.")


def libraries(tmp_path: Path, web: SlowWeb, budget: Budget, count: int) -> list[RecordedLibrary]:
    record = Sources(Layout(str(tmp_path)), "slug-of-it", canonical)
    (tmp_path / ".omh").mkdir()
    rules = LibraryRules(canonical, lambda: "2026-11-30T12:00:00Z", budget, Traffic())
    return [RecordedLibrary(f"topic {n}", record, [web], web, rules) for n in range(count)]


def together(calls: list[Callable[[], object]]) -> list[object]:
    start = threading.Barrier(len(calls))
    found: list[object] = [None] * len(calls)

    def call(n: int) -> None:
        start.wait()
        try:
            found[n] = calls[n]()
        except Exception as error:
            found[n] = error

    threads = [threading.Thread(target=call, args=(n,)) for n in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_a_page_that_several_want_at_once_is_fetched_once_and_given_to_all(tmp_path: Path) -> None:
    web = SlowWeb()
    made = libraries(tmp_path, web, Budget(40, 8), 6)
    pages = together([lambda lib=lib: lib.read("https://a.example/x") for lib in made])  # type: ignore[misc]
    assert [page.text for page in pages if isinstance(page, Page)] == ["Some text."] * 6
    assert web.asked == ["https://a.example/x"]
    assert sum(lib.remaining_fetches() for lib in made) == 8 * 5 + 7


def test_a_search_that_several_make_at_once_is_made_once(tmp_path: Path) -> None:
    web = SlowWeb()
    made = libraries(tmp_path, web, Budget(40, 8), 5)
    found = together([lambda lib=lib: lib.search(" Tides  AND coasts") for lib in made])  # type: ignore[misc]
    assert all(isinstance(hits, list) and len(hits) == 1 for hits in found)
    assert len(web.asked) == 1


def test_reads_under_way_count_against_the_caps(tmp_path: Path) -> None:
    """Eight tasks, a cap of three: three pages are fetched, five are refused and say so."""
    web = SlowWeb()
    made = libraries(tmp_path, web, Budget(3, 8), 8)
    pages = together([lambda n=n: made[n].read(f"https://a.example/{n}") for n in range(8)])  # type: ignore[misc]
    states = sorted(page.state for page in pages if isinstance(page, Page))
    assert states == ["ok"] * 3 + ["refused"] * 5
    assert len(web.asked) == 3


def test_the_cap_of_one_task_holds_for_its_own_threads(tmp_path: Path) -> None:
    web = SlowWeb()
    (library,) = libraries(tmp_path, web, Budget(40, 2), 1)
    pages = together([lambda n=n: library.read(f"https://a.example/{n}") for n in range(6)])  # type: ignore[misc]
    assert sum(page.state == "ok" for page in pages if isinstance(page, Page)) == 2


def test_a_reader_that_breaks_gives_its_reservation_back(tmp_path: Path) -> None:
    web = SlowWeb(fails=True)
    made = libraries(tmp_path, web, Budget(3, 8), 3)
    together([lambda n=n: made[n].read(f"https://a.example/{n}") for n in range(3)])  # type: ignore[misc]
    assert made[0].remaining_fetches() == 3
    found = together([lambda lib=lib: lib.search("tides") for lib in made])  # type: ignore[misc]
    assert all(isinstance(error, ProviderError) for error in found)
