"""The host delegate: the calling agent does the work, in a later invocation (spec D2).

Job: stand for the host among the delegates. Its replies come through `submit` into the mailbox,
so `answer` is reached only when there is none. Importers: registry, wiring.
"""

from __future__ import annotations

from collections.abc import Callable

from omh_research.delegates.interface import Library
from omh_research.documents.task import Reply, Task
from omh_research.errors import DelegateError


class HostDelegate:
    """Hands tasks out through `next` instead of answering them."""

    name = "host"
    needs_library = False
    can_scope_tools = False

    def answer(self, task: Task, library: Library | None, should_stop: Callable[[], bool]) -> Reply:
        """Refuse: a host answers with `submit`.

        Raises:
            DelegateError: always.
        """
        raise DelegateError(f"Task {task.id} waits for the host: answer it with `submit`.")
