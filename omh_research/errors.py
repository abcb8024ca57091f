"""Every error the project raises: its code word, its exit code, its next step.

Job: one place where a failure's class says what kind it is, which exit code it earns and what
the user can do. Refuses to format tracebacks or print. Imports nothing; everybody may import it.

Exit codes (spec 10-engine): 0 done, 1 unexpected failure, 2 usage, 3 blocked, 4 cancelled,
5 waiting for results from the host, 6 busy, 7 no such run or damaged files, 8 prerequisite
missing, 124 `wait` ran out of time, 130 interrupted.
"""

from typing import ClassVar


class OmhError(Exception):
    """Base of all errors a user may see.

    `code` is the machine-readable word of `--json` failures, `exit_code` the process's exit
    code, `hint` what to do next (may be empty).
    """

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1
    hint: str = ""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        if hint:
            self.hint = hint

    def __str__(self) -> str:
        if not self.hint:
            return self.message
        return self.message + ("" if self.hint.startswith("\n") else " ") + self.hint


class UsageError(OmhError):
    """The call's words are wrong: nothing was read or written."""

    code = "usage"
    exit_code = 2


class PlanError(UsageError):
    """A plan (file, option or planner's answer) breaks a rule; the message names the rule."""

    code = "plan"


class ScopeError(UsageError):
    """The topic is a choice that names nothing to choose by: `questions` would narrow it (P7)."""

    code = "scope"

    def __init__(self, message: str, *, questions: tuple[str, ...], hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.questions = questions


class BlockedError(OmhError):
    """The run is blocked and needs an operator."""

    code = "blocked"
    exit_code = 3


class CancelledError(OmhError):
    """The run was cancelled."""

    code = "cancelled"
    exit_code = 4


class BusyError(OmhError):
    """Another process is advancing this run right now; nothing was changed."""

    code = "busy"
    exit_code = 6


class FencedError(BusyError):
    """Our lease was taken over while we were paused; our write was refused."""

    code = "fenced"


class NoSuchRunError(OmhError):
    """No run with this slug is known here."""

    code = "no_such_run"
    exit_code = 7


class DamagedFileError(OmhError):
    """A file of the run cannot be read as what it should be; it was left as it is."""

    code = "damaged"
    exit_code = 7


class NewerVersionError(DamagedFileError):
    """A file was written by a newer version than this one; it was not touched."""

    code = "newer_version"


class PrerequisiteError(OmhError):
    """Something this command needs is missing (a package, a key, a tool, the network)."""

    code = "prerequisite"
    exit_code = 8


class StorageError(OmhError):
    """The file system refused a read or a write (full, read-only, I/O error)."""

    code = "storage"


class DelegateError(OmhError):
    """A delegate could not answer a task."""

    code = "delegate"


class CapCrossedError(DelegateError):
    """The next model call would cross a cap of the run; it was not made (spec O5)."""

    code = "cap"


class ProviderError(OmhError):
    """A search or page provider could not answer; this is `unknown`, never an empty answer."""

    code = "provider"


class TransportError(ProviderError):
    """A request failed: `state` is one word for how (timeout, refused, too_large, ...)."""

    code = "transport"

    def __init__(self, message: str, *, state: str = "error", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.state = state


class ToolInputError(OmhError):
    """An evidence tool was given a payload it cannot accept."""

    code = "input"
