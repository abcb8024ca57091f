"""Which plans are on which topic, through a small cache (spec E10, E11, E13, Q4).

Job: the folded topic of every plan, read again only when its file changed. Refuses to fail over a
damaged plan: it has no topic. Importers: start.
"""

from __future__ import annotations

import contextlib
import os

import msgspec
from msgspec import Struct

from omh_research.documents.names import fold_topic
from omh_research.documents.state import SLUG
from omh_research.errors import OmhError
from omh_research.store import disk
from omh_research.store.layout import Layout
from omh_research.store.reader import Reader

CACHE_NAME = "topics.json"
_SUFFIX = "-plan.md"


class _Entry(Struct, frozen=True, array_like=True):
    mtime_ns: int
    size: int
    topic: str


def plans_on(layout: Layout, reader: Reader, folded: str) -> list[str]:
    """Return the slugs whose plan is on the folded topic, oldest name first."""
    return sorted(slug for slug, topic in topics_of(layout, reader).items() if topic == folded)


def topics_of(layout: Layout, reader: Reader) -> dict[str, str]:
    """Return the folded topic of every plan, by slug ("" for a damaged one)."""
    if not (disk.check_directory(layout.base) and disk.check_directory(layout.research_dir)):
        return {}
    path = os.path.join(layout.cache_dir, CACHE_NAME)
    known = _read(layout, path)
    entries: dict[str, _Entry] = {}
    changed = False
    with os.scandir(layout.research_dir) as found:
        for file in found:
            slug = file.name.removesuffix(_SUFFIX)
            if not file.name.endswith(_SUFFIX) or not SLUG.fullmatch(slug):
                continue
            info = file.stat(follow_symlinks=False)
            entry = known.get(slug)
            if entry is None or (entry.mtime_ns, entry.size) != (info.st_mtime_ns, info.st_size):
                entry = _Entry(info.st_mtime_ns, info.st_size, _topic(reader, slug))
                changed = True
            entries[slug] = entry
    if changed or len(entries) != len(known):
        with contextlib.suppress(OmhError, OSError):
            disk.make_directories(layout.base, layout.cache_dir)
            disk.replace(path, msgspec.json.encode(entries), durable=False)
    return {slug: entry.topic for slug, entry in entries.items()}


def _topic(reader: Reader, slug: str) -> str:
    try:
        plan = reader.plan(slug)
    except OmhError:
        return ""
    return fold_topic(plan.topic) if plan is not None else ""


def _read(layout: Layout, path: str) -> dict[str, _Entry]:
    try:
        if not disk.check_directory(layout.cache_dir):
            return {}
        return msgspec.json.decode(disk.read_bytes(path) or b"{}", type=dict[str, _Entry])
    except (OmhError, msgspec.MsgspecError):
        return {}
