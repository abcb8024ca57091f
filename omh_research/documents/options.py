"""What a run was started with: kept in its state and, without private paths, in its plan.

Job: the RunOptions type, its reading and its public form. Refuses I/O. Importers: everybody.
"""

from typing import Any

import msgspec
from msgspec import Struct

from omh_research.errors import DamagedFileError, UsageError


class RunOptions(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Options of one run.

    `corpus` and `bundle` are paths, relative to the root where they lie inside it. `caps` are
    overrides of the caps tool. `host_tools` None: not declared, not checked. `require_quotes`
    None: the delegate's default. `subtopics` holds (name, queries) of a given plan until the plan
    file is durable. `max_tokens` and `max_wall_s` (from the start or the last retry) are hard caps,
    0 for none. `delegate_options` are the delegate's own settings (never a key).
    """

    corpus: tuple[str, ...] = ()
    bundle: str = ""
    language: str = ""
    require_quotes: bool | None = None
    panel: int = 0
    rounds: int = 1
    caps: dict[str, float] = {}
    host_tools: tuple[str, ...] | None = None
    landscape: tuple[str, ...] = ()
    subtopics: tuple[tuple[str, tuple[str, ...]], ...] = ()
    notes: tuple[str, ...] = ()
    context_budget: int = 40_000
    task_timeout_s: float = 0
    max_tokens: int = 0
    max_wall_s: float = 0
    delegate_options: dict[str, Any] = {}


def check_language(language: str) -> str:
    """Return a report's language as given: a code (`de`, `zh-Hant`) or its English name (O7).

    Raises:
        UsageError: it is neither.
    """
    parts = language.split("-")
    is_plain = language.isascii() and all(part.isalnum() and len(part) <= 8 for part in parts)
    if not (is_plain and parts[0].isalpha() and 2 <= len(parts[0]) <= 8 and len(parts) <= 4):
        raise UsageError(
            f"{language[:60]!a} is no language.", hint="Give a code such as de, zh-Hant or pt-BR."
        )
    return language


def parse_options(raw: dict[str, Any], *, where: str) -> RunOptions:
    """Return the options held in a state or plan; unknown keys are ignored.

    Raises:
        DamagedFileError: a known key has the wrong type.
    """
    try:
        return msgspec.convert(raw, RunOptions, strict=False)
    except msgspec.ValidationError as error:
        raise DamagedFileError(f"{where}: options are damaged ({error}).") from None


def to_plain(options: RunOptions) -> dict[str, Any]:
    """Return the options as a JSON-ready mapping without defaults."""
    plain: dict[str, Any] = msgspec.to_builtins(options)
    return plain


def public(options: RunOptions) -> dict[str, Any]:
    """Return what a durable file may say: no absolute path, no given plan, no delegate command."""
    plain = to_plain(options)
    for key in ("subtopics", "notes", "delegate_options"):
        plain.pop(key, None)
    if "corpus" in plain:
        plain["corpus"] = [_shown(path) for path in options.corpus]
    if "bundle" in plain:
        plain["bundle"] = _shown(options.bundle)
    return plain


def _shown(path: str) -> str:
    absolute = path.startswith(("/", "\\", "~")) or path[1:2] == ":"
    if absolute or ".." in path.replace("\\", "/").split("/"):
        return "(outside the root)/" + path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
    return path
