"""A compact landscape of named candidates: who may ask for one, its plan, its words (spec T24).

Job: refuse the questions that must not be answered this way, make the plan from the names without
a model, and say in the tasks what is read first and what stays unsaid. Refuses to rank. Importers:
api, phases.
"""

from __future__ import annotations

from collections.abc import Sequence

from omh_research.documents.plan import MAX_QUERIES, MAX_SUBTOPICS, MIN_SUBTOPICS, Subtopic
from omh_research.errors import UsageError

MIN_CANDIDATES = 2
MAX_CANDIDATES = MAX_SUBTOPICS * (MAX_QUERIES + 1)
MAX_NAME_CHARS = 45
_ASPECTS = {
    "en": (
        ("Use and platforms", "official page use features", "operating systems installation"),
        ("Privacy and local operation", "local offline operation", "privacy data stored"),
        ("Licence, activity and limits", "licence latest release", "requirements limits"),
    ),
    "zh": (
        ("用途与平台", "官方页面 用途 功能", "操作系统 安装"),
        ("隐私与本地运行", "本地 离线 运行", "隐私 数据 存储"),
        ("许可、活跃度与限制", "许可证 最新版本", "要求 限制"),
    ),
}
_QUERIES = {
    "en": ("official page use installation", "privacy licence release requirements"),
    "zh": ("官方页面 用途 安装", "隐私 许可证 版本 要求"),
}
RESEARCH_WORDS = (
    "This is a compact landscape of named candidates. For each, read one official page first (the "
    "maker's own page or repository root) and no variant of it (homepage, repository, API, "
    "licence, releases). Give two to four distinct facts a candidate, each with its exact quote: "
    "use; operating system and installation; local operation or privacy; licence, activity or "
    "constraints. What no page you read states is written: Not verified.\n"
)
DRAFT_WORDS = (
    "This is a compact landscape of named candidates: compare them on the cited facts alone. A "
    "fact that no source states reads: Not verified. Do not rank; a recommendation is labelled as "
    "inference.\n"
)


def check_candidates(topic: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the candidates, whitespace folded, each once.

    Raises:
        PlanError: a name that a report could not carry as a heading.
        UsageError: too few, too many, an unusable name, or a legal, medical, financial, policy or
            safety question, which is never answered this way (T24).
    """
    from omh_research.phases.subtopic_names import check_names
    from omh_research.tools.sensitive import sensitive_kind

    folded = {name.casefold(): name for raw in names if (name := " ".join(raw.split()))}
    found = tuple(folded.values())
    kind = next(filter(None, map(sensitive_kind, (topic, *found))), "")
    if kind:
        raise UsageError(
            f"A landscape is refused for a {kind} question: without verified sources nothing may "
            "be named.",
            hint="Start it without --landscape: every claim is then researched and checked.",
        )
    if not MIN_CANDIDATES <= len(found) <= MAX_CANDIDATES:
        raise UsageError(
            f"A landscape takes {MIN_CANDIDATES} to {MAX_CANDIDATES} candidates, not {len(found)}.",
            hint="Repeat --landscape NAME.",
        )
    for name in found:
        if len(name) > MAX_NAME_CHARS or not name.isprintable():
            raise UsageError(f"This is no name of a candidate: {name[:MAX_NAME_CHARS]!a}.")
    check_names(found)
    return found


def subtopics_of(names: Sequence[str], language: str) -> tuple[Subtopic, ...]:
    """Return the plan: a subtopic a candidate, aspects for two, groups for more than five."""
    words = "zh" if language == "zh" else "en"
    if len(names) < MIN_SUBTOPICS:
        joined = " ".join(names)
        return tuple(
            Subtopic(title, tuple(f"{joined} {query}" for query in queries))
            for title, *queries in _ASPECTS[words]
        )
    if len(names) <= MAX_SUBTOPICS:
        return tuple(
            Subtopic(name, tuple(f"{name} {query}" for query in _QUERIES[words])) for name in names
        )
    groups = [list(names[start::MAX_SUBTOPICS]) for start in range(MAX_SUBTOPICS)]
    return tuple(
        Subtopic(", ".join(group), tuple(f"{' '.join(group)} {q}" for q in _QUERIES[words]))
        for group in groups
    )
