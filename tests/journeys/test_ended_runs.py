"""What is said of runs that have no state any more (O1, E34, E41)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.runs import STEMS, Run

NOTHING = "nothing-20261130-abcd"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A confirmed run."""
    run = Run(tmp_path)
    run.start()
    run.to_end()
    return run


def test_o1_status_lists_the_confirmed_reports(run: Run) -> None:
    """O1: after a first run that went well there is something to see."""
    assert run.cli("status").out.splitlines() == [
        "1 confirmed report (show SLUG prints one):",
        f"  {run.slug}",
    ]
    first = run.slug
    assert run.cli("status", "--json").json == {"ok": True, "runs": [], "confirmed": [first]}
    run.start(topic="Why are there two tides a day?")
    listed = run.cli("status").out.splitlines()
    assert listed[0].startswith(run.slug) and listed[-1] == f"  {first}"


def test_o1_an_active_run_is_listed_once_and_a_draft_is_no_confirmed_report(run: Run) -> None:
    run.report_path.write_bytes(
        run.report_path.read_bytes().replace(b"status: confirmed", b"status: draft", 1)
    )
    assert run.cli("status").out == "No runs here.\n"
    run.start()
    assert [row["slug"] for row in run.cli("status", "--json").json["runs"]] == [run.slug]


def test_o1_many_reports_are_counted_and_the_latest_named(run: Run) -> None:
    """The list of 10,000 stays short; --json has them all, the oldest day first."""
    text = run.report_path.read_bytes()
    older = [f"a-topic-202001{day:02d}-0000" for day in range(1, 26)]
    for slug in older:
        (run.report_path.parent / f"{slug}-report.md").write_bytes(text)
    lines = run.cli("status").out.splitlines()
    assert lines[0].startswith("26 confirmed reports") and len(lines) == 22
    assert lines[-1] == f"  {run.slug}" and "6 earlier" in lines[1]
    assert run.cli("status", "--json").json["confirmed"] == [*older, run.slug]


@pytest.mark.parametrize("change", ["draft", "mark"])
@pytest.mark.parametrize("command", ["status", "wait", "next", "step"])
def test_e34_a_report_changed_after_its_confirmation_is_named(
    run: Run, change: str, command: str
) -> None:
    """E34, E41: exit 7 still, but not as if nothing were there."""
    text = run.report_path.read_bytes()
    changed = b"\xef\xbb\xbf" + text
    if change == "draft":
        changed = text.replace(b"status: confirmed", b"status: draft", 1)
    run.report_path.write_bytes(changed)
    more = ("--timeout", "0") if command == "wait" else ()
    ended = run.cli(command, run.slug, *more, "--json")
    assert ended.code == 7
    assert f"{run.slug}-report.md" in ended.error["message"]
    assert ("reads draft" if change == "draft" else "byte order mark") in ended.error["message"]


def test_show_of_nothing_says_no_such_run(run: Run) -> None:
    """O3, E41: and of an ended run only that this part is not there."""
    ended = run.cli("show", NOTHING)
    assert ended.code == 7 and f"No run {NOTHING} here" in ended.err and "status" in ended.err
    verdict = run.cli("show", run.slug, "--verdict")
    assert verdict.code == 7 and "has no verdict here" in verdict.err


def test_o1_a_cancelled_run_keeps_its_count_of_subtopics(tmp_path: Path) -> None:
    """O1: 3/3 before the cancel is 3/3 after it; two of three stay two."""
    run = Run(tmp_path)
    run.start()
    run.step()
    run.cli("cancel", run.slug)
    run.step()
    shown = run.cli("status", run.slug, "--json").json
    assert (shown["status"], shown["subtopics"]) == ("cancelled", {"done": 3, "total": 3})
    os.unlink(run.finding_path(STEMS[0]))
    assert "2/3" in run.cli("status", run.slug).out


def test_o1_runs_are_listed_where_the_reports_cannot_be(run: Run) -> None:
    """O1: a link or a file for the folder of reports hides no run; doctor says it is bad."""
    run.start(topic="Why are there two tides a day?")
    folder = run.base / "research"
    folder.rename(run.folder / "elsewhere")
    folder.symlink_to(run.folder / "elsewhere")
    ended = run.cli("status")
    assert ended.code == 0 and ended.out.splitlines()[0].startswith(run.slug)
    assert "cannot be listed" in ended.err and "symbolic link" in ended.err
    assert "confirmed report" not in ended.out
