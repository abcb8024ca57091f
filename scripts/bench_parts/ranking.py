"""Figure Q5: ranking 10 MB beside bare SQLite FTS5, and ranking quality in Chinese and Japanese.

English text: the sources of Python's manual where Debian's python3-doc has put them, else made-up
text. Chinese and Japanese: the Debian Reference (debian-reference-zh-cn, -ja), section titles as
queries, any passage of the section as the answer; without the package the row says so.
"""

from __future__ import annotations

import html
import os
import random
import re
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from omh_research.tools.ranking import Index

QUERIES = (
    "how to open a file for writing in binary mode", "asyncio event loop run coroutine timeout",
    "regular expression named group replacement", "decimal rounding context precision",
    "multiprocessing shared memory between processes", "unittest mock patch object side effect",
    "email message attachment mime headers", "sqlite transaction isolation level commit",
    "thread lock acquire release deadlock", "unicode normalization casefold comparison",
    "argparse subcommand default value help", "garbage collector reference cycles finalizer",
    "pickle protocol security untrusted data", "subprocess pipe stdout capture output",
    "type hints generic protocol covariance", "datetime timezone aware conversion utc",
    "json encoder custom class serialization", "import hooks finder loader meta path",
    "ssl certificate verification hostname check", "logging handler formatter rotating file",
)  # fmt: skip
_WORDS = re.compile(r"\w\w+")
_TITLE = re.compile(r"<h([234]) class=\"title\"[^>]*>(.*?)</h\1>", re.S)
_TAG = re.compile(r"<[^>]+>")
_NUMBER = re.compile(r"^[\s\d.．章节第\xa0]+")
_EAST = re.compile(r"[\u3040-\u9fff]")


def english(characters: int) -> tuple[str, str]:
    """(text, where it is from)."""
    for folder in sorted(Path("/usr/share/doc").glob("python3*/html/_sources")):
        files = sorted(folder.rglob("*.txt"))
        text = "".join(path.read_text("utf-8") for path in files)[:characters]
        if len(text) == characters:
            return text, "the Python manual"
    chosen = random.Random(5)
    vocabulary = sorted({word for query in QUERIES for word in query.split()})
    vocabulary += ["".join(chosen.choices("aeioulmnrst", k=7)) for _ in range(20_000)]
    weights = [1 / (place + 1) for place in range(len(vocabulary))]
    words = chosen.choices(vocabulary, weights, k=characters // 7)
    return " ".join(words)[:characters], "made-up text"


def bare(passages: list[str]) -> list[list[int]]:
    """The comparison: FTS5 with its own porter tokenizer, nothing else."""
    import sqlite3

    table = sqlite3.connect(":memory:")
    table.execute("create virtual table f using fts5(t, content='', tokenize='porter unicode61')")
    table.executemany("insert into f(rowid, t) values (?, ?)", enumerate(passages, 1))
    table.commit()
    found = []
    for query in QUERIES:
        match = " OR ".join(f'"{w}"' for w in _WORDS.findall(query.lower()) if len(w) > 2)
        select = "select rowid from f where f match ? order by rank limit 20"
        found.append([row[0] - 1 for row in table.execute(select, (match,))])
    return found


def ours(passages: list[str]) -> list[list[int]]:
    index = Index(passages)
    return [[ranked.index for ranked in index.search(query)] for query in QUERIES]


def seconds(call: Callable[[list[str]], object], passages: list[str]) -> float:
    """CPU seconds: both work in one thread, and other jobs on the machine do not count."""
    start = time.process_time()
    call(passages)
    return time.process_time() - start


def speed(quick: bool) -> dict:
    text, origin = english(3_000_000 if quick else 10_000_000)
    passages = [text[i : i + 1_500] for i in range(0, len(text), 1_500)]
    rounds = 3 if quick else 7
    ratios, times = [], []
    for _ in range(rounds):
        theirs = seconds(bare, passages)
        times.append(seconds(ours, passages))
        ratios.append(times[-1] / theirs)
    pairs = zip(ours(passages), bare(passages), strict=True)
    shared = statistics.mean(len(set(a[:10]) & set(b[:10])) / 10 for a, b in pairs)
    return {
        "id": "Q5",
        "what": f"rank {len(text) / 1e6:.0f} MB for 20 queries, index included, beside bare FTS5",
        "ratio": statistics.median(ratios),
        "target": "<= 1.3",
        "n": rounds,
        "detail": f"{statistics.median(times):.2f} s, {origin}, same top ten {shared:.2f}",
    }


def sections(folder: Path, language: str) -> Iterator[tuple[str, str]]:
    """(title, text) of each section of the manual, without its subsections."""
    for path in sorted(folder.glob(f"*.{language}.html")):
        page = path.read_text("utf-8")
        titles = list(_TITLE.finditer(page))
        ends = [found.start() for found in titles[1:]] + [len(page)] * bool(titles)
        for found, end in zip(titles, ends, strict=True):
            title = html.unescape(_TAG.sub("", found.group(2)))
            body = html.unescape(_TAG.sub("", page[found.end() : end]))
            yield _NUMBER.sub("", title).strip(), re.sub(r"\s+", " ", body)


def quality(name: str, language: str, floor: float) -> dict:
    """Mean reciprocal rank at 10 of the manual's sections for their own titles."""
    folder = Path(os.environ.get("DEBIAN_REFERENCE") or "/usr/share/debian-reference")
    passages: list[str] = []
    queries: list[tuple[str, set[int]]] = []
    for title, body in sections(folder, language) if folder.is_dir() else ():
        own = set()
        for start in range(0, len(body), 400):
            if len(body[start : start + 400]) > 60:
                own.add(len(passages))
                passages.append(body[start : start + 400])
        if own and len(_EAST.findall(title)) >= 3:
            queries.append((title, own))
    row = {"id": "Q5", "what": f"MRR@10, {name}, no extras", "target": f">= {floor}"}
    if not queries:
        return row | {"ratio": None, "n": 0, "detail": "the manual's package is not installed"}
    index = Index(passages)
    total = 0.0
    for title, own in queries:
        found = index.search(title, limit=10)
        total += next((1 / n for n, r in enumerate(found, 1) if r.index in own), 0.0)
    detail = f"{len(passages)} passages of 400 characters, section titles as queries"
    return row | {"ratio": total / len(queries), "n": len(queries), "detail": detail}


def run(quick: bool) -> list[dict]:
    """Measure."""
    return [speed(quick), quality("Chinese", "zh-cn", 0.65), quality("Japanese", "ja", 0.56)]
