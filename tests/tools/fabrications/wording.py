"""Faults of wording: a true sentence of the source turned round by a word, or by a spelled number."""

from __future__ import annotations

import re

from omh_research.tools import sentences
from omh_research.tools.bounds import LOWER, bound_of
from omh_research.tools.figures import find_figures, index_figures
from omh_research.tools.gate import GateInput
from omh_research.tools.shares import find_shares
from omh_research.tools.tokens import detect_language
from tests.tools.fabrications.making import Mutation, cited_lines, replaced, source_text

NEGATED = ((" reached ", " never reached "), (" cost ", " did not cost "), ("do not survive", "survive"), ("does not", "does"), (" requires ", " does not require "), (" rose ", " never rose "), ("recover", "do not recover"), ("No study", "A study"), ("尚未", "已经"), (" covers ", " does not cover "), (" treats ", " never treats "))  # fmt: skip
# Chinese and Japanese denials, as people write them; the longest first.
DENIED = (
    ("没有完成", "完成了"), ("未完成", "已完成"), ("采用", "没有采用"), ("采用", "并未采用"), ("支持修建", "不支持修建"), ("参加了", "没有参加"), ("参加了", "未参加"),
    ("没有影响", "已经影响"), ("没有影响", "影响了"), ("达到", "未达到"), ("达到", "没有达到"), ("降至", "没有降至"), ("占设计", "并非占设计"), ("承担", "无法承担"),
    ("採用している", "採用していない"), ("参加した", "参加しなかった"), ("参加した", "参加しませんでした"), ("達した", "達しなかった"), ("達した", "達していない"),
    ("完了していない", "完了している"), ("反対しなかった", "反対した"), ("反対しませんでした", "反対しました"), ("使う", "使わない"),
)  # fmt: skip
HAN_DIGITS = "一二三四五六七八九"
# Numbers and parts in words: changed to another one.
WORDED = (
    ("Two thirds", "One third"), ("Two thirds", "Three quarters"), ("Four of", "Five of"), ("Four of", "Six of"), ("nine", "eight"), ("three summers", "four summers"),
    ("Half of", "A third of"), ("Half of", "A quarter of"), ("Half of", "Two fifths of"), ("Zwei Drittel", "Ein Drittel"), ("Zwei Drittel", "Drei Viertel"), ("Vier der neun", "Fünf der neun"),
    ("der neun", "der elf"), ("drei Sommer", "vier Sommer"), ("Die Hälfte", "Ein Drittel"), ("Die Hälfte", "Ein Viertel"), ("ثلثا", "ربع"), ("ثلثا", "نصف"), ("أربع", "خمس"), ("أربع", "سبع"), ("نصف", "ثلث"),
)  # fmt: skip
OPPOSITES = (
    ("after the", "before the"), ("before the", "after the"), ("rose from", "fell from"), ("last coal", "first coal"), ("more than 2,300", "fewer than 2,300"),
    ("increased", "decreased"), ("increases", "decreases"), ("rose", "fell"), ("higher", "lower"), ("reduced", "increased"), ("before", "after"), ("lower lock", "upper lock"), ("better", "worse"),
    ("effective", "ineffective"), ("positive", "negative"), ("largest", "smallest"), ("successful", "unsuccessful"), ("allowed", "banned"), ("includes", "excludes"), ("with", "without"),
    ("增加", "减少"), ("增长", "下降"), ("提高", "降低"), ("支持", "反对"), ("成功", "失败"), ("最大", "最小"), ("允许", "禁止"), ("有效", "无效"),
    ("stieg", "sank"), ("gestiegen", "gesunken"), ("höher", "niedriger"), ("größer", "kleiner"),
)  # fmt: skip
BOUNDS = {
    "en": (("more than ", "at least "), ("less than ", "at most ")),
    "de": (("mehr als ", "mindestens "), ("weniger als ", "höchstens ")),
    "ar": (("أكثر من ", "على الأقل "), ("أقل من ", "على الأكثر ")),
    "zh": (("超过", "至少"), ("不足", "至多")),
}


def repeats_source(case: GateInput, line: str) -> bool:
    """Return whether one sentence of the source has nearly all of the line's words."""
    said = _words(line)
    held = sentences.split(source_text(case, line))
    return any(len(said & _words(span.text)) >= 0.95 * len(said) for span in held)


def _words(text: str) -> set[str]:
    """Return the words of a text, or its characters where it has no spaces; numbers aside."""
    text = re.sub(r"\[\d+\]|[\d.,%$€]+", " ", text.casefold())
    if detect_language(text) in ("zh", "ja"):
        return set(re.sub(r"\W", "", text))
    return set(re.findall(r"[^\W\d_]{3,}", text))


def negated(case: GateInput) -> Mutation:
    for line in cited_lines(case):
        quoted = '"' in line
        for old, new in NEGATED:
            near = old in ("do not survive", " requires ") or (quoted and old in line)
            if old in line and near:
                yield replaced(case, line, line.replace(old, new, 1))


def denied(case: GateInput) -> Mutation:
    """Chinese and Japanese sentences denied, or their denial taken away."""
    for line in cited_lines(case):
        for old, new in DENIED:
            if old in line and new not in line:
                yield replaced(case, line, line.replace(old, new, 1))


def changed_numeral(case: GateInput) -> Mutation:
    """One Han numeral put for another, where the source has the new number nowhere."""
    for line in cited_lines(case):
        if detect_language(line) not in ("zh", "ja"):
            continue
        held = index_figures(source_text(case, line)).units
        for match in re.finditer(f"[{HAN_DIGITS}]", line):
            for new in HAN_DIGITS:
                changed = line[: match.start()] + new + line[match.end() :]
                if _states_new(line, changed, held.keys()):
                    yield replaced(case, line, changed)


def _states_new(line: str, changed: str, held: object) -> bool:
    """Return whether `changed` counts with something that neither the line nor the source has."""
    from omh_research.tools.number_words import find_number_words

    assert hasattr(held, "__contains__")
    figures = {v for f in find_figures(changed) for v in f.values[:1]}
    figures -= {v for f in find_figures(line) for v in f.values}
    words = {n.value for n in find_number_words(changed)} - {
        n.value for n in find_number_words(line)
    }
    shares = {s.part / s.whole for s in find_shares(changed)}
    shares -= {s.part / s.whole for s in find_shares(line)}
    if shares:
        old = [s.part / s.whole for s in find_shares(line)]
        return all(abs(new - value) > 0.05 for new in shares for value in old)
    return any(value not in held for value in figures | words)


def changed_word_number(case: GateInput) -> Mutation:
    """A fraction or number in words put for another."""
    for line in cited_lines(case):
        for old, new in WORDED:
            if re.search(rf"(?<![a-zäöü]){old}(?![a-zäöü])", line) and repeats_source(case, line):
                yield replaced(case, line, line.replace(old, new, 1))


def opposite_word(case: GateInput) -> Mutation:
    """A word put for its opposite, where the sentence of the source has only the one."""
    for line in cited_lines(case):
        for old, new in OPPOSITES:
            place = re.search(rf"(?<![a-zäöü]){old}(?![a-zäöü])", line)
            if place and new not in source_text(case, line) and repeats_source(case, line):
                yield replaced(case, line, line[: place.start()] + new + line[place.end() :])


def turned_bound(case: GateInput) -> Mutation:
    """A bound put on a number that has none, or the other one on a number that has one."""
    language = detect_language(case.report)
    for line in cited_lines(case):
        if language not in BOUNDS or not repeats_source(case, line):
            continue
        plain = re.sub(r"\[\d+\]", lambda m: "#" * len(m[0]), line)
        for figure in find_figures(plain):
            if _is_no_quantity(plain, figure.start, figure.text):
                continue
            held = bound_of(plain, figure)
            if not held and any(p in plain for ps in BOUNDS[language] for p in ps):
                continue  # bounded in another way, or another number is
            for direction, phrases in zip((LOWER, -LOWER), BOUNDS[language], strict=True):
                for phrase in phrases[: 1 if held is None else 2]:
                    if held and held.direction == direction:
                        continue
                    start = held.start if held and held.start < figure.start else figure.start
                    end = figure.start
                    if line[start - 1 : start] in ("$", "€"):
                        start, end = start - 1, end - 1
                    yield replaced(case, line, line[:start] + phrase + line[end:])


def _is_no_quantity(line: str, start: int, text: str) -> bool:
    """Return whether a number is a date, a year, one of a list or range, or said twice."""
    is_year = len(text.rstrip("年 ")) == 4 and text[:4].isdecimal()
    is_date = re.match(r"\d{1,2}[.月 ]{0,2}(?:日|[A-ZÄ][a-zä]+ \d{4}|\d{1,2}\.\d{4})", line[start:])
    is_listed = re.match(r"\d+[–-]\d|\d+ (?:to|bis) \d|\d+[.．、)] ?\D", line[start:])
    is_inside = re.search(r"(?:[–+/=×~-]|\b(?:to|bis|of|Of|إلى) ?|年)\Z", line[:start])
    digits = re.match(r"[\d.,]*\d", text)
    is_repeated = digits is not None and line.count(digits[0]) > 1
    return bool(is_year or is_date or is_listed or is_inside or is_repeated)
