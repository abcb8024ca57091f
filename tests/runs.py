"""Whole runs for tests: a topic, a plan, answers that pass the gate, the command line in-process.

The answers are written by hand: three subtopics, one source each, a report that cites all three.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from omh_research.cli import main

TOPIC = "How do tides shape coasts?"
NAMES = ("Moon and Sun", "Funnel bays", "Salt marshes")
STEMS = ("moon-and-sun", "funnel-bays", "salt-marshes")
SUBTOPICS = tuple(
    arg
    for name in NAMES
    for arg in ("--subtopic", f"{name}: {name.lower()} tides; {name.lower()} research")
)
URLS = {name: f"https://{stem}.example/paper" for name, stem in zip(NAMES, STEMS, strict=True)}
CLAIMS = {
    "Moon and Sun": "Spring tides come when the pull of both bodies lines up",
    "Funnel bays": "A narrowing bay raises the water at its head",
    "Salt marshes": "Marsh plants slow the flow and catch the mud",
}


def source_line(n: int, name: str) -> str:
    """Return one SOURCES line."""
    return f"[{n}] About {name} — {URLS[name]} — primary — 2024"


def finding(name: str, gaps: str = "none") -> str:
    """Return a researcher's answer on one subtopic."""
    return (
        f"SUBTOPIC: {name}\nQUERIES_RUN:\n- {name.lower()} tides → one good paper\n"
        f"SOURCES:\n{source_line(1, name)}\n"
        f"SYNTHESIS:\n{CLAIMS[name]} [1].\nGAPS:\n- {gaps}\n"
    )


def report(title: str = "Tides and coasts") -> str:
    """Return a synthesist's answer that the gate lets pass."""
    sections = "\n\n".join(
        f"### {name}\n\n{CLAIMS[name]} [{n}]." for n, name in enumerate(NAMES, 1)
    )
    sources = "\n".join(source_line(n, name) for n, name in enumerate(NAMES, 1))
    return (
        f"# {title}\n\n## Executive Summary\n\n{CLAIMS[NAMES[0]]} [1].\n\n"
        f"## Detailed Findings\n\n{sections}\n\n## Key Takeaways\n\n- {CLAIMS[NAMES[1]]} [2].\n\n"
        f"## Open Questions\n\n- How fast marshes grow is open.\n\n## Sources\n\n{sources}\n"
    )


def verdict(word: str = "PASS", gap: str = "none") -> str:
    """Return a verifier's answer."""
    advice = "APPROVE" if word == "PASS" else "REQUEST_CHANGES"
    return (
        f"VERDICT: {word}\nCONFIDENCE: HIGH\nEVIDENCE:\n| claim | source | holds |\n"
        f"SUBTOPIC COVERAGE:\n| subtopic | covered |\nGAPS:\n- {gap}\nRECOMMENDATION: {advice}\n"
    )


def answers(**other: Any) -> list[dict[str, Any]]:
    """Return a script's replies for a run that is confirmed; `other` replaces one by its role."""
    lines: dict[str, dict[str, Any]] = {
        name: {"role": "researcher", "subtopic": name, "text": finding(name)} for name in NAMES
    }
    lines["synthesist"] = {"role": "research-synthesist", "text": report()}
    lines["verifier"] = {"role": "research-verifier", "text": verdict()}
    for key, change in other.items():
        key = key.replace("_", " ")
        lines[key] = {**lines.get(key, {}), **change}
    return list(lines.values())


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one JSON object on stdout."""
        value = json.loads(self.out)
        assert isinstance(value, dict)
        return value

    @property
    def error(self) -> dict[str, str]:
        """The error of a `--json` failure on stderr."""
        value = json.loads(self.err)
        assert value["ok"] is False
        return dict(value["error"])


class Run:
    """A root, a script for the scripted delegate, and the command line on them."""

    def __init__(self, folder: Path, script: list[dict[str, Any]] | None = None) -> None:
        self.folder = folder
        self.root = folder / "root"
        self.root.mkdir(parents=True, exist_ok=True)
        self.calls_file = folder / "calls.txt"
        self.set_script(answers() if script is None else script)
        self.slug = ""

    def set_script(self, replies: list[dict[str, Any]]) -> None:
        """Write the script anew."""
        (self.folder / "script.json").write_text(json.dumps({"replies": replies}))

    @property
    def script_options(self) -> list[str]:
        """The options that choose the scripted delegate."""
        return [
            "--delegate", "scripted",
            "--option", f"script={self.folder / 'script.json'}",
            "--option", f"calls={self.calls_file}",
        ]  # fmt: skip

    def calls(self) -> list[str]:
        """Return the ids of the tasks that the delegate was asked, in order."""
        if not self.calls_file.exists():
            return []
        return [line.split(" ")[0] for line in self.calls_file.read_text().splitlines()]

    def cli(self, *args: str, stdin: str = "") -> Ended:
        """Run a command in this process."""
        return cli(*args, "--root", str(self.root), stdin=stdin)

    def child(self, *args: str, stdin: str = "", **options: Any) -> Ended:
        """Run a command in a process of its own."""
        return child(*args, "--root", str(self.root), stdin=stdin, **options)

    def start(self, *more: str, topic: str = TOPIC, delegate: str = "scripted") -> Ended:
        """Start the run and remember its slug."""
        chosen = self.script_options if delegate == "scripted" else ["--delegate", delegate]
        ended = self.cli("start", topic, *chosen, *(more or SUBTOPICS), "--json")
        if ended.code == 0:
            self.slug = ended.json["slug"]
        return ended

    def step(self) -> Ended:
        """Advance the run by one phase."""
        return self.cli("step", self.slug, "--json")

    def to_end(self, limit: int = 40) -> Ended:
        """Step until the run ends; return the last step."""
        for _ in range(limit):
            ended = self.step()
            if ended.code != 0 or ended.json["status"] != "active":
                return ended
        raise AssertionError(f"no end in {limit} steps")

    # ---- files

    @property
    def base(self) -> Path:
        """`.omh`."""
        return self.root / ".omh"

    @property
    def state_path(self) -> Path:
        """The state file."""
        return self.base / "state" / f"research--{self.slug}.json"

    def state(self) -> dict[str, Any]:
        """Return the state as it stands on disk."""
        value = json.loads(self.state_path.read_bytes())
        assert isinstance(value, dict)
        return value

    def change_state(self, by: str = "omh-plugin", **changes: Any) -> None:
        """Write the state as another tool of the `omh_state` format does."""
        plain = self.state()
        plain.update(changes)
        plain["_meta"] = {**plain["_meta"], "written_by": by}
        self.state_path.write_text(json.dumps(plain))

    @property
    def report_path(self) -> Path:
        """The report file."""
        return self.base / "research" / f"{self.slug}-report.md"

    def finding_path(self, stem: str) -> Path:
        """One findings file."""
        return self.base / "research" / f"{self.slug}-findings" / f"{stem}.md"

    def words(self) -> list[str]:
        """Return the words of the run's log, each event once."""
        ended = self.cli("log", self.slug, "--json")
        assert ended.code == 0, ended
        return [event["event"] for event in ended.json["events"]]

    def files(self) -> list[str]:
        """Return every file below `.omh`, relative to it, sorted; caches and seeded files not."""
        found = (
            path.relative_to(self.base).as_posix()
            for path in self.base.rglob("*")
            if path.is_file()
        )
        return sorted(
            name for name in found
            if not name.startswith("cache/") and name not in ("README.md", ".gitignore")
        )  # fmt: skip


def cli(*args: str, stdin: str = "") -> Ended:
    """Run a command in this process, its output caught."""
    out, err = _Caught(), _Caught()
    before = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
    code: Any = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main(list(args))
    except SystemExit as ended:
        code = ended.code
    finally:
        sys.stdin = before
    return Ended(int(code or 0), out.text, err.text)


class _Caught(io.TextIOWrapper):
    def __init__(self) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", write_through=True)

    @property
    def text(self) -> str:
        self.flush()
        data = self.buffer
        assert isinstance(data, io.BytesIO)
        return data.getvalue().decode("utf-8")


def child_environment(**more: str) -> dict[str, str]:
    """Return an environment for child processes: offline, no settings of the caller."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("OMH_")}
    return {**kept, "OMH_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1", **more}


def child_command(*args: str) -> list[str]:
    """Return the command line of a child process."""
    return [sys.executable, "-m", "omh_research", *args]


def child(*args: str, stdin: str = "", **options: Any) -> Ended:
    """Run a command in a process of its own."""
    environment = child_environment(**options.pop("environment", {}))
    done = subprocess.run(
        child_command(*args), input=stdin.encode(), capture_output=True, env=environment,
        timeout=120, check=False, **options,
    )  # fmt: skip
    return Ended(
        done.returncode,
        done.stdout.decode("utf-8", "replace"),
        done.stderr.decode("utf-8", "replace"),
    )
