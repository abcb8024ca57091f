"""One conversation with a model server: the only door to the model library.

Job: send messages to an OpenAI-compatible or Anthropic endpoint through pydantic-ai, wait out
what passes, and turn every failure into one error family without a key in it. Refuses redirects
(an answer must not lead to an address the user never named), and to decide what to say.
Importers: llm.loop. Imports the optional library inside functions: it costs seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from msgspec import Struct

from omh_research.documents.task import Allowance, Usage
from omh_research.errors import DelegateError, PrerequisiteError
from omh_research.llm.actions import read_json_object
from omh_research.llm.failures import judge, wait_or_raise
from omh_research.llm.prices import PriceTable
from omh_research.llm.purse import Purse
from omh_research.llm.settings import Endpoint, LlmOptions
from omh_research.llm.tools import ToolDescription

POLL_S = 0.1

# A token is rarely more than 6 characters: fewer tokens than this mean that not all was read.
# Some local servers drop the beginning of a prompt that is too long, and say nothing.
MOST_CHARS_PER_TOKEN = 12
MIN_CHECKED_CHARS = 8_000

UNLIMITED = Allowance()

_T = TypeVar("_T")


class ToolCall(Struct, frozen=True):
    """A tool call of the model. `arguments` is None when they were no JSON object."""

    id: str
    name: str
    arguments: dict[str, Any] | None


class Turn(Struct, frozen=True):
    """One answer of the model. `is_cut` when the server stopped it at the token limit."""

    text: str
    calls: tuple[ToolCall, ...]
    is_cut: bool


class Conversation:
    """Messages to and from one model, what they cost so far, and what must be said of them."""

    def __init__(
        self,
        endpoint: Endpoint,
        options: LlmOptions,
        prices: PriceTable,
        should_stop: Callable[[], bool],
        allowance: Allowance = UNLIMITED,
    ) -> None:
        self._purse = Purse(allowance, endpoint.model, prices)
        self._endpoint, self._options = endpoint, options
        self._prices, self._should_stop = prices, should_stop
        self._messages: list[Any] = []
        self._runner = asyncio.Runner()
        self._http: Any = None
        self._model: Any = None
        self.usage = Usage(cost_usd=0.0)
        self.notes: list[str] = []

    def __enter__(self) -> Conversation:
        """Open the conversation; no connection is made yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connections."""
        if self._http is not None:
            self._runner.run(self._http.aclose())
        self._runner.close()

    def begin(self, system: str, user: str) -> None:
        """Start anew with these words; earlier messages are dropped, the costs stay."""
        from pydantic_ai.messages import ModelRequest, SystemPromptPart, UserPromptPart

        parts: list[Any] = [SystemPromptPart(system)] if system else []
        self._messages = [ModelRequest(parts=[*parts, UserPromptPart(user)])]

    def say(self, user: str) -> None:
        """Add words of the user."""
        from pydantic_ai.messages import ModelRequest, UserPromptPart

        self._messages.append(ModelRequest(parts=[UserPromptPart(user)]))

    def give_results(self, results: Sequence[tuple[ToolCall, str]]) -> None:
        """Add the results of the model's tool calls, one for every call."""
        from pydantic_ai.messages import ModelRequest, ToolReturnPart

        parts = [
            ToolReturnPart(tool_name=call.name, content=text, tool_call_id=call.id)
            for call, text in results
        ]
        self._messages.append(ModelRequest(parts=parts))

    def replace_first(self, system: str, user: str) -> None:
        """Replace the first message; what followed it stays."""
        following = self._messages[1:]
        self.begin(system, user)
        self._messages += following

    def shorten_results(self, shorten: Callable[[str], str]) -> bool:
        """Apply `shorten` to every later message of ours; tell if anything became shorter."""
        from dataclasses import replace

        from pydantic_ai.messages import ModelRequest

        before = after = 0
        for index, message in enumerate(self._messages):
            if index == 0 or not isinstance(message, ModelRequest):
                continue
            parts: list[Any] = []
            for part in message.parts:
                content: Any = getattr(part, "content", None)
                if isinstance(content, str):
                    before += len(content)
                    content = shorten(content)
                    after += len(content)
                    part = replace(part, **{"content": content})
                parts.append(part)
            self._messages[index] = replace(message, parts=parts)
        return after < before

    def request(
        self,
        tools: Sequence[ToolDescription] = (),
        schema: dict[str, Any] | None = None,
        *,
        may_call: bool = True,
    ) -> Turn:
        """Return the model's next answer, waiting out throttling and passing faults.

        With `may_call` false the tools are named (earlier calls stand in the messages), but the
        model is told to call none.

        Raises `ContextOverflowError`, `UnsupportedError` (with `tools` or `schema` only),
        `CapCrossedError` before a call that would cross a cap, and `DelegateError` for everything
        else, a stop included.
        """
        response = self._runner.run(self._ask(tools, schema, may_call))
        self._messages.append(response)
        return _turn(response)

    def is_nearly_spent(self) -> bool:
        """Tell whether the caps leave room for one more call only."""
        return self._purse.is_last(self.usage, self._sent_bytes())

    def _sent_bytes(self) -> int:
        return sum(
            len(str(getattr(part, "content", "")).encode("utf-8", "replace"))
            for message in self._messages
            for part in message.parts
        )

    async def _ask(
        self, tools: Sequence[ToolDescription], schema: dict[str, Any] | None, may_call: bool
    ) -> Any:
        parameters = _parameters(tools, schema)
        for attempt in range(self._options.max_retries + 1):
            try:
                response = await self._interruptible(self._send(parameters, may_call))
            except DelegateError:
                raise
            except Exception as error:  # the library's errors, told apart by what they carry
                await self._wait_out(error, attempt, asked_more=bool(tools or schema))
                continue
            self._count(response)
            return response
        raise AssertionError("the last attempt either answers or raises")

    async def _send(self, parameters: Any, may_call: bool) -> Any:
        from pydantic_ai.direct import model_request

        if self._model is None:
            self._model, self._http = _make_model(self._endpoint, self._options)
        settings: dict[str, Any] = {
            "max_tokens": self._purse.output_limit(
                self.usage, self._sent_bytes(), self._options.max_output_tokens
            ),
            "timeout": self._options.timeout_s,
        }
        if self._options.temperature is not None:
            settings["temperature"] = self._options.temperature
        if not may_call:
            settings["tool_choice"] = "none"
        return await model_request(
            self._model,
            self._messages,
            model_settings=settings,  # type: ignore[arg-type]
            model_request_parameters=parameters,
        )

    async def _interruptible(self, work: Awaitable[_T]) -> _T:
        """Await `work`, but give up at once when the run is stopped."""
        task = asyncio.ensure_future(work)
        try:
            while not task.done():
                if self._should_stop():
                    raise DelegateError("The model call was stopped: cancelled or out of time.")
                await asyncio.wait({task}, timeout=POLL_S)
            return task.result()
        finally:
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _wait_out(self, error: Exception, attempt: int, *, asked_more: bool) -> None:
        failure = judge(error, self._endpoint.key)
        if failure.may_have_cost:
            # Sent, perhaps answered and paid, but the answer never arrived whole.
            self.usage = _more(self.usage, Usage(model_calls=1, cost_usd=None))
        wait = wait_or_raise(failure, attempt, self._options, asked_more=asked_more)
        await self._interruptible(asyncio.sleep(wait))

    def _count(self, response: Any) -> None:
        used = response.usage
        read, written = int(used.input_tokens or 0), int(used.output_tokens or 0)
        cached = int(getattr(used, "cache_read_tokens", 0) or 0)
        cost = self._prices.cost(self._endpoint.model, read, written, cached_tokens=cached)
        if read == 0 and written == 0:
            cost = None  # a server that counts nothing does not make the call free
        self._purse.learn(self._sent_bytes(), read)
        sent = sum(
            len(str(getattr(part, "content", "")))
            for message in self._messages
            for part in message.parts
        )
        if sent > MIN_CHECKED_CHARS and 0 < read < sent / MOST_CHARS_PER_TOKEN:
            self.notes.append(
                f"the model server counted {read} tokens for {sent} characters: it may have cut "
                "the prompt without saying so (give it a larger context size)"
            )
        self.usage = _more(self.usage, Usage(1, 0, read, written, cost))


def _more(usage: Usage, more: Usage) -> Usage:
    known = usage.cost_usd is not None and more.cost_usd is not None
    return Usage(
        model_calls=usage.model_calls + more.model_calls,
        fetches=usage.fetches,
        input_tokens=usage.input_tokens + more.input_tokens,
        output_tokens=usage.output_tokens + more.output_tokens,
        cost_usd=(usage.cost_usd or 0.0) + (more.cost_usd or 0.0) if known else None,
    )


def _make_model(endpoint: Endpoint, options: LlmOptions) -> tuple[Any, Any]:
    """Return the library's model for an endpoint, and the HTTP client to close afterwards."""
    try:
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.anthropic import AnthropicProvider
        from pydantic_ai.providers.openai import OpenAIProvider

        from omh_research.network.model_door import ModelServer, open_model_client
    except ImportError as error:
        raise PrerequisiteError(
            f"The llm delegate needs the package {error.name!r}.",
            hint="Install it: pip install 'omh-research[llm]'.",
        ) from error
    server = ModelServer(endpoint.base_url, endpoint.is_own)
    http = open_model_client(server, options.timeout_s)
    if endpoint.provider == "openai":
        from openai import AsyncOpenAI

        client = AsyncOpenAI(
            base_url=endpoint.base_url, api_key=endpoint.key, http_client=http, max_retries=0
        )
        return OpenAIChatModel(endpoint.model, provider=OpenAIProvider(openai_client=client)), http
    from anthropic import AsyncAnthropic

    anthropic = AsyncAnthropic(
        base_url=endpoint.base_url,
        api_key=endpoint.key,
        http_client=http,
        max_retries=0,
        # The client sends the key as a bearer token; compatible servers know only this header.
        default_headers={"x-api-key": endpoint.key},
    )
    provider = AnthropicProvider(anthropic_client=anthropic)
    return AnthropicModel(endpoint.model, provider=provider), http


def _parameters(tools: Sequence[ToolDescription], schema: dict[str, Any] | None) -> Any:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.tools import ToolDefinition

    if schema is not None:
        wanted = OutputObjectDefinition(json_schema=schema, name="action")
        return ModelRequestParameters(output_mode="native", output_object=wanted)
    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=tool.name, description=tool.words, parameters_json_schema=tool.schema
            )
            for tool in tools
        ]
    )


def _turn(response: Any) -> Turn:
    from pydantic_ai.messages import TextPart, ToolCallPart

    texts, calls = [], []
    for part in response.parts:
        if isinstance(part, TextPart):
            texts.append(part.content)
        elif isinstance(part, ToolCallPart):
            given = part.args
            arguments = read_json_object(given) if isinstance(given, str) else given
            if given in (None, ""):
                arguments = {}
            calls.append(ToolCall(part.tool_call_id, part.tool_name, arguments))
    return Turn("".join(texts), tuple(calls), response.finish_reason == "length")
