"""Who may advance a run, between machines: a claim on its heartbeat file (spec S3, O4).

Job: claim the file so that of many takers one wins, keep it fresh, give it up, take it over from a
machine that has gone silent. Between processes of one machine the kernel lock decides, and is taken
before. Nothing here is durable: a claim that a power cut loses was nobody's any more. Refuses to
trust a clock: a claim's age is measured by the file system's own. Importers: holding.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from typing import Literal, NamedTuple

from omh_research.errors import BusyError, OmhError, StorageError
from omh_research.store import disk
from omh_research.store.heartbeat import Heartbeat, own_host, parse_heartbeat

MAX_BYTES = 10_000
SETTLE_S = 0.2
MARKER_S = 10.0
Made = Literal["whole", "in place", "there"]
_FLAGS = os.O_RDWR
for _name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
    _FLAGS |= getattr(os, _name, 0)


class HeldElsewhere(BusyError):
    """Another machine has the run; `beat` is its heartbeat, None if it came this very moment."""

    def __init__(self, beat: Heartbeat | None) -> None:
        super().__init__("The run is held by another machine.")
        self.beat = beat


class Claimed(NamedTuple):
    """What was met: `silent`, another machine's stale claim; `is_clean`, nothing at all."""

    silent: Heartbeat | None
    is_clean: bool


def claim(path: str, data: bytes) -> Claimed:
    """Put `data` at `path` as this process's claim; its kernel lock is taken before.

    A claim that this machine left behind is replaced. One that cannot be written holds up nothing:
    it is for other machines, which cannot write either.

    Raises:
        HeldElsewhere: another machine's claim is fresh, or was faster.
    """
    _remove(_own_aside(path, ".age"))
    with contextlib.suppress(StorageError):
        made = _create(path, data)
        if made == "in place" and not _has_settled(path, data):
            raise HeldElsewhere(parse_heartbeat(_read(path)))
        if made == "there":
            return Claimed(_take_over(path, data), False)
        return Claimed(None, True)
    return Claimed(None, False)


def _take_over(path: str, data: bytes) -> Heartbeat | None:
    """Put our claim in place of a stale one; return that one if it was another machine's.

    Of all that saw the same stale claim only the one that makes the marker named after it may
    replace it; who comes late finds another claim there.
    """
    found = _read(path)
    beat = parse_heartbeat(found)
    is_foreign = beat is not None and beat.host != own_host()
    is_fresh = _age_s(path) < (beat or Heartbeat()).lease_s
    if is_foreign and is_fresh:
        raise HeldElsewhere(beat)
    # Our own machine's fresh one is nobody else's to take, and the kernel lock is ours.
    marker = "" if is_fresh else _mark(path, found, beat)
    try:
        if _read(path) != found or (found is None and not os.path.lexists(path)):
            raise HeldElsewhere(parse_heartbeat(_read(path)))
        _put(path, data)
    finally:
        if marker:
            _remove(marker)
    return beat if is_foreign else None


def _mark(path: str, found: bytes | None, beat: Heartbeat | None) -> str:
    """Make the marker of a stale claim, named after what it says; return its path."""
    folder, name = os.path.split(path)
    digest = hashlib.sha256(found or b"").hexdigest()[:16]
    marker = os.path.join(folder, f".{name}.{digest}.tmp")
    try:
        _write_new(marker, b"")
    except FileExistsError:
        if _age_s(marker) > MARKER_S:  # its maker died: the next taker may
            _remove(marker)
        raise HeldElsewhere(beat) from None
    except OSError as error:
        raise StorageError(f"Cannot write {name}: {error.strerror}.") from error
    return marker


def _put(path: str, data: bytes) -> None:
    aside = _own_aside(path)
    _remove(aside)
    try:
        _write_new(aside, data)
        os.replace(aside, path)
    except OSError as error:  # such as a hostile tree's folder: there is no claim to be had
        name = os.path.basename(path)
        raise StorageError(f"Cannot write {name}: {error.strerror}.") from error
    finally:
        _remove(aside)


def _has_settled(path: str, data: bytes) -> bool:
    """Look again after a moment: somebody may have met our claim before it was whole."""
    time.sleep(SETTLE_S)
    return _read(path) == data


def refresh(path: str, known: bytes, data: bytes) -> bool:
    """Overwrite a claim in place if it still says `known`; tell whether it is still ours.

    Both have one length. Whoever took the claim over has another file: it is never overwritten,
    however long this process slept between looking and writing.
    """
    try:
        fd = os.open(path, _FLAGS)
    except OSError:
        return False
    try:
        if os.read(fd, MAX_BYTES) != known or os.fstat(fd).st_nlink > 1:
            return False
        os.lseek(fd, 0, os.SEEK_SET)
        os.write(fd, data)
        return True
    except OSError:
        return True  # ours, but not to be written now: the next beat may be
    finally:
        os.close(fd)


def give_up(path: str, known: bytes) -> None:
    """Remove our own claim, if it still is ours."""
    if _read(path) == known:
        _remove(path)


def _own_aside(path: str, use: str = "") -> str:
    """Return this machine's temporary name for a claim: under the kernel lock nobody else's.

    It is always the same, so that what a crash leaves of it is gone with the next claim.
    """
    folder, name = os.path.split(path)
    host = hashlib.sha256(own_host().encode("utf-8", "replace")).hexdigest()[:12]
    return os.path.join(folder, f".{name}.{host}{use}.tmp")


def _create(path: str, data: bytes) -> Made:
    """Create the file whole, or tell that one is there: a link is atomic on network folders."""
    aside = _own_aside(path)
    _remove(aside)
    try:
        _write_new(aside, data)
        os.link(aside, path)
        return "whole"
    except FileExistsError:
        return "there"
    except (OSError, AttributeError):
        return _create_in_place(path, data)
    finally:
        _remove(aside)


def _create_in_place(path: str, data: bytes) -> Made:
    """Create it where there are no hard links: as exclusive, but not whole at once."""
    try:
        _write_new(path, data)
        return "in place"
    except FileExistsError:
        return "there"
    except OSError as error:
        raise StorageError(f"Cannot write {os.path.basename(path)}: {error.strerror}.") from error


def _write_new(path: str, data: bytes) -> None:
    fd = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, disk.STATE_MODE)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)


def _read(path: str) -> bytes | None:
    try:
        return disk.read_bytes(path, max_bytes=MAX_BYTES)
    except OmhError:
        return None


def _age_s(path: str) -> float:
    """Return how far from now a file was written, by the folder's own clock; endless if unknown."""
    aside = _own_aside(path, ".age")
    _remove(aside)
    try:
        _write_new(aside, b"")
        return abs(os.lstat(aside).st_mtime - os.lstat(path).st_mtime)
    except OSError:
        return float("inf")
    finally:
        _remove(aside)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
