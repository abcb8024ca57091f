"""Whether a bundle holds: hashes, sizes, counts, every line's schema, every name (B8).

Job: read a bundle as hostile input and name what is wrong with it; hand out its manifest and
canonical papers only when nothing is. Refuses to repair. Importers: literature, providers.bundle,
cli.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from omh_research.documents.state import load_json_object
from omh_research.errors import DamagedFileError, OmhError
from omh_research.literature import manifest as manifests
from omh_research.literature.building import ProvenanceRow, RawHit, topic_hash
from omh_research.literature.files import check_directory, read_bytes
from omh_research.literature.manifest import Manifest, digest, to_json
from omh_research.literature.record import Paper, is_flat
from omh_research.literature.rls_contract import (
    ARTIFACTS,
    MANIFEST,
    MAX_ARTIFACT_BYTES,
    MAX_LINE_BYTES,
    MAX_MANIFEST_BYTES,
)

MAX_PROBLEMS = 50
_Row = TypeVar("_Row", bound=Struct)


class BundleCheck(Struct, frozen=True):
    """What a check found. `papers` is the canonical pool, () unless nothing is wrong."""

    problems: tuple[str, ...]
    manifest: Manifest | None = None
    papers: tuple[Paper, ...] = ()

    @property
    def is_usable(self) -> bool:
        """True for a bundle that holds and whose run was no failure."""
        return not self.problems and self.manifest is not None and self.manifest.status != "failed"


def check_bundle(folder: str) -> BundleCheck:
    """Return what is wrong with the bundle in `folder`; never raises for its content."""
    problems: list[str] = []
    try:
        problems += _odd_entries(folder)
        manifest = read_manifest(folder)
    except OmhError as error:
        return BundleCheck((*problems, str(error)))
    files: dict[str, bytes] = {}
    for key, name in ARTIFACTS.items():
        try:
            files[key] = _read_artifact(folder, manifest, key, name)
        except OmhError as error:
            problems.append(str(error))
    if problems:
        return BundleCheck(tuple(problems), manifest)
    papers = _check_content(manifest, files, problems)
    if problems:
        return BundleCheck(tuple(problems[:MAX_PROBLEMS]), manifest)
    return BundleCheck((), manifest, papers)


def _odd_entries(folder: str) -> list[str]:
    """Refuse a folder that is a link, or holds one: nothing may lead out of the bundle."""
    if not check_directory(os.path.abspath(folder)):
        raise DamagedFileError(f"There is no bundle at {os.path.basename(folder) or folder}.")
    try:
        with os.scandir(folder) as entries:
            return [f"{e.name} is a symbolic link." for e in entries if e.is_symlink()]
    except OSError as error:
        raise DamagedFileError(f"The bundle cannot be listed: {error.strerror}.") from error


def read_manifest(folder: str) -> Manifest:
    """Return a bundle's manifest after checking it against itself.

    Raises:
        DamagedFileError: missing, not of this contract, or a byte of it was changed.
    """
    data = read_bytes(os.path.join(folder, MANIFEST), max_bytes=MAX_MANIFEST_BYTES)
    if data is None:
        raise DamagedFileError(f"{MANIFEST} is missing: this is no bundle.")
    raw = load_json_object(data, where=MANIFEST, max_bytes=MAX_MANIFEST_BYTES)
    for key, known in (
        ("contract_version", "rls.v1"),
        ("candidate_schema_version", "rls.paper.v1"),
    ):
        if raw.get(key) != known:
            raise DamagedFileError(f"{MANIFEST}: {key} is not {known}.")
    try:
        manifest = msgspec.convert(raw, Manifest)
    except (msgspec.ValidationError, RecursionError) as error:
        raise DamagedFileError(f"{MANIFEST}: {error}.") from None
    if not manifests.is_sealed(manifest, data):
        raise DamagedFileError(f"{MANIFEST}: its content does not match its own hash.")
    return manifest


def _read_artifact(folder: str, manifest: Manifest, key: str, name: str) -> bytes:
    """Return an artifact's bytes once name, size and hash are as the manifest says."""
    if set(manifest.artifacts) != set(ARTIFACTS):
        raise DamagedFileError(f"{MANIFEST}: not exactly the artifacts of this contract.")
    artifact = manifest.artifacts[key]
    if artifact.path != name:
        raise DamagedFileError(f"{MANIFEST}: {key} must be the file {name}.")
    data = read_bytes(os.path.join(folder, name), max_bytes=MAX_ARTIFACT_BYTES)
    if data is None:
        raise DamagedFileError(f"{name} is missing.")
    if len(data) != artifact.bytes:
        raise DamagedFileError(f"{name} has {len(data)} bytes, not {artifact.bytes}.")
    if digest(data) != artifact.sha256:
        raise DamagedFileError(f"{name} does not match its hash.")
    return data


def _check_content(
    manifest: Manifest, files: dict[str, bytes], problems: list[str]
) -> tuple[Paper, ...]:
    """Check every line and every cross-reference; return the canonical papers."""
    raw = _rows(files, "candidates_raw", RawHit, problems)
    hits = _rows(files, "candidates_normalized", Paper, problems)
    papers = _rows(files, "candidates_deduped", Paper, problems)
    provenance = _rows(files, "provenance", ProvenanceRow, problems)
    for key in ("dedupe_map", "search_log"):
        problems += _document_problems(files[key], ARTIFACTS[key])
    if problems:
        return ()
    problems += _count_problems(manifest, len(raw), len(hits), len(papers))
    problems += _reference_problems(hits, papers, provenance)
    problems += _status_problems(manifest)
    return tuple(papers)


def _rows(files: dict[str, bytes], key: str, kind: type[_Row], problems: list[str]) -> list[_Row]:
    found: list[_Row] = []
    for row, problem in read_lines(files[key], ARTIFACTS[key], kind):
        if row is not None:
            found.append(row)
        elif len(problems) < MAX_PROBLEMS:
            problems.append(problem)
    return found


def read_lines(data: bytes, name: str, kind: type[_Row]) -> Iterator[tuple[_Row | None, str]]:
    """Yield each line of a JSONL artifact as (row, "") or (None, what is wrong with it)."""
    if data and not data.endswith(b"\n"):
        yield None, f"{name}: the last line is cut off."
        return
    for number, line in enumerate(data.split(b"\n")[:-1], 1):
        where = f"{name} line {number}"
        try:
            raw = load_json_object(line, where=where, max_bytes=MAX_LINE_BYTES)
            row = msgspec.convert(raw, kind)
        except DamagedFileError as error:
            yield None, str(error)
            continue
        except (msgspec.ValidationError, RecursionError) as error:
            yield None, f"{where}: {error}."
            continue
        if msgspec.json.encode(row, order="sorted") != line:
            yield None, f"{where}: not in canonical form, or with unknown fields."
        elif isinstance(row, Paper) and not is_flat(row):
            yield None, f"{where}: flat and nested fields contradict each other."
        else:
            yield row, ""


def _document_problems(data: bytes, name: str) -> Iterable[str]:
    try:
        value: Any = load_json_object(data, where=name, max_bytes=MAX_ARTIFACT_BYTES)
    except DamagedFileError as error:
        return [str(error)]
    return [] if to_json(value) == data else [f"{name}: not in canonical form."]


def _count_problems(manifest: Manifest, raw: int, normalized: int, deduped: int) -> list[str]:
    counts, attempts = manifest.counts, manifest.attempts
    expected = {
        "raw": raw,
        "normalized": normalized,
        "deduped": deduped,
        "failed": sum(a.status in ("error", "exhausted") for a in attempts),
        "dropped": manifest.truncation.dropped,
        "empty_records": sum(a.empty_records for a in attempts),
        "invalid_records": sum(a.invalid_records for a in attempts),
    }
    problems = [
        f"counts.{name} says {getattr(counts, name)}, the files say {number}."
        for name, number in expected.items()
        if getattr(counts, name) != number
    ]
    if manifest.query_plan.accepted_count != len(manifest.query_plan.items):
        problems.append("query_plan.accepted_count does not match its items.")
    if raw != normalized or manifest.dedupe.merged != normalized - deduped:
        problems.append("raw, normalized, deduped and merged counts contradict each other.")
    return problems


def _reference_problems(
    hits: list[Paper], papers: list[Paper], provenance: list[ProvenanceRow]
) -> list[str]:
    ids = {paper.record_id for paper in papers}
    if len(ids) != len(papers):
        return ["candidates_deduped: a record id occurs twice."]
    problems = []
    if [row.line for row in provenance] != list(range(1, len(hits) + 1)):
        problems.append("provenance: not one line for each line of candidates_normalized.")
    elif any(row.record_id != hit.record_id for row, hit in zip(provenance, hits, strict=True)):
        problems.append("provenance: a record id is not that of its line.")
    if {row.canonical_id for row in provenance} != ids:
        problems.append("provenance: the canonical ids are not those of candidates_deduped.")
    return problems


def _status_problems(manifest: Manifest) -> list[str]:
    is_failed = manifest.status == "failed"
    problems = []
    if is_failed != (manifest.failure_code is not None):
        problems.append("status and failure_code contradict each other.")
    if not is_failed and not manifest.counts.deduped:
        problems.append(f"status is {manifest.status} without a candidate.")
    if manifest.status == "success" and manifest.warnings:
        problems.append("status is success in spite of warnings.")
    if manifest.topic_hash != topic_hash(manifest.topic):
        problems.append("topic_hash is not that of the topic.")
    return problems
