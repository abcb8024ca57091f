"""The tools of the MCP server, and the command each one stands for.

Job: turn a call into the words of a command line, so that its result is the very object that
command prints (spec D9). Refuses to run anything and to know the MCP library. Importers:
mcp_server.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from omh_research.errors import UsageError
from omh_research.mcp_arguments import (
    AcademicArguments,
    AuditArguments,
    CancelArguments,
    CapsArguments,
    CitationsArguments,
    CompressArguments,
    LiteratureArguments,
    NextArguments,
    ReportArguments,
    RolesArguments,
    StartArguments,
    StatusArguments,
    SubmitArguments,
    WaitArguments,
)


class Scratch:
    """A folder for the files a command reads; one for each call."""

    def __init__(self, folder: Path, root: str) -> None:
        self._folder, self.root = folder, root

    def write(self, name: str, data: bytes) -> str:
        """Write a file; return its path."""
        path = self._folder / name
        path.write_bytes(data)
        return str(path)

    def inside_root(self, path: str) -> str:
        """Return a path given relative to the project root."""
        return os.path.normpath(os.path.join(self.root, path))


class Tool(Struct, frozen=True):
    """One tool: its name, its arguments, and how a call becomes a command line."""

    name: str
    arguments: type[Struct]
    words: Callable[[Any, Scratch], list[str]]
    changes: bool = True

    @property
    def description(self) -> str:
        """What the tool does, in the words of its arguments' docstring."""
        return (self.arguments.__doc__ or "").strip()

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments, an object at the top."""
        (top,), definitions = msgspec.json.schema_components(
            [self.arguments], ref_template="#/$defs/{name}"
        )
        own = definitions.pop(top["$ref"].rpartition("/")[2])
        own.pop("title", None)
        return {**own, "$defs": definitions} if definitions else own

    def command(self, given: dict[str, Any], scratch: Scratch) -> list[str]:
        """Return the words of the command; raise `UsageError` naming a wrong argument.

        Lists and objects written as JSON text, and numbers written as text, are taken as meant:
        many a client writes them so.
        """
        meant = {name: self._as_meant(name, value) for name, value in given.items()}
        try:
            arguments = msgspec.convert(meant, self.arguments, strict=False)
        except msgspec.ValidationError as error:
            raise UsageError(f"{self.name}: {error}.") from error
        return self.words(arguments, scratch)

    def _as_meant(self, name: str, value: Any) -> Any:
        if not isinstance(value, str) or not value.lstrip().startswith(("[", "{")):
            return value
        described = json.dumps(self.schema()["properties"].get(name, {}))
        if '"type": "array"' not in described and '"type": "object"' not in described:
            return value
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value


def _start(given: StartArguments, scratch: Scratch) -> list[str]:
    words = ["start", "--delegate", given.delegate, "--if-confirmed", given.if_confirmed]
    words.append("--no-scope-check")  # a client asks its user itself (P7)
    if given.subtopics:
        plan = msgspec.json.encode(given.subtopics)
        words += ["--plan", scratch.write("plan.json", plan)]
    for folder in given.corpus:
        words += ["--corpus", scratch.inside_root(folder)]
    if given.bundle:
        words += ["--bundle", scratch.inside_root(given.bundle)]
    if given.language:
        words += ["--language", given.language]
    if given.rounds > 1:
        words += ["--rounds", str(given.rounds)]
    if given.panel:
        words += ["--panel", str(given.panel)]
    if given.require_quotes is not None:
        words.append("--require-quotes" if given.require_quotes else "--no-require-quotes")
    if given.host_tools is not None:
        words += ["--host-tools", ",".join(given.host_tools)]
    for name, value in given.caps.items():
        words += ["--cap", f"{name}={value:g}"]
    for name, text in given.options.items():
        words += ["--option", f"{name}={text}"]
    return [*words, "--json", "--", given.topic]


def _submit(given: SubmitArguments, scratch: Scratch) -> list[str]:
    words = ["submit", "--json"]
    if given.failed:
        words += ["--failed", given.failed]
    else:
        text = given.text.encode("utf-8", "surrogatepass")
        words += ["--file", scratch.write("answer.md", text)]
    if given.sources:
        lines = b"\n".join(map(msgspec.json.encode, given.sources))
        words += ["--sources", scratch.write("sources.jsonl", lines)]
    return [*words, "--", given.slug, given.task_id]


def _tool(words: list[str], payload: dict[str, Any], scratch: Scratch) -> list[str]:
    data = json.dumps(payload, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return ["tools", *words, "--input", scratch.write("input.json", data)]


def _academic(given: AcademicArguments, scratch: Scratch) -> list[str]:
    words = ["tools", "academic", "--op", "search", "--query", given.query]
    if given.sources:
        words += ["--sources", ",".join(given.sources)]
    return [*words, "--limit", str(given.limit), "--timeout", str(given.timeout)]


def _literature(given: LiteratureArguments, scratch: Scratch) -> list[str]:
    folder = scratch.inside_root(given.output_dir)
    if os.path.commonpath([folder, scratch.root]) != scratch.root or folder == scratch.root:
        raise UsageError("literature_run: output_dir must be a folder below the project root.")
    queries = scratch.write("queries.json", msgspec.json.encode({"queries": given.queries}))
    return [
        "literature", "run", "--topic", given.topic, "--query-file", queries,
        "--output-dir", folder,
        "--max-total", str(given.max_total), "--json",
    ]  # fmt: skip


TOOLS: tuple[Tool, ...] = (
    Tool("research_start", StartArguments, _start),
    Tool(
        "research_next",
        NextArguments,
        lambda given, scratch: ["next", "--json", *(["--", given.slug] if given.slug else [])],
    ),
    Tool("research_submit", SubmitArguments, _submit),
    Tool(
        "research_status",
        StatusArguments,
        lambda given, scratch: ["status", "--json", *(["--", given.slug] if given.slug else [])],
        changes=False,
    ),
    Tool(
        "research_wait",
        WaitArguments,
        lambda given, scratch: [
            "wait", "--timeout", f"{given.timeout:g}", "--json", "--", given.slug,
        ],
        changes=False,
    ),
    Tool(
        "research_cancel",
        CancelArguments,
        lambda given, scratch: ["cancel", "--reason", given.reason, "--json", "--", given.slug],
    ),
    Tool(
        "research_report",
        ReportArguments,
        lambda given, scratch: ["show", f"--{given.part}", "--json", "--", given.slug],
        changes=False,
    ),
    Tool(
        "research_audit",
        AuditArguments,
        lambda given, scratch: ["audit", "--json", "--", given.slug],
        changes=False,
    ),
    Tool(
        "research_roles",
        RolesArguments,
        lambda given, scratch: ["roles", "--json", *(["--", given.name] if given.name else [])],
        changes=False,
    ),
    Tool(
        "evidence_caps",
        CapsArguments,
        lambda given, scratch: _tool(["caps", "--op", given.op], given.payload, scratch),
        changes=False,
    ),
    Tool(
        "evidence_compress",
        CompressArguments,
        lambda given, scratch: _tool(["compress"], given.payload, scratch),
        changes=False,
    ),
    Tool(
        "evidence_citations",
        CitationsArguments,
        lambda given, scratch: _tool(["citations", "--op", given.op], given.payload, scratch),
        changes=False,
    ),
    Tool("academic_search", AcademicArguments, _academic, changes=False),
    Tool("literature_run", LiteratureArguments, _literature),
)  # fmt: skip
