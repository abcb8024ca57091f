"""Words that turn a statement round or widen it: negation, opposites, scope, hedges.

Job: tables in several languages and one question, `polarity_conflict`: does a claim say more than,
or the contrary of, a piece of text? Refuses to compare topics (see `alignment`). Lexical: it sees
words, not meaning. Importers: tools.
"""

from __future__ import annotations

import re
from functools import cache

from omh_research.lazy_re import lazy_re
from omh_research.tools.negation import is_negated
from omh_research.tools.order import same_words_in_order
from omh_research.tools.stems import stem

# Pairs that say opposite things about the same subject; words of one side are alternatives.
_OPPOSITES = """
increase increases increased increasing rise rises rose risen rising grew grow grows growing \
growth higher upward gain gains gained climb climbed raise raises raised | decrease decreases \
decreased decreasing fall falls fell fallen falling decline declines declined declining drop \
drops dropped lower downward loss losses lost shrank shrink shrunk cut cuts reduce reduces \
reduced reduction lowered
more greater larger | fewer less smaller
largest biggest highest | smallest lowest
heavier | lighter
above over exceeds exceeded exceed | below under
maximum most | minimum least
first | last
always | never
all every everyone | none nobody
before | after
with | without
best | worst
better improve improves improved improvement | worse worsen worsens worsened worsening
faster | slower
early earlier | late later
safe | unsafe dangerous
effective | ineffective
success succeed succeeded succeeds successful | failure fail failed fails unsuccessful
approve approved approves approval accept accepted accepts | reject rejected rejects rejection \
deny denied denies refuse refused
support supports supported | oppose opposes opposed
allow allows allowed permit permits permitted legal | ban bans banned prohibit prohibits \
prohibited forbid forbidden illegal
enable enables enabled | disable disables disabled
win wins won | lose loses lost
positive positively | negative negatively
profit profits profitable | loss losses unprofitable
include includes included | exclude excludes excluded
open | closed
free | paid
true | false
present | absent
start started begin began begins opened | stop stopped end ended ends closed
strong stronger | weak weaker
high | low
common | rare
cause causes caused promote promotes promoted | prevent prevents prevented inhibit inhibits \
inhibited
protect protects protected | harm harms harmed
major | minor
north northern | south southern
east eastern | west western
import imports imported | export exports exported
buy buys bought | sell sells sold
birth | death
male men | female women
confirm confirmed confirms | refute refuted refutes disprove disproved
gestiegen steigt steigen stieg zunahme zugenommen | gesunken sinkt sinken sank abnahme abgenommen \
gefallen
höher mehr größer | niedriger weniger kleiner
erlaubt | verboten
aumentó aumenta aumentar subió | disminuyó disminuye disminuir bajó
mayor más | menor menos
augmenté augmente augmentation hausse | diminué diminue diminution baisse
増加 上昇 | 減少 低下
"""
_OPPOSITES_CJK = """
增加 增长 上升 上涨 提高 提升 升高 增多 扩大 走高|减少 下降 下跌 降低 下滑 减弱 缩小 走低 回落
高于 超过 大于 多于|低于 不足 小于 少于
支持 赞成|反对
有效|无效
安全|危险
盈利|亏损
批准 通过 接受 同意|拒绝 否决 驳回
允许 合法|禁止 非法
成功|失败
最高 最大 最多|最低 最小 最少
首次 第一次|最后一次
改善 好转|恶化
之前 以前|之后 以后
开源|闭源
收费 付费|免费
阳性|阴性
正相关|负相关
进口|出口
买入|卖出
促进|抑制 阻止
强于 优于|弱于 劣于
真实|虚假
全部 所有|没有一个
開始|終了
増加 上昇|減少 低下
"""
_MAX_EXCHANGED = 600
# Which side they stand on decides what they say.
_SIDED_CJK = (
    "高于 超过 大于 多于 低于 不足 小于 少于 进口 出口 买入 卖出 强于 优于 弱于 劣于 之前 以前 "
    "之后 以后"
).split()
# Phrases with a sweeping word that do not sweep.
_IDIOMS = lazy_re(
    r"\b(?:not only|at all|after all|first of all|above all|in all|all-time|if any|only then"
    r"|not all|all but|all-in-one|all-purpose)\b|完全不"
)
_SCOPE = lazy_re(
    r"\b(?:all|every|everyone|everything|always|entirely|completely|fully|exclusively|only|any"
    r"|universally|invariably|proves?|proven|guarantees?|guaranteed|alle|immer|ausschließlich"
    r"|beweist|tous|toutes|toujours|todos|todas|siempre|всегда|все)\b"
    r"|所有|全部|一切|每个|每一|总是|必然|完全|唯一|证明了|仅有|すべて|全て|必ず"
)
_HEDGE = lazy_re(
    r"\b(?:may|might|could|possibly|perhaps|probably|likely|potentially|suggests?|suggested"
    r"|suggesting|appears?|appeared|seems?|seemed|reportedly|allegedly|rumou?red|preliminary"
    r"|hypothesi[sz]ed?|speculat\w{1,8}|expected|expects|projected|forecasts?|planned|plans"
    r"|proposed|proposes|anticipated|aims?|intends?|hopes?|would|should|könnte|dürfte|vielleicht"
    r"|möglicherweise|soll|pourrait|peut-être|podría|quizás|poderia|potrebbe|может|возможно"
    r"|вероятно)\b"
    r"|可能|或许|也许|大概|据称|据说|预计|預計|预期|拟|計画|有望|或将|疑似|かもしれない|可能性|見込み|予定|推測"
)
_WORD = lazy_re(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "anti", "de", "mis")
_MIN_STEM = 4


@cache
def _opposites() -> dict[str, frozenset[str]]:
    """Return for each word the words that say the opposite."""
    table: dict[str, set[str]] = {}
    for line in _OPPOSITES.casefold().strip().split("\n"):
        left, right = (side.split() for side in line.split("|"))
        for one, others in ((left, right), (right, left)):
            for word in one:
                table.setdefault(word, set()).update(others)
    return {word: frozenset(others) for word, others in table.items()}


@cache
def _synonyms() -> dict[str, frozenset[str]]:
    """Return for each word of the table its alternatives, itself included."""
    table: dict[str, set[str]] = {}
    for line in _OPPOSITES.casefold().strip().split("\n"):
        for side in line.split("|"):
            words = side.split()
            for word in words:
                table.setdefault(word, set()).update(words)
    return {word: frozenset(words) for word, words in table.items()}


@cache
def _opposites_cjk() -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    pairs = []
    for line in _OPPOSITES_CJK.strip().split("\n"):
        left, right = (tuple(side.split()) for side in line.split("|"))
        pairs += [(left, right), (right, left)]
    return tuple(pairs)


def _plain(text: str) -> str:
    return _IDIOMS.sub(" ", text.replace("\u2019", "'").casefold())


def polarity_conflict(claim: str, text: str) -> str:
    """Return in a few words how `claim` goes against or beyond `text`, "" when it does not.

    Found: a negation on one side only, opposite words, a negating prefix (effective and
    ineffective), a universal word the text lacks, a hedge the claim drops. `text` is the clause
    the claim rests on.
    """
    if is_negated(claim) != is_negated(text):
        return "one side is negated"
    said = _opposed(claim, text)
    if said:
        return said
    if _SCOPE.search(_plain(claim)) and not _SCOPE.search(_plain(text)):
        return "the claim is broader than the quote"
    # "May" the month is not a hedge.
    hedged = _HEDGE.search(re.sub(r"\bMay\b", " ", text.replace("\u2019", "'")).casefold())
    if hedged and not _HEDGE.search(_plain(claim)):
        return f"the quote hedges ({hedged[0].strip()}), the claim does not"
    return ""


def opposed_in_place(claim: str, text: str) -> str:
    """Return which words of two sentences that say the same are opposites, "" when none are.

    Only where the other words keep their order: "A is higher than B" is "B is lower than A". Of
    Chinese and Japanese words those are left out that a change of sides turns round (高于, 进口).
    """
    if not same_words_in_order(claim, text):
        return ""
    said = _opposed(claim, text)
    if not said or any(word in said for word in _SIDED_CJK):
        said = _exchanged(claim, text)
    return said


def _exchanged(claim: str, text: str) -> str:
    """Return the word of `claim` that stands where `text` has its opposite, "" if none does."""
    from difflib import SequenceMatcher

    ours, theirs = (_WORD.findall(_plain(side)[:_MAX_EXCHANGED]) for side in (claim, text))
    opposites = _opposites()
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if tag == "replace" and i2 - i1 <= 2 and j2 - j1 <= 2:
            for word in ours[i1:i2]:
                if against := opposites.get(word, frozenset()).intersection(theirs[j1:j2]):
                    return f"{word} against {min(against)}"
    if claim.isascii() or not any(word in claim for ones, _ in _opposites_cjk() for word in ones):
        return ""
    claim, text = claim[:_MAX_EXCHANGED], text[:_MAX_EXCHANGED]
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, claim, text, autojunk=False).get_opcodes():
        if tag == "replace" and i2 - i1 <= 3 and j2 - j1 <= 3:
            here, there = claim[max(0, i1 - 1) : i2 + 1], text[max(0, j1 - 1) : j2 + 1]
            said = _opposed_cjk(here, there)
            if said and not any(word in said for word in _SIDED_CJK):
                return said
    return ""


def without_opposites(text: str) -> str:
    """Return `text` without the words that have an opposite."""
    opposites = _opposites()
    kept = _WORD.sub(lambda found: " " if found[0].casefold() in opposites else found[0], text)
    if not text.isascii():
        for ones, _ in _opposites_cjk():
            for word in ones:
                kept = kept.replace(word, " ")
    return kept


def _opposed(claim: str, text: str) -> str:
    """Return which words of `claim` and `text` are opposites, "" when none are."""
    said, held = set(_WORD.findall(_plain(claim))), set(_WORD.findall(_plain(text)))
    opposites, synonyms = _opposites(), _synonyms()
    for word in sorted(said - held):
        against = opposites.get(word, frozenset()) & held
        if against and not synonyms[word] & held and not against & said:
            return f"{word} against {min(against)}"
    stems_said, stems_held = {stem(word) for word in said}, {stem(word) for word in held}
    for ours, theirs in ((stems_said, stems_held), (stems_held, stems_said)):
        for word in sorted(ours - theirs):
            if len(word) < _MIN_STEM:
                continue
            for prefix in _PREFIXES:
                if prefix + word in theirs and prefix + word not in ours:
                    return f"{word} against {prefix}{word}"
    return _opposed_cjk(claim, text)


def _opposed_cjk(claim: str, text: str) -> str:
    """The same for Chinese and Japanese, whose words are found as parts of runs."""
    for ones, others in _opposites_cjk():
        in_claim = [word for word in ones if word in claim]
        against = [word for word in others if word in text]
        if not in_claim or not against:
            continue
        if not any(word in claim for word in others) and not any(word in text for word in ones):
            return f"{in_claim[0]} against {against[0]}"
    return ""
