"""Which files of a folder are documents, and their names (E33, E42)."""

import os
from pathlib import Path

import pytest

from omh_research.corpus.folder import label_folders, list_folders
from omh_research.errors import UsageError


def test_e42_names_are_relative_and_encoded(tmp_path: Path) -> None:
    folder = tmp_path / "my docs"
    (folder / "sub dir").mkdir(parents=True)
    (folder / "a b.md").write_text("x", "utf-8")
    (folder / "sub dir" / "数据#1?.txt").write_text("x", "utf-8")
    urls = [file.url for file in list_folders([folder]).files]
    assert urls == [
        "corpus:my%20docs/a%20b.md",
        "corpus:my%20docs/sub%20dir/%E6%95%B0%E6%8D%AE%231%3F.txt",
    ]
    assert not any(str(tmp_path) in url for url in urls)


def test_order_is_fixed_and_hidden_files_are_left_out(tmp_path: Path) -> None:
    for name in ("b.md", "a.md", ".hidden.md", ".omh/state/x.md", "z/c.md", "B/d.md"):
        path = tmp_path / "c" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x", "utf-8")
    urls = [file.url for file in list_folders([tmp_path / "c"]).files]
    assert urls == ["corpus:c/a.md", "corpus:c/b.md", "corpus:c/B/d.md", "corpus:c/z/c.md"]


def test_links_loops_and_devices_are_skipped_and_said(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    folder.mkdir()
    outside = tmp_path / "outside.md"
    outside.write_text("secret", "utf-8")
    (folder / "real.md").write_text("x", "utf-8")
    (folder / "out.md").symlink_to(outside)
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe")
    listing = list_folders([folder])
    assert [file.url for file in listing.files] == ["corpus:c/real.md"]
    reasons = {skipped.url: skipped.reason for skipped in listing.skipped}
    assert "link" in reasons["corpus:c/out.md"] and "link" in reasons["corpus:c/loop"]
    assert not hasattr(os, "mkfifo") or "regular" in reasons["corpus:c/pipe"]


def test_two_folders_of_one_name_get_two_labels_and_overlaps_one_entry(tmp_path: Path) -> None:
    one, two = tmp_path / "x/docs", tmp_path / "y/docs"
    for folder in (one, two):
        folder.mkdir(parents=True)
        (folder / "a.md").write_text("x", "utf-8")
    assert label_folders([one, two]) == ("docs", "docs-2")
    assert len(list_folders([one, two]).files) == 2
    assert len(list_folders([tmp_path / "x", one]).files) == 1


def test_a_very_deep_tree_is_walked(tmp_path: Path) -> None:
    deep = tmp_path / "c"
    for _ in range(300):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "a.md").write_text("x", "utf-8")
    assert len(list_folders([tmp_path / "c"]).files) == 1


def test_a_missing_folder_is_a_usage_error_without_its_path(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="none"):
        list_folders([tmp_path / "none"])
