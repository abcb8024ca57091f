"""The fetch record: rows durable as they happen, torn tails, texts by their hash (T5, T19; E33)."""

from __future__ import annotations

import hashlib
import json
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from omh_research.documents.source import Fetch, Hit
from omh_research.errors import DamagedFileError, StorageError
from omh_research.project import Project
from omh_research.store.sources import FETCH_LEDGER, Sources
from tests.store.fault_os import faulty_disk
from tests.store.parts import SLUG, a_project

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


def a_row(n: int = 1, **fields: object) -> Fetch:
    base = Fetch("fetch", "ok", "2026-11-30T12:00:00Z", charge=1)
    return replace(base, canonical_url=f"https://a.example/{n}", **fields)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return a_project(tmp_path)


def sources(project: Project) -> Sources:
    return Sources(project.layout, SLUG, lambda url: url)


def ledger(project: Project) -> Path:
    return Path(project.layout.evidence(SLUG, FETCH_LEDGER))


def test_rows_are_found_by_another_process_in_order(project: Project) -> None:
    first = sources(project)
    for n in (2, 1, 3):
        first.record(a_row(n))
    assert [row.canonical_url[-1] for row in sources(project).rows()] == ["2", "1", "3"]


def test_a_row_is_one_line_durable_on_return(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E1: one write and one sync a line (and the folder once, for the new file)."""
    record = sources(project)
    with faulty_disk(monkeypatch) as fake:
        record.record(a_row(1))
        assert fake.count("write") == 1
        before = fake.count("fsync")
        record.record(a_row(2))
        assert (fake.count("write"), fake.count("fsync")) == (2, before + 1)
    lines = ledger(project).read_text().split("\n")
    assert len(lines) == 3 and lines[-1] == "" and json.loads(lines[0])["status"] == "ok"


def test_the_same_row_is_not_repeated(project: Project) -> None:
    sources(project).record(a_row())
    again = sources(project)
    again.record(a_row())
    again.record(a_row())
    assert len(again.rows()) == 1 and ledger(project).read_text().count("\n") == 1


@settings(max_examples=40, deadline=None)
@given(title=TEXT, query=TEXT, detail=TEXT)
def test_any_words_come_back(
    tmp_path_factory: pytest.TempPathFactory, title: str, query: str, detail: str
) -> None:
    project = a_project(tmp_path_factory.mktemp("s"))
    row = a_row(title=title, query=query, detail=detail)
    sources(project).record(row)
    assert sources(project).rows() == (row,)
    assert len(ledger(project).read_text().splitlines()) == 1 or "\x85" in title + query + detail


def test_a_torn_row_is_skipped_and_then_cut(project: Project) -> None:
    """E33: what was never durable was never acknowledged; the repeat ends in the same bytes."""
    sources(project).record(a_row(1))
    whole = ledger(project).read_bytes()
    sources(project).record(a_row(2))
    both = ledger(project).read_bytes()
    for length in range(len(whole) + 1, len(both)):
        ledger(project).write_bytes(both[:length])
        again = sources(project)
        assert again.rows() == (a_row(1),), length
        again.record(a_row(2))
        assert ledger(project).read_bytes() == both, length


def test_a_damaged_row_in_the_middle_is_named(project: Project) -> None:
    """E3: never dropped silently; an audit must be able to say which line."""
    record = sources(project)
    for n in (1, 2, 3):
        record.record(a_row(n))
    lines = ledger(project).read_bytes().split(b"\n")
    lines[1] = b'{"kind": 5}'
    ledger(project).write_bytes(b"\n".join(lines))
    with pytest.raises(DamagedFileError) as caught:
        sources(project).rows()
    assert "line 2" in str(caught.value) and FETCH_LEDGER in str(caught.value)


def test_a_row_that_cannot_be_written_does_not_count(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = sources(project)
    record.record(a_row(1))
    with faulty_disk(monkeypatch) as fake:
        fake.fail("write", 1, 28)
        with pytest.raises(StorageError):
            record.record(a_row(2))
    assert record.rows() == (a_row(1),)
    record.record(a_row(2))
    assert sources(project).rows() == (a_row(1), a_row(2))


def test_threads_of_one_batch_share_the_record(project: Project) -> None:
    """E17: three researchers side by side; no row lost, glued or doubled."""
    record = sources(project)

    def work(start: int) -> None:
        for n in range(start, start + 20):
            record.record(a_row(n))
            record.hold(f"text {n % 5}")

    threads = [threading.Thread(target=work, args=(start,)) for start in (0, 10, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    urls = [row.canonical_url for row in sources(project).rows()]
    assert sorted(urls) == sorted({f"https://a.example/{n}" for n in range(40)})


def test_a_text_is_held_under_its_hash_and_only_as_itself(project: Project) -> None:
    record = sources(project)
    text = "Die Gezeiten — 潮汐\r\n\x0c"
    sha256 = record.hold(text)
    assert sha256 == hashlib.sha256(text.encode()).hexdigest() == record.hold(text)
    assert sources(project).text(sha256) == text
    path = Path(project.layout.text(SLUG, sha256))
    path.write_bytes(path.read_bytes() + b"!")
    assert sources(project).text(sha256) is None, "changed bytes are no evidence"
    sources(project).hold(text)
    assert sources(project).text(sha256) == text, "and are put right by the same text"


@pytest.mark.parametrize("name", ["", "..", "../../../x", "a" * 63, "A" * 64, "a" * 64 + "\n"])
def test_a_hash_from_a_ledger_never_leads_elsewhere(project: Project, name: str) -> None:
    """E7."""
    assert sources(project).text(name) is None


def test_hit_lists_and_leads_come_back(project: Project) -> None:
    record = sources(project)
    hits = [Hit("https://a.example/1", "One"), Hit("https://b.example/2", "Two", rank=2)]
    sha256 = record.keep_hits(hits)
    record.record(Fetch("search", "ok", "2026-11-30T12:00:00Z", query="q", sha256=sha256))
    again = sources(project)
    assert again.hits(sha256) == hits
    assert again.leads() == {"https://a.example/1", "https://b.example/2"}
    assert again.hits("0" * 64) == []


def test_held_texts_go_by_address_first_fetch_first(project: Project) -> None:
    record = sources(project)
    for text in ("first", "second"):
        record.record(a_row(1, sha256=record.hold(text)))
    record.record(a_row(2, status="timeout"))
    held = sources(project).held()
    assert {url: text.text for url, text in held.items()} == {"https://a.example/1": "first"}
