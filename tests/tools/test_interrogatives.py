"""Languages of short questions, by their interrogatives (O7: a report speaks its topic's language)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.tools.interrogatives import MAX_CHARS, question_votes
from omh_research.tools.tokens import detect_language

QUESTIONS = {
    "de": (
        "Was erfand Edison?",
        "Wer erfand Penicillin?",
        "Wann wurde Rom gegründet?",
        "Wann starb Goethe?",
        "Wo liegt Timbuktu?",
        "Wie funktioniert Photosynthese?",
        "Warum fliegen Flugzeuge?",
        "Wieviel kostet Strom?",
        "Welche Planeten haben Ringe?",
        "Was kostet Strom?",
        "Was bedeutet Inflation?",
        "Was verursacht Ebbe und Flut?",
        "Wer entdeckte Amerika?",
        "Wer schrieb Faust?",
        "Was macht Honigbienen krank?",
        "Wie viele Einwohner hat Berlin?",
        "Woher kommt Kaffee?",
        "Wessen Werk ist Faust?",
        "Wem gehört Grönland?",
        "Weshalb brechen Vulkane aus?",
        "Was fressen Igel?",
        "Was hilft gegen Migräne?",
        "Wie entsteht Regen?",
        "Was ist Plasma?",
        "Wozu dienen Antikörper?",
        "Was wog Tyrannosaurus rex?",
        "Wann endete Apartheid?",
        "Wie alt werden Elefanten?",
        "wer erfand das telefon",
        "Womit heizten Römer?",
        "Wie hoch ist Mount Everest?",
        "Wodurch entstehen Gezeiten?",
        "Was trinkt Queen Camilla?",
        "Wer komponierte Carmen?",
        "Wann fiel Konstantinopel?",
        "Wie schmeckt Durian?",
        "Was fördert Osteoporose?",
        "Welches Tier schläft nie?",
        "Seit wann existiert Bitcoin?",
        "Von wem stammt Guernica?",
        "Was unterscheidet Viren?",
        "Wieso rosten Eisenbrücken?",
        "Was jagten Neandertaler?",
        "Wer regiert Bhutan?",
    ),
    "fr": (
        "Qui inventa Internet ?",
        "Qui a inventé Internet ?",
        "Quand mourut Napoléon ?",
        "Comment fonctionne Internet ?",
        "Comment fonctionnent vaccins et sérums ?",
        "Pourquoi dort-on ?",
        "Où habite Macron ?",
        "Combien coûte Netflix ?",
        "Quel âge a Macron ?",
        "Quelle est la capitale du Brésil ?",
        "Quels animaux hibernent ?",
        "Qu'est-ce que la photosynthèse ?",
        "Que mangent pandas ?",
        "Quelles plantes purifient l'air ?",
        "De quoi se compose l'air ?",
        "Qui découvrit Pluton ?",
        "Quand commence Ramadan ?",
        "Qui peignit Guernica ?",
        "Quand naquit Molière?",
        "Comment dort-on debout ?",
        "Quel peintre vécut à Arles ?",
        "Combien pèse un éléphant ?",
        "Où coule la Loire ?",
        "En quelle année mourut Zola ?",
        "Que signifie karma ?",
        "À quoi servent anticorps ?",
        "Pourquoi Pluton est déclassée ?",
    ),
    "es": (
        "¿Quién inventó Internet?",
        "¿Quién descubrió América?",
        "¿Cuándo murió Franco?",
        "¿Cómo funciona Internet?",
        "¿Dónde vive Messi?",
        "¿Qué causa mareas?",
        "¿Cuánto cuesta Netflix?",
        "¿Por qué duermen gatos?",
        "¿Cuál es la capital de Brasil?",
        "¿Cuántos habitantes tiene Madrid?",
        "Quien invento internet",
        "Como funciona una vacuna",
        "¿Qué comen pandas?",
        "¿Quiénes fundaron Roma?",
        "Que es la inflacion",
        "¿Adónde emigran cigüeñas?",
        "¿Quién pintó Guernica?",
        "¿Cuándo nació Cervantes?",
        "¿En qué año cayó Granada?",
        "¿Cómo duermen delfines?",
        "¿Cuánto pesa Saturno?",
        "¿Dónde nace Orinoco?",
        "Quien gobierna Bolivia?",
        "Cuando murio Bolivar?",
        "¿Qué significa karma?",
        "¿Con quién limita Perú?",
    ),
    "it": (
        "Chi inventò Internet?",
        "Chi ha inventato Internet?",
        "Quando morì Garibaldi?",
        "Come funziona Internet?",
        "Dove vive Messi?",
        "Perché dormiamo?",
        "Quanto costa Netflix?",
        "Quale pianeta ospita vulcani?",
        "Quali animali ibernano?",
        "Cosa causa maree?",
        "Che cosa mangiano panda?",
        "Cos'è la fotosintesi?",
        "Quanti abitanti ha Roma?",
        "Chi scoprì America?",
        "Dov'è Timbuctù?",
        "Chi dipinse Guernica?",
        "Chi compose Aida?",
        "Quando nacque Dante?",
        "In che anno cadde Roma?",
        "Come dormono delfini?",
        "Dove nasce Po?",
        "Cosa significa karma?",
        "Da quale pianta deriva caffè?",
        "Perché arrugginisce ferro?",
        "Chi governa Bhutan?",
    ),
    "pt": (
        "Quem inventou Internet?",
        "Quem descobriu o Brasil?",
        "Quando morreu Salazar?",
        "Como funciona a Internet?",
        "Onde vive Ronaldo?",
        "Por que dormimos?",
        "Quanto custa Netflix?",
        "Qual planeta tem anéis?",
        "Quais animais hibernam?",
        "O que causa marés?",
        "Quantos habitantes tem Lisboa?",
        "Quem pintou Guernica?",
        "O que é inflação?",
        "Quando começou a guerra?",
        "Como são feitas vacinas?",
        "Quem compôs Aida?",
        "Quando nasceu Camões?",
        "Em que ano caiu Constantinopla?",
        "Como dormem golfinhos?",
        "Onde nasce Amazonas?",
        "O que significa karma?",
        "Qual rio corta Lisboa?",
        "Por que enferruja ferro?",
        "Quem governa Angola?",
    ),
    "nl": (
        "Wie vond internet uit?",
        "Wie schreef Max Havelaar?",
        "Wanneer stierf Rembrandt?",
        "Hoe werkt internet?",
        "Waar woont Messi?",
        "Waarom slapen katten?",
        "Hoeveel kost Netflix?",
        "Welke planeten hebben ringen?",
        "Wat veroorzaakt getijden?",
        "Wat kost stroom?",
        "Welk dier slaapt nooit?",
        "Wat eten egels?",
        "Hoe oud worden olifanten?",
        "Wie ontdekte penicilline?",
        "Waarvan leven zeehonden?",
        "Hoe ontstaat regen?",
        "Wie componeerde Carmen?",
        "Wanneer viel Constantinopel?",
        "Hoe slapen dolfijnen?",
        "Hoeveel weegt Saturnus?",
        "Waar ontspringt Maas?",
        "Wat betekent karma?",
        "Welke rivier kruist Maastricht?",
        "Waarom roest ijzer?",
        "In welk jaar viel Rome?",
        "Wie regeert Bhutan?",
    ),
    "en": (
        "Was Einstein German?",
        "Was slavery legal in Rome?",
        "Who invented Internet?",
        "When did Goethe die?",
        "Where is Timbuktu?",
        "How does photosynthesis work?",
        "Why do planes fly?",
        "What causes tides?",
        "What killed Napoleon?",
        "Was Rome built in a day?",
        "Come dine with me",
        "How old is Macron?",
        "What do pandas eat?",
        "Who painted Guernica?",
        "Who wrote Faust?",
        "Which planets have rings?",
        "Quantum computing",
        "Was gold money?",
        "Was Caesar killed in Rome?",
        "Where wolves live",
        "Qualia",
        "Was Hitler elected?",
        "What is plasma?",
        "Is Pluto a planet?",
        "Solar power",
        "When Rome fell",
        "Was Goethe right?",
        "Were dinosaurs warm?",
        "How Wien bridge oscillators work",
        "What is Como famous for?",
        "Was Mozart poor?",
        "Was heaven Dante's invention?",
        "Who composed Carmen?",
        "How do dolphins sleep?",
        "Where do rivers begin?",
        "What is karma?",
        "Was iron used by Romans?",
        "Why does iron rust?",
        "Was water found on Mars?",
        "Was bitten fruit healthy?",
        "Do pandas come in red?",
        "Was penicillin Fleming's discovery?",
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("language", "question"),
    [(language, question) for language, asked in QUESTIONS.items() for question in asked],
)
def test_o7_a_short_question_is_in_the_language_of_its_interrogative(
    language: str, question: str
) -> None:
    assert detect_language(question) == language


def test_there_are_enough_short_questions_of_each_language() -> None:
    assert sum(map(len, QUESTIONS.values())) >= 200
    assert all(len(asked) >= 20 for asked in QUESTIONS.values())


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("de", "Wann starb Goethe"), ("de", "Was kostet Strom"), ("de", "wer erfand penicillin"),
        ("de", "Warum fliegen Flugzeuge"), ("de", "Wozu dienen Antikörper"),
        ("fr", "Qui a inventé Internet"), ("fr", "Comment fonctionne Internet"),
        ("fr", "Pourquoi dort-on"), ("fr", "Combien pèse un éléphant"),
        ("es", "Quién inventó Internet"), ("es", "Cuándo murió Franco"), ("es", "Dónde vive Messi"),
        ("it", "Chi inventò Internet"), ("it", "Come funziona Internet"), ("it", "Cos'è la fotosintesi"),
        ("pt", "Por que dormimos"), ("pt", "O que causa marés"), ("pt", "Quem descobriu o Brasil"),
        ("nl", "Waarom slapen katten"), ("nl", "Hoe werkt internet"), ("nl", "In welk jaar viel Rome"),
    ],
)  # fmt: skip
def test_o7_a_question_without_its_mark_is_still_one(language: str, question: str) -> None:
    assert detect_language(question) == language


@pytest.mark.parametrize(
    "topic",
    ["Come fly with me", "Comment moderation systems", "Hoe agriculture", "Chi squared tests",
     "Qui tam lawsuits", "WER metrics of speech recognition", "Dove soap", "Quanta of light",
     "Was Rome built", "Wo Hop", "Wat Arun temple", "Quando library", "Cosa Nostra"],
)  # fmt: skip
def test_a_topic_that_begins_with_a_foreign_interrogative_gets_no_vote(topic: str) -> None:
    assert question_votes(topic) == {}


@pytest.mark.parametrize("text", ["", "?", "Was?", "¿?", "Wie " + "x" * MAX_CHARS + "?"])
def test_what_is_no_short_question_gets_no_vote(text: str) -> None:
    assert question_votes(text) == {}


def test_an_english_was_is_no_german_one() -> None:
    assert question_votes("Was Rome built in a day?") == {}
    assert question_votes("Was erfand Edison?") == {"de": 3.5}


@given(st.text(max_size=150), st.sampled_from(("Was ", "Wie ", "Que ", "¿", "In ", "")))
def test_any_text_has_a_language_or_none(text: str, opening: str) -> None:
    assert all(vote > 0 for vote in question_votes(f"{opening}{text}?").values())
    assert detect_language(f"{opening}{text}?") in ("", detect_language(f"{opening}{text}? "))
