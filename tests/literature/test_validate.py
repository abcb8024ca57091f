"""A bundle as hostile input: every change is found, nothing crashes (B8)."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from omh_research.errors import DamagedFileError
from omh_research.literature.manifest import Artifact, Manifest, digest, seal, to_json
from omh_research.literature.pool import load_pool
from omh_research.literature.rls_contract import ARTIFACTS, MANIFEST
from omh_research.literature.validate import check_bundle, read_manifest

from .conftest import QUERIES, Runs
from .provider_server import Answer, openalex_body, refuse, work

DEDUPED = ARTIFACTS["candidates_deduped"]


def script(provider: str, query: str) -> Answer:
    start = 3 * QUERIES.index(query)
    return (
        openalex_body([work(start + i) for i in range(4)])
        if provider == "openalex"
        else refuse(404)
    )


@pytest.fixture
def bundle(runs: Runs) -> Path:
    return runs.run(script)[1]


def resealed(folder: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the manifest as a forger would: its own hash is put right again."""
    raw = json.loads((folder / MANIFEST).read_text("utf-8"))
    change(raw)
    raw["manifest_sha256"] = ""
    raw["manifest_sha256"] = digest(to_json(raw))
    (folder / MANIFEST).write_bytes(to_json(raw))


def with_artifact(folder: Path, name: str, data: bytes) -> None:
    """Replace an artifact and put its size and hash right in the manifest."""
    (folder / name).write_bytes(data)
    key = next(k for k, v in ARTIFACTS.items() if v == name)

    def change(raw: dict[str, Any]) -> None:
        raw["artifacts"][key] = {"path": name, "sha256": digest(data), "bytes": len(data)}

    resealed(folder, change)


def test_b8_a_fresh_bundle_holds(bundle: Path) -> None:
    check = check_bundle(str(bundle))
    assert check.problems == () and check.is_usable
    assert len(check.papers) == 16


@pytest.mark.parametrize("name", [MANIFEST, *ARTIFACTS.values()])
def test_b8_one_changed_byte_in_any_file_is_found(bundle: Path, name: str) -> None:
    data = (bundle / name).read_bytes()
    for at in {0, len(data) // 3, len(data) // 2, len(data) - 1}:
        (bundle / name).write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert not check_bundle(str(bundle)).is_usable, at
    (bundle / name).write_bytes(data)
    assert check_bundle(str(bundle)).is_usable


def test_b8_every_byte_of_the_manifest_counts(bundle: Path) -> None:
    data = (bundle / MANIFEST).read_bytes()
    for at in range(0, len(data), 97):
        for changed in (data[:at] + b" " + data[at:], data[:at] + data[at + 1 :], data[:at]):
            if changed != data:
                (bundle / MANIFEST).write_bytes(changed)
                with pytest.raises(DamagedFileError):
                    read_manifest(str(bundle))


@pytest.mark.parametrize("name", [MANIFEST, *ARTIFACTS.values()])
def test_b8_a_missing_file_is_named(bundle: Path, name: str) -> None:
    (bundle / name).unlink()
    check = check_bundle(str(bundle))
    assert not check.is_usable and name in check.problems[0]


@pytest.mark.parametrize("name", [MANIFEST, *ARTIFACTS.values()])
def test_b8_a_link_is_refused_wherever_it_leads(bundle: Path, name: str, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    shutil.move(bundle / name, outside)
    (bundle / name).symlink_to(outside)
    check = check_bundle(str(bundle))
    assert not check.is_usable and "symbolic link" in check.problems[0]


def test_b8_the_folder_itself_may_not_be_a_link(bundle: Path, tmp_path: Path) -> None:
    (tmp_path / "door").symlink_to(bundle)
    assert not check_bundle(str(tmp_path / "door")).is_usable
    assert not check_bundle(str(tmp_path / "nowhere")).is_usable
    os.mkfifo(tmp_path / "fifo")
    assert not check_bundle(str(tmp_path / "fifo")).is_usable


@pytest.mark.parametrize("name", [MANIFEST, DEDUPED])
def test_b8_a_fifo_in_place_of_a_file_does_not_hang(bundle: Path, name: str) -> None:
    (bundle / name).unlink()
    os.mkfifo(bundle / name)
    assert not check_bundle(str(bundle)).is_usable


@pytest.mark.parametrize(
    "path",
    [
        "../outside.jsonl",
        "/etc/passwd",
        "a/b.jsonl",
        "",
        ".",
        "candidates_raw.jsonl",
        "x\x00.jsonl",
    ],
)
def test_b8_a_path_out_of_the_bundle_is_refused(bundle: Path, path: str) -> None:
    def change(raw: dict[str, Any]) -> None:
        raw["artifacts"]["candidates_deduped"]["path"] = path

    resealed(bundle, change)
    assert not check_bundle(str(bundle)).is_usable


@pytest.mark.parametrize("key", ["raw", "normalized", "deduped", "failed", "dropped", "empty_records", "invalid_records"])  # fmt: skip
def test_b8_a_wrong_count_is_found(bundle: Path, key: str) -> None:
    def change(raw: dict[str, Any]) -> None:
        raw["counts"][key] += 1

    resealed(bundle, change)
    assert any(key in p for p in check_bundle(str(bundle)).problems)


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: raw.update(contract_version="rls.v2"),
        lambda raw: raw.update(candidate_schema_version="rls.paper.v2"),
        lambda raw: raw.update(status="fine"),
        lambda raw: raw.update(status="success"),
        lambda raw: raw.update(status="failed"),
        lambda raw: raw.update(failure_code="x"),
        lambda raw: raw.update(surprise=1),
        lambda raw: raw.pop("warnings"),
        lambda raw: raw["artifacts"].pop("provenance"),
        lambda raw: raw["artifacts"].update(extra=raw["artifacts"]["provenance"]),
        lambda raw: raw["counts"].update(raw=-1),
        lambda raw: raw.update(topic="another topic"),
        lambda raw: raw["query_plan"].update(accepted_count=9),
    ],
)
def test_b8_a_forged_manifest_is_refused(
    bundle: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    resealed(bundle, change)
    assert not check_bundle(str(bundle)).is_usable


def deduped_rows(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / DEDUPED).read_text("utf-8").split("\n") if line]


def as_lines(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(msgspec.json.encode(row, order="sorted") + b"\n" for row in rows)


@pytest.mark.parametrize(
    ("field", "value"),
    [("title", ""), ("title", None), ("authors", "Casey"), ("authors", [1]), ("year", 999), ("year", "2020"),
     ("sources", []), ("abstract_status", "maybe"), ("schema_version", "rls.paper.v9"), ("record_type", "book"),
     ("identifiers", {"doi": "10.1000/UPPER"}), ("identifiers", {"doi": "x"}), ("doi", "10.1000/other"),
     ("extra", 1), ("record_id", "")],
)  # fmt: skip
def test_b8_every_line_must_have_the_schema(bundle: Path, field: str, value: object) -> None:
    rows = deduped_rows(bundle)
    rows[3][field] = value
    with_artifact(bundle, DEDUPED, as_lines(rows))
    problems = check_bundle(str(bundle)).problems
    assert problems and f"{DEDUPED} line 4" in problems[0]


@pytest.mark.parametrize(
    "field", ["title", "authors", "identifiers", "sources", "abstract", "schema_version"]
)
def test_b8_a_missing_field_is_found(bundle: Path, field: str) -> None:
    rows = deduped_rows(bundle)
    del rows[0][field]
    with_artifact(bundle, DEDUPED, as_lines(rows))
    assert not check_bundle(str(bundle)).is_usable


def test_b8_duplicate_record_ids_are_found(bundle: Path) -> None:
    rows = deduped_rows(bundle)
    rows[1] = rows[0]
    with_artifact(bundle, DEDUPED, as_lines(rows))
    assert "twice" in check_bundle(str(bundle)).problems[0]


@pytest.mark.parametrize("name", [n for n in ARTIFACTS.values() if n.endswith("l")])
@pytest.mark.parametrize(
    "line",
    [b'{"title": "cut', b"", b"null", b"[]", b'{"year": NaN}', b'{"year": Infinity}', b'{"a": 1, "a": 2}',
     b"[" * 100_000, b'{"a":' * 5_000 + b"1" + b"}" * 5_000, b"\xff\xfe", b"{}", b'{"x": ' + b"9" * 6_000 + b"}",
     b'{"title": "' + b"x" * 2_100_000 + b'"}'],
    ids=["cut", "blank", "null", "list", "nan", "inf", "twice", "deep", "deep-object", "no-utf8", "empty", "digits", "huge"],
)  # fmt: skip
def test_b8_hostile_lines_are_problems_never_crashes(bundle: Path, name: str, line: bytes) -> None:
    with_artifact(bundle, name, (bundle / name).read_bytes() + line + b"\n")
    check = check_bundle(str(bundle))
    assert check.problems and name in check.problems[0]


@pytest.mark.parametrize("name", [n for n in ARTIFACTS.values() if n.endswith("l")])
def test_b8_a_truncated_last_line_is_found(bundle: Path, name: str) -> None:
    with_artifact(bundle, name, (bundle / name).read_bytes()[:-1])
    assert "cut off" in check_bundle(str(bundle)).problems[0]


@pytest.mark.parametrize(
    "data", [b"", b"[]\n", b"{}", b'{"a": NaN}\n', b'{"a":1,"a":2}\n', b'{"b":1}\n']
)
@pytest.mark.parametrize("key", ["dedupe_map", "search_log"])
def test_b8_the_two_documents_are_checked_too(bundle: Path, key: str, data: bytes) -> None:
    with_artifact(bundle, ARTIFACTS[key], data)
    assert not check_bundle(str(bundle)).is_usable


def test_b8_provenance_must_point_into_the_pool(bundle: Path) -> None:
    name = ARTIFACTS["provenance"]
    rows = [json.loads(line) for line in (bundle / name).read_text("utf-8").split("\n") if line]
    rows[0]["canonical_id"] = "doi:10.9999/elsewhere"
    with_artifact(bundle, name, as_lines(rows))
    assert not check_bundle(str(bundle)).is_usable


def test_b15_a_damaged_or_failed_bundle_is_no_source(bundle: Path, runs: Runs) -> None:
    assert len(load_pool(str(bundle))) == 16
    (bundle / DEDUPED).write_bytes(b"")
    with pytest.raises(DamagedFileError, match="does not hold"):
        load_pool(str(bundle))
    _, failed = runs.run(lambda provider, query: refuse(500))
    with pytest.raises(DamagedFileError, match="no_valid_candidates"):
        load_pool(str(failed))


@given(data=st.binary(max_size=400))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_any_bytes_as_manifest_are_a_clean_refusal(tmp_path: Path, data: bytes) -> None:
    folder = tmp_path / "any"
    folder.mkdir(exist_ok=True)
    (folder / MANIFEST).write_bytes(data)
    assert not check_bundle(str(folder)).is_usable


def test_the_manifest_type_and_the_schema_agree() -> None:
    fields = {f.name for f in msgspec.structs.fields(Manifest)}
    assert {"generator", "cache", "attempts", "manifest_sha256"} <= fields
    assert seal(_least_manifest()).manifest_sha256 == seal(seal(_least_manifest())).manifest_sha256


def _least_manifest() -> Manifest:
    return msgspec.convert(
        {
            "contract_version": "rls.v1", "candidate_schema_version": "rls.paper.v1", "search_run_id": "r",
            "topic": "t", "topic_hash": "0" * 64, "domain": None,
            "query_plan": {"source": "q", "sha256": "0" * 64, "requested_count": 0, "accepted_count": 0, "items": []},
            "filters": {}, "provider_policy": {"name": "p", "order": [], "skipped": [], "topup_share": 0.7,
            "topup_floor": 5, "max_results_per_query": 1, "max_total": 1, "preprint_profile": "auto"},
            "attempts": [], "counts": {}, "truncation": {}, "dedupe": {"title_similarity": 0.92,
            "token_jaccard": 0.8, "max_year_gap": 1, "published_preferred": True, "merged": 0},
            "abstract_enrichment": {}, "artifacts": {"x": msgspec.to_builtins(Artifact("a.json", "0" * 64, 0))},
            "status": "failed", "failure_code": "x", "warnings": [], "created_at": "now", "cache": {},
            "generator": {"name": "n", "version": "v"},
        },
        Manifest,
    )  # fmt: skip
