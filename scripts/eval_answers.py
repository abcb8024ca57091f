"""How often an extractive report quotes the answer of a factual question (80-quality Q14).

Job: make a folder of all paragraphs of one language, put every question to the extractive delegate
(or, with --engine, to a whole run), and count the reports that quote the answer span, and those
whose first quote holds it. Reads the shared test data; writes a temporary folder only.

    python scripts/eval_answers.py [--sets x-en,x-zh,x-ar,x-de,cmrc] [--limit N] [--engine] [--json]
    python scripts/eval_answers.py --absent    # how often a run refuses where nothing answers
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

MAX_QUOTED = 2_500
SETS = ("x-en", "x-zh", "x-ar", "x-de", "cmrc")
TARGETS = {"x-en": 0.92, "x-zh": 0.96, "x-ar": 0.92, "x-de": 0.94, "cmrc": 0.96}
FIRST_TARGET = 0.75


def data_folder() -> Path | None:
    """The shared data folder: beside the checkout, or where OMH_SHARED_DATA says."""
    given = os.environ.get("OMH_SHARED_DATA")
    folder = Path(given) if given else ROOT.parent / "shared" / "data"
    return folder if folder.is_dir() else None


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def load(name: str) -> tuple[str, list[str], list[tuple[str, str]]]:
    """Return (language, paragraphs, (question, answer) pairs) of one set."""
    base = data_folder()
    assert base is not None
    folder = base / "retrieval" / ("cmrc-zh-hans" if name == "cmrc" else "xquad-multi-a")
    language = "zh" if name == "cmrc" else name.removeprefix("x-")
    documents = [d["text"] for d in read_rows(folder / "docs.jsonl") if d["lang"] == language]
    queries = [q for q in read_rows(folder / "queries.jsonl") if q["lang"] == language]
    return language, documents, [(q["text"], q["answer"]) for q in queries]


def load_absent(name: str) -> list[tuple[list[str], list[str]]]:
    """Return (paragraphs, questions) of XQuAD by article, the article that answers left out."""
    base = data_folder()
    assert base is not None
    folder = base / "retrieval" / "xquad-multi-a"
    language = name.removeprefix("x-")
    documents = [d for d in read_rows(folder / "docs.jsonl") if d["lang"] == language]
    asked: dict[int, list[str]] = {}
    for query in read_rows(folder / "queries.jsonl"):
        if query["lang"] == language:
            at, answer = query["answer_start"], query["answer"]
            owner = next(d for d in documents if d["text"].startswith(answer, at))
            asked.setdefault(owner["article"], []).append(query["text"])
    return [
        ([d["text"] for d in documents if d["article"] != article], questions)
        for article, questions in sorted(asked.items())
    ]


def count_refused(name: str) -> tuple[int, int]:
    """Return (questions, those refused) where no document of the folder has the answer."""
    from omh_research import Engine
    from omh_research.documents.options import RunOptions

    total = refused = 0
    for documents, questions in load_absent(name):
        with tempfile.TemporaryDirectory() as temporary:
            corpus = Path(temporary) / "corpus"
            corpus.mkdir()
            write_corpus(corpus, documents)
            engine = Engine(temporary)
            for question in questions:
                begun = engine.start(question, options=RunOptions(corpus=("corpus",)))
                total += 1
                refused += engine.run(begun.slug).status == "blocked"
    return total, refused


def quotes_of(report: str) -> list[str]:
    """The quotes of a report: on each list line, what stands between its outermost quotes."""
    body = report.split("\n## Sources")[0]
    return [m.group(1) for m in re.finditer(r'^- "(.*)"[^"\n]*$', body, re.M)]


def fold(text: str) -> str:
    return " ".join(text.split())


class Score(msgspec.Struct):
    questions: int = 0
    answered: int = 0
    first: int = 0
    too_long: int = 0
    blocked: int = 0
    quoted: int = 0
    documents: int = 0
    sections: int = 0
    empty: int = 0
    compared: int = 0
    seconds: float = 0.0
    misses: list[str] = []

    def count(self, question: str, answer: str, report: str) -> None:
        quotes = quotes_of(report)
        self.questions += 1
        self.quoted += sum(map(len, quotes))
        self.documents += len(set(re.findall(r'" \[(\d+)\]', report)))
        for section in report.split("## Key Takeaways")[0].split("\n### ")[1:]:
            self.sections += 1
            self.empty += '- "' not in section
            self.compared += len(set(re.findall(r'" \[(\d+)\]', section))) > 1
        self.too_long += sum(map(len, quotes)) > MAX_QUOTED
        holds = [fold(answer) in quote for quote in quotes]
        self.answered += any(holds)
        self.first += bool(holds and holds[0])
        if not any(holds):
            self.misses.append(f"{question} | {answer}")


def write_corpus(folder: Path, documents: list[str]) -> None:
    for number, text in enumerate(documents):
        (folder / f"paragraph-{number:03}.md").write_text(text + "\n", "utf-8")


def by_delegate(name: str, limit: int, offset: int = 0, step: int = 1) -> Score:
    """Put the questions to the delegate alone: plan, three or more researchers, one report."""
    from omh_research.delegates.extractive import ExtractiveDelegate
    from omh_research.documents.finding import parse_finding
    from omh_research.documents.plan import parse_planner_answer
    from omh_research.documents.task import Brief, FindingText, Task
    from omh_research.providers.folder import FolderSource

    language, documents, questions = load(name)
    score = Score()
    with tempfile.TemporaryDirectory() as temporary:
        corpus = Path(temporary) / "corpus"
        corpus.mkdir()
        write_corpus(corpus, documents)
        source = FolderSource([corpus])
        source.search("x", limit=1)
        delegate = ExtractiveDelegate()

        def ask(role: str, library: Library | None, **fields: Any) -> str:
            brief = Brief(question, "slug-20260101-0000", language, **fields)
            reply = delegate.answer(Task(role, role, "", "", (), brief), library, lambda: False)
            assert reply.status == "answered", reply.reason
            return reply.text

        for question, answer in questions[offset : limit or None : step]:
            started = time.perf_counter()
            library = Library(source)
            plan = parse_planner_answer(ask("planner", library))
            subtopics = tuple((item.name, item.queries) for item in plan)
            findings = tuple(
                FindingText(
                    f"s{n}", item, ask("researcher", library, subtopic=item, queries=queries)
                )
                for n, (item, queries) in enumerate(subtopics)
            )
            gaps = [gap for f in findings for gap in parse_finding(f.text).gaps]
            if gaps:
                text = ask("researcher", library, subtopic="_followup", queries=tuple(gaps))
                findings += (FindingText("_followup", "_followup", text),)
            report = ask("research-synthesist", None, subtopics=subtopics, findings=findings)
            verdict = ask(
                "research-verifier", None, subtopics=subtopics, findings=findings, report=report
            )
            assert verdict.startswith("VERDICT: PASS"), verdict
            score.seconds += time.perf_counter() - started
            score.count(question, answer, report)
    return score


class Library:
    """The smallest library: no caps, no record."""

    def __init__(self, source: Any) -> None:
        self._source = source

    def search(self, query: str, *, limit: int = 10) -> Any:
        return self._source.search(query, limit=limit)

    def read(self, url: str) -> Any:
        return self._source.read(url)

    def remaining_fetches(self) -> int:
        return 8


def by_engine(name: str, limit: int, offset: int = 0, step: int = 1) -> Score:
    """Put the questions to whole runs of the engine, one after the other, in one project."""
    from omh_research import Engine
    from omh_research.documents.options import RunOptions

    _, documents, questions = load(name)
    score = Score()
    with tempfile.TemporaryDirectory() as temporary:
        corpus = Path(temporary) / "corpus"
        corpus.mkdir()
        write_corpus(corpus, documents)
        engine = Engine(temporary)
        for question, answer in questions[offset : limit or None : step]:
            started = time.perf_counter()
            begun = engine.start(question, options=RunOptions(corpus=("corpus",)))
            ended = engine.run(begun.slug)
            score.seconds += time.perf_counter() - started
            path = Path(temporary) / ".omh" / "research" / f"{begun.slug}-report.md"
            report = path.read_text("utf-8")
            if ended.status != "confirmed":
                score.blocked += 1
                score.misses.append(f"not confirmed: {question}")
            score.count(question, answer, report if ended.status == "confirmed" else "")
    return score


def merge(scores: Iterator[Score]) -> Score:
    total = Score()
    for score in scores:
        for field in (
            "questions",
            "answered",
            "first",
            "too_long",
            "quoted",
            "documents",
            "sections",
            "empty",
            "compared",
        ):
            setattr(total, field, getattr(total, field) + getattr(score, field))
        total.seconds += score.seconds
        total.misses += score.misses
    return total


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--engine", action="store_true")
    parser.add_argument("--absent", action="store_true", help="leave out what answers; XQuAD only")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    if data_folder() is None:
        print("The shared data folder is not here; nothing measured.", file=sys.stderr)
        return 8
    if given.absent:
        names = [name for name in given.sets.split(",") if name.startswith("x-")]
        with ProcessPoolExecutor(given.workers) as pool:
            for name, (total, refused) in zip(names, pool.map(count_refused, names), strict=True):
                print(f"set {name}  questions {total}  refused {refused / total:.2f}")
        return 0
    measure = by_engine if given.engine else by_delegate
    with ProcessPoolExecutor(given.workers) as pool:
        for name in given.sets.split(","):
            parts = [
                pool.submit(measure, name, given.limit, offset, given.workers)
                for offset in range(given.workers)
            ]
            score = merge(part.result() for part in parts)
            n = max(1, score.questions)
            row = {
                "set": name, "questions": score.questions,
                "answered": round(score.answered / n, 3), "target": TARGETS.get(name, 0.92),
                "first": round(score.first / n, 3), "first_target": FIRST_TARGET,
                "quoted_chars": round(score.quoted / n), "over_limit": score.too_long,
                "not_confirmed": score.blocked,
                "documents": round(score.documents / n, 1),
                "sections_with_two_documents": round(score.compared / max(1, score.sections), 3),
                "empty_sections": round(score.empty / max(1, score.sections), 3),
                "seconds_each": round(score.seconds / n, 3),
            }  # fmt: skip
            print(json.dumps(row) if given.json else "  ".join(f"{k} {v}" for k, v in row.items()))
            if given.misses:
                print("\n".join(f"    {miss}" for miss in score.misses))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
