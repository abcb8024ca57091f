"""A long life: a log of a hundred megabytes, a thousand runs, trees of earlier versions (81 section 8)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from omh_research.documents.event import Word, make, render
from tests.runs import Run, answers, child_environment
from tests.store.parts import SLUG, a_project, a_state

RECORDED = Path(__file__).resolve().parent / "recorded"


def grow_log(path: Path, slug: str, size: int) -> int:
    """Let a log grow as a blocked run's does that is met every minute; return its lines."""
    line = render(make(Word.BLOCKED, slug, 9, reason="cap"), "2026-11-30T12:00:00Z") + "\n"
    count = size // len(line)
    with path.open("ab") as stream:
        for _ in range(count // 10_000):
            stream.write(line.encode() * 10_000)
    return count


def test_a_lap_reads_only_the_ends_of_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log met for years costs a lap no more than a fresh one: what is read is bounded."""
    run = Run(tmp_path)
    run.start()
    run.step()
    log = next((run.base / "logs").iterdir())
    grow_log(log, run.slug, 3_000_000)
    from omh_research.store import disk

    sizes: list[int] = []
    real = disk.os.read

    def read(fd: int, size: int) -> bytes:
        data = real(fd, size)
        sizes.append(len(data))
        return data

    monkeypatch.setattr(disk.os, "read", read)
    assert run.step().code == 0
    assert sum(sizes) < 400_000, "3 MB of log were read"
    monkeypatch.undo()
    assert run.to_end().json["status"] == "confirmed"
    assert run.words()[0] == "STARTED" and run.words()[-1] == "REPORT_CONFIRMED"
    assert run.step().json["status"] == "confirmed", "an ended run is known by the end of its log"


@pytest.mark.deep
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_a_hundred_megabytes_of_log_and_a_thousand_runs(tmp_path: Path) -> None:
    """At most 200 MB of memory for a lap and for a start among a thousand runs."""
    run = Run(tmp_path)
    run.start()
    grow_log(next((run.base / "logs").iterdir()), run.slug, 100_000_000)
    project = a_project(run.root)
    from omh_research.documents.state import render_state

    for n in range(1000):
        slug = f"other-{n}-20261130-abcd"
        data = render_state(a_state(slug=slug, topic=f"Other {n}"), written_at="", version="1")
        Path(project.layout.state(slug)).write_bytes(data)
    code = (
        "import sys\nfrom omh_research.cli import main\n"
        "try:\n    main(sys.argv[1:])\nfinally:\n"
        "    words = open('/proc/self/status').read().split()\n"
        "    print(words[words.index('VmHWM:') + 1], file=sys.stderr)\n"
    )
    for args in (
        ("step", run.slug),
        ("status",),
        ("start", "Another question", "--delegate", "host"),
        ("cancel", run.slug),
        ("step", run.slug),
        ("status", run.slug),
    ):
        done = subprocess.run(
            [sys.executable, "-c", code, *args, "--root", str(run.root)],
            capture_output=True, text=True, env=child_environment(), check=False,
        )  # fmt: skip
        assert done.returncode in (0, 4), done.stderr
        assert int(done.stderr.split()[-1]) < 200_000, (args, done.stderr)
    assert SLUG


def load(name: str, run: Run) -> None:
    """Write a recorded tree."""
    held = json.loads((RECORDED / f"{name}.json").read_text("utf-8"))
    run.slug = held["slug"]
    for relative, text in held["files"].items():
        path = run.base / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("name", sorted(path.stem for path in RECORDED.glob("*.json")))
def test_trees_of_earlier_versions_are_carried_on(tmp_path: Path, name: str) -> None:
    """E4, 81 section 8: a state of each released version, in each phase, ends as one of today."""
    run = Run(tmp_path, answers())
    load(name, run)
    if name.endswith("blocked"):
        assert run.step().code == 3
        assert run.cli("retry", run.slug).code == 0
    state = run.state()
    state["options"]["delegate_options"] = {
        "script": str(run.folder / "script.json"), "calls": str(run.calls_file),
    }  # fmt: skip
    run.state_path.write_text(json.dumps(state))
    assert run.to_end().json["status"] == "confirmed"
    assert run.cli("audit", run.slug).code == 0
