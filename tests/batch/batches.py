"""Whole batches for tests: topics with a scripted delegate each, killed, looked at, checked.

Each topic has its own calls file, written (one durable line a call) before the answer is given.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from omh_research.sentinel import read_status
from tests.runs import NAMES, Ended, answers, child, child_command, child_environment, cli

TASKS = Counter(
    {
        **{f"search-0-{name.lower().replace(' ', '-')}": 1 for name in NAMES},
        "synthesize-0-0-report": 1,
        "verify-0-0-report": 1,
    }
)
SUBTOPICS = [{"name": name, "queries": [f"{name} tides", f"{name} research"]} for name in NAMES]


@contextlib.contextmanager
def fast_folder() -> Iterator[Path]:
    """A folder in memory where there is one: these tests are about killed processes, not disks."""
    shared = "/dev/shm" if os.path.isdir("/dev/shm") and os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="omh-batch-", dir=shared)).resolve()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Batch:
    """A root, a topic file, the command `batch` on them."""

    def __init__(self, folder: Path, count: int = 0, script: list[dict[str, Any]] | None = None):
        self.folder, self.root = folder, folder / "root"
        self.root.mkdir(parents=True, exist_ok=True)
        (folder / "calls").mkdir(exist_ok=True)
        self.file = folder / "topics.jsonl"
        self.rows: list[dict[str, Any]] = []
        self._promised: dict[tuple[str, str], int] = {}
        self.script = self.write_script("script", answers() if script is None else script)
        for number in range(count):
            self.add(f"How do tides shape coast number {number}?")

    def write_script(self, name: str, replies: list[dict[str, Any]]) -> Path:
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps({"replies": replies}))
        return path

    def add(self, topic: str, script: Path | None = None, **more: Any) -> None:
        """Add a topic to the file."""
        calls = self.calls_file(len(self.rows))
        options = {"script": str(script or self.script), "calls": str(calls)}
        row = {"topic": topic, "delegate": "scripted", "subtopics": SUBTOPICS, "options": options}
        self.rows.append({**row, **more})
        self.file.write_text("".join(json.dumps(each) + "\n" for each in self.rows))

    def calls_file(self, number: int) -> Path:
        return self.folder / "calls" / f"{number}.txt"

    def calls(self, number: int) -> Counter[str]:
        """Return how often each task of a topic was asked."""
        path = self.calls_file(number)
        lines = path.read_text().split("\n") if path.exists() else []
        return Counter(line.split(" ")[0] for line in lines if line)

    def all_calls(self) -> int:
        return sum(self.calls(number).total() for number in range(len(self.rows)))

    def arguments(self, *more: str) -> list[str]:
        return ["batch", str(self.file), "--root", str(self.root), *more]

    def run(self, *more: str) -> Ended:
        """Run the batch in this process."""
        return cli(*self.arguments(*more))

    def child(self, *more: str) -> Ended:
        """Run the batch in a process of its own."""
        return child(*self.arguments(*more))

    def spawn(self, *more: str) -> subprocess.Popen[bytes]:
        """Start the batch as the leader of a process group of its own."""
        return subprocess.Popen(
            child_command(*self.arguments(*more)), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=child_environment(), start_new_session=True,
        )  # fmt: skip

    # ---- what stands on disk

    @property
    def base(self) -> Path:
        return self.root / ".omh"

    @property
    def id(self) -> str:
        (record,) = (self.base / "batch").glob("[!.]*.json")
        return record.stem

    def record(self) -> dict[str, Any]:
        value = json.loads((self.base / "batch" / f"{self.id}.json").read_bytes())
        assert isinstance(value, dict)
        return value

    def entry(self, topic: str) -> dict[str, Any]:
        (found,) = (entry for entry in self.record()["entries"] if entry["topic"] == topic)
        assert isinstance(found, dict)
        return found

    def stored(self) -> set[tuple[str, str]]:
        """Return (slug, task) of every answer that is durable now."""
        folders = (self.base / "state").glob("research--*.tasks")
        return {
            (folder.name[len("research--") : -len(".tasks")], path.stem)
            for folder in folders
            for path in folder.glob("[!.]*.json")
        }

    def asked(self) -> dict[tuple[str, str], int]:
        """Return how often each (slug, task) was asked, by the record's slugs."""
        slugs = {entry["topic"]: entry["slug"] for entry in self.record()["entries"]}
        return {
            (slugs[row["topic"]], task): count
            for number, row in enumerate(self.rows)
            for task, count in self.calls(number).items()
        }

    def check_promises(self) -> None:
        """Assert that no answer kept at an earlier look was asked for again since."""
        now = self.asked()
        for key, count in self._promised.items():
            assert now[key] == count, f"{key} was stored and was asked for again"
        self._promised.update({key: now[key] for key in self.stored() if key in now})

    def reports(self) -> Counter[str]:
        """Return how many reports have each status."""
        paths = (self.base / "research").glob("*-report.md")
        return Counter(str(read_status(str(path))) for path in paths)

    def leftovers(self) -> list[str]:
        """Return what lies in the state folder besides locks, and every temporary file."""
        state = [path.name for path in (self.base / "state").iterdir() if path.name != "locks"]
        return sorted(state) + [str(path) for path in self.base.rglob("*.tmp*")]


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """SIGKILL a batch with all its workers."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def kill_at_random(batch: Batch, kills: int, seed: int, *more: str) -> tuple[int, int]:
    """Kill the batch at random moments, call it again each time, then let it end.

    The moments are by what has been asked so far, so that the kills spread over the whole batch on
    a machine of any speed. Returns (kills, tasks asked more than once). An answer that was stored
    when a kill came is never asked for again.
    """
    chance = random.Random(seed)
    total, killed = len(batch.rows) * TASKS.total(), 0
    while killed < kills:
        before = batch.all_calls()
        goal = before + chance.uniform(0, 2 * (total - before) / (kills - killed + 1))
        process = batch.spawn(*more)
        begin = time.monotonic()
        while process.poll() is None and batch.all_calls() < goal:
            assert time.monotonic() - begin < 300
            time.sleep(0.02)
        time.sleep(chance.uniform(0, 0.05))
        if process.poll() is not None:
            break
        kill_group(process)
        killed += 1
        batch.check_promises()
    ended = batch.child(*more)
    assert ended.code == 0, ended.err[-2000:]
    batch.check_promises()
    repeated = sum(
        count - 1 for number in range(len(batch.rows)) for count in batch.calls(number).values()
    )
    return killed, repeated


def check_all_confirmed(batch: Batch) -> None:
    """Assert that every topic has one confirmed report and that nothing else is left."""
    entries = batch.record()["entries"]
    assert [entry["status"] for entry in entries] == ["confirmed"] * len(batch.rows)
    assert len({entry["slug"] for entry in entries}) == len(batch.rows)
    assert batch.reports() == {"confirmed": len(batch.rows)}
    assert len(list((batch.base / "research").glob("*-plan.md"))) == len(batch.rows)
    assert batch.leftovers() == []
    for number in range(len(batch.rows)):
        assert set(batch.calls(number)) == set(TASKS)
