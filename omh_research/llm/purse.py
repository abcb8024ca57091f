"""What one task may still spend: asked before every model call (spec D4, O5, T5).

Job: from the task's share of calls, tokens and money say how long the next answer may be, that the
next call has to be the last one, or that no call fits any more. Refuses to call and to count: the
conversation does. Importers: llm.client, delegates.llm.

A call's input is estimated from its bytes (three a token: more tokens than real ones, in English
and in Chinese), or from what the server counted for the call before; its output is bounded by the
token limit sent along. So a call that would cross a cap is not made.
"""

from __future__ import annotations

from omh_research.documents.task import Allowance, Usage
from omh_research.errors import CapCrossedError
from omh_research.llm.prices import PriceTable

BYTES_PER_TOKEN = 3
OVERHEAD_TOKENS = 100
# An answer shorter than this says nothing; below it a call is not worth making.
LEAST_OUTPUT_TOKENS = 200
# What an answer with sources needs: kept for the last call of a task.
ANSWER_TOKENS = 1_500


class Purse:
    """The share of one task; `model` and `prices` turn tokens into money where that is known."""

    def __init__(self, allowance: Allowance, model: str, prices: PriceTable) -> None:
        self._allowance, self._model, self._prices = allowance, model, prices
        self._tokens_per_byte = 0.0

    def learn(self, sent_bytes: int, input_tokens: int) -> None:
        """Note how many tokens the server counted for a request of so many bytes."""
        if sent_bytes and input_tokens:
            self._tokens_per_byte = 1.1 * input_tokens / sent_bytes

    def output_limit(self, used: Usage, sent_bytes: int, wanted: int) -> int:
        """Return how many tokens the next answer may have, at most `wanted`.

        Raises `CapCrossedError` when the next call would cross a cap.
        """
        calls = self._allowance.calls
        if calls is not None and used.model_calls >= calls:
            raise CapCrossedError(f"the {calls} model calls left to this task are made.")
        room = self._room(used, self._input_tokens(sent_bytes))
        if room is None:
            return wanted
        if room < min(LEAST_OUTPUT_TOKENS, wanted):
            raise CapCrossedError("the tokens or the money left do not suffice for one more call.")
        return int(min(wanted, room))

    def is_last(self, used: Usage, sent_bytes: int) -> bool:
        """Tell whether only one more call fits: it has to be the answer."""
        calls = self._allowance.calls
        if calls is not None and used.model_calls >= calls - 1:
            return True
        # What is read by one more call is sent again with the answer's own.
        asked = 2 * self._input_tokens(sent_bytes) + ANSWER_TOKENS
        room = self._room(used, asked)
        return room is not None and room < ANSWER_TOKENS

    def _input_tokens(self, sent_bytes: int) -> int:
        if self._tokens_per_byte:
            return int(sent_bytes * self._tokens_per_byte) + 1
        return sent_bytes // BYTES_PER_TOKEN + OVERHEAD_TOKENS

    def _room(self, used: Usage, input_tokens: int) -> float | None:
        """Return the output tokens that fit beside an input of this size; None: no bound."""
        rooms: list[float] = []
        if self._allowance.tokens is not None:
            spent = used.input_tokens + used.output_tokens
            rooms.append(self._allowance.tokens - spent - input_tokens)
        read = self._prices.cost(self._model, input_tokens, 0)
        both = self._prices.cost(self._model, input_tokens, 1_000)
        money = self._allowance.cost_usd
        known = money is not None and used.cost_usd is not None
        if known and read is not None and both is not None and both > read:
            left = (money or 0.0) - (used.cost_usd or 0.0) - read
            rooms.append(left / ((both - read) / 1_000))
        return min(rooms) if rooms else None
