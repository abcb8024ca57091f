"""A bundle appears whole or not at all (B10), whatever the file system does."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from omh_research.errors import StorageError, UsageError
from omh_research.literature.building import EMPTY, BuiltBundle, SearchRun, build
from omh_research.literature.bundle import STALE_S, check_free, write_bundle
from omh_research.literature.manifest import FilterSet, ProviderPolicy, QueryPlan
from omh_research.literature.rls_contract import ARTIFACTS, MANIFEST
from omh_research.literature.validate import check_bundle


def built(topic: str = "Copper") -> BuiltBundle:
    plan = QueryPlan("q.json", "0" * 64, 0, 0, ())
    policy = ProviderPolicy("p", ("openalex",), (), 0.7, 5, 50, 500, "auto")
    return build(
        SearchRun("rls-1", "2026-01-01T00:00:00Z", topic, None, plan, FilterSet(), policy), EMPTY
    )


def test_b10_all_files_and_nothing_else(tmp_path: Path) -> None:
    write_bundle(built(), str(tmp_path / "deep" / "b"))
    assert sorted(os.listdir(tmp_path / "deep")) == ["b"]
    assert sorted(os.listdir(tmp_path / "deep" / "b")) == sorted([MANIFEST, *ARTIFACTS.values()])
    assert check_bundle(str(tmp_path / "deep" / "b")).problems == ()


def test_b10_force_exchanges_the_whole_folder(tmp_path: Path) -> None:
    folder = tmp_path / "b"
    write_bundle(built("one"), str(folder))
    with pytest.raises(UsageError):
        write_bundle(built("two"), str(folder))
    write_bundle(built("two"), str(folder), force=True)
    assert b'"two"' in (folder / MANIFEST).read_bytes()
    assert os.listdir(tmp_path) == ["b"]


@pytest.mark.parametrize("kind", ["file", "link", "strays", "no-manifest"])
def test_b15_force_takes_only_a_bundles_place(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "b"
    if kind == "file":
        folder.write_text("x", "utf-8")
    elif kind == "link":
        (tmp_path / "real").mkdir()
        folder.symlink_to(tmp_path / "real")
    else:
        write_bundle(built(), str(folder))
        if kind == "strays":
            (folder / "notes.txt").write_text("mine", "utf-8")
        else:
            (folder / MANIFEST).unlink()
    before = sorted(p.name for p in tmp_path.rglob("*"))
    with pytest.raises(UsageError):
        write_bundle(built(), str(folder), force=True)
    assert sorted(p.name for p in tmp_path.rglob("*")) == before


def test_an_empty_folder_may_be_filled(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    check_free(str(tmp_path / "b"), force=False)
    write_bundle(built(), str(tmp_path / "b"))
    assert check_bundle(str(tmp_path / "b")).problems == ()


LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
from tests.literature.test_bundle_writing import built, write_bundle, StorageError
try:
    write_bundle(built("new"), sys.argv[1], force=True)
except StorageError as error:
    sys.exit(7)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs resource limits")
@pytest.mark.parametrize("limit", [0, 10, 200])
def test_b10_a_write_that_fails_leaves_the_old_bundle_and_no_litter(
    tmp_path: Path, limit: int
) -> None:
    folder = tmp_path / "b"
    write_bundle(built("old"), str(folder))
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(folder), str(limit)],
        cwd=root,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 7, done.stderr
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before
    assert os.listdir(tmp_path) == ["b"]


@pytest.mark.skipif(
    sys.platform == "win32" or not hasattr(os, "geteuid") or os.geteuid() == 0,
    reason="root may write anywhere",
)
def test_a_read_only_parent_is_a_clean_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(StorageError):
            write_bundle(built(), str(tmp_path / "b"))
    finally:
        tmp_path.chmod(0o755)


def test_what_a_crash_left_is_swept_when_old_and_only_then(tmp_path: Path) -> None:
    for name, age in (
        (".b.1f.building", STALE_S + 60),
        (".b.2f.building", 0),
        (".other.1f.building", STALE_S + 60),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text("x", "utf-8")
        then = time.time() - age
        os.utime(tmp_path / name, (then, then))
    write_bundle(built(), str(tmp_path / "b"))
    assert sorted(os.listdir(tmp_path)) == [".b.2f.building", ".other.1f.building", "b"]
