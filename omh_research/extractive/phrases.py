"""Content phrases of a text, as literal slices of it.

Job: noun-like word groups (scripts with spaces) and recurring character groups (Chinese, Japanese)
that could name a facet of a topic. Refuses to weigh them. Importers: extractive.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from omh_research.extractive.word_classes import (
    is_adjective,
    is_light,
    is_measure,
    is_verb,
    may_be_verb,
)
from omh_research.lazy_re import lazy_re
from omh_research.tools.stopwords import stop_phrases, stop_words
from omh_research.tools.tokens import fold_word

MAX_WORDS = 3
_DENSE_LANGUAGES = ("zh", "ja")
_HEAD_LAST = ("en", "de", "nl", "sv", "da", "no")
_HEAD_FIRST = ("es", "fr", "it", "pt")
_LINKS = {
    "en": lazy_re(r"\s(?:of|of the|of an?)\s"),
    "es": lazy_re(r"\s(?:de|del|de la|de los|de las)\s"),
    "fr": lazy_re(r"\s(?:de|du|des|de la|de l['’])\s?"),
    "it": lazy_re(r"\s(?:di|del|della|dei|delle)\s"),
    "pt": lazy_re(r"\s(?:de|do|da|dos|das)\s"),
}
_CHUNK = lazy_re(r"[^\s,.;:!?()\[\]{}\"“”„«»‹›<>|/*_`=+~^#।،؛؟。，、；：！？（）「」『』《》…–—]+")
_HAN_RUN = lazy_re("[\u3400-\u9fff\u3005]{2,}|[\u30a1-\u30fa\u30fc]{3,}", beyond_ascii=True)
_CLITIC = lazy_re("['’](?:s|t|re|ve|ll|d|m)?$|['’].{3}")
_DIGIT = lazy_re(r"\d")
_EDGES = "'’‘-·•\ufeff\u200b\u200e\u200f"
# Light verbs and adverbs that stop lists leave in and that make poor names.
_WEAK = (
    "despite left lead took take multiple therefore hence although four five six seven eight "
    "nine ten eleven twelve dozen hundred thousand million billion half second third fourth "
    "nearly almost together went came did didn't known used called made including include "
    "includes became become new first many well one two three several various different large "
    "small great however often later like would could may might use using based within "
    "without around among according since due part number time years year people wurde wurden "
    "sowie viele mehrere verschiedene seit ersten zwei drei jahr jahre jahren etwa según "
    "además primer primera parte años año varios muchas muchos grandes dos tres plusieurs "
    "première premier années année deux trois grande также более года году лет первый первая "
    "несколько время часть كما عام سنة خلال بعض عدة أكثر أول كبير وقد أخرى عرض رقم سبيل "
    "المثال الرئيسية رئيسي بالقرب أيه एक वर्ष दो पहले बाद even still along across least "
    "example sets way form additional main earlier name named names group groups given taken "
    "made every erst siehe genannt größer anderen weitere weiterhin jeweils dabei sowohl gab kam "
    "pro vier fünf sechs beide beiden millimeter zentimeter meter kilometer kubikmeter hektar "
    "quadratkilometer tonnen millionen milliarden tausend hundert prozent jahrzehnt jahrzehnte "
    "jahrhundert wesentlichen mehr weniger mehreren verschiedenen wobei tat"
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


class _Word(NamedTuple):
    """A word of a sentence: where it stands, and its folded form."""

    start: int
    end: int
    folded: str


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
    """Yield the names in a sentence: runs of content words cut where no name goes on."""
    runs = [run for run in _runs(sentence, language) if run]
    for run in runs:
        yield from _groups(sentence, run, language)
    for one, other in pairwise(runs):
        yield from _linked(sentence, one, other, language)


def _runs(sentence: str, language: str) -> Iterator[list[_Word]]:
    """Yield runs of adjacent content words; a verb ends one."""
    stops = stop_words(language) | stop_words("en")
    run: list[_Word] = []
    last_end = -1
    for match in [*_CHUNK.finditer(sentence), None]:
        text = match.group().strip(_EDGES) if match else ""
        start = match.start() + match.group().find(text) if match and text else -1
        joined = last_end >= 0 and sentence[last_end:start].isspace()
        word = _Word(start, start + len(text), fold_word(text.casefold()))
        is_content = _is_content(text, stops) and not _is_verb(text, word, start, language)
        if run and (not is_content or not joined):
            yield run
            run = []
        if is_content:
            if run and language == "de" and _is_past_noun(sentence, run[-1], start):
                yield run  # "Torfabbau zerstört": after its noun a German name is complete
                run = []
            if run and language == "en" and _ends_name(sentence, run[-1], start):
                # "cell turns light": before an object the plural is a verb.
                yield run[:-1] if may_be_verb(run[-1].folded) else run
                run = []
            run.append(word)
        last_end = start + len(text) if text else -1
    if run:
        yield run


def _ends_name(sentence: str, word: _Word, following: int) -> bool:
    """True when no English name goes on after the word: a plural, or a verb before a name."""
    if sentence[word.start].isupper():
        return False
    if word.folded.endswith("ed") and sentence[following].isupper():
        return True
    return word.folded[-1:] == "s" and word.folded[-2:] not in ("ss", "us", "is")


def _is_past_noun(sentence: str, word: _Word, following: int) -> bool:
    """True when a word in lower case follows a German noun."""
    return sentence[word.start].isupper() and sentence[following].islower()


def _is_verb(text: str, word: _Word, start: int, language: str) -> bool:
    # A capital inside a sentence is a name ("Rolls", "March"), whatever the word means elsewhere.
    if language == "es" and text.endswith("ó"):  # "subió"; a noun in -ó is rare
        return True
    return is_verb(word.folded, language) and not (start > 0 and text[:1].isupper())


def _is_content(word: str, stops: frozenset[str]) -> bool:
    folded = fold_word(word.casefold())
    if len(folded) < 3 or _DIGIT.search(word) or not any(map(str.isalpha, word)):
        return False
    return folded not in stops and folded not in _weak_words() and not _CLITIC.search(word)


def _groups(sentence: str, run: list[_Word], language: str) -> Iterator[str]:
    """Yield the parts of a run that keep its head: the last word, in Romance languages the first.

    A run of capitals is one name and stays whole.
    """
    if language in _HEAD_LAST:
        while run and not _is_head(run[-1].folded, language):
            run = run[:-1]
    capitals = [sentence[word.start].isupper() for word in run]
    for length in range(1, min(len(run), MAX_WORDS) + 1):
        for i in range(len(run) - length + 1):
            end = i + length
            if language in _HEAD_LAST and end != len(run):
                continue
            if language in _HEAD_FIRST and i:
                continue
            cuts_name = language != "de" and (
                (i and capitals[i - 1] and capitals[i])
                or (end < len(run) and capitals[end - 1] and capitals[end])
            )
            if is_measure(run[end - 1].folded, language):
                continue
            if is_light(run[end - 1].folded, language) and _is_bare(run[i : end - 1], language):
                continue
            if language == "de" and not _is_german_name(sentence, run[i:end]):
                continue
            if not (cuts_name and len(run) <= MAX_WORDS):
                yield sentence[run[i].start : run[end - 1].end]


def _is_german_name(sentence: str, words: list[_Word]) -> bool:
    """True for a noun, behind adjectives that agree with it ("verbindet Innsbruck" is none)."""
    endings = ("e", "en", "er", "es", "em")
    return sentence[words[-1].start].isupper() and all(
        sentence[word.start].isupper() or word.folded.endswith(endings) for word in words[:-1]
    )


def _is_head(word: str, language: str) -> bool:
    return not is_adjective(word, language) and not (language == "en" and word.endswith("ed"))


def _is_bare(modifiers: list[_Word], language: str) -> bool:
    """True when nothing but adjectives stands before the head ("regular rise", "moved back")."""
    return all(not _is_head(word.folded, language) for word in modifiers)


def _linked(sentence: str, one: list[_Word], other: list[_Word], language: str) -> Iterator[str]:
    """Yield "Ring of Fire": the head of one run, a preposition that makes one name, the next."""
    link = _LINKS.get(language)
    if link is None or not link.fullmatch(sentence[one[-1].end : other[0].start]):
        return
    while other and not _is_head(other[-1].folded, language):
        other = other[:-1]
    head = one[-1]
    is_name = not is_adjective(head.folded, language) and not is_light(head.folded, language)
    if other and len(other) <= 2 and is_name:
        yield sentence[head.start : other[-1].end]


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
