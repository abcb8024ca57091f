"""Words that cannot be the head of a name, and words that only ask about a subject.

Job: closed tables, so that a phrase cut out of a sentence reads as the name of a subtopic
("molten rock") and not as a piece of a clause ("volcanoes stand"). Refuses to parse: a word that
is mostly a noun is left out of the tables. Data and lookups only. Importers: extractive.
"""

from __future__ import annotations

from functools import cache

from omh_research.tools.tokens import fold_word

# Base forms; the endings -s, -es, -ed, -d, -ing are formed below.
_VERBS_EN = (
    "accept achieve acquire act add adopt affect agree allow announce appear apply argue "
    "arise arrange arrive ask assert assume attend avoid base bear become begin belong "
    "believe bind boil bring broaden build bury buy call carry cause choose claim collapse "
    "collect combine come compare compete compose comprise conclude conduct consider consist "
    "constitute contain continue contribute convert cool cover create cross cut deal decide "
    "declare decline decrease defeat define deliver demand deny depend derive describe "
    "destroy determine develop die differ disappear discover discuss divide draw drive dry "
    "earn eat elect eliminate emerge employ enable encourage end enforce enjoy enter erupt "
    "escape establish evolve examine exceed exist expand expect experience explain explode "
    "express extend face fail fall feed feel fight fill find finish fit fix flee flow fly "
    "follow force form found gain gather generate get give go grow handle happen hear help "
    "hold identify imply improve include increase indicate influence inhabit insert insist "
    "intend introduce invade invent invest involve isolate join keep kill know lack last lay "
    "lead learn leave let lie like limit link live look lose lower maintain make manage mark "
    "mean measure meet melt mention mix move need obtain occupy occur offer open operate "
    "oppose order organise organize originate overlap own participate pass pay perform permit "
    "place play point possess practise practice prefer prepare preserve press prevent produce "
    "prohibit promote propose protect prove provide pull punish push put raise range reach "
    "read receive recognise recognize record recover reduce refer reflect refuse reject "
    "relate release rely remain remember remove repeat replace report represent require "
    "resist respond rest result retain return reveal rise rule run save say see seek seem "
    "sell send separate serve set settle shift show shrink sink sit slow smooth solve speak "
    "spend split spread stand start state stay stop store strengthen strike succeed suffer "
    "suggest supply support suppose surrender surround survive swell swim take teach tell "
    "tend test think throw tie touch trace transform trap travel cancel skip ferment ravage "
    "treat try turn understand undergo unite use vary visit wait walk want warm wash watch "
    "wear win wish withstand wonder work write yield"
)
# More of them, of which only the finite forms stand beside nouns as verbs: "restored marshes" and
# "evaporating water" are names, "rivers restore" and "encompasses basins" are not.
_FINITE_EN = (
    "absorb accompany accuse adjust admire admit advise aim alter appoint appreciate assess "
    "assign attach attract ban bend blame boast borrow breathe capture celebrate cite clarify "
    "climb cling clog commit communicate complain concern condemn confess confirm confront "
    "connect conquer consult consume correspond criticise criticize cultivate defend depart "
    "deserve detect devote diminish disagree dissolve distinguish distribute dominate donate "
    "drag dwell ease edit educate eject emit emphasise emphasize encompass encounter endure "
    "engage enhance enlarge ensure entitle erect erode evacuate evaluate evaporate evoke exclude "
    "execute exhibit expel exploit explore expose fade favour favor forget forgive freeze govern "
    "grab grasp greet hang hate heal hesitate hide hire ignore illustrate imagine impose impress "
    "incorporate inform inherit inhibit initiate injure inspire install instruct integrate "
    "interact interpret interrupt investigate invite justify kidnap lend listen locate migrate "
    "modify motivate neglect negotiate nominate notice obey observe omit overcome overtake owe "
    "persist persuade plead pose praise pray predict presume pretend prevail proceed proclaim "
    "purchase pursue quit quote rank react rebuild recall recommend recruit regain regard "
    "regulate reinforce relax rent reproduce resemble reside resign resolve restore restrict "
    "retire retrieve revise seize select shake shelve shoot shout sing slide soak spill spoil "
    "squeeze stare steal steer stick stimulate stretch struggle submit sue suspect suspend "
    "sustain swallow swear sweep tackle tempt terminate testify thrive tolerate transfer "
    "translate transmit trigger undermine urge utilise utilize vanish violate warn weaken weigh "
    "welcome widen wipe worry wrap"
)
_FORMS_EN = (
    "arose ate bent bore born borne became began begun bound brought built bought came chose "
    "chosen cut dealt drew drawn drove driven eaten fell fallen fed felt fought found flew "
    "flown forbade gave given went gone grew grown heard held kept knew known laid led "
    "learned learnt left lent let lain lay lost made meant met paid put ran read risen rose "
    "said saw seen sought sold sent set shook shaken shown shrank shrunk sank sunk sat slept "
    "spoke spoken spent stood struck swam swum took taken taught told thought threw thrown "
    "tried understood wore worn won wrote written being having doing isn was were got gotten frees"
)
# Nouns among the forms above: never taken for a verb.
_NOUNS_EN = (
    "building buildings meeting feeling working works record records result results state "
    "states force forces form forms range ranges rule rules test tests store stores report "
    "reports limit limits link links order orders place places point points practice "
    "practices experience experiences measure measures supply influence increase decrease "
    "decline demand demands end face faces mark marks press release fall rise spread shift "
    "shifts travel experience need needs process flow flows trace traces work trap traps "
    "force record play plays thought cover support light lead walk watch fight fly return "
    "returns visit claim claims act acts cause causes cross cut cuts deal deals fit mix show "
    "shows start stop turn turns use uses wish look rest tie try tries run runs set sets"
)
_NOUNS_IN_LY = "family supply assembly anomaly monopoly butterfly"
_ADJECTIVES_EN = (
    "outside inside except never again together abroad ago away apart "
    "able active actual additional alone ancient annual available average bad basic best "
    "better big broad central certain cheap clean clear close cold common complete complex "
    "constant correct current dangerous dark dead deep different difficult direct distinct "
    "dry due early easy effective empty entire equal essential exact extra extreme fair false "
    "fast few final fine flat former free fresh full further future general gentle good great "
    "greater greatest happy hard healthy heavy high higher highest hot huge human ideal "
    "important independent individual initial inner intense internal key kind large larger "
    "largest late later latest least less likely little local long longer longest low lower "
    "lowest main major many maximum mild minor mixed modern moderate more most narrow natural "
    "near necessary next normal old older oldest only open opposite original other outer "
    "overall own particular past perfect plain poor popular possible present previous primary "
    "private proper public pure quick quiet random rapid rare ready real recent regular "
    "related relative rich right same second secondary separate serious severe sharp short "
    "significant silent similar simple single slow small smaller smallest smooth soft solid "
    "special specific stable standard steady steep sticky strict strong stronger strongest "
    "sudden sure tall thick thin third tight tiny total traditional true typical unable "
    "uncertain unique unknown unlike unusual upper usual valid various violent visible vital "
    "warm weak wet whole wide wild worse worst worth wrong young younger"
)
_LIGHT_EN = (
    "amount amounts answer answers aspect aspects basis bit case cases century centuries "
    "course day days degree detail details difference differences effect end example examples "
    "fact facts feature features figure figures group groups half hour hours idea ideas "
    "instance item items kind kinds level levels line lines lot majority manner matter means "
    "method methods minute minutes month months name names number numbers one ones order part "
    "parts people percent percentage period periods person place places point points portion "
    "problem problems process quarters thirds halves purpose quarter question questions range "
    "rate reason reasons rise reference references respect result results role second seconds "
    "section set sets side sides sort source sources stage state step steps system systems "
    "term terms thing things third thousands times today type types unit units use value "
    "values version view way ways week weeks word words work world year years majority "
    "kilometres kilometers metres meters miles feet tonnes tons hectare hectares degrees "
    "front back top bottom middle rest hundreds thousands dozens couple handful piece pieces "
    "pair variety series dollars pounds euros kilograms litres liters centimetres centimeters "
    "millimetres millimeters acres inches summers winters afternoon morning evening night "
    "president minister scientist scientists researcher researchers expert experts official "
    "officials spokesman spokeswoman author authors"
)
_MEASURES_EN = (
    "kilometre kilometres kilometer kilometers metre metres meter meters mile miles feet tonne "
    "tonnes tons hectare hectares degrees dollars pounds euros kilograms litres liters "
    "centimetre centimetres centimeters millimetre millimetres millimeters acres inches percent"
)
# What a topic asks about something, rather than the thing itself: such a word alone does not bring
# a document near the topic.
_ASPECTS = (
    "history overview cause causes caused reason reasons effect effects impact impacts importance "
    "role roles type types definition comparison benefit benefits limit limits advantage "
    "advantages problem problems future development influence introduction basics use uses used "
    "using working "
    "works work contain good bad best better main important efficiency origin origins spread "
    "source sources meaning structure function functions difference differences example "
    "examples process power invent invented shape shaped change changed make made get gets "
    "take takes place happen become remember remembered name named call called known famous "
    "year time people number tell describe explain compare everything happens happened occur "
    "occurred handled geschichte ursache ursachen folgen wirkung bedeutung rolle arten "
    "entwicklung einfluss unterschied entsteht entstehen ausbreitung vorteile nachteile "
    "probleme beispiel alles erkläre geschah passierte historia causa causas efecto efectos "
    "importancia papel tipos "
    "desarrollo influencia ventajas histoire effets rôle développement avantages история "
    "причины последствия значение роль виды развитие влияние تاريخ أسباب آثار أهمية دور أنواع "
    "تطور تأثير"
)


@cache
def _folded(words: str) -> frozenset[str]:
    return frozenset(fold_word(word) for word in words.split())


@cache
def _verbs_en() -> frozenset[str]:
    forms = set(_FORMS_EN.split())
    for base in _VERBS_EN.split():
        root = base.removesuffix("e")
        forms |= {base, f"{base}s", f"{base}es", f"{root}ed", f"{root}ing"}
        if base.endswith("y"):
            forms |= {f"{base[:-1]}ies", f"{base[:-1]}ied"}
        if len(base) <= 5 and base[-1] in "bdglmnprt" and base[-2] in "aeiou":
            forms |= {f"{base}{base[-1]}ed", f"{base}{base[-1]}ing"}
    for base in _FINITE_EN.split():
        forms |= {base, f"{base}s", f"{base}es"}
        if base.endswith("y"):
            forms.add(f"{base[:-1]}ies")
    return frozenset(map(fold_word, forms)) - _folded(_NOUNS_EN)


def is_verb(word: str, language: str) -> bool:
    """Return whether a folded word is mostly a verb or an adverb (English; False elsewhere)."""
    if language != "en":
        return False
    is_adverb = len(word) > 5 and word.endswith("ly") and word not in _folded(_NOUNS_IN_LY)
    return is_adverb or word in _verbs_en()


def may_be_verb(word: str) -> bool:
    """Return whether a folded English word is a verb in one place and a noun in another."""
    return word in _folded(_NOUNS_EN)


def is_adjective(word: str, language: str) -> bool:
    """Return whether a folded word mostly stands before a noun (English; False elsewhere)."""
    if language != "en":
        return False
    endings = ("ous", "ful", "ible", "able", "less", "ular", "ically", "ional")
    return word in _folded(_ADJECTIVES_EN) or (len(word) > 6 and word.endswith(endings))


def is_light(word: str, language: str) -> bool:
    """Return whether a folded noun names nothing by itself (English; False elsewhere)."""
    return language == "en" and word in _folded(_LIGHT_EN)


def is_measure(word: str, language: str) -> bool:
    """Return whether a folded noun is a unit of measure: no name ends in one (English)."""
    return language == "en" and word in _folded(_MEASURES_EN)


def aspects() -> frozenset[str]:
    """Return the folded words that ask about something and name nothing, in several languages."""
    return _folded(_ASPECTS)
