"""The desk: gives a batch of tasks to a delegate and records each reply as it arrives.

Job: answer from the mailbox what was answered before; run the rest side by side under a deadline;
store every reply before anything else is done with it (spec E20, E21, O4). A delegate that fails,
hangs or raises costs its own task only. Refuses to judge a reply. Importers: wiring.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from omh_research.delegates.interface import Delegate, Library
from omh_research.documents.task import Allowance, Reply, Task
from omh_research.errors import (
    CapCrossedError,
    DamagedFileError,
    OmhError,
    StorageError,
    UsageError,
)
from omh_research.phases.contract import AwaitingHost, CancelSeen, CapReached

POLL_S = 0.05
CANCEL_GRACE_S = 3.0
MAX_REASON = 500


class Mailbox(Protocol):
    """Where replies are kept."""

    def get(self, task_id: str) -> Reply | None:
        """Return a stored reply."""
        ...

    def put(self, reply: Reply) -> bool:
        """Store a reply, durable."""
        ...


class DeskRules(Struct, frozen=True):
    """Clock, cancel and deadlines. `timeout_s` 0 means none.

    `crossed_cap` names the cap that so many further calls would cross, or ""; `allowance` is what
    each of so many open tasks may spend.
    """

    now: Callable[[], str]
    is_cancelled: Callable[[], bool]
    timeout_s: float = 0
    side_by_side: int = 3
    host_deadline_passed: bool = False
    crossed_cap: Callable[[int], str] = lambda calls: ""
    allowance: Callable[[int], Allowance] = lambda tasks: Allowance()


class Desk:
    """Answers tasks through one delegate and one mailbox."""

    def __init__(
        self,
        delegate: Delegate,
        mailbox: Mailbox,
        library_for: Callable[[Task], Library | None],
        rules: DeskRules,
    ) -> None:
        self._delegate, self._mailbox = delegate, mailbox
        self._library_for, self._rules = library_for, rules
        self._guard = threading.Lock()

    def ask(self, tasks: Sequence[Task]) -> tuple[Reply, ...]:
        """Return the replies in the order of the tasks.

        Raises:
            AwaitingHost: the host has not answered all of them yet.
            CancelSeen: a cancel was asked for; replies that had arrived are stored.
            CapReached: the open tasks would cross a hard cap; none was run, or one had to stop
                before its first call.
            StorageError, DamagedFileError: a reply or the fetch record cannot be kept.
        """
        open_tasks = [task for task in tasks if self._mailbox.get(task.id) is None]
        if open_tasks and self._delegate.name == "host":
            if not self._rules.host_deadline_passed:
                raise AwaitingHost(open_tasks)
            for task in open_tasks:
                self._store(self._failed(task, "the host did not answer before its deadline"))
        elif open_tasks:
            crossed = self._rules.crossed_cap(len(open_tasks))
            if crossed:
                raise CapReached(crossed)
            self._run([self._allowed(task, len(open_tasks)) for task in open_tasks])
        replies = [self._mailbox.get(task.id) for task in tasks]
        return tuple(
            reply if reply is not None else self._failed(task, "no reply was stored")
            for task, reply in zip(tasks, replies, strict=True)
        )

    def _allowed(self, task: Task, count: int) -> Task:
        return replace(task, brief=replace(task.brief, allowance=self._rules.allowance(count)))

    def _run(self, tasks: Sequence[Task]) -> None:
        width = min(self._rules.side_by_side, getattr(self._delegate, "side_by_side", 3))
        if width <= 1:
            for task in tasks:
                if self._rules.is_cancelled():
                    raise CancelSeen
                self._answer(task, self._should_stop())
        else:
            self._run_threads(tasks)
        if self._rules.is_cancelled():
            raise CancelSeen

    def _should_stop(self) -> Callable[[], bool]:
        limit = self._rules.timeout_s
        deadline = time.monotonic() + limit if limit else None
        is_cancelled = self._rules.is_cancelled

        def should_stop() -> bool:
            return is_cancelled() or (deadline is not None and time.monotonic() > deadline)

        return should_stop

    def _run_threads(self, tasks: Sequence[Task]) -> None:
        should_stop = self._should_stop()
        troubles: list[BaseException] = []

        def work(task: Task) -> None:
            try:
                self._answer(task, should_stop)
            except BaseException as error:  # raised again where the command can see it
                troubles.append(error)

        threads = [threading.Thread(target=work, args=(task,), daemon=True) for task in tasks]
        for thread in threads:
            thread.start()
        stopped_at = None
        while any(thread.is_alive() for thread in threads):
            for thread in threads:
                thread.join(POLL_S)
            if stopped_at is None and should_stop():
                stopped_at = time.monotonic()
            if stopped_at is not None and time.monotonic() > stopped_at + CANCEL_GRACE_S:
                break  # a delegate that hangs is left behind; its late reply is refused below
        if self._rules.is_cancelled():
            raise CancelSeen
        if troubles:
            raise troubles[0]
        for task in tasks:
            if self._mailbox.get(task.id) is None:
                self._store(self._failed(task, "no answer before the deadline"))

    def _answer(self, task: Task, should_stop: Callable[[], bool]) -> None:
        try:
            reply = self._delegate.answer(task, self._library_for(task), should_stop)
            if reply.status == "answered" and not reply.text.strip():
                reply = replace(
                    reply, status="failed", reason=reply.reason or "the answer is empty"
                )
        except (StorageError, DamagedFileError):
            raise  # our own files, not the delegate: nothing was answered, nothing is counted
        except CapCrossedError as error:
            raise CapReached(error.message) from None  # nothing was spent on this task
        except OmhError as error:
            reply = self._failed(task, str(error))
        except Exception as error:  # a plug-in's own fault must cost its task only
            reply = self._failed(task, f"{type(error).__name__}: {error}")
        self._store(replace(reply, task_id=task.id, received_at=self._rules.now()))

    def _store(self, reply: Reply) -> None:
        with self._guard:
            if self._mailbox.get(reply.task_id) is not None:
                return  # the deadline was first
            try:
                self._mailbox.put(reply)
            except UsageError as error:
                task_id, reason = reply.task_id, str(error)
                self._mailbox.put(Reply(task_id=task_id, status="failed", reason=reason))

    def _failed(self, task: Task, reason: str) -> Reply:
        return Reply(
            task_id=task.id,
            status="failed",
            reason=" ".join(reason.split())[:MAX_REASON],
            received_at=self._rules.now(),
        )
