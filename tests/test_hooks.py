"""`on_confirmed` and `on_blocked`: told once, after the sentinel, whatever happens (D10b)."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.faults.crashing import crash_at
from tests.runs import TOPIC, Run, answers, child_command, child_environment, verdict

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the commands of these tests are POSIX")

# Notes the path it was given and the report's status line at that moment.
SCRIPT = """
import sys
told, report = sys.argv[1:]
text = open(report, encoding="utf-8").read()
with open(told, "a", encoding="utf-8") as out:
    out.write(report + " " + text.split("\\n")[1] + "\\n")
print("this must not mix with the run's own output")
"""


class Hooked(Run):
    """A run whose configuration names commands."""

    def __init__(self, folder: Path, script: list[dict[str, Any]] | None = None) -> None:
        super().__init__(folder, script)
        self.told_file = folder / "told.txt"
        (folder / "note.py").write_text(SCRIPT)
        self.note = f"{sys.executable} {folder / 'note.py'} {self.told_file}"

    def configure(self, **settings: object) -> None:
        """Write the configuration."""
        self.base.mkdir(exist_ok=True)
        lines = [f"{name}: {str(value)!r}" for name, value in settings.items()]
        (self.base / "config.yaml").write_text("\n".join(lines) + "\n")

    def told(self) -> list[str]:
        """What the command noted, a line each time."""
        return self.told_file.read_text().splitlines() if self.told_file.exists() else []

    def failures(self) -> list[dict[str, Any]]:
        """The logged failures of hooks."""
        events = self.cli("log", self.slug, "--json").json["events"]
        return [event for event in events if event["event"] == "HOOK_FAILED"]


def failing() -> list[dict[str, Any]]:
    return answers(verifier={"role": "research-verifier", "text": verdict("FAIL", "all of it")})


def test_a_confirmed_run_tells_the_command_its_report_once(tmp_path: Path) -> None:
    run = Hooked(tmp_path)
    run.configure(on_confirmed=run.note)
    run.start()
    ended = run.to_end()
    assert (ended.code, ended.json["status"]) == (0, "confirmed")
    assert run.told() == [f"{run.report_path} status: confirmed"]
    assert run.failures() == []
    run.step()
    run.start()
    run.cli("recover")
    assert len(run.told()) == 1
    assert not list(run.base.glob("state/*.hook")), "the marker goes with the state"
    assert run.cli("audit", run.slug).code == 0


def test_the_command_line_is_no_shell_and_nothing_of_the_topic_is_in_it(tmp_path: Path) -> None:
    run = Hooked(tmp_path)
    run.configure(on_confirmed=f"{run.note} {{report}} ; touch {tmp_path / 'harm'}")
    run.start(topic=f"{TOPIC} $(touch {tmp_path / 'harm'}) `touch {tmp_path / 'harm'}`")
    run.to_end()
    assert not (tmp_path / "harm").exists()
    assert [row["reason"] for row in run.failures()] == ["exit_code_1"], "four words more"


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("sh -c 'exit 7'", "exit_code_7"),
        ("sh -c 'kill -9 $$'", "signal_9"),
        ("/no/such/program", "cannot_be_started"),
        ("sh -c 'unfinished", "command_unreadable"),
        ("yes", "too_large"),
    ],
)
def test_a_command_that_fails_changes_nothing_but_the_log(
    command: str, reason: str, tmp_path: Path
) -> None:
    plain = Run(tmp_path / "plain")
    plain.start()
    plain.to_end()
    run = Hooked(tmp_path / "hooked")
    run.configure(on_confirmed=command)
    run.start()
    ended = run.to_end()
    assert (ended.code, ended.json["status"], ended.json["notes"]) == (0, "confirmed", [])
    assert [(row["hook"], row["reason"]) for row in run.failures()] == [("on_confirmed", reason)]
    text = run.report_path.read_text("utf-8").replace(run.slug, "")
    assert text == plain.report_path.read_text("utf-8").replace(plain.slug, "")
    assert run.cli("audit", run.slug).code == 0


def test_the_time_limit_ends_the_command_and_what_it_started(tmp_path: Path) -> None:
    run = Hooked(tmp_path)
    pids = tmp_path / "pids"
    run.configure(
        on_confirmed=f"sh -c 'sleep 300 & echo $! >> {pids}; echo $$ >> {pids}; wait'",
        hook_timeout_s="0.5",
    )
    run.start()
    assert run.to_end().json["status"] == "confirmed"
    assert [row["reason"] for row in run.failures()] == ["timeout"]
    started = [int(line) for line in pids.read_text().split()]
    assert len(started) == 2 and not any(map(is_alive, started))


def is_alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_a_blocked_run_tells_once_for_each_block(tmp_path: Path) -> None:
    run = Hooked(tmp_path, failing())
    run.configure(on_blocked=run.note, on_confirmed="/no/such/program")
    run.start()
    assert run.to_end().code == 3
    assert len(run.told()) == 1 and str(run.report_path) in run.told()[0]
    assert "confirmed" not in run.told()[0]
    assert run.step().code == 3
    assert len(run.told()) == 1
    assert run.cli("retry", run.slug).code == 0
    assert run.to_end().code == 3
    assert len(run.told()) == 2
    assert run.failures() == []
    run.cli("clear", run.slug, "--yes")
    assert not list(run.base.glob("state/*.hook"))


def test_a_hosts_last_answer_tells_too(tmp_path: Path) -> None:
    run = Hooked(tmp_path)
    run.configure(on_confirmed=run.note)
    run.start(delegate="host")
    script = {(row["role"], row.get("subtopic", "")): row["text"] for row in answers()}
    for _ in range(9):
        handed = run.cli("next", run.slug, "--json")
        if not handed.json.get("tasks"):
            break
        for task in handed.json["tasks"]:
            found = (text for (role, name), text in script.items()
                     if role == task["role"] and name in task["goal"])  # fmt: skip
            run.cli("submit", run.slug, task["id"], stdin=next(found))
    assert run.told() == [f"{run.report_path} status: confirmed"]


def before_the_end(run: Hooked) -> Path:
    """Take a run to its verify phase; return a copy of its root."""
    run.start()
    while run.state()["phase"] != "verify":
        assert run.step().code == 0
    copy = run.folder / "before"
    shutil.copytree(run.root, copy)
    return copy


@pytest.mark.parametrize("blocks", [False, True])
def test_stopped_at_any_write_the_command_never_runs_twice_and_is_never_forgotten(
    blocks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E29, 81: before its marker the next invocation makes up for it, after it nobody repeats."""
    run = Hooked(tmp_path, failing() if blocks else None)
    run.configure(on_blocked=run.note, on_confirmed=run.note)
    before = before_the_end(run)
    if blocks:
        while run.state()["synthesis_attempts"] < 3 or run.state()["phase"] != "verify":
            run.step()
        shutil.rmtree(before)
        shutil.copytree(run.root, before)
    with crash_at(monkeypatch, 0) as dry:
        run.step()
    assert len(run.told()) == 1
    made_up = interrupted = 0
    for at in range(1, dry.count + 1):
        shutil.rmtree(run.root)
        shutil.copytree(before, run.root)
        run.told_file.unlink(missing_ok=True)
        with crash_at(monkeypatch, at) as dying:
            run.step()
        assert dying.dead
        told_before = len(run.told())
        for _ in range(3):
            last = run.step()
        assert last.code == (3 if blocks else 0)
        reasons = [row["reason"] for row in run.failures()]
        assert len(run.told()) == 1 or (not run.told() and reasons == ["interrupted"]), at
        assert reasons in ([], ["interrupted"]), "said once at most"
        made_up += not told_before and len(run.told())
        interrupted += bool(reasons)
    assert made_up > 3 and interrupted > 0


def test_a_run_killed_while_its_command_runs_does_not_start_it_again(tmp_path: Path) -> None:
    """D10b: SIGKILL of the whole program; the command is ended with it, never repeated."""
    run = Hooked(tmp_path)
    mark = tmp_path / "started"
    run.configure(on_confirmed=f"sh -c 'echo $$ >> {mark}; exec sleep 300'")
    before_the_end(run)
    process = subprocess.Popen(
        child_command("step", run.slug, "--root", str(run.root)),
        env=child_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        while not (mark.exists() and mark.read_text().strip()):
            assert process.poll() is None, "it ended before its command was started"
            time.sleep(0.02)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert "status: confirmed" in run.report_path.read_text("utf-8"), "the sentinel came first"
    (pid,) = map(int, mark.read_text().split())
    for _ in range(500):
        if not is_alive(pid):
            break
        time.sleep(0.02)
    else:
        pytest.fail("the command outlived the run")
    assert run.step().json["status"] == "confirmed"
    assert run.step().json["status"] == "confirmed"
    assert len(mark.read_text().split()) == 1
    assert [row["reason"] for row in run.failures()] == ["interrupted"]
    assert not run.state_path.exists()
