"""Near duplicates: T3's token Jaccard, repeated passages, linear on hostile input (T20)."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.tools.similarity import (
    is_near_duplicate,
    jaccard,
    repeated_passages,
    split_duplicates,
    token_jaccard,
)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("What is X?", "what is x"),
        ("local first ai agent privacy model", "privacy model local first ai agent"),
        ("The history of the Roman Empire", "history of Roman empires"),
        ("中国新能源汽车的出口趋势分析", "分析中国新能源汽车的出口趋势"),
        ("人工智能的历史", "人工智能 历史"),
        ("大韓民国の経済について", "大韓民国の経済"),
        ("The Who", "the who"),
        ("تاريخ المملكة العربية", "تاريخ المملكة العربيّة"),
        ("café culture", "Cafe Culture"),
    ],
)  # fmt: skip
def test_rephrasings_are_duplicates(first: str, second: str) -> None:
    assert is_near_duplicate(first, second)
    assert is_near_duplicate(second, first)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("local first ai agent privacy", "cloud server latency cost tradeoff"),
        ("中国新能源汽车的出口趋势", "欧洲电池回收政策的合规成本"),
        ("The Who", "Who"),
        ("it", "is"),
        (
            "effect of aspirin therapy on stroke risk among elderly patients with diabetes",
            "effect of aspirin therapy on stroke risk among elderly patients without diabetes",
        ),
        (
            "inflation rate energy prices household income euro area germany 2021",
            "inflation rate energy prices household income euro area germany 2022",
        ),
    ],
)
def test_different_questions_are_not(first: str, second: str) -> None:
    """T3: names of stop words only are compared whole; other numbers or polarity differ."""
    assert not is_near_duplicate(first, second)


def test_jaccard_after_stop_words() -> None:
    assert token_jaccard("the cat and the dog", "a dog with a cat") == 1.0
    assert token_jaccard("red cat", "red dog") == pytest.approx(1 / 3)
    assert token_jaccard("the of", "of the") == 0.0
    assert jaccard(frozenset[str](), frozenset[str]()) == 0.0


def test_split_keeps_the_first_and_names_the_rest() -> None:
    names = ["Cats", "Dogs", "cats?", "dogs", "Birds", "the cats"]
    assert split_duplicates(names) == ([0, 1, 4], [2, 3, 5])
    assert split_duplicates([]) == ([], [])


def words(seed: int, count: int) -> list[str]:
    letters = random.Random(seed)
    return ["".join(letters.choices("abcdefghijklmnop", k=6)) for _ in range(count)]


def test_edited_copies_are_found_and_others_kept() -> None:
    """82-dependencies 2.3: edited copies of passages, one word in thirty changed."""
    vocabulary = words(1, 5_000)
    choose = random.Random(2)
    originals = [" ".join(choose.choices(vocabulary, k=150)) for _ in range(300)]
    copies = [
        " ".join(w if choose.random() > 1 / 30 else choose.choice(vocabulary) for w in text.split())
        for text in originals
    ]
    found = repeated_passages([*originals, *copies])
    assert all(index >= 300 for index in found)
    assert len(found) >= 250


def test_passages_with_other_numbers_are_kept() -> None:
    text = "In {} the company sold many cars in Germany and earned more than the year before that."
    assert repeated_passages([text.format(2019), text.format(2020), text.format(2019)]) == [2]


def test_half_shared_passages_are_kept() -> None:
    first = "alpha beta gamma delta epsilon zeta eta theta iota kappa"
    second = "alpha beta gamma delta epsilon lorem ipsum dolor sit amet"
    assert repeated_passages([first, second]) == []
    assert repeated_passages([first, f"  {first.upper()} "]) == [1]


def test_chinese_passages() -> None:
    text = "本研究分析中文压缩预算，要求所有输出严格遵守字符上限并保留关键证据。"
    assert repeated_passages([text, f"{text}完", "餐厅今天准备了面包、咖啡和水果。"]) == [1]


def test_hostile_collections_end() -> None:
    """T20: thousands that share a token, are equal, or are empty."""
    assert len(repeated_passages(["same text again and again here"] * 5_000)) == 4_999
    assert repeated_passages(["", ""]) == [1]
    shared = [
        f"common words everywhere {a} {b} {c}"
        for a, b, c in zip(*[iter(words(3, 9_000))] * 3, strict=True)
    ]
    assert repeated_passages(shared) == []
    assert split_duplicates(shared)[1] == []


@given(st.lists(st.text(alphabet="ab 1证据", max_size=12), max_size=20))
def test_every_text_is_kept_or_dropped_once(texts: list[str]) -> None:
    kept, dropped = split_duplicates(texts)
    assert sorted([*kept, *dropped]) == list(range(len(texts)))
    assert (not texts) or kept[0] == 0
