"""A damaged `.omh/config.yaml`: what looks or stops goes on, what researches refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from omh_research.doctor import KEYS, examine
from omh_research.errors import UsageError
from omh_research.settings import Settings, load_settings
from tests.runs import SUBTOPICS, TOPIC, Run

DAMAGED = {
    "no YAML": "lease_s: [",
    "unknown": "leese_s: 5\n",
    "a list": "- 1\n",
    "binary": "\x00\x01",
    "lease of nothing": "lease_s: 0\n",
    "negative lease": "lease_s: -5\n",
    "lease no number": "lease_s: nan\n",
    "endless lease": "lease_s: inf\n",
    "none side by side": "side_by_side: 0\n",
    "many side by side": "side_by_side: 17\n",
    "half side by side": "side_by_side: 1.5\n",
    "negative time-out": "task_timeout_s: -1\n",
    "endless time-out": "host_timeout_s: 1e400\n",
    "hook time-out": "hook_timeout_s: -0.5\n",
    "tiny context": "context_budget: 3\n",
    "a command of parts": "on_confirmed: [rm, -rf]\n",
    "a command of lines": 'on_blocked: "a\\nb"\n',
    "a contact of lines": 'contact: "a\\r\\nb"\n',
}


def damage(run: Run, text: str = "lease_s: [") -> None:
    run.base.mkdir(exist_ok=True)
    (run.base / "config.yaml").write_text(text)


@pytest.mark.parametrize("name", sorted(DAMAGED))
def test_a_value_that_means_nothing_is_refused(tmp_path: Path, name: str) -> None:
    run = Run(tmp_path)
    damage(run, DAMAGED[name])
    with pytest.raises(UsageError, match=r"config\.yaml"):
        load_settings(str(run.root), {})
    told: list[str] = []
    found = load_settings(str(run.root), {}, on_damage=told.append)
    assert found == Settings(root=str(run.root)) and len(told) == 1


def test_both_ends_of_a_range_are_taken(tmp_path: Path) -> None:
    run = Run(tmp_path)
    damage(run, "lease_s: 0.1\nside_by_side: 16\ntask_timeout_s: 0\ncontext_budget: 2000\n")
    found = load_settings(str(run.root), {})
    assert (found.lease_s, found.side_by_side, found.task_timeout_s) == (0.1, 16, 0.0)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("status",), 0), (("status", "SLUG"), 0), (("wait", "SLUG", "--timeout", "0"), 124),
        (("show", "SLUG", "--plan"), 0), (("log", "SLUG"), 0), (("audit", "SLUG"), 7),
        (("recover",), 0), (("watch", "SLUG", "--once"), 0), (("clear", "SLUG", "--yes"), 0),
    ],
)  # fmt: skip
def test_what_looks_goes_on_with_a_warning(
    tmp_path: Path, words: tuple[str, ...], code: int
) -> None:
    """O1, O3: an operator sees the run whatever stands in the configuration."""
    run = Run(tmp_path)
    run.start()
    damage(run)
    ended = run.cli(*(run.slug if word == "SLUG" else word for word in words))
    assert ended.code == code, ended
    assert "warning: .omh/config.yaml" in ended.err and "default settings" in ended.err


def test_e35_a_cancel_is_never_stopped(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.start()
    damage(run)
    asked = run.cli("cancel", run.slug, "--reason", "enough", "--json")
    assert asked.code == 0 and asked.json["status"] == "cancelling"
    (run.base / "config.yaml").unlink()
    assert run.step().code == 4


@pytest.mark.parametrize("command", ["start", "step", "run", "next", "submit", "batch", "retry"])
def test_what_researches_refuses(tmp_path: Path, command: str) -> None:
    """A run must not go on with other settings than it was given."""
    run = Run(tmp_path)
    run.start()
    damage(run)
    before = run.files()
    topics = tmp_path / "topics.txt"
    topics.write_text("Waves\n")
    words = {
        "start": (TOPIC, *SUBTOPICS), "run": (TOPIC, *SUBTOPICS), "batch": (str(topics),),
        "submit": (run.slug, "verify-1"),
    }.get(command, (run.slug,))  # fmt: skip
    ended = run.cli(command, *words, "--json")
    assert ended.code == 2 and "config.yaml" in ended.error["message"]
    assert run.files() == before


def test_o3_doctor_shows_a_damaged_configuration_as_bad(tmp_path: Path) -> None:
    run = Run(tmp_path)
    damage(run)
    ended = run.cli("doctor", "--json")
    assert ended.code == 1 and not ended.json["ok"]
    bad = [row for row in ended.json["checks"] if row["state"] == "bad"]
    assert [row["name"] for row in bad] == ["config.yaml"]
    (run.base / "config.yaml").write_text("lease_s: 30\n")
    assert run.cli("doctor", "--json").code == 0


@pytest.mark.parametrize("kind", ["file", "link"])
@pytest.mark.parametrize(
    "folder", [".omh", ".omh/state", ".omh/state/locks", ".omh/research", ".omh/logs", ".omh/cache"]
)
def test_o3_doctor_says_bad_where_a_run_would_refuse(
    tmp_path: Path, folder: str, kind: str
) -> None:
    """O3: what stands in the way of a run is named, rc 1; a run then indeed ends with 7."""
    run = Run(tmp_path)
    path = run.root / folder
    path.parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "elsewhere").mkdir()
    if kind == "file":
        path.write_text("in the way")
    else:
        path.symlink_to(tmp_path / "elsewhere")
    ended = run.cli("doctor", "--json")
    bad = [row for row in ended.json["checks"] if row["state"] == "bad"]
    assert ended.code == 1 and len(bad) == 1 and folder in bad[0]["detail"]
    assert run.start().code == 7
    assert not list((tmp_path / "elsewhere").glob("*"))


def test_o3_doctor_tells_keys_of_the_root_and_never_shows_them(tmp_path: Path) -> None:
    secret = "k3y-0f-s0m3b0dy"
    (tmp_path / ".env").write_text(
        f"TAVILY_API_KEY={secret}\nexport OPENAI_API_KEY='{secret}'\nNCBI_API_KEY={secret}\n"
    )
    rows = examine(Settings(root=str(tmp_path)), environ={"BRAVE_API_KEY": secret})
    found = {row.name.removeprefix("key "): row for row in rows if row.name.startswith("key ")}
    assert ".env" in found["TAVILY_API_KEY"].detail and found["TAVILY_API_KEY"].state == "ok"
    assert ".env" in found["OPENAI_API_KEY"].detail and found["OPENAI_API_KEY"].state == "ok"
    assert found["BRAVE_API_KEY"].detail == "set (not shown)"
    assert found["SERPER_API_KEY"].detail == "not set"
    assert ".env" in found["NCBI_API_KEY"].detail and found["NCBI_API_KEY"].state == "ok"
    assert secret not in repr(rows)


def test_o3_doctor_names_the_keys_that_are_read() -> None:
    package = Path(__file__).resolve().parents[2] / "omh_research"
    sources = [path.read_text("utf-8") for path in package.rglob("*.py") if path.stem != "doctor"]
    for name in KEYS:
        assert any(f'"{name}"' in source for source in sources), name
