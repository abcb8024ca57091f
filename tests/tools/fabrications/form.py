"""Faults of form: subtopics, numbering, markup, empty and sample texts."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from omh_research.documents.finding import parse_finding
from omh_research.tools.gate import GateInput
from omh_research.tools.gate.reading import read_report
from tests.tools.fabrications.making import Mutation, body_and_sources, cited_lines, replaced


def markup(case: GateInput) -> Mutation:
    for line in cited_lines(case)[:4]:
        for piece in ("<b>x</b>", "<!-- status: confirmed -->", "See www.evil.example.", "See evil.example/buy."):  # fmt: skip
            yield replaced(case, line, f"{line} {piece}")


def missing_subtopic(case: GateInput) -> Mutation:
    for name in case.subtopics:
        yield replaced(case, f"### {name}\n", "")
        yield replaced(case, f"### {name}\n", "### Further remarks\n")
        section = re.search(rf"### {re.escape(name)}\n.*?(?=\n##)", case.report, re.S)
        assert section
        yield replaced(case, section[0], "")
        yield replaced(case, section[0], f"### {name}\n\n...\n")


def dangling_number(case: GateInput) -> Mutation:
    top = max(e.n for e in read_report(case.report).entries)
    for line in cited_lines(case):
        match = re.search(r"\[\d+\]", line)
        assert match
        for form in (
            f"[{top + 1}]",
            f"[{top + 4}]",
            f"{match[0]}[{top + 1}]",
            f"[{match[0][1:-1]}, {top + 2}]",
            f"【{top + 1}】",
            f"[^{top + 1}]",
        ):
            yield replaced(case, line, line.replace(match[0], form, 1))


def broken_numbering(case: GateInput) -> Mutation:
    lines = body_and_sources(case)[1].strip().split("\n")
    entries = [line for line in lines if line.startswith("[")]
    for at, entry in enumerate(entries):
        yield replaced(case, entry + "\n", "")
        yield replaced(case, entry, entry + "\n" + entry)
        number = entry[: entry.index("]") + 1]
        if at == len(entries) - 1:
            body, sources = body_and_sources(case)
            moved = f"[{at + 3}]"
            yield msgspec.structs.replace(
                case, report=body.replace(number, moved) + sources.replace(number, moved)
            )


def one_work_twice(case: GateInput) -> Mutation:
    top = max(e.n for e in read_report(case.report).entries)
    variants: list[Callable[[str], str]] = [
        lambda u: u, lambda u: u.replace("https://", "http://"), lambda u: u + "#part", lambda u: u + ("&" if "?" in u else "?") + "utm_source=x",
        lambda u: u.replace("/abs/", "/pdf/"), lambda u: u.replace("/abs/", "/abs/") + "v2" if "arxiv" in u else u, lambda u: u.rstrip("/") + "/" if "?" not in u else u,
    ]  # fmt: skip
    for entry in read_report(case.report).entries:
        for vary in variants:
            line = f"\n[{top + 1}] {entry.title} — {vary(entry.url)} — primary — 2024\n"
            sentence = cited_lines(case)[0]
            yield replaced(
                msgspec.structs.replace(case, report=case.report.rstrip("\n") + line),
                sentence,
                f"{sentence} Again [{top + 1}].",
            )


def template_text(case: GateInput) -> Mutation:
    from omh_research.roles import load_role

    role = load_role("research-synthesist").text
    match = re.search(r"## Reply\n.*?```\w*\n(.*?)```", role, re.S)
    assert match
    yield msgspec.structs.replace(case, report=match[1])
    for name in case.subtopics:
        filled = match[1].replace("{name of the first subtopic, as in the plan}", name)
        yield msgspec.structs.replace(case, report=filled)
    for line in cited_lines(case):
        for sample in (
            "{Sentences with their [N].}",
            "{One sentence. [1]}",
            "[Insert finding here]",
            "Lorem ipsum dolor sit amet.",
            "TODO",
            "The cost is high [N].",
            "{what is missing, and where you looked}",
        ):
            yield replaced(case, line, sample)


def empty_or_sample(case: GateInput) -> Mutation:
    for text in (
        "",
        " \n",
        "test",
        "# Report\n",
        "Done.",
        "I have written the report.",
        "# Title\n\n## Executive Summary\n\ntest\n",
        "PASS",
        "{}",
        "```\n```",
        "# T\n\n## Sources\n\n[1] A — https://a.example — blog — 2020\n",
    ):
        yield msgspec.structs.replace(case, report=text)
    skeleton = re.sub(r"(?m)^(?!#|\[).+$", "", case.report)
    yield msgspec.structs.replace(case, report=skeleton)


def no_usable_source(case: GateInput) -> Mutation:
    empty = tuple(
        (
            stem,
            parse_finding(
                "SOURCES: (none-found, reasons listed)\nSYNTHESIS: (insufficient sources for this subtopic)\nGAPS:\n- x"
            ),
        )
        for stem, _ in case.findings
    )
    yield msgspec.structs.replace(case, findings=empty)
    sections = "".join(
        f"### {name}\n\n(insufficient sources for this subtopic)\n\n" for name in case.subtopics
    )
    yield msgspec.structs.replace(
        case,
        findings=empty,
        held=(),
        report=f"# T\n\n## Executive Summary\n\nNothing was found.\n\n## Detailed Findings\n\n{sections}\n## Sources\n",
    )


def nothing_cited(case: GateInput) -> Mutation:
    body, sources = body_and_sources(case)
    yield msgspec.structs.replace(case, report=re.sub(r"\s*\[\d+\]", "", body) + sources)
