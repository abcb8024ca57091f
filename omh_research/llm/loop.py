"""One task's exchange with a model: ask, run its tools, make room, stop in time.

Job: lead a conversation to a final answer within its bounds, whatever the server can do: native
tool calls, else JSON actions in the text (85-hosts section 1.4). Refuses to judge the answer and
to read pages itself. Importers: delegates.llm.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from omh_research.delegates.prompt import Prompt
from omh_research.lazy_re import lazy_re
from omh_research.llm.actions import find_action
from omh_research.llm.client import Conversation, ToolCall, Turn
from omh_research.llm.failures import ContextOverflowError, UnsupportedError
from omh_research.llm.settings import LlmOptions
from omh_research.llm.tools import Toolbox, ToolDescription, shorten_page

MAX_STRIKES = 3
LEAST_SHARE = 0.05
SHORT_RESULT_CHARS = 1_500

_DATA = lazy_re(r"([0-9a-f]{20}) begins\n(.*?)\n\1 ends", re.DOTALL)

ANSWER_NOW = (
    "Answer now, in the form asked for, from what you have read. No more searching or reading is "
    "possible. What you could not find belongs into the section for gaps."
)

PromptFor = Callable[[float], Prompt]
"""Gives the task's prompt with this share of its context (1.0: whole)."""


class Exchange:
    """Leads one conversation. `notes` collects what the run's output must say."""

    def __init__(
        self, conversation: Conversation, options: LlmOptions, prompt_for: PromptFor
    ) -> None:
        self._conversation, self._options = conversation, options
        self._prompt_for = prompt_for
        self._share = 1.0
        self._extra = ""
        self._calls_before = conversation.usage.model_calls
        self.notes: list[str] = []

    def answer_alone(self) -> Turn:
        """Return the model's answer to the prompt, without any tool."""
        self._begin("")
        return self._ask()

    def answer_with_tools(self, toolbox: Toolbox) -> Turn | None:
        """Return the model's answer after its tool calls, or None if it never used a tool.

        None means: this model does not search (or has but one call left), so what it wrote stands
        on nothing; somebody else has to read for it.
        """
        self._begin("")
        if self._conversation.is_nearly_spent():
            return None
        native = self._options.native_tools != "never"
        turn = self._loop_native(toolbox) if native else None
        if turn is None and self._options.native_tools == "always":
            return None
        if turn is None or find_action(turn.text, toolbox.names) is not None:
            turn = self._loop_actions(toolbox, turn)
        return turn if toolbox.searches or toolbox.fetches else None

    def _loop_native(self, toolbox: Toolbox) -> Turn | None:
        """Run native tool calls to an answer; None if the server refuses tools."""
        self._begin("")
        strikes = 0
        while self._may_go_on(strikes):
            try:
                turn = self._ask(toolbox.describe())
            except UnsupportedError as error:
                self.notes.append(f"the server refused tool calls: {error.message}")
                return None
            if not turn.calls:
                return turn
            results = [(call, *_run(toolbox, call)) for call in turn.calls]
            strikes = 0 if any(usable for _, _, usable in results) else strikes + 1
            self._conversation.give_results([(call, text) for call, text, _ in results])
        self.notes.append("the model was stopped from calling tools on and on")
        self._conversation.say(ANSWER_NOW)
        return self._ask(toolbox.describe(), may_call=False)

    def _loop_actions(self, toolbox: Toolbox, turn: Turn | None) -> Turn:
        """Run JSON actions to an answer; `turn` is one the model wrote unasked."""
        schema: dict[str, Any] | None = action_schema(toolbox)
        rule = _action_rule(toolbox)
        if turn is None:
            self._begin(rule)
        strikes = 0
        while self._may_go_on(strikes):
            if turn is None:
                try:
                    turn = self._ask(schema=schema)
                except UnsupportedError:
                    schema = None
                    continue
            action = find_action(turn.text, toolbox.names)
            if action is None or turn.is_cut:
                return turn
            if action.answer:
                return Turn(action.answer, (), turn.is_cut)
            result = toolbox.call(action.tool, action.arguments)
            strikes = 0 if result.usable else strikes + 1
            self._conversation.say(f"Result of {action.tool}:\n{result.text}\n\n{rule}")
            turn = None
        self.notes.append("the model was stopped from calling tools on and on")
        self._conversation.say(ANSWER_NOW)
        final = self._ask()
        wrapped = find_action(final.text, ())
        return Turn(wrapped.answer, (), final.is_cut) if wrapped else final

    def _may_go_on(self, strikes: int) -> bool:
        made = self._conversation.usage.model_calls - self._calls_before
        if self._conversation.is_nearly_spent():
            self.notes.append("a cap was near: the model had to answer from what it had read")
            return False
        return strikes < MAX_STRIKES and made < self._options.max_turns - 1

    def _begin(self, extra: str) -> None:
        prompt = self._prompt_for(self._share)
        self._conversation.begin(prompt.system, f"{prompt.user}\n\n{extra}".rstrip())
        self._extra = extra

    def _ask(
        self,
        tools: Sequence[ToolDescription] = (),
        schema: dict[str, Any] | None = None,
        *,
        may_call: bool = True,
    ) -> Turn:
        while True:
            try:
                return self._conversation.request(tools, schema, may_call=may_call)
            except ContextOverflowError:
                if not self._make_room():
                    raise

    def _make_room(self) -> bool:
        """Shorten what was read, then the context; tell whether anything could be shortened."""
        if self._conversation.shorten_results(halve_data):
            self.notes.append("texts that were read had to be shortened to fit the model")
            return True
        self._share /= 2
        if self._share < LEAST_SHARE:
            return False
        prompt = self._prompt_for(self._share)
        self._conversation.replace_first(prompt.system, f"{prompt.user}\n\n{self._extra}".rstrip())
        return True


def halve_data(text: str) -> str:
    """Return a tool result with every long block of data in it cut to half, literally."""

    def halve(match: re.Match[str]) -> str:
        mark, inner = match.group(1), match.group(2)
        if len(inner) < SHORT_RESULT_CHARS:
            return match.group()
        head, _, body = inner.partition("\n\n")
        shorter = shorten_page(body or head, head, len(inner) // 2)
        return f"{mark} begins\n{head}\n\n{shorter}\n{mark} ends" if body else match.group()

    return _DATA.sub(halve, text)


def action_schema(toolbox: Toolbox) -> dict[str, Any]:
    """Return the JSON Schema of one action: a tool call or the final answer."""
    options: list[dict[str, Any]] = []
    for tool in toolbox.describe():
        properties = {"tool": {"const": tool.name}, **tool.schema["properties"]}
        options.append(_object(properties))
    options.append(_object({"answer": {"type": "string"}}))
    return {"oneOf": options}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _run(toolbox: Toolbox, call: ToolCall) -> tuple[str, bool]:
    if call.arguments is None:
        return "Wrong arguments: they must be one JSON object.", False
    result = toolbox.call(call.name, call.arguments)
    return result.text, result.usable


def _action_rule(toolbox: Toolbox) -> str:
    lines = ["Reply with exactly one JSON object and nothing else, one of:"]
    if toolbox.search_name:
        lines.append(f'{{"tool": "{toolbox.search_name}", "query": "words"}}')
    if toolbox.read_name:
        lines.append(f'{{"tool": "{toolbox.read_name}", "urls": ["address from a search"]}}')
    lines.append('{"answer": "your whole final answer, in the form asked for"}')
    return "\n".join(lines)
