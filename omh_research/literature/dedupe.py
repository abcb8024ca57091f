"""De-duplication: which records of a pool are one work (B7).

Job: find pairs worth judging without ever comparing all with all, have `matching` judge them, and
join what is one work into clusters. Pure; refuses to change or merge records (see `bundle`) and
to use any installed extra. Importers: literature, and whoever holds a pool of records.

Linear by construction: a record gets a bounded number of blocking keys (identifiers; the exact
folded title; threes of its rarest title tokens, which two titles at token Jaccard 0.80 must share),
and within a block, sorted by content, is compared with at most `WINDOW` neighbours. Clusters do
not depend on the order of the input: records are taken in the order of their content.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import combinations

from msgspec import Struct

from omh_research.literature import citation, matching, titles, venues
from omh_research.literature.bibrecord import BibRecord, doi_base
from omh_research.literature.matching import Features, Verdict

IDENTIFIERS = ("doi", "pmid", "arxiv", "openalex", "semantic_scholar")
WINDOW = 24
MAX_KEY_TOKENS = 7
MAX_TITLE_TOKENS = 40
SIEVE_SIZE = 1 << 22
_SIEVE_MASK = SIEVE_SIZE - 1
_MASK = (1 << 63) - 1
FEATURES_HELD = 8_192
FACTS_HELD = 32


class MergeEdge(Struct, frozen=True):
    """Two input positions found to be one work, and the rule that said so."""

    left: int
    right: int
    rule: str


class Deduplication(Struct, frozen=True):
    """The outcome: `clusters` of input positions (canonical first, then by position; sorted by
    their smallest position) and the `edges` that joined them."""

    clusters: tuple[tuple[int, ...], ...]
    edges: tuple[MergeEdge, ...]


def dedupe(
    records: Sequence[BibRecord], should_stop: Callable[[], bool] | None = None
) -> Deduplication:
    """Return the clusters of records that are one work each.

    Time grows linearly with the number of records, memory by about 1 kB a record. `should_stop`
    is asked after each block; once true, the clusters found so far are returned.
    """
    pool = _Pool(records)
    judged: list[tuple[int, int, int, str]] = []
    seen: set[int] = set()
    for block in pool.blocks():
        if should_stop is not None and should_stop():
            break
        for i, j in _neighbours(block):
            left, right = (i, j) if i < j else (j, i)
            pair = left * len(records) + right
            if pair in seen:
                continue
            seen.add(pair)
            verdict = pool.judge(left, right)
            if verdict.is_same:
                judged.append((verdict.strength, left, right, verdict.rule))
    return _join(pool, judged)


class _Pool:
    """The records in the order of their content. Places below are positions in that order."""

    def __init__(self, records: Sequence[BibRecord]) -> None:
        read = [titles.read_title(r.title) for r in records]
        order = sorted(range(len(records)), key=lambda i: read[i].compact)
        self.title_runs: list[tuple[int, int]] = []
        start = 0
        for at in range(1, len(order) + 1):
            if at < len(order) and read[order[at]].compact == read[order[start]].compact:
                continue
            if at - start > 1:
                order[start:at] = sorted(order[start:at], key=lambda i: content_key(records[i]))
            self.title_runs.append((start, at))
            start = at
        self.order = order
        self.records = [records[i] for i in order]
        self.titles = [read[i] for i in order]
        self._held: dict[int, Features] = {}

    def features(self, place: int) -> Features:
        """Return the comparison form of the record at a place (a bounded number is kept)."""
        found = self._held.get(place)
        if found is None:
            if len(self._held) >= FEATURES_HELD:
                self._held.clear()
            found = matching.features_of(self.records[place], self.titles[place])
            self._held[place] = found
        return found

    def judge(self, left: int, right: int) -> Verdict:
        """Return whether the records at two places are one work."""
        records, read = self.records, self.titles
        if matching.is_plainly_one(records[left], records[right], read[left], read[right]):
            return matching.SAME_DOI
        return matching.judge(self.features(left), self.features(right))

    def blocks(self) -> Iterator[Sequence[int]]:
        """Yield groups of two or more places worth comparing, most telling kind first."""
        for name in IDENTIFIERS:
            yield from _groups(getattr(record, name) or None for record in self.records)
        for start, end in self.title_runs:
            if end - start > 1 and not self.titles[start].is_null:
                yield range(start, end)
        yield from _groups(_citation_place(record) for record in self.records)
        runs = [run for run in self.title_runs if not self.titles[run[0]].is_null]
        words = [self.titles[start].words for start, _ in runs]
        for alike in near_titles(words):
            yield [p for at in alike for p in range(runs[at][0], min(runs[at][1], runs[at][0] + 4))]


def content_key(record: BibRecord) -> tuple[object, ...]:
    """Return a record's content as a sort key, so that input order never decides anything."""
    return (
        record.year or 0, record.venue, record.doi, record.pmid, record.arxiv, record.openalex,
        record.semantic_scholar, record.volume, record.pages, record.authors, record.title,
        record.publication_type, record.rank,
    )  # fmt: skip


def _groups(keys: Iterable[Hashable | None]) -> Iterator[list[int]]:
    """Yield the places that share a key, for each key that two or more places have."""
    first: dict[Hashable, int] = {}
    groups: dict[Hashable, list[int]] = {}
    for place, key in enumerate(keys):
        if key is None:
            continue
        before = first.setdefault(key, place)
        if before != place:
            groups.setdefault(key, [before]).append(place)
    del first
    yield from groups.values()


def _citation_place(record: BibRecord) -> tuple[int, int, int] | None:
    """Return year, volume and first page of a record that has all three."""
    if not record.pages or not record.volume or record.year is None:
        return None
    volume = citation.read_volume(record.volume)
    starts = citation.start_pages(record.pages)
    return (record.year, volume, min(starts)) if volume is not None and starts else None


def near_titles(words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of different titles (as folded tokens) that may reach the thresholds of B7.

    By the prefix principle two token sets with Jaccard j share their three rarest common tokens
    among the first n - ceil(j n) + 3 of each, rarest first; a typing slip in one of them leaves
    them sharing these three too, since the slip itself takes up the place of the rarest. A
    counting sieve drops the triples that occur once before any of them is kept, so memory follows
    the titles that are alike, not their number.
    """
    frequency: Counter[str] = Counter()
    for text in words:
        frequency.update(set(text.split()))
    shared = sorted((count, token) for token, count in frequency.items() if count > 1)
    rank = {token: at for at, (_, token) in enumerate(shared)}
    del frequency, shared
    keys = array("Q")
    ends = array("Q")
    sieve = bytearray(SIEVE_SIZE)
    for text in words:
        found = _triple_keys(text, rank)
        keys.extend(found)
        for key in found:
            slot = key & _SIEVE_MASK
            if sieve[slot] < 2:
                sieve[slot] += 1
        ends.append(len(keys))
    by_key: dict[int, list[int]] = {}
    start = 0
    for at, end in enumerate(ends):
        for key in keys[start:end]:
            if sieve[key & _SIEVE_MASK] > 1:
                by_key.setdefault(key, []).append(at)
        start = end
    del sieve, keys
    for group in by_key.values():
        for i, j in _neighbours(group):
            if _may_be_near(words[i], words[j]):
                yield i, j


def _triple_keys(text: str, rank: dict[str, int]) -> list[int]:
    """Return one integer for each three of a title's rarest tokens that other titles have too."""
    tokens = set(text.split()[:MAX_TITLE_TOKENS])
    size = len(tokens)
    if size < 3:
        return []
    known = sorted([at for t in tokens if (at := rank.get(t)) is not None])
    # Tokens no other title has are the rarest: they take up the first places of the prefix.
    places = min(size - -(-size * 4 // 5) + 3, MAX_KEY_TOKENS) - (size - len(known))
    if places < 3:
        return []
    return [
        (a * 16_777_259 + b * 65_537 + c) & _MASK for a, b, c in combinations(known[:places], 3)
    ]


def _may_be_near(a: str, b: str) -> bool:
    """Tell whether Jaccard 0.80 is in reach if at most two tokens a side are typing slips."""
    left, right = set(a.split()), set(b.split())
    shared = len(left & right) + 2
    return shared >= titles.TOKEN_JACCARD * (len(left) + len(right) - shared)


def _neighbours(block: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield each member with the next few: fewer in a large block, which tells little."""
    window = WINDOW if len(block) <= 2 * WINDOW else WINDOW // 3
    for at, i in enumerate(block):
        for j in block[at + 1 : at + 1 + window]:
            yield i, j


class _Cluster:
    """A growing cluster: its members, and the facts that a less certain merge may not contradict.

    The facts are those of the first members only: enough to contradict, bounded for any size.
    """

    __slots__ = ("_facts", "members")

    def __init__(self, place: int) -> None:
        self.members = [place]
        self._facts: tuple[set[str], set[int]] | None = None

    def facts(self, pool: _Pool) -> tuple[set[str], set[int]]:
        """Return the published DOIs (without version) and the first pages of the members."""
        if self._facts is None:
            records = [pool.records[place] for place in self.members[:FACTS_HELD]]
            dois = {doi_base(r.doi) for r in records if r.doi and not venues.is_preprint(r)}
            starts = {page for r in records for page in citation.issue_pages(r)}
            self._facts = dois, starts
        return self._facts

    def contradicts(self, other: _Cluster, pool: _Pool) -> bool:
        """Tell whether the two hold different published DOIs or different pages."""
        dois, starts = self.facts(pool)
        other_dois, other_starts = other.facts(pool)
        if dois and other_dois and not dois & other_dois:
            return True
        return bool(starts and other_starts and not starts & other_starts)

    def absorb(self, other: _Cluster) -> None:
        """Take over another cluster's members."""
        self.members.extend(other.members)
        self._facts = None


def _join(pool: _Pool, judged: list[tuple[int, int, int, str]]) -> Deduplication:
    """Join judged pairs, most certain first, unless the clusters contradict each other."""
    cluster_of: dict[int, _Cluster] = {}
    edges: list[MergeEdge] = []
    for strength, left, right, rule in sorted(judged):
        a = cluster_of.get(left) or _Cluster(left)
        b = cluster_of.get(right) or _Cluster(right)
        if a is b or (strength > 2 and a.contradicts(b, pool)):
            continue
        if len(a.members) < len(b.members):
            a, b = b, a
        a.absorb(b)
        for member in (left, right, *b.members):
            cluster_of[member] = a
        edges.append(MergeEdge(pool.order[left], pool.order[right], rule))
    return Deduplication(tuple(_arranged(pool, cluster_of)), tuple(edges))


def _arranged(pool: _Pool, cluster_of: dict[int, _Cluster]) -> list[tuple[int, ...]]:
    """Return all clusters as input positions, canonical member first."""
    clusters: list[tuple[int, ...]] = []
    for place, index in enumerate(pool.order):
        cluster = cluster_of.get(place)
        if cluster is None:
            clusters.append((index,))
        elif cluster.members[0] == place:
            best = min(cluster.members, key=lambda p: canonical_key(pool.records[p]))
            others = sorted(pool.order[p] for p in cluster.members if p != best)
            clusters.append((pool.order[best], *others))
    return sorted(clusters, key=min)


def canonical_key(record: BibRecord) -> tuple[object, ...]:
    """Return the order in which a cluster's members are preferred, best first.

    Published before preprint (B7); then with a DOI, with a year and a venue, with an abstract,
    with more authors; then the better rank, then the content itself.
    """
    return (
        venues.is_preprint(record),
        not record.doi,
        (record.year is None) + (not record.venue),
        not record.has_abstract,
        -len(record.authors),
        record.rank,
        *content_key(record),
    )
