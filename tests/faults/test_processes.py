"""Real processes: killed at any moment, many at once, readers beside writers (E1, E12, E20, E35)."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import crash_check
import pytest
import scenario

from omh_research.documents.state import parse_state
from omh_research.sentinel import read_status
from tests.runs import Run, answers, child_command, child_environment, cli

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL"),
    pytest.mark.timeout(900),
]

RUN = ("run", scenario.TOPIC, "--delegate", "scripted", "--if-confirmed", "view")


def spawn(root: Path, environment: dict[str, str], *args: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        child_command(*args, "--root", str(root)), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=child_environment(**environment), start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # a runner may ignore it
    )  # fmt: skip


def kill_until_done(folder: Path, seed: int) -> int:
    """Kill runs at random moments until one ends by itself; return how many were killed."""
    root = folder / "root"
    root.mkdir(parents=True)
    environment = scenario.write_script(folder)
    chance = random.Random(seed)
    for killed in range(30):
        process = spawn(root, environment, *RUN)
        if killed < 12:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(chance.uniform(0.2, 1.6))
        else:
            process.wait(120)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            crash_check.check_promises(crash_check.Tree(root))
            continue
        _, err = process.communicate()
        assert process.returncode == 0, err
        crash_check.check_finished(root)
        calls = (folder / "calls.txt").read_text().split("\n")
        tasks = [line.split()[0] for line in calls if line]
        assert len(tasks) <= len(scenario.ANSWERS) + killed * 3, (
            "only what was in flight is asked again"
        )
        assert set(tasks) == set(scenario.ANSWERS)
        return killed
    raise AssertionError("no run ended")


def test_runs_killed_at_random_moments_end_as_if_they_had_not_been(tmp_path: Path) -> None:
    """86 #1, #2, #4."""
    kill_until_done(tmp_path, 20261130)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(12))
def test_many_more_runs_killed_at_random_moments(tmp_path: Path, seed: int) -> None:
    kill_until_done(tmp_path, seed)


def test_only_the_synthesist_is_asked_after_a_kill_behind_the_last_finding(tmp_path: Path) -> None:
    """86 #1: all researchers done, the process dies before synthesis: none is paid again."""
    run = Run(tmp_path)
    run.start()
    run.step(), run.step()
    before = run.calls()
    slow = {"role": "research-synthesist", "fault": "deaf", "seconds": 60}
    run.set_script(answers(synthesist=slow))
    process = spawn(run.root, {}, "step", run.slug)
    while len(run.calls()) == len(before):
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    run.set_script(answers())
    assert run.to_end().json["status"] == "confirmed"
    assert run.calls()[len(before) :] == ["synthesize-0-0-report"] * 2 + ["verify-0-0-report"]


def test_one_of_three_answers_in_and_then_a_kill(tmp_path: Path) -> None:
    """86 #2: the finished item is untouched; one event for the batch."""
    slow = {"role": "researcher", "subtopic": "Salt marshes", "fault": "deaf", "seconds": 60}
    run = Run(tmp_path, [slow, *answers()])
    run.start()
    process = spawn(run.root, {"PYTHONHASHSEED": "7"}, "step", run.slug)
    folder = run.base / "state" / f"research--{run.slug}.tasks"
    while len(list(folder.glob("search-*.json"))) < 2:
        assert process.poll() is None
        time.sleep(0.01)
    kept = {path.name: path.read_bytes() for path in folder.glob("search-*.json")}
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    run.set_script(list(reversed(answers())))
    for name, data in kept.items():
        assert (folder / name).read_bytes() == data
    ended = run.child("step", run.slug, "--json", environment={"PYTHONHASHSEED": "12345"})
    assert ended.code == 0 and run.state()["phase"] == "gap_check"
    assert run.calls().count("search-0-salt-marshes") == 2
    assert run.calls().count("search-0-moon-and-sun") == 1
    assert run.words().count("BATCH_COMPLETE") == 1


@pytest.mark.parametrize("stop", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_a_client_that_goes_away_leaves_a_run_that_goes_on(
    tmp_path: Path, stop: signal.Signals
) -> None:
    """86 #3: status says interrupted, the next call continues, cancel works."""
    run = Run(tmp_path, [{"role": "researcher", "fault": "hang"}])
    run.start()
    process = spawn(run.root, {}, "step", run.slug)
    while len(run.calls()) < 3:
        assert process.poll() is None
        time.sleep(0.01)
    os.kill(process.pid, stop)
    _, err = process.communicate(timeout=60)
    assert b"Traceback" not in err
    assert run.cli("status", run.slug, "--json").json["status"] in ("interrupted", "active")
    run.set_script(answers())
    assert run.step().code == 0
    assert run.cli("cancel", run.slug).code == 0


@pytest.mark.parametrize("count", [2, 8])
def test_so_many_processes_on_one_topic_do_the_paid_work_once(tmp_path: Path, count: int) -> None:
    """E12: one run, each task asked once, busy ones say 6; the end is that of one process."""
    root = tmp_path / "root"
    root.mkdir()
    environment = scenario.write_script(tmp_path)
    processes = [spawn(root, environment, *RUN) for _ in range(count)]
    ended = [(process.communicate(timeout=300)[1], process.returncode) for process in processes]
    assert {code for _, code in ended} <= {0, 6} and 0 in {code for _, code in ended}, ended
    assert not [err for err, _ in ended if b"Traceback" in err]
    os.environ.update(environment)
    if (
        read_status(str(root / ".omh" / "research" / f"{scenario.find_slug(root)}-report.md"))
        != "confirmed"
    ):
        crash_check.carry_on(root)  # the last one saw it busy
    crash_check.check_finished(root)
    calls = [line.split()[0] for line in (tmp_path / "calls.txt").read_text().split("\n") if line]
    assert sorted(calls) == sorted(scenario.ANSWERS)
    tree = crash_check.Tree(root)
    assert [event.word for event in tree.events()].count("STARTED") == 1


def test_eight_processes_on_eight_topics_do_not_disturb_each_other(tmp_path: Path) -> None:
    """E12."""
    root = tmp_path / "root"
    root.mkdir()
    environment = scenario.write_script(tmp_path)
    topics = [f"How do tides shape coast number {n}?" for n in range(8)]
    processes = [spawn(root, environment, "run", topic, *RUN[2:]) for topic in topics]
    ended = [(process.communicate(timeout=300)[1], process.returncode) for process in processes]
    assert [code for _, code in ended] == [0] * 8, ended
    assert crash_check.check_many(root, 8) == 0


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    """E1, 86 #5: state and report polled while they are replaced hundreds of times."""
    from tests.store.parts import SLUG, a_project, a_state

    project = a_project(tmp_path)
    reader = """
import sys
from omh_research.documents.state import parse_state
from omh_research.sentinel import read_status
state, report, seen, polls = sys.argv[1], sys.argv[2], set(), 0
print("reading", flush=True)
while True:
    data = open(state, "rb").read()
    parse_state(data, where="state")
    assert read_status(report) in ("draft", "confirmed")
    text = open(report, encoding="utf-8").read()
    assert text.endswith("END\\n") and len(text) > 20000, len(text)
    polls += 1
    if b'"phase": "verify"' in data:
        break
print(polls)
"""
    state, report = project.layout.state(SLUG), project.layout.report(SLUG)
    from omh_research.commit import PutFiles, PutState
    from omh_research.documents import frontmatter
    from omh_research.outcome import Artifact
    from tests.store.test_writer import a_commit, free

    held = a_state()
    project.writer.put_state(PutState(held, None))

    def put_report(n: int) -> None:
        text = frontmatter.render(
            {"status": "draft" if n % 2 else "confirmed"}, f"{n} " * 10_000 + "END\n"
        )
        project.writer.execute(a_commit(PutFiles((Artifact("report", SLUG, text),))), free)

    put_report(0)
    process = subprocess.Popen(
        [sys.executable, "-c", reader, state, report],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stdout.readline() == b"reading\n"
    for n in range(1, 200):
        put_report(n)
        fresh = a_state(revision=held.revision + 1, last_verifier_feedback="x" * (n * 37 % 5000))
        project.writer.put_state(PutState(fresh, held))
        held = fresh
    project.writer.put_state(PutState(a_state(revision=held.revision + 1, phase="verify"), held))
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert int(out) > 20
    folder = Path(state).parent
    assert parse_state(Path(state).read_bytes(), where="state").revision == held.revision + 1
    assert not list(folder.glob(".*")) and not list(Path(report).parent.glob(".*"))


def test_many_cancels_while_a_run_is_taken_again_and_again(tmp_path: Path) -> None:
    """E35: the holder sweeps temporary files while others write the marker: none is lost."""
    run = Run(tmp_path)
    run.start(delegate="host")
    code = (
        "import sys\nfrom omh_research.project import Project\n"
        "from omh_research.settings import load_settings\n"
        "project = Project(load_settings(sys.argv[1]))\n"
        "for _ in range(60):\n    project.writer.put_cancel(sys.argv[2], 'r', 'x')\nprint('done')\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(run.root), run.slug],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    from omh_research.project import Project
    from omh_research.settings import load_settings

    project = Project(load_settings(str(run.root)))
    while process.poll() is None:
        project.writer.sweep(run.slug)
    out, err = process.communicate()
    assert (process.returncode, out) == (0, b"done\n"), err
    assert json.loads(Path(project.layout.cancel(run.slug)).read_text())["by"] == "x"
    assert cli("step", run.slug, "--root", str(run.root)).code == 4
