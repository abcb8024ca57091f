"""Every file that is not read is named or counted, in lines that fit a terminal (E43)."""

from pathlib import Path

import pytest

from omh_research.corpus import reading
from omh_research.corpus.index import CorpusIndex
from omh_research.corpus.notes import MAX_NAME_CHARS, notes_of


def notes(folder: Path) -> tuple[str, ...]:
    return notes_of(CorpusIndex([folder]).refresh(), ("c",))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    corpus = tmp_path / "c"
    corpus.mkdir()
    (corpus / "a.md").write_text("Tides rise and fall.\n", "utf-8")
    return corpus


def test_e43_nothing_left_out_is_nothing_said(folder: Path) -> None:
    (folder / ".omh").mkdir()
    (folder / ".omh" / "report.md").write_text("A report of ours.\n", "utf-8")
    (folder / "README").write_text("A file without a suffix is read as text.\n", "utf-8")
    assert notes(folder) == ()


def test_e43_hidden_files_and_folders_are_counted(folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("not looked into", "utf-8")
    (folder / "sub").mkdir()
    assert notes(folder) == ("1 hidden folder passed over",)
    for name in (".x.txt", "sub/.y.txt"):
        (folder / name).write_text("hidden", "utf-8")
    assert notes(folder) == ("2 hidden files and 1 hidden folder passed over",)


def test_e43_each_reason_names_three_and_counts_the_rest(folder: Path) -> None:
    for number in range(5):
        (folder / f"{number}.png").write_bytes(b"\x89PNG")
    names = ", ".join(f"corpus:c/{number}.png" for number in range(3))
    assert notes(folder) == (f"not read (unsupported: .png files): {names} and 2 more",)


def test_e43_a_long_name_is_cut_in_its_middle(folder: Path) -> None:
    deep = folder
    for _ in range(12):
        deep /= "a folder of a long name " * 2
    deep.mkdir(parents=True)
    (deep / "picture.png").write_bytes(b"\x89PNG")
    (note,) = notes(folder)
    assert "corpus:c/a%20folder" in note and note.endswith("/picture.png") and "…" in note
    assert len(note) < MAX_NAME_CHARS + 60


def test_e43_a_document_read_in_part_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_TEXT_BYTES", 1_000)
    (folder / "long.txt").write_text("Tides rise and fall.\n" * 100, "utf-8")
    (note,) = notes(folder)
    assert note.startswith("read in part (only the first 9") and note.endswith("corpus:c/long.txt")


def test_e43_a_folder_without_documents_says_so(tmp_path: Path) -> None:
    (tmp_path / ".x.txt").write_text("hidden", "utf-8")
    said = ("1 hidden file passed over", "no document that can be read in c")
    assert notes(tmp_path) == said
