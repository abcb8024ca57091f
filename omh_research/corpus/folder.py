"""Which files of the `--corpus` folders are documents, and what they are called in a run.

Job: walk folders in a fixed order without leaving them, and give every file a name that tells
nothing about this machine: `corpus:LABEL/relative/path`, percent-encoded (E33, E42). Refuses links,
devices, FIFOs, hidden files and `.omh`; opens no file. Importers: corpus, providers, wiring.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct

from omh_research.errors import UsageError

SCHEME = "corpus:"
OWN_FOLDER = ".omh"  # the runs' own files
MAX_FILES = 1_000_000
_SAFE = "/-_.~()+,="


class CorpusFile(Struct, frozen=True):
    """One regular file: where it is, its name in the run, and what tells a change."""

    path: str
    url: str
    size: int
    mtime_ns: int


class Skipped(Struct, frozen=True):
    """Something that was not taken, and why (a reason a report can print)."""

    url: str
    reason: str


class Listing(Struct, frozen=True):
    """All files of the folders in order, what was left out, and how much was hidden."""

    files: tuple[CorpusFile, ...]
    skipped: tuple[Skipped, ...] = ()
    hidden_files: int = 0
    hidden_folders: int = 0


def label_folders(folders: Sequence[Path]) -> tuple[str, ...]:
    """Return one label a folder: its own name, numbered when two folders share it."""
    labels: list[str] = []
    for folder in folders:
        name = _encode(folder.resolve().name) or "root"
        label, count = name, 1
        while label.casefold() in (used.casefold() for used in labels):
            count += 1
            label = f"{name}-{count}"
        labels.append(label)
    return tuple(labels)


def list_folders(folders: Sequence[Path]) -> Listing:
    """Return the documents-to-be of the folders, each file once even where folders overlap.

    Order: folders as given, then names by code point, files of a folder before its subfolders.
    Raises `UsageError` for a path that is no folder or cannot be listed at all.
    """
    files: list[CorpusFile] = []
    skipped: list[Skipped] = []
    seen: set[tuple[int, int]] = set()
    hidden = {_Hidden.FILE: 0, _Hidden.FOLDER: 0}
    for folder, label in zip(folders, label_folders(folders), strict=True):
        root = folder.resolve()
        if not root.is_dir():
            raise UsageError(
                f"The corpus {folder.name or folder} is not a folder.",
                hint="Give --corpus an existing folder.",
            )
        for found in _walk(str(root), SCHEME + label):
            if isinstance(found, Skipped):
                skipped.append(found)
                continue
            if isinstance(found, _Hidden):
                hidden[found] += 1
                continue
            file, identity = found
            if identity[1] and identity in seen:
                continue
            seen.add(identity)
            files.append(file)
            if len(files) > MAX_FILES:
                raise UsageError(f"The corpus has more than {MAX_FILES:,} files.")
    return Listing(tuple(files), tuple(skipped), hidden[_Hidden.FILE], hidden[_Hidden.FOLDER])


class _Hidden(Enum):
    """Something hidden: passed over whatever it is, and only counted."""

    FILE = "file"
    FOLDER = "folder"


_Found = tuple[CorpusFile, tuple[int, int]] | Skipped | _Hidden


def _walk(root: str, url: str) -> Iterator[_Found]:
    """Depth first without recursion: a chain of 10,000 folders is no stack overflow."""
    pending = [(root, url)]
    while pending:
        folder, folder_url = pending.pop()
        try:
            with os.scandir(folder) as entries:
                ordered = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield Skipped(folder_url, f"folder cannot be listed: {_reason(error)}")
            continue
        below: list[tuple[str, str]] = []
        for entry in ordered:
            if entry.name.startswith("."):
                if entry.name != OWN_FOLDER:
                    yield _hidden(entry)
                continue
            entry_url = f"{folder_url}/{_encode(entry.name)}"
            try:
                if entry.is_dir(follow_symlinks=False) and not _is_junction(entry):
                    below.append((entry.path, entry_url))
                else:
                    yield _file(entry, entry_url)
            except OSError as error:
                yield Skipped(entry_url, f"cannot be looked at: {_reason(error)}")
        pending.extend(reversed(below))


def _hidden(entry: os.DirEntry[str]) -> _Hidden:
    try:
        return _Hidden.FOLDER if entry.is_dir(follow_symlinks=False) else _Hidden.FILE
    except OSError:
        return _Hidden.FILE


def _file(entry: os.DirEntry[str], url: str) -> _Found:
    status = entry.stat(follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode) or _is_junction(entry):
        return Skipped(url, "a link; links are not followed")
    if not stat.S_ISREG(status.st_mode):
        return Skipped(url, "not a regular file")
    identity = (status.st_dev, status.st_ino)
    return CorpusFile(entry.path, url, status.st_size, status.st_mtime_ns), identity


def _is_junction(entry: os.DirEntry[str]) -> bool:
    check = getattr(entry, "is_junction", None)  # Windows mount points, Python 3.12 and later
    return bool(check and check())


def _encode(name: str) -> str:
    """Percent-encode a file name; bytes that are no UTF-8 survive the way there and back."""
    return quote(os.fsencode(name), safe=_SAFE)


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
