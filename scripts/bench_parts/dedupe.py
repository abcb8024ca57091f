"""Figure Q7: de-duplication beside bib-dedupe, its growth, and its truth on labelled sets.

bib-dedupe runs in an interpreter of its own (OMH_BIB_DEDUPE_PYTHON names one that has it, so that
its pandas stays out of ours); where there is none, its row says so. Times are processor times of
one core, so that a busy machine does not decide. The records are made: works with invented
titles, and a fifth of them again with the changes databases make.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any

from omh_research.literature.bibrecord import record_from
from omh_research.literature.dedupe import dedupe

TARGET = ">= 150 x faster than bib-dedupe; linear"
_DATA = Path(
    os.environ.get("OMH_SHARED_DATA") or Path(__file__).resolve().parents[2] / "../shared/data"
)
_PEER = """
import json, sys, time
import pandas as pd
from bib_dedupe.bib_dedupe import block, cluster, match, prep
if __name__ == "__main__":
    rows = json.load(open(sys.argv[1], encoding="utf-8"))
    frame = pd.DataFrame(rows).fillna("")
    start = time.process_time()
    kept = match(block(prep(frame, verbosity_level=0, cpu=1), verbosity_level=0, cpu=1),
                 verbosity_level=0, cpu=1)
    groups = cluster(kept, verbosity_level=0)
    print(json.dumps({"seconds": time.process_time() - start, "groups": groups}))
"""


def make_rows(count: int, seed: int = 3) -> tuple[list[dict[str, str]], set[frozenset[str]]]:
    """Return `count` rows, a fifth of them changed copies of others, and the pairs planted."""
    rnd = random.Random(seed)
    ends = ("a", "e", "i", "o", "u", "an", "er", "il", "or", "ent")
    parts = [head + end for head in "bcdfghklmnprstvz" for end in ends]
    words = sorted({"".join(rnd.choices(parts, k=rnd.randint(2, 4))) for _ in range(5_000)})
    rnd.shuffle(words)
    venues = [f"Journal of {word.capitalize()} Research" for word in words[:200]]
    given = ("Anna", "Wei", "Olga", "Sara")
    works: list[dict[str, str]] = []
    for i in range(count * 4 // 5):
        people = [
            f"{rnd.choice(words[:800]).capitalize()}, {rnd.choice(given)}"
            for _ in range(rnd.randint(1, 5))
        ]
        works.append({
            "ENTRYTYPE": "article", "ID": f"w{i}", "doi": f"10.{1000 + i % 90}/abc.{i}",
            "author": " and ".join(people),
            "title": " ".join(rnd.choices(words, k=rnd.randint(7, 14))).capitalize(),
            "journal": rnd.choice(venues), "year": str(rnd.randint(1990, 2026)),
            "volume": str(rnd.randint(1, 90)), "number": str(rnd.randint(1, 12)),
            "pages": f"{i + 1}--{i + 10}", "abstract": "",
        })  # fmt: skip
    planted: set[frozenset[str]] = set()
    copies: list[dict[str, str]] = []
    for i, work in enumerate(rnd.sample(works, count - len(works))):
        copy = {**work, "ID": f"c{i}"}
        change = i % 5
        if change in (0, 1):
            copy["doi"] = ""
        if change in (1, 2):
            names = [name.split(", ") for name in work["author"].split(" and ")]
            copy["author"] = " and ".join(f"{family}, {given[0]}." for family, given in names)
        if change == 2:
            copy |= {
                "title": work["title"].upper(),
                "doi": f"https://doi.org/{work['doi'].upper()}",
            }
        if change == 3:
            copy |= {"title": work["title"][:5] + work["title"][6:], "doi": ""}
            copy["pages"] = work["pages"].replace("--", "-")
        if change == 4:
            copy["journal"] = (
                work["journal"].replace("Journal of", "J.").replace("Research", "Res.")
            )
        copies.append(copy)
        planted.add(frozenset((work["ID"], copy["ID"])))
    rows = works + copies
    rnd.shuffle(rows)
    return rows, planted


def _timed(rows: list[dict[str, str]]) -> tuple[float, set[frozenset[str]]]:
    start = time.process_time()
    clusters = dedupe([record_from(row) for row in rows]).clusters
    seconds = time.process_time() - start
    return seconds, {
        frozenset(rows[i]["ID"] for i in p) for c in clusters for p in combinations(c, 2)
    }


def _peer(rows: list[dict[str, str]], python: str) -> tuple[float, set[frozenset[str]]]:
    with tempfile.TemporaryDirectory() as folder:
        script, data = Path(folder, "peer.py"), Path(folder, "rows.json")
        script.write_text(_PEER, encoding="utf-8")
        data.write_text(json.dumps(rows), encoding="utf-8")
        done = subprocess.run(
            [python, str(script), str(data)],
            capture_output=True,
            text=True,
            check=True,
            timeout=3_600,
        )
    out = json.loads(done.stdout.strip().splitlines()[-1])
    return out["seconds"], {frozenset(p) for group in out["groups"] for p in combinations(group, 2)}


def _peer_python() -> str:
    """Return an interpreter that has bib-dedupe, "" when there is none."""
    for python in (os.environ.get("OMH_BIB_DEDUPE_PYTHON", ""), sys.executable):
        if (
            python
            and not subprocess.run(
                [python, "-c", "import bib_dedupe"], capture_output=True, check=False
            ).returncode
        ):
            return python
    return ""


def _row(what: str, ratio: float | None, target: str, n: int, detail: str) -> dict[str, Any]:
    return {"id": "Q7", "what": what, "ratio": ratio, "target": target, "n": n, "detail": detail}


def _beside_bib_dedupe(count: int) -> dict[str, Any]:
    what = f"{count} records: bib-dedupe's time over ours"
    python = _peer_python()
    if not python:
        return _row(what, None, ">= 150", 0, "skipped: no interpreter with bib-dedupe here")
    rows, planted = make_rows(count)
    before = [_timed(rows)[0] for _ in range(2)]
    theirs, their_pairs = _peer(rows, python)
    after = [_timed(rows) for _ in range(3)]
    pairs = after[-1][1]
    mine = statistics.median([*before, *(seconds for seconds, _ in after)])
    detail = (
        f"processor time: ours {mine:.2f} s, theirs {theirs:.1f} s; planted pairs found "
        f"{len(pairs & planted)} and {len(their_pairs & planted)} of {len(planted)}"
    )
    return _row(what, round(theirs / mine, 1), ">= 150", 5, detail)


def _growth(small: int, large: int) -> dict[str, Any]:
    times = {}
    for count in (small, large, small):
        rows, planted = make_rows(count)
        seconds, pairs = _timed(rows)
        times.setdefault(count, []).append(seconds)
        missed = len(planted - pairs)
    ratio = statistics.median(times[large]) / statistics.median(times[small]) / (large / small)
    detail = f"{times[small][0]:.2f} s and {times[large][0]:.2f} s; {missed} planted pairs missed"
    return _row(f"time a record, {large} over {small} records", round(ratio, 2), "<= 2", 2, detail)


def _memory(count: int) -> dict[str, Any]:
    records = [record_from(row) for row in make_rows(count)[0]]
    tracemalloc.start()
    dedupe(records)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    detail = f"peak {peak / 1e6:.0f} MB beside the records"
    return _row("memory a record, kB", round(peak / count / 1000, 2), "<= 2.5", 1, detail)


def _truth() -> list[dict[str, Any]]:
    """Return record F1 and false merges on the labelled sets that are here."""
    out: list[dict[str, Any]] = []
    for name, target in (("copper", 0.997), ("respiratory-a", 0.96)):
        path = _DATA / "dedupe" / f"{name}.jsonl"
        if not path.exists():
            out.append(
                _row(f"record F1 on {name}", None, f">= {target}", 0, "skipped: set not here")
            )
            continue
        rows = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
        clusters = dedupe([record_from(row) for row in rows]).clusters
        found = {i for c in clusters if len(c) > 1 for i in c}
        gold = {i for i, row in enumerate(rows) if row["has_duplicate"]}
        score = 2 * len(found & gold) / (len(found) + len(gold))
        detail = f"false duplicates {len(found - gold)}, missed {len(gold - found)} of {len(gold)}"
        out.append(_row(f"record F1 on {name}", round(score, 4), f">= {target}", len(rows), detail))
    return out + _pair_truth()


def _pair_truth() -> list[dict[str, Any]]:
    path = _DATA / "dedupe" / "dblp-acm-a.jsonl"
    if not path.exists():
        return [_row("pair F1 on dblp-acm-a", None, ">= 0.90", 0, "skipped: set not here")]
    rows = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
    meta = json.loads(path.with_suffix(".meta.json").read_text("utf-8"))
    gold = {frozenset(pair) for pair in meta["gold_pairs"]}
    found: set[frozenset[str]] = set()
    grouped: dict[int, list[str]] = defaultdict(list)
    for at, cluster in enumerate(dedupe([record_from(row) for row in rows]).clusters):
        grouped[at] = [rows[i]["id"] for i in cluster]
    for ids in grouped.values():
        found |= {frozenset(pair) for pair in combinations(ids, 2)}
    score = 2 * len(found & gold) / (len(found) + len(gold))
    detail = f"false pairs {len(found - gold)}, missed {len(gold - found)} of {len(gold)}"
    return [_row("pair F1 on dblp-acm-a", round(score, 4), ">= 0.90", len(rows), detail)]


def run(quick: bool) -> list[dict[str, Any]]:
    """Return the rows of Q7; quick measures with 2,000 to 10,000 records."""
    rows = _truth()
    rows.append(_growth(2_000, 10_000) if quick else _growth(10_000, 100_000))
    rows.append(_memory(5_000 if quick else 20_000))
    rows.append(_beside_bib_dedupe(2_000 if quick else 10_000))
    return rows


if __name__ == "__main__":
    for each in run("--quick" in sys.argv[1:]):
        print(json.dumps(each))
