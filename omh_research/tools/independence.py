"""Which sources are independent of each other, and how much a kind of source is trusted (L1, L3).

Job: registrable domains, syndicated copies, the priority tags P1 to P6 from a table and rules.
Refuses the network and any judgement of content. Importers: phases, export.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlsplit

from msgspec import Struct

from omh_research.lazy_re import lazy_re
from omh_research.tools.identifiers import work_key
from omh_research.tools.tokens import tokenize

SYNDICATED = 0.5
_GRAM = 8
_SECOND_LEVEL = frozenset(
    "ac co com edu gov net org mil gob gouv go or ne gv nom sch ltd plc me info ind".split()
)
PRIORITIES = {
    1: "official",
    2: "authority",
    3: "blog",
    4: "GitHub",
    5: "community",
    6: "social",
}
PRIORITIES_ZH = {1: "官方", 2: "权威", 3: "博客", 4: "GitHub", 5: "社区", 6: "社交"}
_BY_DOMAIN: dict[str, int] = {
    **dict.fromkeys(
        "python.org react.dev nodejs.org kubernetes.io mozilla.org w3.org ietf.org whatwg.org "
        "rust-lang.org go.dev postgresql.org sqlite.org kernel.org apache.org microsoft.com "
        "apple.com google.com openai.com anthropic.com nvidia.com oracle.com redhat.com "
        "who.int europa.eu un.org oecd.org worldbank.org imf.org".split(),
        1,
    ),
    **dict.fromkeys(
        "wikipedia.org arxiv.org doi.org nature.com science.org sciencedirect.com springer.com "
        "wiley.com ieee.org acm.org nih.gov britannica.com jstor.org plos.org bmj.com "
        "thelancet.com nejm.org reuters.com apnews.com bbc.com bbc.co.uk cnki.net".split(),
        2,
    ),
    **dict.fromkeys(
        "medium.com dev.to substack.com hashnode.dev wordpress.com blogspot.com infoq.com "
        "martinfowler.com csdn.net juejin.cn cnblogs.com jianshu.com qiita.com".split(),
        3,
    ),
    **dict.fromkeys("github.com gitlab.com bitbucket.org gitee.com sourceforge.net".split(), 4),
    **dict.fromkeys(
        "stackoverflow.com stackexchange.com superuser.com serverfault.com quora.com zhihu.com "
        "v2ex.com news.ycombinator.com discourse.org tieba.baidu.com segmentfault.com".split(),
        5,
    ),
    **dict.fromkeys(
        "twitter.com x.com facebook.com reddit.com weibo.com tiktok.com youtube.com linkedin.com "
        "instagram.com threads.net mastodon.social bilibili.com douyin.com".split(),
        6,
    ),
}
_BY_TAG = {"primary": 1, "secondary": 2, "vendor": 1, "blog": 3, "forum": 5}
_OFFICIAL_HOST = lazy_re(r"(?:^|\.)(?:gov|mil|gob|gouv|gov\.[a-z]{2}|go\.[a-z]{2})$")
_ACADEMIC_HOST = lazy_re(r"(?:^|\.)(?:edu|edu\.[a-z]{2}|ac\.[a-z]{2})$")
_DOCS_HOST = lazy_re(r"^(?:docs?|developers?|api|support|help|learn)\.")
_BLOG = lazy_re(r"(?:^|[./])blogs?[./]|/blog(?:/|$)")


class SourceFact(Struct, frozen=True):
    """What is known of one source: address, DOI if any, credibility tag, held text if any."""

    url: str
    doi: str = ""
    credibility: str = ""
    text: str = ""


def registrable_domain(url: str) -> str:
    """Return the registrable domain of a URL; a corpus document is a publication of its own."""
    if url.startswith("corpus:"):
        return url
    host = (urlsplit(url).hostname or "").rstrip(".").lower()
    labels = host.split(".")
    if len(labels) <= 2 or host.replace(".", "").isdigit() or ":" in host:
        return host
    wide = labels[-2] in _SECOND_LEVEL and len(labels[-1]) == 2
    return ".".join(labels[-3:] if wide else labels[-2:])


def independent_sources(sources: Iterable[SourceFact]) -> tuple[SourceFact, ...]:
    """Return the sources that count, in order: one a domain, one a work, no syndicated copy.

    Works with identifiers of their own (DOI, arXiv, PMID) count apart even on one domain.
    """
    kept: list[SourceFact] = []
    keys: set[str] = set()
    domains: set[str] = set()
    grams: list[frozenset[int]] = []
    for source in sources:
        key = work_key(source.url, source.doi or None)
        domain = registrable_domain(source.url)
        own = _grams(source.text)
        is_work = not key.startswith(("http", "corpus"))
        if key in keys or (domain in domains and not is_work):
            continue
        if any(_overlap(own, other) >= SYNDICATED for other in grams):
            continue
        keys.add(key)
        domains.add(domain)
        if own:
            grams.append(own)
        kept.append(source)
    return tuple(kept)


def _grams(text: str) -> frozenset[int]:
    tokens = tokenize(text[:200_000])
    return frozenset(
        hash_ for i in range(len(tokens) - _GRAM + 1) if (hash_ := _hash(tokens[i : i + _GRAM]))
    )


def _hash(tokens: Sequence[str]) -> int:
    import zlib

    return zlib.crc32(" ".join(tokens).encode("utf-8", "surrogatepass"))


def _overlap(first: frozenset[int], second: frozenset[int]) -> float:
    smaller = min(len(first), len(second))
    return len(first & second) / smaller if smaller else 0.0


def priority_of(source: SourceFact, overrides: Mapping[str, int] | None = None) -> int:
    """Return 1 (official) to 6 (social): an override, the table, the host's form, the tag."""
    domain = registrable_domain(source.url)
    host = (urlsplit(source.url).hostname or "").lower()
    for table in (overrides or {}, _BY_DOMAIN):
        for name in (host, domain):
            if name in table:
                return table[name]
    if _OFFICIAL_HOST.search(host) or _DOCS_HOST.match(host):
        return 1
    if _BLOG.search(source.url):
        return 3
    if source.doi or _ACADEMIC_HOST.search(host):
        return 2
    return _BY_TAG.get(source.credibility, 2 if source.url.startswith("corpus:") else 3)


def tag_of(priority: int, language: str) -> str:
    """Return the tag as seeds print it: `P1-official`, `P1-官方` in Chinese."""
    names = PRIORITIES_ZH if language == "zh" else PRIORITIES
    return f"P{priority}-{names[priority]}"
