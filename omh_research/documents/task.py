"""Tasks handed to a delegate and the replies that come back.

Job: the frozen value types of the delegate seam. Refuses to know who answers or where replies
are kept. Importers: phases, delegates, store, cli.
"""

from msgspec import Struct

from omh_research.documents.source import Fetch, HeldText

ROLES = ("planner", "researcher", "research-synthesist", "research-verifier", "claim-skeptic")


class FindingText(Struct, frozen=True):
    """One findings file, whole: `stem` is its file name without `.md`, `text` the body."""

    stem: str
    subtopic: str
    text: str


class Allowance(Struct, frozen=True):
    """What one task may spend at most: model calls, tokens, US dollars. None: no cap (spec O5).

    A run's remainder is shared out among the tasks still to be done, so that those that run side
    by side cannot cross a cap together; what one leaves over is not redistributed (spec T5).
    """

    calls: int | None = None
    tokens: int | None = None
    cost_usd: float | None = None


class Brief(Struct, frozen=True):
    """The task's facts in structured form, for delegates that live inside the engine.

    Never shown to a host: `goal` and `context` say the same in words. `subtopics` holds
    (name, queries) of the whole plan (synthesis, verification); `queries` those of this task.
    `needs_two_sources`: a conclusion on one source is marked uncertain (spec L6). `allowance` is
    set when the task is handed to a delegate. `language` is an ISO 639-1 code ("en", "zh", ...),
    the report's language.
    """

    topic: str
    slug: str
    language: str = "en"
    subtopic: str = ""
    queries: tuple[str, ...] = ()
    subtopics: tuple[tuple[str, tuple[str, ...]], ...] = ()
    findings: tuple[FindingText, ...] = ()
    report: str = ""
    feedback: str = ""
    attempt: int = 0
    max_fetches: int = 8
    wanted_subtopics: tuple[int, int] = (3, 5)
    require_quotes: bool = False
    needs_two_sources: bool = False
    allowance: Allowance = Allowance()


class Task(Struct, frozen=True):
    """One piece of delegated work. `tools` is the allow-list; empty means: no tool at all."""

    id: str
    role: str
    goal: str
    context: str
    tools: tuple[str, ...]
    brief: Brief


class Usage(Struct, frozen=True):
    """What one reply cost. `cost_usd` is None when the price is unknown (never 0 for unknown)."""

    model_calls: int = 0
    fetches: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


def add_usage(left: Usage, right: Usage) -> Usage:
    """Return the sum; a cost unknown on either side with calls of its own is unknown."""
    costs = [part.cost_usd for part in (left, right) if part.model_calls]
    known = [cost for cost in costs if cost is not None]
    return Usage(
        model_calls=left.model_calls + right.model_calls,
        fetches=left.fetches + right.fetches,
        input_tokens=left.input_tokens + right.input_tokens,
        output_tokens=left.output_tokens + right.output_tokens,
        cost_usd=sum(known) if costs and len(known) == len(costs) else None,
    )


class Reply(Struct, frozen=True):
    """A delegate's answer to one task, as stored under its task id before any other use.

    `status` is "answered" or "failed" (then `reason` says why and `text` may be partial).
    `stopped_by` is "cap" or "cancel" for a call that the run itself ended: no failure of the
    delegate, kept for what it cost only, and asked again when the run goes on (spec O5).
    `notes` are facts the run's output must say (for example: tools could not be scoped).
    `received_at` is ISO-8601 UTC with Z. `texts` and `fetches` are what the host sent along
    (`--sources`); delegates that we run record those through their Library as they happen.
    """

    task_id: str
    status: str = "answered"
    text: str = ""
    reason: str = ""
    usage: Usage = Usage()
    notes: tuple[str, ...] = ()
    received_at: str = ""
    texts: tuple[HeldText, ...] = ()
    fetches: tuple[Fetch, ...] = ()
    stopped_by: str = ""
