"""The scope check at a terminal: ask, fold the answers in, go on (spec P7). Importers: cli."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from omh_research.cli.render import is_terminal, say
from omh_research.errors import ScopeError


def scope_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add to a command what narrows its one topic: --landscape, --detail, --no-scope-check."""
    for option in (
        click.option(
            "--scope-check/--no-scope-check",
            default=True,
            help="Ask back about a choice that names no budget, use, region or time.",
        ),
        click.option("--detail", multiple=True, help="Narrows the topic; repeat."),
        click.option("--landscape", multiple=True, help="A candidate to compare; repeat."),
    ):
        command = option(command)
    return command


def narrowed(
    topic: str, details: tuple[str, ...], is_checked: bool, begin: Callable[[str, bool], Any]
) -> Any:
    """Begin with the topic and its details; on a terminal ask what is missing and go on.

    `begin` takes the question and whether its scope is checked. Details given are the answers:
    nothing more is asked.

    Raises:
        ScopeError: the topic is open and nobody sits at a terminal.
    """
    from omh_research.tools.scope import fold_in

    try:
        return begin(fold_in(topic, details), is_checked and not any(d.strip() for d in details))
    except ScopeError as error:
        if not is_terminal():
            raise
        say(error.message)
        answers = [
            str(click.prompt(text, default="", show_default=False, prompt_suffix=" ", err=True))
            for text in error.questions
        ]
        return begin(fold_in(topic, answers), False)
