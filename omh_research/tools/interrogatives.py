"""What a short question's first words tell of its language.

Job: votes for six languages by their interrogatives and what follows them, where stop words are
too few to tell ("Was erfand Edison?"). Refuses to read long texts; without a question mark it
believes an ambiguous word only before a verb it knows. Data and look-ups only. Importers: tokens.
"""

from __future__ import annotations

import unicodedata
from functools import cache

MAX_CHARS = 120
_OPENS, _MAY_OPEN, _FOLLOWS, _ENDS, _MARKED = 2.0, 1.5, 1.5, 1.0, 1.0
# Words that open a question in one of the languages; then those that several share.
_OPENERS = {
    "de": "wer wen wem wessen wann wo woher wohin wozu womit wodurch wovon woran worin woraus "
    "wofür wogegen worauf worüber warum weshalb wieso wieviel wieviele welche welcher welches "
    "welchem welchen wie",
    "fr": "qui quoi quand où comment pourquoi combien quel quelle quels quelles qu'est qu'a "
    "qu'ont lequel laquelle que",
    "es": "quién quiénes cuándo dónde adónde cómo qué cuál cuáles cuánto cuántos cuánta cuántas "
    "quien quienes cuando donde cual cuales cuanto cuantos cuanta cuantas",
    "it": "chi dove dov'è come com'è cos'è cos'era perché perchè cosa quanti quante quale quali "
    "qual'è cos'ha quand'è chi'è che quando quanto quanta",
    "pt": "quem onde aonde quantos quantas qual quais porquê porque quando quanto quanta",
    "nl": "wat waar wanneer waarom hoe hoeveel welk welke waarvan waardoor waarmee waaruit waarin "
    "waarop waarheen wiens wie",
}
_SHARED_OPENERS = {"es": "como que", "pt": "que"}
_TWO_WORDS = {
    "pt": ("o que", "por que", "por quê"),
    "es": ("por qué", "a qué"),
    "it": ("che cosa",),
}
# Words, names or acronyms of other languages: in a topic without a question mark they may be those.
_NAMES_TOO = frozenset(
    "was come comment chi que qui wo wat hoe wie dove onde quale cosa quando quand quanto quanta "
    "wer wen wem quem qual cual quoi como".split()
)
# Before an interrogative: "Von wem", "En qué año", "In welk jaar".
_BEFORE = frozenset(
    "von vom seit bis aus mit durch für bei in im an auf zu nach um unter über gegen "
    "de du depuis jusqu'à à avec dans en par pour sur chez contre a con para por desde hasta "
    "di da per su fra tra em com até met op voor door naar uit bij sinds tot van".split()
)
_FOLLOWERS = {
    "de": "ist sind war waren wird werden wurde wurden hat haben hatte hatten kann können konnte "
    "macht machen kostet kosten bedeutet bedeuten heißt heißen hieß erfand erfindet entdeckte "
    "schrieb malte baute gründete starb lebt leben lebte liegt liegen kommt kommen entsteht "
    "entstehen entstand funktioniert funktionieren viel viele alt hoch lang lange groß weit "
    "schnell schwer tief oft teuer gut gefährlich wirkt wirken verursacht passiert passierte "
    "geschah geschieht gibt gab gilt galt frisst fressen isst essen hilft helfen begann endete "
    "gewann regiert regierte komponierte leitet gehört gehören wog wiegt sprach trug trägt verlor "
    "schuf hielt hält ließ stieg steigt zog fand findet ging geht kam las sah tat trank trinkt "
    "besagt beweist enthält erzeugt zeigt zeigte bewirkt fehlt fehlte steht stand treibt trieb "
    "braucht brauchen kauft fliegt brach bricht schlug traf wuchs wächst warf",
    "nl": "is zijn was waren wordt worden werd werden heeft hebben had hadden kan kunnen kost "
    "kosten betekent betekenen heet heten vond vindt uitvond schreef schrijft ontdekte schilderde "
    "bouwde stichtte stierf leeft leven woont wonen ligt liggen komt komen ontstaat ontstaan "
    "werkt werken veel oud hoog lang groot ver snel zwaar diep vaak duur gevaarlijk veroorzaakt "
    "gebeurt gebeurde eet eten helpt helpen begon eindigde won regeert regeerde componeerde maakt "
    "maakte bedacht verzon zong leidde leidt doodde vermoordde viel gaf ging speelt",
    "fr": "est sont était étaient fut furent a ont peut peuvent coûte coûtent mourut naquit "
    "fonctionne fonctionnent inventa découvrit écrivit signifie commence commença mange mangent "
    "vit habite cause provoque se dort sait fait font devient va vient",
    "es": "es son era eran fue fueron ha han hay tiene tienen puede pueden cuesta cuestan murió "
    "nació funciona funcionan inventó descubrió escribió pintó significa empezó terminó causa "
    "causan come comen vive viven se está están",
    "it": "è sono era erano fu furono ha hanno c'è può possono costa costano morì nacque funziona "
    "funzionano inventò scoprì scrisse dipinse significa iniziò finì causa causano mangia "
    "mangiano vive vivono si sta stanno nasce nascono viene vengono",
    "pt": "é são era eram foi foram há tem têm pode podem custa custam morreu nasceu funciona "
    "funcionam inventou descobriu escreveu pintou significa começou terminou causa causam come "
    "comem vive vivem se está estão fica ficam",
}
# Endings of a verb in the past, with their language.
_ENDINGS = {
    "it": ("ò", "ì", "ono"), "pt": ("ou", "eu", "iu", "am"), "es": ("ó", "ió", "aron", "ieron"),
    "fr": ("ent", "èrent", "irent"), "de": ("te", "iert", "elt"), "nl": ("de", "eerde"),
}  # fmt: skip
_MARKS = {"de": "äöüß", "pt": "ãõ", "es": "ñ¿", "fr": "œ", "it": ""}


@cache
def _table(rows: str) -> dict[str, frozenset[str]]:
    tables = {"openers": _OPENERS, "shared": _SHARED_OPENERS, "followers": _FOLLOWERS}
    return {language: frozenset(words.split()) for language, words in tables[rows].items()}


@cache
def _openings() -> frozenset[str]:
    """All words with which a question can begin: most texts begin with another."""
    pairs = (pair.split()[0] for row in _TWO_WORDS.values() for pair in row)
    return _BEFORE.union({"was"}, pairs, *_table("openers").values(), *_table("shared").values())


def question_votes(text: str) -> dict[str, float]:
    """Return for each language how much speaks for it; {} for what is no short question.

    Without its mark, "Wann starb Goethe" is one and "Comment systems" is none.

    A vote weighs as much as a stop word. "Was" is an English word too: it speaks for German only
    before a German verb and a noun with a capital.
    """
    text = text.strip()
    if len(text) > MAX_CHARS:
        return {}
    is_marked = text.endswith("?")
    bare = unicodedata.normalize("NFC", text).replace("’", "'").strip("¿? \t\n\"'«»„“”")
    written = [word.strip(',;:()"«»„“”') for word in bare.split()]
    if len(written) < 2:
        return {}
    first = written[0].lower()
    if first not in _openings():
        return {}
    place = int(len(written) > 2 and first in _BEFORE)
    votes = _opener_votes([word.lower() for word in written], place)
    if first == "was" and _is_german_was(written):
        votes = {"de": _OPENS}
    if not votes and place:
        votes, place = _opener_votes([word.lower() for word in written], 0), 0
    following = written[place + 1].lower() if len(written) > place + 1 else ""
    is_pair = " ".join(written[:2]).lower() in {pair for row in _TWO_WORDS.values() for pair in row}
    if not is_marked and written[place].lower() in _NAMES_TOO and not is_pair:
        sure = _table("followers")
        votes = {name: vote for name, vote in votes.items() if following in sure[name]}
    for language in votes:
        if following in _table("followers")[language]:
            votes[language] += _FOLLOWS
        elif len(following) > 3 and following.endswith(_ENDINGS[language]):
            votes[language] += _ENDS
        if any(mark in text.lower() for mark in _MARKS.get(language, "")):
            votes[language] += _MARKED
    if "fr" in votes and text.endswith((" ?", "\u00a0?", "\u202f?")):
        votes["fr"] += _MARKED
    return votes


def _opener_votes(lowered: list[str], place: int) -> dict[str, float]:
    """Return the languages in which a question opens with the word at this place."""
    pair = " ".join(lowered[:2])
    for language, pairs in _TWO_WORDS.items():
        if pair in pairs:
            return {language: _OPENS}
    word = lowered[place]
    votes = {language: _OPENS for language, known in _table("openers").items() if word in known}
    for language, known in _table("shared").items():
        if word in known:
            votes[language] = _MAY_OPEN
    if word == "como":  # Spanish writes "cómo" when it asks
        votes = {"es": _MAY_OPEN - 0.5, "pt": _MAY_OPEN}
    return votes


def _is_german_was(written: list[str]) -> bool:
    """True for "Was erfand Edison", "Was fressen Igel"; "Was Rome built" is English."""
    verb, rest = written[1], written[2:]
    if verb != verb.lower() or not rest:
        return False
    is_formed = verb.endswith(("en", "te")) or (len(verb) > 5 and verb.endswith("t"))
    if not is_formed and verb not in _table("followers")["de"]:
        return False
    if rest[0].endswith("'s"):  # "Was heaven Dante's invention?"
        return False
    german = ("der", "die", "das", "den", "dem", "ein", "eine", "gegen", "bei", "mit", "von", "am")
    return any(word[:1].isupper() for word in rest) or rest[0] in german
