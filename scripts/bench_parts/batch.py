"""Q11: what a unit costs on the process pool and on Dask; two workers over one; growth.

Overhead: units that do nothing, through the real runner, its record and its budget; in milliseconds
of wall time. Workers: whole batches with a delegate that sleeps. Growth: whole batches, every lap
real, with a delegate that answers at once: processor time and memory a topic, of many topics
beside few (1 is linear). The folder is in memory: these are not disk figures.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from omh_research.batch.allowance import BatchRules
from omh_research.batch.executors import Executor, make_executor
from omh_research.batch.record import Entry, Record
from omh_research.batch.runner import Runner
from omh_research.batch.unit import Done, Unit
from omh_research.project import Project
from omh_research.settings import Settings

PROJECT = Path(__file__).resolve().parents[2]
PHASES = ("decompose", "search", "gap_check", "synthesize", "verify", "confirmed")
NAMES = ("Moon and Sun", "Funnel bays", "Salt marshes")


def run(quick: bool) -> list[dict[str, Any]]:
    """Return the rows of Q11; quick: 200 topics without work, 40 and 200 real ones."""
    rows = [_overhead("processes", 200 if quick else 2_000, "≤ 0.5 ms")]
    try:
        import distributed  # noqa: F401

        rows.append(_overhead("dask", 100 if quick else 1_000, "≤ 5 ms"))
    except ModuleNotFoundError:
        rows.append(_row("overhead a unit, dask (ms)", None, "≤ 5 ms", 0, "not installed"))
    rows.append(_two_over_one(8 if quick else 20, 1 if quick else 3))
    rows += _growth(*((40, 200) if quick else (1_000, 10_000)))
    return rows


def _row(what: str, ratio: float | None, target: str, n: int, detail: str) -> dict[str, Any]:
    return {"id": "Q11", "what": what, "ratio": ratio, "target": target, "n": n, "detail": detail}


@contextlib.contextmanager
def _memory_folder() -> Iterator[Path]:
    shared = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="omh-bench-", dir=shared))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def do_nothing(unit: Unit) -> Done:
    """A unit that takes no time."""
    after = PHASES[PHASES.index(unit.expected) + 1]
    return Done(unit.slug, after, "confirmed" if after == "confirmed" else "active")


def _simulate(executor: Executor, folder: Path, topics: int) -> float:
    entries = [
        Entry(f"topic {n}", f"t-{n}", phase="decompose", status="active") for n in range(topics)
    ]
    project = Project(Settings(root=str(folder)))
    begin = time.perf_counter()
    record = Runner(project, Record("bench", entries), executor, BatchRules()).run()
    assert record.counts() == {"confirmed": topics}
    return time.perf_counter() - begin


class _Kept:
    """An executor that outlives the runner, so that its start is not measured."""

    def __init__(self, inner: Executor) -> None:
        self._inner = inner
        self.submit, self.completed = inner.submit, inner.completed

    @property
    def room(self) -> int:
        return self._inner.room

    def close(self, *, now: bool = False) -> None:
        pass


def _overhead(name: str, topics: int, target: str) -> dict[str, Any]:
    executor = make_executor(name, do_nothing, workers=2)
    units = topics * (len(PHASES) - 1)
    try:
        with _memory_folder() as folder:
            _simulate(_Kept(executor), folder, 20)
            times, own = [], []
            for _ in range(3):
                begin = time.process_time()
                times.append(_simulate(_Kept(executor), folder, topics))
                own.append(time.process_time() - begin)
    finally:
        executor.close()
    each = [seconds / units * 1000 for seconds in times]
    shown = ", ".join(f"{ms:.2f}" for ms in sorted(each))
    detail = (
        f"{units} units, 3 times: {shown} ms; processor time of the batch itself "
        f"{statistics.median(own) / units * 1000:.2f} ms; load {os.getloadavg()[0]:.1f} on "
        f"{os.cpu_count()} cores"
    )
    return _row(f"overhead a unit, {name} (ms)", statistics.median(each), target, units, detail)


def _write_batch(folder: Path, topics: int, seconds: float) -> list[str]:
    """Write topics with a scripted delegate; return the command line that runs them."""
    sys.path.insert(0, str(PROJECT))
    from tests.runs import answers

    slow = {"fault": "sleep", "seconds": seconds} if seconds else {}
    script = folder / "script.json"
    script.write_text(json.dumps({"replies": [{**answer, **slow} for answer in answers()]}))
    parts = [{"name": name, "queries": [f"{name} tides", f"{name} research"]} for name in NAMES]
    row = {"delegate": "scripted", "subtopics": parts, "options": {"script": str(script)}}
    lines = [
        json.dumps({"topic": f"How do tides shape coast number {number}?", **row})
        for number in range(topics)
    ]
    (folder / "topics.jsonl").write_text("\n".join(lines))
    (folder / "root").mkdir()
    return [sys.executable, "-m", "omh_research", "batch", str(folder / "topics.jsonl"),
            "--root", str(folder / "root"), "--json"]  # fmt: skip


_MEASURE = """
import json, resource, subprocess, sys, time
begin = time.perf_counter()
done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
ends = [entry["status"] for entry in json.loads(done.stdout)["entries"]]
print(json.dumps([time.perf_counter() - begin, used.ru_utime + used.ru_stime,
                  used.ru_maxrss / 1024, ends.count("confirmed")]))
"""


def _measure(topics: int, workers: int, seconds: float = 0.0) -> tuple[float, float, float]:
    """Return wall and processor seconds, and MB of the largest process, of one whole batch."""
    with _memory_folder() as folder:
        command = [*_write_batch(folder, topics, seconds), "-j", str(workers)]
        executor = ["--executor", "processes"]
        environment = {**os.environ, "OMH_OFFLINE": "1"}
        done = subprocess.run(
            [sys.executable, "-c", _MEASURE, *command, *executor],
            capture_output=True, check=True, env=environment, cwd=PROJECT,
        )  # fmt: skip
    wall, processor, peak, confirmed = json.loads(done.stdout)
    assert confirmed == topics
    return wall, processor, peak


def _two_over_one(topics: int, rounds: int) -> dict[str, Any]:
    ratios = []
    for _ in range(rounds):
        one, two = (_measure(topics, workers, 0.5)[0] for workers in (1, 2))
        ratios.append(one / two)
    detail = (
        f"{topics} topics, three sleeps of 0.5 s each, start-up included; "
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )
    return _row("2 workers / 1, sleeping delegate", statistics.median(ratios), "≥ 1.7", rounds,
                detail)  # fmt: skip


def _growth(few: int, many: int) -> list[dict[str, Any]]:
    half = many // 2
    small, middle, large = (_measure(topics, 2) for topics in (few, half, many))
    each = [seconds / topics * 1000 for (_, seconds, _), topics in ((small, few), (large, many))]
    return [
        _row(f"processor time a topic, {many} / {few} topics", each[1] / each[0], "≤ 1.2", many,
             f"{each[0]:.0f} and {each[1]:.0f} ms a topic of five laps; {large[0]:.0f} s in all"),
        _row(f"memory a topic more, {half} to {many} / {few} to {half} topics",
             _slope(large, middle, half) / _slope(middle, small, half - few), "≤ 1.2", many,
             f"{small[2]:.0f}, {middle[2]:.0f} and {large[2]:.0f} MB, the largest process"),
    ]  # fmt: skip


def _slope(
    more: tuple[float, float, float], less: tuple[float, float, float], topics: int
) -> float:
    """Return the MB that so many topics more took, a topic."""
    return (more[2] - less[2]) / topics


if __name__ == "__main__":
    for each_row in run("--quick" in sys.argv[1:]):
        print(json.dumps(each_row))
