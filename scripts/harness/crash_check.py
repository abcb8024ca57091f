"""What must hold in every tree a crash can leave, and after the run was carried on from it.

`check(root, info)` is for crashstates' `--check-py`: the promises of the raw tree, what had been
printed as done, then invocations until the end, the final files, no stored answer asked for again.
As a program, in the root: `crash_check.py always | finished | confirmed-once`.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from functools import cache, cached_property
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import scenario

from omh_research.documents import frontmatter
from omh_research.documents.event import parse_log
from omh_research.documents.plan_file import parse_plan
from omh_research.documents.state import State, parse_state
from omh_research.sentinel import read_status
from tests.runs import cli

SESSION = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
MAX_LAPS = 40
LATER = ("synthesize", "verify")


class Tree:
    """The run's files in one root."""

    def __init__(self, root: Path) -> None:
        self.root, self.base = root, root / ".omh"
        self.slug = scenario.find_slug(root)
        self.research = self.base / "research"

    @cached_property
    def state(self) -> State | None:
        """The state, or None; it must parse."""
        path = self.base / "state" / f"research--{self.slug}.json"
        if not self.slug or not path.exists():
            return None
        return parse_state(path.read_bytes(), where=str(path), slug=self.slug)

    def text(self, path: Path) -> str | None:
        """Return a file's text, or None."""
        return path.read_text(encoding="utf-8") if path.exists() else None

    def finding(self, stem: str) -> str | None:
        """Return the body of one findings file, or None."""
        path = self.research / f"{self.slug}-findings" / f"{stem}.md"
        text = self.text(path)
        return None if text is None else frontmatter.parse(text, where=str(path))[1]

    def report_status(self) -> str | None:
        """Return the report's status word."""
        return read_status(str(self.research / f"{self.slug}-report.md"))

    def events(self) -> list[Any]:
        """Return the events of all logs of this slug."""
        logs = sorted((self.base / "logs").glob("research-*.log"))
        found = [event for log in logs for event in parse_log(log.read_text("utf-8", "replace"))]
        return [event for event in found if event.slug == self.slug]

    def replies(self) -> dict[str, str]:
        """Return the stored answers by task id; each must parse."""
        folder = self.base / "state" / f"research--{self.slug}.tasks"
        found = {}
        for path in folder.glob("*.json"):
            reply = json.loads(path.read_bytes())
            found[reply["task_id"]] = reply["text"]
        return found


def check_promises(tree: Tree) -> None:
    """Check what holds at every moment: whole files, the order of writes, the seal."""
    if not tree.slug:
        return
    plan = tree.text(tree.research / f"{tree.slug}-plan.md")
    if plan is not None:
        assert parse_plan(plan, where="plan").names == scenario.NAMES, "the plan is not whole"
    for task, text in tree.replies().items():
        assert text == scenario.ANSWERS[task], f"the reply to {task} is not whole"
    stems = dict(zip(scenario.NAMES, scenario.STEMS, strict=True))
    for name, stem in stems.items():
        body = tree.finding(stem)
        assert body in (None, scenario.FINDINGS[name]), f"{stem}.md is not whole"
    state = tree.state
    if state is not None:
        assert state.phase == "decompose" or plan is not None, f"{state.phase} without a plan"
        for name in state.completed_subtopics:
            assert tree.finding(stems[name]) is not None, f"{name} is completed, its file is not"
        if state.phase in ("gap_check", *LATER):
            assert set(state.completed_subtopics) == set(scenario.NAMES)
        if state.phase in LATER:
            assert tree.finding(scenario.FOLLOWUP) == scenario.FOLLOWUP_TEXT
        if state.phase == "verify":
            assert tree.report_status() in ("draft", "confirmed"), "verify without a draft"
    words = [event.word for event in tree.events()]
    if tree.report_status() == "confirmed":
        assert "VERIFY_PASS" in words, "confirmed without VERIFY_PASS"
        seal = tree.research / f"{tree.slug}-evidence" / "seal.json"
        assert seal.exists() and json.loads(seal.read_bytes())["files"], "confirmed without a seal"
    elif plan is not None and state is None:
        ended = {"CANCELLED", "CLEARED"} & set(words)
        assert ended, "the state is gone, the report is not confirmed"


def check_printed(tree: Tree, printed: str) -> None:
    """Check that what was said as done is in the tree."""
    words = [event.word for event in tree.events()]
    laps = 0
    for line in printed.splitlines():
        if not line.startswith("{") or not line.endswith("}"):
            continue
        said = json.loads(line)
        assert said.get("slug") == tree.slug, f"said {said.get('slug')}, but it is lost"
        for word in said.get("events", ()):
            assert word in words, f"said {word}, but the log lost it"
        if said.get("stored"):
            kept = tree.replies().get(said["task_id"]) or said["phase"] not in said["task_id"]
            kept = kept or tree.report_status() == "confirmed"  # then it is being cleared
            assert kept or tree.state is None, f"said stored {said['task_id']}, but it is lost"
        laps += said.get("status") != "awaiting"
        if said.get("status") == "confirmed":
            assert tree.report_status() == "confirmed" and tree.state is None
    if tree.state is not None and "task_id" not in printed:
        assert tree.state.step >= laps + (laps > 0), f"{laps} laps said, step {tree.state.step}"


def carry_on(root: Path, how: str = "scripted") -> None:
    """Invoke the engine until the run is over ("steps": never start another)."""
    slug = scenario.find_slug(root)
    for _ in range(MAX_LAPS):
        if how == "steps":
            ended = cli("step", slug, "--root", str(root), "--json")
        else:
            ended = scenario.invoke(root, how, cli)
        assert ended.code in (0, 4, 5), f"exit {ended.code}: {ended.err[-500:]}"
        if ended.code == 4:
            return
        if "confirmed" in (ended.json.get("status"), ended.json.get("phase")):
            return
    raise AssertionError(f"no end in {MAX_LAPS} invocations")


def normal_files(root: Path, slug: str) -> dict[str, str]:
    """Return the durable files with slug, session and times made equal, events as words."""
    base, found = root / ".omh", {}
    for path in sorted(base.rglob("*")):
        name = path.relative_to(base).as_posix()
        if not path.is_file() or name.startswith(("cache/", "state/locks/", "logs/")):
            continue
        text = path.read_text("utf-8").replace(slug, "SLUG")
        text = TIME.sub("TIME", SESSION.sub("SESSION", text)).replace('"SESSION"', "SESSION")
        if name.endswith("seal.json"):
            text = "\n".join(json.loads(text)["files"])
        found[name.replace(slug, "SLUG")] = text
    return found


@cache
def expected(how: str) -> dict[str, str]:
    """Return the files of an undisturbed run."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        root.mkdir()
        os.environ.update(scenario.write_script(Path(folder)))
        carry_on(root, how)
        return normal_files(root, scenario.find_slug(root))


def check_finished(root: Path, how: str = "scripted", *, cancelled: bool = False) -> None:
    """Check the final files: those of an undisturbed run, and nothing else."""
    ended = cli("recover", "--root", str(root), "--json")
    assert ended.code == 0, ended.err
    tree = Tree(root)
    words = [event.word for event in tree.events()]
    for path in tree.base.rglob("*"):
        left = path.name.endswith((".tmp", ".heartbeat", ".cancel", ".tasks"))
        assert not left, f"left behind: {path.name}"
    assert tree.state is None, "a state is left"
    if cancelled and tree.report_status() != "confirmed":
        assert "CANCELLED" in words, words
        return
    assert tree.report_status() == "confirmed", "not confirmed"
    files, wanted = normal_files(root, tree.slug), expected(how)
    assert files.keys() == wanted.keys(), set(files) ^ set(wanted)
    for name, text in wanted.items():
        assert files[name] == text, f"{name} differs:\n{files[name]}\n---\n{text}"
    for word in set(scenario.EVENTS) - {"REPORT_CONFIRMED"}:
        assert words.count(word) == scenario.EVENTS.count(word), f"{word}: {words}"
    assert {"REPORT_CONFIRMED", "REPORT_CONFIRMED_RECOVERED"} & set(words), words
    audit = cli("audit", tree.slug, "--root", str(root), "--json")
    assert audit.code == 0, f"the audit does not hold: {audit.out}{audit.err}"


def _check(root: str, info: dict[str, Any], how: str, *, cancelled: bool = False) -> None:
    folder = Path(root)
    tree = Tree(folder)
    check_promises(tree)
    check_printed(tree, info.get("printed", ""))
    answered = set(tree.replies())
    with tempfile.TemporaryDirectory() as scratch:
        wanted = expected("host" if how == "host" else "scripted")
        assert wanted
        os.environ.update(scenario.write_script(Path(scratch)))
        carry_on(folder, how)
        calls = Path(scratch) / "calls.txt"
        asked = (
            [line.split()[0] for line in calls.read_text().splitlines()] if calls.exists() else []
        )
    assert not answered & set(asked), f"asked again: {answered & set(asked)}"
    assert len(asked) == len(set(asked)), f"asked twice: {asked}"
    check_finished(folder, "host" if how == "host" else "scripted", cancelled=cancelled)


def check(root: str, info: dict[str, Any]) -> None:
    """Check a tree of the scripted run."""
    _check(root, info, "scripted")


def check_host(root: str, info: dict[str, Any]) -> None:
    """Check a tree of the run with a host."""
    _check(root, info, "host")


def check_cancel(root: str, info: dict[str, Any]) -> None:
    """Check a tree of a run that was cancelled: never half, never lost once said."""
    tree = Tree(Path(root))
    said = '"cancelling"' in info.get("printed", "") or '"cancelled"' in info.get("printed", "")
    _check(root, info, "steps", cancelled=True)
    if said:
        words = [event.word for event in Tree(Path(root)).events()]
        assert "CANCELLED" in words, f"the cancel was said and lost: {words}"
    assert tree.slug


def check_many(root: Path, count: int) -> int:
    """Check that so many topics are confirmed, each once, each audit holds, and nothing is left."""
    research, state = root / ".omh" / "research", root / ".omh" / "state"
    slugs = sorted(path.name[: -len("-plan.md")] for path in research.glob("*-plan.md"))
    assert len(slugs) == count, slugs
    for slug in slugs:
        assert read_status(str(research / f"{slug}-report.md")) == "confirmed", slug
        assert cli("audit", slug, "--root", str(root)).code == 0, slug
    left = [path.name for path in state.iterdir() if path.name != "locks"]
    assert not left, left
    return 0


def main() -> int:
    """Check the current folder for killstorm and racestorm."""
    root, what = Path.cwd(), sys.argv[1]
    calls = Path(os.environ.get("OMH_SCRIPT_CALLS", ""))
    if what == "all-confirmed":
        return check_many(root, int(sys.argv[2]))
    tree = Tree(root)
    check_promises(tree)
    if what == "always":
        return 0
    check_finished(root, cancelled=what == "cancelled")
    words = [event.word for event in tree.events()]
    if what == "confirmed-once":
        assert words.count("REPORT_CONFIRMED") == 1, words
        asked = [line.split()[0] for line in calls.read_text().splitlines()]
        assert sorted(asked) == sorted(scenario.ANSWERS), f"paid work: {asked}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
