"""An operator's retry looks at a changed corpus again; nothing else does (E14, E20, D6, T5)."""

from __future__ import annotations

from pathlib import Path

import pytest

from omh_research import Engine
from omh_research.audit import audit_run
from omh_research.delegates.recorded import Budget, LibraryRules, RecordedLibrary
from omh_research.delegates.traffic import Traffic
from omh_research.documents.options import RunOptions
from omh_research.documents.source import Hit, Page
from omh_research.providers.folder import FolderSource
from omh_research.store.layout import Layout
from omh_research.store.sources import Sources
from omh_research.tools.urls import canonical

TOPIC = "Why is the sky blue?"
ANSWER = (
    "Rayleigh scattering makes the sky blue. "
    "Blue light of the sky is scattered more than red light.\n"
)


def write(corpus: Path, name: str, text: str) -> None:
    corpus.mkdir(exist_ok=True)
    (corpus / name).write_text(text, "utf-8")


@pytest.mark.parametrize("name", ["sky.md", "owls.md"], ids=["added", "changed"])
@pytest.mark.parametrize("same_process", [True, False])
def test_e14_retry_finds_what_was_added_to_the_corpus(
    tmp_path: Path, name: str, same_process: bool
) -> None:
    write(tmp_path / "c", "owls.md", "Owls hoot at night.\n")
    engine = Engine(str(tmp_path))
    slug = engine.start(TOPIC, options=RunOptions(corpus=("c",))).slug
    assert engine.run(slug).blocked_reason == "insufficient_evidence"
    write(tmp_path / "c", name, ANSWER)
    if not same_process:
        engine = Engine(str(tmp_path))
    engine.retry(slug)
    assert engine.status(slug).phase == "search"
    assert engine.run(slug).status == "confirmed"
    assert "Rayleigh" in engine.report(slug)
    assert audit_run(engine.project, slug).holds


def library(root: Path, source: FolderSource | Web, retry: int) -> RecordedLibrary:
    (root / ".omh").mkdir(exist_ok=True)
    record = Sources(Layout(str(root)), "slug-of-it", canonical)
    now, budget = "2026-11-30T12:00:00Z", Budget(total=1, per_subquestion=1)
    rules = LibraryRules(canonical, lambda: now, budget, Traffic(), retry)
    return RecordedLibrary("topic", record, [source], source, rules)


def test_e20_without_a_retry_the_recorded_results_stay(tmp_path: Path) -> None:
    """A run invoked again after a crash meets the corpus as it was searched and read."""
    corpus = tmp_path / "c"
    write(corpus, "owls.md", "Owls see blue light.\n")
    before = library(tmp_path, FolderSource([corpus]), 0)
    hits, page = before.search("blue"), before.read("corpus:c/owls.md")
    write(corpus, "owls.md", "Owls see blue light and red light.\n")
    write(corpus, "sky.md", ANSWER)
    again = library(tmp_path, FolderSource([corpus]), 0)
    assert again.search("blue") == hits and len(hits) == 1
    assert again.read("corpus:c/owls.md").text == page.text
    assert again.read("corpus:c/sky.md").state == "refused"


def test_t5_after_a_retry_the_corpus_is_read_anew_with_its_budget(tmp_path: Path) -> None:
    corpus = tmp_path / "c"
    write(corpus, "owls.md", "Owls see blue light.\n")
    first = library(tmp_path, FolderSource([corpus]), 0)
    first.search("blue")
    first.read("corpus:c/owls.md")
    write(corpus, "owls.md", "Owls see no blue light.\n")
    write(corpus, "sky.md", ANSWER)
    retried = library(tmp_path, FolderSource([corpus]), 1)
    assert len(retried.search("blue")) == 2
    assert retried.read("corpus:c/owls.md").text == "Owls see no blue light.\n"
    assert retried.remaining_fetches() == 0
    held = Sources(Layout(str(tmp_path)), "slug-of-it", canonical).held()
    assert held["corpus:c/owls.md"].text == "Owls see no blue light.\n", "as it was read last"


class Web:
    """A paid search: each question costs."""

    name = "web"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def search(self, query: str, *, limit: int) -> list[Hit]:
        self.asked.append(query)
        return [Hit("https://a.example/1", "A", "", self.name, 1)]

    def read(self, url: str) -> Page:
        self.asked.append(url)
        return Page(url, url, "ok", "T", "Some text.")


def test_e20_what_the_web_answered_is_not_paid_twice_after_a_retry(tmp_path: Path) -> None:
    web = Web()
    for retry in (0, 1):
        asked = library(tmp_path, web, retry)
        asked.search("blue")
        asked.read("https://a.example/1")
        assert asked.remaining_fetches() == 0
    assert web.asked == ["blue", "https://a.example/1"]
