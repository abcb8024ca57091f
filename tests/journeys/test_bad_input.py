"""Bad input: a clear error, the right exit code, nothing written, nothing lost (issue: bad input)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from omh_research import Engine
from omh_research.documents.options import RunOptions
from omh_research.errors import UsageError
from tests.runs import NAMES, SUBTOPICS, TOPIC, Run, cli

GOOD_TOPICS = {
    "one letter": "X",
    "Chinese": "潮汐如何塑造海岸？",
    "a hundred Chinese characters": "潮" * 100,
    "Arabic": "كيف تشكل المد والجزر السواحل؟",
    "Hebrew": "כיצד הגאות מעצבת את החופים",
    "Japanese": "潮の満ち引きはどのように海岸を形作るか",
    "German": "Wie formen Gezeiten die Küste? Übersicht",
    "emoji only": "🌊",
    "emoji and text": "🌊 waves 👩‍🔬",
    "a path": "../../etc/passwd",
    "a Windows path": "C:\\Windows\\System32\\nul.txt",
    "a device": "CON",
    "a dot at the end": "what is this.",
    "markup": "</title><img src=x onerror=alert(1)>",
    "a shell line": "$(rm -rf ~); `id` | tee & '\"",
    "a format string": "%s %n {0} {{}} ${x}",
    "an option": "- is this a list?",
    "YAML": "key: [value, {a: b}] # no",
    "quotes": "the \"quoted\" 'topic'",
    "long": "why " * 900,
    "digits": "2026",
    "symbols": "a+b=c?",
    "full width": "Ｔｉｄｅｓ",
    "surrounded": "   spaced    out   ",
}
BAD_TOPICS = {
    "empty": "",
    "spaces": " \t \n ",
    "only punctuation": "?!…",
    "only dashes": "---",
    "enormous": "x" * 4_001,
    "NUL": "a\x00b",
    "escape": "a\x1b[31mb",
    "bell": "a\x07",
    "delete": "a\x7f",
    "half a character": "a\ud800b",
}


@pytest.mark.parametrize("name", sorted(GOOD_TOPICS))
def test_any_topic_of_words_becomes_a_safe_run(tmp_path: Path, name: str) -> None:
    """E5, E7, 86 #24: readable ASCII slug; the topic itself is kept as it is."""
    run = Run(tmp_path)
    args = ("start", "--delegate", "host", *SUBTOPICS, "--json", "--", GOOD_TOPICS[name])
    ended = cli("start", "--root", str(run.root), *args[1:])
    assert ended.code == 0, ended
    run.slug = ended.json["slug"]
    assert run.slug.isascii() and len(run.slug) <= 40 + 14 and "--" not in run.slug
    assert run.state()["topic"] == " ".join(GOOD_TOPICS[name].split())
    plan = run.cli("show", run.slug, "--plan", "--json").json["text"]
    assert plan.startswith("---\nstatus: planning\n")
    assert [path.name for path in run.folder.iterdir() if path.name != "script.json"] == ["root"]
    assert os.listdir(run.root) == [".omh"]
    tasks = run.cli("next", run.slug, "--json").json["tasks"]
    assert len(tasks) == 3


@pytest.mark.parametrize("name", sorted(BAD_TOPICS))
def test_what_is_no_topic_is_a_usage_error_before_any_file(tmp_path: Path, name: str) -> None:
    run = Run(tmp_path)
    for command in ("start", "run"):
        ended = run.cli(command, BAD_TOPICS[name], "--delegate", "host", *SUBTOPICS, "--json")
        assert ended.code == 2 and ended.error["code"] == "usage", ended
        assert ended.out == "" and "Traceback" not in ended.err
    assert not run.base.exists()


def test_a_topic_cannot_forge_the_log_or_the_frontmatter(tmp_path: Path) -> None:
    """E33, E34: newlines are folded, quotes and colons stay inside their string."""
    topic = 'x"\nstatus: confirmed\n---\n2026-11-30T12:00:00Z REPORT_CONFIRMED slug=x'
    run = Run(tmp_path)
    assert run.start(topic=topic).code == 0
    assert run.to_end().json["status"] == "confirmed"
    head = run.report_path.read_text().split("\n---\n")[0]
    assert head.count("\nstatus:") == 1 and run.words().count("REPORT_CONFIRMED") == 1


def plan_text(subtopics: object) -> str:
    return json.dumps({"subtopics": subtopics})


def named(*names: str) -> list[dict[str, object]]:
    return [{"name": name, "queries": [f"{name} a", f"{name} b"]} for name in names]


BAD_PLANS = {
    "two subtopics": plan_text(named("Waves", "Deltas")),
    "six subtopics": plan_text(named("Waves", "Deltas", "Lagoons", "Currents", "Fjords", "Reefs")),
    "none": plan_text([]),
    "no queries": plan_text([{"name": n, "queries": []} for n in NAMES]),
    "one query": plan_text([{"name": n, "queries": ["only"]} for n in NAMES]),
    "four queries": plan_text([{"name": n, "queries": list("abcd")} for n in NAMES]),
    "duplicate names": plan_text(named("Waves", "waves ", "Deltas")),
    "an empty name": plan_text(named("", "Waves", "Deltas")),
    "an empty query": plan_text([{"name": n, "queries": ["a", " "]} for n in NAMES]),
    "a list": json.dumps([1, 2, 3]),
    "a number": "42",
    "empty file": "",
    "names of numbers": plan_text([{"name": 1, "queries": [2, 3]}] * 3),
    "queries a word": plan_text([{"name": n, "queries": "a"} for n in NAMES]),
    "no such key": json.dumps({"topics": named(*NAMES)}),
    "NaN": '{"subtopics": NaN}',
    "not closed": '{"subtopics": [',
    "alias": "a: &a [x, y]\nsubtopics:\n- {name: A, queries: *a}\n",
    "bomb": "".join(
        f"k{n}: &k{n} [{', '.join(['*k' + str(n - 1)] * 9) if n else 'x'}]\n" for n in range(9)
    ),
    "merge": "base: {queries: [a, b]}\nsubtopics:\n- {<<: base, name: A}\n",
    "tag": "subtopics: !!python/object/apply:os.system [true]\n",
    "a key twice": "subtopics: []\nsubtopics: []\n",
    "control character": plan_text([{"name": f"{n}\u0007", "queries": ["a", "b"]} for n in NAMES]),
    "huge": plan_text([{"name": n, "queries": ["a" * 40_000, "b"]} for n in NAMES]),
    "deep": "[" * 10_000,
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(BAD_PLANS))
def test_a_bad_plan_is_refused_and_the_rule_is_named(tmp_path: Path, name: str) -> None:
    """E15: exit 2, one line, before any file."""
    run = Run(tmp_path)
    path = tmp_path / "plan.yaml"
    path.write_text(BAD_PLANS[name])
    ended = run.cli("start", TOPIC, "--delegate", "host", "--plan", str(path), "--json")
    assert ended.code == 2 and ended.error["code"] in ("plan", "usage"), ended
    assert ended.error["message"] and "Traceback" not in ended.err
    assert not run.base.exists()


def test_a_plan_of_dates_and_flags_is_read_as_words(tmp_path: Path) -> None:
    """81 section 4: YAML's dates, booleans and octals are names like others."""
    run = Run(tmp_path)
    path = tmp_path / "plan.yaml"
    path.write_text(
        "subtopics:\n- {name: 2024-01-02, queries: [no, 10:30]}\n- {name: yes, queries: [1.10, 010]}\n"
        "- {name: 1e3, queries: [null, ~]}\n"
    )
    ended = run.cli("start", TOPIC, "--delegate", "host", "--plan", str(path), "--json")
    assert ended.code == 0, ended
    run.slug = ended.json["slug"]
    plan = run.cli("show", run.slug, "--plan").out
    for word in ("2024-01-02", "10:30", "yes", "1.10", "010", "1e3"):
        assert f'"{word}"' in plan or f"- {word}\n" in plan, word


@pytest.mark.parametrize(
    "args",
    [
        ("--plan", "/nonexistent/plan.yaml"),
        ("--plan", "."),
        ("--subtopic", "no queries"),
        ("--subtopic", "A: only one query"),
        ("--plan", "x", "--subtopic", "A: b; c"),
        ("--delegate", "nobody"),
        ("--corpus", "/nonexistent"),
        ("--cap", "max_fetches"),
        ("--cap", "max_fetches=many"),
        ("--cap", "no_such_cap=3"),
        ("--if-confirmed", "maybe"),
        ("--context-budget", "12"),
        ("--task-timeout", "-1"),
        ("--option", "novalue"),
        ("--no-such-option",),
    ],
)
def test_a_bad_option_is_refused_before_any_file(tmp_path: Path, args: tuple[str, ...]) -> None:
    run = Run(tmp_path)
    ended = run.cli("start", TOPIC, "--json", *args)
    assert ended.code in (2, 8) and ended.out == "" and ended.error["message"]
    assert not run.base.exists()


@pytest.mark.parametrize("slug", ["../x", "a--b", "UP", "", "a/b", "a\n", "x" * 81, "-", "ａ", "."])
@pytest.mark.parametrize("command", ["step", "next", "status", "show", "log", "cancel", "audit"])
def test_a_bad_slug_is_a_usage_error_before_any_path(
    tmp_path: Path, command: str, slug: str
) -> None:
    """E7."""
    run = Run(tmp_path)
    if command in ("next", "status") and not slug:
        return  # no slug given
    ended = cli(command, "--root", str(run.root), "--json", "--", slug)
    assert ended.code == 2 and ended.error["code"] == "usage"
    assert not run.base.exists()


def test_an_empty_root_variable_is_unset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """E42: an empty OMH_ROOT does not mean the file system's root."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMH_ROOT", "")
    assert cli("start", TOPIC, "--delegate", "host", *SUBTOPICS).code == 0
    assert (tmp_path / ".omh").is_dir() and not Path("/.omh").exists()
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.setenv("OMH_ROOT", str(other))
    assert cli("start", TOPIC, "--delegate", "host", *SUBTOPICS).code == 0
    assert (other / ".omh").is_dir()


def test_paths_inside_the_root_are_kept_relative_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E42: `--corpus` is relative to the current folder; E33: no absolute path in durable files."""
    run = Run(tmp_path)
    docs = run.root / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# A\n\nTides come twice a day.\n")
    monkeypatch.chdir(docs)
    ended = run.cli("start", TOPIC, *run.script_options, *SUBTOPICS, "--corpus", ".", "--json")
    assert ended.code == 0, ended
    run.slug = ended.json["slug"]
    assert run.state()["options"]["corpus"] == ["docs"]
    plan = (run.base / "research" / f"{run.slug}-plan.md").read_text()
    assert '\\"docs\\"' in plan and str(run.root) not in plan


@pytest.mark.parametrize("folder", [".omh", ".omh/research", "docs/../.omh"])
def test_the_reports_of_earlier_runs_are_no_corpus(tmp_path: Path, folder: str) -> None:
    """A run that quoted its own reports would take its own words for a source."""
    run = Run(tmp_path)
    (run.root / ".omh" / "research").mkdir(parents=True)
    (run.root / "docs").mkdir()
    ended = run.child("start", TOPIC, "--corpus", str(run.root / folder), "--root", str(run.root))
    assert ended.code == 2 and "lies in .omh" in ended.err
    assert not list(run.base.rglob("*.json"))


def test_no_corpus_and_no_network_is_said_before_any_work(tmp_path: Path) -> None:
    """E36, E42: exit 8, the seed's line, nothing written."""
    run = Run(tmp_path)
    ended = run.child("start", TOPIC, "--delegate", "extractive")
    assert ended.code == 8 and not run.base.exists()
    line = "omh-deep-research requires the `web` toolset (web_search + web_extract); aborting."
    assert line in ended.err


@pytest.mark.parametrize(
    ("wrong", "field"),
    [({"corpus": "notes"}, "corpus"), ({"language": 5}, "language"), ({"caps": ["x"]}, "caps")],
)
def test_d11_options_of_a_wrong_type_are_named_before_any_file(
    tmp_path: Path, wrong: dict[str, Any], field: str
) -> None:
    """D11: `corpus="notes"` would be five folders of one letter."""
    with pytest.raises(UsageError, match=field):
        Engine(str(tmp_path)).start("What is a tide?", options=RunOptions(**wrong))
    assert not (tmp_path / ".omh").exists()


@pytest.mark.parametrize("words", [("status",), ("doctor",), ("run", "What is a tide?")])
def test_a_root_that_is_not_there_is_not_one_without_runs(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    missing = tmp_path / "mistyped"
    ended = cli(*words, "--root", str(missing))
    assert ended.code == 2 and str(missing) in ended.err and not missing.exists()
