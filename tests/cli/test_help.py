"""What `--help` says: every command and option has words, and the words are current."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from omh_research.cli import COMMANDS, cli
from omh_research.export.registry import NAMES
from tests.runs import cli as called


def commands(
    group: click.Command, path: tuple[str, ...] = ()
) -> Iterator[tuple[str, click.Command]]:
    """Return every command with its words."""
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            found = group.get_command(context, name)
            assert found is not None
            yield from commands(found, (*path, name))
    else:
        yield " ".join(path), group


def test_every_option_of_every_command_says_what_it_is() -> None:
    found = list(commands(cli))
    assert len(found) >= len(COMMANDS) + 6
    for words, command in found:
        assert command.help, words
        for option in command.params:
            is_shown = isinstance(option, click.Option) and not option.hidden
            assert not is_shown or option.help, f"{words} {option.name}"
        assert "None]" not in command.get_help(click.Context(command)), f"{words}: a range"


def test_d9_the_help_of_mcp_names_the_tools_as_they_are() -> None:
    from omh_research.mcp_tools import TOOLS

    told = called("mcp", "--help").out
    named = set(re.findall(r"\b[a-z]+_[a-z]+\b", told))
    assert named == {tool.name for tool in TOOLS}


def test_o6_export_names_its_forms() -> None:
    assert "auto-deep-research" in called("--help").out
    told = "".join(called("export", "--help").out.split())  # wrapped at hyphens too
    for name in NAMES:
        assert name in told, name
