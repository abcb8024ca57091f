"""A batch killed with all its workers at random moments, and called again (S1, S2; issue 7).

S4: nothing but files and child processes; there is no server to lose.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.batch.batches import (
    TASKS,
    Batch,
    check_all_confirmed,
    fast_folder,
    kill_at_random,
    kill_group,
)
from tests.runs import answers, child_command, child_environment

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL"),
    pytest.mark.timeout(1800),
]


def run_with_kills(count: int, seed: int, *more: str) -> None:
    with fast_folder() as folder:
        batch = Batch(folder, count)
        kills, repeated = kill_at_random(batch, 10, seed, *more)
        assert kills == 10
        check_all_confirmed(batch)
        # Only what was in flight at a kill, and not stored yet, is asked for again.
        assert repeated <= kills * 2 * 3


def test_sixty_topics_killed_ten_times_all_end(tmp_path: Path) -> None:
    """S1, 81 section 8: all end, each stored answer was asked for once, no state is left."""
    run_with_kills(60, 20261130, "-j", "2")


@pytest.mark.deep
@pytest.mark.parametrize(("count", "seed"), [(1000, 1), (60, 2), (60, 3), (60, 4), (60, 5)])
def test_more_topics_and_more_moments(count: int, seed: int) -> None:
    run_with_kills(count, seed, "-j", "2")


def test_undisturbed_every_answer_is_asked_for_once_and_a_second_call_asks_nothing(
    tmp_path: Path,
) -> None:
    """S1: re-invoked it carries on; where nothing is left to do it says how all ended."""
    batch = Batch(tmp_path, 4)
    first = batch.child("-j", "2")
    assert first.code == 0
    assert first.out.split("\n")[0] == batch.id  # the id is printed first
    check_all_confirmed(batch)
    assert [batch.calls(number) for number in range(4)] == [TASKS] * 4
    again = batch.child("-j", "2", "--json")
    assert again.code == 0 and again.json["ok"] is True
    assert batch.all_calls() == 4 * TASKS.total()
    assert {entry["status"] for entry in again.json["entries"]} == {"confirmed"}
    assert sum(entry["model_calls"] for entry in again.json["entries"]) == 4 * TASKS.total()


def test_workers_end_with_their_batch_however_it_ends(tmp_path: Path) -> None:
    """S2: only the batch is killed, not its group: its workers are gone soon, runs resumable."""
    slow = {"role": "researcher", "fault": "deaf", "seconds": 60}
    batch = Batch(tmp_path, 2, [slow])
    process = batch.spawn("-j", "2")
    while batch.all_calls() < 6:
        assert process.poll() is None
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    wait_for_empty_group(process.pid)
    batch.write_script("script", answers())
    assert batch.child("-j", "2").code == 0
    check_all_confirmed(batch)


def wait_for_empty_group(group: int) -> None:
    """Wait until the last process of a group is gone: soon, not when its delegate has answered."""
    deadline = time.monotonic() + 20
    while True:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        assert time.monotonic() < deadline, "a worker outlived its batch"
        time.sleep(0.05)


def test_a_worker_that_is_killed_costs_its_own_units_only(tmp_path: Path) -> None:
    """S2: the pool is made anew; the batch goes on and ends by itself."""
    slow = {"role": "researcher", "fault": "sleep", "seconds": 2.0, "times": 1}
    batch = Batch(tmp_path, 3, [{**answer, **slow} if answer["role"] == "researcher" else answer
                                for answer in answers()])  # fmt: skip
    process = batch.spawn("-j", "2")
    while batch.all_calls() < 3:
        assert process.poll() is None
        time.sleep(0.02)
    (worker, *_) = workers_of(process.pid)
    os.kill(worker, signal.SIGKILL)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert b"its worker was killed" in err and b"Traceback" not in err
    check_all_confirmed(batch)


def workers_of(parent: int) -> list[int]:
    """Return the pool's workers that work (the resource tracker is none)."""
    out = subprocess.run(
        ["ps", "-eww", "-o", "pid,ppid,args"], capture_output=True, check=True
    ).stdout
    rows = [line.split(None, 2) for line in out.decode().split("\n")[1:] if line]
    return [int(pid) for pid, ppid, args in rows if ppid == str(parent) and "spawn_main" in args]


def test_ctrl_c_leaves_everything_resumable(tmp_path: Path) -> None:
    """S1: exit 130 at once though a delegate hangs; nothing is left running; called again it ends."""
    slow = {"role": "researcher", "fault": "deaf", "seconds": 60}
    batch = Batch(tmp_path, 3, [slow])
    process = batch.spawn("-j", "2")
    while batch.all_calls() < 6:
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the whole group
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and b"Traceback" not in err, err
    assert b"carries on where it stopped" in err
    wait_for_empty_group(process.pid)
    assert {entry["status"] for entry in batch.record()["entries"]} == {"active"}
    batch.write_script("script", answers())
    assert batch.child("-j", "2").code == 0
    check_all_confirmed(batch)


def test_two_calls_at_once_are_one_batch(tmp_path: Path) -> None:
    """S1, E12: the second one says who has it, exit 6; nothing is asked for twice."""
    batch = Batch(tmp_path, 2, [{**answer, "fault": "sleep", "seconds": 0.5}
                                for answer in answers()])  # fmt: skip
    process = batch.spawn("-j", "2")
    while batch.all_calls() < 1:
        assert process.poll() is None
        time.sleep(0.02)
    second = batch.child("-j", "2", "--json")
    assert second.code == 6 and second.error["code"] == "busy"
    assert batch.id in second.error["message"]
    assert process.wait(120) == 0
    process.communicate()
    assert [batch.calls(number) for number in range(2)] == [TASKS] * 2


@pytest.mark.deep
def test_memory_does_not_grow_with_the_number_of_topics() -> None:
    """S1: 60 and 600 topics: the peak of the largest process differs by less than a fifth."""
    peaks = {}
    for count in (60, 600):
        with fast_folder() as folder:
            batch = Batch(folder, count)
            peaks[count] = peak_mb(batch.arguments("-j", "2"))
            check_all_confirmed(batch)
    assert peaks[600] < peaks[60] * 1.2, peaks


def peak_mb(arguments: list[str]) -> float:
    """Return the peak memory of the largest process of a command, its workers included."""
    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)"
    )
    command = [sys.executable, "-c", code, *child_command(*arguments)]
    done = subprocess.run(command, capture_output=True, check=True, env=child_environment())
    return float(done.stdout)


def test_a_kill_while_topics_are_registered_makes_no_run_twice(tmp_path: Path) -> None:
    """S1, E10: the batch is killed as soon as some runs are visible; one topic keeps one run."""
    batch = Batch(tmp_path, 30)
    process = batch.spawn("-j", "1")
    state = batch.base / "state"
    while not state.is_dir() or len(list(state.glob("research--*.json"))) < 5:
        assert process.poll() is None
        time.sleep(0.005)
    kill_group(process)
    born = {path.stem.removeprefix("research--") for path in state.glob("research--*.json")}
    assert batch.child("-j", "2").code == 0
    check_all_confirmed(batch)
    assert born <= {entry["slug"] for entry in batch.record()["entries"]}
