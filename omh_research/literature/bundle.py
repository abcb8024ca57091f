"""A bundle on disk: written aside and renamed into place; an old one replaced only on demand.

Job: every write of a bundle, and the rule that its path lies within the scope root (B10, B15).
Refuses to write through links, into a folder that is there, or to remove a folder that holds
anything but a bundle. Importers: literature, cli.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from collections.abc import Mapping

from omh_research.errors import StorageError, UsageError
from omh_research.literature.building import BuiltBundle
from omh_research.literature.files import replace_all, sync_directory
from omh_research.literature.manifest import to_json
from omh_research.literature.rls_contract import ARTIFACTS, MANIFEST

STALE_S = 86_400
_OWN_FILES = frozenset({MANIFEST, *ARTIFACTS.values()})


def check_in_scope(path: str, scope_root: str | None, what: str) -> str:
    """Return the absolute path of `path`, refused when it leaves `scope_root` (links resolved).

    Raises:
        UsageError: outside the scope root, or no usable path; nothing was written.
    """
    if not path.strip() or "\0" in path:
        raise UsageError(f"{what}: no usable path.")
    absolute = os.path.abspath(path)
    if scope_root is None:
        return absolute
    root, real = os.path.realpath(scope_root), os.path.realpath(absolute)
    if real != root and not real.startswith(root.rstrip(os.sep) + os.sep):
        raise UsageError(
            f"{what} lies outside the scope root.", hint="Choose a path inside --scope-root."
        )
    return absolute


def check_free(folder: str, *, force: bool) -> None:
    """Refuse a place that is taken, before anything is spent on a run.

    Raises:
        UsageError: something is there and `force` is off, or it is no bundle.
        StorageError: the folder cannot be listed.
    """
    if not os.path.lexists(folder):
        return
    if os.path.islink(folder) or not os.path.isdir(folder):
        raise UsageError(f"{os.path.basename(folder)} is there and is no folder.")
    try:
        names = set(os.listdir(folder))
    except OSError as error:
        raise StorageError(
            f"Cannot look into {os.path.basename(folder)}: {error.strerror}."
        ) from error
    if not names:
        return
    if not force:
        raise UsageError(
            f"{os.path.basename(folder)} is there already.",
            hint="Choose another folder, or replace the bundle with --force.",
        )
    strays = sorted(names - _OWN_FILES)
    if strays or MANIFEST not in names:
        what = f"holds {strays[0]}" if strays else "holds no manifest"
        raise UsageError(
            f"{os.path.basename(folder)} {what}: not a bundle, so it is not replaced.",
            hint="Choose another folder.",
        )


def write_bundle(built: BuiltBundle, folder: str, *, force: bool = False) -> None:
    """Write a bundle so that it is there whole or not at all.

    Raises:
        UsageError: the place is taken (see `check_free`).
        StorageError: the file system refused; the place is as it was.
    """
    check_free(folder, force=force)
    parent = os.path.dirname(folder)
    aside = os.path.join(parent, f".{os.path.basename(folder)[:100]}.{os.getpid():x}.building")
    files = {**built.files, MANIFEST: to_json(built.manifest)}
    try:
        os.makedirs(parent, exist_ok=True)
        _remove_aside(aside)
        _sweep(parent, os.path.basename(folder))
        os.mkdir(aside)
        _fill(aside, files)
        _swap_in(aside, folder)
        sync_directory(parent)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageError(f"Cannot write the bundle: {reason}.") from error
    finally:
        _remove_aside(aside)


def _fill(aside: str, files: Mapping[str, bytes]) -> None:
    # The manifest last: a folder without one is no bundle.
    names = [name for name in files if name != MANIFEST] + [MANIFEST]
    replace_all((os.path.join(aside, name), files[name]) for name in names)


def _swap_in(aside: str, folder: str) -> None:
    """Rename the finished folder into place; it takes an old bundle's place in one step.

    Where the system cannot exchange two names, the old bundle steps aside first and is put back
    if the second rename fails.
    """
    if not os.path.lexists(folder):
        os.rename(aside, folder)
        return
    if _exchange(aside, folder):
        return
    old = f"{aside}.old"
    os.rename(folder, old)
    try:
        os.rename(aside, folder)
    except OSError:
        os.rename(old, folder)
        raise
    _remove_aside(old)


def _exchange(one: str, other: str) -> bool:
    """Exchange two names atomically (Linux renameat2); False where that cannot be done."""
    if sys.platform != "linux":
        return False
    import ctypes

    at_cwd, exchange = -100, 2
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    done: int = renameat2(at_cwd, os.fsencode(one), at_cwd, os.fsencode(other), exchange)
    return done == 0


def _sweep(parent: str, name: str) -> None:
    """Remove what a crashed run of this bundle left, once no run can still be building there."""
    pattern = re.compile(rf"\.{re.escape(name[:100])}\.[0-9a-f]+\.building")
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            is_old = entry.stat(follow_symlinks=False).st_mtime < time.time() - STALE_S
            if pattern.fullmatch(entry.name) and is_old and entry.is_dir(follow_symlinks=False):
                _remove_aside(entry.path)


def _remove_aside(folder: str) -> None:
    """Remove a folder of ours and the plain files in it."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
