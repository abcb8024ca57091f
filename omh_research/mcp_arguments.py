"""What the MCP server's tools take: one typed struct a tool, named as on the command line.

Job: say in types and words what each tool's arguments are; the JSON Schemas are made from these.
The docstring of a struct is the tool's description. Refuses to act. Importers: mcp_tools.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

Slug = Annotated[str, Meta(description="The run, as start named it", min_length=1, max_length=80)]
Name = Annotated[str, Meta(min_length=1, max_length=400)]
MAX_WAIT_S = 600


class SubtopicArgument(Struct, frozen=True, forbid_unknown_fields=True):
    """One subtopic of a given plan."""

    name: Name
    queries: tuple[Name, ...]


class StartArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Start research on a topic, or resume the run on the same topic."""

    topic: Annotated[str, Meta(description="The question, in the user's words", min_length=1)]
    delegate: Annotated[
        str, Meta(description="host: you do the work; extractive, llm, command: the engine does")
    ] = "host"
    subtopics: Annotated[
        tuple[SubtopicArgument, ...],
        Meta(description="A plan of 3 to 5 subtopics; left out, a planner task is handed out"),
    ] = ()
    corpus: Annotated[
        tuple[str, ...], Meta(description="Folders of documents to use instead of the web")
    ] = ()
    bundle: Annotated[str, Meta(description="Literature bundle to use as the source")] = ""
    language: Annotated[str, Meta(description="Language of the report, ISO 639-1")] = ""
    if_confirmed: Annotated[
        Literal["refresh", "view", "cancel"],
        Meta(description="What to do when a confirmed report on this topic exists"),
    ] = "view"
    rounds: Annotated[int, Meta(description="Iterative loop: up to N rounds", ge=1, le=5)] = 1
    panel: Annotated[
        Literal[0, 3, 5, 7], Meta(description="Votes of skeptics on each important claim")
    ] = 0
    require_quotes: bool | None = None
    host_tools: Annotated[
        tuple[str, ...] | None, Meta(description="Which of web_search, web_extract you have")
    ] = None
    caps: Annotated[dict[str, float], Meta(description="Caps to lower, such as max_fetches")] = {}
    options: Annotated[dict[str, str], Meta(description="The delegate's own options")] = {}


class NextArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Hand out the tasks that wait, the same ones again until they are answered."""

    slug: Annotated[str, Meta(description="The run; left out, the only active one")] = ""


class SourceArgument(Struct, frozen=True, forbid_unknown_fields=True):
    """A page that was read, with its text, so that quotes can be checked."""

    url: str
    text: str
    title: str = ""
    date: str = ""
    accessed_at: str = ""


class SubmitArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Hand in the answer to one task."""

    slug: Slug
    task_id: Annotated[str, Meta(description="The task's id, as next gave it", min_length=1)]
    text: Annotated[str, Meta(description="The whole answer, word for word")] = ""
    failed: Annotated[str, Meta(description="Instead of a text: why it cannot be done")] = ""
    sources: tuple[SourceArgument, ...] = ()


class StatusArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Show one run, or list all."""

    slug: str = ""


class WaitArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Wait until a run is confirmed, blocked or cancelled."""

    slug: Slug
    timeout: Annotated[float, Meta(description="Seconds", ge=0, le=MAX_WAIT_S)] = 60.0


class CancelArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Ask a run to stop at its next boundary."""

    slug: Slug
    reason: str = ""


class ReportArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Read a part of a run."""

    slug: Slug
    part: Literal["report", "plan", "findings", "verdict", "panel", "evidence"] = "report"


class AuditArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Re-check a confirmed report from its folder alone, offline."""

    slug: Slug


class RolesArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Print the text behind a marker [omh-role:NAME]."""

    name: str = ""


class CapsArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Plan budgets of subquestions, or account for what was spent."""

    op: Literal["plan", "account"]
    payload: Annotated[dict[str, Any], Meta(description="The input of the command, as an object")]


class CompressArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Keep of many sources the passages that speak to a query, within a budget."""

    payload: Annotated[dict[str, Any], Meta(description="query, sources, max_chars, …")]


class CitationsArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Check claims and their citations against fetched sources, or number references."""

    payload: Annotated[dict[str, Any], Meta(description="sources, claims, comparison, …")]
    op: Literal["verify", "references"] = "verify"


class AcademicArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Search arXiv, Crossref, OpenAlex, Semantic Scholar and PubMed side by side."""

    query: Annotated[str, Meta(min_length=1)]
    sources: tuple[str, ...] = ()
    limit: int = 5
    timeout: float = 30.0


class LiteratureArguments(Struct, frozen=True, forbid_unknown_fields=True):
    """Find candidate papers for a topic and write a bundle below the project root."""

    topic: Annotated[str, Meta(min_length=1)]
    queries: Annotated[tuple[Name, ...], Meta(description="5 to 25 queries")]
    output_dir: Annotated[str, Meta(description="New folder, relative to the project root")]
    max_total: int = 500
