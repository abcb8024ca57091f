"""Options that say what a run is: shared by `start`, `run` and `batch`. Importers: cli."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import click

from omh_research.cli.number import Finite
from omh_research.documents.options import RunOptions, check_language
from omh_research.errors import UsageError

MAX_PLAN_BYTES = 1_000_000


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a run to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS = [
    click.option("--plan", "plan_file", type=click.Path(), help="Plan file (YAML or JSON)."),
    click.option("--subtopic", "subtopic", multiple=True, help='"NAME: query; query"; repeat.'),
    click.option("--delegate", default=None, help="extractive (default), host, command, llm, …"),
    click.option("--corpus", multiple=True, type=click.Path(), help="Folder of documents; repeat."),
    click.option("--bundle", type=click.Path(), help="Literature bundle to use as the source."),
    click.option("--language", default="", help="Language of the report (else the topic's)."),
    click.option("--cap", multiple=True, help="NAME=VALUE, lowers a cap; repeat."),
    click.option("--max-cost", type=Finite(min=0), default=None, help="US dollars."),
    click.option(
        "--max-tokens", type=click.IntRange(0, 10**12), default=0, help="Hard cap (0: none)."
    ),
    click.option("--max-time", type=Finite(min=0), default=0, help="Seconds, hard cap."),
    click.option("--require-quotes/--no-require-quotes", default=None, help="Quote every fact."),
    click.option("--host-tools", default=None, help="Tools the host has: web_search,web_extract."),
    click.option("--context-budget", type=click.IntRange(2_000, 2_000_000), default=None,
                 help="Characters of findings that a synthesist is given (40000)."),
    click.option("--task-timeout", type=Finite(0, 86_400), default=0.0, help="Seconds."),
    click.option("--option", "delegate_option", multiple=True, help="KEY=VALUE for the delegate."),
    click.option("--command", "command_line", default="", help="Command delegate: the program."),
    click.option("--preset", default="", help="Command delegate: hermes, claude, codex, …"),
    click.option("--model", default="", help="LLM delegate: the model."),
    click.option(
        "--rounds",
        type=click.IntRange(1, 5),
        is_flag=False,
        flag_value=5,
        default=1,
        help="Rounds of search (2 to 5; without a number 5).",
    ),
    click.option("--panel", type=click.IntRange(0, 7), default=0, help="Votes a claim: 3, 5, 7."),
    click.option("--dry-run", is_flag=True, help="Only say what it would cost; write nothing."),
    click.option("--if-confirmed", type=click.Choice(["refresh", "view", "cancel"]), default=None,
                 help="A confirmed report on the topic: research anew, print its path, or stop "
                 "(asked on a terminal, else view)."),
]  # fmt: skip


def make_options(root: str, given: dict[str, Any]) -> tuple[str, RunOptions]:
    """Return the delegate's name and the run's options.

    Raises:
        UsageError, PlanError: an option is wrong; nothing was written.
    """
    subtopics = _subtopics(given["plan_file"], given["subtopic"])
    delegate_options = dict(_pair(text, "--option") for text in given["delegate_option"])
    for key, value in (
        ("command", given["command_line"]),
        ("preset", given["preset"]),
        ("model", given["model"]),
    ):
        if value:
            delegate_options[key] = value
    delegate = given["delegate"] or _implied(given)
    tools = given["host_tools"]
    options = RunOptions(
        corpus=tuple(stored_path(root, path) for path in given["corpus"]),
        bundle=stored_path(root, given["bundle"]) if given["bundle"] else "",
        language=check_language(given["language"]) if given["language"] else "",
        rounds=given["rounds"],
        panel=_panel(given["panel"]),
        require_quotes=given["require_quotes"],
        caps=_caps(given["cap"], given["max_cost"]),
        max_tokens=given["max_tokens"],
        max_wall_s=given["max_time"],
        host_tools=None if tools is None else tuple(t for t in tools.split(",") if t.strip()),
        landscape=tuple(given.get("landscape", ())),
        subtopics=subtopics,
        context_budget=given["context_budget"] or 40_000,
        task_timeout_s=given["task_timeout"],
        delegate_options=delegate_options,
    )
    return delegate, options


def _implied(given: dict[str, Any]) -> str:
    if given["command_line"] or given["preset"]:
        return "command"
    return "llm" if given["model"] else "extractive"


def stored_path(root: str, path: str) -> str:
    """Return a path as the state keeps it: relative to the root if inside it (spec E42)."""
    absolute = os.path.abspath(path)
    inside = os.path.relpath(os.path.realpath(absolute), os.path.realpath(root))
    if inside == os.pardir or inside.startswith(os.pardir + os.sep) or os.path.isabs(inside):
        return absolute
    return inside.replace(os.sep, "/")


def _subtopics(
    plan_file: str | None, options: tuple[str, ...]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    from omh_research.documents.plan import check_plan, parse_plan_file, parse_subtopic_option

    if plan_file and options:
        raise UsageError("Give either --plan or --subtopic, not both.")
    if plan_file:
        try:
            with open(plan_file, "rb") as stream:
                data = stream.read(MAX_PLAN_BYTES + 1)
        except OSError as error:
            raise UsageError(f"Cannot read the plan {plan_file}: {error.strerror}.") from None
        subtopics = parse_plan_file(data, os.path.basename(plan_file))
        if not subtopics:  # a plan was given: it does not stand for "make one"
            check_plan(subtopics)
    else:
        subtopics = tuple(parse_subtopic_option(text) for text in options)
    return tuple((subtopic.name, subtopic.queries) for subtopic in subtopics)


def _panel(size: int) -> int:
    if size not in (0, 3, 5, 7):
        raise UsageError(f"--panel takes 3, 5 or 7 votes a claim, not {size}.")
    return size


def _pair(text: str, option: str) -> tuple[str, str]:
    key, sign, value = text.partition("=")
    if not sign or not key.strip():
        raise UsageError(f"{option} wants NAME=VALUE, not {text!r}.")
    return key.strip(), value


def _caps(options: tuple[str, ...], max_cost: float | None) -> dict[str, float]:
    caps = {} if max_cost is None else {"max_cost_usd": max_cost}
    for text in options:
        key, value = _pair(text, "--cap")
        _check_cap(key)  # before its number: that there is no such cap is the better advice
        try:
            caps[key] = float(value)
        except ValueError:
            raise UsageError(f"--cap {key} wants a number, not {value!r}.") from None
        if not math.isfinite(caps[key]) or caps[key] < 0:
            raise UsageError(f"--cap {key} wants a finite number, 0 or more, not {value!r}.")
    return caps


def _check_cap(name: str) -> None:
    from omh_research.tools.caps import check_cap_names

    check_cap_names([name])


def unused_head(plan_file: str | None, topic: str, slug: str) -> tuple[str, ...]:
    """Return a note on what a plan file says of the run itself that the call says otherwise.

    Only the subtopics of a plan are used: `topic`, `slug` and `status` are the run's own.
    """
    if not plan_file or not os.path.isfile(plan_file):  # a pipe is read once
        return ()
    from omh_research.documents.names import fold_topic
    from omh_research.documents.plan import plan_head

    with open(plan_file, "rb") as stream:
        head = plan_head(stream.read(MAX_PLAN_BYTES + 1))
    own = {"topic": topic, "slug": slug, "status": "planning"}
    other = [
        f"{key} {head[key][:80]!r}"
        for key, value in own.items()
        if key in head and fold_topic(head[key]) != fold_topic(value)
    ]
    if not other:
        return ()
    return (f"of the plan file only the subtopics are used; not its {', '.join(other)}",)


def lowered_caps(options: RunOptions) -> tuple[str, ...]:
    """Return a sentence for each cap that was asked for above its absolute one (T2)."""
    if not options.caps:
        return ()
    from omh_research.tools.caps import ABSOLUTE_CAPS

    return tuple(
        f"{name}={value:g} is over the absolute cap: {ABSOLUTE_CAPS[name]} is used"
        for name, value in sorted(options.caps.items())
        if name in ABSOLUTE_CAPS and value > ABSOLUTE_CAPS[name]
    )
