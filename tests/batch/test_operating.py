"""Looking at, watching and cancelling a batch as a whole (S1, O1-O3, E35)."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from omh_research.batch.looking import frame, summary
from omh_research.batch.record import Entry, Record
from tests.batch.batches import TASKS, Batch, check_all_confirmed, kill_group
from tests.runs import answers, cli

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
SLOW = [{**a, "fault": "deaf", "seconds": 60} if a["role"] == "researcher" else a
        for a in answers()]  # fmt: skip


def started(batch: Batch, calls: int) -> object:
    """Start a batch and return it when so many tasks were asked."""
    process = batch.spawn("-j", "2")
    while batch.all_calls() < calls:
        assert process.poll() is None
        time.sleep(0.02)
    return process


def test_status_shows_every_topic_as_its_own_files_say(tmp_path: Path) -> None:
    """S1, O1: while it runs, after its workers were killed, and when all have ended."""
    batch = Batch(tmp_path, 3, SLOW)
    batch.add("Refused", rounds=77)
    process = started(batch, 6)
    looked = cli("status", "--batch", batch.id, "--root", str(batch.root), "--json")
    assert looked.code == 0
    counts = looked.json["counts"]
    assert counts["running"] == 2 and counts["refused"] == 1 and sum(counts.values()) == 4
    kill_group(process)  # type: ignore[arg-type]
    looked = cli("status", "--batch", batch.id, "--root", str(batch.root), "--json")
    counts = looked.json["counts"]  # a worker may have been between two laps
    assert "running" not in counts and counts["interrupted"] >= 1 and sum(counts.values()) == 4
    batch.write_script("script", answers())
    assert batch.child("-j", "2").code == 0
    path = batch.base / "batch" / f"{batch.id}.json"
    stale = json.loads(path.read_bytes())
    for entry in stale["entries"][:3]:  # a view that was not written at the end
        entry.update(status="active", phase="search", model_calls=0)
    path.write_text(json.dumps(stale))
    looked = cli("status", "--batch", batch.id, "--root", str(batch.root))
    assert looked.out.count("confirmed ") == 3
    assert "3 confirmed, 1 refused; 15 model calls" in looked.out
    assert path.read_text() == json.dumps(stale), "status never writes"


def test_an_unknown_or_damaged_batch_is_said(tmp_path: Path) -> None:
    """S1: exit 7 with the known ids; a damaged record is written anew by the next call."""
    batch = Batch(tmp_path, 1)
    root = ("--root", str(batch.root))
    for command in ("status", "watch", "cancel"):
        absent = cli(command, "--batch", "nothing-here", *root)
        assert absent.code == 7 and "No batch nothing-here" in absent.err
        assert cli(command, "--batch", "../../etc", *root).code == 2
    assert batch.child("-j", "1").code == 0
    assert batch.id in cli("status", "--batch", "other", *root).err
    path = batch.base / "batch" / f"{batch.id}.json"
    path.write_text("[" * 50_000)
    damaged = cli("status", "--batch", batch.id, *root)
    assert damaged.code == 7 and "not a batch record" in damaged.err
    assert batch.child("-j", "1").code == 0
    check_all_confirmed(batch)
    assert batch.all_calls() == TASKS.total()


def test_a_cancel_stops_the_whole_batch_at_the_next_boundaries(tmp_path: Path) -> None:
    """S1, E35: running, waiting and unborn topics alike; exit 0; it never expires."""
    batch = Batch(tmp_path, 6, SLOW)
    process = started(batch, 6)
    begin = time.monotonic()
    asked = cli("cancel", "--batch", batch.id, "--root", str(batch.root), "--reason", "enough")
    assert asked.code == 0 and "6 runs asked to stop" in asked.out
    _, err = process.communicate(timeout=50)  # type: ignore[attr-defined]
    assert process.returncode == 0, err  # type: ignore[attr-defined]
    assert time.monotonic() - begin < 50, "no delegate's minute was waited for"
    entries = batch.record()["entries"]
    assert {entry["status"] for entry in entries} == {"cancelled"}
    assert batch.leftovers() == [] and batch.all_calls() == 6
    shown = cli("status", "--batch", batch.id, "--root", str(batch.root), "--json")
    assert shown.json["counts"] == {"cancelled": 6}
    batch.write_script("script", answers())
    again = batch.child("-j", "2")
    assert again.code == 0 and batch.all_calls() == 6
    assert {entry["status"] for entry in batch.record()["entries"]} == {"cancelled"}


def test_a_cancel_of_a_batch_at_rest_is_consumed_by_its_next_call(tmp_path: Path) -> None:
    """E35: killed, then cancelled, then called again: nothing is asked any more."""
    batch = Batch(tmp_path, 4, SLOW)
    kill_group(started(batch, 3))  # type: ignore[arg-type]
    before = batch.all_calls()
    batch.write_script("script", answers())
    assert cli("cancel", "--batch", batch.id, "--root", str(batch.root)).code == 0
    assert batch.child("-j", "2").code == 0
    assert {entry["status"] for entry in batch.record()["entries"]} == {"cancelled"}
    assert batch.all_calls() == before and batch.leftovers() == []


def test_a_topic_of_a_cancelled_batch_can_be_started_anew(tmp_path: Path) -> None:
    """S1: by `start`; the next call of the batch carries it on."""
    batch = Batch(tmp_path, 2, SLOW)
    kill_group(started(batch, 6))  # type: ignore[arg-type]
    batch.write_script("script", answers())
    root = ("--root", str(batch.root))
    assert cli("cancel", "--batch", batch.id, *root).code == 0
    assert batch.child("-j", "2").code == 0
    parts = [f"--subtopic={row['name']}: {row['name']} tides; {row['name']} research"
             for row in batch.rows[0]["subtopics"]]  # fmt: skip
    time.sleep(1.1)  # times have whole seconds: what was started in the same one is cancelled
    anew = cli("start", batch.rows[0]["topic"], "--delegate", "scripted",
               "--option", f"script={batch.script}", *parts, *root)  # fmt: skip
    assert anew.code == 0
    assert batch.child("-j", "2").code == 0
    assert [entry["status"] for entry in batch.record()["entries"]] == ["confirmed", "cancelled"]


def test_watch_ends_with_the_batch_and_is_quiet_without_a_terminal(tmp_path: Path) -> None:
    """O2: one frame at the end; `--once` at any time."""
    batch = Batch(tmp_path, 2)
    process = batch.spawn("-j", "2")
    while not list((batch.base / "batch").glob("[!.]*.json")):
        time.sleep(0.01)
    watched = cli("watch", "--batch", batch.id, "--root", str(batch.root))
    assert watched.code == 0 and watched.out.count("ended") == 1
    assert "2/2 ended" in watched.out and "2 confirmed" in watched.out
    assert process.wait(60) == 0
    process.communicate()


@pytest.mark.parametrize("lines", [3, 10, 24])
def test_a_frame_of_many_topics_fits(lines: int) -> None:
    """O2: 10,000 topics: those that run come first, the rest is counted."""
    entries = [Entry(f"topic {n}", f"t-{n}", status="active") for n in range(9_000)]
    entries += [Entry(f"topic {n}", f"r-{n}", status="running") for n in range(2)]
    entries += [Entry(f"topic {n}", f"d-{n}", status="confirmed") for n in range(998)]
    shown = frame(Record("many", entries), lines).split("\n")
    assert len(shown) <= max(lines, 3)
    assert "998/10000 ended" in shown[0]
    if lines > 5:
        assert "r-0" in shown[2] and "r-1" in shown[3] and "more go on" in shown[-1]


def test_the_sums_say_what_is_unknown() -> None:
    """O5: an unknown price is not 0."""
    entries = [Entry("a", status="confirmed", model_calls=2, cost_usd=0.5)]
    assert "$0.5000" in summary(Record("b", entries))
    entries.append(Entry("c", status="confirmed", model_calls=1, cost_usd=None))
    assert "3 model calls, $0.5000 and unknown" in summary(Record("b", entries))
