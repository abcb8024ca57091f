"""Is a question legal, medical, financial, about policy or about safety? (spec T21, T24)

Job: a fixed rule over words, in English and Chinese, without a model, for what must not be
answered without sources. Refuses to judge an answer. Importers: tools, start, phases, cli.

The rule errs towards refusing: a miss may harm somebody, a false refusal costs a detour. Everyday
phrases that only borrow such a word (stock photos, memory safety, network policy) are let pass.
"""

from __future__ import annotations

import re
from functools import cache

from omh_research.lazy_re import lazy_re

# Alternatives of regular expressions, whole words; lines are joined. Borrowed words first: they
# are taken out before the rule looks.
_BENIGN = r"""
stock (?:photos?|images?|footage|music|videos?|icons?|android|rom|firmware|illustrations?)
overstock|network polic(?:y|ies)|polic(?:y|ies)[- ](?:as[- ]code|engines?)|cache polic(?:y|ies)
privacy polic(?:y|ies)|(?:cache |eviction |retention |retry |replacement |branch )polic(?:y|ies)
policy gradients?|policy network
(?:type|memory|thread|null|exception|crash|concurrency)[- ]safe(?:ty|r)?|fail[- ]?safe|safe mode
failsafe
(?:moore|conway|amdahl|zipf|murphy|parkinson|goodhart|brooks|newton|ohm|benford)['’]?s? laws?
power laws?|scaling laws?
laws? of (?:large numbers|thermodynamics|physics|motion|cosines|sines|demeter)|legal pads?
james bond|chemical bonds?|covalent bonds?|hydrogen bonds?|bonded leather|tennis courts?
basketball courts?|food courts?|court shoes?|patent leather|brew doctor|flutter doctor
(?:spring|dependency|code|sql|prompt|css|html) injections?|mental models?|surface treatments?
heat treatments?|image (?:treatment|surgery)|operating systems?|interest(?:ed|ing)? in
points? of interest|trade[- ]?offs?|trade shows?|password (?:manager|safe)s?|keepass
safe(?:ly)? (?:refactor|migrat|deploy)\w*|credits? roll|film credits?|investigat\w+|capital cities
market(?:ing|place)s?|app stores?|vector stores?|shelf life|virus scanners?|antivirus
computer virus(?:es)?|heartbeats?|pulse ?audio|drag and drop|dose of humou?r
"""
_RULES_EN = {
    "medical": r"""
        nose ?bleeds?|bleed(?:s|ing)?|protein powder|probiotics?|electrolytes?|detox\w*|vomit\w*
        nausea|rash(?:es)?|itch\w*|std|stds|sti|stis|inhalers?|epipen\w*|hormones?|testosterone
        thyroid|kidneys?|livers?|lungs?|hearts? (?:rate|rhythm)|sleep apn\w+|hearing aids?
        contact lenses|braces|x-?rays?|mri|medic(?:al|ine|ines|ation|ations|inal)|health
        healthcare|healthy|disease|illness|sick(?:ness)?|symptoms?|diagnos\w+
        treat(?:ment|ments|ing|ed)?|therap(?:y|ies|ist|ists|eutic)|cure[sd]?|remed(?:y|ies)|drugs?
        dos(?:e|es|age|ages|ing)|pills?|tablets? (?:of|for)|prescri\w+|antibiotics?|painkillers?
        vaccin\w+|cancers?|tumou?rs?|diabet\w+|insulin|hypertension|blood (?:pressure|sugar|test)
        cholesterol|asthma|heart (?:attack|disease|failure|condition)|stroke|infection|infected
        virus|flu|covid\S*|hiv|aids|fever|pregnan\w+|breastfeed\w*|miscarriage|contracept\w+
        abortion|fertility|menopause|baby formula|depress(?:ion|ed|ant|ants)|antidepress\w+
        anxiety|suicid\w+|self[- ]harm|adhd|autis\w+|bipolar|ssris?|psychiatr\w+
        psycholog(?:ist|ists)|mental health|insomnia|migraines?|headaches?|allerg\w+|eczema|acne
        surg(?:ery|eries|eon|ical)|doctors?|physicians?|nurses?|hospitals?|clinic(?:al|s)?
        patients?|dentist\w*|ibuprofen|aspirin|paracetamol|acetaminophen|metformin|statins?
        warfarin|ozempic|semaglutide|wegovy|supplements?|vitamins?|melatonin|creatine|ketamine
        cannabis|cbd|opioids?|side effects?|overdos\w+|weight loss|lose weight|diet(?:s|ing)?
        fasting|keto|nutrition(?:al)?|sunscreen|botox|implants?|injur(?:y|ies|ed)|wounds?|burns?
        fractures?|concussion|back pain|pain|arthritis|dementia|alzheimer\S*
    """,
    "legal": r"""
        (?:parking|speeding|traffic) (?:tickets?|fines?)|employers?|employees? rights?
        overtime pay|severance|notice period|deposit back|keeps? my deposit
        notar(?:y|ies|ised|ized)|subpoena\w*|warrant(?:y claim)?s?|guardianship|adoption papers?
        prenup\w*|age of consent|dui|trespass\w*|eminent domain|law|laws|lawful|unlawful
        legal(?:ly|ity)?|illegal(?:ly)?|lawyers?|attorneys?|solicitors?|sue[ds]?|suing|lawsuits?
        litigat\w+|liab(?:le|ility)|courts?|judges?|jury|contract(?:s|ual)?|breach|clauses?|nda
        ndas|copyright\w*|patents?|trademarks?|licen[sc](?:e|ing) (?:dispute|violation|breach)
        gdpr|hipaa|ccpa|complian(?:ce|t)|visas?|immigra\w+|green card|asylum|citizenship|deport\w+
        divorce|custody|alimony|child support|inherit\w+|wills? and|last will|probate
        estate planning|landlords?|tenan(?:t|ts|cy)|evict\w*|lease|employment rights?|wrongful
        dismiss(?:al|ed)|fired|harassment|discriminat\w+|defamation|libel|arrest\w*|criminal
        crimes?|charged with|felony|misdemeanou?r|bail|parole|power of attorney|incorporat\w+|llc
        terms of service|jurisdiction|statut(?:e|es|ory)
        regulat(?:ory|ions?) (?:requirements?|compliance)|consumer rights|refund rights
    """,
    "financial": r"""
        robo-?advis\w+
        should (?:i|we) (?:buy|sell|short|hold) [\w ]{1,40}(?:now|today|this (?:week|month|year))
        save for|nest egg|financial independence|side income|allowance tax|tipping point of debt
        escrow|closing costs|ipo|ipos|spac|spacs|nfts?|defi|staking|yield farming
        commodit(?:y|ies)|gold|silver price|treasur(?:y|ies)|invest(?:s|ing|ed|ment|ments|or|ors)?
        stocks?|shares?(?= (?:of|in|to buy|price))|equit(?:y|ies)|bonds?|etfs?
        (?:index|mutual|hedge|pension|money market) funds?|portfolio|dividends?|securities
        options trading|futures trading
        trad(?:e|ing|er|ers) (?:stocks?|crypto|forex|options|futures|strateg\w+)|day trading|forex
        brokers?|brokerages?|crypto\w*|bitcoin|ethereum|stablecoins?|tax|taxes|taxation|deduct\w+
        vat|irs|audit(?:ed)? by|mortgages?|loans?|lend(?:er|ers|ing)|debt
        credit (?:cards?|score|rating)|bankrupt\w*|refinanc\w+|interest rates?
        insur(?:e|ance|ed|er|ers)|annuit\w+|pensions?|retire(?:ment|d)?|401\(?k\)?|roth|ira|isa
        savings? (?:account|rates?|plan)|financ(?:e|es|ial|ially|ing)|money|wealth|budget my
        salary negotiat\w*|inflation|gold price|real estate|property market|net worth
        capital gains|payday|remortgag\w*|stock market|bank accounts?
        banks?(?= (?:should|offer|for))
    """,
    "policy": r"""
        rent controls?|migration|migrants?|refugees?|brexit|taiwan|palestin\w+|israel\w*|ukrain\w+
        independence
        (?:which|what|political|labou?r|green|republican|democratic) part(?:y|ies) (?:has|is|should)
        universal healthcare|school vouchers?|affirmative action|reparations|gerrymander\w*
        immigration
        should (?:the )?(?:eu|us|uk|state|country|nation|un|china|india|russia|city|council)
        be independent|polic(?:y|ies)|government(?:s|al)?|legislat\w+
        regulat(?:e|es|ed|ion|ions|ory|ing)|minimum wage|elections?|vot(?:e|es|ing|ers?)
        politic\w+|president(?:ial)?|parliament|congress|senate|referendum|ballot|party platform
        sanctions?|tariffs?|subsid\w+|welfare|universal basic income|carbon (?:tax|pricing)
        climate (?:law|polic\w+|action)|gun control|death penalty|border control
        public (?:spending|funding)|ban(?:s|ned|ning)?|censorship|geopolit\w+|foreign aid|nato
        military aid|war|nuclear (?:power|energy|weapons?)|drug (?:decriminali\w+|legali\w+)
        housing crisis
    """,
    "safety": r"""
        infants?|newborns?|toddlers?|bab(?:y|ies)(?! names?)|choking|gasoline|petrol|propane
        butane|fuel storage|fridge|refrigerat\w*|leftovers|expired|expir(?:y|ation) dates?
        home security|burglar\w*|smoke alarms?|railings?|trampolines?|swimming pools?
        life jackets?|generators? indoors?|space heaters?|power lines?|fireworks?|drones? near
        safe|safety|safely|unsafe|danger(?:s|ous|ously)?|hazard\w*
        risk(?:s|y)? (?:to|of|for) (?:life|health|children|injury|death)|poison\w*|toxic\w*
        explo(?:de|des|sion|sive|sives)|bombs?|weapons?|guns?|firearms?|ammunition|knife attack
        fire (?:alarm|extinguisher|hazard|escape)|carbon monoxide|gas leak|smoke detectors?
        electrocut\w+|electrical wiring|rewir\w+|asbestos|lead paint|mould|mold|radiation|radon
        chemicals?|bleach|ammonia|flammable|lithium batter\w+ fire|emergenc(?:y|ies)|first aid|cpr
        chok(?:e|ing)|drown\w*|evacuat\w*|earthquake|hurricane|flood|wildfire|avalanche|car seats?
        child ?proof\w*|crib|cot death|helmets?|seat ?belts?|brakes?|airbags?|crash test
        drink driv\w+|edible|mushrooms?|food poisoning|raw (?:milk|chicken|meat)|undercooked
        canning|botulism|recall(?:s|ed)?|stalk(?:er|ing|ed)|abus(?:e|ed|ive|er)|domestic violence
        kidnap\w*|traffick\w+|hack into|malware|ransomware|ladder|scaffold\w*|chainsaws?|scuba
        free ?climb\w*|hitch ?hik\w*|self[- ]defen[cs]e|pepper spray
    """,
}
_BENIGN_ZH = """
股票图片|网络策略|缓存策略|隐私政策页|政策引擎|策略引擎|内存安全|类型安全|线程安全|摩尔定律
康威定律|幂律|标度律|安全模式|密码保险|杀毒软件|电脑病毒|计算机病毒|依赖注入|心智模型|投稿
投票插件
"""
_RULES_ZH = {
    "medical": """
        蛋白粉|益生菌|激素|甲状腺|流血|出血|呕吐|腹泻|拉肚子|皮疹|湿疹|痘|月经|性病|艾滋|乙肝|痛风
        肠胃|肠炎|胃(?!口)|肺|骨(?!传导|架|干)|关节|腰|颈椎|吃什么好得快|忌口|热量|长高|近视|配镜
        医|药|病|症|疗|剂量|疫苗|癌|肿瘤|糖尿|血压|血糖|胰岛素|怀孕|孕妇|孕期|哺乳|流产|避孕|堕胎
        抑郁|焦虑|自杀|自残|失眠|头痛|头疼|发烧|感冒|流感|新冠|过敏|手术|诊断|体检|减肥|节食|营养
        保健品|维生素|褪黑素|健康|副作用|疼|受伤|骨折|中风|心脏|肝|肾|牙齿|护理|婴儿奶粉|戒烟|戒酒
    """,
    "legal": """
        裁员|加班费|押金|补偿金|赔多少|年假|试用期|辞职|离职|欠薪|工资拖欠|老板不|物业|邻居|产权
        过户|公证|户口|驾照|扣分|罚款|违章|举报|法律|法规|违法|合法|非法|犯法|律师|起诉|诉讼|官司
        仲裁|赔偿|合同|违约|侵权|版权|著作权|专利|商标|离婚|抚养权|遗产|遗嘱|继承|劳动法|辞退|解雇
        工伤|签证|移民|绿卡|入籍|庇护|租客|房东|租赁纠纷|刑|罪|判|法院|法庭|拘留|取保|合规
        公司注册|维权|诽谤|名誉权|隐私权|交通事故责任
    """,
    "financial": """
        钱放哪|存钱|攒钱|还款|分期|花呗|借呗|网贷|首付|彩票|退休后|养老|遗产税|个税|报税|发票|股权
        期权激励|币圈|投资|理财|股票|炒股|股市|基金|债券|证券|期货|期权|外汇|加密货币|比特币
        以太坊|虚拟币|炒币|税|贷款|房贷|借钱|利率|利息|信用卡|征信|保险|养老金|退休金|公积金|社保
        储蓄|存款|银行|金融|财务|分红|买房|房价|楼市|黄金|通胀|汇率|破产|债务|负债|收益率|资产配置
        上市公司
    """,
    "policy": """
        高考|学区|教育制度|取消.{0,8}制度|应不应该取消|该不该取消|台独|独立建国|是否独立|应该独立
        统一台湾|两岸统一|难民|罢工|民主|人权|言论自由|死刑|堕胎权|同性婚姻|房产税|医保|医改
        碳中和|限电|限号|城管|拆迁|政策|政府|立法|法案|监管|选举|投票|总统|议会|国会|人大|政治
        公投|制裁|关税|补贴|福利|最低工资|碳税|限购|户籍|计划生育|生育|延迟退休|禁令|禁止|审查
        外交|国防|军事|战争|核电|核武|台海|移民政策|医保改革|教育改革|双减
    """,
    "safety": """
        婴儿|宝宝|新生儿|幼儿|儿童(?!编程|文学|画|绘本|节)|小孩|老人独居|汽油|液化气|保质期|过期
        冰箱.{0,6}放|发芽|发霉|野菜|野生|河豚|防火|防盗|烟花|鞭炮|电热毯|插座|漏电|充电桩|游泳
        雷电|打雷|安全|危险|有毒|中毒|毒|爆炸|炸|武器|枪|刀具管制|火灾|消防|灭火|一氧化碳|煤气
        燃气|触电|电线|布线|辐射|甲醛|石棉|化学品|漂白|易燃|急救|心肺复苏|窒息|溺水|地震|台风|洪水
        逃生|避险|安全座椅|头盔|刹车|气囊|酒驾|疲劳驾驶|野生蘑菇|蘑菇|生食|隔夜|食物中毒|召回|家暴
        虐待|跟踪|骚扰|绑架|拐卖|诈骗|防身|攀岩|潜水|高空|电动车起火|锂电池起火
    """,
}
_HAN = lazy_re("[\u3400-\u9fff]")
_MAX_CHARS = 4_000


def _union(table: str) -> str:
    return "|".join(line.strip() for line in table.strip().split("\n"))


@cache
def _patterns() -> tuple[re.Pattern[str], dict[str, re.Pattern[str]]]:
    """Return the pattern of borrowed English phrases and one pattern a kind."""
    rules = {kind: re.compile(rf"\b(?:{_union(table)})\b") for kind, table in _RULES_EN.items()}
    return re.compile(rf"\b(?:{_union(_BENIGN)})\b"), rules


@cache
def _patterns_zh() -> tuple[re.Pattern[str], dict[str, re.Pattern[str]]]:
    rules = {kind: re.compile(_union(table)) for kind, table in _RULES_ZH.items()}
    return re.compile(_union(_BENIGN_ZH)), rules


def sensitive_kind(question: str) -> str:
    """Return "medical", "legal", "financial", "policy" or "safety", or "" for a low-risk question.

    Examined in English and Chinese; of another language only shared words are seen, so "" there
    says little.
    """
    text = " ".join(question.replace("\u2019", "'").casefold().split())[:_MAX_CHARS]
    borrowed, rules = _patterns()
    words = borrowed.sub(" ", text)
    if _HAN.search(text):
        borrowed_zh, rules_zh = _patterns_zh()
        words = borrowed_zh.sub(" ", words)
        for kind, pattern in rules_zh.items():
            if pattern.search(words):
                return kind
    return next((kind for kind, pattern in rules.items() if pattern.search(words)), "")
