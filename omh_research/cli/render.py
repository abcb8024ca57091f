"""From results to text or JSON; decides nothing. Importers: cli."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from omh_research.documents.display import visible as visible

EXIT_OF = {"active": 0, "confirmed": 0, "blocked": 3, "cancelled": 4, "awaiting": 5}


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object on stdout."""
    click.echo(json.dumps(value, ensure_ascii=False))


def say(text: str) -> None:
    """Print progress or a note on stderr."""
    click.echo(visible(text), err=True)


def is_terminal() -> bool:
    """Tell whether a person sits at stdin and stderr."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
