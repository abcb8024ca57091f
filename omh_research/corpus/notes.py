"""What a run says of its corpus: what was not read, and why (E43).

Job: a refresh in a few lines, each short enough for a terminal. Refuses to decide what is read.
Importers: wiring.
"""

from __future__ import annotations

from collections.abc import Sequence

from omh_research.corpus.index import Refreshed
from omh_research.corpus.reading import IN_PART

NAMED = 3
MAX_NAME_CHARS = 100


def notes_of(report: Refreshed, folders: Sequence[str]) -> tuple[str, ...]:
    """Return a line for each reason why documents of `folders` cannot be read.

    One more for hidden ones, which are passed over, and one where nothing can be read at all.
    """
    by_reason: dict[str, list[str]] = {}
    for problem in report.problems:
        by_reason.setdefault(problem.reason, []).append(problem.url)
    notes = [
        f"{'read in part' if reason.startswith(IN_PART) else 'not read'} ({reason}): "
        + ", ".join(map(_short, urls[:NAMED]))
        + (f" and {len(urls) - NAMED} more" if len(urls) > NAMED else "")
        for reason, urls in by_reason.items()
    ]
    notes += _hidden(report)
    if not report.documents:
        notes.append(f"no document that can be read in {', '.join(folders)}")
    return tuple(notes)


def _hidden(report: Refreshed) -> list[str]:
    counts = ((report.hidden_files, "file"), (report.hidden_folders, "folder"))
    said = [f"{count} hidden {what}{'s' * (count > 1)}" for count, what in counts if count]
    return [f"{' and '.join(said)} passed over"] if said else []


def _short(name: str) -> str:
    """Cut a long name in its middle: folder and file are told by its ends."""
    if len(name) <= MAX_NAME_CHARS:
        return name
    half = MAX_NAME_CHARS // 2
    return f"{name[:half]}…{name[-half:]}"
