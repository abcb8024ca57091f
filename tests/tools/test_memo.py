"""The memo: short points, no page text, no HTML, merged in plan order (L3, L8)."""

from __future__ import annotations

from omh_research.documents.finding import parse_finding
from omh_research.tools.memo import MAX_POINT_CHARS, Memo, build_part, clean_point, memo_markdown

TEXT = (
    "SUBTOPIC: Tides\nQUERIES_RUN:\n- q → x\nSOURCES:\n"
    "[1] One — https://one.example/a — primary — 2024\n"
    "[2] Two — https://two.example/b — blog — 2023\n"
    "SYNTHESIS:\nTides rise twice a day [1]. Tides rise once a day [2].\n{points}GAPS:\n- none\n"
)


def test_a_point_is_short_and_holds_no_html_and_no_long_copy() -> None:
    page = " ".join(f"word{n}" for n in range(80))
    assert clean_point("<b>Tides</b> <script>x()</script> rise", "") == "Tides x() rise"
    copied = clean_point(" ".join(f"word{n}" for n in range(60)), page)
    assert len(copied.split()) == 26 and copied.endswith("…")
    assert len(clean_point("tide " * 200, "")) <= MAX_POINT_CHARS


def test_key_points_are_merged_once_and_conflicts_named() -> None:
    points = (
        "KEY_POINTS:\n[1] P1 | Tides rise twice a day | conflict with [2]\n"
        "[1] P1 | Tides rise twice a day. | -\n[2] P3 | Tides rise once a day | -\n"
    )
    finding = parse_finding(TEXT.format(points=points))
    part = build_part(1, "Tides", [finding, finding], {})
    assert [(row.priority, row.points) for row in part.findings] == [
        (1, ("Tides rise twice a day",)),
        (3, ("Tides rise once a day",)),
    ]
    assert part.distilled == 0 and part.findings[0].conflict == "Two"
    shown = memo_markdown(Memo((part,)), "zh")
    assert "### 来源 A [P1-官方] (https://one.example/a)" in shown
    assert "⚠️ 与来源 B 冲突：Tides rise twice a day ???" in shown.replace("来源 B ", "来源 B ")


def test_a_text_without_the_block_is_distilled_and_counted() -> None:
    part = build_part(1, "Tides", [parse_finding(TEXT.format(points=""))], {})
    assert part.distilled == 1
    assert [row.points for row in part.findings] == [
        ("Tides rise twice a day.",),
        ("Tides rise once a day.",),
    ]
