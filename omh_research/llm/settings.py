"""Which model server is asked, and with what limits.

Job: the llm delegate's options and the endpoint they and the environment name. Keys come from the
environment (behind it the root's `.env`) and are held only here. Refuses to open a connection and
to invent an address. Importers: delegates.llm, llm.client.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from omh_research.errors import PrerequisiteError, UsageError

ProviderName = Literal["openai", "anthropic"]

DEFAULT_URLS: dict[ProviderName, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
}
KEY_VARIABLES: dict[ProviderName, tuple[str, ...]] = {
    "openai": ("OMH_LLM_API_KEY", "OPENAI_API_KEY"),
    "anthropic": ("OMH_LLM_API_KEY", "ANTHROPIC_API_KEY"),
}


class LlmOptions(Struct, frozen=True):
    """Options of the llm delegate; what is left empty comes from the environment (OMH_LLM_*).

    `max_turns` bounds the model calls of one task, `timeout_s` one call, `max_wait_s` one wait
    that a server asks for. `native_tools` tells whether to use the server's own tool calls: `auto`
    tries and falls back to JSON actions, then to reading beforehand. `context_chars` is where a
    context is shortened even before the server refuses it (0: only then).
    """

    provider: Literal["", "openai", "anthropic"] = ""
    base_url: str = ""
    model: str = ""
    temperature: float | None = None
    max_output_tokens: int = 8192
    max_turns: int = 12
    timeout_s: float = 180.0
    max_retries: int = 4
    max_wait_s: float = 60.0
    native_tools: Literal["auto", "always", "never"] = "auto"
    max_page_chars: int = 15_000
    context_chars: int = 0
    prices: str = ""
    side_by_side: int = 3


class Endpoint(Struct, frozen=True):
    """A model server: whose protocol, where, which model, and the key (never shown).

    `is_own`: the user gave the address, so it may be a local one.
    """

    provider: ProviderName
    base_url: str
    model: str
    key: str
    is_own: bool = False

    def __repr__(self) -> str:
        return f"Endpoint({self.provider}, {self.base_url}, {self.model})"


def resolve_endpoint(options: LlmOptions, environ: Mapping[str, str]) -> Endpoint:
    """Return the endpoint that options and environment name.

    The address is one the user configured: by `base_url`, by OMH_LLM_BASE_URL, or by choosing a
    provider (or setting its key), which stands for that provider's public address. Raises
    `PrerequisiteError` when offline or when address, model or key are missing, `UsageError` for
    an address that is no plain http(s) URL.
    """
    if environ.get("OMH_OFFLINE", "") not in ("", "0"):
        raise PrerequisiteError(
            "The llm delegate needs a model server, but OMH_OFFLINE forbids every connection.",
            hint="Unset OMH_OFFLINE, or use --delegate extractive.",
        )
    model = options.model or environ.get("OMH_LLM_MODEL", "")
    if not model:
        raise PrerequisiteError(
            "The llm delegate needs a model's name.", hint="Set OMH_LLM_MODEL or the option model."
        )
    own_url = options.base_url or environ.get("OMH_LLM_BASE_URL", "")
    provider = _provider(options, environ, model, own_url)
    key = next((environ[name] for name in KEY_VARIABLES[provider] if environ.get(name)), "")
    if not key and not own_url:
        raise PrerequisiteError(
            f"The llm delegate has neither an address nor a key for {provider}.",
            hint=f"Set {KEY_VARIABLES[provider][1]}, or OMH_LLM_BASE_URL for a local server.",
        )
    url = _checked(own_url or DEFAULT_URLS[provider])
    # Local servers want no key, but the client libraries want a word in its place.
    return Endpoint(provider, url, model, key or "none", bool(own_url))


def _provider(
    options: LlmOptions, environ: Mapping[str, str], model: str, own_url: str
) -> ProviderName:
    named = options.provider or environ.get("OMH_LLM_PROVIDER", "")
    match named:
        case "openai":
            return "openai"
        case "anthropic":
            return "anthropic"
        case "":
            pass
        case _:
            raise UsageError(
                f"OMH_LLM_PROVIDER is {named!r}.", hint="Use openai (any compatible) or anthropic."
            )
    if own_url:
        host = urlsplit(own_url).hostname or ""
        return "anthropic" if host.endswith("anthropic.com") else "openai"
    if model.startswith("claude") or not environ.get("OPENAI_API_KEY"):
        return "anthropic" if environ.get("ANTHROPIC_API_KEY") else "openai"
    return "openai"


def _checked(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(
            "The model server's address is no http(s) URL.", hint="See OMH_LLM_BASE_URL."
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError(
            "The model server's address must hold no user, password or query.",
            hint="Keys belong into OMH_LLM_API_KEY.",
        )
    return url.rstrip("/")
