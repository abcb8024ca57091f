"""Figure Q6: quote checks against their cited sources, against any source, and normalising.

Each ratio compares our function with the plain one on the same data, in turns within one run and
in processor time, so that a busy machine slows both alike.
"""

from __future__ import annotations

import random
import re
import statistics
import time
import unicodedata
from collections.abc import Callable

from omh_research.tools.normal_form import comparable
from omh_research.tools.quote_index import QuoteIndex
from omh_research.tools.quotes import (
    VERIFIED,
    PreparedQuote,
    PreparedText,
    match,
    normalise,
    prepare_quotes,
)

_SPACE = re.compile(r"\s+")
_HAN = "研究显示该方法在大规模数据上取得了更好的结果并且成本更低效率提高系统分析来源证据引用"


def _plain_normalise(text: str) -> str:
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def _vocabulary(rng: random.Random) -> list[str]:
    """Return the words of Python's own manual, as often as they stand there."""
    from pydoc_data.topics import topics

    words = [w.strip(".,;:()\"'`*") for text in topics.values() for w in text.split()]
    found = [word for word in words if word.isalpha()]
    rng.shuffle(found)
    return found


def make_source(rng: random.Random, vocabulary: list[str], chars: int, style: str) -> str:
    """Return a made-up text of about `chars` characters: "ascii", "typographic" or "chinese"."""
    parts: list[str] = []
    size = 0
    while size < chars:
        if style == "chinese":
            sentence = "".join(rng.choices(_HAN, k=rng.randint(15, 40))) + "，增长12%。"
        else:
            words = rng.choices(vocabulary, k=rng.randint(8, 25))
            words[0] = words[0].capitalize()
            if rng.random() < 0.3:
                words.insert(3, f"{rng.randint(1, 9999):,}")
            sentence = " ".join(words) + ". "
            if style == "typographic" and rng.random() < 0.3:
                at = rng.randrange(1, len(words))
                words[at] = f"\u201c{words[at]}\u201d\u2014it\u2019s"
                sentence = " ".join(words) + ". "
        parts.append(sentence)
        size += len(sentence)
    return "".join(parts)


def make_quotes(
    rng: random.Random, vocabulary: list[str], sources: list[str], count: int
) -> list[tuple[str, int]]:
    """Return (quote, number of its source); one in five is invented."""
    quotes = []
    for index in range(count):
        number = rng.randrange(len(sources))
        text = sources[number]
        at = text.find(" ", rng.randrange(len(text) - 400)) + 1
        words = text[at : at + rng.randint(80, 220)].split(" ")[:-1]
        if index % 10 == 0:  # a word exchanged for another of the same source
            place = rng.randrange(2, len(words) - 2)
            words[place] = rng.choice([w for w in text[:20_000].split(" ") if w != words[place]])
        elif index % 10 == 5:  # taken from nowhere
            words = [rng.choice(vocabulary) for _ in words]
        quotes.append((" ".join(words), number))
    return quotes


def _interleave(ours: Callable[[], object], theirs: Callable[[], object], rounds: int) -> float:
    """Return the median of theirs/ours over `rounds` turns."""
    ratios = []
    for _ in range(rounds):
        start = time.process_time()
        ours()
        middle = time.process_time()
        theirs()
        ratios.append((time.process_time() - middle) / (middle - start))
    return statistics.median(ratios)


def _row(what: str, ratio: float, target: str, n: int, detail: str) -> dict[str, object]:
    return {
        "id": "Q6",
        "what": what,
        "ratio": round(ratio, 2),
        "target": target,
        "n": n,
        "detail": detail,
    }


def run(quick: bool) -> list[dict[str, object]]:
    """Return the rows of Q6. `quick`: 60 sources and 1,500 quotes instead of 200 and 5,000."""
    rng = random.Random(6)
    vocabulary = _vocabulary(rng)
    number, count, rounds = (60, 1_500, 3) if quick else (200, 5_000, 5)
    texts = [make_source(rng, vocabulary, 100_000, "typographic") for _ in range(number)]
    quotes = make_quotes(rng, vocabulary, texts, count)
    prepared = [PreparedText(text) for text in texts]
    rows = [*_cited(prepared, quotes, rounds + 2), _any(prepared, quotes, 60 if quick else 250)]
    for style, target in (("ascii", 3.0), ("typographic", 1.8), ("chinese", 1.0)):
        text = make_source(rng, vocabulary, 100_000, style)
        ratio = _interleave(
            lambda text=text: [normalise(text) for _ in range(10)],  # type: ignore[misc]
            lambda text=text: [_plain_normalise(text) for _ in range(10)],  # type: ignore[misc]
            rounds + 2,
        )
        detail = "times as fast as NFKC + casefold + regex"
        rows.append(_row(f"normalise, {style}", ratio, f">= {target}", len(text), detail))
    return rows


def _cited(
    prepared: list[PreparedText], quotes: list[tuple[str, int]], rounds: int
) -> list[dict[str, object]]:
    """Each quote in its cited source beside a bare find of quotes that are normalised already:
    with quotes made ready before (as the plain search has them), and with making them ready
    together, as `citations.verify` does."""
    numbers = [number for _, number in quotes]
    cited = [quote for quote, _ in quotes]
    ready = prepare_quotes(cited)
    plain = [(comparable(quote), number) for quote, number in quotes]
    forms = [source.form for source in prepared]
    found: list[int] = [0]

    def find(made: list[PreparedQuote]) -> None:
        pairs = zip(made, numbers, strict=True)
        found[0] = sum(match(quote, prepared[number]) == VERIFIED for quote, number in pairs)

    def bare() -> None:
        sum(forms[number].find(quote) >= 0 for quote, number in plain)

    rows = []
    for what, make, target in (
        ("quote in its cited source, made ready before", lambda: ready, "<= 1.25"),
        ("quote in its cited source, with making ready", lambda: prepare_quotes(cited), "<= 1.5"),
    ):
        ratio = 1 / _interleave(lambda make=make: find(make()), bare, rounds)  # type: ignore[misc]
        detail = f"times the time of bare str.find; {found[0]} of {len(quotes)} verified"
        rows.append(_row(what, ratio, target, len(quotes), detail))
    return rows


def _any(
    prepared: list[PreparedText], quotes: list[tuple[str, int]], sample: int
) -> dict[str, object]:
    """Each quote in any source, index built anew, beside bare find over all pairs (a sample)."""
    forms = [source.form for source in prepared]
    start = time.process_time()
    index = QuoteIndex({str(number): source for number, source in enumerate(prepared)})
    hits = sum(map(bool, index.find_all([quote for quote, _ in quotes])))
    ours = time.process_time() - start
    plain = [comparable(quote) for quote, _ in quotes[:sample]]
    middle = time.process_time()
    for quote in plain:
        for form in forms:
            form.find(quote)
    pairs = (time.process_time() - middle) * len(quotes) / sample
    detail = (
        f"times as fast as find over all pairs ({sample} quotes, scaled), the index built within "
        f"the time; {hits} found"
    )
    return _row(
        f"quote in any of {len(prepared)} sources", pairs / ours, ">= 25", len(quotes), detail
    )


if __name__ == "__main__":
    import sys

    for line in run("--quick" in sys.argv):
        print(line)
