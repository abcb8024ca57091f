"""Export to the shapes of the seed auto-deep-research: five files in a folder (spec L5, L9).

Job: `state.json`, `memo.json`, `memo.md`, `sources.json`, `report.md`, in the topic's language.
Refuses to say more than the findings do: a thin or contradicted point is uncertain by name.
Importers: cli.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from omh_research.documents.display import visible
from omh_research.documents.report import parse_report
from omh_research.export.view import CitedSource, ReportView
from omh_research.lazy_re import lazy_re
from omh_research.project import Project
from omh_research.store.sources import Sources
from omh_research.tools import memo, sentences
from omh_research.tools.independence import SourceFact, independent_sources, priority_of, tag_of
from omh_research.tools.references import find_markers
from omh_research.tools.urls import canonical

_TAG_OPENS = lazy_re(r"<(?=[A-Za-z/!?])")
_WORDS = {
    "zh": {
        "title": "研究报告：", "parts": "问题拆解", "part": "子问题", "conclusions": "关键结论",
        "conclusion": "结论", "evidence": "证据：", "uncertain": "不确定点", "summary": "总结",
        "sources": "参考来源", "none": "无", "thin": "独立来源不足两个", "source": "来源",
        "open": "未验证点：", "dispute": "争议点",
    },
    "en": {
        "title": "Research report: ", "parts": "Subproblems", "part": "Subproblem",
        "conclusions": "Key conclusions", "conclusion": "Conclusion", "evidence": "Evidence:",
        "uncertain": "Uncertain points", "summary": "Summary", "sources": "Sources",
        "none": "none", "thin": "fewer than two independent sources", "source": "Source",
        "open": "Not verified: ", "dispute": "Disputed",
    },
}  # fmt: skip


def to_files(project: Project, view: ReportView) -> dict[str, str]:
    """Return the five files' texts by name."""
    from omh_research.phases.goals import base_name

    words = _WORDS["zh" if view.language == "zh" else "en"]
    names = tuple(dict.fromkeys(base_name(name) for name in view.subtopics))
    record = Sources(project.layout, view.slug, canonical)
    groups = {name: [f for n, f in view.findings if base_name(n) == name] for name in names}
    built = memo.build_parts(groups, record.held())
    parts, texts, added = built.parts, built.texts, built.added
    counts = {
        name: len(
            independent_sources(
                SourceFact(s.url, credibility=s.credibility, text=texts.get(s.url, ""))
                for finding in findings
                for s in finding.sources
            )
        )
        for name, findings in groups.items()
    }
    uncertain = tuple(f"{name}：{words['thin']}" if view.language == "zh"
                      else f"{name}: {words['thin']}"
                      for name, count in counts.items() if count < 2)  # fmt: skip
    conflicts = tuple(
        f"{row.points[-1]} ({words['source']} {row.title} vs {row.conflict}) ???"
        for part in parts
        for row in part.findings
        if row.conflict
    )
    whole = memo.Memo(parts, _concepts(project, view.slug), uncertain + conflicts)
    files = {
        "state.json": _json(_state(project, view, counts)),
        "memo.json": _json(memo.memo_json(whole)),
        "memo.md": _inert(memo.memo_markdown(whole, view.language)),
        "sources.json": _json(memo.sources_json(whole, added)),
        "report.md": _inert(_report(view, names, _points(uncertain, conflicts, words), words)),
    }
    return {name: visible(text) for name, text in files.items()}


def _inert(text: str) -> str:
    """Return Markdown of ours in which no title, quote or sentence opens a tag or a link."""
    return _TAG_OPENS.sub("&lt;", text).replace("](", "]\\(").replace("][", "]\\[")


def _concepts(project: Project, slug: str) -> tuple[str, ...]:
    """Return the new concepts that the run's own memo names."""
    text = project.reader.evidence(slug, "memo.json")
    if not text:
        return ()
    try:
        found = json.loads(text).get("new_concepts")
    except (ValueError, AttributeError):
        return ()
    return tuple(str(item) for item in found) if isinstance(found, list) else ()


def _points(
    thin: tuple[str, ...], conflicts: tuple[str, ...], words: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the lines of the section on what is uncertain, in the seed's words."""
    colon = "：" if words["open"].endswith("：") else ": "
    disputed = (f"{words['dispute']} {n}{colon}{text}" for n, text in enumerate(conflicts, 1))
    return (*disputed, *(f"{words['open']}{text}" for text in thin))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _state(project: Project, view: ReportView, counts: Mapping[str, int]) -> dict[str, object]:
    plan = project.reader.plan(view.slug)
    rounds = 1 if plan is None else int(plan.options.get("rounds", 1))
    return {
        "iteration": 1 + (plan.revision if plan is not None else 0),
        "max_iterations": rounds,
        "original_query": view.topic,
        "subproblems": [
            {"id": number, "title": name, "status": "completed", "sources": count}
            for number, (name, count) in enumerate(counts.items(), 1)
        ],
        "has_new_concepts": False,
        "enough_evidence": all(count >= 2 for count in counts.values()),
    }


def _report(
    view: ReportView, names: tuple[str, ...], uncertain: tuple[str, ...], words: Mapping[str, str]
) -> str:
    tags = {s.n: tag_of(_priority(s), view.language) for s in view.sources}
    by_number = {source.n: source for source in view.sources}
    lines = [f"# {words['title']}{view.topic}", "", f"## {words['parts']}", ""]
    lines += [f"- {words['part']} {i}: {name}" for i, name in enumerate(names, 1)]
    lines += ["", f"## {words['conclusions']}", ""]
    for number, (text, cited) in enumerate(_conclusions(view), 1):
        lines += [f"### {words['conclusion']} {number}", "", text, "", words["evidence"], ""]
        for n in cited:
            if n in by_number:
                source = by_number[n]
                quote = _nearest(text, source)
                lines.append(f"- [{tags[n]}] {words['source']} {n}: {source.title} — {quote}")
        lines.append("")
    lines += [f"## {words['uncertain']}", ""]
    lines += [f"- {point}" for point in uncertain] or [f"- {words['none']}"]
    lines += ["", f"## {words['summary']}", "", _summary(view), "", f"## {words['sources']}", ""]
    lines += [f"{s.n}. [{tags[s.n]}] [{s.title}] - {s.url}" for s in view.sources]
    return "\n".join(lines) + "\n"


def _nearest(text: str, source: CitedSource) -> str:
    """Return the quote of the source that stands in the conclusion, else its best-matching one."""
    from omh_research.tools.similarity import token_jaccard

    quotes = [quote.quote for quote in source.quotes if quote.quote]
    return max(
        quotes, key=lambda quote: (quote in text, token_jaccard(quote, text)), default=(source.url)
    )


def _priority(source: CitedSource) -> int:
    return priority_of(SourceFact(source.url, doi=source.doi, credibility=source.credibility))


def _bullets(text: str) -> list[str]:
    return [line.strip().lstrip("-*• ").strip() for line in text.split("\n") if line.strip()]


def _plain(text: str) -> tuple[str, tuple[int, ...]]:
    markers = find_markers(text)
    numbers = tuple(dict.fromkeys(n for marker in markers for n in marker.numbers))
    for marker in reversed(markers):
        text = text[: marker.start] + text[marker.end :]
    return memo.tidy(text).strip('"“” '), numbers


def _conclusions(view: ReportView) -> list[tuple[str, tuple[int, ...]]]:
    report = parse_report(view.body)
    found = [_plain(line) for line in _bullets(report.text_of("takeaways"))]
    found = [(text, numbers) for text, numbers in found if text and numbers]
    return found or [_plain(line) for line in _bullets(report.text_of("summary")) if line]


def _summary(view: ReportView) -> str:
    """Return two or three sentences; the first answers the question."""
    report = parse_report(view.body)
    told: list[str] = []
    for kind in ("summary", "takeaways"):
        for line in _bullets(report.text_of(kind)):
            told += [span.text.strip() for span in sentences.split(_plain(line)[0])]
        if len(told) >= 2:
            break
    kept = list(dict.fromkeys(sentence for sentence in told if sentence))[:3]
    return ("" if view.language in ("zh", "ja") else " ").join(kept)
