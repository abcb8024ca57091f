"""One request to one provider, with its failures named.

Job: skip a provider that is exhausted, send the request through the door, and turn everything
that is no answer into a typed failure (spec T7b, T7c). Refuses to parse records. Importers:
providers.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from omh_research.errors import ProviderError
from omh_research.network.backoff import parse_retry_after
from omh_research.network.exhaustion import exhausted_until, mark_exhausted, utc_now
from omh_research.network.redaction import redact_text
from omh_research.providers.endpoints import base_url, host_list

if TYPE_CHECKING:
    from omh_research.network.errand import Response
    from omh_research.transport import Transport

MAX_BYTES = 5_000_000
_SECRET_NAMES = ("api_key", "x-api-key", "mailto", "email")
_THROTTLED = (429, 503)
_PLAIN_WAIT_S = 60.0


class ExhaustedError(ProviderError):
    """The provider must not be asked until `until` (ISO-8601 UTC)."""

    code = "exhausted"

    def __init__(self, message: str, until: str) -> None:
        super().__init__(message)
        self.until = until


class Question:
    """Asks one provider within one time limit; several requests share it.

    `headers` may carry a key; neither it nor any other secret is ever in an error.
    """

    def __init__(
        self,
        provider: str,
        transport: Transport,
        timeout_s: float,
        *,
        headers: Mapping[str, str] | None = None,
        environ: Mapping[str, str] | None = None,
        base: str | None = None,
    ) -> None:
        self._provider = provider
        self._transport = transport
        self._deadline = time.monotonic() + timeout_s
        self._headers = dict(headers or {})
        self._environ = os.environ if environ is None else environ
        self._base = base or base_url(provider, self._environ)

    def send(self, path: str, params: Mapping[str, str], *, accept: str) -> Response:
        """Return the response, whatever its status, unless the provider is throttling us.

        Raises `ExhaustedError` when the provider is or becomes exhausted, `ProviderError`
        (`TransportError`) when no response can be had.
        """
        self._check_exhausted()
        query = f"?{urlencode(params)}" if params else ""
        response = self._transport.get(
            f"{self._base}{path}{query}",
            headers=self._headers,
            timeout_s=self._left_s(),
            max_bytes=MAX_BYTES,
            allowed_hosts=host_list(self._base),
            accept=accept,
        )
        if response.status in _THROTTLED:
            self._note_throttling(response)
        return response

    def _left_s(self) -> float:
        return max(self._deadline - time.monotonic(), 0.05)

    def answer(self, path: str, params: Mapping[str, str], *, accept: str) -> bytes:
        """Return the body of a good answer (200); raises `ProviderError` for any other status."""
        response = self.send(path, params, accept=accept)
        if response.status != 200:
            raise ProviderError(self._refusal(response, params))
        return response.body

    def answer_to_post(self, path: str, payload: Mapping[str, Any]) -> bytes:
        """Return the body of a good answer to `payload` posted as JSON; raises like `answer`."""
        self._check_exhausted()
        response = self._transport.post_json(
            f"{self._base}{path}",
            payload,
            headers=self._headers,
            timeout_s=self._left_s(),
            max_bytes=MAX_BYTES,
            allowed_hosts=host_list(self._base),
        )
        if response.status in _THROTTLED:
            self._note_throttling(response)
        if response.status != 200:
            raise ProviderError(self._refusal(response, {}))
        return response.body

    def _check_exhausted(self) -> None:
        until = exhausted_until(self._base)
        if until:
            raise ExhaustedError(f"{self._provider} asked to be left alone until {until}.", until)

    def _note_throttling(self, response: Response) -> None:
        """Remember a wait that is too long for us, so that nobody asks before it is over."""
        asked = response.headers.get("retry-after", "")
        wait = parse_retry_after(asked, utc_now()) if asked else None
        if wait is None and response.status == 429:
            wait = _PLAIN_WAIT_S
        if wait is None or wait <= 0:
            return
        reason = f"HTTP {response.status}"
        until = mark_exhausted(self._base, wait, reason)
        raise ExhaustedError(
            f"{self._provider} answered {reason} and is not asked before {until}.", until
        )

    def _refusal(self, response: Response, params: Mapping[str, str]) -> str:
        """Return why an answer is none: the status and the start of what was said."""
        secrets = tuple(params.get(name, "") for name in _SECRET_NAMES)
        secrets += tuple(self._headers.values())
        said = ""
        if "html" not in response.content_type:
            said = response.body[:400].decode("utf-8", errors="replace")
            said = " ".join("".join(c if c.isprintable() else " " for c in said).split())
            said = redact_text(said, secrets)[:160]
        ending = f": {said}" if said and not said.startswith("<") else "."
        return f"{self._provider} answered HTTP {response.status}{ending}"
