"""What a round brought up that the plan does not cover: a new concept, a blind spot (spec L2).

Job: the model-free rule for a decisive new phrase, and the word of the question that no finding
touches. Refuses fragments, everyday words, copies of one source, and to call everything a blind
spot when nothing was found. Importers: phases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from msgspec import Struct

from omh_research.documents.finding import ParsedFinding
from omh_research.lazy_re import lazy_re
from omh_research.tools import sentences
from omh_research.tools.independence import SourceFact, independent_sources
from omh_research.tools.similarity import is_near_duplicate
from omh_research.tools.tokens import content_tokens, content_words, is_cjk
from omh_research.tools.urls import canonical

NEEDED = 2
MIN_TOUCHED = 2 / 3
STEM_CHARS = 5
_WORDS = lazy_re(r"[^\W\d_][\w'-]*")
_HAN = lazy_re(r"[\u4e00-\u9fff]{3,}")
# Words of any report on anything: alone they name no concept and leave no blind spot.
_EVERYDAY = frozenset(
    """many much several previously previous often mostly mainly usually generally early earlier
    late later recent recently current currently new first second third last next main major minor
    large small high low great good best better important different similar same common general
    specific certain various possible likely known called based used using use uses kind kinds type
    types form forms way ways part parts number numbers amount level levels rate rates case cases
    example examples result results effect effects impact role roles study studies research paper
    papers article articles author authors data method methods analysis finding findings evidence
    report reports review reviews group groups participant participants people person man men woman
    women year years month months week weeks day days hour hours minute minutes time times period
    age century today world country countries place places area areas point points end start side
    generation increase increases reduce reduces improve improves affect affects cause causes lead
    leads make makes made take takes give gives find finds found show shows shown contribute
    contributes play plays work works change changes compare compared explain shape shapes become
    approximately significantly negative positive outcome outcomes development association
    associated causal versus lost held score scored""".split()
)
_EVERYDAY_HAN = (
    "研究", "结果", "方法", "问题", "影响", "作用", "情况", "数据", "主要", "进行", "显示", "表明",
    "发现", "认为", "包括", "部分", "方面", "时期", "时候", "地方", "地区", "位于", "什么", "多少",
)  # fmt: skip


class Concept(Struct, frozen=True):
    """A decisive new phrase and the addresses of its sources; both empty if there is none."""

    phrase: str = ""
    sources: tuple[str, ...] = ()


class Phrase(Struct, frozen=True):
    """One occurrence of a phrase: the words beside it in its run, "" where the run ends."""

    text: str
    before: str
    behind: str


class _Seen(Struct):
    """All occurrences of one phrase."""

    text: str
    names: set[str]
    facts: dict[str, SourceFact]
    before: set[str]
    behind: set[str]

    @property
    def is_whole(self) -> bool:
        """Whether it begins and ends as a phrase: always the same neighbour makes a fragment."""
        return all("" in side or len(side) > 1 for side in (self.before, self.behind))


def new_concept(
    groups: Mapping[str, Sequence[ParsedFinding]],
    topic: str,
    covered: Sequence[str],
    texts: Mapping[str, str],
) -> Concept:
    """Return the phrase of most independent sources that is not `covered`, or an empty one (L2).

    It stands in sentences with a term of the topic, in two independent sources of two subproblems;
    `texts` are the held texts by canonical address: copies of one text are one source.
    """
    about = set(content_tokens(topic))
    known = [(text, set(content_tokens(text))) for text in (topic, *covered)]
    ranked = sorted(
        _occurrences(groups, about, texts).values(),
        key=lambda seen: (-len(seen.facts), -len(seen.text), seen.text),
    )
    for seen in ranked:
        if len(seen.names) < NEEDED or len(seen.facts) < NEEDED or not seen.is_whole:
            continue
        tokens = set(content_tokens(seen.text))
        if tokens <= about or _is_everyday(seen.text):
            continue
        if any(tokens <= held or is_near_duplicate(seen.text, text) for text, held in known):
            continue
        if len(independent_sources(seen.facts.values())) >= NEEDED:
            return Concept(seen.text, tuple(seen.facts))
    return Concept()


def _occurrences(
    groups: Mapping[str, Sequence[ParsedFinding]], about: set[str], texts: Mapping[str, str]
) -> dict[str, _Seen]:
    found: dict[str, _Seen] = {}
    for name, findings in groups.items():
        for finding in findings:
            sources = {source.n: source for source in finding.sources}
            for line in finding.evidence:
                if line.n not in sources or not line.quote:
                    continue
                url, source = canonical(sources[line.n].url), sources[line.n]
                fact = SourceFact(
                    source.url, credibility=source.credibility, text=texts.get(url, "")
                )
                for sentence in sentences.split(line.quote):
                    if not about & set(content_tokens(sentence.text)):
                        continue
                    for phrase in phrases(sentence.text, about):
                        seen = found.setdefault(
                            phrase.text.casefold(), _Seen(phrase.text, set(), {}, set(), set())
                        )
                        seen.names.add(name)
                        seen.facts[url] = fact
                        seen.before.add(phrase.before.casefold())
                        seen.behind.add(phrase.behind.casefold())
    return found


def phrases(sentence: str, about: Set[str] = frozenset()) -> Iterator[Phrase]:
    """Yield phrases of 2 to 6 content words in a row; CJK runs of 3 to 8 characters.

    A row ends at a function word, at punctuation and at a term of the topic (`about`).
    """
    if any(is_cjk(char) for char in sentence):
        for part in content_words(sentence):  # parted at function words
            for match in _HAN.finditer(part):
                yield from _parts(list(match[0]), range(3, 9), "")
    content = set(content_words(sentence))
    run: list[str] = []
    end = 0
    for match in _WORDS.finditer(sentence):
        word = match[0]
        if run and sentence[end : match.start()].strip():
            yield from _parts(run, range(2, 7), " ")
            run = []
        end = match.end()
        is_content = word in content or word.casefold() in content
        if is_content and not about & set(content_tokens(word)):
            run.append(word)
            continue
        yield from _parts(run, range(2, 7), " ")
        run = []
    yield from _parts(run, range(2, 7), " ")


def _parts(run: list[str], sizes: range, joint: str) -> Iterator[Phrase]:
    for size in sizes:
        for start in range(len(run) - size + 1):
            end = start + size
            before = run[start - 1] if start else ""
            behind = run[end] if end < len(run) else ""
            yield Phrase(joint.join(run[start:end]), before, behind)


def _is_everyday(phrase: str) -> bool:
    """Whether a phrase is made of everyday words, but for one at most in three."""
    if is_cjk(phrase[0]):
        left = phrase
        for word in _EVERYDAY_HAN:
            left = left.replace(word, "")
        return len(left) < 2
    words = [word.casefold() for word in phrase.split()]
    return all(word in _EVERYDAY for word in words)


def blind_spot(
    groups: Mapping[str, Sequence[ParsedFinding]], topic: str, covered: Sequence[str] = ()
) -> str:
    """Return the first word of the question that no finding touches, or "" (L2).

    What the plan searches for (`covered`: its names and queries) is a gap, if anything, not blind.

    Everyday words and adverbs are none. Where the findings touch less than two thirds of the
    question they are thin as a whole, and no single word is the blind spot.
    """
    said: set[str] = set()
    for findings in groups.values():
        for finding in findings:
            said.update(content_tokens(finding.synthesis))
            for line in finding.evidence:
                said.update(content_tokens(line.claim))
                said.update(content_tokens(line.quote))
    stems = {token[:STEM_CHARS] for token in said if len(token) >= STEM_CHARS}
    asked = [word for word in dict.fromkeys(content_words(topic)) if _can_be_missing(word)]
    missing = [word for word in asked if not _is_touched(word, said, stems)]
    if not said or len(asked) - len(missing) < MIN_TOUCHED * len(asked):
        return ""
    searched = {token for text in covered for token in content_tokens(text)}
    return next((word for word in missing if not _is_touched(word, searched, set())), "")


def _can_be_missing(word: str) -> bool:
    if is_cjk(word[0]):
        return len(word) > 1 and not _is_everyday(word)
    return len(word) > 3 and word.casefold() not in _EVERYDAY and not word.endswith("ly")


def _is_touched(word: str, said: set[str], stems: set[str]) -> bool:
    tokens = set(content_tokens(word))
    return bool(tokens & said) or not tokens or (not is_cjk(word[0]) and word[:STEM_CHARS] in stems)
