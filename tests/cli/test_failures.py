"""However a command fails, it ends in one line and the spec's exit code, never in a traceback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runs import SUBTOPICS, TOPIC, Run, child_command, child_environment

FAULT = (
    "import sys, omh_research.status as s\n"
    "def broken(*given): raise {0}\n"
    "s.status_all = broken\n"
    "from omh_research.cli import main; main(sys.argv[1:])"
)


def faulty(root: Path, what: str, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command whose inside raises what nobody expected."""
    return subprocess.run(
        [sys.executable, "-c", FAULT.replace("{0}", what), *words], cwd=root, text=True,
        capture_output=True, env=child_environment(**more), timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("option", "value"),
    [
        (option, value)
        for option in ("--max-cost", "--max-time", "--task-timeout")
        for value in ("nan", "inf", "-inf", "1e400", "-1", "many")
    ]
    + [("--cap", f"max_fetches={value}") for value in ("nan", "inf", "-1", "1e400")]
    + [("--cap", "max_cost_usd=inf"), ("--max-tokens", "9" * 40)],
)
def test_o5_a_limit_is_a_finite_number_of_its_range(
    tmp_path: Path, option: str, value: str
) -> None:
    """O5: 2, before any file; `nan` would pass every comparison and never be reached."""
    run = Run(tmp_path)
    ended = run.cli("start", TOPIC, *run.script_options, *SUBTOPICS, option, value, "--json")
    assert ended.code == 2 and ended.error["code"] == "usage" and not run.base.exists()


@pytest.mark.parametrize("subtopics", [SUBTOPICS, ()])
def test_t2_a_cap_that_is_none_is_refused_before_any_file(
    tmp_path: Path, subtopics: tuple[str, ...]
) -> None:
    """T2: a run with a cap that no phase knows would stand where it is for ever."""
    run = Run(tmp_path)
    ended = run.cli("start", TOPIC, *run.script_options, *subtopics, "--cap", "max_fetch=1")
    assert ended.code == 2 and not run.base.exists()
    assert "max_fetch" in ended.err and "max_fetches_per_subquestion" in ended.err


def test_e23_what_a_phase_noted_is_said_by_run_too(tmp_path: Path) -> None:
    """A cap that leaves nothing to read is named, on paper and in the JSON object."""
    corpus = tmp_path / "notes"
    corpus.mkdir()
    (corpus / "bees.md").write_text("# Bees\n\nBees form a cluster in the cold winter.\n", "utf-8")
    (corpus / "empty.md").write_text("", "utf-8")
    words = ("--corpus", str(corpus), "--cap", "max_fetches=0")
    said = Run(tmp_path).cli("run", "bees in winter", *words)
    assert said.code == 3 and said.err.count("note: nothing was read: the cap of fetches") == 1
    told = Run(tmp_path).cli("run", "the winter of bees", *words, "--json")
    notes = told.json["notes"]
    assert any("the file is empty" in note for note in notes)
    assert any("nothing was read: the cap" in note for note in notes)


@pytest.mark.parametrize(
    "words", [("wait", "a-run", "--timeout", "nan"), ("web", "read", "x", "--timeout", "nan"),
              ("batch", "x", "--batch-max-cost", "inf")]
)  # fmt: skip
def test_every_number_option_is_finite(tmp_path: Path, words: tuple[str, ...]) -> None:
    ended = Run(tmp_path).cli(*words)
    assert ended.code == 2 and "finite" in ended.err


def test_t2_a_cap_over_the_absolute_one_is_said_to_be_lowered(tmp_path: Path) -> None:
    run = Run(tmp_path)
    ended = run.start(*SUBTOPICS, "--cap", "max_fetches=99999", "--cap", "max_model_calls=7")
    assert [note for note in ended.json["notes"] if "absolute" in note] == [
        "max_fetches=99999 is over the absolute cap: 100 is used"
    ]
    dry = run.cli("start", "Other", "--dry-run", "--cap", "max_fetches=99999", "--json")
    assert dry.code == 0 and "100 is used" in dry.err


@pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX")
def test_submit_with_a_closed_stdin_is_a_usage_error(tmp_path: Path) -> None:
    """E39: nothing is stored; the way out is named."""
    run = Run(tmp_path)
    run.start(*SUBTOPICS, delegate="host")
    task = run.cli("next", run.slug, "--json").json["tasks"][0]["id"]
    words = child_command("submit", run.slug, task, "--root", str(run.root))
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *words], capture_output=True, text=True,
        env=child_environment(), timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 2 and "--file" in done.stderr and "Traceback" not in done.stderr
    assert len(run.cli("next", run.slug, "--json").json["tasks"]) == 3


@pytest.mark.parametrize(
    ("what", "words"),
    [("TypeError('one\\ntwo')", "TypeError: one two"), ("KeyError('x')", "KeyError"),
     ("RecursionError()", "RecursionError"), ("ImportError('no module')", "no module")],
)  # fmt: skip
def test_a_fault_of_ours_is_one_line_and_exit_1(tmp_path: Path, what: str, words: str) -> None:
    plain = faulty(tmp_path, what, "status")
    assert plain.returncode == 1 and plain.stdout == "" and words in plain.stderr
    assert plain.stderr.startswith("omh-research: ") and plain.stderr.count("\n") == 1
    as_json = faulty(tmp_path, what, "status", "--json")
    assert as_json.returncode == 1 and json.loads(as_json.stderr)["error"]["code"] == "error"
    debug = faulty(tmp_path, what, "status", OMH_DEBUG="1")
    assert debug.returncode == 1 and "Traceback" in debug.stderr and "in broken" in debug.stderr
    if "Import" not in what:
        assert "OMH_DEBUG=1" in plain.stderr and "not of your call" in plain.stderr


@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
def test_a_full_stdout_is_named(tmp_path: Path) -> None:
    """81 section 2: the words say what could not be written; no second error at exit."""
    import resource

    with (tmp_path / "out").open("wb") as out:
        done = subprocess.run(
            child_command("schema", "state"), stdout=out, stderr=subprocess.PIPE,
            env=child_environment(PYTHONUNBUFFERED=""), timeout=60, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)),
        )  # fmt: skip
    told = done.stderr.decode()
    assert done.returncode == 1 and "Standard output could not be written" in told
    assert told.count("\n") == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("run", "TOPIC"), 0),
        (("step", "nothing-20261130-abcd"), 7),
        (("nonsense",), 2),
        ((), 2),
        (("tools", "caps", "--op", "nonsense"), 1),
    ],
)
def test_a_full_stderr_ends_no_work_and_changes_no_exit_code(
    tmp_path: Path, words: tuple[str, ...], code: int
) -> None:
    """81 section 2: a note that cannot be printed is not the end of a run; stdout is complete."""
    run = Run(tmp_path)
    words = (*words[:1], TOPIC, *run.script_options, *SUBTOPICS) if "TOPIC" in words else words
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            child_command(*words), stdout=subprocess.PIPE, stderr=full, cwd=run.root,
            env=child_environment(), timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == code, done
    if code == 0:
        reports = list((run.base / "research").glob("*-report.md"))
        assert len(reports) == 1 and b"status: confirmed" in reports[0].read_bytes()
        assert reports[0].name.removesuffix("-report.md").encode() in done.stdout
