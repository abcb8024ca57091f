"""One run's state: `.omh/state/research--{slug}.json` (spec E2-E4).

Job: the State type, its strict reading, its rendering, its migrations. Refuses I/O. Fields that
another program added at top level are kept in `unknown` and written back. Importers: everybody.
"""

import json
from typing import Any

import msgspec
from msgspec import Struct

from omh_research.errors import DamagedFileError, NewerVersionError
from omh_research.lazy_re import lazy_re

STATE_VERSION = 1
SCHEMA_VERSION = 1
WRITTEN_BY = "omh_research"
MAX_STATE_BYTES = 1_000_000
MAX_DEPTH = 64
SLUG = lazy_re(r"[a-z0-9]+(?:-[a-z0-9]+)*")
SESSION = lazy_re(r"[A-Za-z0-9-]{0,64}")
"""A session id names the log file: nothing in it may lead out of the folder."""
PHASES = ("decompose", "search", "gap_check", "synthesize", "verify", "blocked")


class Meta(Struct, frozen=True):
    """The envelope shared with the `omh_state` format."""

    written_at: str = ""
    mode: str = "research"
    schema_version: int = SCHEMA_VERSION
    written_by: str = ""


class Spent(Struct, frozen=True, omit_defaults=True):
    """What the committed replies cost so far; `cost_usd` is None while any price is unknown."""

    model_calls: int = 0
    fetches: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    tasks: int = 0


class State(Struct, frozen=True, kw_only=True):
    """The state of one run.

    `completed_subtopics` holds names exactly as in the plan. `failures` counts failed answers by
    task key (findings stem, "planner", "followup", "report"). `step` numbers commits and stamps
    events; `revision` grows with every write. `options` is the run's `RunOptions` as a mapping.
    `retries` counts operator retries (they make new task ids). `verdict_asks` counts unreadable
    verdicts for the current draft. `failed_calls` and `failed_tasks` are the present streak of
    failures without a success between; `breaker_open` stops every further call until a retry (O5).
    `clock_from` is when the time cap began to count anew: the last retry, "" for `started_at`.
    """

    meta: Meta = msgspec.field(name="_meta", default=Meta())
    active: bool = True
    phase: str
    slug: str
    topic: str
    subtopic_count: int = 0
    completed_subtopics: tuple[str, ...] = ()
    started_at: str = ""
    session_id: str = ""
    synthesis_attempts: int = 0
    last_verifier_feedback: str | None = None
    cancel_requested: bool = False
    cancel_reason: str = ""
    cancel_at: str = ""
    cancel_requested_by: str = ""
    state_version: int = STATE_VERSION
    revision: int = 0
    step: int = 0
    delegate: str = ""
    options: dict[str, Any] = {}
    batch: int = 0
    failures: dict[str, int] = {}
    verdict_asks: int = 0
    undecided: int = 0
    iteration: int = 0
    concepts: tuple[str, ...] = ()
    retries: int = 0
    failed_calls: int = 0
    failed_tasks: tuple[str, ...] = ()
    breaker_open: bool = False
    spent: Spent = Spent()
    blocked_reason: str = ""
    blocked_phase: str = ""
    clock_from: str = ""
    unknown: dict[str, Any] = {}


_KNOWN = frozenset(field.encode_name for field in msgspec.structs.fields(State)) - {"unknown"}
_CANCEL = ("cancel_requested", "cancel_reason", "cancel_at", "cancel_requested_by")
_OWN_DEFAULTS = (
    "batch", "failures", "verdict_asks", "undecided", "iteration", "concepts", "retries",
    "failed_calls", "failed_tasks", "breaker_open", "blocked_reason", "blocked_phase",
    "clock_from",
)  # fmt: skip


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{text[:20]} is out of range")
    return number


def _check_depth(value: object) -> None:
    """Refuse nesting that could be read but not written again (the writer recurses)."""
    level: list[object] = [value]
    for _ in range(MAX_DEPTH):
        inner: list[object] = []
        for item in level:
            if isinstance(item, dict):
                inner += item.values()
            elif isinstance(item, list):
                inner += item
        if not inner:
            return
        level = inner
    raise ValueError(f"nested deeper than {MAX_DEPTH}")


def load_json_object(
    data: bytes, *, where: str, max_bytes: int = MAX_STATE_BYTES
) -> dict[str, Any]:
    """Parse one JSON object strictly (spec 81 section 3): UTF-8, no duplicates, no NaN.

    Raises:
        DamagedFileError: the bytes are anything else; `where` names the file.
    """
    if len(data) > max_bytes:
        raise DamagedFileError(f"{where}: larger than {max_bytes} bytes.")
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_no_duplicates,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
        _check_depth(value)
        if b"\\ud" in data.lower():
            json.dumps(value, ensure_ascii=False).encode("utf-8")  # refuses a lone surrogate
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"{where}: not valid JSON ({error or 'nested too deep'}).") from None
    if not isinstance(value, dict):
        raise DamagedFileError(f"{where}: a JSON object is expected, not {type(value).__name__}.")
    return value


def _migrate_0(raw: dict[str, Any]) -> dict[str, Any]:
    """From a state written by the seed skill or `omh_state` (no `state_version`)."""
    return {**raw, "state_version": 1}


MIGRATIONS = {0: _migrate_0}


def parse_state(data: bytes, *, where: str, slug: str = "") -> State:
    """Return the state held in `data`; `slug`, if given, is what the file name says.

    Raises:
        NewerVersionError: written by a newer version; do not touch the file.
        DamagedFileError: not a state (the reason is named).
    """
    raw = load_json_object(data, where=where)
    version = raw.get("state_version", 0)
    meta_raw = raw.get("_meta")
    meta: dict[str, Any] = meta_raw if isinstance(meta_raw, dict) else {}
    for name, value, known in (
        ("state_version", version, STATE_VERSION),
        ("_meta.schema_version", meta.get("schema_version", 1), SCHEMA_VERSION),
    ):
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise DamagedFileError(f"{where}: {name} is not a number.")
        if value > known:
            raise NewerVersionError(
                f"{where}: {name} {value} is newer than this program knows ({known}).",
                hint="Use a version of omh-research that writes it; the file was not touched.",
            )
    while version < STATE_VERSION:
        raw = MIGRATIONS[version](raw)
        version += 1
    unknown = {key: value for key, value in raw.items() if key not in _KNOWN}
    try:
        state = msgspec.convert({**raw, "unknown": unknown}, State)
    except msgspec.ValidationError as error:
        raise DamagedFileError(f"{where}: not a run state ({error}).") from None
    _check(state, where, slug)
    return state


def _check(state: State, where: str, slug: str) -> None:
    if len(state.slug) > 80 or not SLUG.fullmatch(state.slug):
        raise DamagedFileError(f"{where}: slug {state.slug[:90]!r} is not a slug.")
    if slug and state.slug != slug:
        raise DamagedFileError(f"{where}: holds the slug {state.slug!r}, not {slug!r}.")
    if not SESSION.fullmatch(state.session_id):
        raise DamagedFileError(f"{where}: session_id {state.session_id[:70]!r} is no session id.")
    if state.phase not in PHASES:
        raise DamagedFileError(f"{where}: phase {state.phase!r} is not one of {', '.join(PHASES)}.")
    counts = (state.synthesis_attempts, state.revision, state.step, state.batch)
    if min(counts) < 0 or max(counts) > 2**53:
        raise DamagedFileError(f"{where}: a counter is out of range.")
    if not state.topic.strip():
        raise DamagedFileError(f"{where}: the topic is empty.")


def to_plain(state: State) -> dict[str, Any]:
    """Return the state as a JSON-ready mapping, unknown fields last."""
    plain: dict[str, Any] = msgspec.to_builtins(state)
    unknown = plain.pop("unknown")
    if not state.cancel_requested:
        for key in _CANCEL:
            del plain[key]
    for key in _OWN_DEFAULTS:
        if not plain[key]:
            del plain[key]
    return {**plain, **{key: value for key, value in unknown.items() if key not in plain}}


def render_state(state: State, *, written_at: str, version: str) -> bytes:
    """Return the bytes of the state file, with a fresh envelope. UTF-8, trailing newline."""
    plain = to_plain(state)
    plain["_meta"] = {
        "written_at": written_at,
        "mode": "research",
        "schema_version": SCHEMA_VERSION,
        "written_by": f"{WRITTEN_BY} {version}",
    }
    from omh_research.documents.heads import checked

    checked(plain, State, f"the state of {state.slug}")
    # As `json.dumps(..., indent=1)` would write it, which is ten times slower.
    line = json.dumps(plain, ensure_ascii=True, allow_nan=False)
    return msgspec.json.format(line, indent=1).encode("ascii") + b"\n"


def is_own(state: State) -> bool:
    """Tell whether our own program wrote this state last (a foreign write is re-based on)."""
    return state.meta.written_by.split(" ")[0] == WRITTEN_BY
