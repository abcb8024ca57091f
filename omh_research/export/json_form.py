"""The whole view of a report as one JSON document (spec O6). Refuses to leave out what failed.

Importers: export.registry.
"""

from __future__ import annotations

import json

import msgspec

from omh_research.export.view import CHECKED, ReportView


def to_json(view: ReportView) -> str:
    """Return the report, its sources with quotes and check status, and the panel's result."""
    plain = msgspec.to_builtins(view)
    del plain["findings"]
    plain["body"] = view.whole_body
    rows = [quote.status for source in view.sources for quote in source.quotes]
    plain["checked"] = {status: rows.count(status) for status in CHECKED}
    return json.dumps(plain, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
