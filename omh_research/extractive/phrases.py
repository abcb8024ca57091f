"""Content phrases of a text, as literal slices of it.

Job: noun-like word groups (scripts with spaces) and recurring character groups (Chinese, Japanese)
that could name a facet of a topic. Refuses to weigh them. Importers: extractive.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache

from omh_research.lazy_re import lazy_re
from omh_research.tools.stopwords import stop_phrases, stop_words
from omh_research.tools.tokens import fold_word

MAX_WORDS = 3
_DENSE_LANGUAGES = ("zh", "ja")
_CHUNK = lazy_re(r"[^\s,.;:!?()\[\]{}\"“”„«»‹›<>|/*_`=+~^#।،؛؟。，、；：！？（）「」『』《》…–—]+")
_HAN_RUN = lazy_re("[\u3400-\u9fff\u3005]{2,}|[\u30a1-\u30fa\u30fc]{3,}")
_CLITIC = lazy_re("['’](?:s|t|re|ve|ll|d|m)?$|['’].{3}")
_DIGIT = lazy_re(r"\d")
_EDGES = "'’‘-·•\ufeff\u200b\u200e\u200f"
# Light verbs and adverbs that stop lists leave in and that make poor names.
_WEAK = (
    "despite left lead took take multiple went came did didn't known used called made including "
    "include includes became become new first many well one two three "
    "several various different large small great however often later like would could may might "
    "use "
    "using based within without around among according since due part number time years year "
    "people "
    "wurde wurden sowie viele mehrere verschiedene seit ersten zwei drei jahr jahre jahren etwa "
    "según además primer primera parte años año varios muchas muchos grandes dos tres "
    "plusieurs première premier années année deux trois grande также более года году лет первый "
    "первая несколько время часть كما عام سنة خلال بعض عدة أكثر أول كبير وقد أخرى عرض رقم سبيل "
    "المثال "
    "الرئيسية رئيسي بالقرب أيه एक वर्ष दो पहले बाद even still along across least example sets "
    "way form "
    "additional main earlier name named names group groups given taken made erst siehe genannt "
    "größer "
    "anderen weitere weiterhin jeweils dabei sowohl gab kam"
)
# Chinese words that name nothing, and characters no name begins or ends with.
_WEAK_DENSE = frozenset(
    "通过 包括 进行 成为 认为 可以 由于 每次 一间 学名 主要 目前 当时 后来 其中 以及 使用 没有 "
    "开始 出现 "
    "称为 被称 问题 方法 通常 可能 需要 因此 不同 部分 方面 情况 有关 相关 領域 地区 区域 领先 "
    "提供 发现 例如 特别 建立 定义 提出 截至 解决 破坏".split()
)
_BAD_FIRST = "中上下后时年月日还可使得该此每各某次间不也又很更最再曾已能会当于为所第"
_BAD_LAST = "中上下前后时年月日间的了着过在于和与及或是为被把将也"


@cache
def _weak_words() -> frozenset[str]:
    return frozenset(fold_word(word.casefold()) for word in _WEAK.split())


def find_phrases(sentence: str, language: str) -> Iterator[str]:
    """Yield candidate phrases of one sentence, repeats included, in order."""
    if language in _DENSE_LANGUAGES:
        yield from _dense_phrases(sentence, language)
    else:
        yield from _spaced_phrases(sentence, language)


def _spaced_phrases(sentence: str, language: str) -> Iterator[str]:
    stops = stop_words(language) | stop_words("en")
    run: list[tuple[int, int]] = []
    last_end = -1
    for match in [*_CHUNK.finditer(sentence), None]:
        word = match.group().strip(_EDGES) if match else ""
        start = match.start() + match.group().find(word) if match and word else -1
        joined = last_end >= 0 and sentence[last_end:start].isspace()
        if run and (not _is_content(word, stops) or not joined):
            yield from _groups(sentence, run)
            run = []
        if _is_content(word, stops):
            run.append((start, start + len(word)))
        last_end = start + len(word) if word else -1


def _is_content(word: str, stops: frozenset[str]) -> bool:
    folded = fold_word(word.casefold())
    if len(folded) < 3 or _DIGIT.search(word) or not any(map(str.isalpha, word)):
        return False
    return folded not in stops and folded not in _weak_words() and not _CLITIC.search(word)


def _groups(sentence: str, run: list[tuple[int, int]]) -> Iterator[str]:
    for length in range(1, MAX_WORDS + 1):
        for i in range(len(run) - length + 1):
            yield sentence[run[i][0] : run[i + length - 1][1]]


@cache
def _splitter(language: str) -> re.Pattern[str]:
    single = "的了是在和与及或而对从被把将也都就并其这那之以于为有到由等个种所则"
    phrases = sorted(stop_phrases(language), key=len, reverse=True)
    return re.compile("|".join([*map(re.escape, phrases), f"[{single}]"]))


def _dense_phrases(sentence: str, language: str) -> Iterator[str]:
    for run in _HAN_RUN.finditer(sentence):
        pieces = [run.group()] if language == "ja" else _splitter(language).split(run.group())
        for piece in pieces:
            if 2 <= len(piece) <= 6 and is_dense_name(piece):
                yield piece


def is_dense_name(piece: str) -> bool:
    """Return whether a character group can name something: no numeral, no function character."""
    if re.search("[一二三四五六七八九十百千万亿两几]", piece) or piece in _WEAK_DENSE:
        return False
    return piece[0] not in _BAD_FIRST and piece[-1] not in _BAD_LAST


def repeated_groups(sentences: list[str], language: str) -> Counter[str]:
    """Count character groups of 2 to 6 that recur in Chinese or Japanese sentences.

    A group that only occurs inside one longer recurring group is left to that one.
    """
    counts: Counter[str] = Counter()
    for sentence in sentences:
        for run in _HAN_RUN.finditer(sentence):
            for piece in _splitter(language).split(run.group()):
                for length in range(2, 7):
                    counts.update(piece[i : i + length] for i in range(len(piece) - length + 1))
    kept = {group: n for group, n in counts.items() if n > 1}
    inside = {
        part for group, n in kept.items() for part in (group[1:], group[:-1]) if kept.get(part) == n
    }
    named = {group: n for group, n in kept.items() if group not in inside and is_dense_name(group)}
    return Counter(named)
