"""Delegates by name: the one place that knows which names exist.

Job: turn `--delegate NAME` and its options into a `Delegate`. Three ways to name one, tried in
this order: a short name below; the name of an entry point in the group `omh_research.delegates`;
a dotted path `package.module:Factory`. Refuses to import a delegate before it is asked for, and
to choose one. Importers: wiring.

A target is a class with `from_options(options, surroundings)` (a class method), or any callable
without arguments. Options are plain JSON values; a delegate refuses those it does not know.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, TypeVar, cast

import msgspec
from msgspec import Struct

from omh_research.delegates.interface import Delegate
from omh_research.errors import PrerequisiteError, UsageError

ENTRY_POINT_GROUP = "omh_research.delegates"

DELEGATES: dict[str, str] = {
    "extractive": "omh_research.delegates.extractive:ExtractiveDelegate",
    "host": "omh_research.delegates.host:HostDelegate",
    "command": "omh_research.delegates.command:CommandDelegate",
    "llm": "omh_research.delegates.llm:LlmDelegate",
    "scripted": "omh_research.delegates.scripted:ScriptedDelegate",
}

RoleText = Callable[[str], str]
"""Gives a role's text by its name (spec D5); an unknown role gives the empty string."""

_Options = TypeVar("_Options", bound=msgspec.Struct)


class Surroundings(Struct, frozen=True):
    """What a delegate may look at besides its options: role texts, and the environment with the
    project's `.env` behind it. Neither ever goes into a state or a log."""

    role_text: RoleText
    environ: Mapping[str, str]


def make(
    name: str,
    options: Mapping[str, object] | None = None,
    *,
    role_text: RoleText | None = None,
    environ: Mapping[str, str] | None = None,
) -> Delegate:
    """Return the delegate called `name`, made with `options`.

    `role_text` resolves `[omh-role:NAME]` (spec D5); without it prompts carry the goal alone.
    `environ` is where keys and OMH_* variables are looked up: the process's environment, unless
    the caller adds the project's `.env` to it.
    Raises `UsageError` for a name nobody has or an option the delegate does not know,
    `PrerequisiteError` when its optional packages are missing.
    """
    target = _load(name)
    from_options = getattr(target, "from_options", None)
    if from_options is not None:
        around = Surroundings(
            role_text=role_text or _no_role_text,
            environ=os.environ if environ is None else environ,
        )
        return cast(Delegate, from_options(dict(options or {}), around))
    if options:
        raise UsageError(
            f"The delegate {name!r} takes no options, but was given {sorted(options)}."
        )
    return cast(Delegate, target())


def known_names() -> tuple[str, ...]:
    """Return every short name, built in or from an installed entry point, sorted."""
    return tuple(sorted({*DELEGATES, *(point.name for point in _entry_points())}))


def read_options(delegate: str, options: Mapping[str, object], into: type[_Options]) -> _Options:
    """Return `options` as the delegate's own frozen option type.

    Values are converted leniently ("30" is the number 30: options may come from a command line
    or the environment). Raises `UsageError` naming an unknown option or a wrong value.
    """
    known = set(into.__struct_fields__)
    unknown = sorted(set(options) - known)
    if unknown:
        raise UsageError(
            f"The delegate {delegate!r} knows no option {', '.join(unknown)}.",
            hint=f"It knows: {', '.join(sorted(known))}.",
        )
    try:
        return msgspec.convert(dict(options), into, strict=False)
    except msgspec.ValidationError as error:
        raise UsageError(f"An option of the delegate {delegate!r} is wrong: {error}.") from error


def _load(name: str) -> Any:
    path = DELEGATES.get(name)
    if path is None:
        for point in _entry_points():
            if point.name == name:
                path = point.value
                break
    if path is None and ":" in name:
        path = name
    if path is None:
        raise UsageError(
            f"No delegate is called {name!r}.",
            hint=f"Known: {', '.join(known_names())}; or give a path like package.module:Factory.",
        )
    return _import(name, path)


def _import(name: str, path: str) -> Any:
    module_name, _, attribute = path.partition(":")
    try:
        module = import_module(module_name)
        return getattr(module, attribute)
    except ModuleNotFoundError as error:
        if name in DELEGATES:
            raise PrerequisiteError(
                f"The delegate {name!r} needs the package {error.name!r}.",
                hint=f"Install it: pip install 'omh-research[{name}]'.",
            ) from error
        raise UsageError(f"The delegate {name!r} cannot be imported: {error}.") from error
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"The delegate {name!r} cannot be imported: {error}.") from error


def _entry_points() -> tuple[Any, ...]:
    # Imported here: reading the installed packages' metadata costs more than the whole module.
    from importlib.metadata import entry_points

    return tuple(entry_points(group=ENTRY_POINT_GROUP))


def _no_role_text(_name: str) -> str:
    return ""
