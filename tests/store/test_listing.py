"""Listing runs: the cache heals itself, one damaged run hides no other (O1, Q4; E3, E4)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from omh_research.documents.state import render_state
from omh_research.errors import DamagedFileError
from omh_research.project import Project
from omh_research.store import disk
from omh_research.store.listing import CACHE_NAME, list_runs
from tests.store.parts import a_project, a_state


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return a_project(tmp_path)


def put(project: Project, slug: str, **fields: Any) -> Path:
    path = Path(project.layout.state(slug))
    state = a_state(slug=slug, **fields)
    disk.replace(str(path), render_state(state, written_at="2026-11-30T12:00:00Z", version="1"))
    return path


def slugs(project: Project) -> list[str]:
    return [row.slug for row in list_runs(project.layout).rows]


def cache(project: Project) -> Path:
    return Path(project.layout.cache_dir) / CACHE_NAME


def test_rows_say_what_the_states_say(project: Project) -> None:
    put(project, "b-20261130-0002", topic="B", phase="verify", synthesis_attempts=2, batch=2)
    put(project, "a-20261130-0001", topic="A — 甲", completed_subtopics=("x", "y"))
    for _ in range(2):  # from the files, then from the cache
        first, second = list_runs(project.layout).rows
        assert (first.slug, first.topic, first.done, first.total) == (
            "a-20261130-0001", "A — 甲", 2, 3,
        )  # fmt: skip
        assert (second.phase, second.attempts, second.batch) == ("verify", 2, 2)
        assert not first.problem and not second.problem


def test_an_unchanged_run_is_not_read_again_and_a_changed_one_is(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Q4: and a run that went or came is seen at once."""
    paths = [put(project, f"a-20261130-000{n}") for n in range(4)]
    list_runs(project.layout)
    put(project, "a-20261130-0001", phase="verify")
    paths[2].unlink()
    put(project, "a-20261130-0009")
    opened: list[str] = []
    real = os.open

    def spy(path: Any, *args: Any, **kwargs: Any) -> int:
        opened.append(os.path.basename(str(path)))
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", spy)
    rows = {row.slug[-4:]: row.phase for row in list_runs(project.layout).rows}
    assert rows == {"0000": "search", "0001": "verify", "0003": "search", "0009": "search"}
    read = sorted(name for name in opened if name.endswith(".json") and name != CACHE_NAME)
    assert read == ["research--a-20261130-0001.json", "research--a-20261130-0009.json"]


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 99, b"{}", b"nonsense", b"[9, {}]", os.urandom(200)]
)
def test_a_damaged_cache_heals(project: Project, content: bytes) -> None:
    put(project, "a-20261130-0001")
    list_runs(project.layout)
    whole = cache(project).read_bytes()
    cache(project).write_bytes(content)
    assert slugs(project) == ["a-20261130-0001"]
    assert cache(project).read_bytes() == whole


def test_a_hostile_cache_is_no_way_out(project: Project, tmp_path: Path) -> None:
    """E7: a link in the cache's place is not written through; listing goes on without."""
    put(project, "a-20261130-0001")
    outside = tmp_path / "outside"
    outside.mkdir()
    Path(project.layout.cache_dir).symlink_to(outside)
    assert slugs(project) == ["a-20261130-0001"]
    assert not list(outside.iterdir())


def test_a_damaged_or_newer_run_is_one_row_with_its_reason(project: Project) -> None:
    """E3, E4: and the others are listed as ever, from the cache too."""
    put(project, "good-20261130-0001")
    newer = json.loads(put(project, "newer-20261130-0001").read_bytes())
    Path(project.layout.state("newer-20261130-0001")).write_text(
        json.dumps({**newer, "state_version": 9})
    )
    Path(project.layout.state("cut-20261130-0001")).write_bytes(b'{"phase": "sea')
    Path(project.layout.state("empty-20261130-0001")).write_bytes(b"")
    wrong = Path(project.layout.state("wrong-20261130-0001"))
    wrong.write_bytes(put(project, "tmp-20261130-0001").read_bytes())
    Path(project.layout.state("tmp-20261130-0001")).unlink()
    phase = json.loads(put(project, "phase-20261130-0001").read_bytes())
    Path(project.layout.state("phase-20261130-0001")).write_text(
        json.dumps({**phase, "phase": "confirmed"})
    )
    for _ in range(2):
        rows = {row.slug.split("-")[0]: row.problem for row in list_runs(project.layout).rows}
        assert rows.pop("good") == ""
        assert "newer" in rows["newer"] and "phase" in rows["phase"] and "slug" in rows["wrong"]
        assert all(rows.values()), rows


@pytest.mark.parametrize("kind", ["link", "fifo", "folder", "loop"])
def test_what_is_no_file_is_a_row_with_a_problem_never_a_hang(
    project: Project, tmp_path: Path, kind: str
) -> None:
    """81 section 6."""
    put(project, "good-20261130-0001")
    path = Path(project.layout.state("bad-20261130-0001"))
    outside = tmp_path / "outside.json"
    outside.write_bytes(Path(project.layout.state("good-20261130-0001")).read_bytes())
    if kind == "link":
        path.symlink_to(outside)
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.mkdir()
    rows = {row.slug: row.problem for row in list_runs(project.layout).rows}
    assert rows["good-20261130-0001"] == "" and rows["bad-20261130-0001"]


def test_foreign_names_are_no_runs(project: Project) -> None:
    """E2, E7: only `research--SLUG.json` is a run."""
    put(project, "good-20261130-0001")
    folder = Path(project.layout.state_dir)
    for name in (
        "research--.json", "research--UP.json", "research--a b.json", "research--a--b.json",
        "research-state.json", "interview--a.json", "research--a.json.corrupt-1",
        ".research--x.json.12.tmp", "research--a.heartbeat.json", "research--" + "x" * 200 + ".txt",
    ):  # fmt: skip
        (folder / name).write_text("{}")
    assert slugs(project) == ["good-20261130-0001"]


def test_markers_and_leftovers_are_told_from_runs(project: Project) -> None:
    """O1: heartbeats, cancels, and what is left of runs without a state."""
    put(project, "a-20261130-0001")
    folder = Path(project.layout.state_dir)
    (folder / "research--a-20261130-0001.heartbeat").write_text("{}")
    (folder / "research--a-20261130-0001.cancel").write_text("{}")
    (folder / "research--gone-20261130-0001.cancel").write_text("{}")
    (folder / "research--old-20261130-0001.tasks").mkdir()
    listing = list_runs(project.layout)
    assert listing.heartbeats == {"a-20261130-0001"}
    assert listing.cancels == {"a-20261130-0001", "gone-20261130-0001"}
    assert listing.orphans == {"gone-20261130-0001", "old-20261130-0001"}


def test_a_marker_is_seen_where_there_is_no_folder_of_locks(tmp_path: Path) -> None:
    """E2: a folder made by another tool of the `omh_state` format."""
    project = Project(a_project(tmp_path / "other").settings)
    folder = Path(project.layout.state_dir)
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    put(project, "a-20261130-0001")
    (folder / "research--a-20261130-0001.cancel").write_text("{}")
    assert list_runs(project.layout).cancels == {"a-20261130-0001"}


def test_nothing_there_is_an_empty_list(tmp_path: Path) -> None:
    project = Project(a_project(tmp_path / "a").settings)
    assert list_runs(project.layout).rows == ()
    from omh_research.settings import Settings

    none = Project(Settings(root=str(tmp_path / "none")))
    assert list_runs(none.layout).rows == () and not (tmp_path / "none").exists()


def test_a_linked_folder_of_states_is_refused(project: Project, tmp_path: Path) -> None:
    """E7."""
    outside = tmp_path / "outside"
    Path(project.layout.state_dir).rename(outside)
    Path(project.layout.state_dir).symlink_to(outside)
    with pytest.raises(DamagedFileError):
        list_runs(project.layout)


def test_a_thousand_runs_list_alike_with_and_without_cache(project: Project) -> None:
    for n in range(1000):
        slug = f"topic-{n}-20261130-abcd"
        data = render_state(a_state(slug=slug, topic=f"T {n}"), written_at="", version="1")
        Path(project.layout.state(slug)).write_bytes(data)
    fresh = list_runs(project.layout, use_cache=False).rows
    assert len(fresh) == 1000
    assert list_runs(project.layout).rows == list_runs(project.layout).rows == fresh
