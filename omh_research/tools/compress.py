"""Compress: of many sources, the passages that speak to a query, within a budget.

Job: the seed's `compress` operation (spec T9, T10, T25): JSON shapes, limits, statistics. Refuses
to call a model or read a file; the same input gives the same output. The engine uses `condense.py`,
which does the work. Importers: tools, phases, cli.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from omh_research.errors import ToolInputError
from omh_research.tools.condense import MAX_CHUNK_CHARS, Compressor, Source
from omh_research.tools.passages import chunks, paragraphs
from omh_research.tools.similarity import repeated_passages
from omh_research.tools.tokens import content_tokens, words

DEFAULT_MAX_CHARS = 12_000
MAX_SOURCES = 1_000
MAX_SOURCE_CHARS = 10_000_000
MAX_TOTAL_INPUT_CHARS = 40_000_000
MIN_CHUNK_CHARS = 80
# Input up to this size was chosen line by line (search results, notes): nothing in it is furniture.
SMALL_CONTENT_CHARS = 2_000

__all__ = [
    "DEFAULT_MAX_CHARS",
    "MAX_CHUNK_CHARS",
    "MAX_SOURCES",
    "MAX_SOURCE_CHARS",
    "MAX_TOTAL_INPUT_CHARS",
    "MIN_CHUNK_CHARS",
    "SMALL_CONTENT_CHARS",
    "chunk_text",
    "compress",
    "tokenize",
]


def tokenize(text: str) -> list[str]:
    """Content tokens of a text: no stop words, words stemmed, unspaced scripts in bigrams."""
    return content_tokens(text)


def chunk_text(text: str) -> list[str]:
    """Passages of a text: paragraphs, long ones by sentences, at most MAX_CHUNK_CHARS each.

    Fragments under MIN_CHUNK_CHARS (a Han, kana or Hangul character counts three) are left out.
    Every chunk is a literal slice of the text.
    """
    return chunks(text, MAX_CHUNK_CHARS, MIN_CHUNK_CHARS)


class _Request(Struct, frozen=True):
    """A checked payload."""

    query: str
    sources: list[Source]
    max_chars: int
    max_per_source: int | None
    min_score: float


def _text(value: object, where: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ToolInputError(f"{where} must be text, not {type(value).__name__}.")
    return value


def _count(payload: Mapping[str, Any], name: str) -> int | None:
    """A positive whole number; None when absent, null or 0."""
    value = payload.get(name)
    if value is None or value == 0:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        raise ToolInputError(f"{name} must be a number.")
    if not 1 <= value < 10**12:
        raise ToolInputError(f"{name} must be at least 1.")
    return int(value)


def _request(payload: object) -> _Request:
    if not isinstance(payload, Mapping):
        raise ToolInputError("The input must be a JSON object with 'query' and 'sources'.")
    entries = payload.get("sources")
    if entries is None:
        entries = []
    if not isinstance(entries, list):
        raise ToolInputError(f"sources must be a list, not {type(entries).__name__}.")
    sources: list[Source] = []
    for number, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            raise ToolInputError(f"sources[{number}] must be an object.")
        text = _text(entry.get("text"), f"sources[{number}].text")
        sources.append(Source(text, entry.get("id"), entry.get("url"), entry.get("title")))
    score = payload.get("min_score") or 0.0
    if isinstance(score, bool) or not isinstance(score, (int, float)) or score != score:
        raise ToolInputError("min_score must be a number.")
    score = max(-1.0, min(score, 2.0))  # scores are 0 to 1
    return _Request(
        query=_text(payload.get("query"), "query"),
        sources=sources,
        max_chars=_count(payload, "max_chars") or DEFAULT_MAX_CHARS,
        max_per_source=_count(payload, "max_per_source"),
        min_score=float(score),
    )


def _limit(sources: list[Source]) -> tuple[list[Source], dict[str, Any]]:
    """The sources within the module's limits, and the statistics of what the limits took."""
    taken: list[Source] = []
    room = MAX_TOTAL_INPUT_CHARS
    dropped = truncated = 0
    for source in sources:
        if len(taken) >= MAX_SOURCES or room <= 0:
            dropped += 1
            continue
        text = source.text[: min(MAX_SOURCE_CHARS, room)]
        truncated += len(text) < len(source.text)
        taken.append(Source(text, source.id, source.url, source.title))
        room -= len(text)
    raw = sum(len(source.text) for source in sources)
    chars = sum(len(source.text) for source in taken)
    return taken, {
        "sources": len(sources),
        "sources_input": len(sources),
        "sources_considered": len(taken),
        "sources_dropped": dropped,
        "sources_truncated": truncated,
        "input_capped": bool(dropped or truncated),
        "chars_input_raw": raw,
        "chars_in": chars,
        "chars_truncated": raw - chars,
    }


def _whole(sources: list[Source]) -> tuple[list[dict[str, Any]], int]:
    """Every source whole; one that repeats an earlier one, or parts of earlier ones, goes."""
    texts = [source.text.strip() for source in sources]
    repeated = set(repeated_passages(texts))
    seen: set[str] = set()
    kept: list[dict[str, Any]] = []
    deduped = 0
    for number, (source, text) in enumerate(zip(sources, texts, strict=True)):
        keys = {" ".join(words(text[start:end])) for start, end in paragraphs(text)}
        if not text:
            continue
        if number in repeated or keys <= seen:
            deduped += 1
            continue
        seen |= keys
        kept.append(_kept(source, text, 0, None))
    return kept, deduped


def _kept(source: Source, chunk: str, number: int, score: float | None) -> dict[str, Any]:
    return {
        "source": source.id,
        "url": source.url,
        "title": source.title,
        "chunk": chunk,
        "chunk_index": number,
        "score": score,
    }


def compress(payload: dict[str, Any]) -> dict[str, Any]:
    """The seed's `compress` (T9): `{query, sources, max_chars?, max_per_source?, min_score?}`.

    Returns `{query, kept, dropped_low_relevance, budget_chars, stats}`. `kept` is ranked, its
    chunks are literal slices of their sources and together never more than `max_chars` characters;
    `score` is the share of the query a chunk matches, 0 to 1, and null where nothing was scored.
    `chunk_index` counts the passages of a source; two chunks of one passage share it. Input that
    fits comes back whole, without repetitions. When nothing matches at all, the sources' beginnings
    come back with score 0. Raises ToolInputError for a payload of the wrong shape.
    """
    request = _request(payload)
    sources, stats = _limit(request.sources)
    fits = sum(len(source.text.strip()) for source in sources) <= request.max_chars
    dropped = 0
    if fits:
        kept, deduped = _whole(sources)
        total, scored = len(kept) + deduped, False
    else:
        small = stats["chars_in"] <= SMALL_CONTENT_CHARS
        compressor = Compressor(sources, keep_boilerplate=small)
        result = compressor.compress(
            request.query,
            max_chars=request.max_chars,
            max_per_source=request.max_per_source,
            min_score=request.min_score,
        )
        kept = [
            _kept(
                sources[slice_.source],
                compressor.text(slice_),
                slice_.passage,
                round(slice_.own, 4) if result.scored else None,
            )
            for slice_ in result.kept
        ]
        deduped, dropped = result.repeated, result.irrelevant
        total, scored = len(compressor.passages), result.scored
    stats |= {
        "chars_out": sum(len(entry["chunk"]) for entry in kept),
        "deduped": deduped,
        "chunks_kept": len(kept),
        "chunks_total": total,
        "skipped_compression": fits,
        "skipped_scoring": not scored,
    }
    return {
        "query": request.query,
        "kept": kept,
        "dropped_low_relevance": dropped,
        "budget_chars": request.max_chars,
        "stats": stats,
    }
