"""The seal: SHA-256 of every durable file of a run (spec E37).

Job: build `seal.json` before a report is confirmed, and name the files that no longer match.
Refuses to judge contents. Importers: store.writer, audit, engine,
operate.
"""

from __future__ import annotations

import hashlib
import json
import os

from omh_research.documents.state import load_json_object
from omh_research.errors import OmhError
from omh_research.store import disk
from omh_research.store.layout import Layout

SEAL = "seal.json"
SEAL_VERSION = 1


def durable_files(layout: Layout, slug: str) -> list[str]:
    """Return the run's durable files (plan, findings, evidence and texts), sorted; no report."""
    files = [layout.plan(slug)]
    for folder in (layout.findings_dir(slug), layout.evidence_dir(slug), layout.texts_dir(slug)):
        if disk.check_directory(folder):
            with os.scandir(folder) as entries:
                files += [
                    entry.path
                    for entry in entries
                    if entry.is_file(follow_symlinks=False)
                    and not entry.name.endswith(disk.TEMP_SUFFIX)
                    and entry.name != SEAL
                ]
    return sorted(files)


def _hash(path: str) -> str | None:
    data = disk.read_bytes(path, max_bytes=disk.MAX_FILE_BYTES * 4)
    return None if data is None else hashlib.sha256(data).hexdigest()


def make_seal(layout: Layout, slug: str, report: bytes) -> str:
    """Return the text of the seal; `report` is the report as it will read when confirmed."""
    files = {layout.relative(path): _hash(path) for path in durable_files(layout, slug)}
    files = {path: value for path, value in files.items() if value is not None}
    files[layout.relative(layout.report(slug))] = hashlib.sha256(report).hexdigest()
    plain = {"seal_version": SEAL_VERSION, "slug": slug, "files": dict(sorted(files.items()))}
    return json.dumps(plain, ensure_ascii=True, indent=1) + "\n"


def seals_report(layout: Layout, slug: str) -> bool:
    """Tell whether there is a seal, and the report reads as it was sealed."""
    path = layout.evidence(slug, SEAL)
    try:
        data = disk.read_bytes(path, max_bytes=disk.MAX_FILE_BYTES)
        if data is None:
            return False
        seal = load_json_object(data, where=layout.relative(path), max_bytes=disk.MAX_FILE_BYTES)
    except OmhError:
        return False
    listed = seal.get("files")
    report = layout.report(slug)
    return isinstance(listed, dict) and listed.get(layout.relative(report)) == _hash(report)


def broken(layout: Layout, slug: str) -> tuple[list[str], list[str]] | None:
    """Compare the seal with the files.

    Returns (files that hold, problems), or None if there is no seal.

    Raises:
        DamagedFileError: the seal itself cannot be read.
    """
    path = layout.evidence(slug, SEAL)
    data = disk.read_bytes(path, max_bytes=disk.MAX_FILE_BYTES)
    if data is None:
        return None
    seal = load_json_object(data, where=layout.relative(path), max_bytes=disk.MAX_FILE_BYTES)
    listed = seal.get("files")
    wanted = listed if isinstance(listed, dict) else {}
    present = {layout.relative(file): file for file in durable_files(layout, slug)}
    present[layout.relative(layout.report(slug))] = layout.report(slug)
    holds, problems = [], []
    for name, digest in sorted(wanted.items()):
        found = _hash(present[name]) if name in present else None
        if found is None:
            problems.append(f"{name}: sealed, but missing")
        elif found != digest:
            problems.append(f"{name}: changed since it was sealed")
        else:
            holds.append(name)
    problems += [f"{name}: not in the seal" for name in sorted(set(present) - set(wanted))]
    return holds, problems
