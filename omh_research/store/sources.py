"""What a run has fetched: held texts by SHA-256 and the fetch ledger (spec T5, T19, T23).

Job: record every search and every fetch as it happens, and answer from the record. Appends are
serialised within the process; between processes the run's lock does it. Refuses to fetch.
Importers: store, wiring (by protocol: delegates' recorder, phases).
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable

import msgspec

from omh_research.documents.heads import checked
from omh_research.documents.source import Fetch, HeldText, Hit
from omh_research.errors import DamagedFileError
from omh_research.store import disk
from omh_research.store.layout import Layout

FETCH_LEDGER = "fetch_ledger.jsonl"
MAX_TEXT_BYTES = 12_000_000


class Sources:
    """The fetch record of one run. `canonical` maps a URL to the form in which two are one.

    `fence` is asked before each write and raises if the run is another owner's now (spec S3).
    """

    def __init__(
        self,
        layout: Layout,
        slug: str,
        canonical: Callable[[str], str],
        fence: Callable[[], None] = lambda: None,
    ) -> None:
        self._fence = fence
        self._layout, self._slug, self._canonical = layout, slug, canonical
        self._guard = threading.RLock()
        self._rows: list[Fetch] | None = None
        self._repaired = False

    def rows(self) -> tuple[Fetch, ...]:
        """Return the ledger's rows in order; a torn last line is skipped.

        Raises:
            DamagedFileError: a line in the middle is no ledger row (its number is named).
        """
        with self._guard:
            return tuple(self._load())

    def _load(self) -> list[Fetch]:
        if self._rows is None:
            self._rows = []
            path = self._layout.evidence(self._slug, FETCH_LEDGER)
            data = disk.read_bytes(path) or b""
            lines = data.split(b"\n")
            for number, line in enumerate(lines[:-1], 1):
                try:
                    self._rows.append(msgspec.json.decode(line, type=Fetch))
                except msgspec.MsgspecError:
                    where = self._layout.relative(path)
                    raise DamagedFileError(f"{where}: line {number} is not a ledger row.") from None
        return self._rows

    def record(self, row: Fetch) -> None:
        """Append one row, durable before it returns; a row already there is not repeated."""
        with self._guard:
            rows = self._load()
            if row in rows:
                return
            self._fence()
            self._make_folder()
            plain = checked(msgspec.to_builtins(row), Fetch, "a row of the fetch ledger")
            line = json.dumps(plain, ensure_ascii=False, sort_keys=True)
            line = line.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
            path = self._layout.evidence(self._slug, FETCH_LEDGER)
            if not self._repaired:
                disk.cut_torn_tail(path)
                self._repaired = True
            disk.append(path, [line])
            rows.append(row)

    def hold(self, text: str) -> str:
        """Keep a text, durable; return its SHA-256."""
        data = text.encode("utf-8", "surrogatepass")
        sha256 = hashlib.sha256(data).hexdigest()
        path = self._layout.text(self._slug, sha256)
        with self._guard:
            self._fence()
            disk.make_directories(self._layout.base, self._layout.texts_dir(self._slug))
            if disk.read_bytes(path, max_bytes=MAX_TEXT_BYTES * 2) != data:
                disk.replace(path, data)
        return sha256

    def text(self, sha256: str) -> str | None:
        """Return a held text if it is there and its bytes still have that hash."""
        if len(sha256) != 64 or not all(char in "0123456789abcdef" for char in sha256):
            return None
        data = disk.read_bytes(self._layout.text(self._slug, sha256), max_bytes=MAX_TEXT_BYTES * 2)
        if data is None or hashlib.sha256(data).hexdigest() != sha256:
            return None
        return data.decode("utf-8", "replace")

    def held(self) -> dict[str, HeldText]:
        """Return the held texts by canonical URL, each with its text; the first fetch wins."""
        found: dict[str, HeldText] = {}
        for row in self.rows():
            if row.kind != "fetch" or not row.sha256 or row.canonical_url in found:
                continue
            text = self.text(row.sha256)
            if text is None:
                continue
            found[row.canonical_url] = HeldText(
                url=row.canonical_url,
                sha256=row.sha256,
                title=row.title,
                date=row.date,
                accessed_at=row.accessed_at,
                text=text,
                doi=row.identifiers.doi,
                arxiv=row.identifiers.arxiv,
                pmid=row.identifiers.pmid,
            )
        return found

    def leads(self) -> frozenset[str]:
        """Return the canonical URLs that searches found, read or not."""
        found: set[str] = set()
        for row in self.rows():
            if row.kind == "search" and row.sha256:
                found.update(self._canonical(hit.url) for hit in self.hits(row.sha256))
        return frozenset(found)

    def keep_hits(self, hits: list[Hit]) -> str:
        """Keep a hit list; return its SHA-256."""
        return self.hold(json.dumps(msgspec.to_builtins(hits), ensure_ascii=False))

    def hits(self, sha256: str) -> list[Hit]:
        """Return a kept hit list ([] if it is gone)."""
        text = self.text(sha256)
        try:
            return [] if text is None else msgspec.json.decode(text, type=list[Hit])
        except msgspec.MsgspecError:
            return []

    def _make_folder(self) -> None:
        disk.make_directories(self._layout.base, self._layout.evidence_dir(self._slug))
