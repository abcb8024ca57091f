"""The frontmatter blocks as types, and the check that every head passes before it is written.

Job: what the heads of plan, findings and report files hold, what `next` hands out and what a line
of the log is (spec E3, 10-engine Files); `checked`, the one call between building a value and
rendering it. Refuses I/O and rendering. Importers: documents, phases, store, schemas.
"""

from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

_Known = TypeVar("_Known")
Slug = Annotated[str, Meta(pattern="^[a-z0-9]+(-[a-z0-9]+)*$", max_length=80)]
Count = Annotated[int, Meta(ge=0)]


class SubtopicHead(Struct, frozen=True):
    """One subtopic of a plan."""

    name: str
    queries: tuple[str, ...]


class PlanHead(Struct, frozen=True):
    """The head of `{slug}-plan.md`. `options` is a JSON object as text."""

    status: Literal["planning"]
    topic: str
    slug: Slug
    subtopics: tuple[SubtopicHead, ...]
    session_id: str = ""
    started_at: str = ""
    delegate: str = ""
    language: str = ""
    options: str = ""
    revision: Count = 0


class SourceHead(Struct, frozen=True):
    """One source of a findings file; an unknown credibility tag is kept as written."""

    n: int
    title: str
    url: str
    credibility: str = ""
    date: str = ""


class FindingHead(Struct, frozen=True):
    """The head of a findings file. `parse` says what could not be read (E22)."""

    subtopic: str
    source_urls: tuple[str, ...]
    sources: tuple[SourceHead, ...]
    parse: tuple[str, ...] = ()


class ReportHead(Struct, frozen=True):
    """The head of a report: `status` is the sentinel (E34)."""

    status: Literal["draft", "confirmed", "partial"]
    topic: str
    slug: Slug
    language: str = ""
    sources_fetched: Count = 0
    sources_declared: Count = 0


class HandedTask(Struct, frozen=True):
    """A task as `next --json` hands it out (E38)."""

    id: str
    role: str
    goal: str
    context: str
    tools: tuple[str, ...]


class LoggedEvent(Struct, frozen=True):
    """An event as `log --json` prints it; further keys hold its values as text (E33)."""

    time: Annotated[str, Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
    event: Annotated[str, Meta(pattern="^[A-Z][A-Z_]*$")]
    slug: Slug
    step: Count = 0


def checked(value: dict[str, Any], known: type[_Known], what: str) -> dict[str, Any]:
    """Return `value`, which is about to be written, if it is what the schema of `known` says.

    Raises:
        ValueError: it is not; a fault of ours, so nothing is written.
    """
    try:
        msgspec.convert(value, known)
    except msgspec.ValidationError as error:
        raise ValueError(f"{what} would break its schema: {error}") from error
    return value
