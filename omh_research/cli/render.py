"""From results to text or JSON; decides nothing. Importers: cli."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import Any

import click

from omh_research.documents.display import visible as visible

EXIT_OF = {"active": 0, "confirmed": 0, "blocked": 3, "cancelled": 4, "awaiting": 5}


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object on stdout."""
    click.echo(json.dumps(value, ensure_ascii=False))


def say(text: str) -> None:
    """Print progress or a note on stderr; where nobody can be told, the work goes on."""
    with contextlib.suppress(OSError):
        click.echo(visible(text), err=True)


def is_terminal() -> bool:
    """Tell whether a person sits at stdin and stderr."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def fault_of(error: BaseException) -> str:
    """Return one line about an exception that nobody expected; OMH_DEBUG=1 prints its traceback."""
    if os.environ.get("OMH_DEBUG", "") not in ("", "0"):
        import traceback

        with contextlib.suppress(OSError):
            click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    what = " ".join(f"{type(error).__name__}: {error}".split())[:300]
    if isinstance(error, ImportError):
        return f"The installation is incomplete or damaged ({what}). Install omh-research anew."
    return (
        f"A fault of omh-research, not of your call: {what}. The files are as the last whole step "
        "left them. OMH_DEBUG=1 shows the traceback; please report it."
    )
