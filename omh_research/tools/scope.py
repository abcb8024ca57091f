"""Is a question a choice that names nothing to choose by? (spec P7, seed deep-research)

Job: a fixed rule over words, in eight languages, without a model: a decision question that names
none of budget, use, region or time gets two or three questions back. Refuses to ask, to read a
terminal and to change a topic beyond `fold_in`. Importers: start, cli.

The rule errs towards silence: a needless question stops a run, a missing one costs some breadth.
A bare concept, a question about a fact (why, how, who, a past tense) and a long topic never fire.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from msgspec import Struct

from omh_research.lazy_re import lazy_re

MAX_WORDS = 16
MAX_WIDE = 40

_WIDE = lazy_re("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_KANA = lazy_re("[\u3040-\u30ff]")
_SIMPLIFIED = str.maketrans(
    "買個選薦該換學適給預現國臺灣們麼嗎檯輛門種歲應當",
    "买个选荐该换学适给预现国台湾们么吗台辆门种岁应当",
)
_AMOUNT = (
    r"[$€£¥₽₩]|\d\s*(?:usd|eur|gbp|chf|cny|rmb|jpy|rub|krw|brl|dollars?|euros?|pounds?|bucks|yuan"
    r"|yen|reais|pesos|руб\w*|元|块|万|円|원)|(?<!\d)(?:19|20)\d\d(?!\d)|\b\d+\s?k\b"
)
_GENRE_EN = (
    "practices?|responses?|linear|subset|first|approximations?|evidence|estimates?|fit|efforts?"
    "|interests?|man|boy|girl|friends?|cases?|available|known|arm|worst|alternative|bin|of|before"
    "|explanations?|theor(?:y|ies)|models? of|predictors?|examples?|guess|time|way|ways|buy|western"
    "|picture|actor|actress|director|song|new artist|polynomial|rational|uniform|constant|rank"
    "|selling|seller|execution|match|matching|policy|proxy|understood|studied|described|documented"
    "|preserved"
)


class _Rule(Struct, frozen=True):
    """One language: what asks for a choice, what only looks so, what narrows, what is asked.

    `place` is matched by case: a place is known by its capital letter. "" where there is none.
    """

    decision: str
    fact: str
    narrow: str
    questions: tuple[str, str, str]
    place: str = ""


_RULES = {
    "en": _Rule(
        decision=(
            rf"^(?:the )?(?:(?:top|\d+) )*best (?!(?:{_GENRE_EN})\b)[a-z]"
            r"|\b(?:what|which)(?:['’]s| is| are| one is)(?: the)?(?: (?:very|absolute))? best "
            rf"(?!(?:{_GENRE_EN})\b)[a-z]"
            r"|\bwhich (?:one )?(?:is|are) (?:the )?(?:better|best)(?=\s*(?:[,;:?]|$))"
            r"|\bwhich (?:\w+ ){1,3}(?:is|are) (?:the )?best\s?\??$"
            r"|\b(?:what|which)\b.{0,60}\b(?:should|shall) (?:i|we|you|one)\b.{0,30}"
            r"\b(?:buy|get|choose|pick|purchase|hire|rent|adopt|subscribe|switch)\b"
            r"|\b(?:what|which)\b.{0,60}\b(?:do|would|can) you (?:recommend|suggest)\b"
            r"|\b(?:what|which)\b.{0,60}\bshould i\b.{0,20}"
            r"\b(?:use|learn|study|move|visit|watch|read|play|take|start|go|try|order|eat)\b"
            r"|\b(?:what|which)(?: \w+){0,4} (?:to (?:buy|choose|get)|is worth buying)\s?\??$"
            r"|\bshould i\b.{0,30}\b(?:buy|get|choose|pick|purchase|hire|rent|adopt|upgrade|switch"
            r"|sell|invest|lease|move|learn|use)\b"
            r"|\bshould we\b.{0,30}\b(?:buy|choose|pick|purchase|hire|rent|adopt|upgrade|switch"
            r"|migrate|lease)\b"
            r"|\b(?:is it|are they) worth (?:buying|getting|upgrading)\b"
            r"|\b(?:recommend|suggest) (?:me |us )?(?:a|an|some|the|any|good)\b"
            r"|^(?:help me )?(?:buy|choose|pick)(?:ing)? (?:a|an|the|my|between)\b"
            r"|\b(?:buying guide|buying advice|recommendations?)\??$"
        ),
        fact=(
            r"^(?:why|how (?:do|does|did|is|are|was|were|can|should we|many|much|long|far)|who"
            r"|whose|when did|where (?:is|are|was|do|does|did))\b"
            r"|\b(?:was|were|did|had|won|invented|discovered|recommendation (?:systems?|engines?"
            r"|algorithms?|models?)|according to|should i know|do you call)\b"
        ),
        narrow=(
            r"\b(?:for|under|below|within|cheap\w*|affordable|budget|inexpensive|free|low[- ]cost"
            r"|luxury|open[- ]source|as an?|while|when|with|without|about|near|nearby|per|because"
            r"|against|instead of|today|now|currently|tomorrow|tonight|soon|century|all time|season"
            r"|beginners?|students?|kids?|children|seniors?|professionals?|home|office|gaming"
            r"|travel|portable|european|american|british|german|french|chinese|japanese|indian"
            r"|italian|spanish|canadian|australian|local|(?:this|next|last) (?:year|month|week"
            r"|summer|winter|spring|autumn|fall|decade))\b"
            r"|\bin (?:my|our|the|a) [a-z]"
            r"|\bto (?!buy\b|choose\b|pick\b|get\b|me\b|us\b|go\b|learn\b|read\b|use\b|play\b"
            r"|watch\b|visit\b|take\b|try\b|you\b)[a-z]"
        ),
        questions=(
            "What is it for: who uses it, where and how often?",
            "What may it cost at most?",
            "For which country or region, and by when?",
        ),
        place=r"\b(?:in|of|from|at|on|around|across) (?:the )?[A-Z0-9]",
    ),
    "zh": _Rule(
        decision=(
            "(?:哪个|哪款|哪种|哪家|哪台|哪辆|哪部|哪所|哪门|哪一[个款种家台辆部所门]|哪些).{0,14}"
            "(?:最好|比较好|(?<![更很])好[？?]?$|好用|值得|推荐|划算|靠谱|该买|该选|买|选)"
            "|(?<![能可够以])[买选学用换](?:什么(?!样)|哪)|(?:应该|该|应当)买(?![方家卖])|该不该[买选换]|要不要[买换]"
            "|值(?:不值)?得(?:买|入手|购买|换)|怎么[选挑](?!择)|如何(?:选购|挑选)|选购(?:指南|建议)?[？?]?$"
            "|(?:求|请|帮我|给我)推荐|推荐(?:一下|一[个款台部本些家]|几[个款台部本家]|个|款|些|什么|哪)"
            "|有(?:什么|哪些)(?:好的?|值得)?.{0,8}推荐|推荐[？?]?$|^最好的.{1,8}是哪.{1,3}[？?]?$"
        ),
        fact=(
            "推荐(?:系统|算法|引擎|模型|信|机制)|为什么|为何|原理|历史|怎么样才|如何影响|影响|是谁|什么时候|"
            "自然选择|选举|买方|最(?:好|佳)的(?:证据|解释|估计|例子)|最佳(?:实践|逼近|响应)|数量|最多|最大|最高|最长|最早"
            "|选择(?:性|压)"
        ),
        narrow=(
            "预算|便宜|性价比|以内|以下|不超过|免费|平价|低价|高端|入门|用于|用来|适合(?!我)|给|送|为了|"
            "学习用|办公|游戏|家用|拍照|编程|通勤|旅[行游]|新手|老人|孩子|儿童|学生|女生|男生|宝宝|程序员|"
            "在[\u4e00-\u9fff]{2}|国内|国外|中国|美国|日本|欧洲|德国|英国|北京|上海|广州|深圳|香港|台湾|南京|杭州|成都|重庆|"
            "[市省县区]|今年|明年|现在|目前|最近|当前|年[前底内]|本月|夏[天季]|冬[天季]|做[\u4e00-\u9fff]|"
            "来[\u4e00-\u9fff]{2}"
        ),
        questions=(
            "用途是什么:谁用、在哪里用、多久用一次?",
            "预算最多是多少?",
            "适用于哪个国家或地区,什么时候需要?",
        ),
    ),
    "de": _Rule(
        decision=(
            r"\bwelche[rsnm]?\b.{0,60}\b(?:soll(?:te)?n? (?:ich|wir|man)"
            r"|(?:ist|sind) (?:der|die|das) beste\w*|(?:ist|sind) besser|könnt ihr empfehlen)\b"
            r"|^welche[rsnm]?(?: \w+){1,3} (?:kaufen|nehmen|wählen)\s?\??$"
            r"|\bwas (?:ist|sind) (?:der|die|das) beste\w*\b"
            r"|\b(?:soll(?:te)?n?|muss) (?:ich|wir)\b.{0,50}\b(?:kaufen|nehmen|wählen|holen|mieten"
            r"|anschaffen|wechseln|lernen)\b|\bwas soll(?:te)? ich (?:mir )?(?:kaufen|nehmen)"
            r"|\blohnt sich (?:der kauf|die anschaffung|es)\b|\b(?:kaufberatung|empfehlungen?)\??$"
            r"|^(?:der |die |das )?beste[rsn]? (?!praxis|näherung|antwort|approximation)\w+\??$"
        ),
        fact=(
            r"^(?:warum|wieso|wie (?:funktion|viel|lange|kam)|wer|wann|wo)\b"
            r"|\b(?:war|waren|wurde)\b|\b(?:der|die|das) beste[rsn]? (?:beweis|beleg|erklärung)"
        ),
        narrow=(
            r"\b(?:für|fürs|zum|zur|um|unter|bis|maximal|günstig\w*|billig\w*|preiswert\w*|budget"
            r"|kostenlos\w*|mit|ohne|bei|als|wenn|heute|jetzt|derzeit|aktuell\w*|dieses|nächstes"
            r"|diesen|diese|anfänger|kinder|studenten|deutsche[rsn]?|europäische[rsn]?)\b"
        ),
        questions=(
            "Wofür: wer benutzt es, wo und wie oft?",
            "Was darf es höchstens kosten?",
            "Für welches Land oder welche Region, und bis wann?",
        ),
        place=r"\b(?:in|im|aus|am|auf|nach) [A-ZÄÖÜ0-9]",
    ),
    "es": _Rule(
        decision=(
            r"^¿?(?:qué|que|cuál|cual|cuáles)\b.{0,60}\b(?:deber[ií]a(?:mos)?|debo|comprar|compro"
            r"|elegir|elijo|escoger|me recomiend\w+|recomiendas|conviene"
            r"|(?:es|son) (?:el|la|los|las) mejor(?:es)?)\b"
            r"|\b(?:deber[ií]a|debo|me conviene) (?:comprar|elegir|alquilar|cambiar|aprender)\b"
            r"|\b(?:vale|merece) la pena comprar\b|^(?:el |la |los |las )?mejor(?:es)? "
            r"(?!pr[aá]ctica|evidencia|aproximación|respuesta)\w+\??$|\brecomendaciones\??$"
        ),
        fact=(
            r"^¿?(?:por qué|cómo (?:funciona|se)|quién|cuándo|dónde|cuánt\w+)\b"
            r"|\b(?:fue|fueron|era|eran|debería saber|mejor(?:es)? (?:estimaci[oó]n\w*|pruebas?"
            r"|evidencias?|explicaci[oó]n\w*|aproximaci[oó]n))\b"
        ),
        narrow=(
            r"\b(?:para|por|menos de|barat\w+|económic\w+|presupuesto|gratis|con|sin|como|cuando"
            r"|hoy|ahora|actualmente|este|esta|próximo|principiantes|estudiantes|niños|español\w*"
            r"|europe\w+)\b|\ben (?:el|la|mi) "
        ),
        questions=(
            "¿Para qué es: quién lo usa, dónde y con qué frecuencia?",
            "¿Cuánto puede costar como máximo?",
            "¿Para qué país o región, y para cuándo?",
        ),
        place=r"\b(?:en|de|desde) (?:el |la )?[A-ZÁÉÍÓÚÑ0-9]",
    ),
    "fr": _Rule(
        decision=(
            r"\bquel(?:le)?s?\b.{0,60}\b(?:dois-je|devrais-je"
            r"|(?:est|sont) (?:le|la|les) meilleure?s?)\b"
            r"|^quel(?:le)?s?(?: \w+){1,3} (?:acheter|choisir|prendre)\s?\??$"
            r"|\bquel(?:le)?s? (?:est|sont) (?:le|la|les) meilleure?s?\b"
            r"|\b(?:que|quoi) (?:dois-je |devrais-je )?(?:acheter|choisir)\b"
            r"|\b(?:dois-je|devrais-je|faut-il) (?:acheter|choisir|louer|changer|apprendre)\b"
            r"|^(?:le |la |les )?meilleure?s? (?!pratique|approximation|réponse|preuve)\w+\s?\??$"
            r"|\bvaut-il le coup\b"
        ),
        fact=(
            r"^(?:pourquoi|comment|qui|quand|où|combien)\b"
            r"|\b(?:était|étaient|fut|furent|a été|dois-je savoir)\b"
            r"|\bmeilleure?s? (?:preuve|explication|approximation|estimation)"
        ),
        narrow=(
            r"\b(?:pour|moins de|pas cher|budget|gratuit\w*|économique|avec|sans|comme|quand"
            r"|aujourd['’]hui|maintenant|actuellement|cette|cet|ce|prochain\w*|débutants?|étudiants?"
            r"|enfants?|français\w*|européen\w*)\b"
        ),
        questions=(
            "Pour quel usage : qui s’en sert, où et à quelle fréquence ?",
            "Quel est le prix maximal ?",
            "Pour quel pays ou quelle région, et pour quand ?",
        ),
        place=r"\b(?:en|au|aux|à|de|depuis) (?:la )?[A-ZÉÈÀÎ0-9]",
    ),
    "pt": _Rule(
        decision=(
            r"^(?:qual|quais|que)\b.{0,60}\b(?:devo|deveria|comprar|compro|escolher|me recomend\w+"
            r"|(?:é|são) (?:o|a|os|as) melhor(?:es)?)\b|\b(?:devo|deveria) (?:comprar|escolher)\b"
            r"|\bvale a pena comprar\b"
        ),
        fact=r"^(?:por que|porque|como|quem|quando|onde|quant\w+)\b|\b(?:foi|foram|era|eram)\b",
        narrow=(
            r"\b(?:para|por|até|menos de|barat\w+|orçamento|grátis|com|sem|hoje|agora|atualmente"
            r"|este|esta|neste|iniciantes|estudantes|crianças)\b"
        ),
        questions=(
            "Para que serve: quem usa, onde e com que frequência?",
            "Quanto pode custar no máximo?",
            "Para que país ou região, e para quando?",
        ),
        place=r"\b(?:em|no|na|do|da|de) [A-ZÁÉÍÓÚ0-9]",
    ),
    "ru": _Rule(
        decision=(
            r"\b(?:как(?:ой|ая|ое|ие|ую)|что|котор\w+)\b.{0,60}\b(?:купить|выбрать|лучше (?:купить"
            r"|взять|выбрать)|посовету\w+|самы[йе] лучши\w|взять)\b|\bстоит ли (?:мне )?(?:покупать"
            r"|купить|брать)\b|\b(?:посоветуйте|порекомендуйте)\b"
        ),
        fact=r"^(?:почему|как |кто|когда|где|сколько)|\b(?:был|была|были|стал)\b",
        narrow=(
            r"\b(?:для|до|дешев\w+|недорог\w+|бюджет\w*|бесплатн\w+|чтобы|без|сейчас|сегодня|году"
            r"|новичк\w+|студент\w+|детей|ребенк\w+)\b"
        ),
        questions=(
            "Для чего: кто, где и как часто будет этим пользоваться?",
            "Сколько это может стоить самое большее?",
            "Для какой страны или региона и к какому сроку?",
        ),
        place=r"\b(?:в|во|на|из) [А-ЯЁ0-9]",
    ),
    "ja": _Rule(
        decision=(
            "(?:どの|どれ|どちら|どっち|何を|なにを).{0,20}(?:買うべ|買うの|買え|買ったら|選ぶべ|選べ|いいです|良いです|がいい|が良い|おすすめ)"
            "|(?:買う|選ぶ)べき|おすすめ(?:の.{1,14})?(?:は|を教えて|が知りたい).{0,6}$|おすすめ[？?]?$"
        ),
        fact="推薦(?:システム|アルゴリズム)|なぜ|どうして|仕組み|歴史|いつ|誰",
        narrow=(
            "予算|円|安い|以下|以内|無料|用|ため|向け|使う|使い|初心者|学生|子ども|子供|旅行|日本|東京|大阪|"
            "国内|海外|今年|来年|現在|今の|最近|[都道府県市]"
        ),
        questions=(
            "用途は何ですか(誰が、どこで、どのくらいの頻度で使いますか)?",
            "予算の上限はいくらですか?",
            "対象の国や地域はどこで、いつまでに必要ですか?",
        ),
    ),
}


class _Patterns(Struct, frozen=True):
    """The compiled rule of one language."""

    decision: re.Pattern[str]
    fact: re.Pattern[str]
    narrow: re.Pattern[str]


@cache
def _patterns(language: str) -> _Patterns:
    rule = _RULES[language]
    narrow = f"(?i:{rule.narrow}|{_AMOUNT})" + (f"|{rule.place}" if rule.place else "")
    return _Patterns(
        re.compile(rule.decision, re.IGNORECASE),
        re.compile(rule.fact, re.IGNORECASE),
        re.compile(narrow),
    )


def find_questions(topic: str) -> tuple[str, ...]:
    """Return two or three questions, in the topic's language, that narrow a choice; () if none.

    () for every topic that asks for no choice, names a budget, a use, a region or a time, or is
    long enough to have said what it means.
    """
    text = " ".join(topic.replace("\u2019", "'").split())
    wide = 0 if text.isascii() else len(_WIDE.findall(text))
    if wide > MAX_WIDE or len(text.split()) > MAX_WORDS:
        return ()
    if wide and not _KANA.search(text):
        text = text.translate(_SIMPLIFIED)
    for language, rule in _RULES.items():
        patterns = _patterns(language)
        if patterns.decision.search(text):
            is_open = not patterns.fact.search(text) and not patterns.narrow.search(text)
            return rule.questions if is_open else ()
    return ()


def fold_in(topic: str, details: Sequence[str]) -> str:
    """Return the topic with the answers folded in: the one question that is researched (P7)."""
    said = [" ".join(detail.split()) for detail in details]
    joined = "; ".join(detail for detail in said if detail)
    if not joined:
        return topic
    return f"{topic.rstrip()} ({joined})"
