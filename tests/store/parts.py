"""A project root with one run's files, made by the store's own writers."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from omh_research.documents.plan import Subtopic
from omh_research.documents.plan_file import Plan
from omh_research.documents.state import State
from omh_research.project import Project
from omh_research.settings import Settings

SLUG = "tides-20261130-ab12"
SESSION = "0d9e8f7a-1b2c-4d3e-8f4a-5b6c7d8e9f0a"
NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def a_project(root: Path) -> Project:
    """Return a project with its folders made and its clock standing still."""
    root.mkdir(parents=True, exist_ok=True)
    project = Project(Settings(root=str(root)), clock=lambda: NOON)
    project.writer.prepare_root()
    return project


def a_state(**fields: Any) -> State:
    given: dict[str, Any] = {
        "phase": "search",
        "slug": SLUG,
        "topic": "Why do tides differ?",
        "subtopic_count": 3,
        "session_id": SESSION,
        "started_at": "2026-11-30T12:00:00Z",
        "delegate": "host",
        "step": 2,
        "revision": 2,
    }
    return State(**{**given, **fields})


def a_plan(**fields: Any) -> Plan:
    given: dict[str, Any] = {
        "topic": "Why do tides differ?",
        "slug": SLUG,
        "session_id": SESSION,
        "subtopics": (
            Subtopic("Moon and Sun", ("spring tides", "neap tides")),
            Subtopic("Coasts", ("funnel bays", "tidal range")),
            Subtopic("Measuring", ("tide gauges", "satellite altimetry")),
        ),
    }
    return Plan(**{**given, **fields})


def free() -> None:
    """Stand for a guard that finds nothing wrong."""
