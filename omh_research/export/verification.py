"""The generated section Verification: what the claim panel made of a report (spec P10).

Job: the section as Markdown from panel.json. Refuses to speak of a draft that the panel did not
judge, and to call anything unverified confirmed or refuted. Importers: export, showing.
"""

from __future__ import annotations

import json
from typing import Any

from omh_research.errors import DamagedFileError
from omh_research.phases.panel import draft_mark


def read_panel(text: str | None, body: str, where: str) -> dict[str, Any] | None:
    """Return panel.json if it judged this report body, else None.

    Raises:
        DamagedFileError: it is no JSON object.
    """
    if not text:
        return None
    try:
        panel = json.loads(text)
    except ValueError as error:
        raise DamagedFileError(f"{where}: not JSON ({error}).") from None
    if not isinstance(panel, dict):
        raise DamagedFileError(f"{where}: a JSON object is expected.")
    return panel if (panel.get("stats") or {}).get("draft") == draft_mark(body) else None


def verification_lines(panel: dict[str, Any] | None) -> list[str]:
    """Return the section's lines, [] without a panel."""
    if panel is None:
        return []
    lines = ["## Verification", "", str(panel.get("summary", "")), ""]
    caveats = [item for item in panel.get("findings") or [] if item.get("caveats")]
    for heading, items, line in (
        ("Unverified", panel.get("unverified") or [], _unverified),
        ("Refuted", panel.get("refuted") or [], _refuted),
        ("Confirmed with a caveat", caveats, _caveat),
    ):
        if items:
            lines += [f"### {heading}", "", *(line(item) for item in items), ""]
    left = (panel.get("stats") or {}).get("unexamined") or {}
    if left:
        lines += ["### Not examined", "", *(f"- {name}: {count}" for name, count in left.items())]
        lines.append("")
    return lines


def with_verification(body: str, panel: dict[str, Any] | None) -> str:
    """Return a report's Markdown with the section at its end; without a panel as it is."""
    lines = verification_lines(panel)
    return body if not lines else f"{body.rstrip()}\n\n" + "\n".join(lines).rstrip() + "\n"


def _unverified(item: dict[str, Any]) -> str:
    sources = "; ".join(f"[{source['n']}] {source['title']}" for source in item.get("sources", []))
    return f"- **unverified**: {item['claim']} (sources: {sources or 'none'})"


def _refuted(item: dict[str, Any]) -> str:
    reasons = [vote["reason"] for vote in item.get("votes", []) if vote["vote"] == "refute"]
    return f"- **refuted**: {item['claim']} — " + "; ".join(filter(None, reasons))


def _caveat(item: dict[str, Any]) -> str:
    return f"- {item['claim']} — " + "; ".join(filter(None, item["caveats"]))
