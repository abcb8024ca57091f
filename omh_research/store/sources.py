"""What a run has fetched: held texts by SHA-256 and the fetch ledger (spec T5, T19, T23).

Job: record every search and every fetch as it happens, and answer from the record. Appends are
serialised within the process; between processes the run's lock does it. Refuses to fetch.
Importers: store, wiring (by protocol: delegates' recorder, phases).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections.abc import Callable

import msgspec
from msgspec import Struct

from omh_research.documents.heads import checked
from omh_research.documents.source import Fetch, HeldText, Hit
from omh_research.errors import DamagedFileError
from omh_research.store import disk
from omh_research.store.layout import Layout

FETCH_LEDGER = "fetch_ledger.jsonl"
EVIDENCE_LEDGER = "evidence_ledger.jsonl"
MAX_TEXT_BYTES = 12_000_000


class _Quoted(Struct, frozen=True):
    """Of a row of the evidence ledger: the hash of the text it was checked against."""

    content_sha256: str = ""


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
        """Return the held texts by canonical URL, each with its text.

        The first fetch wins, but a document of a local corpus counts as it was read last: after
        an operator's retry it is read anew.
        """
        found: dict[str, HeldText] = {}
        read_at: dict[str, int] = {}
        for row in self.rows():
            if row.kind != "fetch" or not row.sha256:
                continue
            if row.retry <= read_at.get(row.canonical_url, -1):
                continue
            text = self.text(row.sha256)
            if text is None:
                continue
            read_at[row.canonical_url] = row.retry
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

    def proven(self, fetched: int) -> dict[str, HeldText]:
        """Return what `held` does, once nothing that was fetched has been lost since.

        `fetched` is how many pages the run's answers say they fetched. A source whose text is gone
        must not pass for one that was only declared: then anything could be said of it (E28, E30).

        Raises:
            DamagedFileError: a held text is missing or changed, or the fetch ledger lost rows.
        """
        rows = [row for row in self.rows() if row.kind == "fetch" and row.sha256]
        for row in rows:
            if self.text(row.sha256) is None:
                where = self._layout.relative(self._layout.text(self._slug, row.sha256))
                raise DamagedFileError(
                    f"{where}: the text of {row.canonical_url} is missing or changed.",
                    hint="Put the file back; without it nothing said of that page can be proven.",
                )
        known = {row.sha256 for row in rows}
        ledger = self._layout.evidence(self._slug, FETCH_LEDGER)
        if (fetched and not self.rows()) or not self._quoted() <= known:
            raise DamagedFileError(
                f"{self._layout.relative(ledger)}: rows of pages that were fetched are missing.",
                hint="Put the file back; without it nothing said of those pages can be proven.",
            )
        return self.held()

    def _quoted(self) -> set[str]:
        """Return the hashes of the texts that rows of the evidence ledger were checked against."""
        data = disk.read_bytes(self._layout.evidence(self._slug, EVIDENCE_LEDGER)) or b""
        found: set[str] = set()
        for line in data.split(b"\n")[:-1]:
            with contextlib.suppress(msgspec.MsgspecError):
                found.add(msgspec.json.decode(line, type=_Quoted).content_sha256)
        return found - {""}

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
