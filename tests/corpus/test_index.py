"""The corpus index: a cache that keeps in step, survives damage and company (D6, E42, Q10)."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.corpus import matching
from omh_research.corpus.index import CorpusIndex
from omh_research.corpus.passages import split_passages
from omh_research.errors import ProviderError
from omh_research.providers.folder import FolderSource, open_folders

TEXTS = {
    "elephant.md": "# Elephants\n\nThe elephant is the largest land animal. It weighs six tonnes.\n",
    "大象.txt": "大象是现存最大的陆地动物，体重可达六吨。\n",
    "fil.md": "الفيل هو أكبر الحيوانات البرية ويزن ستة أطنان.\n",
    "Straße.md": "Die Straßen der Stadt sind größer geworden. Der Elefant wiegt sechs Tonnen.\n",
    "slon.txt": "Слон является крупнейшим наземным животным.\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    corpus = tmp_path / "c"
    corpus.mkdir()
    for name, text in TEXTS.items():
        (corpus / name).write_text(text, "utf-8")
    return corpus


def opened(folder: Path, path: Path | None = None) -> CorpusIndex:
    index = CorpusIndex([folder], path)
    index.refresh()
    return index


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("Which animals on land are the largest?", "elephant.md"),
        ("最大的陆地动物是什么？", "%E5%A4%A7%E8%B1%A1.txt"),
        ("ما هو أكبر حيوان بري؟", "fil.md"),
        ("Straße", "Stra%C3%9Fe.md"),
        ("strassen", "Stra%C3%9Fe.md"),
        ("наземные животные", "slon.txt"),
    ],
)
def test_d6_search_finds_in_any_script(folder: Path, query: str, name: str) -> None:
    hits = opened(folder).search(query)
    assert hits[0].url == f"corpus:c/{name}"
    assert hits[0].rank == 1 and hits[0].snippet


def test_d6_an_acronym_in_a_question_is_looked_for(tmp_path: Path) -> None:
    """WHO is a stop word in small letters; only its document says anything of it."""
    (tmp_path / "who.md").write_text("# Salt\n\nThe WHO says five grams a day.\n", "utf-8")
    (tmp_path / "city.md").write_text("# Salt\n\nThe town says little of salt.\n", "utf-8")
    hits = opened(tmp_path).search("What does the WHO say about salt?")
    assert hits[0].url.endswith("who.md")
    assert len(opened(tmp_path).search("What about the WHO?")) == 1


def test_d6_a_page_is_the_whole_document(folder: Path) -> None:
    index = opened(folder)
    long = "".join(f"## Part {i}\n\nSentence {i} of the long text is here.\n\n" for i in range(400))
    (folder / "long.md").write_text(long, "utf-8")
    index.refresh()
    assert index.page("corpus:c/long.md").text == long
    assert index.page("corpus:c/elephant.md").title == "Elephants"
    assert index.page("corpus:c/none.md").state == "not_found"


ANSWER = (
    "# Newton\n\n"
    + "He wrote of the sky, the sea and the stars in letters to many friends. " * 8
    + "Tides are caused by the pull of the moon and the sun on the ocean.\n"
)


@pytest.mark.parametrize(
    ("crowd", "query"),
    [
        ("tides moon " * 40_000, "tides moon"),
        ("## Tides\n\nTides and moon.\n\n" * 400, "What do the tides and the moon do?"),
        ("".join(f"## Day {i}\n\nTides caused {i}.\n\n" for i in range(5_000)), "tides caused"),
    ],
    ids=["log", "headings", "diary"],
)
def test_d6_one_long_document_takes_no_other_documents_place(
    tmp_path: Path, crowd: str, query: str
) -> None:
    """Hits are documents: however many passages of one match, the others are found beside it."""
    (tmp_path / "crowd.md").write_text(crowd, "utf-8")
    (tmp_path / "crowd2.md").write_text(crowd + "Once more.\n", "utf-8")
    (tmp_path / "good.md").write_text(ANSWER, "utf-8")
    hits = opened(tmp_path).search(query, limit=5)
    assert {hit.url.rpartition("/")[2] for hit in hits} == {"crowd.md", "crowd2.md", "good.md"}
    assert [hit.rank for hit in hits] == [1, 2, 3]


def test_d6_each_hit_has_its_documents_best_passage(tmp_path: Path) -> None:
    """The best passage stands for its document, and the documents stand in its order."""
    for name, repeats in (("one", 3), ("two", 1), ("three", 300)):
        filler = "## Part\n\nThe harbour is grey and has many boats.\n\n" * repeats
        told = "## Part\n\nThe harbour lantern burns whale oil.\n" if name == "one" else ""
        (tmp_path / f"{name}.md").write_text(filler + told, "utf-8")
    hits = opened(tmp_path).search("harbour lantern whale oil", limit=2)
    assert hits[0].url.endswith("one.md") and "whale oil" in hits[0].snippet
    assert len(hits) == 2


@pytest.mark.parametrize("is_one_document", [True, False])
def test_d6_words_that_one_long_document_repeats_are_no_common_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_one_document: bool
) -> None:
    """Words of most passages are left out of large searches, not those of most of one document."""
    monkeypatch.setattr(matching, "_COMMON_FROM", 50)
    entry = "## Entry\n\nThe tides and the moon.\n\n"
    for number in range(1 if is_one_document else 100):
        text = entry * (100 if is_one_document else 1)
        (tmp_path / f"log{number}.md").write_text(text, "utf-8")
    (tmp_path / "high.md").write_text("The tides are high in spring.\n", "utf-8")
    (tmp_path / "ocean.md").write_text("Two bulges cross the ocean.\n", "utf-8")
    hits = opened(tmp_path).search("tides moon ocean bulges", limit=200)
    found = {hit.url.rpartition("/")[2] for hit in hits}
    told = {"log0.md", "high.md", "ocean.md"} if is_one_document else {"ocean.md"}
    assert found == told


@given(st.text(alphabet="ab. \n#é。象", max_size=6_000))
def test_passages_joined_are_the_text(text: str) -> None:
    assert "".join(passage for _, passage in split_passages(text)) == text


def test_e42_refresh_follows_changes_and_does_nothing_twice(folder: Path, tmp_path: Path) -> None:
    index = CorpusIndex([folder], tmp_path / "i.sqlite")
    assert index.refresh().added == len(TEXTS)
    assert index.refresh().added == 0
    (folder / "elephant.md").write_text("The whale lives in the sea.\n", "utf-8")
    os.utime(folder / "elephant.md", ns=(1, 1))
    (folder / "slon.txt").unlink()
    changed = index.refresh()
    assert (changed.added, changed.removed) == (1, 1)
    assert index.search("whale sea")[0].url == "corpus:c/elephant.md"
    assert index.search("наземные животные") == []
    assert all(hit.url != "corpus:c/elephant.md" for hit in index.search("largest land animal"))
    index.close()
    again = CorpusIndex([folder], tmp_path / "i.sqlite")
    assert again.refresh().added == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["c", "i.sqlite"]  # no -wal, no -journal


def test_e42_unreadable_documents_are_said(folder: Path) -> None:
    (folder / "empty.md").write_bytes(b"")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (folder / "bin.txt").write_bytes(bytes(range(256)))
    (folder / "hidden.download").write_text("<!doctype html><p>" + "Whales sing. " * 30, "utf-8")
    index = CorpusIndex([folder])
    found = {problem.url: problem.reason for problem in index.refresh().problems}
    assert found["corpus:c/empty.md"].startswith("empty")
    assert ".png" in found["corpus:c/picture.png"]
    assert "binary" in found["corpus:c/bin.txt"]
    assert index.search("whales")[0].url == "corpus:c/hidden.download"


@pytest.mark.parametrize("keep", [0, 10, 100, 5_000, -1])
def test_e42_a_damaged_index_is_rebuilt(folder: Path, tmp_path: Path, keep: int) -> None:
    path = tmp_path / "i.sqlite"
    opened(folder, path).close()
    raw = path.read_bytes()
    path.write_bytes(b"x" * 4_000 if keep < 0 else raw[:keep] + b"\x00" * min(keep, 3_000))
    index = opened(folder, path)
    assert index.search("largest land animal")[0].url == "corpus:c/elephant.md"


def test_e42_a_link_in_the_index_place_is_not_written_through(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "victim"
    target.write_text("precious", "utf-8")
    (tmp_path / "i.sqlite").symlink_to(target)
    index = opened(folder, tmp_path / "i.sqlite")
    assert index.search("largest land animal")
    assert target.read_text("utf-8") == "precious"


def test_e42_without_a_writable_place_the_index_is_private(folder: Path, tmp_path: Path) -> None:
    index = CorpusIndex([folder], tmp_path / "no/such/folder/i.sqlite")
    assert index.refresh().is_cached is False
    assert index.search("largest land animal")


def test_e42_two_processes_build_one_index(folder: Path, tmp_path: Path) -> None:
    for number in range(300):
        (folder / f"n{number}.md").write_text(f"Document {number} of whales. " * 20, "utf-8")
    path = tmp_path / "i.sqlite"
    code = (
        "import sys; from pathlib import Path; from omh_research.corpus.index import CorpusIndex\n"
        "i = CorpusIndex([Path(sys.argv[1])], Path(sys.argv[2])); r = i.refresh()\n"
        "print(r.documents, len(i.search('whales', limit=500)))"
    )
    command = [sys.executable, "-c", code, str(folder), str(path)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]
    answers = {process.communicate()[0].decode().strip() for process in running}
    assert answers == {f"{300 + len(TEXTS)} 300"}
    assert CorpusIndex([folder], path).refresh().added == 0


def test_threads_share_one_source(folder: Path, tmp_path: Path) -> None:
    source = open_folders([folder], tmp_path / "cache")
    found: list[str] = []

    def look() -> None:
        for _ in range(20):
            found.append(source.read(source.search("largest land animal", limit=3)[0].url).text)

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [TEXTS["elephant.md"]] * 80
    names = [path.name for path in (tmp_path / "cache").iterdir()]
    assert len(names) == 1 and names[0].startswith("corpus-") and str(tmp_path) not in names[0]


def test_search_operators_in_a_question_are_inert(folder: Path) -> None:
    index = opened(folder)
    for query in (
        '"',
        "a OR",
        "NEAR(x, 2)",
        "head:elephant",
        "elephant*",
        "' ; DROP TABLE meta",
        "",
    ):
        assert isinstance(index.search(query), list)
    assert index.search("elephant")


def test_the_source_refuses_other_addresses(folder: Path) -> None:
    source = FolderSource([folder])
    assert source.read("https://example.org/").state == "refused"
    assert source.read(str(folder / "elephant.md")).state == "refused"
    assert source.read("corpus:c/../../etc/passwd").state == "not_found"
    assert source.report().documents == len(TEXTS)


def test_a_broken_database_under_the_source_is_unknown_not_empty(folder: Path) -> None:
    source = FolderSource([folder])
    source.search("elephant", limit=1)
    assert source._index is not None
    source._index._connection.close()
    with pytest.raises(ProviderError):
        source.search("elephant", limit=1)
    assert source.read("corpus:c/elephant.md").state == "error"
