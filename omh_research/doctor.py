"""What works here (spec O3): root, locks, extras, delegates, keys, providers.

Job: look, and say it; never print a key. Refuses to repair. Importers: cli.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from omh_research.errors import OmhError
from omh_research.settings import CONFIG_NAME, Settings
from omh_research.store import disk, lock
from omh_research.store.layout import Layout

EXTRAS = {
    "web": ("trafilatura", "pypdfium2"),
    "llm": ("pydantic_ai",),
    "mcp": ("mcp",),
    "report": ("markdown_it", "nh3", "jinja2"),
    "cluster": ("distributed",),
    "i18n": ("icu4py",),
}
KEYS = (
    "TAVILY_API_KEY", "BRAVE_API_KEY", "SERPER_API_KEY", "JINA_API_KEY", "OPENALEX_API_KEY",
    "SEMANTIC_SCHOLAR_API_KEY", "S2_API_KEY", "NCBI_API_KEY", "OMH_LLM_API_KEY", "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
)  # fmt: skip
PROGRAMS = ("hermes", "claude", "codex", "gemini", "opencode")


class Check(Struct, frozen=True):
    """One look: `state` is ok, note (something optional is absent) or bad."""

    name: str
    state: str
    detail: str


def examine(
    settings: Settings,
    *,
    online: bool = False,
    environ: Mapping[str, str] = os.environ,
    damage: Sequence[str] = (),
) -> list[Check]:
    """Return all checks of this installation and root.

    `damage` says what is wrong with the configuration file, for which the defaults stand in.
    """
    rows = [*_root(settings), *_configuration(settings, damage), _full_text()]
    rows += _extras()
    rows += _keys(settings, environ)
    rows += [
        Check(f"program {name}", "ok" if shutil.which(name) else "note",
              "found" if shutil.which(name) else "not found")
        for name in PROGRAMS
    ]  # fmt: skip
    offline = "OMH_OFFLINE is set: no network access" if settings.offline else "allowed"
    rows.append(Check("network", "note" if settings.offline else "ok", offline))
    if online and not settings.offline:
        rows += _providers(settings)
    return rows


def _root(settings: Settings) -> Iterator[Check]:
    layout = Layout(settings.root)
    wrong = list(_folders(layout))
    if wrong:
        yield from wrong
        return
    folder = layout.base if os.path.isdir(layout.base) else settings.root
    try:
        with tempfile.TemporaryDirectory(prefix=".doctor-", dir=folder) as probe:
            disk.replace(os.path.join(probe, "file"), b"x")
            yield Check("root", "ok", f"{settings.root} can be written")
            with lock.held(os.path.join(probe, "lock")):
                held = lock.is_held(os.path.join(probe, "lock"))
            yield Check("locks", "ok" if held else "bad", "kernel locks work" if held else "fail")
    except (OSError, OmhError) as error:
        yield Check("root", "bad", f"{settings.root} cannot be used: {error}")


def _folders(layout: Layout) -> Iterator[Check]:
    """Yield what stands in the way below `.omh/`: a link or file for a folder, one shut to us."""
    folders = (
        layout.base, layout.state_dir, layout.locks_dir, layout.research_dir, layout.logs_dir,
        layout.batch_dir, layout.cache_dir,
    )  # fmt: skip
    shut: list[str] = []
    for folder in folders:
        if folder.startswith(tuple(shut)):
            continue  # it would say the same
        try:
            if disk.check_directory(folder) and not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
                yield Check("root", "bad", f"{layout.relative(folder)} cannot be written")
        except OmhError as error:
            shut.append(folder + os.sep)
            yield Check("root", "bad", f"{layout.relative(folder)} cannot be used: {error}")


def _configuration(settings: Settings, damage: Sequence[str]) -> Iterator[Check]:
    for problem in damage:
        yield Check("config.yaml", "bad", problem)
    if not damage:
        is_there = os.path.lexists(os.path.join(settings.root, ".omh", CONFIG_NAME))
        yield Check("config.yaml", "ok", "read" if is_there else "absent: defaults")


def _keys(settings: Settings, environ: Mapping[str, str]) -> Iterator[Check]:
    """Say which keys a run would find: the environment's, else those of the root's `.env`."""

    from omh_research.providers.web.keys import read_dotenv

    written = read_dotenv(settings.root)
    for name in KEYS:
        if environ.get(name, "").strip():
            yield Check(f"key {name}", "ok", "set (not shown)")
        elif written.get(name):
            yield Check(f"key {name}", "ok", "set, from .env (not shown)")
        else:
            yield Check(f"key {name}", "note", "not set")


def _full_text() -> Check:
    try:
        with sqlite3.connect(":memory:") as memory:
            memory.execute("CREATE VIRTUAL TABLE t USING fts5(x)")
    except sqlite3.Error as error:
        return Check("sqlite fts5", "note", f"absent ({error}); ranking falls back to Python")
    return Check("sqlite fts5", "ok", sqlite3.sqlite_version)


def _extras() -> Iterator[Check]:
    for extra, modules in EXTRAS.items():
        missing = [name for name in modules if importlib.util.find_spec(name) is None]
        if missing:
            hint = f"pip install 'omh-research[{extra}]' brings {', '.join(missing)}"
            yield Check(f"extra {extra}", "note", hint)
        else:
            yield Check(f"extra {extra}", "ok", "installed")


def _providers(settings: Settings) -> Iterator[Check]:
    from omh_research.providers.availability import reach_all

    for name, trouble in reach_all(settings):
        yield Check(f"provider {name}", "ok" if not trouble else "note", trouble or "answers")
