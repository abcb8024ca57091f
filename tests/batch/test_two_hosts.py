"""Two machines on one shared folder: one worker killed, one machine cut off and let back (S3).

A network folder that goes away leaves a process waiting in its next system call for as long as it
stays away, and lets it go on as if nothing had been when it is back: here the process is stopped
and continued. A machine that keeps its folder but loses the network to the scheduler just works on.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.batch.batches import TASKS, Batch, check_all_confirmed
from tests.batch.hosts import Host, cable, connect, wait_until, why_not
from tests.runs import Run, answers, cli

pytestmark = [
    pytest.mark.skipif(bool(why_not()), reason=f"two hosts: {why_not()}"),
    pytest.mark.timeout(300),
]
PYTHON = [sys.executable, "-m"]
LEASE_S = 2.0


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[tuple[Host, Host]]:
    root = tmp_path / "root"
    both = Host("host-a", root), Host("host-b", root)
    (root / ".omh" / "config.yaml").write_text(f"lease_s: {LEASE_S}\n")
    try:
        yield both
    finally:
        for host in both:
            host.close()


def tree(base: Path) -> dict[str, bytes]:
    """Return every file that stays, by name; caches not."""
    return {
        path.relative_to(base).as_posix(): path.read_bytes()
        for path in base.rglob("*")
        if path.is_file() and "cache" not in path.parts
    }


def test_an_old_owner_is_refused_when_it_wakes(tmp_path: Path, hosts: tuple[Host, Host]) -> None:
    """S3, O4: busy while its lease lasts, taken over after it, exit 6 and no write when it wakes."""
    a, b = hosts
    slow = {"role": "researcher", "fault": "deaf", "seconds": 3.0, "times": 1}
    run = Run(tmp_path, [{**answer, **slow} if answer["role"] == "researcher" else answer
                         for answer in answers()])  # fmt: skip
    assert run.start().code == 0
    step = [*PYTHON, "omh_research", "step", run.slug, "--root", str(run.root)]
    old = b.spawn(*step)
    wait_until(lambda: len(run.calls()) == 3, 30, "three researchers at work on host-b")
    busy = a.run(*step)
    assert busy.returncode == 6 and b"on host-b" in busy.stderr, busy.stderr
    shown = cli("status", run.slug, "--root", str(run.root), "--json").json
    assert shown["owner"]["host"] == "host-b" and shown["status"] == "running"

    os.killpg(old.pid, signal.SIGSTOP)
    wait_until(lambda: a.run(*step).returncode == 0, 30, "taken over by host-a after the lease")
    after = tree(run.base)
    os.killpg(old.pid, signal.SIGCONT)
    _, err = old.communicate(timeout=60)
    assert old.returncode == 6 and b"taken over" in err and b"Traceback" not in err, err
    assert tree(run.base) == after, "the old owner wrote nothing more"
    while a.run(*step).returncode == 0 and run.state_path.exists():
        pass
    assert cli("audit", run.slug, "--root", str(run.root)).code == 0
    assert run.calls().count("synthesize-0-0-report") == 1


def test_one_worker_killed_and_one_machine_cut_off_and_let_back(
    tmp_path: Path, hosts: tuple[Host, Host]
) -> None:
    """S2, S3: nothing lost, nothing twice: each topic one confirmed report, no state left."""
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    a, b = hosts
    home, away = connect(a, b)
    patience = {
        "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "6s",
        "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "12s",
        "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "4s",
    }
    scheduler = f"tcp://{home}:8786"
    log = tmp_path / "dask.log"
    a.serve(log, *PYTHON, "distributed.cli.dask_scheduler", "--host", home, "--port", "8786",
            "--no-dashboard", **patience)  # fmt: skip
    worker = [*PYTHON, "distributed.cli.dask_worker", scheduler, "--nthreads", "1",
              "--no-dashboard", "--no-nanny", "--host"]  # fmt: skip
    listens = f"import socket; socket.create_connection(({home!r}, 8786), 1)"
    wait_until(lambda: a.run(sys.executable, "-c", listens).returncode == 0, 120, "a scheduler")
    doomed, _ = (a.serve(log, *worker, home, **patience) for _ in range(2))
    frozen, cut = (b.serve(log, *worker, away, **patience) for _ in range(2))
    slow = {"fault": "sleep", "seconds": 0.3}
    batch = Batch(tmp_path, 12, [{**answer, **slow} for answer in answers()])
    process = a.spawn(*PYTHON, "omh_research", *batch.arguments("--scheduler", scheduler))

    def both_at_work() -> bool:
        assert process.poll() is None, process.communicate()
        return all(host in heartbeats(batch) for host in ("host-a", "host-b"))

    wait_until(both_at_work, 120, "both hosts at work")

    doomed.kill()
    batch.check_promises()
    wait_until(lambda: "host-b" in heartbeats(batch), 30, "host-b at work")
    cable(b, "down")
    os.killpg(frozen.pid, signal.SIGSTOP)
    before = batch.all_calls()
    wait_until(lambda: batch.all_calls() > before + 20, 60, "host-a goes on alone")
    cable(b, "up")
    os.killpg(frozen.pid, signal.SIGCONT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err[-3000:]
    done = tree(batch.base / "research")
    for each in (frozen, cut):  # whatever they still had in hand, they are through with it now
        each.terminate()
        each.wait(30)
    batch.check_promises()
    check_all_confirmed(batch)
    assert tree(batch.base / "research") == done
    for entry in batch.record()["entries"]:
        assert cli("audit", entry["slug"], "--root", str(batch.root)).code == 0
    repeated = sum((batch.calls(number) - TASKS).total() for number in range(12))
    assert repeated <= 9, "only what the killed, frozen and cut off workers had in flight"


def heartbeats(batch: Batch) -> str:
    """Return what all heartbeats say now."""
    found = ""
    for path in (batch.base / "state").glob("research--*.heartbeat"):
        try:
            found += path.read_text()
        except FileNotFoundError:
            continue
    return found
