"""Hostile input: what the evidence tools take for it must grow with its length, not faster (T20).

Every function that reads text from outside is given units repeated, 25 kB and 50 kB of every
second one, each reader beginning with another; the worst ratio of the two times is reported, 2
being linear. The quick run takes every ninth unit, 10 kB and 20 kB.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from omh_research.tools import (
    alignment,
    boilerplate,
    bounds,
    caps,
    dates,
    evidence_table,
    figures,
    identifiers,
    name_index,
    negation,
    normal_form,
    number_words,
    passages,
    proper_names,
    quotes,
    ranking,
    references,
    sensitive,
    sentences,
    shares,
    similarity,
    source_list,
    tokens,
    urls,
)
from omh_research.tools.gate import reading

UNITS = (
    "a", "-", " ", "<", "[", "1", "。", "【", "\u0301", "a ", "a-", "1,", "1. ", "[1", "](", "**",
    "| ", "a\n", "\n", "<a", "<sup>1", "http://a", "a.b", "A. ", "Aa ", "的", "年", "1年", "$1",
    "(", "\\", "“", "'", "10.1234/", "\u00a0", "·", "_", "`", "# ", "- ", "和", "\u200b", "-\n",
    "¹", "第", "a, ", "一", "一万", "不，", "1億2", "more than 5 ", "a third of ", "hundred and ",
)  # fmt: skip
TAIL = " and the cost was 5 million.[1]x"
READERS: dict[str, Callable[[str], object]] = {
    "figures": figures.index_figures,
    "dates": dates.index_dates,
    "names": lambda text: proper_names.find_names(text, language="en"),
    "name index": lambda text: name_index.index_names([text]),
    "number words": lambda text: list(number_words.read_number_words(text)),
    "numbers in words": shares.find_worded,
    "bounds": lambda text: bounds.bounds_conflict(text, [text, "less than 5"]),
    "clauses": lambda text: negation.ClauseIndex([text]).denies(text[:4_000]),
    "alignment of a claim": lambda text: alignment.compare(text, "It was 5 million in 1999."),
    "alignment with a quote": lambda text: alignment.compare("Pfizer paid 5 million.", text),
    "alignment of both": lambda text: alignment.compare(f"{text} x", f"{text} y"),
    "normal form": lambda text: normal_form.comparable(text, join_hyphens=True),
    "quote": lambda text: quotes.match(text, "The quick brown fox jumps"),
    "quote in a text": lambda text: quotes.match("The quick brown … jumps over the lazy", text),
    "text in itself": lambda text: quotes.match(text[:1_600], text),
    "place of a quote": lambda text: quotes.lead_in(text[-50:], quotes.PreparedText(text)),
    "citations": references.dangling,
    "sources": lambda text: source_list.parse_sources(f"text [1]\n\n## Sources\n\n[1] {text}"),
    "report": reading.read_report,
    "sentences": lambda text: list(sentences.split(text)),
    "passages": lambda text: passages.chunks(text, 1_200, 80),
    "tokens": tokens.content_tokens,
    "boilerplate": lambda text: boilerplate.is_boilerplate(text, tokens.words(text)),
    "sensitive": sensitive.sensitive_kind,
    "DOIs": identifiers.find_dois,
    "work key": identifiers.work_key,
    "address": lambda text: urls.canonical(f"https://e.org/{text}"),
    "cell": evidence_table.escape_cell,
    "likeness": lambda text: similarity.token_jaccard(text, text),
    "ranking": lambda text: ranking.rank(text, [text, "a b"]),
    "caps": lambda text: caps.plan({"subquestions": [text, f"{text}x"]}),
}


def seconds(read: Callable[[str], object], text: str) -> float:
    start = time.process_time()
    read(text)
    return time.process_time() - start


def growth(read: Callable[[str], object], unit: str, size: int) -> tuple[float, float]:
    """(ratio of the times of twice the size and the size, seconds of the larger one).

    A ratio that looks worse than linear is measured again: the least of three counts.
    """
    once, twice = (unit * (n // len(unit)) + TAIL for n in (size, 2 * size))
    best = slowest = 0.0
    for attempt in range(3):
        first, second = seconds(read, once), seconds(read, twice)
        slowest = max(slowest, second)
        ratio = second / first if first > 0.01 else 0.0
        best = ratio if attempt == 0 else min(best, ratio)
        if best <= 2.6:
            break
    return best, slowest


def run(quick: bool) -> list[dict]:
    """Measure."""
    size, step = (10_000, 9) if quick else (25_000, 2)
    worst, slowest, count = (0.0, ""), (0.0, ""), 0
    for number, (name, read) in enumerate(READERS.items()):
        for unit in UNITS[number % step :: step]:
            count += 1
            ratio, took = growth(read, unit, size)
            worst = max(worst, (ratio, f"{name}, {unit!r}"))
            slowest = max(slowest, (took, f"{name}, {unit!r}"))
    row = {
        "id": "T20",
        "what": f"{len(READERS)} readers on hostile text twice as long: worst ratio (2 is linear)",
        "ratio": worst[0],
        "target": "<= 3",
        "n": count,
        "detail": f"worst {worst[1]}; slowest {slowest[0]:.1f} s for {2 * size // 1000} kB: "
        f"{slowest[1]}",
    }
    return [row]
