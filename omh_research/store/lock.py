"""One process advances one slug at a time (spec E12).

Job: a kernel lock that is free the moment its holder dies, on a file that is never deleted.
POSIX: `fcntl.flock` here, in a few lines (importing filelock costs more than a whole commit);
elsewhere filelock does it. On Linux the holder also sets a record lock, which decides nothing but
can be asked about without being taken: a thousand lookers never make a taker busy. Refuses soft
locks and refuses to wait without limit. Importers: store.
"""

from __future__ import annotations

import contextlib
import os
import struct
import time
from collections.abc import Iterator
from typing import Any

from omh_research.errors import BusyError, DamagedFileError, StorageError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_POLL_S = 0.01
GRACE_S = 0.05
"""How long a taker insists: where `is_held` has to take the lock, it is for microseconds."""
_CAN_ASK = hasattr(fcntl, "F_OFD_GETLK")
_RECORD = struct.Struct("@hhqqi4x")  # struct flock: type, whence, start, length, process


class Lock:
    """A held lock; `release` (or leaving the process) frees it."""

    def __init__(self, fd: int, other: Any = None) -> None:
        self._fd, self._other = fd, other

    def release(self) -> None:
        """Free the lock; the file stays for ever (a deleted one would break exclusion)."""
        if self._other is not None:
            self._other.release()
            self._other = None
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def acquire(path: str, *, wait_s: float = GRACE_S) -> Lock:
    """Take the lock, insisting for at most `wait_s` seconds.

    Raises:
        BusyError: somebody else holds it.
        DamagedFileError: a link or something that is no file stands at `path`.
        StorageError: the file system has no working locks here.
    """
    if fcntl is None:
        return _acquire_with_filelock(path, wait_s)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        fd = os.open(path, flags, 0o600)
    except OSError as error:
        if os.path.islink(path):
            raise DamagedFileError(f"{path} is a symbolic link; it is not followed.") from None
        raise StorageError(f"Cannot open the lock {path}: {error.strerror}.") from error
    deadline = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _mark(fd)
            return Lock(fd)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                os.close(fd)
                raise BusyError(f"{os.path.basename(path)} is held by another process.") from None
            time.sleep(_POLL_S)
        except OSError as error:
            os.close(fd)
            raise StorageError(
                f"File locks do not work in {os.path.dirname(path)}: {error.strerror}.",
                hint="Use a local file system for the root.",
            ) from error


def _mark(fd: int) -> None:
    """Set the record lock that `is_held` asks about; it is freed with the descriptor."""
    if _CAN_ASK:
        with contextlib.suppress(OSError):
            fcntl.fcntl(fd, fcntl.F_OFD_SETLK, _RECORD.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))


def _acquire_with_filelock(path: str, wait_s: float) -> Lock:
    from filelock import FileLock, Timeout

    lock = FileLock(path, timeout=wait_s, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        raise BusyError(f"{os.path.basename(path)} is held by another process.") from None
    except OSError as error:
        raise StorageError(f"File locks do not work at {path}: {error.strerror}.") from error
    return Lock(-1, lock)


@contextlib.contextmanager
def held(path: str, *, wait_s: float = GRACE_S) -> Iterator[None]:
    """Hold the lock for the length of a `with` block."""
    lock = acquire(path, wait_s=wait_s)
    try:
        yield
    finally:
        lock.release()


def is_held(path: str) -> bool:
    """Tell whether somebody holds the lock now. Read-only: never creates the file."""
    if fcntl is None:
        try:
            _acquire_with_filelock(path, 0).release()
        except BusyError:
            return True
        return False
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        if _CAN_ASK:
            asked = _RECORD.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            found: int = _RECORD.unpack(fcntl.fcntl(fd, fcntl.F_OFD_GETLK, asked))[0]
            return found != fcntl.F_UNLCK
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except OSError:
        return True
    finally:
        os.close(fd)
