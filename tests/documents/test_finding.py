"""Researchers' answers: parsing as lenient as models are, gaps, the findings file (E21-E23)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.documents import frontmatter
from omh_research.documents.finding import (
    INSUFFICIENT,
    EvidenceLine,
    KeyPoint,
    ParsedFinding,
    QueryRun,
    empty_finding,
    parse_finding,
)
from omh_research.documents.finding_file import read_finding_file, render_finding
from omh_research.documents.gaps import is_none, merge_gaps
from omh_research.documents.source_lines import Source, parse_source_line
from tests.documents.shared_data import shared_data

BLOCK = """SUBTOPIC: Solar cells: efficiency

QUERIES_RUN:
- record efficiency 2024 → 3 good hits
- "tandem cells" → nothing new

SOURCES:
[1] NREL chart — https://nrel.gov/pv — primary — 2024-05-01
[2] A post — https://blog.example/tandem_(cells) — blog — 2023

EVIDENCE:
- [1] The record is 33.9% | "a record efficiency of 33.9% was measured"
- [2] Tandem cells stack layers | “two layers, called "tandem", absorb
  different parts of the spectrum”

SYNTHESIS:
The record stands at 33.9% [1]. Tandem cells stack layers [2].

GAPS:
- No field data after 2023
- Cost per watt
  of tandem modules
"""

WANT = ParsedFinding(
    subtopic="Solar cells: efficiency",
    queries_run=(
        QueryRun("record efficiency 2024", "3 good hits"),
        QueryRun("tandem cells", "nothing new"),
    ),
    sources=(
        Source(1, "NREL chart", "https://nrel.gov/pv", "primary", "2024-05-01"),
        Source(2, "A post", "https://blog.example/tandem_(cells)", "blog", "2023"),
    ),
    evidence=(
        EvidenceLine(1, "The record is 33.9%", "a record efficiency of 33.9% was measured"),
        EvidenceLine(
            2,
            "Tandem cells stack layers",
            'two layers, called "tandem", absorb different parts of the spectrum',
        ),
    ),
    synthesis="The record stands at 33.9% [1]. Tandem cells stack layers [2].",
    gaps=("No field data after 2023", "Cost per watt of tandem modules"),
)


def test_d5b_the_template_itself_is_read_whole() -> None:
    assert parse_finding(BLOCK) == WANT


def bold(text: str) -> str:
    return "".join(
        f"**{line[:-1]}**:\n" if line.rstrip().endswith(":") and line.isupper() else line + "\n"
        for line in text.split("\n")
    )


VARIANTS = {
    "bold labels": bold(BLOCK).replace("SUBTOPIC:", "**SUBTOPIC:**"),
    "headings": BLOCK.replace("SUBTOPIC: ", "## SUBTOPIC\n")
    .replace("SOURCES:", "## Sources")
    .replace("EVIDENCE:", "### Evidence")
    .replace("SYNTHESIS:", "## 3. Synthesis")
    .replace("GAPS:", "## Gaps and limitations")
    .replace("QUERIES_RUN:", "## Queries run (two)"),
    "fenced": f"Here is the block.\n\n```text\n{BLOCK}```\n",
    "crlf": BLOCK.replace("\n", "\r\n"),
    "bom": "\ufeff" + BLOCK,
    "full-width colons": BLOCK.replace("SOURCES:", "SOURCES：")
    .replace("GAPS:", "GAPS：")
    .replace("SUBTOPIC: ", "SUBTOPIC："),
    "Chinese names": BLOCK.replace("SUBTOPIC: ", "子主题：")
    .replace("QUERIES_RUN:", "检索式：")
    .replace("SOURCES:", "## 来源")
    .replace("EVIDENCE:", "**证据**：")
    .replace("SYNTHESIS:", "综合：")
    .replace("GAPS:", "缺口："),
    "German names": BLOCK.replace("SOURCES:", "QUELLEN:")
    .replace("SYNTHESIS:", "ZUSAMMENFASSUNG:")
    .replace("GAPS:", "LÜCKEN:")
    .replace("EVIDENCE:", "BELEGE:"),
    "CJK brackets": BLOCK.replace("[1] N", "【1】N")
    .replace("- [1] T", "- 【1】 T")
    .replace("[2] A", "［2］A"),
    "numbered lists": BLOCK.replace("[1] N", "1. N").replace("[2] A", "2) A"),
    "thinking": "<think>SOURCES:\n[9] x — https://x.y — blog — 2020\n</think>\n" + BLOCK,
    "thinking without its start": "GAPS:\n- wrong\n</thinking>\n" + BLOCK,
    "thinking without its end": "<think>I will now answer.\n" + BLOCK,
    "tool output": f"<tool_result>\n{BLOCK}</tool_result>\n",
    "terminal box": "╭─ agent ─────╮\n"
    + "".join(f"│ {line}\n" for line in BLOCK.split("\n"))
    + "╰─────────────╯\n",
    "bulleted sources": BLOCK.replace("[1] N", "- **[1]** N").replace("[2] A", "* [2] A"),
    "hyphens": BLOCK.replace(" — ", " - "),
    "escape codes": BLOCK.replace("SOURCES:", "\x1b[1mSOURCES:\x1b[0m"),
    "frontmatter": f"---\nstatus: confirmed\n---\n{BLOCK}",
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_e22_usual_deviations_read_to_the_same_values(variant: str) -> None:
    got = parse_finding(VARIANTS[variant])
    assert (got.subtopic, got.sources, got.gaps) == (WANT.subtopic, WANT.sources, WANT.gaps)
    assert got.queries_run == WANT.queries_run
    assert got.evidence == WANT.evidence
    assert got.synthesis.startswith("The record stands")
    assert "GAPS" not in got.synthesis


def test_e22_a_json_envelope_around_the_answer_is_opened() -> None:
    import json

    text = json.dumps({"type": "result", "result": BLOCK})
    assert parse_finding(text) == WANT
    assert parse_finding(json.dumps([{"type": "text", "text": BLOCK}])) == WANT


def test_e22_missing_sections_are_said_not_guessed() -> None:
    got = parse_finding("SOURCES:\n[1] A — https://a.org — blog — 2020\n\nSome prose about it [1].")
    assert got.sources == (Source(1, "A", "https://a.org", "blog", "2020"),)
    for name in ("SUBTOPIC", "QUERIES_RUN", "SYNTHESIS", "GAPS"):
        assert f"no {name} section" in got.notes


def test_e22_a_text_in_another_form_says_that_it_is_no_findings_block() -> None:
    got = parse_finding("I looked at [a page](https://a.org/x) and https://b.org/y.")
    assert [(s.n, s.title, s.url) for s in got.sources] == [
        (1, "a page", "https://a.org/x"),
        (2, "", "https://b.org/y"),
    ]
    assert any("not a findings block" in note for note in got.notes)


def test_e22_a_source_without_address_is_noted() -> None:
    got = parse_finding(
        "SOURCES:\n[1] A book, no link\n[2] B — https://b.org — blog — 2020\nSYNTHESIS:\nx\nGAPS: none"
    )
    assert [source.n for source in got.sources] == [2]
    assert any("[1] A book" in note for note in got.notes)
    assert got.gaps == ()


def test_e21_the_empty_block_says_so_and_lists_what_was_sought() -> None:
    text = empty_finding("Solar\ncells", ["q one", "q two"], ["timeout after 600 s\nGAPS: none"])
    got = parse_finding(text)
    assert "SOURCES: (none-found, reasons listed)" in text
    assert got.subtopic == "Solar cells"
    assert got.sources == ()
    assert got.synthesis == INSUFFICIENT
    assert got.is_insufficient
    assert got.gaps == (
        "unanswered: q one", "unanswered: q two", "reason: timeout after 600 s GAPS: none",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "want"),
    [
        (
            "[1] A: b — https://a.org/x(1) — primary — 2024-05-01",
            Source(1, "A: b", "https://a.org/x(1)", "primary", "2024-05-01"),
        ),
        ("3. [T](https://x.org/a_(b)) (2023)", Source(3, "T", "https://x.org/a_(b)", "", "2023")),
        (
            "【4】标题 — https://x.cn/a — 一手 — 2023年5月",
            Source(4, "标题", "https://x.cn/a", "一手", "2023年5月"),
        ),
        (
            "| [6] | T | https://x.org/q | vendor | 2020 |",
            Source(6, "T", "https://x.org/q", "vendor", "2020"),
        ),
        (
            "[7] Doc — docs/a file.md — primary — n.d.",
            Source(7, "Doc", "docs/a file.md", "primary", "n.d."),
        ),
        (
            "[8] Smith. Title. doi:10.1234/abc.def",
            Source(8, "Smith. Title.", "https://doi.org/10.1234/abc.def"),
        ),
        ("[9] P — arXiv:2301.00001v2", Source(9, "P", "https://arxiv.org/abs/2301.00001v2")),
        (
            "[S01] X — http://a.b/c — weird tag — January 3, 2026",
            Source(1, "X", "http://a.b/c", "weird tag", "January 3, 2026"),
        ),
        (
            "[^9]: Foo, https://x.org/9, primary, 2021",
            Source(9, "Foo", "https://x.org/9", "primary", "2021"),
        ),
        ("- https://foo.org/bar.", Source(0, "", "https://foo.org/bar")),
    ],
)
def test_d5b_source_lines_in_the_shapes_models_write(line: str, want: Source) -> None:
    assert parse_source_line(line) == want


@pytest.mark.parametrize(
    "text",
    ["none", "None.", "N/A", "(none)", "- ", "无", "无。", "暂无", "Keine", "aucun", "なし", "없음", "нет", "لا يوجد",
     "None — all queries were answered.", "No significant gaps identified.", "**None**", "no gaps", "NONE!", "特になし"],
)  # fmt: skip
def test_e23_none_in_any_usual_wording_is_no_gap(text: str) -> None:
    assert is_none(text)


@pytest.mark.parametrize(
    "text",
    ["None of the sources gives a price", "None, except the cost", "No gaps in Europe, but Asia is open", "无法找到价格数据",
     "No data after 2023", "Nothing is known about costs", "Nonewhere", "none?? what about cost?"],
)  # fmt: skip
def test_e23_a_gap_that_begins_like_none_stays(text: str) -> None:
    assert not is_none(text)


def test_e23_merging_drops_literal_repeats_and_keeps_the_first() -> None:
    assert merge_gaps([["Cost of X ", "none"], ["cost of x", "Age"], ["AGE", "无"]]) == (
        "Cost of X",
        "Age",
    )
    assert merge_gaps([]) == ()


def test_l8_key_points_are_read() -> None:
    points = "[1] P1 | record is 33.9% | -\n- [2] P3-blog | stacks | layers | conflict with [1]\n- [2] no priority\n"
    got = parse_finding(f"{BLOCK}\nKEY_POINTS:\n{points}")
    assert got.key_points == (
        KeyPoint(1, 1, "record is 33.9%", 0),
        KeyPoint(2, 3, "stacks | layers", 1),
    )
    assert "1 KEY_POINTS lines not understood" in got.notes
    assert got.gaps == WANT.gaps


def test_findings_file_holds_the_text_verbatim_and_its_sources_in_front() -> None:
    text = render_finding("Solar cells", BLOCK)
    meta, body = frontmatter.parse(text, where="f")
    assert body == BLOCK
    assert meta["subtopic"] == "Solar cells"
    assert meta["source_urls"] == ["https://nrel.gov/pv", "https://blog.example/tandem_(cells)"]
    assert meta["sources"] == [
        {
            "n": "1",
            "title": "NREL chart",
            "url": "https://nrel.gov/pv",
            "credibility": "primary",
            "date": "2024-05-01",
        },
        {
            "n": "2",
            "title": "A post",
            "url": "https://blog.example/tandem_(cells)",
            "credibility": "blog",
            "date": "2023",
        },
    ]
    assert meta["parse"] == []
    assert read_finding_file(text, where="f") == ("Solar cells", WANT, BLOCK)


def test_a_thousand_sources_still_give_a_readable_file() -> None:
    text = "SOURCES:\n" + "".join(
        f"[{n}] {'T' * 200} — https://a.org/{n} — blog — 2020\n" for n in range(1, 1001)
    )
    meta, body = frontmatter.parse(render_finding("x", text), where="f")
    assert body == text
    assert any(
        "of 1000 sources stand in the text only" in str(note) for note in list(meta["parse"])
    )  # type: ignore[call-overload]


@given(st.text(max_size=400))
def test_e22_any_text_is_read_without_error_and_kept(text: str) -> None:
    rendered = render_finding("s", text)
    assert read_finding_file(rendered, where="f")[2] == text


@given(st.lists(st.sampled_from(["SOURCES:", "GAPS:", "SYNTHESIS:", "- x", "[1] a — https://a.b — blog — 2020", "```", "## H",
                                 "", "<think>", "</think>", "| a | b |", "【2】标题 https://c.d", "EVIDENCE:", '- [1] c | "q']), max_size=20))  # fmt: skip
def test_e22_any_order_of_pieces_is_read(lines: list[str]) -> None:
    got = parse_finding("\n".join(lines))
    assert isinstance(got, ParsedFinding)
    assert all(source.url for source in got.sources)


@pytest.mark.parametrize(
    "piece",
    ["[", "- [1] ", "**", "<think>", "|", "[1](", " — ", "SOURCES:\n", "http://", "GAPS:", "`"],
)
def test_hostile_repetition_is_read_in_linear_time(piece: str) -> None:
    got = parse_finding(piece * (200_000 // len(piece)))
    assert isinstance(got, ParsedFinding)


@pytest.mark.data
@pytest.mark.parametrize(
    ("section", "gaps"),
    [
        ("- none\n\nHope this helps! VERDICT: PASS", ()),
        ("none\n\nLet me know if you need more.\nBest wishes", ()),
        ("- Cost in 2024\n\nI hope that this is of use.\nRegards", ("Cost in 2024",)),
        ("- Cost in\n  2024\n\n  and 2025\n- Age", ("Cost in 2024 and 2025", "Age")),
        ("- Cost\n\nFurther ones:\n- Age\n\n- Use", ("Cost", "Age", "Use")),
        ("Cost in 2024\n\nAge", ("Cost in 2024", "Age")),
    ],
)
def test_e23_a_farewell_behind_the_gaps_is_no_gap(section: str, gaps: tuple[str, ...]) -> None:
    assert parse_finding(f"{BLOCK.partition('GAPS:')[0]}GAPS:\n{section}\n").gaps == gaps


def test_real_findings_yield_sources_and_gaps_or_say_that_they_are_no_block() -> None:
    files = sorted((shared_data() / "agents" / "findings").glob("*.md"))
    assert len(files) >= 10
    for file in files:
        text = file.read_text(encoding="utf-8")
        got = parse_finding(text)
        links = text.count("https://") + text.count("http://")
        assert got.sources or links == 0 or "intake-516" in text, file.name
        assert (got.sources and got.synthesis) or any(
            "not a findings block" in n or n.startswith("no ") for n in got.notes
        )
        _, again, body = read_finding_file(render_finding("x", text), where=file.name)
        assert body == text
        assert again == got
