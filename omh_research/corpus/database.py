"""The SQLite file behind the index: schema, opening, damage, who may write.

Job: open a cache that may be missing, damaged, foreign, read-only or busy, and always come back
with a usable connection: the file when it can be used, else a private temporary database that
SQLite removes by itself. Rollback journal, never write-ahead log (E42): a killed process leaves a
file that the next one repairs. Refuses links and hard links in the file's place. Importers: corpus.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

from omh_research.tools.ranking import TOKENIZER

INDEX_VERSION = "3"
BUSY_TIMEOUT_S = 60.0
_CACHE_KIB = 16_000
# Words gathered in memory before they are written as a segment: fewer segments, fewer merges.
_HASH_BYTES = 8_000_000
_SCHEMA = f"""
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE document(
  id INTEGER PRIMARY KEY, url TEXT UNIQUE NOT NULL, size INTEGER, mtime_ns INTEGER, state TEXT,
  title TEXT, detail TEXT, language TEXT, date TEXT, author TEXT, page_starts TEXT,
  first INTEGER, last INTEGER);
CREATE TABLE passage(id INTEGER PRIMARY KEY, document INTEGER, head TEXT, text TEXT);
CREATE VIRTUAL TABLE words USING fts5(
  head, body, content='', tokenize="{TOKENIZER}");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row);
INSERT INTO words(words, rank) VALUES('rank', 'bm25(1.5, 1.0)');
INSERT INTO words(words, rank) VALUES('hashsize', {_HASH_BYTES});
"""


def open_database(path: Path | None, stamp: str) -> sqlite3.Connection:
    """Return a connection whose schema and `stamp` (our version and readers) are right.

    A file with another stamp or a damaged one is replaced; a file that cannot be written is still
    used for reading when its stamp fits. None, or a place that cannot be used: a temporary one.
    """
    if path is not None and _is_safe(path):
        for attempt in range(2):
            try:
                return _open_file(path, stamp)
            except sqlite3.OperationalError as error:
                if "malformed" not in str(error) and "no such" not in str(error):
                    break  # locked, read-only, no folder, disk full: not the file's fault
                if attempt or not _remove(path):
                    break
            except sqlite3.DatabaseError:
                if attempt or not _remove(path):
                    break
    return _create(sqlite3.connect("", check_same_thread=False, isolation_level=None), stamp)


def is_current(connection: sqlite3.Connection, key: str, value: str) -> bool:
    """Return whether the meta table says `value` under `key`."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return row is not None and row[0] == value


def is_private(connection: sqlite3.Connection) -> bool:
    """Return whether the connection is a temporary database that nobody else sees."""
    return not connection.execute("PRAGMA database_list").fetchone()[2]


def _open_file(path: Path, stamp: str) -> sqlite3.Connection:
    writable = os.access(path if path.exists() else path.parent, os.W_OK)
    mode = "rwc" if writable and os.access(path.parent, os.W_OK) else "ro"
    connection = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode={mode}", uri=True, timeout=BUSY_TIMEOUT_S,
        check_same_thread=False, isolation_level=None,
    )  # fmt: skip
    try:
        _configure(connection)
        if mode == "ro":
            if not is_current(connection, "stamp", stamp):
                raise sqlite3.OperationalError("read-only and of another version")
            return connection
        connection.execute("BEGIN IMMEDIATE")
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if tables and not is_current(connection, "stamp", stamp):
            connection.execute("ROLLBACK")
            raise sqlite3.DatabaseError("another version")
        if not tables:
            _fill_schema(connection, stamp)
        connection.execute("COMMIT")
        connection.execute("SELECT count(*) FROM vocabulary LIMIT 0").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _create(connection: sqlite3.Connection, stamp: str) -> sqlite3.Connection:
    _configure(connection)
    connection.execute("BEGIN")
    _fill_schema(connection, stamp)
    connection.execute("COMMIT")
    return connection


def _configure(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = DELETE")
    # A cache: a power cut may damage it, then it is rebuilt. A killed process cannot.
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    connection.execute("PRAGMA temp_store = DEFAULT")
    connection.execute("PRAGMA trusted_schema = OFF")


def _fill_schema(connection: sqlite3.Connection, stamp: str) -> None:
    for statement in _SCHEMA.split(";\n"):
        if statement.strip():
            connection.execute(statement)
    connection.execute("INSERT INTO meta VALUES('stamp', ?)", (stamp,))


def _is_safe(path: Path) -> bool:
    """A cloned project may bring a link in the cache's place: never write through one."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return path.parent.is_dir()
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) and status.st_nlink <= 1


def _remove(path: Path) -> bool:
    try:
        for name in (path, path.with_name(path.name + "-journal")):
            name.unlink(missing_ok=True)
    except OSError:
        return False
    return True
