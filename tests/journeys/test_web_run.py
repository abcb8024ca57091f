"""Whole runs over the web with no corpus: search, pages and a PDF on loopback (D6, T5, T23, O5)."""

from __future__ import annotations

import gzip
import html
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from omh_research.documents.finding import INSUFFICIENT
from tests.providers.site import Site
from tests.runs import Ended, cli
from tests.simulators.small_web import ARTICLES, TOPIC, Article, SmallWeb, environ_of

SHARED = Path(
    os.environ.get("OMH_SHARED_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data"
)


class Web:
    """A small web, a project root, and the command line between them."""

    def __init__(self, site: Site, root: Path) -> None:
        self.site, self.root = site, root

    def run(self, topic: str, *words: str) -> Ended:
        return cli("run", topic, *words, "--json", "--root", str(self.root))

    def paths(self) -> list[str]:
        """The pages asked for, searches and robots.txt left out."""
        return [a.path for a in self.site.asked if a.path not in ("/html/", "/robots.txt")]

    def ledger(self) -> list[dict[str, Any]]:
        (file,) = self.root.glob(".omh/research/*-evidence/fetch_ledger.jsonl")
        return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def open_web(articles: tuple[Article, ...], tmp_path: Path, patch: pytest.MonkeyPatch) -> Web:
    for name in list(os.environ):
        if name.startswith("OMH_") or name.endswith(("_PROXY", "_proxy", "_API_KEY")):
            patch.delenv(name)
    made = SmallWeb(articles)
    site = Site(made)
    made.base = site.base
    for name, value in environ_of(site.authority).items():
        patch.setenv(name, value)
    patch.setenv("OMH_STATE_HOME", str(tmp_path / "state"))
    root = tmp_path / "root"
    root.mkdir()
    return Web(site, root)


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    opened = open_web(ARTICLES, tmp_path, monkeypatch)
    with opened.site:
        yield opened


def report_of(web: Web, done: Ended) -> str:
    assert (done.code, done.json["status"]) == (0, "confirmed"), done.out + done.err
    return str((web.root / done.json["report"]).read_text("utf-8"))


def sections_of(report: str) -> dict[str, str]:
    middle = report.split("## Detailed Findings")[1].split("\n## ")[0]
    parts = [part.split("\n", 1) for part in middle.split("\n### ")[1:]]
    return {name: text.strip() for name, text in parts}


def test_a_question_to_the_web_ends_in_a_report_of_several_sources(web: Web) -> None:
    """Issue 5 (1): no corpus, no model, no key; every section filled."""
    report = report_of(web, web.run(TOPIC))
    sections = sections_of(report)
    assert len(sections) >= 3
    assert all('"' in text and INSUFFICIENT not in text for text in sections.values()), report
    cited = {line.split(" — ")[1] for line in report.splitlines() if line.startswith("[")}
    assert len(cited) >= 4, report
    assert any(address.endswith(".pdf") for address in cited), "PDF pages are read (D6)"
    assert "/cooking/" not in report and "cookies" not in report
    assert "sources_declared: 0" in report
    slug = next(web.root.glob(".omh/research/*-report.md")).name.removesuffix("-report.md")
    assert cli("audit", slug, "--json", "--root", str(web.root)).code == 0


def test_what_stands_in_the_way_is_recorded_and_nothing_is_fetched_twice(web: Web) -> None:
    """D6b, D7, T19: wall, gone and robots have their states; a page is asked for once."""
    report_of(web, web.run(TOPIC))
    assert len(web.paths()) == len(set(web.paths()))
    assert "/private/marsh" not in web.paths()
    states = {row["canonical_url"].split("/", 3)[3]: row["status"] for row in web.ledger()
              if row["kind"] == "fetch" and row["status"] != "deduplicated"}  # fmt: skip
    assert states["old/salt-marsh"] == "not_found"
    assert states["members/marsh"] in ("bot_wall", "login")


def test_a_plan_does_not_stop_at_pages_that_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first hits of a search are often walls: the facets come from the pages behind them."""
    walls = tuple(
        Article(f"/wall/{n}", TOPIC, ("How do salt marshes protect coasts from storms?",), "", kind)
        for n, kind in enumerate(("wall", "gone", "wall"))
    )
    opened = open_web((*walls, *ARTICLES), tmp_path, monkeypatch)
    with opened.site:
        report = report_of(opened, opened.run(TOPIC))
    assert all('"' in text for text in sections_of(report).values()), report
    assert len({line for line in report.splitlines() if line.startswith("[")}) >= 3


def test_the_fetch_cap_holds_over_the_whole_web_run(web: Web) -> None:
    """T5: with 4 fetches allowed no fifth page is asked for, and the report stands all the same."""
    report_of(web, web.run(TOPIC, "--cap", "max_fetches=4"))
    assert len(web.paths()) <= 4


SUBTOPICS = {
    "Waves over marsh grass": ("/marsh/waves", "/estuary/storm-surge"),
    "Money saved by wetlands": ("/coast/flood-costs", "/marsh/waves"),
    "Restoration of marshes": ("/restoration/lessons", "/ecology/sediment"),
}
QUERIES = {
    "Waves over marsh grass": "wave height storm surge vegetation",
    "Money saved by wetlands": "flood damage costs wetlands waves",
    "Restoration of marshes": "restoration sediment realignment",
}
_PAGES = {article.path: article for article in ARTICLES}


class Mind:
    """A model that searches the web, reads the addresses it found and cites what it read."""

    def __init__(self, base: str) -> None:
        self.base = base

    def __call__(self, body: dict[str, Any]) -> Any:
        from tests.simulators.llm_server import Step

        words = json.dumps(body["messages"], ensure_ascii=False)
        if "[omh-role:planner]" in words:
            rows = (f"- name: {n}\n  queries: [{QUERIES[n]}, marsh {n}]" for n in SUBTOPICS)
            return Step("\n".join(rows))
        if "[omh-role:researcher]" in words:
            return self._research(body, words)
        if "[omh-role:research-synthesist]" in words:
            return Step(self._report())
        return Step(
            "VERDICT: PASS\nCONFIDENCE: HIGH\nEVIDENCE:\n| claim | source | holds |\n"
            "SUBTOPIC COVERAGE:\n| subtopic | covered |\nGAPS:\n- none\nRECOMMENDATION: APPROVE"
        )

    def _research(self, body: dict[str, Any], words: str) -> Any:
        from tests.simulators.llm_server import Step

        name = next(name for name in SUBTOPICS if f"Subtopic: {name}" in words)
        turn = sum(message["role"] == "tool" for message in body["messages"])
        if turn == 0:
            return Step(calls=[("web_search", {"query": QUERIES[name]})])
        if turn == 1:
            found = re.findall(r"http://[\d.]+:\d+/\S+", str(body["messages"][-1]["content"]))
            wanted = [url for url in found if url.endswith(SUBTOPICS[name])]
            assert len(wanted) == 2, found
            return Step(calls=[("web_extract", {"urls": wanted})])
        return Step(self._finding(name))

    def _facts(self, name: str) -> list[tuple[str, str, str]]:
        """Return (address, title, first sentence) of the subtopic's pages."""
        pages = [_PAGES[path] for path in SUBTOPICS[name]]
        return [(self.base + p.path, p.title, p.paragraphs[1].split(". ")[0] + ".") for p in pages]

    def _finding(self, name: str) -> str:
        facts = self._facts(name)
        sources = (f"[{n}] {t} — {u} — secondary — n.d." for n, (u, t, _) in enumerate(facts, 1))
        evidence = (f'- [{n}] {said} | "{said}"' for n, (*_, said) in enumerate(facts, 1))
        prose = " ".join(f"{said[:-1]} [{n}]." for n, (*_, said) in enumerate(facts, 1))
        return "\n".join(
            (f"SUBTOPIC: {name}", f"QUERIES_RUN:\n- {QUERIES[name]} → two pages", "SOURCES:",
             *sources, "EVIDENCE:", *evidence, "SYNTHESIS:", prose, "GAPS:\n- none")
        )  # fmt: skip

    def _report(self) -> str:
        numbers: dict[str, int] = {}
        titles: dict[str, str] = {}
        sections = []
        for name in SUBTOPICS:
            said = []
            for url, title, sentence in self._facts(name):
                titles[url] = title
                said.append(f"{sentence[:-1]} [{numbers.setdefault(url, len(numbers) + 1)}].")
            sections.append(f"### {name}\n\n{' '.join(said)}")
        first = sections[0].split("\n\n")[1]
        sources = "\n".join(
            f"[{n}] {titles[u]} — {u} — secondary — n.d." for u, n in numbers.items()
        )
        return (
            f"# Salt marshes\n\n## Executive Summary\n\n{first}\n\n## Detailed Findings\n\n"
            + "\n\n".join(sections)
            + f"\n\n## Key Takeaways\n\n- {first}\n\n## Open Questions\n\n- None.\n\n"
            f"## Sources\n\n{sources}\n"
        )


def test_a_model_searches_the_web_and_ends_in_the_same_checked_report(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 5 (1) with `--delegate llm`: several sources, all fetched by us, audit holds."""
    pytest.importorskip("pydantic_ai", reason="needs the extra llm")
    from tests.simulators.llm_server import LlmServer

    monkeypatch.setenv("OMH_LLM_MODEL", "scripted")
    monkeypatch.setenv("OMH_LLM_API_KEY", "sk-canary-0123456789")
    with LlmServer(Mind(web.site.base)) as made:
        monkeypatch.setenv("OMH_LLM_BASE_URL", made.openai_url)
        done = web.run(TOPIC, "--delegate", "llm")
        report = report_of(web, done)
    assert "sources_fetched: 5" in report and "sources_declared: 0" in report
    assert list(sections_of(report)) == list(SUBTOPICS)
    assert len(web.paths()) == len(set(web.paths())), "a page two subtopics need is fetched once"
    assert cli("audit", done.json["slug"], "--json", "--root", str(web.root)).code == 0


@pytest.mark.data
@pytest.mark.parametrize(
    ("topic", "word"),
    [
        ("What do we know about water on Jupiter's moon Europa?", "vapor"),
        ("How dangerous is the plague in China?", "Yersinia pestis"),
    ],
)
def test_recorded_pages_make_a_report_of_several_sources(
    topic: str, word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 5 (1) over pages as they were served in 2019: menus, scripts and all."""
    folder = SHARED / "html" / "article-bench-a"
    if not folder.is_dir():
        pytest.skip("the shared data folder is absent")
    opened = open_web(tuple(map(recorded, sorted(folder.glob("*.gz")))), tmp_path, monkeypatch)
    with opened.site:
        report = report_of(opened, opened.run(topic))
    assert word in report
    assert all('"' in text for text in sections_of(report).values()), report
    assert len({line for line in report.splitlines() if line.startswith("[")}) >= 2


def recorded(file: Path) -> Article:
    raw = gzip.decompress(file.read_bytes())
    text = raw.decode("utf-8", "replace")
    title = re.search(r"<title[^>]*>([^<]*)<", text)
    told = re.search(r'<meta[^>]*name="description"[^>]*content="([^"]*)"', text)
    plain = re.sub(r"<script.*?</script>|<style.*?</style>|<[^>]+>", " ", text, flags=re.DOTALL)
    described = html.unescape(told[1]) if told else ""
    name = html.unescape(title[1]).strip() if title else file.stem
    return Article(f"/{file.name[:16]}", name, (described, html.unescape(plain)), raw=raw)
