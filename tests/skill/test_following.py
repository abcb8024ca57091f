"""An agent that knows nothing but SKILL.md drives runs to each of their ends (D10c).

The agent below takes its command lines and its decisions from the skill's text: the `bash` blocks
and the table of statuses. Only the answers to the tasks are its own.
"""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from omh_research.cli import main

from .mind import TOPIC, think

SKILL = str(files("omh_research.skill") / "data" / "omh-deep-research" / "SKILL.md")


class LiteralAgent:
    """Follows the skill's text and nothing else."""

    def __init__(
        self, root: Path, *, verdict_word: str = "PASS", cancel_after: int = 10**6
    ) -> None:
        self.root, self.work = root, root / "work"
        self.work.mkdir()
        self.verdict_word, self.cancel_after = verdict_word, cancel_after
        text = Path(SKILL).read_text("utf-8")
        lines = [
            shlex.split(line)
            for block in re.findall(r"^```bash\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
            for line in block.splitlines()
        ]
        self.commands: dict[str, list[str]] = {}
        for words in lines:
            name = f"{words[1]} --failed" if "--failed" in words else words[1]
            self.commands.setdefault(name, words)
        self.table = {
            status: (int(code), what)
            for status, code, what in re.findall(
                r"^\| (\w+) \| (\d+) \| (.+) \|$", text, re.MULTILINE
            )
        }
        self.said: list[str] = []
        self.handed_in = 0

    def call(self, name: str, extra: tuple[str, ...] = (), **fill: str) -> tuple[int, Any]:
        words = [*(fill.get(word, word) for word in self.commands[name][1:]), *extra]
        code, out, err = self.run(words, self.root)
        self.said.append(f"{name}: {code} {err.strip()}")
        return code, json.loads(out) if "--json" in words and out else out

    def run(self, words: list[str], root: Path) -> tuple[int, str, str]:
        """Run one command in this process, which is quicker and the same code."""
        out, err, here = io.StringIO(), io.StringIO(), Path.cwd()
        os.chdir(root)
        try:
            with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
                main(words)
        finally:
            os.chdir(here)
        return int(ended.value.code or 0), out.getvalue(), err.getvalue()

    def follow(self) -> str:
        """Run the loop of the skill; return the action at which it ended."""
        code, started = self.call("start", TOPIC=TOPIC)
        assert code == 0 and started["ok"], self.said
        slug = started["slug"]
        for _ in range(60):
            code, offered = self.call("next", SLUG=slug)
            told, action = self.table[offered["status"]]
            assert code == told, (offered["status"], self.said)
            if offered["status"] != "awaiting":
                self.slug = slug
                return action
            assert offered["tasks"], "awaiting without tasks"
            for task in offered["tasks"]:
                if self.handed_in == self.cancel_after:
                    assert self.call("cancel", SLUG=slug, REASON="enough")[0] == 0, self.said
                    self.handed_in += 1
                    break
                self.do(slug, task)
        raise AssertionError(f"no end: {self.said[-5:]}")

    def do(self, slug: str, task: dict[str, Any]) -> None:
        text, pages = self.think(task)
        answer = self.work / "answer.md"
        answer.write_text(text, encoding="utf-8")
        extra: tuple[str, ...] = ()
        if pages:
            (self.work / "pages.jsonl").write_text(
                "\n".join(json.dumps(page) for page in pages), encoding="utf-8"
            )
            extra = ("--sources", str(self.work / "pages.jsonl"))
        code, stored = self.call(
            "submit", extra, SLUG=slug, TASK_ID=task["id"], ANSWER_FILE=str(answer)
        )
        assert code in (0, 3) and stored["ok"], self.said
        self.handed_in += 1

    def think(self, task: dict[str, Any]) -> tuple[str, list[dict[str, str]]]:
        return think(task, self.verdict_word)


class ShellAgent(LiteralAgent):
    """The same with a process for each command, as a host does it."""

    def run(self, words: list[str], root: Path) -> tuple[int, str, str]:
        done = subprocess.run(
            [sys.executable, "-m", "omh_research", *words], cwd=root, capture_output=True,
            text=True, encoding="utf-8", check=False,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr


@pytest.fixture(autouse=True)
def no_foreign_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMH_ROOT", raising=False)


def test_it_reaches_a_confirmed_report(tmp_path: Path) -> None:
    agent = ShellAgent(tmp_path)
    assert agent.follow() == 'go to "At the end"'
    sentinel = tmp_path / ".omh" / "research" / f"{agent.slug}-report.md"
    assert "status: confirmed" in sentinel.read_text("utf-8").split("---")[1]
    code, shown = agent.call("show", SLUG=agent.slug)
    assert code == 0 and "1,233 kilometres" in shown
    code, again = agent.call("start", TOPIC=TOPIC)
    assert again["status"] == "confirmed" and again["report"].endswith(sentinel.name)


def test_it_reaches_a_blocked_run_and_says_why(tmp_path: Path) -> None:
    agent = LiteralAgent(tmp_path, verdict_word="FAIL")
    assert agent.follow() == 'go to "If it is blocked"'
    code, status = agent.call("status", SLUG=agent.slug)
    assert code == 0 and status["ok"] is True
    report_file = tmp_path / ".omh" / "research" / f"{agent.slug}-report.md"
    assert "status: draft" in report_file.read_text("utf-8").split("---")[1]


@pytest.mark.parametrize("after", [0, 2, 4])
def test_it_reaches_a_cancelled_run_at_any_point(tmp_path: Path, after: int) -> None:
    agent = LiteralAgent(tmp_path, cancel_after=after)
    assert agent.follow().startswith("say that the research was cancelled")
    assert not (tmp_path / ".omh" / "research" / f"{agent.slug}-report.md").exists()


def test_a_task_handed_in_as_failed_is_offered_again(tmp_path: Path) -> None:
    agent = LiteralAgent(tmp_path)
    slug = agent.call("start", TOPIC=TOPIC)[1]["slug"]
    task = agent.call("next", SLUG=slug)[1]["tasks"][0]
    code, stored = agent.call("submit --failed", SLUG=slug, TASK_ID=task["id"], REASON="no tool")
    assert code == 0 and stored["ok"], agent.said
    offered = agent.call("next", SLUG=slug)[1]
    assert offered["tasks"][0]["role"] == task["role"]
