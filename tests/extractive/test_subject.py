"""A question that the documents do not speak of ends as insufficient, not in quotes about else.

D1 ("says what it did not find"), E28c: whole runs over the shipped documents and small folders.
"""

import re
from pathlib import Path

import pytest

from omh_research import Engine
from omh_research.documents.options import RunOptions
from omh_research.extractive.scoring import ask, missing_words, speaks_of
from omh_research.tools.tokens import content_tokens

DEMO = Path(__file__).parents[2] / "scripts" / "demo_corpus"
STRANGE = (
    "How do plants survive in the desert?",
    "What are the causes of coral bleaching?",
    "Who won the 1998 FIFA World Cup?",
    "How does photosynthesis work in algae?",
    "Who invented the telephone?",
    "What is the best programming language for beginners?",
    "What is the capital of Mongolia?",
    "Wie entstehen Gewitter über dem Gebirge?",
    "量子计算机如何纠错？",
)
FAMILIAR = (
    "What causes tides?",
    "How is bread made?",
    "Why do volcanoes erupt?",
    "history of the bicycle",
    "lighthouses",
    "Wie ist der Wald in Deutschland verteilt?",
    "温泉是怎么形成的？",
)


def run(question: str, corpus: Path, root: Path) -> tuple[str, str]:
    """Return the end and the report of one run."""
    engine = Engine(str(root))
    begun = engine.start(question, options=RunOptions(corpus=(str(corpus),)))
    ended = engine.run(begun.slug)
    report = root / ".omh" / "research" / f"{begun.slug}-report.md"
    return ended.status, report.read_text("utf-8")


def test_e28c_subtopics_the_documents_do_not_speak_of_are_never_confirmed(tmp_path: Path) -> None:
    plan = (
        ("Tax law", ("income tax", "tax rate")),
        ("Opera", ("opera singers", "aria")),
        ("Chess", ("chess openings", "sicilian defence")),
    )
    engine = Engine(str(tmp_path))
    options = RunOptions(corpus=(str(DEMO),), subtopics=plan)
    begun = engine.start("What causes tides and waves?", options=options)
    assert engine.run(begun.slug).status == "blocked"
    report = (tmp_path / ".omh" / "research" / f"{begun.slug}-report.md").read_text("utf-8")
    assert report.count("(insufficient sources for this subtopic)") == 3
    assert "status: draft" in report and '- "' in report.split("## Detailed Findings")[0]
    assert "- income tax\n" in report.split("## Sought in vain")[1]


@pytest.mark.parametrize("question", STRANGE)
def test_e28c_a_question_the_documents_do_not_speak_of_is_never_confirmed(
    question: str, tmp_path: Path
) -> None:
    status, report = run(question, DEMO, tmp_path)
    assert status == "blocked"
    assert "status: draft" in report and "(insufficient sources for this subtopic)" in report
    assert not re.search(r'^- "', report, re.M), "a quote about something else"
    sought = re.findall(r"^- .*", report.split("## Open Questions")[1].split("## ")[0], re.M)
    assert len(sought) == 1 and sought[0].endswith(question)
    vain = re.findall(r"^- (.*)", report.split("## Sought in vain")[1], re.M)
    assert len(vain) == len(set(vain)) == 4, "the topic's words, and each generic name with them"
    assert all(line.endswith(vain[0]) for line in vain)


@pytest.mark.parametrize("question", FAMILIAR)
def test_d1_a_question_the_documents_speak_of_is_answered_by_quotes(
    question: str, tmp_path: Path
) -> None:
    status, report = run(question, DEMO, tmp_path)
    assert status == "confirmed"
    assert re.search(r'^- ".{20,}" \[1\]', report, re.M)


def test_d1_words_of_the_question_that_no_document_says_are_named_in_the_report(
    tmp_path: Path,
) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "ice.md").write_text(
        "# Ice cores\n\nCores of ice tell of the air of the past 800,000 years. Researchers drill "
        "them in Antarctica and Greenland. The ratio of oxygen isotopes tells how warm it was.\n",
        "utf-8",
    )
    question = "What did Urey propose about oxygen isotopes in shells?"
    status, report = run(question, corpus, tmp_path)
    assert status == "confirmed"
    assert "Sought, not found: Urey propose shells" in report


def test_d1b_lines_that_belong_to_the_site_are_quoted_only_where_the_question_is_about_them(
    tmp_path: Path,
) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "europa.md").write_text(
        "# Water on Europa\n\nScientists at Hawaii found water vapour above the moon Europa. The "
        "telescope in Hawaii looked at Europa 17 times and saw the vapour of the moon once.\n\n"
        "Copyright 2019 Hawaii News Europa. All rights reserved.\n\n"
        "READ MORE: Hawaii telescope finds a moon near Europa.\n",
        "utf-8",
    )
    status, report = run("What was found on the moon Europa?", corpus, tmp_path)
    assert status == "confirmed"
    assert "17 times" in report
    assert "rights reserved" not in report and "READ MORE" not in report
    status, report = run("Who holds the copyright of Hawaii News Europa?", corpus, tmp_path)
    assert status == "confirmed" and "Copyright 2019 Hawaii News Europa." in report


def speaks(topic: str, *sentences: str, head: str = "", language: str = "en") -> bool:
    terms = [frozenset(content_tokens(sentence, language)) for sentence in sentences]
    question = ask(topic, language, terms)
    return speaks_of(question, language, [(frozenset(content_tokens(head, language)), terms)])


def test_a_word_that_every_sentence_says_counts_as_much_as_any_other() -> None:
    assert speaks("Where do seals live?", "Seals eat fish.", "Seals rest.", "Seals are grey.")


def test_words_that_only_ask_bring_no_document_near() -> None:
    assert not speaks("causes of coral bleaching", "Tides are caused by the Moon.")
    assert speaks("causes of coral bleaching", "Corals turn white when the sea is warm.")


def test_one_word_of_three_or_more_is_chance_and_far_apart_is_not_together() -> None:
    assert not speaks("plants survive desert", "Coffee plants grow on hills.")
    assert speaks("plants survive desert", "Cacti are plants of the desert.")
    far = ("Plants grow.", *["Nothing of it here."] * 8, "A desert is dry.")
    assert not speaks("how plants of the desert survive long summer drought", *far)


def test_missing_words_are_named_where_they_are_most_of_the_question_or_names() -> None:
    held = frozenset(content_tokens("Oxygen isotopes tell how warm it was.", "en"))

    def missing(question: str, language: str = "en", *texts: str) -> tuple[str, ...]:
        return missing_words(ask(question, language, [held]), language, held, texts)

    assert missing("oxygen of Urey and Epstein") == ("Urey", "Epstein")
    assert missing("oxygen isotopes of Urey and Epstein") == ("Urey", "Epstein")
    assert missing("oxygen isotopes of some shells") == ()
    assert missing("How warm was oxygen in 1947, by isotopes?") == ("1947",)
    assert missing("oxygen isotopes of Urey", "en", "Present: H. Urey") == ()
    assert missing("Tell me everything that happened to oxygen") == ()
    assert missing("Wer hat Straßen gebaut?", "de") == ("Straßen", "gebaut")
    assert missing("Wer hat Straßen gebaut?", "de", "Zwei Passstraßen sind gut gebaut.") == ()


def test_d1_words_that_no_document_knows_are_named_where_nothing_is_found(tmp_path: Path) -> None:
    """A mistyped question shows by the words that nobody says."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "bees.md").write_text("# Bees\n\nBees form a cluster in the cold winter.\n", "utf-8")
    engine = Engine(str(tmp_path))
    options = RunOptions(corpus=(str(corpus),))
    begun = engine.start("How do hony bees surivve wnter?", options=options)
    notes: list[str] = []
    ended = engine.run(begun.slug, lambda lap: notes.extend(lap.notes))
    assert ended.status == "blocked"
    assert notes.count("nothing that was read says: hony surivve wnter") == 1
