"""Compress: budget, literal slices, ranking, spread, noise (T9, T10, T25), hostile input (T20)."""

import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omh_research.errors import ToolInputError
from omh_research.tools import compress as module
from omh_research.tools.boilerplate import is_boilerplate
from omh_research.tools.compress import (
    MAX_CHUNK_CHARS,
    MIN_CHUNK_CHARS,
    chunk_text,
    compress,
    tokenize,
)
from omh_research.tools.condense import Compressor, Source, shorten
from omh_research.tools.passages import pack, paragraphs, window
from omh_research.tools.relevance import is_question

QUERY = "local first AI agent privacy"
RELEVANT = (
    "Local-first AI agent systems keep user data on the device. They never stream the private "
    "conversation to a remote server, so privacy stays under the user's control. This local first "
    "design means the agent runs offline and the user's files are never uploaded. Because the ai "
    "agent processes prompts locally, sensitive documents remain private. The study reports that a "
    "local first architecture reduces the privacy attack surface for an autonomous agent."
)
OFF_TOPIC = (
    "The real estate broker showed the downtown house to several prospective buyers over the "
    "weekend. They negotiated the closing price and reviewed the mortgage paperwork with the bank. "
    "The listing had been on the market for months, so the seller was eager to accept an offer. "
    "A home inspection team scheduled the final walkthrough for Monday morning."
)
NOISE = (
    "The chef simmered the tomato sauce for two hours, stirring in fresh basil and oregano. He then "
    "plated the pasta with a generous helping of grated cheese and a slow drizzle of olive oil. "
    "A rustic loaf of sourdough came out of the wood oven with a crackling golden crust."
)
CHINESE = (
    "本地优先的智能体系统把用户数据完整保留在设备本地，模型推理全程不需要把私人对话上传到远程服务器。"
    "由于所有处理都发生在用户自己的机器上，敏感文档不会暴露给任何第三方服务，隐私始终掌握在用户手中。"
)
CHINESE_NOISE = (
    "厨师把番茄酱汁小火慢炖了两个小时，期间不断加入新鲜罗勒和牛至调味。"
    "随后他把意面装盘，撒上厚厚一层擦碎的奶酪，再淋上少许橄榄油。"
)


def payload(max_chars: int, **more: Any) -> dict[str, Any]:
    return {
        "query": QUERY,
        "max_chars": max_chars,
        "sources": [
            {"id": "s1", "url": "https://a", "title": "A", "text": f"{RELEVANT}\n\n{OFF_TOPIC}"},
            {"id": "s2", "url": "https://b", "title": "B", "text": NOISE},
        ],
        **more,
    }


def kept(result: dict[str, Any]) -> list[str]:
    return [entry["chunk"] for entry in result["kept"]]


def test_input_that_fits_passes_whole_without_scores() -> None:
    """T9."""
    result = compress(payload(12_000))
    assert kept(result) == [f"{RELEVANT}\n\n{OFF_TOPIC}", NOISE]
    assert all(entry["score"] is None and entry["chunk_index"] == 0 for entry in result["kept"])
    assert result["stats"]["skipped_compression"] is True
    assert result["stats"]["chars_out"] == sum(map(len, kept(result)))


def test_input_that_fits_is_de_duplicated() -> None:
    given_ = payload(12_000)
    given_["sources"] += [
        {"id": "s3", "text": f"  {NOISE.upper()}\n"},
        {"id": "s4", "text": RELEVANT},
        {"id": "s5", "text": ""},
    ]
    result = compress(given_)
    assert [entry["source"] for entry in result["kept"]] == ["s1", "s2"]
    assert result["stats"]["deduped"] == 2


def test_the_telling_passage_comes_first_and_noise_goes() -> None:
    result = compress(payload(len(RELEVANT) + 20))
    assert result["kept"][0]["source"] == "s1"
    assert result["kept"][0]["url"] == "https://a"
    assert result["kept"][0]["title"] == "A"
    assert result["kept"][0]["score"] > 0
    assert all(chunk in RELEVANT or chunk in OFF_TOPIC for chunk in kept(result))
    assert sum(len(chunk) for chunk in kept(result) if chunk in RELEVANT) > 0.9 * len(RELEVANT)
    assert result["stats"]["skipped_compression"] is False
    assert result["dropped_low_relevance"] >= 1


def test_scores_fall_and_stay_within_one() -> None:
    scores = [entry["score"] for entry in compress(payload(400))["kept"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


def test_envelope_and_statistics() -> None:
    result = compress(payload(400))
    assert set(result) == {"query", "kept", "dropped_low_relevance", "budget_chars", "stats"}
    assert set(result["kept"][0]) == {"source", "url", "title", "chunk", "chunk_index", "score"}
    stats = result["stats"]
    assert stats["chars_in"] == len(RELEVANT) + 2 + len(OFF_TOPIC) + len(NOISE)
    assert stats["chars_out"] <= 400
    assert stats["chunks_kept"] == len(result["kept"]) <= stats["chunks_total"] + 5
    assert {"sources_dropped", "sources_truncated", "deduped"} <= set(stats)
    json.dumps(result, allow_nan=False)


@pytest.mark.parametrize("budget", [1, 5, 29, 40, 77, 150, 399, 900])
def test_never_a_character_over_budget_and_always_literal(budget: int) -> None:
    """T9, T10."""
    given_ = payload(budget)
    result = compress(given_)
    assert 0 < sum(map(len, kept(result))) == result["stats"]["chars_out"] <= budget
    texts = {source["id"]: source["text"] for source in given_["sources"]}
    assert all(entry["chunk"] in texts[entry["source"]] for entry in result["kept"])


def test_repeated_sources_are_kept_once() -> None:
    given_ = payload(500)
    given_["sources"].append({"id": "s3", "text": RELEVANT})
    result = compress(given_)
    assert result["stats"]["deduped"] >= 1
    assert len(set(kept(result))) == len(kept(result))


def test_max_per_source_spreads_the_budget() -> None:
    texts = [
        f"Solar power fact {n} of plant {n}. Filler here. Wind and sun {n}." for n in range(60)
    ]
    sources = [{"id": str(n), "text": " ".join(texts[n * 20 : n * 20 + 20])} for n in range(3)]
    result = compress(
        {"query": "solar power", "sources": sources, "max_chars": 900, "max_per_source": 1}
    )
    taken = [entry["source"] for entry in result["kept"]]
    assert len(taken) == len(set(taken)) >= 2


def test_min_score_raises_the_bar() -> None:
    low = compress(payload(700))
    scores = sorted(entry["score"] for entry in low["kept"])
    high = compress(payload(700, min_score=scores[-1]))
    assert high["kept"] == []
    middle = compress(payload(700, min_score=0.2))
    assert all(entry["score"] > 0.2 for entry in middle["kept"])


@pytest.mark.parametrize("query", ["", "  ", None, "?!"])
def test_without_a_query_the_beginnings_come_unscored(query: str | None) -> None:
    result = compress(payload(300, query=query))
    assert result["stats"]["skipped_scoring"] is True
    assert all(entry["score"] is None for entry in result["kept"])
    assert kept(result)[0] == RELEVANT[:300]


def test_when_nothing_matches_the_beginnings_come_with_score_nought() -> None:
    result = compress(payload(300, query="quantum chromodynamics"))
    assert [entry["score"] for entry in result["kept"]] == [0.0]
    assert compress(payload(300, query="quantum", min_score=0.1))["kept"] == []


def test_chinese_is_ranked_and_bounded() -> None:
    sources = [{"id": "n", "text": CHINESE_NOISE * 3}, {"id": "r", "text": CHINESE}]
    result = compress({"query": "智能体的隐私保障", "sources": sources, "max_chars": 100})
    assert [entry["source"] for entry in result["kept"]] == ["r"] * len(result["kept"])
    assert "智能体" in "".join(kept(result))
    assert result["stats"]["chars_out"] <= 100


def test_boilerplate_goes_unless_it_is_asked_for() -> None:
    """T10."""
    body = f"{RELEVANT}\n\n{OFF_TOPIC}\n\n{NOISE}\n\n"
    notice = "We use cookies to protect your privacy. Privacy Policy | Terms of Use | Sign in"
    text = body + notice + "\n\n" + body.replace("Local", "A local")
    result = compress({"query": QUERY, "sources": [{"text": text}], "max_chars": 700})
    assert "cookies" not in "".join(kept(result))
    asked = compress(
        {"query": "Does the site use cookies?", "sources": [{"text": text}], "max_chars": 700}
    )
    assert "We use cookies" in kept(asked)[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We use cookies to improve your experience.", True),
        ("© 2024 Example Corp. All rights reserved.", True),
        ("Home | About | Products | Contact", True),
        ("[Home](/) [News](/news) [Sport](/sport)", True),
        ("本网站版权所有，请勿转载", True),
        ("Diese Website verwendet Cookies.", True),
        ("The committee rejected the proposal in 1998.", False),
        ("Cells read the genetic code to build proteins.", False),
        ("| Year | Sales | Profit | Staff |", False),
        ("Wind, sun and water: three sources of power.", False),
    ],
)
def test_site_furniture(text: str, expected: bool) -> None:
    assert is_boilerplate(text) is expected


def test_limits_are_applied_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """T25: the seed's names, changed as its callers change them."""
    monkeypatch.setattr(module, "MAX_SOURCES", 3)
    monkeypatch.setattr(module, "MAX_SOURCE_CHARS", 100)
    monkeypatch.setattr(module, "MAX_TOTAL_INPUT_CHARS", 250)
    sources = [{"id": f"s{n}", "text": "x" * 120} for n in range(5)]
    stats = compress({"query": "", "sources": sources})["stats"]
    assert stats["input_capped"] is True
    assert stats["sources_input"] == stats["sources"] == 5
    assert stats["sources_considered"] == 3
    assert stats["sources_dropped"] == 2
    assert stats["sources_truncated"] == 3
    assert stats["chars_input_raw"] == 600
    assert stats["chars_in"] == 250
    assert stats["chars_truncated"] == 350


@pytest.mark.parametrize(
    "bad",
    [
        None,
        [],
        {"sources": {}},
        {"sources": [3]},
        {"sources": [{"text": 3}]},
        {"sources": [], "query": 3},
        {"sources": [], "max_chars": "many"},
        {"sources": [], "max_chars": -1},
        {"sources": [], "max_chars": float("nan")},
        {"sources": [], "max_per_source": True},
        {"sources": [], "min_score": "x"},
    ],
)
def test_payloads_of_the_wrong_shape_are_refused(bad: Any) -> None:
    with pytest.raises(ToolInputError):
        compress(bad)


def test_absent_sources_give_an_empty_answer() -> None:
    assert compress({"query": "x"})["kept"] == []


def test_tokenize_drops_function_words() -> None:
    assert set(tokenize("the AI agent and the data")) == {"ai", "agent", "data"}
    assert {"中文", "压缩", "预算"} <= set(tokenize("中文压缩预算是否严格"))
    assert "是否" not in tokenize("中文压缩预算是否严格")


def test_chunks_are_paragraphs_within_bounds() -> None:
    """T25."""
    first, second = "A" * 120, "B" * 120
    assert chunk_text(f"{first}\n\n{second}") == [first, second]
    assert chunk_text("short.\n\n\n\n" + "x" * (MIN_CHUNK_CHARS - 1)) == []
    chinese = "本地优先的智能体系统把用户的全部数据保留在设备本地，天然保护用户隐私。"
    assert chunk_text(chinese) == [chinese]
    long = " ".join(f"Sentence number {n} explains a distinct point." for n in range(90))
    found = chunk_text(long)
    assert len(found) > 2
    assert all(chunk in long and len(chunk) <= MAX_CHUNK_CHARS for chunk in found)
    assert all(chunk.endswith(".") for chunk in found)
    assert [len(chunk) for chunk in chunk_text("y" * 2_500)] == [1_200, 1_200, 100]


def test_shorten_gives_slices_in_reading_order() -> None:
    text = f"{OFF_TOPIC}\n\n{RELEVANT}\n\n{NOISE}"
    spans = shorten(text, "agent privacy", 300)
    assert sum(len(span.text) for span in spans) <= 300
    assert [span.start for span in spans] == sorted(span.start for span in spans)
    assert all(text[span.start : span.end] == span.text for span in spans)
    assert all(span.text in RELEVANT for span in spans)
    assert [span.text for span in shorten("  all of it \n", "x", 30)] == ["all of it"]
    assert shorten(" ", "x", 30) == []


def test_a_compressor_answers_many_queries() -> None:
    sources = [Source(text, id=n) for n, text in enumerate((RELEVANT, OFF_TOPIC, NOISE) * 30)]
    compressor = Compressor(sources)
    for query, wanted in (("tomato sauce", NOISE), ("house buyers", OFF_TOPIC)):
        best = compressor.compress(query, max_chars=300).kept[0]
        assert compressor.text(best) in wanted


def test_questions_are_told_from_claims() -> None:
    asking = [
        "Who won",
        "ما هي العاصمة",
        "谁赢了",
        "Wie alt ist er",
        "Is it true?",
        "수도는 어디인가",
    ]
    assert all(map(is_question, asking))
    assert not any(
        map(is_question, ["Aspirin lowers fever.", "阿司匹林降低发烧", "local first AI"])
    )


def test_a_window_holds_the_match_and_what_stands_beside_it() -> None:
    sentence = (
        "In the years that followed, and to the surprise of many, the defense gave up just 308 "
        "points, which ranked sixth in the league according to the official records of the time."
    )
    weight = {"defens": 1.0, "point": 1.0}
    start, end = window(sentence, lambda token: weight.get(token, 0.0), 60)
    assert "308" in sentence[start:end]
    assert end - start <= 60
    assert window("short", lambda _: 0.0, 60) == (0, 5)
    assert window("x" * 100, lambda _: 0.0, 60) == (0, 60)


@given(st.text(alphabet="ab .\n\f\t。证", max_size=300), st.integers(1, 40))
def test_packing_loses_nothing_but_white_space(text: str, longest: int) -> None:
    pieces = pack(text, longest)
    assert all(0 < end - start <= longest for start, end in pieces)
    assert "".join("".join(text[a:b].split()) for a, b in pieces) == "".join(text.split())
    assert all(text[a:b] == text[a:b].strip() for a, b in paragraphs(text))


words = st.sampled_from(
    [
        "agent",
        "privacy",
        "the",
        "证据",
        "隐私。",
        "x.",
        "\n\n",
        "№5",
        "Über",
        "a" * 30,
        "|",
        "\u200b",
        "?",
    ]
)
texts = st.lists(words, max_size=60).map(" ".join)


@settings(deadline=None)
@given(st.lists(texts, max_size=5), texts, st.integers(1, 400), st.integers(0, 3))
def test_any_sources_any_budget(
    sources: list[str], query: str, budget: int, per_source: int
) -> None:
    """T9: never over budget, literal, no slice twice, at most so many a source."""
    result = compress(
        {
            "query": query,
            "sources": [{"id": n, "text": text} for n, text in enumerate(sources)],
            "max_chars": budget,
            "max_per_source": per_source,
        }
    )
    assert sum(map(len, kept(result))) == result["stats"]["chars_out"] <= budget
    assert all(entry["chunk"] in sources[entry["source"]] for entry in result["kept"])
    if per_source:
        counted = [entry["source"] for entry in result["kept"]]
        assert all(counted.count(source) <= per_source for source in counted)


def test_same_input_same_output() -> None:
    given_ = payload(500)
    assert compress(given_) == compress(json.loads(json.dumps(given_)))


@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "<",
        " ",
        "\n",
        "a ",
        "abcd efgh\n\n",
        "证据。",
        ". ",
        "1.",
        "\t|",
        "[",
        "http://a ",
        "\u0301",
    ],
)
def test_hostile_input_ends_within_budget(unit: str) -> None:
    """T20."""
    text = unit * (400_000 // len(unit))
    result = compress({"query": "a evidence 证据 1", "sources": [{"text": text}], "max_chars": 900})
    assert result["stats"]["chars_out"] <= 900


def test_large_input_is_read_where_it_matters() -> None:
    choose = random.Random(4)
    vocabulary = ["".join(choose.choices("abcdefghij", k=5)) for _ in range(800)]
    parts = [" ".join(choose.choices(vocabulary, k=150)) + "." for _ in range(900)]
    parts[777] += " The heliograph of Zanzibar was built in 1871 by two engineers."
    result = compress(
        {
            "query": "heliograph Zanzibar",
            "sources": [{"text": "\n\n".join(parts)}],
            "max_chars": 200,
        }
    )
    assert "built in 1871" in kept(result)[0]


DATA = Path(os.environ.get("OMH_SHARED_DATA") or Path(__file__).parents[2] / "../shared/data")


def rows(name: str, file: str) -> list[dict[str, Any]]:
    path = DATA / "retrieval" / name / file
    if not path.exists():
        pytest.skip("the shared data folder is absent")
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def claims() -> Iterator[tuple[str, list[dict[str, Any]], dict[str, list[list[str]]]]]:
    """(claim, sources, alternative rationales by source) of the labelled claims."""
    documents = {d["id"]: d for d in rows("scifact-en-a", "docs.jsonl")}
    for query in rows("scifact-en-a", "queries.jsonl"):
        sources, rationales = [], {}
        for document in query["evidence"]:
            sentences = [s.strip() for s in documents[document]["sentences"]]
            sources.append({"id": document, "text": " ".join(sentences)})
            rationales[document] = [
                [sentences[i] for i in alternative]
                for alternative in query["evidence"][document]["rationales"]
            ]
        yield query["text"], sources, rationales


Held = list[list[bool]]  # by source, by alternative rationale


@pytest.mark.data
@pytest.mark.parametrize(
    ("judge", "floor"),
    [
        (lambda held: any(map(any, held)), 0.92),
        (lambda held: all(alternatives[0] for alternatives in held), 0.72),
        (lambda held: all(map(all, held)), 0.65),
    ],
    ids=["a rationale", "the first rationales", "every rationale"],
)
def test_rationales_of_claims_survive_800_characters(
    judge: Callable[[Held], bool], floor: float
) -> None:
    """T10, issue 3: full rationale kept at 800 characters."""
    verdicts = []
    for claim, sources, rationales in claims():
        result = compress({"query": claim, "sources": sources, "max_chars": 800})
        assert result["stats"]["chars_out"] <= 800
        text = "\n".join(kept(result))
        held = [
            [all(sentence in text for sentence in alternative) for alternative in alternatives]
            for alternatives in rationales.values()
        ]
        verdicts.append(judge(held))
    assert sum(verdicts) / len(verdicts) >= floor


@pytest.mark.data
@pytest.mark.parametrize(
    ("language", "budgets", "floors"),
    [
        ("en", (180, 360, 720), (0.75, 0.93, 0.992)),
        ("de", (180, 360, 720), (0.72, 0.9, 0.95)),
        ("ar", (180, 360, 720), (0.75, 0.9, 0.983)),
        ("zh", (60, 120, 240), (0.75, 0.93, 0.992)),
        ("cmrc", (60, 120, 240), (0.58, 0.816, 0.9)),
    ],
)
def test_answers_survive_small_budgets(
    language: str, budgets: tuple[int, ...], floors: tuple[float, ...]
) -> None:
    """T10, issue 3: the answer span of a question, kept within a budget of its paragraph."""
    name = "cmrc-zh-hans" if language == "cmrc" else "xquad-multi-a"
    code = "zh" if language == "cmrc" else language
    documents = {d["id"]: d["text"] for d in rows(name, "docs.jsonl")}
    relevant = dict(
        row.split("\t")[:2]
        for row in (DATA / "retrieval" / name / "qrels.tsv").read_text("utf-8").splitlines()[1:]
    )
    queries = [q for q in rows(name, "queries.jsonl") if q["lang"] == code]
    queries = queries[:: 2 if language == "cmrc" else 1]
    for budget, floor in zip(budgets, floors, strict=True):
        good = 0
        for query in queries:
            source = {"text": documents[relevant[query["id"]]]}
            result = compress({"query": query["text"], "sources": [source], "max_chars": budget})
            good += any(query["answer"] in chunk for chunk in kept(result))
        assert good / len(queries) >= floor, (language, budget, good / len(queries))
