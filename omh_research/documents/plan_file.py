"""The plan file: `.omh/research/{slug}-plan.md` (spec 10-engine, Files; seed phase 1).

Job: the Plan type, rendering and strict reading of its frontmatter. Refuses I/O and refuses to
judge a plan (that is `documents.plan`). Importers: phases, store, audit, cli.
"""

import json
from typing import Any

from msgspec import Struct

from omh_research.documents import frontmatter
from omh_research.documents.heads import PlanHead, checked
from omh_research.documents.names import fold_topic
from omh_research.documents.plan import Subtopic
from omh_research.documents.state import SESSION
from omh_research.errors import DamagedFileError


class Plan(Struct, frozen=True, kw_only=True):
    """One plan. `options` is the public form of the run's options; `revision` counts L1 changes."""

    topic: str
    slug: str
    subtopics: tuple[Subtopic, ...]
    session_id: str = ""
    started_at: str = ""
    delegate: str = ""
    language: str = ""
    options: dict[str, Any] = {}
    revision: int = 0
    status: str = "planning"

    @property
    def names(self) -> tuple[str, ...]:
        """The subtopic names, in plan order."""
        return tuple(subtopic.name for subtopic in self.subtopics)


def render_plan(plan: Plan) -> str:
    """Return the text of the plan file: frontmatter, then the same as a readable list."""
    meta: dict[str, object] = {
        "status": plan.status,
        "topic": plan.topic,
        "slug": plan.slug,
        "subtopics": [
            {"name": subtopic.name, "queries": list(subtopic.queries)}
            for subtopic in plan.subtopics
        ],
        "session_id": plan.session_id,
        "started_at": plan.started_at,
        "delegate": plan.delegate,
        "language": plan.language,
        "options": json.dumps(plan.options, ensure_ascii=False, sort_keys=True),
        "revision": plan.revision,
    }
    lines = ["# Plan", ""]
    for number, subtopic in enumerate(plan.subtopics, 1):
        lines.append(f"{number}. {subtopic.name}")
        lines += [f"   - {query}" for query in subtopic.queries]
    checked(meta, PlanHead, f"the plan of {plan.slug}")
    return frontmatter.render(meta, "\n".join(lines) + "\n")


def parse_plan(text: str, *, where: str, slug: str = "") -> Plan:
    """Return the plan held in a plan file; `slug`, if given, is what the file name says.

    Raises:
        DamagedFileError: no frontmatter, or a field is not what it should be.
    """
    meta, _ = frontmatter.parse(text, where=where)
    rows = meta.get("subtopics")
    if not isinstance(rows, list) or not rows:
        raise DamagedFileError(f"{where}: the plan has no subtopics.")
    subtopics = tuple(_subtopic(row, where) for row in rows)
    revision = _word(meta, "revision")
    session_id = _word(meta, "session_id")
    if not SESSION.fullmatch(session_id):
        raise DamagedFileError(f"{where}: session_id {session_id[:70]!r} is no session id.")
    found = _word(meta, "slug") or slug
    if slug and found != slug:
        raise DamagedFileError(f"{where}: holds the slug {found[:90]!r}, not {slug!r}.")
    return Plan(
        topic=_word(meta, "topic"),
        slug=found,
        subtopics=subtopics,
        session_id=session_id,
        started_at=_word(meta, "started_at"),
        delegate=_word(meta, "delegate"),
        language=_word(meta, "language"),
        options=_options(_word(meta, "options"), where),
        revision=int(revision) if revision.isdecimal() and len(revision) < 9 else 0,
        status=_word(meta, "status"),
    )


def same_topic(first: str, second: str) -> bool:
    """Tell whether two topics are one (spec E10)."""
    return fold_topic(first) == fold_topic(second)


def _word(meta: dict[str, object], key: str) -> str:
    value = meta.get(key, "")
    return value if isinstance(value, str) else ""


def _options(text: str, where: str) -> dict[str, Any]:
    if not text:
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise DamagedFileError(f"{where}: options are not JSON.") from None
    return value if isinstance(value, dict) else {}


def _subtopic(row: object, where: str) -> Subtopic:
    if not isinstance(row, dict) or not isinstance(row.get("name"), str):
        raise DamagedFileError(f"{where}: a subtopic has no name.")
    queries = row.get("queries")
    if not isinstance(queries, list) or not all(isinstance(query, str) for query in queries):
        raise DamagedFileError(f"{where}: subtopic {row['name']!r} has no list of queries.")
    return Subtopic(name=row["name"], queries=tuple(queries))
