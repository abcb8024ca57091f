"""A folder of documents as search provider and reader (spec D6, E42).

Job: answer searches and reads from the index of the `--corpus` folders; the index is brought up to
date at the first use, and at the first after `renew`. Refuses the network and every path outside
the folders: a document is known by its `corpus:` name only. Importers: wiring.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

from omh_research.corpus.folder import SCHEME
from omh_research.corpus.index import PROVIDER, CorpusIndex, Refreshed
from omh_research.documents.source import Hit, Page
from omh_research.errors import ProviderError


class FolderSource:
    """`SearchProvider` and `Reader` over folders. Safe to use from several threads."""

    name = PROVIDER

    def __init__(self, folders: Sequence[Path], index_path: Path | None = None) -> None:
        """`index_path` is the cache file; None keeps the index temporary. Nothing is read yet."""
        self._folders, self._index_path = tuple(folders), index_path
        self._lock = threading.Lock()
        self._index: CorpusIndex | None = None
        self._refreshed: Refreshed | None = None
        self._is_stale = True

    def search(self, query: str, *, limit: int = 10) -> list[Hit]:
        """Return at most `limit` documents, best first, the best passage of each as snippet.

        Raises `ProviderError` when the index cannot be read, `UsageError` for a missing folder.
        """
        try:
            return self._ready().search(query, limit=limit)
        except (sqlite3.Error, OSError) as error:
            raise ProviderError(f"The corpus index cannot be searched: {error}.") from error

    def read(self, url: str) -> Page:
        """Return the document called `url`; a fault of its own is its `state`."""
        if not url.startswith(SCHEME):
            return Page(url, url, "refused", detail="this run reads documents of its corpus only")
        try:
            return self._ready().page(url)
        except (sqlite3.Error, OSError) as error:
            return Page(url, url, "error", detail=f"the corpus index cannot be read: {error}")

    def report(self) -> Refreshed:
        """Return how many documents there are and which could not be read, with reasons."""
        self._ready()
        assert self._refreshed is not None
        return self._refreshed

    def renew(self) -> None:
        """Look at the folders again before the next answer; they may have changed."""
        with self._lock:
            self._is_stale = True

    def close(self) -> None:
        """Close the index; the next use opens it again."""
        with self._lock:
            if self._index is not None:
                self._index.close()
                self._index = None

    def _ready(self) -> CorpusIndex:
        with self._lock:
            if self._index is None:
                self._index = CorpusIndex(self._folders, self._index_path)
                self._is_stale = True
            if self._is_stale:
                self._refreshed = self._index.refresh()
                self._is_stale = False
            return self._index


def open_folders(
    folders: Sequence[str | os.PathLike[str]], cache_dir: str | Path | None
) -> FolderSource:
    """Return the source over `folders`, its index cached in `cache_dir` if that can be written.

    The cache file's name is a digest of the folders' paths, so no path stands in it.
    """
    paths = [Path(folder).resolve() for folder in folders]
    digest = hashlib.sha256("\0".join(map(str, paths)).encode("utf-8", "surrogatepass"))
    if cache_dir is None:
        return FolderSource(paths)
    directory = Path(cache_dir)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return FolderSource(paths)
    index = directory / f"corpus-{digest.hexdigest()[:16]}.sqlite"
    return FolderSource(paths, None if index.is_symlink() else index)
