"""The sentinel: is a report confirmed? (spec E34)

Job: read only the head of a report file and say its status, strictly: the first frontmatter block
must be closed, hold one `status:` line, and that line must read exactly `status: confirmed`.
Refuses YAML, refuses to import anything heavy: other programs poll this. Importers: everybody.
"""

from __future__ import annotations

import os
import stat

from omh_research.lazy_re import lazy_re

HEAD_BYTES = 65_536
_STATUS = lazy_re(rb"""(?m)^(?:["']?status["']?)\s*:.*$""")
_EXACT = lazy_re(rb"status: ([a-z]+)")
_SLUG = lazy_re(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def read_status(path: str) -> str | None:
    """Return the status word in a report's head, or None if there is no report.

    "damaged" stands for a file whose head is no frontmatter block with exactly one plain status
    line; it is never "confirmed".
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        fd = os.open(path, flags | getattr(os, "O_BINARY", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return "damaged"
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return "damaged"
        head = os.read(fd, HEAD_BYTES)
    finally:
        os.close(fd)
    return status_of(head)


def status_of(head: bytes) -> str:
    """Return the status word of a report's first bytes, or "damaged"."""
    head = head[:HEAD_BYTES].replace(b"\r\n", b"\n")
    if not head.startswith(b"---\n"):
        return "damaged"
    end = head.find(b"\n---\n", 3)
    if end < 0:
        return "damaged"
    lines = _STATUS.findall(head[4 : end + 1])
    exact = _EXACT.fullmatch(lines[0]) if len(lines) == 1 else None
    return "damaged" if exact is None else exact[1].decode("ascii")


def is_confirmed(root: str, slug: str) -> bool:
    """Tell whether `{root}/.omh/research/{slug}-report.md` is a confirmed report."""
    if len(slug) > 80 or not _SLUG.fullmatch(slug):
        return False
    folder = os.path.join(root, ".omh", "research")
    if os.path.islink(folder) or os.path.islink(os.path.dirname(folder)):
        return False
    return read_status(os.path.join(folder, f"{slug}-report.md")) == "confirmed"
