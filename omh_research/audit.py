"""Audit: re-check a confirmed report years later, from its folder alone (spec E37).

Job: seal, gate, quotes, hashes of held texts, plan coverage, event order; say what holds, what
does not, and what cannot be re-checked. Refuses the network, a model, state and caches.
Importers: api, cli.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

from msgspec import Struct

from omh_research.documents import frontmatter
from omh_research.documents.event import Word
from omh_research.documents.finding import parse_finding
from omh_research.documents.names import check_slug
from omh_research.documents.plan_file import Plan
from omh_research.documents.source import HeldText
from omh_research.documents.task import FindingText
from omh_research.errors import NoSuchRunError, OmhError
from omh_research.phases.goals import base_name
from omh_research.project import Project
from omh_research.store import disk
from omh_research.store.seal import broken as broken_seal
from omh_research.store.sources import Sources
from omh_research.tools.gate import GateInput, check
from omh_research.tools.quotes import PreparedText, match
from omh_research.tools.urls import canonical

LEDGER_DELEGATES = ("extractive", "llm")
ORDER = (
    Word.STARTED,
    Word.PLAN_WRITTEN,
    Word.REPORT_DRAFT,
    Word.VERIFY_PASS,
    Word.REPORT_CONFIRMED,
)


class AuditResult(Struct, frozen=True, kw_only=True):
    """What an audit found. `holds` is True when nothing is broken; unknowns do not fail it."""

    slug: str
    holds: bool
    held: tuple[str, ...]
    broken: tuple[str, ...]
    unknown: tuple[str, ...]


class _Notes:
    def __init__(self) -> None:
        self.held: list[str] = []
        self.broken: list[str] = []
        self.unknown: list[str] = []


def audit_run(project: Project, slug: str) -> AuditResult:
    """Re-check one confirmed report.

    Raises:
        NoSuchRunError: there is no report, or it is not confirmed.
    """
    check_slug(slug)
    status = project.reader.report_status(slug)
    if status != "confirmed":
        raise NoSuchRunError(
            f"{slug} has no confirmed report here" + (f" (status: {status})." if status else "."),
            hint="An audit is for confirmed reports.",
        )
    notes = _Notes()
    _check_seal(project, slug, notes)
    plan = _plan(project, slug, notes)
    if plan is not None:
        _check_contents(project, slug, plan, notes)
        _check_events(project, slug, plan, notes)
    return AuditResult(
        slug=slug,
        holds=not notes.broken,
        held=tuple(notes.held),
        broken=tuple(notes.broken),
        unknown=tuple(notes.unknown),
    )


def _check_seal(project: Project, slug: str, notes: _Notes) -> None:
    try:
        compared = broken_seal(project.layout, slug)
    except OmhError as error:
        notes.broken.append(f"seal: {error.message}")
        return
    if compared is None:
        notes.broken.append("seal: seal.json is missing")
        return
    holds, problems = compared
    notes.held.append(f"seal: {len(holds)} files as sealed")
    notes.broken += [f"seal: {problem}" for problem in problems]


def _plan(project: Project, slug: str, notes: _Notes) -> Plan | None:
    try:
        plan = project.reader.plan(slug)
    except OmhError as error:
        notes.broken.append(f"plan: {error.message}")
        return None
    if plan is None:
        notes.broken.append("plan: the plan file is missing")
    return plan


def _check_contents(project: Project, slug: str, plan: Plan, notes: _Notes) -> None:
    record = Sources(project.layout, slug, canonical)
    try:
        findings = project.reader.findings(slug, plan)
        text = project.reader.report(slug) or ""
        body = frontmatter.parse(text, where=project.layout.relative(project.layout.report(slug)))[
            1
        ]
        held, leads = record.held(), record.leads()
    except OmhError as error:
        notes.broken.append(f"files: {error.message}")
        return
    _check_texts(project, slug, record, notes)
    _check_gate(_gate_input(plan, body, findings, held, leads), notes)
    _check_quotes(project, slug, held, notes)
    _list_declared(findings, held, notes)


def _check_texts(project: Project, slug: str, record: Sources, notes: _Notes) -> None:
    good = 0
    folder = project.layout.texts_dir(slug)
    names = sorted(os.listdir(folder)) if disk.check_directory(folder) else []
    for name in names:
        data = disk.read_bytes(os.path.join(folder, name), max_bytes=disk.MAX_FILE_BYTES) or b""
        if hashlib.sha256(data).hexdigest() == name.removesuffix(".txt"):
            good += 1
        else:
            notes.broken.append(f"text {name}: its bytes do not have this hash")
    for row in record.rows():
        if row.sha256 and f"{row.sha256}.txt" not in names:
            where = row.canonical_url or row.query
            notes.broken.append(f"text {row.sha256}.txt ({where}): missing")
    if good:
        notes.held.append(f"texts: {good} fetched texts have the hash in their name")


def _section_names(plan: Plan) -> tuple[str, ...]:
    """Return the subtopics a report has a section for (items of later rounds join their own)."""
    if int(plan.options.get("rounds", 1)) <= 1:
        return plan.names
    return tuple(dict.fromkeys(base_name(name) for name in plan.names))


def _gate_input(
    plan: Plan,
    body: str,
    findings: tuple[FindingText, ...],
    held: dict[str, HeldText],
    leads: frozenset[str],
) -> GateInput:
    quotes = plan.options.get("require_quotes")
    keeps_ledger = plan.delegate in LEDGER_DELEGATES
    return GateInput(
        topic=plan.topic,
        subtopics=_section_names(plan),
        report=body,
        findings=tuple((finding.stem, parse_finding(finding.text)) for finding in findings),
        held=tuple(held.values()),
        leads=leads,
        require_quotes=keeps_ledger if quotes is None else bool(quotes),
        declared_allowed=not keeps_ledger,
        needs_two_sources=int(plan.options.get("rounds", 1)) > 1,
    )


def _check_gate(judged: GateInput, notes: _Notes) -> None:
    result = check(judged)
    notes.broken += [
        f"gate: {failure.rule}: {failure.where}: {failure.message}" for failure in result.failures
    ]
    if not result.has_usable_source:
        notes.broken.append("gate: no subtopic has a usable source")
    if not result.failures and result.has_usable_source:
        count = len(judged.subtopics)
        notes.held.append(f"gate: {count} subtopics covered, every citation resolves")
    notes.unknown += [f"gate: {note}" for note in result.notes]


def _check_quotes(project: Project, slug: str, held: dict[str, HeldText], notes: _Notes) -> None:
    good = 0
    by_hash = {text.sha256: text.text for text in held.values()}
    prepared: dict[str, PreparedText] = {}
    for number, line in enumerate(project.reader.evidence_lines(slug, "evidence_ledger.jsonl"), 1):
        try:
            row: dict[str, Any] = json.loads(line)
        except (ValueError, RecursionError):
            notes.broken.append(f"evidence_ledger.jsonl: line {number} is not JSON")
            continue
        if row.get("quote_status") != "verified":
            continue
        name = str(row.get("content_sha256", ""))
        if name in by_hash and name not in prepared:
            prepared[name] = PreparedText(by_hash[name])
        text = prepared.get(name)
        if text is None or match(str(row.get("quote", "")), text) != "verified":
            notes.broken.append(
                f"evidence_ledger.jsonl: line {number}: the quote is not in its text"
            )
        else:
            good += 1
    if good:
        notes.held.append(f"quotes: {good} found again in the held texts")


def _list_declared(
    findings: tuple[FindingText, ...], held: dict[str, HeldText], notes: _Notes
) -> None:
    declared = dict.fromkeys(
        source.url
        for finding in findings
        for source in parse_finding(finding.text).sources
        if source.url and canonical(source.url) not in held
    )
    notes.unknown += [f"source only declared, not re-checkable: {url}" for url in declared]


def _check_events(project: Project, slug: str, plan: Plan, notes: _Notes) -> None:
    words = [event.word for event in project.reader.events(plan.session_id) if event.slug == slug]
    if not words:
        notes.unknown.append("events: the log is not here (logs are kept apart from reports)")
        return
    position = -1
    for word in ORDER:
        later = [index for index, found in enumerate(words) if found == word and index > position]
        if not later:
            if word is Word.REPORT_CONFIRMED and Word.REPORT_CONFIRMED_RECOVERED in words:
                break
            notes.broken.append(f"events: {word.value} is missing or out of order")
            return
        position = later[0] if word in (Word.STARTED, Word.PLAN_WRITTEN) else later[-1]
    notes.held.append(f"events: {len(words)} in order, ending in {words[-1]}")


def render_audit(result: AuditResult) -> str:
    """Return the audit as text."""
    lines = [f"holds    {line}" for line in result.held]
    lines += [f"BROKEN   {line}" for line in result.broken]
    lines += [f"unknown  {line}" for line in result.unknown]
    verdict = "holds" if result.holds else f"DOES NOT HOLD ({len(result.broken)} broken)"
    return "\n".join([*lines, f"{result.slug}: {verdict}"])
