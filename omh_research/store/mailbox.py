"""Replies as they arrive: one file a task id (spec E20).

Job: store a reply before anything else is done with it, find it again after any crash; hold some
disk space while delegates work, so that the answer in hand fits on a disk that has filled up.
Refuses to overwrite an answered task with another text. Importers: store, wiring (by protocol
elsewhere).
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Callable, Iterator

import msgspec
from msgspec.structs import replace

from omh_research.documents.heads import checked
from omh_research.documents.names import check_task_id
from omh_research.documents.task import Reply, add_usage
from omh_research.errors import DamagedFileError, StorageError, UsageError
from omh_research.store import disk
from omh_research.store.layout import Layout

MAX_REPLY_BYTES = 16_000_000
# Room for what a batch usually answers (5 to 40 kB a reply); held only while delegates work.
SPARE_BYTES = 128 * 1024


def _is_full(error: StorageError) -> bool:
    cause = error.__cause__
    return isinstance(cause, OSError) and cause.errno in (errno.ENOSPC, errno.EDQUOT)


def _unstored(task_id: str, error: StorageError) -> StorageError:
    """Return the error that says what is lost: the answer is asked for, and paid, once more."""
    return StorageError(
        f"The reply to {task_id} came and cannot be stored: {error.message}",
        hint=f"{error.hint} It will be asked for again.".strip(),
    )


def _checked(reply: Reply) -> dict[str, object]:
    return checked(msgspec.to_builtins(reply), Reply, f"the reply to {reply.task_id}")


class Mailbox:
    """The stored replies of one run. Call `put` only under the run's lock.

    `fence` is asked before each write and raises if the run is another owner's now (spec S3).
    """

    def __init__(self, layout: Layout, slug: str, fence: Callable[[], None] = lambda: None) -> None:
        self._layout, self._slug, self._fence = layout, slug, fence
        self._spare: int | None = None

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
            StorageError: it cannot be stored, not even in the space held by `reserving`.
        """
        held = self.get(reply.task_id)
        if held is not None and held.status == "answered":
            text = disk.encode(reply.text).decode("utf-8")
            if reply.status == "answered" and held.text == text:
                return False
            raise UsageError(f"Task {reply.task_id} is answered already, with another text.")
        if held is not None and held.stopped_by:
            reply = replace(reply, usage=add_usage(held.usage, reply.usage))
        self._fence()
        folder = self._layout.tasks_dir(self._slug)
        disk.make_directories(self._layout.base, folder)
        data = disk.encode(json.dumps(_checked(reply), ensure_ascii=False))
        if len(data) > MAX_REPLY_BYTES:
            raise UsageError(f"The answer to {reply.task_id} is longer than the store takes.")
        path = self._layout.reply(self._slug, check_task_id(reply.task_id))
        self._write(path, data, reply.task_id)
        return True

    @contextlib.contextmanager
    def reserving(self) -> Iterator[None]:
        """Hold room for answers while delegates work; `put` gives it back when the disk is full.

        Raises:
            StorageError: there is no room now: before anything is paid for.
        """
        self._fence()
        folder = self._layout.tasks_dir(self._slug)
        disk.make_directories(self._layout.base, folder)
        self._spare = disk.take_space(folder, SPARE_BYTES)
        try:
            yield
        finally:
            self._give_back()

    def _give_back(self) -> bool:
        """Give the held space back; tell whether there was any."""
        spare, self._spare = self._spare, None
        if spare is not None:
            os.close(spare)
        return spare is not None

    def _write(self, path: str, data: bytes, task_id: str) -> None:
        try:
            disk.replace(path, data, mode=disk.STATE_MODE)
            return
        except StorageError as error:
            if not _is_full(error) or not self._give_back():
                raise _unstored(task_id, error) from error
        try:
            disk.replace(path, data, mode=disk.STATE_MODE)
        except StorageError as error:
            raise _unstored(task_id, error) from error

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
