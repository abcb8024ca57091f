"""The folder of documents: index against FTS5 alone, a warm start, memory (Q10, Q12).

Both indexes are made of the same files in turns within one run; `ratio` is ours over FTS5 alone,
or the warm refresh of a corpus against that of one ten times smaller, a file each.
"""

from __future__ import annotations

import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_WORDS = (
    "river bridge water engine history people energy station building material system paper city "
    "government number study method result process surface temperature example design network"
).split()


def write_documents(folder: Path, count: int) -> int:
    """Write `count` Markdown files of about 3 kB; returns their bytes."""
    rng = random.Random(7)
    vocabulary = _WORDS + [f"{word}{i}" for word in _WORDS for i in range(40)]
    total = 0
    folder.mkdir()
    for number in range(count):
        paragraphs = [" ".join(rng.choices(vocabulary, k=80)).capitalize() + "." for _ in range(5)]
        text = f"# Document {number}\n\n" + "\n\n".join(paragraphs) + "\n"
        (folder / f"{number:06}.md").write_text(text, "utf-8")
        total += len(text)
    return total


def ours(folder: Path, path: Path) -> float:
    from omh_research.corpus.index import CorpusIndex

    path.unlink(missing_ok=True)
    started = time.perf_counter()
    index = CorpusIndex([folder], path)
    index.refresh()
    taken = time.perf_counter() - started
    index.close()
    return taken


def bare(folder: Path, path: Path) -> float:
    path.unlink(missing_ok=True)
    started = time.perf_counter()
    database = sqlite3.connect(path)
    database.execute("PRAGMA synchronous = OFF")
    database.execute("CREATE VIRTUAL TABLE d USING fts5(name, text, tokenize='porter unicode61')")
    for file in sorted(folder.iterdir()):
        database.execute("INSERT INTO d VALUES(?, ?)", (file.name, file.read_text("utf-8")))
    database.commit()
    taken = time.perf_counter() - started
    database.close()
    return taken


def warm(folder: Path, path: Path) -> float:
    from omh_research.corpus.index import CorpusIndex

    started = time.perf_counter()
    index = CorpusIndex([folder], path)
    index.refresh()
    index.search("bridge temperature network")
    taken = time.perf_counter() - started
    index.close()
    return taken


def whole(folder: Path, root: Path, rounds: int) -> tuple[float, float]:
    """Return the seconds of a whole extractive run with a cold index, and with a warm one."""
    root.mkdir()
    times = []
    for number in range(rounds + 1):
        topic = f"How does bridge engine {number} design change water temperature?"
        command = [sys.executable, "-m", "omh_research", "run", topic, "--corpus", str(folder)]
        started = time.perf_counter()
        subprocess.run(
            [*command, "--root", str(root), "--json"], cwd=ROOT, capture_output=True, check=True,
            env={**os.environ, "OMH_OFFLINE": "1"},
        )  # fmt: skip
        times.append(time.perf_counter() - started)
    return times[0], statistics.median(times[1:])


def peak_memory(folder: Path, path: Path) -> float:
    """Peak resident memory in MB of a process that indexes and searches the folder."""
    code = (
        "import sys, resource; from pathlib import Path\n"
        "from omh_research.corpus.index import CorpusIndex\n"
        "i = CorpusIndex([Path(sys.argv[1])], Path(sys.argv[2])); i.refresh(); i.search('bridge')\n"
        "peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(peak / (1e6 if sys.platform == 'darwin' else 1e3))"
    )
    path.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder), str(path)], cwd=ROOT, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    return float(done.stdout)


def run(quick: bool) -> list[dict]:
    """Rows for Q10 and Q12; `quick` takes 1,000 documents, else 10,000."""
    count, rounds = (1_000, 3) if quick else (10_000, 3)
    rows: list[dict] = []
    with tempfile.TemporaryDirectory() as temporary:
        base = Path(temporary)
        size = write_documents(base / "large", count)
        write_documents(base / "small", count // 10)
        pairs = [
            (ours(base / "large", base / "a"), bare(base / "large", base / "b"))
            for _ in range(rounds)
        ]
        a, b = (statistics.median(side) for side in zip(*pairs, strict=True))
        rows.append(
            {
                "id": "Q10", "what": "index a folder / FTS5 alone", "ratio": round(a / b, 2),
                "target": "<= 2", "n": count,
                "detail": f"{a:.2f} / {b:.2f} s, {size / 1e6:.1f} MB",
            }
        )  # fmt: skip
        ours(base / "small", base / "c")
        times = [
            (warm(base / "large", base / "a"), warm(base / "small", base / "c"))
            for _ in range(2 * rounds + 1)
        ]
        large, small = (statistics.median(side) * 1e3 for side in zip(*times, strict=True))
        each = (large - small) / (count - count // 10) * 1e3
        rows.append(
            {
                "id": "Q10", "what": "warm refresh and one query, 10 x the documents",
                "ratio": round(large / small, 2), "target": "only the stat of each file",
                "n": count, "detail": f"{large:.1f} ms / {small:.1f} ms, {each:.1f} us a file",
            }
        )  # fmt: skip
        (cold, after), (_, less) = (
            whole(base / size, base / f"runs-{size}", rounds) for size in ("large", "small")
        )
        rows.append(
            {
                "id": "Q10", "what": "whole extractive run, warm index, 10 x the documents",
                "ratio": round(after / less, 2), "target": "queries, and the stat of each file",
                "n": count, "detail": f"{after:.2f} / {less:.2f} s; {cold:.2f} s with a cold index",
            }
        )  # fmt: skip
        rows.append(
            {
                "id": "Q12", "what": "peak memory, index a folder and search (MB)",
                "ratio": round(peak_memory(base / "large", base / "d")), "target": "<= 200",
                "n": count, "detail": f"{size / 1e6:.1f} MB of documents",
            }
        )  # fmt: skip
    return rows


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    for row in run("--deep" not in sys.argv):
        print(row)
