"""Every command in every situation: its exit code, its JSON, its one line of error."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.runs import (
    SUBTOPICS,
    TOPIC,
    Run,
    answers,
    child,
    child_command,
    child_environment,
    verdict,
)

SITUATIONS = ("none", "unknown", "active", "host", "blocked", "cancelled", "confirmed", "cleared",
              "damaged", "newer", "busy")  # fmt: skip

# command -> {situation: exit code}; what is not named is `other`.
CODES: dict[str, dict[str, int]] = {
    "step": {"active": 0, "host": 5, "blocked": 3, "cancelled": 4, "confirmed": 0, "busy": 6, "other": 7},
    "next": {"active": 0, "host": 0, "blocked": 3, "cancelled": 4, "confirmed": 0, "busy": 6, "other": 7},
    "status": {"cancelled": 4, "none": 7, "unknown": 7, "cleared": 7, "damaged": 7, "newer": 7, "other": 0},
    "wait": {"active": 124, "host": 124, "busy": 124, "blocked": 3, "cancelled": 4, "confirmed": 0, "other": 7},
    "show --plan": {"none": 7, "unknown": 7, "other": 0},
    "show --report": {"blocked": 0, "confirmed": 0, "other": 7},
    "log": {"none": 7, "unknown": 7, "damaged": 0, "newer": 0, "other": 0},
    "cancel": {"confirmed": 2, "none": 7, "unknown": 7, "cleared": 7, "other": 0},
    "retry": {"blocked": 0, "none": 7, "unknown": 7, "cleared": 7, "damaged": 7, "newer": 7, "busy": 6, "other": 2},
    "clear --yes": {"active": 0, "host": 0, "blocked": 0, "damaged": 0, "newer": 0, "busy": 6, "other": 7},
    "audit": {"confirmed": 0, "other": 7},
    "recover": {"other": 0},
}  # fmt: skip


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """Return one root a situation; tests work on copies."""
    made: dict[str, Run] = {}
    for name in SITUATIONS:
        script = answers(verifier={"text": verdict("FAIL")}) if name == "blocked" else answers()
        run = made[name] = Run(tmp_path_factory.mktemp(name), script)
        if name == "none":
            run.slug = "nothing-20261130-abcd"
            continue
        run.start(delegate="host" if name == "host" else "scripted")
        if name in ("blocked", "confirmed"):
            run.to_end()
        elif name == "cancelled":
            run.cli("cancel", run.slug), run.step()
        elif name == "cleared":
            run.cli("clear", run.slug, "--yes")
        elif name == "damaged":
            run.state_path.write_bytes(b"{")
        elif name == "newer":
            run.change_state(state_version=9)
        elif name == "unknown":
            run.slug = "nothing-20261130-abcd"
    return made


def copy_of(template: Run, folder: Path) -> Run:
    run = Run(folder)
    shutil.copytree(template.root, run.root, dirs_exist_ok=True)
    shutil.copy(template.folder / "script.json", folder / "script.json")
    run.slug = template.slug
    return run


@pytest.mark.parametrize("command", sorted(CODES))
@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_exit_code_of_every_command_in_every_situation(
    templates: dict[str, Run], tmp_path: Path, situation: str, command: str
) -> None:
    """The exit codes of 10-engine; E12, E38, E41."""
    from omh_research.store import lock

    run = copy_of(templates[situation], tmp_path)
    name, *flags = command.split()
    slug = [] if name == "recover" else [run.slug]
    more = ["--timeout", "0"] if name == "wait" else []
    holder = None
    if situation == "busy":
        holder = lock.acquire(str(run.base / "state" / "locks" / f"{run.slug}.lock"))
    try:
        ended = run.cli(name, *slug, *flags, *more, "--json")
    finally:
        if holder is not None:
            holder.release()
    wanted = CODES[command].get(situation, CODES[command]["other"])
    assert ended.code == wanted, ended
    check_envelope(ended)


def check_envelope(ended: Any) -> None:
    """Check: one JSON object on stdout, or one error object on stderr, never both."""
    if ended.out:
        value = json.loads(ended.out)
        assert isinstance(value, dict) and "ok" in value and ended.out.count("\n") == 1
        assert not ended.err.startswith("{")
    else:
        error = ended.error
        assert set(error) == {"code", "message"} and error["code"] and error["message"]
        assert "\n" not in error["message"]


def test_a_busy_run_names_its_holder_and_nothing_changes(tmp_path: Path) -> None:
    """E12: a second step exits at once with 6, naming holder and since when."""
    slow = {"role": "researcher", "fault": "sleep", "seconds": 30, "text": "x"}
    run = Run(tmp_path, [slow])
    run.start()
    command = child_command("step", run.slug, "--root", str(run.root))
    holder = subprocess.Popen(command, env=child_environment())
    try:
        while not run.calls():
            assert holder.poll() is None
        before = run.state()
        ended = run.cli("step", run.slug, "--json")
        assert ended.code == 6 and str(holder.pid) in ended.error["message"]
        assert "since 20" in ended.error["message"]
        assert run.state() == before
        status = run.cli("status", run.slug, "--json").json
        assert status["status"] == "running" and status["owner"]["pid"] == holder.pid
        assert run.cli("next", run.slug).code == 6
    finally:
        holder.kill()
        holder.wait()
    status = run.cli("status", run.slug, "--json").json
    assert status["status"] == "interrupted", "O1: its owner is gone"
    found = run.cli("recover", "--json").json["runs"]
    assert found == [{"slug": run.slug, "found": "interrupted", "done": "leftovers swept"}]
    assert run.cli("status", run.slug, "--json").json["status"] == "active"


def test_errors_are_one_line_with_advice_and_no_traceback(tmp_path: Path) -> None:
    for args in (("step", "nothing-20261130-abcd"), ("start", ""), ("next",), ("nonsense",), ()):
        ended = child(*args, *(("--root", str(tmp_path)) if args and args[0] != "nonsense" else ()))
        assert ended.code in (2, 7) and ended.err and "Traceback" not in ended.err


def test_status_and_log_print_for_people_and_for_programs(tmp_path: Path) -> None:
    """O1, O3."""
    run = Run(tmp_path)
    assert run.cli("status").out == "No runs here.\n"
    assert run.cli("status", "--json").json == {"ok": True, "runs": []}
    run.start()
    run.step()
    line = run.cli("status").out
    assert run.slug in line and "gap_check" in line and "3/3" in line
    one = run.cli("status", run.slug, "--json").json
    assert (one["phase"], one["subtopics"]) == ("gap_check", {"done": 3, "total": 3})
    assert (one["last_event"], one["spent"]["tasks"]) == ("BATCH_COMPLETE", 3)
    assert "BATCH_COMPLETE" in run.cli("status", run.slug).out
    lines = run.cli("log", run.slug).out.splitlines()
    assert [line.split(" ")[1] for line in lines] == ["STARTED", "PLAN_WRITTEN", "BATCH_COMPLETE"]
    assert run.cli("show", run.slug, "--findings").out.count("SUBTOPIC:") == 3


def test_a_closed_pipe_is_no_traceback(tmp_path: Path) -> None:
    """86 #3."""
    run = Run(tmp_path)
    run.start()
    command = " ".join(child_command("log", run.slug, "--root", str(run.root)))
    done = subprocess.run(
        ["/bin/sh", "-c", f"{command} | true"],
        capture_output=True,
        env=child_environment(),
        check=False,
    )
    assert b"Traceback" not in done.stderr


def test_a_console_that_cannot_show_the_report_still_ends_well(tmp_path: Path) -> None:
    """86 #25: LANG=C and cp1252."""
    run = Run(tmp_path)
    run.start(topic="Wie formt 潮汐 die Küste 🌊?")
    for encoding in ("ascii", "cp1252"):
        ended = run.child("status", environment={"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"})
        assert ended.code == 0 and "Traceback" not in ended.err and run.slug in ended.out


READ_ONLY = ("status", "status SLUG", "show SLUG --plan", "show SLUG --findings", "log SLUG",
             "wait SLUG --timeout 0", "audit SLUG")  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32" or not hasattr(os, "geteuid") or os.geteuid() != 0,
                    reason="needs to become another user")  # fmt: skip
def test_looking_works_in_a_root_that_cannot_be_written(
    templates: dict[str, Run], tmp_path: Path
) -> None:
    """81 sections 2 and 5, O1: no lock file, no cache; a writing command says so and exits 1."""
    if shutil.which("setpriv") is None:
        pytest.skip("no setpriv")
    shared = Path("/var/tmp") / f"omh-test-{os.getpid()}"
    run = copy_of(templates["confirmed"], shared)
    active = copy_of(templates["active"], shared / "second")
    try:
        for path in [shared, *shared.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        before = sorted(path.name for path in run.base.rglob("*"))
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        readable = subprocess.run(
            [*nobody, *child_command("--version")],
            env=child_environment(),
            cwd="/",
            capture_output=True,
            check=False,
        )
        if readable.returncode:
            pytest.skip("another user cannot run this installation")
        for words in READ_ONLY:
            args = words.replace("SLUG", run.slug).split()
            done = subprocess.run(
                [*nobody, *child_command(*args, "--root", str(run.root))],
                env=child_environment(), cwd="/", capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 0 and "Traceback" not in done.stderr, (words, done)
        assert sorted(path.name for path in run.base.rglob("*")) == before
        for args in (
            ("step", active.slug),
            ("cancel", active.slug),
            ("start", "Other", "--delegate", "host", *SUBTOPICS),
        ):
            done = subprocess.run(
                [*nobody, *child_command(*args, "--root", str(active.root))],
                env=child_environment(), cwd="/", capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 1, (args, done)
            assert done.stderr.count("\n") == 1 and "ermission" in done.stderr
    finally:
        shutil.rmtree(shared)


def test_offline_forbids_every_network(tmp_path: Path) -> None:
    """E42: OMH_OFFLINE=1, loopback too."""
    ended = child("web", "read", "http://127.0.0.1:9/", "--json", cwd=tmp_path)
    assert ended.code != 0 and "Traceback" not in ended.err


def test_a_topic_is_needed(tmp_path: Path) -> None:
    assert TOPIC and child("start", "--root", str(tmp_path)).code == 2
