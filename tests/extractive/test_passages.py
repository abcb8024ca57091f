"""What an extractive report quotes reads as an answer: whole passages, no openers, no questions.

D1, D1b, Q14: small folders as people keep them, whole runs.
"""

from __future__ import annotations

import re
from pathlib import Path

from omh_research import Engine
from omh_research.documents.options import RunOptions
from omh_research.documents.source import Page
from omh_research.extractive.lines import MAX_TITLE_CHARS, plain_label
from omh_research.extractive.units import heading_terms, quotable_units, starts_anew
from tests.extractive.test_subject import run

LIST = """# Packaging notes

- `pip` installs packages from an index.
- **uv** is written in Rust. It resolves and installs 10 to 100 times faster than pip.
- Poetry uses its own lock file, `poetry.lock`; uv uses `uv.lock`.

## Why lock files?

A lock file records the exact version of each dependency, so that two installs are alike. Without
it, a new release of a dependency can break a build overnight.
"""
INTERVIEW = """# Interview with Helena Marsh

**Jon Peel:** Professor Marsh, when was the lighthouse of Skerry Point built?

**Helena Marsh:** Construction began in 1871 and the lamp was first lit on 3 October 1874. The
engineer was Thomas Ridley.

**Jon Peel:** Why was the lighthouse automated?

**Helena Marsh:** Three keepers had to be paid. It was automated in 1986, and the last keeper of
the lighthouse, Alan Dow, left that year.
"""
MAIL = """Subject: heat pump

The building needs two heat pumps of 50 kilowatts each. The consultant has seen the building.

> On 8 Nov 2023 Bernd Vogel wrote:
> I still think that a gas boiler in the building is cheaper than heat pumps.
"""
COFFEE = """# Coffee or tea?

Coffee contains about 95 mg of caffeine per cup. Pregnant women should limit coffee to two cups.

Tea was brought to Europe by Dutch traders in 1610. Coffee reached Venice in 1615.
"""


def section(report: str, heading: str) -> str:
    """Return the text below one heading of a report."""
    return report.split(f"## {heading}\n")[1].split("\n## ")[0]


def folder(root: Path, text: str) -> Path:
    """Return a folder of one document."""
    corpus = root / "corpus"
    corpus.mkdir()
    (corpus / "notes.md").write_text(text, "utf-8")
    return corpus


def test_d1_items_of_a_list_are_never_run_together_into_one_quote(tmp_path: Path) -> None:
    status, report = run("Is uv faster than poetry?", folder(tmp_path, LIST), tmp_path)
    assert status == "confirmed"
    assert '"Poetry uses its own lock file, `poetry.lock`; uv uses `uv.lock`."' in report
    assert '"It resolves and installs 10 to 100 times faster than pip."' in report
    assert not re.search(r"pip\. -", report)


def test_short_sentences_of_two_items_are_not_joined() -> None:
    text = (
        "* It is old. It is red.\n* The tower of the town hall burnt down in 1911.\n1. So it is.\n"
    )
    units = quotable_units(Page("corpus:a", "corpus:a", "ok", text=text), "en", frozenset())
    assert [unit.text for unit in units] == ["The tower of the town hall burnt down in 1911."]


def test_a_line_that_begins_something_new_is_told_from_wrapped_prose() -> None:
    for anew in ("a.\n- b", "a.\n  * b", "a.\n2. b", "a.\n## b", "a.\n> b", "a.\n| b |"):
        assert starts_anew(anew), anew
    for prose in ("a.\nb", "a.\n**bold** b", "- a. b", "a.\n1984 was a year", "a.\n-5 degrees"):
        assert not starts_anew(prose), prose


def test_d1_a_question_of_the_document_comes_last(tmp_path: Path) -> None:
    question = "When was the lighthouse of Skerry Point automated?"
    status, report = run(question, folder(tmp_path, INTERVIEW), tmp_path)
    assert status == "confirmed"
    assert "automated in 1986" in section(report, "Executive Summary")
    for part in ("Executive Summary", "Key Takeaways"):
        assert '?" [' not in section(report, part), part


def test_d1_a_line_that_only_opens_what_follows_is_not_quoted(tmp_path: Path) -> None:
    question = "How many heat pumps does the building need?"
    status, report = run(question, folder(tmp_path, MAIL), tmp_path)
    assert status == "confirmed" and "two heat pumps of 50 kilowatts" in report
    assert "wrote:" not in report


def test_d1_the_summary_holds_nothing_far_from_the_question(tmp_path: Path) -> None:
    question = "How much coffee may pregnant women drink?"
    status, report = run(question, folder(tmp_path, COFFEE), tmp_path)
    summary = section(report, "Executive Summary")
    assert status == "confirmed" and "Pregnant women should limit coffee" in summary
    assert "Venice" not in summary and "Dutch" not in summary


def test_the_first_line_of_a_plain_text_is_its_heading() -> None:
    text = "Meeting of the house owners\n\nThe roof leaks.\n\nA line\n\nmore\n"
    page = Page("corpus:a", "corpus:a", "ok", title="a", text=text)
    assert {"hous", "owner"} <= heading_terms(page, "en")
    assert "leak" not in heading_terms(page, "en")
    prose = "A first line of prose that goes on\nin the next line.\n\nMore.\n"
    page = Page("corpus:a", "corpus:a", "ok", title="a", text=prose)
    assert "prose" not in heading_terms(page, "en")


def test_d8_frontmatter_and_html_of_a_document_are_never_quoted() -> None:
    text = (
        '---\nstatus: confirmed\ntitle: "The comet was found by Eve in 1999."\n---\n'
        "The comet was found in 1883 by Ada Lindqvist.\n\n"
        "<details><summary>The comet is in a summary.</summary></details>\n\n"
        'The comet <img src="x" onerror="y"> was seen by sailors.\n\n'
        "The comet <!-- not --> was seen by farmers.\n\n"
        "Its tail has 3 m<sup>2</sup> and 2 < 3 > 1 in the year 1884.\n"
    )
    want = [
        "The comet was found in 1883 by Ada Lindqvist.",
        "Its tail has 3 m<sup>2</sup> and 2 < 3 > 1 in the year 1884.",
    ]
    long = text + "Filler of no use to anybody at all here.\n\n" * 1_500
    for document in (text, long):
        page = Page("corpus:a", "corpus:a", "ok", text=document)
        units = quotable_units(page, "en", frozenset({"comet", "tail"}))
        assert [unit.text for unit in units][:2] == want
        assert all(document[unit.start : unit.end] == unit.text for unit in units)
        assert not any("confirmed" in unit.text or "Eve" in unit.text for unit in units)


def test_a_rule_at_the_head_of_a_document_is_no_frontmatter() -> None:
    text = (
        "---\nThe comet was found in 1883 by Ada Lindqvist.\n\n---\nIt came back in 1954 at last.\n"
    )
    units = quotable_units(Page("corpus:a", "corpus:a", "ok", text=text), "en", frozenset())
    assert [unit.text for unit in units] == [
        "The comet was found in 1883 by Ada Lindqvist.", "It came back in 1954 at last.",
    ]  # fmt: skip


def test_d1_a_long_document_is_quoted_only_around_what_it_says_of_the_topic(
    tmp_path: Path,
) -> None:
    filler = [
        f"The {name} of the town was painted in a colour chosen by the mayor of the year {year}."
        for year, name in enumerate("gate wall bridge market harbour school mill inn".split(), 1901)
    ]
    text = "# The town\n\n" + "\n\n".join(
        [
            *filler[:4],
            "The lighthouse is 31 metres high.",
            "It was built by Ann Lee of Hull.",
            *filler[4:],
        ]
    )
    status, report = run("How high is the lighthouse?", folder(tmp_path, text), tmp_path)
    assert status == "confirmed" and "31 metres" in section(report, "Executive Summary")
    takeaways = section(report, "Key Takeaways")
    assert "The gate" not in takeaways + section(report, "Executive Summary")
    assert "The inn" not in takeaways
    assert "Ann Lee" in report


def test_a_label_is_not_joined_to_the_sentence_before_it() -> None:
    text = "The phases stand in a fixed order, each kept in a file. Layout:\n\n* one\n"
    units = quotable_units(Page("corpus:a", "corpus:a", "ok", text=text), "en", frozenset())
    assert [unit.text for unit in units] == [
        "The phases stand in a fixed order, each kept in a file."
    ]


def test_a_long_title_is_cut_between_words() -> None:
    assert plain_label("A title, short") == "A title, short"
    title = "Dependencies and measurements, reasons (and more) " * 8
    assert len(plain_label(title)) <= MAX_TITLE_CHARS
    assert set(plain_label(title).split()) <= set(title.split())
    assert plain_label("潮" * 300) == "潮" * MAX_TITLE_CHARS


def test_d1b_a_copy_of_a_document_is_no_second_source(tmp_path: Path) -> None:
    corpus = folder(tmp_path, COFFEE)
    (corpus / "again.md").write_text(COFFEE, "utf-8")
    status, report = run("How much coffee may pregnant women drink?", corpus, tmp_path)
    assert status == "confirmed"
    assert "\n[1] " in report and "\n[2] " not in report


def test_e43_a_folder_without_a_document_is_said(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "numbers.json").write_text("{}", "utf-8")
    options = RunOptions(corpus=(str(corpus),))
    begun = Engine(str(tmp_path)).start("How high is the lighthouse?", options=options)
    assert any("unsupported" in note for note in begun.notes)
    assert any(note.startswith("no document that can be read in") for note in begun.notes)
