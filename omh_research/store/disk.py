"""The system calls of the store: guarded reads, whole-file replaces, appends, removals.

Job: every write below `.omh/` ends here, durable before it returns (spec E1; 81-reliability 2:
temporary file in the same folder, write in a loop, fsync, rename, fsync of the folder; one write
a log line, then fsync). Refuses links, FIFOs, devices and oversize files; a hostile tree is an
error, never a hang. Never retries an fsync: a failed one is a `StorageError`. Importers: store.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator

from omh_research.errors import DamagedFileError, StorageError

MAX_FILE_BYTES = 64_000_000
STATE_MODE = 0o600
DURABLE_MODE = 0o644
TEMP_SUFFIX = ".tmp"
TORN_MARK = b" ~torn\n"
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_TMPFILE = getattr(os, "O_TMPFILE", 0)
_UNSUPPORTED = (errno.EOPNOTSUPP, errno.EINVAL, errno.EISDIR, errno.ENOENT, errno.ENOSYS)
_WINDOWS_RENAME_TRIES = 40


@contextlib.contextmanager
def _storage_errors(doing: str, path: str) -> Iterator[None]:
    """Turn an OSError into a StorageError that names the file and the reason."""
    try:
        yield
    except OSError as error:
        name = os.path.basename(path)
        reason = error.strerror or str(error)
        hint = "Free space, then run the command again." if error.errno == 28 else ""
        raise StorageError(f"Cannot {doing} {name}: {reason}.", hint=hint) from error


def check_directory(path: str) -> bool:
    """Tell whether a real directory stands at `path`.

    Raises:
        DamagedFileError: something else stands there (a link, a file, a FIFO).
    """
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return False
    except NotADirectoryError:
        raise DamagedFileError(f"{path}: a part of this path is not a folder.") from None
    except OSError as error:
        raise StorageError(f"Cannot look at {path}: {error.strerror}.") from error
    if stat.S_ISDIR(mode):
        return True
    kind = "a symbolic link" if stat.S_ISLNK(mode) else "not a folder"
    raise DamagedFileError(
        f"{path} is {kind}.", hint="Remove it by hand; nothing is read or written through it."
    )


def sync_directory(path: str) -> None:
    """Make the names in a directory durable."""
    if sys.platform == "win32":
        return
    fd = os.open(path, os.O_RDONLY | _CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def make_directories(base: str, path: str) -> None:
    """Create the folders from `base` down to `path`, each new name durable.

    Raises:
        DamagedFileError: one of them, an outer one too, is a link or no folder.
        StorageError: the file system refused.
    """
    chain = [path]
    while chain[-1] != base:
        chain.append(os.path.dirname(chain[-1]))
    for folder in reversed(chain):
        if check_directory(folder):
            continue
        with _storage_errors("create folder", folder):
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder, 0o755)
            sync_directory(os.path.dirname(folder))
        check_directory(folder)


def read_bytes(path: str, *, max_bytes: int = MAX_FILE_BYTES) -> bytes | None:
    """Return the whole file, or None if there is none.

    Raises:
        DamagedFileError: a link, not a regular file, or larger than `max_bytes`.
        StorageError: the file system refused.
    """
    try:
        fd = os.open(path, os.O_RDONLY | _NOFOLLOW | _NONBLOCK | _CLOEXEC | _BINARY)
    except FileNotFoundError:
        return None
    except OSError as error:
        if os.path.islink(path):
            raise DamagedFileError(f"{path} is a symbolic link; it is not followed.") from None
        raise StorageError(f"Cannot read {path}: {error.strerror}.") from error
    try:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            raise DamagedFileError(f"{path} is not a regular file.")
        if info.st_size > max_bytes:
            raise DamagedFileError(f"{path} is larger than {max_bytes} bytes.")
        chunks: list[bytes] = []
        size = info.st_size + 1
        with _storage_errors("read", path):
            while chunk := os.read(fd, max(size, 65536)):
                chunks.append(chunk)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)
    finally:
        os.close(fd)


def read_tail(path: str, size: int) -> bytes:
    """Return at most the last `size` bytes of a file; b"" if there is none."""
    return _read_part(path, size, from_end=True)


def read_head(path: str, size: int) -> bytes:
    """Return at most the first `size` bytes of a file; b"" if there is none."""
    return _read_part(path, size, from_end=False)


def _read_part(path: str, size: int, *, from_end: bool) -> bytes:
    try:
        fd = os.open(path, os.O_RDONLY | _NOFOLLOW | _NONBLOCK | _CLOEXEC | _BINARY)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise StorageError(f"Cannot read {path}: {error.strerror}.") from error
    try:
        info = os.fstat(fd)
        if not stat.S_ISREG(info.st_mode):
            raise DamagedFileError(f"{path} is not a regular file.")
        if from_end:
            os.lseek(fd, max(0, info.st_size - size), os.SEEK_SET)
        return os.read(fd, size)
    finally:
        os.close(fd)


def encode(text: str) -> bytes:
    """Return UTF-8; a lone surrogate, which is no text, becomes `?` (never an error on writing)."""
    return text.encode("utf-8", "replace")


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def temp_path(path: str) -> str:
    """Return a temporary name for `path`, no other thread's, process's or container's."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name[:200]}.{os.urandom(6).hex()}{TEMP_SUFFIX}")


def replace(path: str, data: bytes, *, mode: int = DURABLE_MODE, durable: bool = True) -> None:
    """Write a file whole: readers see the old one or the new one, never a part.

    `durable=False` leaves out the syncs (heartbeats and caches only).

    Raises:
        StorageError: the file system refused; the old file is untouched, no temporary stays.
    """
    _replace_one(path, data, mode, durable)
    if durable:
        with _storage_errors("write", path):
            sync_directory(os.path.dirname(path))


def write_marker(path: str, data: bytes) -> None:
    """Write a file whose presence is its meaning, without a temporary one; durable.

    Only for markers whose readers accept any content; everything else goes through `replace`.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _NOFOLLOW | _CLOEXEC | _BINARY
    with _storage_errors("write", path):
        fd = os.open(path, flags, STATE_MODE)
        try:
            _write_all(fd, data)
            os.fsync(fd)
        finally:
            os.close(fd)
        sync_directory(os.path.dirname(path))


def replace_all(files: Iterable[tuple[str, bytes]], *, mode: int = DURABLE_MODE) -> None:
    """Write several files whole and durable; files of one folder share its sync."""
    folders: dict[str, str] = {}
    for path, data in files:
        _replace_one(path, data, mode, True)
        folders[os.path.dirname(path)] = path
    for folder, path in folders.items():
        with _storage_errors("write", path):
            sync_directory(folder)


def _replace_one(path: str, data: bytes, mode: int, durable: bool) -> None:
    temp = temp_path(path)
    with _storage_errors("write", path):
        fd = _open_temp(temp, mode)
        try:
            try:
                _write_all(fd, data)
                if durable:
                    os.fsync(fd)
            finally:
                os.close(fd)
            _rename(temp, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temp)
            raise


def _open_temp(temp: str, mode: int) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _CLOEXEC | _BINARY
    return os.open(temp, flags, mode)


def _rename(temp: str, path: str) -> None:
    if sys.platform != "win32":
        os.replace(temp, path)
        return
    for attempt in range(_WINDOWS_RENAME_TRIES):  # a reader that has the file open blocks it there
        try:
            os.replace(temp, path)
            return
        except PermissionError:
            if attempt == _WINDOWS_RENAME_TRIES - 1:
                raise
            time.sleep(0.05)


def take_space(folder: str, size: int) -> int | None:
    """Hold disk space in a file without a name; return its descriptor, None where none can be had.

    Closing it gives the space back, and so does the end of this process, however it ends.

    Raises:
        StorageError: there is not so much space.
    """
    if not _TMPFILE:
        return None
    fd = -1
    with _storage_errors("reserve space in", folder):
        try:
            fd = os.open(folder, os.O_RDWR | _TMPFILE | _CLOEXEC, STATE_MODE)
            os.posix_fallocate(fd, 0, size)
        except OSError as error:
            if fd >= 0:
                os.close(fd)
            if error.errno in _UNSUPPORTED:
                return None
            raise
    return fd


def names(folder: str) -> list[str]:
    """Return the names in a folder."""
    with _storage_errors("look into", folder):
        return os.listdir(folder)


def rename(path: str, to: str) -> None:
    """Give a file another name in its folder, durable."""
    with _storage_errors("rename", path):
        os.rename(path, to)
        sync_directory(os.path.dirname(to))


def append(path: str, lines: Iterable[str], *, mode: int = DURABLE_MODE) -> None:
    """Append lines (without newlines), one write each, then one sync.

    An unfinished last line left by a crash is ended first, so that ours is not glued to it, with
    a mark that keeps it from being read as a shorter line. A new file's name is made durable too.

    Raises:
        DamagedFileError: `path` is a link, not a regular file, or has other names.
        StorageError: the file system refused.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | _NOFOLLOW | _NONBLOCK | _CLOEXEC | _BINARY
    if os.path.islink(path):
        raise DamagedFileError(f"{path} is a symbolic link; it is not written to.")
    with _storage_errors("append to", path):
        fd = os.open(path, flags, mode)
        try:
            info = os.fstat(fd)
            if not stat.S_ISREG(info.st_mode) or info.st_nlink > 1:
                raise DamagedFileError(f"{path} is not a plain file with one name.")
            if info.st_size and _last_byte(fd, info.st_size) != b"\n":
                _write_all(fd, TORN_MARK)
            for line in lines:
                _write_all(fd, encode(line) + b"\n")
            os.fsync(fd)
        finally:
            os.close(fd)
        if info.st_size == 0:
            sync_directory(os.path.dirname(path))


def _last_byte(fd: int, size: int) -> bytes:
    os.lseek(fd, size - 1, os.SEEK_SET)
    return os.read(fd, 1)


def cut_torn_tail(path: str) -> None:
    """Remove an unfinished last line that a crash left in a ledger.

    Such a line was never durable, so nothing that was acknowledged is lost; the repeated write
    then ends in the same bytes as an undisturbed one. Call it under the run's lock.
    """
    data = read_bytes(path)
    if not data or data.endswith(b"\n"):
        return
    with _storage_errors("repair", path):
        fd = os.open(path, os.O_WRONLY | _NOFOLLOW | _CLOEXEC | _BINARY)
        try:
            if os.fstat(fd).st_nlink > 1:
                raise DamagedFileError(f"{path} is not a plain file with one name.")
            os.ftruncate(fd, data.rfind(b"\n") + 1)
            os.fsync(fd)
        finally:
            os.close(fd)


def append_missing(path: str, lines: Iterable[str]) -> None:
    """Append those lines that a ledger does not hold yet, after cutting a torn tail.

    A ledger that is not there is created, empty if there are no lines.
    """
    cut_torn_tail(path)
    held = read_bytes(path)
    known = set((held or b"").decode("utf-8", "replace").split("\n"))
    missing = [line for line in lines if line not in known]
    if missing or held is None:
        append(path, missing)


def remove(path: str, *, durable: bool = True) -> bool:
    """Remove a file (a link is removed, not followed); tell whether it was there."""
    with _storage_errors("remove", path):
        try:
            os.unlink(path)
        except FileNotFoundError:
            return False
        if durable:
            sync_directory(os.path.dirname(path))
    return True


def remove_folder(path: str) -> None:
    """Remove a folder of plain files; nothing happens if there is none."""
    if not check_directory(path):
        return
    with _storage_errors("remove", path):
        for entry in os.scandir(path):
            os.unlink(entry.path)
        os.rmdir(path)
        sync_directory(os.path.dirname(path))


def temps(folder: str) -> list[str]:
    """Return the names of temporary files in a folder."""
    if not check_directory(folder):
        return []
    return [name for name in names(folder) if name.startswith(".") and name.endswith(TEMP_SUFFIX)]


def remove_temps(folder: str, prefix: str, listed: Iterable[str]) -> None:
    """Remove those of the listed temporary files that begin so; under their owner's lock only."""
    for name in listed:
        if name.startswith(prefix):
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder, name))


def sweep_temps(folder: str, prefix: str = ".") -> None:
    """Remove temporary files a crash left behind; call it under the lock of their owner only."""
    remove_temps(folder, prefix, temps(folder))
