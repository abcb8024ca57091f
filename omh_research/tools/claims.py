"""The falsifiable claims of a draft, and a fair selection of them (spec P1, P8, P9).

Job: find the sentences that can be wrong, resolve a bare pronoun to its subject, and choose at
most so many that no subtopic is starved. Refuses to judge a claim. Importers: phases, audit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from omh_research.documents.report import Report, find_subtopic, parse_report
from omh_research.lazy_re import lazy_re
from omh_research.tools import sentences
from omh_research.tools.references import find_markers
from omh_research.tools.similarity import is_near_duplicate

MAX_CLAIMS = 12
GENERAL = "(general)"
_MIN_LETTERS = 12
_INSUFFICIENT = "(insufficient sources for this subtopic)"
_BULLET = lazy_re(r"^\s*(?:[-*+•>]|\d{1,3}[.)])\s+")
_MARKERS_ONLY = lazy_re(r"^[\s\[\]【】()（）0-9,，、\-–^.。]*$")
# A digit that is no part of a name (GPT-4, TACT2), or a number in words that counts something.
_NUMBER = lazy_re(
    r"(?<![A-Za-z\d])(?<![A-Za-z][-\u2010\u2011])\d"
    r"|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|fifty|hundred"
    r"|thousand|million|billion|dozens?|twice|thrice|once per|a few|zwei|drei|vier|fünf|zehn|deux"
    r"|trois|quatre|cinq|dix|tres|cuatro|cinco|diez)\b(?=\s+\w)"
    r"|[两二三四五六七八九十百千万亿]{1,8}(?:年|个月|月|天|周|倍|成|步|种|类|项|个|位|家|次|分之|级|阶段|大)"
    r"|数[十百千万亿]|半数|一半|近年?来.{0,6}以上",
    re.IGNORECASE,
)
_COMPARISON = (
    r"more|less|fewer|higher|lower|larger|smaller|faster|slower|better|worse|wider|narrower|longer"
    r"|shorter|stronger|weaker|earlier|later|cheaper|deeper|greater|easier|harder|older|younger"
    r"|most|least|than|biggest|largest|smallest|highest|lowest|strongest|fastest|optimal|best|worst"
    r"|unlike|distinct from|different from|compared (?:to|with)|whereas|outperforms?"
    r"|as [a-z]+ as|few other|double[sd]?|half|percent|majority|twofold|threefold"
    r"|mehr|weniger|größer|kleiner|höher|niedriger|schneller|als|am meisten|im vergleich"
    r"|plus|moins|meilleure?s?|más|menos|mejor(?:es)?|mais|menor(?:es)?|maior(?:es)?"
)
_CAUSE = (
    r"because|due to|caus(?:es?|ed|ing)|lead(?:s|ing)? to|led to|result(?:s|ed|ing)? (?:in|from)"
    r"|therefore|thus|thereby|hence|increas(?:es?|ed|ing)|decreas(?:es?|ed|ing)"
    r"|reduc(?:es?|ed|ing)|rais(?:es?|ed)|linked (?:to|with)|associated with|contribut(?:es?|ed) to"
    r"|may contribute|implicated in|promot(?:es?|ed)|prevent(?:s|ed)|disrupts?|impairs?"
    r"|improv(?:es?|ed|ing)|worsens?|triggers?|induces?|mak(?:es|ing) it|driven by"
    r"|arises? from|stems? from"
    r"|by [a-z]+ing [^,.;]{3,60}, [a-z]|when [^,.;]{8,80}, (?:it|they) "
    r"|weil|verursacht|führt|bewirkt|dadurch|aufgrund|wegen|parce que|entraîne|provoque|porque"
    r"|provoca|causa|debido a|devido a"
)
_CHECKABLE = lazy_re(
    rf"\b(?:{_COMPARISON}|{_CAUSE})\b"
    r"|(?<![占对百])比(?![如例赛分特利重亚值])|超过|低于|高于|优于|不如|相比|最(?!近|终|后)|因为|由于|导致|原因|引起|引发|"
    r"使得|促使|得益于|增加|减少|提高(?=[^的]{0,6}[率度性])|"
    r"相关于|より|最も|ため|によって|보다|때문|أكثر|أقل|بسبب|أكبر|より|больше|меньше|потому",
    re.IGNORECASE,
)
# What speaks of the report itself, or asks the reader to imagine, can hardly be wrong.
_ABOUT_ITSELF = lazy_re(
    r"(?:this|the present|our) (?:report|section|article|review|chapter|document)\b"
    r"|(?:the following|below|imagine|consider|let us|note that)\b"
    r"|(?:本报告|本文|本节|以下|下文|想象|设想)"
    r"|(?:dieser (?:bericht|abschnitt)|este informe|ce rapport|este relatório)\b",
    re.IGNORECASE,
)
# A row of a list of sources: a marker, then a link or a title with its address.
_SOURCE_ROW = lazy_re(r"^\[\d{1,3}\][:.]?\s+(?:\[|<?https?://|.{0,200}\bhttps?://)")
_PRONOUN = lazy_re(
    r"^(?:(?P<own>its|their|his|her)\b|(?P<person>it|they|he|she)\b(?=\s+\w)"
    r"|(?P<bare>this|that|these|those)\b(?=\s+(?:is|are|was|were|has|have|had|can|could|will|would|may|might|must|should|does|do|did|"
    r"also|then|now|still|often|only|[a-z]+(?:s|ed)\b))"
    r"|(?P<de>es|sie|er|dies|dieses|diese)\b(?=\s+(?:ist|sind|war|waren|hat|haben|hatte|kann|wird|"
    r"[a-zäöü]+t\b))"
    r"|(?P<zh>它们|它|该(?=是|有|在|为|被|能|会|可)|此(?=是|为|乃)|这(?=是|使|将|会|能|意味)|其|他们|她们|他|她)"
    r"|(?P<ja>それは|これは|それが|これが|彼は|彼女は))\s*",
    re.IGNORECASE,
)
_SUBJECT_END = lazy_re(
    r"\s(?:is|are|was|were|has|have|had|can|could|will|would|may|might|must|should|does|did|"
    r"ist|sind|war|waren|hat|haben|kann|wird|est|sont|es|son)\s|\s[a-z]{3,}ed\s|"
    r"\s[a-z]{3,}es\s(?=(?:the|an?|its|their|in|by|to)\s)|"
    r"(?<=[a-z]s)\s[a-z]{3,}\s(?=(?:when|where|the|an?|in|by|from|to|at|on|with)\s)|"
    r"(?<=[\u4e00-\u9fff])(?:是|有|在|被|由|将|能|会|为|于)|は|が"
)

_QUOTE_MARKS = '"“”„«»「」『』'
_LEADING = '"“„«「*_ '


class Claim(Struct, frozen=True):
    """One falsifiable sentence of the draft.

    `text` stands alone (citations kept), `sentence` is what the draft says, `numbers` the source
    numbers it cites (empty: a claim without source), `subtopic` the section it belongs to.
    """

    text: str
    sentence: str
    numbers: tuple[int, ...]
    subtopic: str


class Selection(Struct, frozen=True):
    """The claims to examine, in the draft's order, and how many of each subtopic are not."""

    chosen: tuple[Claim, ...]
    unexamined: dict[str, int]


def find_claims(body: str, subtopics: Sequence[str]) -> tuple[Claim, ...]:
    """Return the claims of a report body, each once, in order."""
    report = parse_report(body)
    found: list[Claim] = []
    owners: dict[int, str] = {}
    for name in subtopics:
        section = find_subtopic(report, name)
        if section is not None:
            for claim in _claims_of(section.text, name):
                found.append(claim)
                for number in claim.numbers:
                    owners.setdefault(number, name)
    rest = [claim for text in _other_texts(report, subtopics) for claim in _claims_of(text, "")]
    for claim in rest:
        repeats = any(
            set(claim.numbers) == set(known.numbers)
            and is_near_duplicate(claim.sentence, known.sentence)
            for known in found
        )
        if not repeats:
            owner = next((owners[n] for n in claim.numbers if n in owners), GENERAL)
            found.append(Claim(claim.text, claim.sentence, claim.numbers, owner))
    return tuple({claim.sentence: claim for claim in found}.values())


def _other_texts(report: Report, subtopics: Sequence[str]) -> Iterator[str]:
    for kind in ("summary", "takeaways"):
        for section in report.of_kind(kind):
            yield section.text
    named = [find_subtopic(report, name) for name in subtopics]
    for section in report.subtopics:
        if section not in named:
            yield section.text


def _claims_of(text: str, subtopic: str) -> Iterator[Claim]:
    before = ""
    for sentence in cited_sentences(text):
        numbers = tuple(
            dict.fromkeys(n for marker in find_markers(sentence) for n in marker.numbers)
        )
        plain = _without_markers(sentence)
        if _is_claim(plain, bool(numbers)):
            yield Claim(resolve(sentence, before, subtopic), sentence, numbers, subtopic)
        said = resolve(plain, before, "")
        before = plain if said.startswith("(") else said


def cited_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a section; a marker behind the full stop belongs to its sentence."""
    waiting = ""
    for line in text.split("\n"):
        stripped = _BULLET.sub("", line).strip()
        if not stripped or stripped.startswith(("#", "|", "```", "---")):
            continue
        if _SOURCE_ROW.match(stripped):
            continue
        for span in sentences.split(stripped):
            part = span.text.strip()
            lead = find_markers(part)
            if waiting and _MARKERS_ONLY.match(part):
                waiting = f"{waiting} {part}"
                continue
            if waiting and lead and lead[0].start == 0:
                waiting = f"{waiting} {part[: lead[0].end]}"
                part = part[lead[0].end :].strip()
            if waiting:
                yield waiting
            waiting = part
        if waiting:
            yield waiting
            waiting = ""


def _without_markers(sentence: str) -> str:
    for marker in reversed(find_markers(sentence)):
        sentence = sentence[: marker.start] + sentence[marker.end :]
    return sentence.strip()


def _is_claim(plain: str, is_cited: bool) -> bool:
    letters = sum(char.isalpha() for char in plain)
    wide = sum("\u3040" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7af" for char in plain)
    if letters + wide < _MIN_LETTERS and not (is_cited and wide >= 6):
        return False
    if plain.rstrip('"”’*_ ').endswith(("?", "？", "؟", ":", "：")) or _INSUFFICIENT in plain:
        return False
    if _ABOUT_ITSELF.match(plain.lstrip('"“„«「*_ ')):
        return False
    return is_cited or bool(_NUMBER.search(plain) or _CHECKABLE.search(plain))


def states_claim(plain: str) -> bool:
    """Return whether an uncited sentence states a number, comparison or cause (P9)."""
    return _is_claim(plain, is_cited=False)


def resolve(sentence: str, before: str, subtopic: str) -> str:
    """Return the sentence with a bare leading pronoun replaced by what it stands for (P9).

    Where the sentence before names no subject, or the pronoun stands inside quotation marks, not
    a word is changed: the sentence before, else the subtopic, stands in brackets in front of it.
    """
    lead = len(sentence) - len(sentence.lstrip(_LEADING))
    match = _PRONOUN.match(sentence[lead:])
    if match is None:
        return sentence
    subject = "" if any(mark in _QUOTE_MARKS for mark in sentence[:lead]) else _subject(before)
    if not subject:
        context = before or subtopic
        return f"({context}) {sentence}" if context else sentence
    rest = sentence[lead + match.end() :]
    is_wide = match["zh"] is not None or match["ja"] is not None
    if match["own"] is not None:
        joined = f"{subject}'s {rest}"
    elif match["zh"] == "其":
        joined = f"{subject}的{rest}"
    elif match["ja"] is not None:
        joined = f"{subject}{match['ja'][-1]}{rest}"
    else:
        joined = subject + ("" if is_wide else " ") + rest
    return sentence[:lead] + joined


def _subject(before: str) -> str:
    """Return the subject a sentence opens with; "" when it is none or runs into a quotation."""
    if before[:1] == "(":  # context was put in front of it
        return ""
    match = _SUBJECT_END.search(before)
    if match is None:
        return ""
    subject = before[: match.start()].strip(_LEADING + ",，")
    if not 2 <= len(subject) <= 80 or _PRONOUN.match(subject + " is"):
        return ""
    return "" if any(mark in subject for mark in _QUOTE_MARKS) else subject


def select(claims: Sequence[Claim], subtopics: Sequence[str], limit: int = MAX_CLAIMS) -> Selection:
    """Choose at most `limit` claims: floor(limit / n) of each subtopic before any gets more.

    Within a subtopic the most cited come first, then the most numeric; a claim without source
    takes part like any other.
    """
    groups: dict[str, list[Claim]] = {name: [] for name in subtopics}
    for claim in claims:
        groups.setdefault(claim.subtopic, []).append(claim)
    ranked = {name: sorted(group, key=_weight) for name, group in groups.items()}
    share = limit // max(1, len(subtopics))
    chosen: list[Claim] = []
    for name in subtopics:
        chosen += ranked[name][:share]
    rest = sorted((claim for claim in claims if claim not in chosen), key=_weight)
    chosen += rest[: max(0, limit - len(chosen))]
    picked = [claim for claim in claims if claim in chosen]
    unexamined = {
        name: left
        for name, group in groups.items()
        if (left := sum(claim not in chosen for claim in group))
    }
    return Selection(tuple(picked), unexamined)


def _weight(claim: Claim) -> tuple[int, int]:
    return (-len(claim.numbers), -len(re.findall(r"\d+", _without_markers(claim.sentence))))
