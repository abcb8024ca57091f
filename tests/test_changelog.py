"""What users can see stands in CHANGELOG.md: commands, options, schemas (80-quality, last line)."""

import re
from collections.abc import Iterator
from pathlib import Path

import click

from omh_research.cli import cli

ROOT = Path(__file__).resolve().parents[1]


def _words(command: click.Command, context: click.Context) -> Iterator[str]:
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield name
            yield from _words(inner, context)
        return
    for param in command.params:
        if isinstance(param, click.Option):
            yield from (word for word in (*param.opts, *param.secondary_opts) if word[:2] == "--")


def test_every_command_option_and_schema_has_a_line() -> None:
    told = set(
        re.findall(r"--[a-z][a-z-]*|[a-z][a-z_-]*", (ROOT / "CHANGELOG.md").read_text("utf-8"))
    )
    shown = {
        *_words(cli, click.Context(cli)),
        *(p.name.split(".")[0] for p in (ROOT / "state_schema").glob("*.json")),
    }
    assert len(shown) > 100
    assert sorted(shown - told) == []


def test_no_option_is_told_that_is_not_there() -> None:
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert (
        sorted(set(re.findall(r"--[a-z][a-z-]*", text)) - set(_words(cli, click.Context(cli))))
        == []
    )
