"""Listing every run of a root, fast (spec O1, Q4).

Job: one row a run from its state file, through a cache that heals itself: an entry counts only
while its file's mtime, size and inode are the same. Refuses to fail over one damaged run: its row
says so. The cache is only a cache; a root that cannot be written is listed all the same.
Importers: engine, api, cli.
"""

from __future__ import annotations

import contextlib
import os

import msgspec
from msgspec import Struct

from omh_research.documents.state import MAX_STATE_BYTES, SLUG, Spent, State, parse_state
from omh_research.errors import OmhError
from omh_research.store import disk
from omh_research.store.layout import Layout

CACHE_NAME = "runs.json"
CACHE_VERSION = 1
_PREFIX, _SUFFIX = "research--", ".json"


class Row(Struct, frozen=True, array_like=True):
    """One run at a glance. `problem` says why its state cannot be read ("" when it can)."""

    slug: str
    topic: str = ""
    phase: str = ""
    delegate: str = ""
    done: int = 0
    total: int = 0
    batch: int = 0
    attempts: int = 0
    started_at: str = ""
    session_id: str = ""
    cancel_requested: bool = False
    blocked_reason: str = ""
    spent: Spent = Spent()
    problem: str = ""


class _Entry(Struct, frozen=True, array_like=True):
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
    folder = layout.state_dir
    if not (disk.check_directory(layout.base) and disk.check_directory(folder)):
        return Listing(())
    cached = _read_cache(layout) if use_cache else {}
    entries: dict[str, _Entry] = {}
    beats: list[str] = []
    cancels: list[str] = []
    replies: list[str] = []
    changed = False
    directory = os.open(folder, os.O_RDONLY) if os.open in os.supports_dir_fd else None
    try:
        for name in os.listdir(folder):
            if not name.startswith(_PREFIX):
                continue
            stem, dot, kind = name[len(_PREFIX) :].partition(".")
            if dot and kind == "json":
                if SLUG.fullmatch(stem) is None:
                    continue
                path = name if directory is not None else os.path.join(folder, name)
                entry = _entry(path, stem, cached.get(stem), directory)
                if entry is not None:
                    changed = changed or entry is not cached.get(stem)
                    entries[stem] = entry
            elif kind == "heartbeat":
                beats.append(stem)
            elif kind == "cancel":
                cancels.append(stem)
            elif kind == "tasks":
                replies.append(stem)
    finally:
        if directory is not None:
            os.close(directory)
    if use_cache and (changed or len(entries) != len(cached)):
        _write_cache(layout, entries)
    rows = tuple(entries[slug].row for slug in sorted(entries))
    ended = frozenset([*beats, *cancels, *replies]) - frozenset(entries)
    return Listing(rows, frozenset(beats), frozenset(cancels), ended)


def _entry(path: str, slug: str, known: _Entry | None, directory: int | None) -> _Entry | None:
    try:
        info = os.stat(path, dir_fd=directory, follow_symlinks=False)
        if (
            known is not None
            and info.st_mtime_ns == known.mtime_ns
            and info.st_size == known.size
            and info.st_ino == known.inode
        ):
            return known
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory)
        try:
            data = os.read(fd, MAX_STATE_BYTES + 1)
        finally:
            os.close(fd)
    except FileNotFoundError:
        return None
    except OSError as error:
        return _Entry(0, -1, 0, Row(slug, problem=f"cannot be read ({error.strerror})"))
    return _Entry(info.st_mtime_ns, info.st_size, info.st_ino, _row(slug, data))


def _row(slug: str, data: bytes) -> Row:
    try:
        state = msgspec.json.decode(data, type=State)
        if state.slug != slug or not state.session_id:
            state = parse_state(data, where=f"research--{slug}.json", slug=slug)
    except msgspec.MsgspecError:
        try:
            state = parse_state(data, where=f"research--{slug}.json", slug=slug)
        except OmhError as error:
            return Row(slug, problem=error.message)
    except OmhError as error:
        return Row(slug, problem=error.message)
    return Row(
        slug,
        state.topic,
        state.phase,
        state.delegate,
        len(state.completed_subtopics),
        state.subtopic_count,
        state.batch,
        state.synthesis_attempts,
        state.started_at,
        state.session_id,
        state.cancel_requested,
        state.blocked_reason,
        state.spent,
    )


def _read_cache(layout: Layout) -> dict[str, _Entry]:
    try:
        if not disk.check_directory(layout.cache_dir):
            return {}
        data = disk.read_bytes(os.path.join(layout.cache_dir, CACHE_NAME))
        cache = msgspec.json.decode(data or b"", type=_Cache)
    except (OmhError, msgspec.MsgspecError):
        return {}
    return cache.entries if cache.version == CACHE_VERSION else {}


def _write_cache(layout: Layout, entries: dict[str, _Entry]) -> None:
    with contextlib.suppress(OmhError, OSError):
        disk.make_directories(layout.base, layout.cache_dir)
        data = msgspec.json.encode(_Cache(CACHE_VERSION, entries))
        path = os.path.join(layout.cache_dir, CACHE_NAME)
        disk.replace(path, data, durable=False)
