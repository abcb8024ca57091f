"""The names of subtopics made without a model, and what counts as the topic's subject (D1b, E15)."""

from pathlib import Path

import pytest

from omh_research import Engine
from omh_research.documents.finding import INSUFFICIENT
from omh_research.documents.options import RunOptions
from omh_research.documents.plan_file import parse_plan
from omh_research.extractive.phrases import find_phrases
from omh_research.extractive.scoring import ask, names_subject
from omh_research.tools.tokens import content_tokens

DEMO = Path(__file__).resolve().parents[2] / "scripts" / "demo_corpus"


@pytest.mark.parametrize(
    ("sentence", "names", "pieces"),
    [
        ("Most volcanoes stand where plates of the crust meet.", {"volcanoes", "plates of the crust"},
         {"volcanoes stand", "stand", "crust meet"}),
        ("The light is bent, and the cell turns light into current.", {"light", "cell"},
         {"turns light", "cell turns light"}),
        ("The lens that Augustin-Jean Fresnel designed in 1822 was thick.",
         {"Augustin-Jean Fresnel"}, {"Fresnel", "Augustin-Jean Fresnel designed", "designed"}),
        ("Most lie around the Pacific, in the Ring of Fire.", {"Ring of Fire"}, {"lie"}),
        ("They partly cancel at the regular rise of the sea.", {"sea"},
         {"partly cancel", "regular rise", "rise"}),
        ("The plague ravaged Europe for five years.", {"Europe"}, {"ravaged Europe", "five years"}),
    ],
)  # fmt: skip
def test_d1b_a_name_is_no_piece_of_a_clause(
    sentence: str, names: set[str], pieces: set[str]
) -> None:
    found = set(find_phrases(sentence, "en"))
    assert names <= found
    assert not pieces & found


def test_d1b_romance_names_keep_their_head_and_their_preposition() -> None:
    found = set(find_phrases("La energía solar depende de la luz del sol.", "es"))
    assert "energía solar" in found and "luz del sol" in found
    assert "solar" not in found


def test_a_word_that_only_asks_does_not_make_a_document_speak_of_the_subject() -> None:
    question = ask("history of lighthouses", "en", [])
    assert not names_subject(question, frozenset(content_tokens("the largest in history", "en")))
    assert names_subject(question, frozenset(content_tokens("a lighthouse marks a coast", "en")))
    only_asking = ask("history", "en", [])
    assert names_subject(only_asking, frozenset(content_tokens("a short history", "en")))


@pytest.mark.parametrize(
    ("topic", "document"),
    [
        ("history of lighthouses", "lighthouses.md"),
        ("What causes tides?", "tides.md"),
        ("What should a good citation contain?", "citations.md"),  # only its heading names it
    ],
)
def test_d1b_a_report_stays_with_the_subject(topic: str, document: str, tmp_path: Path) -> None:
    engine = Engine(tmp_path)
    started = engine.start(topic, options=RunOptions(corpus=(str(DEMO),)))
    assert engine.run(started.slug).status == "confirmed"
    research = tmp_path / ".omh" / "research"
    report = (research / f"{started.slug}-report.md").read_text("utf-8")
    sources = report.split("\n## Sources\n")[1].strip().split("\n")
    assert len(sources) == 1 and document in sources[0]
    plan = parse_plan((research / f"{started.slug}-plan.md").read_text("utf-8"), where="plan")
    assert len(plan.subtopics) >= 3
    whole = " ".join((DEMO / document).read_text("utf-8").split()).casefold()
    assert all(subtopic.name.casefold() in whole for subtopic in plan.subtopics)


def test_q14_what_causes_something_is_answered_by_the_sentence_that_says_caused_by(
    tmp_path: Path,
) -> None:
    engine = Engine(tmp_path)
    started = engine.start("What causes tides?", options=RunOptions(corpus=(str(DEMO),)))
    engine.run(started.slug)
    report = (tmp_path / ".omh" / "research" / f"{started.slug}-report.md").read_text("utf-8")
    lead = next(line for line in report.split("\n") if line.startswith('- "'))
    assert "caused by the gravity of the Moon" in lead


@pytest.mark.parametrize(
    ("topic", "text", "told"),
    [
        ("Who built the first steam engine?",
         "Thomas Newcomen built the first practical steam engine in 1712. James Watt improved it "
         "in 1769 with a separate condenser.", "- What was found is quoted in another section."),
        ("Wer baute die erste Dampfmaschine?",
         "Thomas Newcomen baute die erste brauchbare Dampfmaschine im Jahr 1712. James Watt "
         "verbesserte sie 1769 mit einem getrennten Kondensator.",
         "- Das Gefundene ist in einem anderen Abschnitt zitiert."),
    ],
)  # fmt: skip
def test_d1_a_section_whose_passages_stand_elsewhere_does_not_say_it_has_none(
    topic: str, text: str, told: str, tmp_path: Path
) -> None:
    """An honest gap is one of sources; nothing is quoted twice (D1b)."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "steam.md").write_text(f"# Steam\n\n{text}\n", "utf-8")
    engine = Engine(tmp_path)
    started = engine.start(topic, options=RunOptions(corpus=(str(tmp_path / "notes"),)))
    assert engine.run(started.slug).status == "confirmed"
    report = (tmp_path / ".omh" / "research" / f"{started.slug}-report.md").read_text("utf-8")
    details = report.split("## Detailed Findings\n")[1].split("\n## ")[0]
    assert told in details.split("\n") and INSUFFICIENT not in report
    assert report.count('- "Thomas Newcomen b') == 1


def test_d1b_a_verb_or_a_loose_adjective_is_no_part_of_a_name() -> None:
    """German names end in a noun, and what stands before it agrees with it; "subió" is a verb."""
    german = set(find_phrases("Er verbindet Innsbruck mit der großen Stadt Bozen.", "de"))
    assert {"Innsbruck", "großen Stadt Bozen"} <= german
    assert not any("verbindet" in phrase for phrase in german)
    assert not set(find_phrases("Der Brenner ist ganzjährig befahrbar.", "de")) - {"Brenner"}
    english = set(find_phrases("Heat pumps are almost silent outside the house.", "en"))
    assert not any(phrase.endswith("outside") for phrase in english)
    spanish = set(find_phrases("El precio del aceite subió mucho.", "es"))
    assert spanish and not any("subió" in phrase for phrase in spanish)
