"""What may be said without sources: an advisory fallback, or nothing (spec T21, T24).

Job: for a low-risk landscape print provisional paths, a row template and an order of verification,
every item labelled as unverified; for a legal, medical, financial, policy or safety question
abstain and name nothing. Refuses to recommend, to rank and to use a model. Importers: start,
phases, cli.
"""

from __future__ import annotations

from collections.abc import Sequence

from omh_research.lazy_re import lazy_re
from omh_research.tools.sensitive import sensitive_kind

LABEL = "discovery seed — not verified"

# Borrowed words: taken out before the rule looks.
_HAN = lazy_re("[\u3400-\u9fff]")
_ABSTAIN = {
    "en": (
        "No usable source was read, so this question is left unanswered. It is a {kind} question: "
        "without verified sources no option, product, person or course of action is named. Ask a "
        "qualified professional or an official body, or run the research again with sources.\n"
    ),
    "zh": (
        "没有读到可用的来源，因此不作回答。这是一个{kind}问题：在没有经过核验的来源时，不列出任何选项、产品、人员或做法。"
        "请咨询有资质的专业人士或官方机构，或在提供来源后重新研究。\n"
    ),
}
_KINDS_ZH = {
    "medical": "医疗", "legal": "法律", "financial": "财务", "policy": "政策", "safety": "安全",
}  # fmt: skip
# (decision mode, what to verify first, why, what would disqualify)
_PATHS = (
    ("Everyday use, least effort",
     "Does the official page state the needed use, platform and a current release?",
     "Most choices fail on platform or upkeep before any feature matters.",
     "The platform is not named, or no release or commit can be dated."),
    ("Privacy or local operation",
     "Does the official documentation say where data is kept and what is sent?",
     "A claim of privacy is only as good as the vendor's own exact wording.",
     "Telemetry, accounts or uploads that cannot be switched off, or silence on it."),
    ("Cost and licence",
     "What do the licence file and the price page say, word for word?",
     "Licence and price change; third-party summaries lag behind.",
     "No licence text, a licence that forbids the use, or prices only on request."),
    ("Demanding or specialised use",
     "Do stated limits (hardware, scale, formats) cover the case?",
     "Limits are facts that can be quoted; performance impressions are not.",
     "Requirements above what is available, or limits that are nowhere stated."),
)  # fmt: skip
_TEMPLATE = (
    "| candidate | claim | authoritative source | source date | access date | exact quote or value "
    "| support status | confidence | limitation |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"
    '| (name) | (one narrow fact) | (official URL) | (YYYY-MM-DD) | (YYYY-MM-DD) | "(exact words)" '
    "| not verified | SPECULATIVE | (what the source does not say) |\n"
)


def fallback(
    question: str,
    candidates: Sequence[str] = (),
    *,
    cutoff: str,
    sources: Sequence[tuple[str, str]] = (),
) -> str:
    """Return the text for a question without usable sources (T21), Markdown, ends with a line end.

    `candidates` are unverified names for a low-risk landscape; `cutoff` is the intended research
    cutoff (ISO date); `sources` pairs each retained address with its access or verification date.
    For a legal, medical, financial, policy or safety question the text abstains and names nothing.
    """
    kind = sensitive_kind(question)
    if kind:
        is_chinese = _HAN.search(question) is not None
        return _ABSTAIN["zh" if is_chinese else "en"].format(
            kind=_KINDS_ZH[kind] if is_chinese else kind
        )
    lines = [
        "## Verification shortlist", "",
        "No usable source was read. What follows is where to look, not what was found: not a "
        "current finding, ranking or recommendation.", "",
        f"Intended research cutoff: {cutoff}.", "", "### Paths", "",
    ]  # fmt: skip
    for mode, first, why, disqualifies in _PATHS:
        lines += [
            f"- **{mode}** ({LABEL})", f"  - Verify first: {first}", f"  - Why: {why}",
            f"  - Disqualified by: {disqualifies}",
        ]  # fmt: skip
    if candidates:
        lines += ["", "### Names to check", ""]
        lines += [f"- {' '.join(name.split())} ({LABEL})" for name in candidates]
    lines += ["", "### Sources kept", ""]
    lines += [f"- {url} (accessed or verified: {date or 'no date'})" for url, date in sources]
    lines += [] if sources else ["- none"]
    lines += [
        "", "### Evidence row template", "", _TEMPLATE.rstrip("\n"), "",
        "### Order of verification", "",
        "1. The official page of each name: does it exist, and is it the maker's own?",
        "2. Use and platform, in the maker's exact words, with a date.",
        "3. Privacy or local operation, then licence and price.",
        "4. Activity: a dated release or commit.",
        "5. Limits and requirements.", "",
        "Tie-breakers: the more recent dated source; then the one with the exact licence text; then"
        " the one with the fewest unverified cells; if still equal, keep both. Stop as soon as a "
        "disqualifying check is met.",
    ]  # fmt: skip
    return "\n".join(lines) + "\n"
