"""One research run for the crash, kill and race harnesses: every phase, every branch, by script.

Four subtopics in two batches, planned by the delegate; gaps, so that a follow-up runs; a first
draft that the verifier refuses and a second that it passes. `invoke` is one invocation of the
engine on the folder it stands in, through the command line; run as a program it does the same.

    python scenario.py [scripted|host|cancel]
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT))

TOPIC = "How do tides shape coasts?"
NAMES = ("Moon and Sun", "Funnel bays", "Salt marshes", "Sand bars")
STEMS = ("moon-and-sun", "funnel-bays", "salt-marshes", "sand-bars")
CLAIMS = (
    "Spring tides come when the pull of both bodies lines up",
    "A narrowing bay raises the water at its head",
    "Marsh plants slow the flow and catch the mud",
    "Bars move landward after storms",
)
FOLLOWUP = "_followup"
GAP = "how fast marshes grow"


def _source(n: int, stem: str) -> str:
    return f"[{n}] About {stem} — https://{stem}.example/paper — primary — 2024"


def _finding(name: str, stem: str, claim: str, gap: str) -> str:
    return (
        f"SUBTOPIC: {name}\nQUERIES_RUN:\n- {name.lower()} tides → one paper\n"
        f"SOURCES:\n{_source(1, stem)}\nSYNTHESIS:\n{claim} [1].\nGAPS:\n- {gap}\n"
    )


def _report(title: str) -> str:
    sections = "\n\n".join(
        f"### {name}\n\n{claim} [{n}]."
        for n, (name, claim) in enumerate(zip(NAMES, CLAIMS, strict=True), 1)
    )
    sources = "\n".join(_source(n, stem) for n, stem in enumerate(STEMS, 1))
    return (
        f"# {title}\n\n## Executive Summary\n\n{CLAIMS[0]} [1].\n\n## Detailed Findings\n\n"
        f"{sections}\n\n## Key Takeaways\n\n- {CLAIMS[1]} [2].\n\n## Open Questions\n\n"
        f"- {GAP}\n\n## Sources\n\n{sources}\n"
    )


def _verdict(word: str) -> str:
    advice = "APPROVE" if word == "PASS" else "REQUEST_CHANGES"
    gap = "none" if word == "PASS" else "the title is too short"
    return (
        f"VERDICT: {word}\nCONFIDENCE: HIGH\nEVIDENCE:\n| claim | source | holds |\n"
        f"SUBTOPIC COVERAGE:\n| subtopic | covered |\nGAPS:\n- {gap}\nRECOMMENDATION: {advice}\n"
    )


PLAN = "\n".join(
    f"- name: {name}\n  queries: [{name.lower()} tides, {name.lower()} research]" for name in NAMES
)
FINDINGS = {
    name: _finding(name, stem, claim, GAP if name == "Salt marshes" else "none")
    for name, stem, claim in zip(NAMES, STEMS, CLAIMS, strict=True)
}
FOLLOWUP_TEXT = _finding(FOLLOWUP, "marsh-growth", "Marshes grow by millimetres a year", "none")
DRAFTS = (_report("Tides"), _report("Tides and coasts"))
VERDICTS = (_verdict("FAIL"), _verdict("PASS"))

SCRIPT: dict[str, Any] = {
    "replies": [
        {"role": "planner", "text": PLAN},
        *(
            {"role": "researcher", "subtopic": name, "text": text}
            for name, text in FINDINGS.items()
        ),
        {"role": "researcher", "subtopic": FOLLOWUP, "text": FOLLOWUP_TEXT},
        {"role": "research-synthesist", "sequence": list(DRAFTS)},
        {"role": "research-verifier", "sequence": list(VERDICTS)},
    ]
}
ANSWERS: dict[str, str] = {
    "decompose-0-planner": PLAN,
    **{f"search-0-{stem}": FINDINGS[name] for name, stem in zip(NAMES, STEMS, strict=True)},
    "gap-check-0-followup": FOLLOWUP_TEXT,
    "synthesize-0-0-report": DRAFTS[0],
    "verify-0-0-report": VERDICTS[0],
    "synthesize-1-0-report": DRAFTS[1],
    "verify-1-0-report": VERDICTS[1],
}
"""Every task of the run with its answer: what a host submits, and what must be asked once."""

EVENTS = (
    "STARTED", "PLAN_WRITTEN", "BATCH_COMPLETE", "BATCH_COMPLETE", "GAP_CHECK_COMPLETE",
    "REPORT_DRAFT", "VERIFY_FAIL", "SYNTHESIS_RETRY", "REPORT_DRAFT", "VERIFY_PASS",
    "REPORT_CONFIRMED",
)  # fmt: skip


def write_script(folder: Path) -> dict[str, str]:
    """Write the script; return the environment that makes the scripted delegate use it."""
    path = folder / "script.json"
    path.write_text(json.dumps(SCRIPT), encoding="utf-8")
    return {"OMH_SCRIPT": str(path), "OMH_SCRIPT_CALLS": str(folder / "calls.txt")}


def find_slug(root: Path) -> str:
    """Return the slug of the run in `root`, alive or ended, or ""."""
    states = sorted((root / ".omh" / "state").glob("research--*.json"))
    if states:
        return states[0].name[len("research--") : -len(".json")]
    plans = sorted((root / ".omh" / "research").glob("*-plan.md"))
    return plans[0].name[: -len("-plan.md")] if plans else ""


def is_over(root: Path) -> bool:
    """Tell whether the run has a plan or a log, and no state any more."""
    alive = list((root / ".omh" / "state").glob("research--*.json"))
    return not alive and bool(find_slug(root))


def invoke(root: Path, how: str, cli: Any) -> Any:
    """Do one invocation: start if there is no run, else one step (or one submission)."""
    at = ("--root", str(root), "--json")
    slug = find_slug(root)
    if not slug or is_over(root):
        delegate = "host" if how == "host" else "scripted"
        return cli("start", TOPIC, "--delegate", delegate, "--if-confirmed", "view", *at)
    if how != "host":
        return cli("step", slug, *at)
    waiting = cli("next", slug, *at)
    if waiting.code != 0 or not waiting.json["tasks"]:
        return waiting
    task = waiting.json["tasks"][0]["id"]
    return cli("submit", slug, task, *at, stdin=ANSWERS[task])


def main() -> int:
    """Do one invocation in the current folder; print what the engine printed."""
    from tests.runs import cli

    how = sys.argv[1] if len(sys.argv) > 1 else "scripted"
    os.environ["OMH_OFFLINE"] = "1"
    root = Path.cwd()
    if how == "cancel":
        ended = cli("cancel", find_slug(root), "--reason", "enough", "--root", ".", "--json")
    else:
        ended = invoke(root, how, cli)
    sys.stdout.write(ended.out)
    sys.stdout.flush()
    sys.stderr.write(ended.err)
    return int(ended.code)


if __name__ == "__main__":
    sys.exit(main())
