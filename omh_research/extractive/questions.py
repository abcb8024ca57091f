"""What kind of answer a question wants, and whether a sentence offers one.

Job: from the question's own words, in a dozen languages, tell number, date, person, place, reason
and definition questions; tell sentences that hold such a thing beyond what the question says.
Refuses to answer anything: a kind is one vote among others in `scoring`. Importers: extractive.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from omh_research.lazy_re import lazy_re
from omh_research.tools.tokens import words

# By kind: what asks for it, in families of languages, and what every match of a family holds.
_ASKED: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "date": (
        (
            r"\bwhen\b|\b(?:what|which) (?:year|date|day|month|decade|century)\b",
            ("when", "what ", "which "),
        ),
        (
            r"\bwann\b|\bwelche[mnrs]? (?:jahr\w*|datum|tag\w*|monat\w*|jahrhundert\w*)\b",
            ("wann", "welche"),
        ),
        (
            r"\bcuándo\b|\b(?:qué|cuál) (?:año|fecha|día|mes|siglo|década)\b|\bquando\b"
            r"|\bche anno\b|\bquand\b|\bquelle (?:année|date)\b",
            ("cuándo", "qué ", "cuál ", "quand", "che anno", "quelle "),
        ),
        (
            r"\bwanneer\b|\bne zaman\b|\bkiedy\b|\bnär\b",
            ("wanneer", "ne zaman", "kiedy", "när"),
        ),
        (
            r"\bкогда\b|\bкако(?:м|й|го) (?:год\w*|век\w*|день|месяц\w*)\b|\bкакую дату\b",
            ("когда", "како", "какую"),
        ),
        (
            r"什[么麼](?:时候|時候)|何[时時]|哪一?[年天日月]|几[年月日]|幾[年月日]"
            r"|いつ|何[年月日]|언제|몇 ?[년월]",
            ("什", "何", "哪", "几", "幾", "いつ", "언제", "몇"),
        ),
        (
            r"\bمتى\b|أ[يى]ّ? (?:عام|سنة|تاريخ|قرن|يوم|شهر)|कब|किस (?:वर्ष|साल|दिन|तारीख|सदी|महीने)",
            ("متى", "أ", "कब", "किस"),
        ),
    ),
    "number": (
        (
            r"\bhow (?:many|much|old|fast|long|far|tall|high|large|big|deep|often|wide|heavy)\b",
            ("how ",),
        ),
        (r"\bwhat (?:percent\w*|proportion|number|amount|fraction)\b", ("what ",)),
        (r"\bhoeveel\b|\bkaç\b|\bile\b", ("hoeveel", "kaç", "ile")),
        (
            r"\bwie ?(?:viele?[rnms]?|alt|hoch|lang|weit|groß|schnell|oft|tief|schwer|breit)\b",
            ("wie",),
        ),
        (
            r"\bcuánt[oa]s?\b|\bqué (?:porcentaje|número|cantidad)\b|\bcombien\b|\bquant[iaeo]s?\b",
            ("cuánt", "qué ", "combien", "quant"),
        ),
        (
            r"\bсколько\b|\bкак(?:ой|ая|ое) (?:процент|доля|число|количество)\b",
            ("сколько", "как"),
        ),
        (
            r"多少|[几幾]|多[高长長大远遠重久深宽寬快]|いくつ|何[人個歳匹本回台%]|どれ(?:くらい|ほど)|몇|얼마",
            ("多", "几", "幾", "いくつ", "何", "どれ", "몇", "얼마"),
        ),
        (r"(?:^|\s)كم\b|كم عدد|कितन[ेीा]", ("كم", "कितन")),
    ),
    "person": (
        (r"\bwho(?:m|se)?\b", ("who",)),
        (r"\bwe[rnm]\b|\bwessen\b", ("we",)),
        (
            r"\bquién(?:es)?\b|\bqui\b|\bchi\b|\bquem\b|\bkto\b|\bkim\b",
            ("quién", "qui", "chi", "quem", "kto", "kim"),
        ),
        (r"\b(?:кто|кем|кого|кому|чей|чья|чьё)\b", ("к", "ч")),
        (
            r"[谁誰]|哪位|何人|だれ|누구|누가|कौन|किसने|किसके",
            ("谁", "誰", "哪位", "何人", "だれ", "누", "कौन", "किस"),
        ),
        (r"^من\b|\bمن (?:هو|هي|هم|الذي|التي|قام|كان|كانت)\b", ("من",)),
    ),
    "place": (
        (
            r"\bwhere\b|\b(?:what|which) (?:city|country|state|place|region|river|town|location)\b",
            ("where", "what ", "which "),
        ),
        (
            r"\bwo(?:her|hin)?\b|\bdónde\b|\boù\b|\bdove\b|\bonde\b|\bwaar\b|\bnerede\b|\bgdzie\b",
            ("wo", "dónde", "où", "dove", "onde", "waar", "nerede", "gdzie"),
        ),
        (r"\b(?:где|куда|откуда)\b", ("где", "куда")),
        (
            r"哪[里裡儿兒]|什[么麼]地方|哪些?(?:地[区方區])|何[处處]|どこ|어디|哪[个個一]?(?:国|國|城|省|市|州)",
            ("哪", "什", "何", "どこ", "어디"),
        ),
        (r"\bأين\b|कहाँ|कहां|किस (?:शहर|देश|राज्य)", ("أين", "कह", "किस")),
    ),
    "reason": (
        (r"\bwhy\b|\bwhat (?:caused|causes|reason)\b", ("why", "what ")),
        (
            r"\bwarum\b|\bweshalb\b|\bwieso\b|\bpor ?qué\b|\bpourquoi\b|\bperché\b|\bwaarom\b"
            r"|\bneden\b|\bniçin\b|\bdlaczego\b",
            ("warum", "weshalb", "wieso", "por", "pourquoi", "perché", "waarom", "neden", "niçin",
             "dlaczego"),
        ),
        (r"\b(?:почему|зачем)\b", ("почему", "зачем")),
        (
            r"[为為]什[么麼]|[为為]何|何故|原因|なぜ|왜|\bلماذا\b|\bسبب\b|क्यों",
            ("为", "為", "何故", "原因", "なぜ", "왜", "لماذا", "سبب", "क्यों"),
        ),
    ),
    "definition": (
        (
            r"^(?:what|who) (?:is|are|was|were) (?:an? |the )?[\w'-]+(?: [\w'-]+)?\s*\?*$",
            ("what ", "who "),
        ),
        (
            r"^was (?:ist|sind|war) |^qué (?:es|son|era) |^что такое |^qu'est-ce que |^cos'è ",
            ("was ", "qué ", "что ", "qu'est", "cos'è"),
        ),
        (
            r"什[么麼]是|何[谓謂]|とは|^ما (?:هو|هي) |क्या (?:है|हैं)\s*[?？]?$|무엇(?:인가|입니까)",
            ("什", "何", "とは", "ما ", "क्या", "무엇"),
        ),
    ),
}  # fmt: skip
_NUMBER_WORDS = (
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|"
    r"million|billion|half|third|quarter|twice|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|"
    r"zwölf|hundert|tausend|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|cien|mil|deux|trois|"
    r"quatre|cinq|sept|huit|neuf|dix|cent|mille|due|quattro|cinque|sei|sette|otto|nove|dieci|"
    r"дв[ае]|три|четыре|пять|шесть|семь|восемь|девять|десять|сто|тысяч\w*|миллион\w*)\b"
    r"|[一二两三四五六七八九十百千万亿]|(?:واحد|اثن|ثلاث|أربع|خمس|سبع|ثماني|تسع|عشر|مائة|ألف|مليون)"
    r"|(?:एक|दो|तीन|चार|पांच|पाँच|छह|सात|आठ|नौ|दस|सौ|हज़ार|हजार|लाख|करोड़)"
)
_MONTHS = (
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december|"
    r"januar|februar|märz|mai|juni|juli|oktober|dezember|enero|febrero|marzo|abril|mayo|junio|"
    r"julio|agosto|septiembre|octubre|noviembre|diciembre|janvier|février|mars|avril|juin|juillet|"
    r"août|septembre|octobre|décembre|янва\w+|феврал\w+|март\w*|апрел\w+|мая|июн\w+|июл\w+|"
    r"август\w*|сентябр\w+|октябр\w+|ноябр\w+|декабр\w+)\b"
    r"|(?:يناير|فبراير|مارس|أبريل|مايو|يونيو|يوليو|أغسطس|سبتمبر|أكتوبر|نوفمبر|ديسمبر)"
    r"|(?:जनवरी|फरवरी|मार्च|अप्रैल|जून|जुलाई|अगस्त|सितंबर|अक्टूबर|नवंबर|दिसंबर)"
)
_OFFERED = {
    "number": _NUMBER_WORDS,  # besides numerals
    "date": (
        rf"\d{{4}}|\d{{1,4}} ?[年月日世]|世[纪紀]|年代|{_MONTHS}|\b(?:century|decades?|"
        rf"jahrhundert\w*|"
        r"siglo|siècle|век\w*)\b|(?:عام|سنة|قرن) \S*\d|\d+ ?년|सदी|शताब्दी|(?:सन|वर्ष) \S*\d"
    ),
    "reason": (
        r"\b(?:because|due to|since|therefore|thus|so that|in order to|result(?:ed|s|ing)? (?:in|"
        r"from|"
        r"of)|caus(?:e|ed|es|ing)|reasons?|leads? to|led to|weil|da|denn|aufgrund|wegen|deshalb|"
        r"daher|"
        r"damit|um|porque|debido|pues|a causa|ya que|para|parce que|car|afin|pour|perché|poiché|"
        r"потому|так как|поскольку|из-за|поэтому|чтобы|благодаря)\b|因[为為]|由[于於]|因此|所以|"
        r"[为為]了|"
        r"以便|原因|导致|導致|因而|ため|ので|から|때문|(?:لأن|بسبب|نتيجة|لكي|من أجل|نظرا)|"
        r"क्योंकि|कारण|इसलिए|वजह"
    ),
    "place": (
        r"\b(?:in|at|near|from|located|between|bei|aus|liegt|en|desde|cerca|situad\w+|dans|à|в|"
        r"на|из|"
        r"около)\b|位[于於]|在|分布|地[处處]|(?:في|من|إلى|بين)\b|(?:में|से|पर)\b|に|で|에서|에"
    ),
    "definition": (
        r"\b(?:is|are|was|were|refers? to|means?|called|known as|defined|ist|sind|war|bezeichnet|"
        r"nennt|"
        r"es|son|era|llama\w*|significa|est|sont|désigne|è|это|является|называ\w+)\b|[—–]|是|指|"
        r"[为為]|"
        r"である|とは|(?:هو|هي|يعرف|تعرف|يسمى|تسمى)\b|(?:है|हैं|कहते|कहा)"
    ),
}
# A capital inside a sentence: a name, in scripts that have capitals (German nouns too, so weak).
_NAME = lazy_re(r"(?<=[\w,;:(\"'«„–—-]\s)[A-ZÀ-ÖØ-ÞĀ-Ž\u0410-\u042f\u0391-\u03a9][\w’'.-]+")
_NUMERAL = lazy_re(r"\d+(?:[.,]\d+)*")
_CASED = lazy_re(r"[A-Za-zÀ-ž\u0370-\u03ff\u0400-\u04ff]")
_YES_NO = lazy_re(
    r"^(?:is|are|was|were|do|does|did|can|could|has|have|had|will|would|should|may|must|ist|sind|"
    r"war|"
    r"waren|hat|haben|kann|können|wird|werden|darf|gibt es|¿?(?:es|son|era|puede|hay|tiene)|est-ce|"
    r"является ли|هل|क्या)\b|[吗嗎]\s*[?？]?\s*$|是否|ですか|ますか",
    re.I,
)


_CAUSE = lazy_re(r"\b(?:caused|causes)\b", needs=("cause",))


@cache
def _asked() -> dict[str, tuple[re.Pattern[str], ...]]:
    """Patterns for text in lower case: ignoring case would make them slow to compile."""
    return {
        kind: tuple(lazy_re(pattern, needs=needs) for pattern, needs in families)
        for kind, families in _ASKED.items()
    }


@cache
def _offered() -> dict[str, re.Pattern[str]]:
    """Patterns for text in lower case."""
    return {kind: lazy_re(pattern) for kind, pattern in _OFFERED.items()}


@lru_cache(maxsize=64)
def answer_kinds(question: str) -> frozenset[str]:
    """Return the kinds of answer asked for: date, number, person, place, reason, definition.

    Empty for a topic that is no question. A question for a date is not one for a number too.
    """
    lowered = question.lower()
    asked = {
        kind
        for kind, patterns in _asked().items()
        if any(pattern.search(lowered) for pattern in patterns)
    }
    if "date" in asked:
        asked.discard("number")
    return frozenset(asked)


@lru_cache(maxsize=64)
def strip_question_words(question: str) -> str:
    """Return the question in lower case without the words that only ask ("how many", "哪一年")."""
    question = question.lower()
    kept = _CAUSE.findall(question)  # "what causes": a sentence that says "caused by" answers it
    for kind, patterns in _asked().items():
        if kind != "definition":  # its patterns take the subject along
            for pattern in patterns:
                question = pattern.sub(" ", question)
    return " ".join([question, *kept])


def is_question(topic: str) -> bool:
    """Return whether the topic asks for a fact rather than naming a field of study."""
    stripped = topic.rstrip()
    return stripped.endswith(("?", "？", "؟")) or bool(
        answer_kinds(topic) or _YES_NO.search(stripped)
    )


def offered_share(kinds: frozenset[str], question: str, sentence: str) -> float:
    """Return how much of what was asked for the sentence offers beyond the question, 0 to 1."""
    if not kinds:
        return 0.0
    asked = question.casefold()
    points = [_offers(kind, asked, sentence) for kind in sorted(kinds)]
    known = [point for point in points if point is not None]
    return sum(known) / len(known) if known else 0.0


def _offers(kind: str, asked: str, sentence: str) -> float | None:
    """1 or 0; None when the script does not show it (names without capitals)."""
    if kind == "person":
        if not _CASED.search(sentence):
            return None
        names = (part for found in _NAME.finditer(sentence) for part in words(found.group()))
        return float(any(name not in asked for name in names))
    lowered = sentence.lower()
    if kind == "number" and any(number not in asked for number in _NUMERAL.findall(lowered)):
        return 1.0
    found = (match.group().casefold() for match in _offered()[kind].finditer(lowered))
    if kind in ("number", "date"):
        return float(any(text not in asked for text in found))
    return float(next(found, None) is not None)
