"""A heading's closing hashes count only after a space (CommonMark 4.2): C# and F# are names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.corpus.passages import split_passages
from omh_research.corpus.reading import read_bytes
from omh_research.documents.finding import parse_finding
from omh_research.documents.heading_text import heading_text
from omh_research.documents.report import parse_report
from omh_research.documents.source import Page
from omh_research.extractive.lines import source_line

HEADINGS = [
    ("C#", "C#"),
    ("F# ##", "F#"),
    ("Tides ###", "Tides"),
    ("Tides \t#  ", "Tides"),
    ("C# and F#", "C# and F#"),
    ("Item #3", "Item #3"),
    ("#", ""),
]


@pytest.mark.parametrize(("line", "text"), HEADINGS)
def test_d6_a_title_keeps_the_hash_of_a_name(line: str, text: str) -> None:
    assert heading_text(line) == text
    page = read_bytes(f"# {line}\n\nIt has delegates.\n".encode(), "corpus:c/a.md", name="a.md")
    assert page.title == text
    assert [head for head, _ in split_passages(page.text)] == [text]


@pytest.mark.parametrize("name", ["C#", "F#", "Object.create #"])
def test_d5b_names_with_a_hash_pass_through_findings_and_reports(name: str) -> None:
    kept = heading_text(name)
    url = "corpus:c/a.md"
    assert source_line(1, Page(url, url, "ok", title=name)).startswith(f"[1] {kept} — ")
    assert parse_finding(f"SUBTOPIC: {name}\nSYNTHESIS:\nIt has delegates. [1]\n").subtopic == kept
    report = parse_report(f"# {name}\n\n## Detailed Findings\n\n### {name}\n\nIt has delegates.\n")
    assert (report.title, [part.title for part in report.subtopics]) == (kept, [kept])


@given(st.text(alphabet="#a \t", max_size=30))
def test_a_headings_text_is_a_part_of_its_line(line: str) -> None:
    text = heading_text(line)
    assert text in line
    assert text == text.strip(" \t")
