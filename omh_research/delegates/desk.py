"""The desk: gives a batch of tasks to a delegate and records each reply as it arrives.

Job: answer from the mailbox what was answered before; run the rest side by side under a deadline;
store every reply before anything else is done with it (spec E20, E21, O4). A delegate that fails,
hangs or raises costs its own task only. Refuses to judge a reply. Importers: wiring.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from omh_research.delegates.interface import Delegate, Library
from omh_research.documents.task import Allowance, Reply, Task, Usage
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

    def reserving(self) -> AbstractContextManager[None]:
        """Hold disk space for replies while delegates work."""
        ...


class DeskRules(Struct, frozen=True):
    """Clock, cancel and deadlines. `timeout_s` is one task's limit, 0 means none.

    `crossed_cap` names the cap that so many further calls would cross, or ""; `allowance` is what
    each of so many open tasks may spend. `time_left_s` is what the run's own time cap leaves
    (None: no cap) and `time_cap` says which cap that is: a call that it ends has not failed.
    """

    now: Callable[[], str]
    is_cancelled: Callable[[], bool]
    timeout_s: float = 0
    side_by_side: int = 3
    host_deadline_passed: bool = False
    crossed_cap: Callable[[int], str] = lambda calls: ""
    allowance: Callable[[int], Allowance] = lambda tasks: Allowance()
    time_left_s: float | None = None
    time_cap: str = ""


class _Sitting:
    """One batch at the desk: why its calls must stop, and whether replies are still taken."""

    def __init__(self, rules: DeskRules, time_up_at: float | None) -> None:
        self._is_cancelled, self._time_up_at = rules.is_cancelled, time_up_at
        self._deadline = time.monotonic() + rules.timeout_s if rules.timeout_s else None
        self.is_closed = False

    def stopped_by(self) -> str:
        """Return what ends the calls now: "cancel", "cap", "deadline" or "" for nothing."""
        now = time.monotonic()
        if self.is_closed or self._is_cancelled():
            return "cancel"
        if self.is_time_up(now):
            return "cap"
        return "deadline" if self._deadline is not None and now > self._deadline else ""

    def is_time_up(self, now: float) -> bool:
        """Tell whether the run's own time is over."""
        return self._time_up_at is not None and now > self._time_up_at

    def should_stop(self) -> bool:
        """Tell a delegate to stop."""
        return bool(self.stopped_by())


class Desk:
    """Answers tasks through one delegate and one mailbox. One desk lives as long as one lap."""

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
        left = rules.time_left_s
        self._time_up_at = None if left is None else time.monotonic() + left

    def ask(self, tasks: Sequence[Task]) -> tuple[Reply, ...]:
        """Return the replies in the order of the tasks.

        Raises:
            AwaitingHost: the host has not answered all of them yet.
            CancelSeen: a cancel was asked for; replies that had arrived are stored.
            CapReached: the open tasks would cross a hard cap and none was run; or a cap ended one
                of them in mid-call. Replies that had arrived are stored.
            StorageError, DamagedFileError: a reply or the fetch record cannot be kept.
        """
        open_tasks = [task for task in tasks if not _is_final(self._mailbox.get(task.id))]
        if open_tasks and self._delegate.name == "host":
            if not self._rules.host_deadline_passed:
                raise AwaitingHost(open_tasks)
            sitting = _Sitting(self._rules, None)
            for task in open_tasks:
                reason = "the host did not answer before its deadline"
                self._store(self._failed(task, reason), sitting)
        elif open_tasks:
            crossed = self._rules.crossed_cap(len(open_tasks))
            if crossed:
                raise CapReached(crossed)
            with self._mailbox.reserving():
                self._run([self._allowed(task, len(open_tasks)) for task in open_tasks])
        replies = [self._mailbox.get(task.id) for task in tasks]
        return tuple(
            reply if reply is not None else self._failed(task, "no reply was stored")
            for task, reply in zip(tasks, replies, strict=True)
        )

    def stored(self, task: Task) -> Reply | None:
        """Return the task's reply; None if there is none, or only what an ended call cost."""
        reply = self._mailbox.get(task.id)
        return reply if _is_final(reply) else None

    def _allowed(self, task: Task, count: int) -> Task:
        return replace(task, brief=replace(task.brief, allowance=self._rules.allowance(count)))

    def _run(self, tasks: Sequence[Task]) -> None:
        width = min(self._rules.side_by_side, getattr(self._delegate, "side_by_side", 3))
        capped: list[str] = []
        if width <= 1:
            for task in tasks:
                sitting = _Sitting(self._rules, self._time_up_at)
                self._refuse_more(sitting)
                capped += self._answer(task, sitting)
        else:
            capped += self._run_threads(tasks)
        if self._rules.is_cancelled():
            raise CancelSeen
        if capped:
            raise CapReached(capped[0])

    def _refuse_more(self, sitting: _Sitting) -> None:
        """Start no further call once a cancel or the time cap is there."""
        match sitting.stopped_by():
            case "cancel":
                raise CancelSeen
            case "cap":
                raise CapReached(self._rules.time_cap)
            case _:
                pass

    def _run_threads(self, tasks: Sequence[Task]) -> list[str]:
        """Answer the tasks side by side; return the caps that ended some of them."""
        sitting = _Sitting(self._rules, self._time_up_at)
        troubles: list[BaseException] = []
        capped: list[str] = []

        def work(task: Task) -> None:
            try:
                capped.extend(self._answer(task, sitting))
            except BaseException as error:  # raised again where the command can see it
                troubles.append(error)

        threads = [threading.Thread(target=work, args=(task,), daemon=True) for task in tasks]
        for thread in threads:
            thread.start()
        try:
            reason = _wait(threads, sitting)
        finally:  # a delegate that hangs is left behind; its late reply is refused
            with self._guard:
                sitting.is_closed = True
        if self._rules.is_cancelled():
            raise CancelSeen
        if troubles:
            raise troubles[0]
        if not capped:
            self._settle(tasks, reason, capped)
        return capped

    def _settle(self, tasks: Sequence[Task], reason: str, capped: list[str]) -> None:
        """Say of each task that has no reply what ended it: the time cap, or its deadline."""
        for task in tasks:
            if _is_final(self._mailbox.get(task.id)):
                continue
            if reason == "cap":
                capped.append(self._rules.time_cap)
            else:
                self._mailbox.put(self._failed(task, self._late()))

    def _late(self) -> str:
        return f"no answer within the {self._rules.timeout_s:g} s of a task"

    def _answer(self, task: Task, sitting: _Sitting) -> list[str]:
        """Have one task answered and its reply stored; return the cap that ended it, if one did."""
        try:
            reply = self._delegate.answer(task, self._library_for(task), sitting.should_stop)
            if reply.status == "answered" and not reply.text.strip():
                reply = replace(
                    reply, status="failed", reason=reply.reason or "the answer is empty"
                )
        except (StorageError, DamagedFileError):
            raise  # our own files, not the delegate: nothing was answered, nothing is counted
        except CapCrossedError as error:
            return [error.message]  # nothing was spent on this task
        except OmhError as error:
            reply = self._failed(task, str(error))
        except Exception as error:  # a plug-in's own fault must cost its task only
            reply = self._failed(task, f"{type(error).__name__}: {error}")
        reply = self._judged(reply, sitting)
        if not reply.stopped_by or reply.usage != Usage():  # what a stopped call cost is counted
            self._store(replace(reply, task_id=task.id, received_at=self._rules.now()), sitting)
        return [reply.reason] if reply.stopped_by == "cap" else []

    def _judged(self, reply: Reply, sitting: _Sitting) -> Reply:
        """Tell a call that failed, as by its own time limit, from one that the run ended (O5)."""
        if reply.status == "answered" or reply.stopped_by:
            return reply
        match sitting.stopped_by():
            case "cap":
                return replace(reply, stopped_by="cap", reason=self._rules.time_cap)
            case "cancel":
                return replace(reply, stopped_by="cancel")
            case "deadline":
                return replace(reply, reason=f"{self._late()} ({reply.reason})"[:MAX_REASON])
            case _:
                return reply

    def _store(self, reply: Reply, sitting: _Sitting) -> None:
        with self._guard:
            if sitting.is_closed or _is_final(self._mailbox.get(reply.task_id)):
                return  # the deadline was first
            try:
                self._mailbox.put(reply)
            except UsageError as error:
                task_id, reason = reply.task_id, str(error)
                failed = Reply(task_id=task_id, status="failed", reason=reason, usage=reply.usage)
                self._mailbox.put(failed)

    def _failed(self, task: Task, reason: str) -> Reply:
        return Reply(
            task_id=task.id,
            status="failed",
            reason=" ".join(reason.split())[:MAX_REASON],
            received_at=self._rules.now(),
        )


def _is_final(reply: Reply | None) -> bool:
    """Tell whether a task has its reply; one that we ended ourselves is asked again."""
    return reply is not None and not reply.stopped_by


def _wait(threads: Sequence[threading.Thread], sitting: _Sitting) -> str:
    """Wait for the threads, after a stop only a short grace; return what stopped them, or ""."""
    reason, stopped_at = "", 0.0
    while any(thread.is_alive() for thread in threads):
        for thread in threads:
            thread.join(POLL_S)
        if not reason:
            reason, stopped_at = sitting.stopped_by(), time.monotonic()
        elif time.monotonic() > stopped_at + CANCEL_GRACE_S:
            break
    return reason
