"""Similarity: which names, questions and passages say the same thing.

Job: token Jaccard (spec T3) and near-duplicate removal in linear time (T10, T20). Refuses to judge
meaning: two texts with other numbers or another polarity (with, without) are never duplicates,
whatever they share. Importers: tools, corpus, delegates, phases.
"""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache, lru_cache
from typing import TypeVar

from omh_research.tools.tokens import content_tokens, tokenize, words

NEAR_DUPLICATE = 0.8
# Candidates looked at for one key: hostile input with one common key stays linear.
_MAX_CANDIDATES = 40
_SAMPLED_FROM = 120
# Stop words for ranking that turn a question round all the same.
_POLARITY_WORDS = (
    "not no without before after against under over above below up down never nor "
    "nicht ohne vor nach gegen kein keine sin antes despues contra sans avant apres contre pas "
    "без до после против не"
)
T = TypeVar("T", str, int)


@cache
def _polarity() -> frozenset[str]:
    return frozenset(_POLARITY_WORDS.split())


def _key(text: str) -> str:
    return " ".join(words(text))


def _signature(found: Iterable[str]) -> frozenset[str]:
    """Numbers and words of polarity: what must be equal for two texts to be duplicates."""
    polarity = _polarity()
    return frozenset(w for w in found if w in polarity or any(map(str.isdigit, w)))


def jaccard(first: frozenset[T], second: frozenset[T]) -> float:
    """Shared tokens over all tokens of both, 0.0 when both are empty."""
    union = len(first | second)
    return len(first & second) / union if union else 0.0


def token_jaccard(first: str, second: str) -> float:
    """Jaccard of the content tokens of two texts (T3), 0.0 to 1.0.

    A text made only of stop words is compared whole: 1.0 when the folded texts are equal. Chinese,
    Japanese and Korean count in character bigrams.
    """
    if _key(first) == _key(second):
        return 1.0
    return jaccard(frozenset(content_tokens(first)), frozenset(content_tokens(second)))


def is_near_duplicate(first: str, second: str, *, threshold: float = NEAR_DUPLICATE) -> bool:
    """True when two names or questions ask the same (T3).

    Their token Jaccard reaches `threshold`, and neither their numbers nor their polarity differ.
    """
    if _key(first) == _key(second):
        return True
    return token_jaccard(first, second) >= threshold and _signature(words(first)) == _signature(
        words(second)
    )


def _first_of_each(
    keys: Sequence[Hashable],
    sets: Sequence[frozenset[T]],
    threshold: float,
    signature: Callable[[int], frozenset[str]],
) -> list[int]:
    """For every text the index of the text it repeats, or its own index.

    Prefix filtering: sets with Jaccard >= t share one of their rarest (1 - t) tokens, so only texts
    that share such a token are compared.
    """
    frequency = Counter(token for tokens in sets for token in tokens)
    by_key: dict[Hashable, int] = {}
    by_token: dict[T, list[int]] = defaultdict(list)
    result: list[int] = []
    for index, tokens in enumerate(sets):
        same = by_key.setdefault(keys[index], index)
        if same == index and tokens:
            rarest = sorted(tokens, key=lambda token: (frequency[token], token))
            prefix = rarest[: len(tokens) - int(len(tokens) * threshold) + 1]
            found = (i for token in prefix for i in by_token[token][:_MAX_CANDIDATES])
            for other in dict.fromkeys(found):
                if jaccard(tokens, sets[other]) < threshold:
                    continue
                if signature(other) == signature(index):
                    same = other
                    break
            if same == index:
                for token in prefix:
                    by_token[token].append(index)
        result.append(same)
    return result


def split_duplicates(
    texts: Sequence[str], *, threshold: float = NEAR_DUPLICATE
) -> tuple[list[int], list[int]]:
    """Indexes of the first of each group of near duplicates (T3), and of those that repeat one.

    For names and questions; order is kept in both lists.
    """
    first = _first_of_each(
        [_key(text) for text in texts],
        [frozenset(content_tokens(text)) for text in texts],
        threshold,
        lambda index: _signature(words(texts[index])),
    )
    kept = [index for index, same in enumerate(first) if same == index]
    return kept, [index for index, same in enumerate(first) if same != index]


@lru_cache(maxsize=1 << 16)
def _code(token: str) -> int:
    return zlib.crc32(token.encode("utf-8", "surrogatepass"))


def _shingles(tokens: Sequence[str]) -> list[int]:
    """Numbers that stand for a text's three-token shingles; of a long text every eighth.

    Sampling by value keeps the share two texts have in common (the same shingle is in or out in
    both), at an eighth of the work.
    """
    codes = [_code(token) for token in tokens]
    if len(codes) < 3:
        return codes
    triples = zip(codes, codes[1:], codes[2:], strict=False)
    mixed = [(a * 31 + b * 1_000_003 + c * 998_244_353) & 0xFFFFFFFF for a, b, c in triples]
    if len(mixed) < _SAMPLED_FROM:
        return mixed
    return [number for number in mixed if number % 8 == 0] or mixed[:1]


def repeated_passages(passages: Sequence[str], *, threshold: float = 0.7) -> list[int]:
    """Indexes of passages that repeat an earlier one nearly word for word, in order.

    Compared by three-word shingles, so passages about the same thing in other words stay. Passages
    whose numbers differ stay too. Linear in the length of the passages.
    """
    return repeated_tokens([tokenize(passage) for passage in passages], threshold=threshold)


def repeated_tokens(passages: Sequence[Sequence[str]], *, threshold: float = 0.7) -> list[int]:
    """`repeated_passages` of passages already given as tokens."""
    first = _first_of_each(
        [tuple(tokens) for tokens in passages],
        [frozenset(_shingles(tokens)) for tokens in passages],
        threshold,
        lambda index: _signature(passages[index]),
    )
    return [index for index, same in enumerate(first) if same != index]
