"""The index over sources answers as every source would, one by one (T12, Q6)."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from omh_research.tools.quote_index import QuoteIndex
from omh_research.tools.quotes import VERIFIED, match

SOURCES = {
    "en": "The treaty was signed in 1951 by six founding members, among them **Luxembourg** and Italy.",
    "pdf": "The treaty was signed in 1951 by six found-\ning members and has well-\nknown articles on coal.",
    "note": "The treaty² was signed[3] in 1951 by six founding members, or so the copy says.",
    "zh": "该条约由六个创始成员国于1951年签署，其中包括卢森堡和意大利。钢铁与煤炭由共同机构管理。",
    "de": "Der Vertrag wurde 1951 von sechs Gründungsmitgliedern unterzeichnet, darunter Luxemburg.",
    "th": "สนธิสัญญานี้ลงนามในปี 1951 โดยสมาชิกผู้ก่อตั้งหกประเทศ รวมถึงลักเซมเบิร์กและอิตาลี",
}
QUOTES = [
    "was signed in 1951 by six founding members",
    "signed in 1951 by six founding members, among them Luxembourg and Italy",
    "has well-known articles on coal",
    "The treaty was signed in 1951 by six founding members, or so",
    "六个创始成员国于 1951 年签署",
    "其中包括卢森堡和意大利",
    "其中包括比利时和意大利",
    "von sechs Gründungsmitgliedern unterzeichnet",
    "VON SECHS GRU\u0308NDUNGSMITGLIEDERN",
    "โดยสมาชิกผู้ก่อตั้งหกประเทศ",
    "was signed in 1952 by six founding members",
    "six founding … articles on coal and steel",
    "The treaty was signed … among them Luxembourg",
    "short",
    "",
    "was signed by all the seven dwarfs of the tale",
]


def one_by_one(quote: str, sources: dict[str, str]) -> tuple[str, ...]:
    return tuple(key for key, text in sources.items() if match(quote, text) == VERIFIED)


def test_every_quote_has_the_answer_of_asking_each_source() -> None:
    index = QuoteIndex(SOURCES)
    for quote in QUOTES:
        assert index.find(quote) == one_by_one(quote, SOURCES), quote
    assert index.find(QUOTES[0]) == ("en", "pdf", "note")


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_random_texts_and_their_slices(data: st.DataObject) -> None:
    """No source that holds the quote is left out, in any script, with hyphens and marks."""
    alphabet = [
        "alpha",
        "beta-",
        "gam\nma",
        "Delta",
        "12%",
        "1,5",
        "—",
        "-\n",
        "é",
        "中文字",
        "的",
        "**",
        "[1]",
        "²",
        "…",
        "カナ",
        " ",
    ]
    make = st.lists(st.sampled_from(alphabet), min_size=5, max_size=40).map(" ".join)
    sources = {str(i): data.draw(make) for i in range(4)}
    text = sources[data.draw(st.sampled_from(sorted(sources)))]
    at = data.draw(st.integers(0, len(text)))
    quote = text[at : at + data.draw(st.integers(12, 60))]
    quotes = [quote] * 45 + [text[at + i : at + i + 30] for i in range(20)]
    assert QuoteIndex(sources).find_all(quotes) == [one_by_one(q, sources) for q in quotes]


def test_many_quotes_at_once_have_the_same_answers() -> None:
    rng = random.Random(1)
    vocabulary = ["".join(rng.choices("abcdefgh的é", k=6)) for _ in range(3000)]
    sources = {f"s{i}": " ".join(rng.choices(vocabulary, k=600)) for i in range(30)}
    sources["pdf"] = sources["s1"].replace("a ", "a-\n")
    quotes = []
    for text in [*sources.values()] * 4:
        at = text.index(" ", rng.randrange(len(text) - 300)) + 1
        quotes.append(text[at : text.index(" ", at + rng.randint(15, 150))])
    quotes += [quote.replace("b", "c", 1) for quote in quotes[:40]]
    quotes += [f"{quote} … {quotes[i + 1]}" for i, quote in enumerate(quotes[:20])]
    assert QuoteIndex(sources).find_all(quotes) == [one_by_one(q, sources) for q in quotes]


def test_no_sources_no_answer() -> None:
    assert QuoteIndex({}).find("anything at all here") == ()
