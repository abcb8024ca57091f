"""The skill's text (D10, D10c): valid by the Agent Skills rules, true to the command line."""

from __future__ import annotations

import re
import shlex
from importlib.resources import files
from pathlib import Path

import click
import pytest
import yaml

from omh_research.cli import cli
from omh_research.skill.installer import ALIASES, OWN_MARK, SKILL

DATA = Path(str(files("omh_research.skill") / "data"))
REFERENCES = sorted((DATA / SKILL / "references").glob("*.md"))
ALLOWED_KEYS = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
COMMAND_BLOCK = re.compile(r"^```bash\n(.*?)^```", re.MULTILINE | re.DOTALL)


def text_of(name: str) -> str:
    return (DATA / name / "SKILL.md").read_text("utf-8")


def commands_of(name: str) -> list[list[str]]:
    return [
        shlex.split(line)
        for block in COMMAND_BLOCK.findall(text_of(name))
        for line in block.splitlines()
        if line.strip()
    ]


@pytest.mark.parametrize("name", [SKILL, *ALIASES])
def test_the_frontmatter_keeps_the_rules_of_agent_skills(name: str) -> None:
    """85-hosts 3.1: name equals folder, known keys only, no flow lists, nothing too long."""
    text = text_of(name)
    head = text.split("---\n")[1]
    meta = yaml.safe_load(head)
    assert set(meta) <= ALLOWED_KEYS
    assert meta["name"] == name and re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    assert 0 < len(meta["description"]) <= 1024 and len(meta["compatibility"]) <= 500
    assert isinstance(meta["metadata"]["version"], str)
    assert OWN_MARK in head and "[" not in head
    assert meta["metadata"]["hermes"]["requires_toolsets"] == ["terminal", "web"]


def test_the_first_words_of_the_description_say_what_it_is() -> None:
    """85-hosts 2.1: a Hermes index shows about 57 characters."""
    meta = yaml.safe_load(text_of(SKILL).split("---\n")[1])
    assert "cited web research" in meta["description"][:57]


@pytest.mark.parametrize("path", REFERENCES, ids=lambda path: path.stem)
def test_each_reference_is_short_and_has_rule_example_and_counter_example(path: Path) -> None:
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= 150
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert {"Rules", "Worked example", "Counter-example"} <= set(headings)


def test_every_reference_is_named_in_the_skill_and_every_named_one_is_there() -> None:
    named = set(re.findall(r"`references/([a-z-]+)\.md`", text_of(SKILL)))
    assert named == {path.stem for path in REFERENCES}
    assert len(named) == 6


def test_the_skill_says_when_to_use_it_and_when_not() -> None:
    text = text_of(SKILL)
    unused = text.split("## When not to use it")[1].split("\n## ")[0]
    for words in ("confirmed report", "One search", "live data", "neither a web search"):
        assert words in unused
    assert (
        "omh-deep-research requires the `web` toolset (web_search + web_extract); aborting." in text
    )
    assert "only when the question" in text and "caps_plan.json" in text


@pytest.mark.parametrize("name", [SKILL, *ALIASES])
def test_every_command_in_the_skill_exists_with_these_options(name: str) -> None:
    commands = commands_of(name)
    assert commands
    for words in commands:
        assert words[0] == "omh-research"
        command = cli.get_command(click.Context(cli), words[1])
        assert command is not None, words
        options = {opt for param in command.params for opt in param.opts}
        assert {word for word in words if word.startswith("--")} <= options, words


def test_the_loops_words_are_the_engines_words() -> None:
    """E38: the status table names every status that `next` can print, with its exit code."""
    from omh_research.cli.render import EXIT_OF

    rows = re.findall(r"^\| (\w+) \| (\d+) \| (.+) \|$", text_of(SKILL), re.MULTILINE)
    told = {status: int(code) for status, code, _ in rows}
    assert told == {"awaiting": 0} | {
        status: code for status, code in EXIT_OF.items() if status not in ("active", "awaiting")
    }


@pytest.mark.parametrize(("name", "words"), [(ALIASES[0], "--rounds 5"), (ALIASES[1], "--panel 3")])
def test_an_alias_is_its_run_command_with_the_argument_passed_whole(name: str, words: str) -> None:
    assert f"omh-research run {words} --delegate host --json" in text_of(name)
    assert commands_of(name)[0][-1] == "$ARGUMENTS"
