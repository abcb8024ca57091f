"""Replies as they arrive: one file a task id (spec E20).

Job: store a reply before anything else is done with it, find it again after any crash. Refuses
to overwrite an answered task with another text. Importers: store, wiring (by protocol elsewhere).
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from omh_research.documents.heads import checked
from omh_research.documents.names import check_task_id
from omh_research.documents.task import Reply, Usage
from omh_research.errors import DamagedFileError, UsageError
from omh_research.store import disk
from omh_research.store.layout import Layout

MAX_REPLY_BYTES = 16_000_000


def _sum(left: Usage, right: Usage) -> Usage:
    """Return both costs; with an unknown one the sum is unknown."""
    costs = [part.cost_usd for part in (left, right) if part.model_calls]
    known = [cost for cost in costs if cost is not None]
    return Usage(
        model_calls=left.model_calls + right.model_calls,
        fetches=left.fetches + right.fetches,
        input_tokens=left.input_tokens + right.input_tokens,
        output_tokens=left.output_tokens + right.output_tokens,
        cost_usd=sum(known) if costs and len(known) == len(costs) else None,
    )


def _checked(reply: Reply) -> dict[str, object]:
    return checked(msgspec.to_builtins(reply), Reply, f"the reply to {reply.task_id}")


class Mailbox:
    """The stored replies of one run. Call `put` only under the run's lock.

    `fence` is asked before each write and raises if the run is another owner's now (spec S3).
    """

    def __init__(self, layout: Layout, slug: str, fence: Callable[[], None] = lambda: None) -> None:
        self._layout, self._slug, self._fence = layout, slug, fence

    def get(self, task_id: str) -> Reply | None:
        """Return the stored reply to a task, or None.

        Raises:
            DamagedFileError: the file is there and is no reply.
        """
        path = self._layout.reply(self._slug, check_task_id(task_id))
        if not disk.check_directory(os.path.dirname(path)):
            return None
        data = disk.read_bytes(path, max_bytes=MAX_REPLY_BYTES)
        if data is None:
            return None
        try:
            reply = msgspec.json.decode(data, type=Reply)
        except msgspec.MsgspecError as error:
            raise DamagedFileError(
                f"{self._layout.relative(path)}: not a stored reply ({error}).",
                hint=f"Run `omh-research recover {self._slug} --move-damaged` to move it aside.",
            ) from None
        if reply.task_id != task_id:
            raise DamagedFileError(f"{self._layout.relative(path)}: belongs to another task.")
        return reply

    def put(self, reply: Reply) -> bool:
        """Store a reply, durable; tell whether it is new (the same text twice is not).

        A failed reply may be replaced by an answer, never the other way round. What a call cost
        that the run itself ended is added to what its task costs in the end (spec O5).

        Raises:
            UsageError: the task is answered already, with another text, or the text is too long.
            FencedError: the run is another owner's now.
        """
        held = self.get(reply.task_id)
        if held is not None and held.status == "answered":
            text = disk.encode(reply.text).decode("utf-8")
            if reply.status == "answered" and held.text == text:
                return False
            raise UsageError(f"Task {reply.task_id} is answered already, with another text.")
        if held is not None and held.stopped_by:
            reply = replace(reply, usage=_sum(held.usage, reply.usage))
        self._fence()
        folder = self._layout.tasks_dir(self._slug)
        disk.make_directories(self._layout.base, folder)
        data = disk.encode(json.dumps(_checked(reply), ensure_ascii=False))
        if len(data) > MAX_REPLY_BYTES:
            raise UsageError(f"The answer to {reply.task_id} is longer than the store takes.")
        path = self._layout.reply(self._slug, check_task_id(reply.task_id))
        disk.replace(path, data, mode=disk.STATE_MODE)
        return True

    def all(self) -> tuple[Reply, ...]:
        """Return every stored reply by task id; a file that is no reply is left out."""
        folder = self._layout.tasks_dir(self._slug)
        if not disk.check_directory(folder):
            return ()
        found = []
        for name in sorted(os.listdir(folder)):
            if name.endswith(".json"):
                with contextlib.suppress(DamagedFileError, UsageError):
                    found.append(self.get(name.removesuffix(".json")))
        return tuple(reply for reply in found if reply is not None)

    def count(self) -> int:
        """Return how many replies are stored."""
        folder = self._layout.tasks_dir(self._slug)
        if not disk.check_directory(folder):
            return 0
        with os.scandir(folder) as entries:
            return sum(entry.name.endswith(".json") for entry in entries)
