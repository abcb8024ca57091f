"""A language model as a delegate, through its API (spec D4).

Job: one conversation a task with an OpenAI-compatible or Anthropic server, local ones included;
the researcher gets search and read over its Library, every other role no tool at all. Refuses to
start without a configured address, to go on past its bounds, and to let a key into any text.
Importers: registry. The model library (extra `llm`) is imported on the first call only.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from omh_research.delegates.gather import gather
from omh_research.delegates.interface import Library
from omh_research.delegates.prompt import GATHERED_RULE, NO_TOOLS_RULE, Prompt, compose
from omh_research.delegates.registry import RoleText, Surroundings, read_options
from omh_research.delegates.second_pass import answer_with_second_pass
from omh_research.documents.task import Reply, Task
from omh_research.errors import CapCrossedError, DelegateError, PrerequisiteError
from omh_research.llm.checks import clean_answer, find_fault
from omh_research.llm.client import Conversation, Turn
from omh_research.llm.loop import Exchange
from omh_research.llm.prices import PRICES_VARIABLE, PriceTable, load_prices
from omh_research.llm.settings import Endpoint, LlmOptions, resolve_endpoint
from omh_research.llm.shorten import shorten_context
from omh_research.llm.tools import Toolbox

_TOOLS_RULE = (
    "Search and read with your tools before you answer. Read at most {reads} addresses and stop "
    "as soon as the queries are answered. Cite only what you have read, by its address, and quote "
    "it word for word. Then return only the answer itself."
)


class LlmDelegate:
    """Answers each task with one bounded conversation. Safe to call from several threads."""

    name = "llm"
    needs_library = True
    can_scope_tools = True
    # All it reads goes through its Library: nothing else can be cited.
    keeps_ledger = True

    def __init__(
        self,
        endpoint: Endpoint,
        options: LlmOptions,
        role_text: RoleText,
        prices: PriceTable | None = None,
    ) -> None:
        self._endpoint, self._options, self._role_text = endpoint, options, role_text
        self._prices = prices or load_prices(options.prices)
        self.side_by_side = options.side_by_side
        self.model = endpoint.model

    @classmethod
    def from_options(cls, options: Mapping[str, object], around: Surroundings) -> LlmDelegate:
        """Return the delegate for the server that options and environment name.

        Raises `PrerequisiteError` without the extra `llm`, an address, a model or a key, or when
        offline; `UsageError` for wrong options.
        """
        given = read_options("llm", options, LlmOptions)
        if importlib.util.find_spec("pydantic_ai") is None:
            raise PrerequisiteError(
                "The llm delegate needs the package 'pydantic-ai-slim'.",
                hint="Install it: pip install 'omh-research[llm]'.",
            )
        prices = load_prices(given.prices or around.environ.get(PRICES_VARIABLE, ""))
        return cls(resolve_endpoint(given, around.environ), given, around.role_text, prices)

    def answer(self, task: Task, library: Library | None, should_stop: Callable[[], bool]) -> Reply:
        """Return the model's answer; a failure is a failed reply that keeps text and costs.

        Raises `CapCrossedError` when not even one call fits into what the task may spend.
        """
        allowance = task.brief.allowance
        with Conversation(
            self._endpoint, self._options, self._prices, should_stop, allowance
        ) as talk:
            work = _Work(self._options, self._role_text, talk, library, should_stop)
            try:
                reply = answer_with_second_pass(work.ask, task)
            except DelegateError as error:
                if isinstance(error, CapCrossedError) and not talk.usage.model_calls:
                    raise
                cap = "cap" if isinstance(error, CapCrossedError) else ""
                reply = Reply(task_id=task.id, status="failed", reason=str(error), stopped_by=cap)
            usage = replace(talk.usage, fetches=work.fetches)
        if reply.status == "answered" and not reply.text.strip():
            reply = replace(reply, status="failed", reason="the model gave an empty answer")
        notes = tuple(dict.fromkeys([*work.notes, *talk.notes, *reply.notes]))
        return replace(reply, usage=usage, notes=notes)


class _Work:
    """One task's work: its conversation, its library, what was noted on the way."""

    def __init__(
        self,
        options: LlmOptions,
        role_text: RoleText,
        talk: Conversation,
        library: Library | None,
        should_stop: Callable[[], bool],
    ) -> None:
        self._options, self._role_text, self._talk = options, role_text, talk
        self._library, self._should_stop = library, should_stop
        self.notes: list[str] = []
        self.fetches = 0

    def ask(self, step: Task, structuring: bool) -> Reply:
        """Return one answer, cleaned; one with a visible fault is failed and keeps its text."""
        turn = None
        if step.tools and self._library is not None and not structuring:
            turn = self._research(step, self._library)
        elif step.tools and not structuring:
            self.notes.append("no search was configured for this task: nothing could be read")
        if turn is None:
            turn = self._alone(step, NO_TOOLS_RULE, "")
        text = clean_answer(step.role, turn.text)
        fault = find_fault(text, f"{self._role_text(step.role)}\n{step.goal}")
        if turn.is_cut:
            fault = f"the answer was cut off at {self._options.max_output_tokens} tokens"
        status = "failed" if fault else "answered"
        return Reply(task_id=step.id, status=status, text=text, reason=fault)

    def _research(self, step: Task, library: Library) -> Turn:
        toolbox = Toolbox(step.tools, library, self._options.max_page_chars)
        rule = _TOOLS_RULE.format(reads=min(step.brief.max_fetches, library.remaining_fetches()))
        exchange = Exchange(self._talk, self._options, self._prompt_for(step, rule, ""))
        turn = exchange.answer_with_tools(toolbox)
        self.notes += exchange.notes
        self.fetches += toolbox.fetches
        if turn is not None:
            return turn
        # The model does not search by itself: read for it, so that its text stands on something.
        read = gather(step, library, self._should_stop)
        self.fetches += read.fetches
        self.notes += [*read.notes, "the model called no tool; its texts were read for it"]
        return self._alone(step, GATHERED_RULE, read.text)

    def _alone(self, step: Task, rule: str, gathered: str) -> Turn:
        exchange = Exchange(self._talk, self._options, self._prompt_for(step, rule, gathered))
        turn = exchange.answer_alone()
        self.notes += exchange.notes
        return turn

    def _prompt_for(self, step: Task, rule: str, gathered: str) -> Callable[[float], Prompt]:
        whole = len(step.context)
        limit = min(whole, self._options.context_chars or whole)
        query = " ".join([step.brief.topic, step.brief.subtopic, *step.brief.queries])

        def prompt_for(share: float) -> Prompt:
            context = shorten_context(step.context, query, int(limit * share))
            if context.cut_chars:
                self.notes.append(
                    f"{context.cut_chars} of {whole} characters of the context were cut to fit "
                    "the model; addresses, citations, numbers and gaps were kept"
                )
            kept = (
                gathered
                if share == 1.0
                else shorten_context(gathered, query, int(len(gathered) * share)).text
            )
            return compose(
                replace(step, context=context.text), self._role_text, rule=rule, gathered=kept
            )

        return prompt_for
