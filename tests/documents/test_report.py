"""Report structure and quotations (D5b, E28)."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.documents.quotations import find_quotations, is_whole_quotation, quotation_spans
from omh_research.documents.report import find_subtopic, parse_report
from tests.documents.shared_data import shared_data

FORM = """# Title of it

## Executive Summary

Answer.

## Detailed Findings

Lead.

### First topic

Text one.

#### Detail

More.

### Second: the topic

Text two.

## Key Takeaways

- One.

## Open Questions

- Two.

## Sources

[1] A — https://a.org — blog — 2020
"""


def kinds(text: str) -> list[str]:
    return [section.kind for section in parse_report(text).sections]


WANT = [
    "title",
    "summary",
    "details",
    "subsection",
    "subsection",
    "subsection",
    "takeaways",
    "questions",
    "sources",
]


def test_d5b_the_form_is_read_whole() -> None:
    report = parse_report(FORM)
    assert report.title == "Title of it"
    assert kinds(FORM) == WANT
    assert [s.title for s in report.subtopics] == ["First topic", "Detail", "Second: the topic"]
    assert report.text_of("takeaways") == "- One."


@pytest.mark.parametrize(
    "text",
    [
        FORM.replace("\n", "\r\n"),
        FORM.replace("Executive Summary", "执行摘要")
        .replace("Detailed Findings", "详细发现")
        .replace("Key Takeaways", "主要结论")
        .replace("Open Questions", "未解决问题")
        .replace("## Sources", "## 参考来源"),
        FORM.replace("Executive Summary", "Zusammenfassung")
        .replace("Detailed Findings", "Ergebnisse im Detail")
        .replace("Key Takeaways", "Kernaussagen")
        .replace("Open Questions", "Offene Fragen")
        .replace("## Sources", "## Quellen"),
        FORM.replace("## Executive", "## 1. Executive")
        .replace("## Key", "## **Key")
        .replace("Takeaways\n", "Takeaways**\n"),
        FORM.replace("# Title of it", "Title of it\n==========="),
        FORM.replace("## Executive Summary", "**Executive Summary**").replace(
            "## Key Takeaways", "**Key Takeaways:**"
        ),
        FORM.replace("## Open Questions", "## ❓ Open Questions and gaps"),
    ],
)
def test_d5b_headings_in_other_dress_and_languages(text: str) -> None:
    assert kinds(text) == WANT
    assert parse_report(text).title == "Title of it"


def test_nothing_in_a_code_fence_is_a_heading() -> None:
    report = parse_report("# T\n\n```\n# no heading\n```\n\n## Executive Summary\nx")
    assert [s.title for s in report.sections] == ["T", "Executive Summary"]


@pytest.mark.parametrize(
    "name",
    [
        "First topic",
        "FIRST TOPIC",
        "first  topic",
        "Second",
        "Second: the topic",
        "１. First topic"[3:],
    ],
)
def test_a_subtopic_is_found_by_its_name(name: str) -> None:
    assert find_subtopic(parse_report(FORM), name) is not None


@pytest.mark.parametrize(
    "name", ["First", "Third topic", "topic", "Executive Summary", "Title of it"]
)
def test_another_name_is_not_found(name: str) -> None:
    assert find_subtopic(parse_report(FORM), name) is None


@given(st.text(max_size=300))
def test_any_text_has_a_structure_that_loses_no_line(text: str) -> None:
    report = parse_report(text)
    kept = "\n".join(section.title + section.text for section in report.sections)
    for word in text.split():
        if word.isalnum():
            assert word in kept


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ('- "a "b" c" [1]', ('a "b" c',)),
        ("“A one” [1] and “B two” [2]", ("A one", "B two")),
        ("「引用」と言った【1】", ("引用",)),
        ("„Zitat hier“ [1]", ("Zitat hier",)),
        ("« cité ici » [2].", ("cité ici",)),
        ('**Label:** "quoted text here" [1].', ("quoted text here",)),
        ('> "x y" [1]', ("x y",)),
        ('He said "one thing" and left.', ("one thing",)),
        ("“outer ‘inner’ end”", ("outer ‘inner’ end",)),
    ],
)
def test_quotations_of_a_line(line: str, first: tuple[str, ...]) -> None:
    assert find_quotations(line)[0] == first


@pytest.mark.parametrize(
    "line",
    [
        'He is 5" tall and 6" wide',
        "no marks",
        'an open " mark',
        "It's theirs' 'now'",
        "《书名》很好",
        "",
    ],
)
def test_lines_without_quotations(line: str) -> None:
    assert find_quotations(line) == ()


def test_two_quotations_on_a_line_have_two_readings() -> None:
    assert find_quotations('"A one" and "B two" [1]') == (
        ('A one" and "B two',),
        ("A one", "B two"),
    )
    assert is_whole_quotation('- "A. B." [1][2]')
    assert not is_whole_quotation('"A." [1] and "B." [2]')


def test_a_nested_mark_never_hides_the_rest_of_a_quotation() -> None:
    assert find_quotations('"a 5" pipe broke" [1]') == (('a 5" pipe broke',),)
    assert find_quotations('"It says "do never open" on each box." [1]') == (
        ('It says "do never open" on each box.',),
    )


@given(st.text('"“”„«»「」 ab[1].', max_size=60))
def test_spans_are_ordered_and_apart(line: str) -> None:
    spans = quotation_spans(line)
    assert all(a < b for a, b in spans)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))


@pytest.mark.data
def test_real_reports_have_a_title_and_sections() -> None:
    files = sorted((shared_data() / "agents" / "reports").glob("*.md"))
    read = [parse_report(file.read_text("utf-8")) for file in files]
    assert len(read) > 50
    assert sum(bool(report.title) for report in read) >= 0.9 * len(read)
    assert all(report.sections for report in read)
