"""What a failed model call means: wait, ask otherwise, or give up.

Job: turn whatever the model library raised into one failure without a key in it, and decide
whether it passes. Refuses to sleep and to send. Importers: llm.client, llm.loop.
"""

from __future__ import annotations

import os
import random

from msgspec import Struct

from omh_research.delegates.redaction import redact
from omh_research.errors import DelegateError, TransportError
from omh_research.llm.settings import LlmOptions

FIRST_WAIT_S = 0.5
LONGEST_OWN_WAIT_S = 20.0
PASSING_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
ERROR_CHARS = 400

_OVERFLOW_SIGNS = (
    "context_length", "context length", "context size", "context window", "maximum context",
    "prompt is too long", "too many tokens", "exceed_context", "input is too long",
    "exceeds the available context", "contextwindow",
)  # fmt: skip
_UNSUPPORTED_SIGNS = ("tool", "function", "response_format", "json_schema", "grammar", "schema")
_UNPAID_SIGNS = ("insufficient_quota", "billing", "credit balance")
_TRANSPORT_NAMES = (
    "Connect", "Timeout", "Transport", "Protocol", "Read", "Decod", "APIError",
    "UnexpectedModelBehavior",
)  # fmt: skip


class ContextOverflowError(DelegateError):
    """The server says that the request is longer than the model's context."""


class UnsupportedError(DelegateError):
    """The server refuses tools or an answer schema: ask it without them."""


class Failure(Struct, frozen=True):
    """One failed call: HTTP `status` (0 without an answer), its words without keys, and the wait
    in seconds the server asked for (None: it did not)."""

    status: int
    words: str
    asked_wait_s: float | None
    is_transport: bool

    @property
    def may_have_cost(self) -> bool:
        """Whether the call may have been answered and charged although nothing arrived."""
        return self.status == 0 and self.is_transport and "refused" not in self.words.casefold()


def judge(error: Exception, key: str) -> Failure:
    """Return what is known of an error that the model library raised."""
    status = getattr(error, "status_code", None)
    refusal = _refusal(error)
    if refusal is not None:
        return Failure(0, refusal, None, is_transport=False)
    text = f"{type(error).__name__.lstrip('_')}: {error}"
    cause: BaseException | None = error.__cause__
    if status is None and cause is not None:
        text += f" ({type(cause).__name__}: {cause})"
    line = " ".join(redact(text, os.environ, key).split())
    return Failure(
        status=status if isinstance(status, int) else 0,
        words=line if len(line) <= ERROR_CHARS else f"{line[:ERROR_CHARS]}…",
        asked_wait_s=_asked_wait_s(error),
        is_transport=status is None and _is_transport(error),
    )


def wait_or_raise(
    failure: Failure, attempt: int, options: LlmOptions, *, asked_more: bool
) -> float:
    """Return how many seconds to wait before trying again after try number `attempt` (from 0).

    Raises `ContextOverflowError`, `UnsupportedError` (only if tools or a schema were asked for)
    or `DelegateError` when trying again as it is makes no sense.
    """
    lowered = failure.words.casefold()
    if failure.status in (400, 413, 422, 500) and _says(lowered, _OVERFLOW_SIGNS):
        raise ContextOverflowError(f"The context is too long for the model: {failure.words}")
    refused = failure.status in (400, 404, 422, 500, 501) and _says(lowered, _UNSUPPORTED_SIGNS)
    if asked_more and refused:
        raise UnsupportedError(f"The server cannot do this: {failure.words}")
    passes = failure.is_transport or failure.status in PASSING_STATUS
    if not passes or _says(lowered, _UNPAID_SIGNS) or attempt >= options.max_retries:
        tries = f" after {attempt + 1} tries" if attempt else ""
        raise DelegateError(f"The model server failed{tries}: {failure.words}")
    wait = failure.asked_wait_s
    if wait is None:
        # A little chance, so that several processes do not all come back at the same moment.
        wait = min(LONGEST_OWN_WAIT_S, FIRST_WAIT_S * 2**attempt) * random.uniform(0.8, 1.2)
    if wait > options.max_wait_s:
        raise DelegateError(
            f"The model server asks to wait {wait:g} s, more than the {options.max_wait_s:g} s "
            f"allowed: {failure.words}",
            hint="Try again later.",
        )
    return wait


def _says(lowered: str, signs: tuple[str, ...]) -> bool:
    return any(sign in lowered for sign in signs)


def _refusal(error: BaseException | None) -> str | None:
    """Return why our own door refused the request; None if it did not."""
    while error is not None:
        if isinstance(error, TransportError) and error.state in ("refused", "offline"):
            return error.message
        error = error.__cause__ or error.__context__
    return None


def _is_transport(error: BaseException | None) -> bool:
    """Tell whether an error without a status came from the connection or a broken body."""
    while error is not None:
        if _says(type(error).__name__, _TRANSPORT_NAMES):
            return True
        error = error.__cause__
    return False


def _asked_wait_s(error: Exception) -> float | None:
    headers = getattr(error, "headers", None)
    if headers is None:
        headers = getattr(getattr(error.__cause__, "response", None), "headers", None) or {}
    asked = {str(name).casefold(): str(value) for name, value in dict(headers).items()}
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            return max(0.0, float(asked[name]) * unit)
        except (KeyError, ValueError):  # absent, or a date: our own wait is short enough
            continue
    return None
