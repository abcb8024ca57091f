"""A searchable index over folders of documents.

Job: keep a cache of the folders' passages in step with the files (by path, size and time), give
back the documents that answer a question (`matching` finds them), and a document's whole text.
Memory stays flat: one document at a time. Refuses to be a source of truth: it can always be
deleted (E42).
Importers: providers, wiring.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from omh_research.corpus.database import (
    INDEX_VERSION,
    is_current,
    is_private,
    open_database,
)
from omh_research.corpus.folder import CorpusFile, Listing, Skipped, list_folders
from omh_research.corpus.matching import best_passages
from omh_research.corpus.passages import split_passages
from omh_research.corpus.reading import IN_PART, kind_of, read_file
from omh_research.documents.source import Hit, Page
from omh_research.tools.ranking import NEEDS_FOLDING, search_text

PROVIDER = "corpus"
_CHUNK_FILES = 900  # fewer than the variables of an old SQLite: 999
_CHUNK_BYTES = 16_000_000


class Refreshed(Struct, frozen=True):
    """What a refresh did. `problems` are documents not read, or only in part, with the reason.

    Hidden files and folders are passed over and only counted.
    """

    documents: int
    added: int = 0
    removed: int = 0
    problems: tuple[Skipped, ...] = ()
    is_cached: bool = True
    hidden_files: int = 0
    hidden_folders: int = 0


class _Passage(NamedTuple):
    """One row of the passage table; `head` is title and heading, as indexed with the text."""

    id: int
    document: int
    head: str
    text: str


class CorpusIndex:
    """The index of some folders. Safe to use from several threads."""

    def __init__(self, folders: Sequence[Path], path: Path | None = None) -> None:
        """`path` is the cache file (its folder must exist); None keeps the index temporary."""
        self._folders = tuple(folders)
        self._path = path
        self._stamp = _stamp()
        self._lock = threading.RLock()
        self._connection = open_database(path, self._stamp)

    def close(self) -> None:
        """Close the database; a temporary one is gone."""
        with self._lock:
            self._connection.close()

    def refresh(self) -> Refreshed:
        """Bring the index up to date with the files; cheap when nothing changed.

        Another process may do the same at the same time: each takes the files the other has not
        done. Raises `UsageError` for a folder that is none.
        """
        listing = list_folders(self._folders)
        signature = _signature(listing)
        with self._lock:
            try:
                return self._refresh(listing, signature)
            except sqlite3.DatabaseError:
                self._start_over()
                return self._refresh(listing, signature)

    def search(self, query: str, *, limit: int = 10) -> list[Hit]:
        """Return at most `limit` documents, best first, each with its best passage as snippet."""
        if limit < 1:
            return []
        with self._lock:
            best = best_passages(self._connection, query, limit)
            return [self._hit(doc, text, i + 1) for i, (doc, text) in enumerate(best.items())]

    def page(self, url: str) -> Page:
        """Return the document called `url`, whole; state "not_found" when there is none."""
        with self._lock:
            row = self._connection.execute(
                "SELECT state, title, language, date, author, detail, page_starts, first, last "
                "FROM document WHERE url = ?",
                (url,),
            ).fetchone()
            if row is None:
                return Page(url, url, "not_found", detail="no such document in the corpus")
            texts = self._connection.execute(
                "SELECT text FROM passage WHERE id BETWEEN ? AND ? ORDER BY id", row[7:9]
            )
            text = "".join(part for (part,) in texts)
        starts = tuple(json.loads(row[6])) if row[6] else ()
        return Page(
            url, url, row[0], title=row[1], text=text, language=row[2], date=row[3],
            author=row[4], detail=row[5], page_starts=starts,
        )  # fmt: skip

    def _hit(self, document: int, text: str, rank: int) -> Hit:
        url, title, date = self._connection.execute(
            "SELECT url, title, date FROM document WHERE id = ?", (document,)
        ).fetchone()
        return Hit(url, title, " ".join(text.split()), PROVIDER, rank, date)

    def _start_over(self) -> None:
        self._connection.close()
        if self._path is not None:
            with self._path.open("wb"):  # emptied, not removed: others may hold it open
                pass
        self._connection = open_database(self._path, self._stamp)

    def _refresh(self, listing: Listing, signature: str) -> Refreshed:
        added = removed = 0
        if not is_current(self._connection, "signature", signature):
            try:
                removed = self._remove_gone({file.url for file in listing.files})
                files = iter(listing.files)
                while chunk := list(_chunk(files)):
                    added += self._add_chunk(chunk)
                self._finish(signature)
            except sqlite3.OperationalError:
                if is_private(self._connection):
                    raise
                # Read-only, full or locked for too long: go on with a private index.
                self._connection.close()
                self._connection = open_database(None, self._stamp)
                return self._refresh(listing, signature)
        return self._result(listing, added, removed)

    def _result(self, listing: Listing, added: int, removed: int) -> Refreshed:
        rows = self._connection.execute(
            "SELECT url, state, detail FROM document WHERE state <> 'ok' OR detail LIKE ? "
            "ORDER BY url",
            (f"{IN_PART}%",),
        ).fetchall()
        unread = tuple(
            Skipped(url, detail if state == "ok" else f"{state}: {detail}")
            for url, state, detail in rows
        )
        (readable,) = self._connection.execute(
            "SELECT count(*) FROM document WHERE state = 'ok'"
        ).fetchone()
        cached = not is_private(self._connection)
        return Refreshed(
            readable, added, removed, listing.skipped + unread, cached,
            listing.hidden_files, listing.hidden_folders,
        )  # fmt: skip

    def _remove_gone(self, present: set[str]) -> int:
        known = self._connection.execute("SELECT url FROM document").fetchall()
        gone = [url for (url,) in known if url not in present]
        if gone:
            self._connection.execute("BEGIN IMMEDIATE")
            for url in gone:
                self._remove(url)
            self._connection.execute("COMMIT")
        return len(gone)

    def _add_chunk(self, chunk: list[CorpusFile]) -> int:
        """Index one group of files in one transaction, skipping those that are up to date."""
        added = 0
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            # Asked inside the transaction: another process may have done some of them meanwhile.
            known = self._known({file.url for file in chunk})
            (last,) = self._connection.execute("SELECT max(id) FROM passage").fetchone()
            rows: list[_Passage] = []
            for file in chunk:
                row = known.get(file.url)
                if row == (file.size, file.mtime_ns):
                    continue
                if row is not None:
                    self._remove(file.url)
                first = (rows[-1].id if rows else last or 0) + 1
                rows += self._add(file, _read(file), first)
                added += 1
            self._insert_passages(rows)
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        return added

    def _known(self, urls: set[str]) -> dict[str, tuple[int, int]]:
        if not self._connection.execute("SELECT 1 FROM document LIMIT 1").fetchone():
            return {}
        marks = ",".join("?" * len(urls))
        rows = self._connection.execute(
            f"SELECT url, size, mtime_ns FROM document WHERE url IN ({marks})", tuple(urls)
        )
        return {url: (size, mtime_ns) for url, size, mtime_ns in rows}

    def _add(self, file: CorpusFile, page: Page, first: int) -> list[_Passage]:
        """Insert one document's row; returns its passages, numbered from `first`."""
        pieces = list(split_passages(page.text)) if page.state == "ok" else []
        cursor = self._connection.execute(
            "INSERT INTO document(url, size, mtime_ns, state, title, detail, language, date, "
            "author, page_starts, first, last) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
            (file.url, file.size, file.mtime_ns, page.state, page.title, page.detail,
             page.language, page.date, page.author,
             json.dumps(page.page_starts) if page.page_starts else "", first,
             first + len(pieces) - 1),
        )  # fmt: skip
        document = cursor.lastrowid or 0
        return [
            _Passage(number, document, _head(page.title, heading), text)
            for number, (heading, text) in enumerate(pieces, first)
        ]

    def _insert_passages(self, rows: list[_Passage]) -> None:
        self._connection.executemany("INSERT INTO passage VALUES(?,?,?,?)", rows)
        self._connection.executemany(
            "INSERT INTO words(rowid, head, body) VALUES(?,?,?)", map(_words, rows)
        )

    def _remove(self, url: str) -> None:
        document, first, last = self._connection.execute(
            "SELECT id, first, last FROM document WHERE url = ?", (url,)
        ).fetchone()
        passages = self._connection.execute(
            "SELECT id, document, head, text FROM passage WHERE id BETWEEN ? AND ?", (first, last)
        ).fetchall()
        # A contentless table is told what to forget in the very words it was fed.
        self._connection.executemany(
            "INSERT INTO words(words, rowid, head, body) VALUES('delete',?,?,?)",
            [_words(_Passage(*passage)) for passage in passages],
        )
        self._connection.execute("DELETE FROM passage WHERE id BETWEEN ? AND ?", (first, last))
        self._connection.execute("DELETE FROM document WHERE id = ?", (document,))

    def _finish(self, signature: str) -> None:
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.execute("INSERT OR REPLACE INTO meta VALUES('signature', ?)", (signature,))
        self._connection.execute("COMMIT")


def _indexed(text: str) -> str:
    """`search_text`, word by word where only some words need our folding (German, French)."""
    if text.isascii() or not NEEDS_FOLDING.search(text):
        return text
    pieces = text.split(" ")
    foreign = [i for i, piece in enumerate(pieces) if NEEDS_FOLDING.search(piece)]
    if len(foreign) * 4 > len(pieces):
        return search_text(text)
    for i in foreign:
        pieces[i] = search_text(pieces[i])
    return " ".join(pieces)


def _words(passage: _Passage) -> tuple[int, str, str]:
    return passage.id, _indexed(passage.head), _indexed(passage.text)


def _head(title: str, heading: str) -> str:
    return title if not heading or heading == title else f"{title} {heading}"


def _read(file: CorpusFile) -> Page:
    suffix = os.path.splitext(file.path)[1].lower()
    if not kind_of(suffix) and len(suffix) > 1 and not _has_magic(file.path):
        return Page(file.url, file.url, "unsupported", detail=f"{suffix} files")
    return read_file(file.path, file.url)


def _has_magic(path: str) -> bool:
    """A document may hide behind an unknown suffix: PDF and HTML say so in their first bytes."""
    try:
        with open(path, "rb") as stream:
            start = stream.read(1024)
    except OSError:
        return False
    return b"%PDF-" in start or start.lstrip()[:14].lower().startswith(
        (b"<!doctype html", b"<html")
    )


def _chunk(files: Iterator[CorpusFile]) -> Iterator[CorpusFile]:
    total = 0
    for file in islice(files, _CHUNK_FILES):
        yield file
        total += file.size
        if total > _CHUNK_BYTES:
            return


def _signature(listing: Listing) -> str:
    digest = hashlib.sha256()
    for file in listing.files:
        digest.update(f"{file.url}\0{file.size}\0{file.mtime_ns}\n".encode())
    return digest.hexdigest()


def _stamp() -> str:
    """Our version and the installed readers: with another reader the texts may differ."""
    from importlib.util import find_spec

    readers = [name for name in ("trafilatura", "pypdfium2") if find_spec(name)]
    return f"{INDEX_VERSION} sqlite {sqlite3.sqlite_version} {' '.join(readers)}"
