"""A mind for tests that play a host: it answers every task about one small subject correctly."""

from __future__ import annotations

from typing import Any

TOPIC = "Where does the river Rhine begin and end, and how long is it?"

FACTS = {
    "Length of the Rhine": "The Rhine has a length of 1,233 kilometres.",
    "Source of the Rhine": "The Rhine rises at Lake Toma in the canton of Graubünden.",
    "Mouth of the Rhine": "The Rhine flows into the North Sea near Rotterdam.",
}


def page_of(name: str) -> dict[str, str]:
    slug = name.split()[0].lower()
    text = f"About rivers. {FACTS[name]} Many ships pass each day on their way to the sea."
    return {"url": f"https://rivers.example/{slug}", "title": name, "text": text}


def plan() -> str:
    return "\n".join(
        f'- name: "{name}"\n  queries: ["{name} river", "{name} official"]' for name in FACTS
    )


def finding(name: str) -> str:
    page = page_of(name)
    return (
        f"SUBTOPIC: {name}\nQUERIES_RUN:\n- {name} river → one page\nSOURCES:\n"
        f"[1] {page['title']} — {page['url']} — primary — 2024-05-01\nEVIDENCE:\n"
        f'- [1] {FACTS[name]} | "{FACTS[name]}"\nSYNTHESIS:\n'
        f"{FACTS[name].removesuffix('.')} [1].\nGAPS:\n- none"
    )


def report() -> str:
    cited = {name: f"{fact.removesuffix('.')} [{n}]." for n, (name, fact) in
             enumerate(FACTS.items(), 1)}  # fmt: skip
    details = "\n\n".join(f"### {name}\n\n{text}" for name, text in cited.items())
    sources = "\n".join(
        f"[{n}] {name} — {page_of(name)['url']} — primary — 2024-05-01"
        for n, name in enumerate(FACTS, 1)
    )
    first = next(iter(cited.values()))
    return (
        f"# The Rhine\n\n## Executive Summary\n\n{' '.join(cited.values())}\n\n"
        f"## Detailed Findings\n\n{details}\n\n## Key Takeaways\n\n- {first}\n\n"
        f"## Open Questions\n\n- None.\n\n## Sources\n\n{sources}\n"
    )


def verdict(word: str) -> str:
    advice = "APPROVE" if word == "PASS" else "REQUEST_CHANGES"
    gap = "none" if word == "PASS" else "the length needs a second source"
    return (
        f"VERDICT: {word}\nCONFIDENCE: HIGH\nEVIDENCE:\n| claim | source | holds |\n"
        f"SUBTOPIC COVERAGE:\n| subtopic | covered |\nGAPS:\n- {gap}\n"
        f"RECOMMENDATION: {advice}"
    )


def think(task: dict[str, Any], word: str = "PASS") -> tuple[str, list[dict[str, str]]]:
    """Return the answer to a task as `next` hands it out, and the pages that were read for it."""
    match task["role"]:
        case "planner":
            return plan(), []
        case "researcher":
            name = next(name for name in FACTS if f"Subtopic: {name}" in task["goal"])
            return finding(name), [page_of(name)]
        case "research-synthesist":
            return report(), []
        case _:
            return verdict(word), []
