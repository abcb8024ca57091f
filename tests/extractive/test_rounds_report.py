"""The model-free report of several rounds keeps the iron rule at its first draft (L6, D1)."""

from __future__ import annotations

from pathlib import Path

import pytest

from omh_research.documents.task import Brief, FindingText
from omh_research.extractive.labels import labels_of
from omh_research.extractive.lines import quote_line, read_quote_lines
from omh_research.extractive.report import write_report
from omh_research.extractive.verification import verify
from omh_research.tools.gate.reading import read_report
from tests.runs import Run

TEXTS = {
    "en": (
        "How do lighthouses warn ships?",
        "# Lighthouses\n\nA lighthouse warns ships of rocks with a strong light. The lens of Fresnel "
        "gathers the light of a lamp into one beam. Each lighthouse has a rhythm of its own, so "
        "ships know which one they see. Fog signals warn ships when the light cannot be seen.\n",
        "# Keepers\n\nKeepers of a lighthouse trimmed the lamp every night. Most lighthouses work "
        "without keepers today. The rhythm of a lighthouse stands in the list of lights for ships.\n",
    ),
    "de": (
        "Wie warnen Leuchttürme die Schiffe?",
        "# Leuchttürme\n\nEin Leuchtturm warnt die Schiffe mit einem starken Licht vor Felsen. Die "
        "Linse von Fresnel bündelt das Licht der Lampe zu einem Strahl. Jeder Leuchtturm hat eine "
        "eigene Kennung, damit die Schiffe wissen, welchen sie sehen. Bei Nebel warnen Hörner die "
        "Schiffe.\n",
        "# Wärter\n\nDie Wärter der Leuchttürme putzten jede Nacht die Lampe. Die meisten "
        "Leuchttürme arbeiten heute ohne Wärter. Die Kennung eines Leuchtturms steht im "
        "Leuchtfeuerverzeichnis für Schiffe.\n",
    ),
    "zh": (
        "灯塔如何警告船只？",
        "# 灯塔\n\n灯塔用强光警告船只附近有礁石。菲涅耳透镜把灯光聚成一束。每座灯塔都有自己的闪光节奏,"
        "船只因此知道看到的是哪一座灯塔。有雾时灯塔用雾号警告船只。\n",
        "# 守塔人\n\n灯塔的守塔人每夜修剪灯芯。今天大多数灯塔已经无人看守。灯塔的闪光节奏写在船只使用的"
        "灯标表里。\n",
    ),
}


def extractive(folder: Path, language: str) -> Run:
    """Return a confirmed run of two rounds over two documents in one language."""
    topic, *texts = TEXTS[language]
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, text in enumerate(texts):
        (corpus / f"text{number}.md").write_text(text, encoding="utf-8")
    run = Run(folder)
    given = ("--delegate", "extractive", "--corpus", str(corpus), "--rounds", "2", "--json")
    ended = run.cli("run", topic, *given)
    assert (ended.code, ended.json["status"]) == (0, "confirmed"), ended
    run.slug = ended.json["slug"]
    return run


@pytest.mark.parametrize("language", TEXTS)
def test_l6_the_first_draft_passes_in_each_language(tmp_path: Path, language: str) -> None:
    """No draft is refused for a conclusion on one source: each is labelled from the start."""
    run = extractive(tmp_path, language)
    assert "VERIFY_FAIL" not in run.words() and run.words().count("REPORT_DRAFT") == 1
    text = run.report_path.read_text("utf-8")
    takeaways = text.partition("## Key Takeaways\n")[2].partition("\n## ")[0].strip()
    label = {"en": "- **uncertain**: ", "de": "- **unsicher**: ", "zh": "- **不确定**: "}[language]
    nothing = {"en": "Not known", "de": "Unklar", "zh": "不明"}[language]
    assert takeaways and all(
        line.startswith((label, f"- {nothing}: ")) for line in takeaways.split("\n")
    ), takeaways


def brief(language: str, *quotes: str, rounds: bool = True) -> Brief:
    rows = "".join(f'- [1] {quote} | "{quote}"\n' for quote in quotes)
    finding = (
        "SUBTOPIC: light\nQUERIES_RUN:\n- light → one text\nSOURCES:\n"
        "[1] Light — corpus:c/a.md — secondary — n.d.\n"
        f"EVIDENCE:\n{rows}SYNTHESIS:\n(see above)\nGAPS:\n- none\n"
    )
    return Brief(
        "light of ships", "s", language, subtopics=(("light", ("light ships",)),),
        findings=(FindingText("light", "light", finding),), needs_two_sources=rounds,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("en", "- Not known: No further passages."),
        ("de", "- Unklar: Keine weiteren Stellen."),
        ("zh", "- 不明: 没有更多段落。"),
        ("tr", "- Not known: Başka bölüm yok."),
    ],
)
def test_l6_a_section_without_takeaways_says_that_no_more_is_known(
    language: str, line: str
) -> None:
    one = brief(language, "The light of ships is red.")
    assert f"## Key Takeaways\n\n{line}\n" in write_report(one)
    once = write_report(brief(language, "The light of ships is red.", rounds=False))
    assert f"- {labels_of(language).nothing_more}\n" in once


def test_a_labelled_quote_is_read_back_and_judged() -> None:
    """The verifier counts a labelled takeaway as a quote: a changed one is found."""
    labels = labels_of("en")
    for page in (0, 12):
        (read,) = read_quote_lines(quote_line('A "light" shines.', 3, page, labels, "uncertain"))
        assert (read.text, read.number, read.page) == ('A "light" shines.', 3, page)
    quotes = [
        "The light of ships is red.",
        "Ships carry a green light to the right.",
        "A white light of ships shines behind.",
        "The first light of ships was a lantern with oil.",
        "Rules for the light of ships were agreed in London.",
    ]
    asked = brief("en", *quotes)
    report = write_report(asked)
    assert "- **uncertain**: " in report
    judged = Brief(**{**{f: getattr(asked, f) for f in asked.__struct_fields__}, "report": report})
    assert verify(judged).startswith("VERDICT: PASS")
    changed = report.replace('**uncertain**: "', '**uncertain**: "Never: ', 1)
    judged = Brief(**{**{f: getattr(asked, f) for f in asked.__struct_fields__}, "report": changed})
    assert verify(judged).startswith("VERDICT: FAIL")


@pytest.mark.parametrize(
    "label",
    ["(uncertain)", "(Unverified)", "(single source)", "（不确定）", "(unsicher).", "(`page 3`)"],
)
def test_a_label_behind_a_citation_belongs_to_its_sentence(label: str) -> None:
    """E30, L6: "Claim. [1] (uncertain)" is one labelled sentence, as the task asks for it."""
    body = (
        f"# T\n\n## Key Takeaways\n\n- The tide rises. [1] {label}\n- It falls. [1] {label} Soon.\n"
    )
    said = [statement.text for statement in read_report(body).statements]
    assert said[-3:] == [
        f"- The tide rises. [1] {label}",
        f"- It falls. [1] {label}",
        "Soon.",
    ]


def test_what_is_more_than_a_label_stays_a_sentence_of_its_own() -> None:
    body = "# T\n\n## Key Takeaways\n\nThe tide rises. [1] (Uncertain figures: 5 of 9 drowned.)\n"
    assert [s.text for s in read_report(body).statements][-2:] == [
        "The tide rises. [1]",
        "(Uncertain figures: 5 of 9 drowned.)",
    ]
