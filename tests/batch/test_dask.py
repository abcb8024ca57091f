"""The same on Dask: a local cluster, killed and called again; clusters that are not there (S2)."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from omh_research.batch.executors import make_executor
from omh_research.batch.unit import Done, Unit, advance_unit
from omh_research.errors import PrerequisiteError
from tests.batch.batches import TASKS, Batch, check_all_confirmed, fast_folder, kill_at_random
from tests.batch.test_killed import wait_for_empty_group
from tests.runs import answers, child_environment

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL"),
    pytest.mark.timeout(1800),
]


def test_topics_on_a_local_cluster_killed_at_random_all_end() -> None:
    """S2: the whole group killed, called again: nothing lost, nothing stored asked for twice."""
    with fast_folder() as folder:
        batch = Batch(folder, 6)
        kills, repeated = kill_at_random(batch, 1, 7, "--executor", "dask", "-j", "2")
        check_all_confirmed(batch)
        assert repeated <= kills * 2 * 3


@pytest.mark.deep
@pytest.mark.parametrize(("count", "kills"), [(60, 10), (300, 10)])
def test_more_topics_on_a_local_cluster(count: int, kills: int) -> None:
    with fast_folder() as folder:
        batch = Batch(folder, count)
        killed, repeated = kill_at_random(batch, kills, 7, "--executor", "dask", "-j", "2")
        assert killed == kills
        check_all_confirmed(batch)
        assert repeated <= kills * 2 * 3


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_scheduler(address: str) -> None:
    """Wait until a scheduler listens: starting one takes long on a busy machine."""
    host, port = address.removeprefix("tcp://").split(":")
    deadline = time.monotonic() + 120
    while True:
        try:
            socket.create_connection((host, int(port)), 1).close()
            return
        except OSError:
            assert time.monotonic() < deadline, "the scheduler does not come up"
            time.sleep(0.1)


@contextmanager
def cluster(workers: int) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler and workers as the README starts them; yields its address and the workers."""
    address = f"tcp://127.0.0.1:{free_port()}"
    environment = child_environment()
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    commands = [[*dask, "--host", address, "--no-dashboard"]]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1"]
    commands += [[*worker, "--no-dashboard", "--no-nanny"]] * workers
    with open(os.devnull, "wb") as null:
        processes = [
            subprocess.Popen(command, env=environment, stdout=null, stderr=null)
            for command in commands
        ]
        try:
            wait_for_scheduler(address)
            yield address, processes[1:]
        finally:
            for process in reversed(processes):
                process.kill()
                process.wait()


def test_a_worker_of_a_cluster_is_killed_and_the_batch_goes_on(tmp_path: Path) -> None:
    """S2: Dask runs its units again elsewhere; each answer that was stored is not asked for again."""
    slow = {"fault": "sleep", "seconds": 0.3}
    with cluster(2) as (address, workers):
        batch = Batch(tmp_path, 6, [{**answer, **slow} for answer in answers()])
        process = batch.spawn("--scheduler", address)
        while batch.all_calls() < 8:
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        workers[0].send_signal(signal.SIGKILL)
        batch.check_promises()
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err[-2000:]
        batch.check_promises()
        check_all_confirmed(batch)
        repeated = sum((batch.calls(number) - TASKS).total() for number in range(6))
        assert repeated <= 3, "only what the killed worker had in flight"


@pytest.mark.deep
def test_ctrl_c_on_a_local_cluster_leaves_everything_resumable(tmp_path: Path) -> None:
    """S1: exit 130, no worker left; called again, on another executor, it carries on."""
    slow = {"role": "researcher", "fault": "sleep", "seconds": 60}
    batch = Batch(tmp_path, 2, [slow])
    process = batch.spawn("--executor", "dask", "-j", "2")
    while batch.all_calls() < 6:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err[-2000:]
    wait_for_empty_group(process.pid)
    batch.write_script("script", answers())
    assert batch.child("--executor", "processes", "-j", "2").code == 0
    check_all_confirmed(batch)


def test_a_cluster_that_is_not_there_is_said_before_anything_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S2: exit 8 with the two commands that start one; nothing is registered."""
    from omh_research.batch import dask_cluster

    monkeypatch.setattr(dask_cluster, "CONNECT_S", 0.5)
    batch = Batch(tmp_path, 1)
    ended = batch.run("--scheduler", f"tcp://127.0.0.1:{free_port()}", "--json")
    assert ended.code == 8, ended.err
    assert "No Dask scheduler" in ended.err
    assert "dask scheduler" in ended.err and "dask worker" in ended.err
    assert not list((batch.base / "state").glob("research--*"))
    assert batch.run("--scheduler", "nonsense").code == 8


@pytest.mark.deep
def test_a_cluster_without_workers_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from omh_research.batch import dask_cluster

    monkeypatch.setattr(dask_cluster, "WORKERS_S", 1.0)
    with cluster(0) as (address, _), pytest.raises(PrerequisiteError, match="No Dask scheduler"):
        make_executor("dask", advance_unit, workers=1, address=address)


@pytest.mark.deep
def test_the_room_follows_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """S2: workers that join later are used; a worker without the folder says so."""
    from omh_research.batch import dask_cluster

    monkeypatch.setattr(dask_cluster, "LOOK_EVERY_S", 0.1)
    with cluster(1) as (address, _):
        executor = make_executor("dask", advance_unit, workers=1, address=address)
        assert executor.room == dask_cluster.UNITS_A_THREAD
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "3",
                  "--no-dashboard", "--no-nanny"]  # fmt: skip
        joined = subprocess.Popen(worker, env=child_environment(), stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 60
            while executor.room != 4 * dask_cluster.UNITS_A_THREAD:
                assert time.monotonic() < deadline
                time.sleep(0.1)
            executor.submit(Unit("/nowhere", "no-batch", "a-run", "search"))
            done: Done | None = None
            while done is None:
                done = executor.completed(1.0)
            assert done.status == "unreachable" and "/nowhere" in done.detail
        finally:
            joined.kill()
            joined.wait()
            executor.close()
