"""Listing every run of a root, fast (spec O1, Q4).

Job: one row a run from its state file, through a cache that heals itself: an entry counts only
while its file's mtime, size and inode are the same. Refuses to fail over one damaged run: its row
says so. The cache is only a cache; a root that cannot be written is listed all the same.
Importers: engine, api, cli.
"""

from __future__ import annotations

import contextlib
import gc
import os
import re
from typing import Literal

import msgspec
from msgspec import Struct

from omh_research.documents.state import MAX_STATE_BYTES, PHASES, SLUG, Spent, parse_state
from omh_research.errors import OmhError
from omh_research.lazy_re import lazy_re
from omh_research.store import disk
from omh_research.store.layout import Layout
from omh_research.store.row import Row, row_of

CACHE_NAME = "runs.msgpack"
CACHE_VERSION = 1
_USUAL_BYTES = 32 * 1024  # room for nearly every state; asking for the most costs time
_PREFIX, _SUFFIX = "research--", ".json"
# In names joined by line feeds: looking through all at once is faster than name by name.
_STATE_NAME = lazy_re(f"^{_PREFIX}{SLUG.pattern}{re.escape(_SUFFIX)}$", re.MULTILINE)
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class _Peek(Struct, frozen=True, kw_only=True, gc=False):
    """The fields of a state that a row shows: decoding these alone is what makes listing fast."""

    slug: str
    topic: str
    phase: str
    delegate: str = ""
    completed_subtopics: tuple[str, ...] = ()
    subtopic_count: int = 0
    batch: int = 0
    synthesis_attempts: int = 0
    started_at: str = ""
    session_id: str = ""
    cancel_requested: bool = False
    blocked_reason: str = ""
    spent: Spent = Spent()
    state_version: Literal[1]


_PEEK = msgspec.json.Decoder(_Peek)


class _Entry(Struct, frozen=True, array_like=True, gc=False):
    mtime_ns: int
    size: int
    inode: int
    row: Row


class _Cache(Struct, frozen=True, array_like=True):
    version: int
    entries: dict[str, _Entry]


class Listing(Struct, frozen=True):
    """All runs of a root, by slug; and the slugs that have a heartbeat or a cancel marker."""

    rows: tuple[Row, ...]
    heartbeats: frozenset[str] = frozenset()
    cancels: frozenset[str] = frozenset()
    orphans: frozenset[str] = frozenset()


def list_runs(layout: Layout, *, use_cache: bool = True) -> Listing:
    """Return every run of the root. Reads only files that changed since the cache was written."""
    if not (disk.check_directory(layout.base) and disk.check_directory(layout.state_dir)):
        return Listing(())
    names = os.listdir(layout.state_dir)
    collecting = gc.isenabled()
    gc.disable()  # thousands of small objects that live on: collecting would only walk them
    try:
        cached = _read_cache(layout) if use_cache else {}
        entries = _entries(layout.state_dir, names, cached, stamped=use_cache)
    finally:
        if collecting:
            gc.enable()
    if use_cache and entries is not cached:
        _write_cache(layout, entries)
    rows = tuple([entry.row for entry in entries.values()])
    if len(names) == len(entries) + 1 and "locks" in names:  # nothing beside states and locks
        return Listing(rows)
    beats, cancels = _stems(names, ".heartbeat"), _stems(names, ".cancel")
    slugs = {row.slug for row in rows}
    ended = (beats | cancels | _stems(names, ".tasks") | _stems(names, ".hook")) - slugs
    return Listing(rows, beats, cancels, ended)


def _stems(names: list[str], ending: str) -> frozenset[str]:
    skip = len(_PREFIX)
    stems = [
        name[skip : -len(ending)]
        for name in names
        if name.endswith(ending) and name.startswith(_PREFIX)
    ]
    return frozenset(stem for stem in stems if SLUG.fullmatch(stem))


def _entries(
    folder: str, names: list[str], cached: dict[str, _Entry], *, stamped: bool
) -> dict[str, _Entry]:
    """Return an entry a state file, by name: `cached` itself while every file is the same."""
    directory = os.open(folder, os.O_RDONLY) if os.open in os.supports_dir_fd else None
    base = "" if directory is not None else folder + os.sep
    try:
        changed, gone = _changed(base, directory, cached)
        is_same = bool(cached) and not changed and not gone
        if is_same and len([1 for name in names if name.endswith(_SUFFIX)]) == len(cached):
            return cached
        fresh: dict[str, _Entry | None] = dict.fromkeys(gone)
        found = _STATE_NAME.findall("\n".join(names))
        new = [name for name in found if name not in cached] if cached else found
        for name in (*changed, *new):
            fresh[name] = _read_entry(base + name, name, directory, stamped)
    finally:
        if directory is not None:
            os.close(directory)
    if not fresh and cached:
        return cached
    merged = {**cached, **fresh}
    return {name: entry for name in sorted(merged) if (entry := merged[name]) is not None}


def _changed(
    base: str, directory: int | None, cached: dict[str, _Entry]
) -> tuple[list[str], list[str]]:
    """Return the cached names whose files are no longer the same, and those that are gone."""
    changed: list[str] = []
    gone: list[str] = []
    stat = os.stat
    for name, entry in cached.items():
        try:
            info = stat(base + name, dir_fd=directory, follow_symlinks=False)
        except OSError:
            gone.append(name)
            continue
        if (
            info.st_mtime_ns != entry.mtime_ns
            or info.st_size != entry.size
            or info.st_ino != entry.inode
        ):
            changed.append(name)
    return changed, gone


def _read_entry(path: str, name: str, directory: int | None, stamped: bool) -> _Entry | None:
    slug = name[len(_PREFIX) : -len(_SUFFIX)]
    try:
        fd = os.open(path, _FLAGS, dir_fd=directory)
        try:
            info = os.fstat(fd) if stamped else None
            data = os.read(fd, _USUAL_BYTES)
            if len(data) == _USUAL_BYTES:
                data += os.read(fd, MAX_STATE_BYTES + 1 - _USUAL_BYTES)
        finally:
            os.close(fd)
    except FileNotFoundError:
        return None
    except OSError as error:
        return _Entry(0, -1, 0, Row(slug, problem=f"cannot be read ({error.strerror})"))
    row = _row(slug, data)
    if info is None:
        return _Entry(0, 0, 0, row)
    return _Entry(info.st_mtime_ns, info.st_size, info.st_ino, row)


def _row(slug: str, data: bytes) -> Row:
    try:
        peek = _PEEK.decode(data)
        if peek.slug != slug or not peek.session_id or peek.phase not in PHASES:
            return _strict_row(slug, data)
    except msgspec.MsgspecError:
        return _strict_row(slug, data)
    return Row(
        slug,
        peek.topic,
        peek.phase,
        peek.delegate,
        len(peek.completed_subtopics),
        peek.subtopic_count,
        peek.batch,
        peek.synthesis_attempts,
        peek.started_at,
        peek.session_id,
        peek.cancel_requested,
        peek.blocked_reason,
        peek.spent,
    )


def _strict_row(slug: str, data: bytes) -> Row:
    """Read a state that does not look like ours in full, to name what is wrong with it."""
    try:
        return row_of(parse_state(data, where=f"research--{slug}.json", slug=slug))
    except OmhError as error:
        return Row(slug, problem=error.message)


def _read_cache(layout: Layout) -> dict[str, _Entry]:
    try:
        if not disk.check_directory(layout.cache_dir):
            return {}
        data = disk.read_bytes(os.path.join(layout.cache_dir, CACHE_NAME))
        cache = msgspec.msgpack.decode(data or b"", type=_Cache)
    except (OmhError, msgspec.MsgspecError):
        return {}
    return cache.entries if cache.version == CACHE_VERSION else {}


def _write_cache(layout: Layout, entries: dict[str, _Entry]) -> None:
    with contextlib.suppress(OmhError, OSError):
        disk.make_directories(layout.base, layout.cache_dir)
        data = msgspec.msgpack.encode(_Cache(CACHE_VERSION, entries))
        path = os.path.join(layout.cache_dir, CACHE_NAME)
        disk.replace(path, data, durable=False)
