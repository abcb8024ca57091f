"""Names that become file names: slugs, findings stems, task ids; and the folded form of a topic.

Job: turn any text into a safe, readable, deterministic name, and refuse a name given from outside
that is not exactly in that form (spec E5-E7, E10). Refuses to touch paths or to draw random
numbers: today's date and the random part are handed in. Everybody may import it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from omh_research.errors import UsageError
from omh_research.lazy_re import lazy_re
from omh_research.unicode_form import unicode_form

SLUG_CHARS = 40
STEM_CHARS = 60
MAX_SLUG_CHARS = 80
MAX_TASK_ID_CHARS = 200
FOLLOWUP_STEM = "_followup"

_SLUG = lazy_re(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_TASK_ID = lazy_re(r"[a-z0-9]+(?:[-_.]+[a-z0-9]+)*")
_NOT_ALNUM = lazy_re(r"[^a-z0-9]+")
_DATE = lazy_re(r"[0-9]{8}")
_RAND4 = lazy_re(r"[0-9a-f]{4}")
_RESERVED_ON_WINDOWS = lazy_re(r"con|prn|aux|nul|conin|conout|(?:com|lpt)[0-9]")
# Outer marks that do not make another topic; `#`, `+`, `%` and the like do ("C" is not "C#").
_OUTER_MARKS = frozenset(".,;:!?'\"`…¿¡·。、，；：！？؟،؛।॥/\\|*_~")
_OUTER_CATEGORIES = frozenset(("Ps", "Pe", "Pi", "Pf", "Pd", "Zs", "Zl", "Zp", "Cc", "Cf"))


def check_decoded(text: str, what: str) -> None:
    """Refuse a text from the command line that Python could not decode under the locale.

    Such bytes come as the code points U+DC80 to U+DCFF (PEP 383).

    Raises:
        UsageError: it holds one; the hint says what to set.
    """
    if any(0xDC80 <= ord(char) <= 0xDCFF for char in text):
        raise UsageError(
            f"The {what} is not text under this locale: its bytes are not what the locale "
            "expects (UTF-8 under the C locale, say).",
            hint="Set PYTHONUTF8=1, or a UTF-8 locale such as LC_ALL=C.UTF-8.",
        )


def kebab(text: str, limit: int) -> str:
    """Return `text` as lower-case ASCII words joined by `-`, at most `limit` characters (E5).

    Accents are dropped and other scripts transliterated, so that a Chinese, Arabic or Greek
    topic stays readable. Text without any letter or digit gives "".
    """
    ascii_text = text if text.isascii() else _transliterate(text)
    return _NOT_ALNUM.sub("-", ascii_text.lower()).strip("-")[:limit].strip("-")


def _transliterate(text: str) -> str:
    from anyascii import anyascii

    folded = "".join(char for char in text if not 0xD800 <= ord(char) <= 0xDFFF)
    return anyascii(unicode_form("NFKC", folded))


def make_slug(topic: str, today: str, rand4: str) -> str:
    """Return the slug `kebab(topic)[:40]-YYYYMMDD-rand4` (E5).

    `today` is eight digits, `rand4` four lower-case hex digits; anything else is a programming
    error (ValueError). A topic without letters or digits becomes `topic`.
    """
    if not _DATE.fullmatch(today) or not _RAND4.fullmatch(rand4):
        raise ValueError(f"a slug needs YYYYMMDD and 4 hex digits, not {today!r} and {rand4!r}")
    return f"{kebab(topic, SLUG_CHARS) or 'topic'}-{today}-{rand4}"


def check_slug(text: str) -> str:
    """Return `text` if it is a well-formed slug of at most 80 characters, else raise UsageError.

    Every slug that comes from outside (argument, state file, file name) passes here before any
    path is built (E7).
    """
    if len(text) > MAX_SLUG_CHARS or not _SLUG.fullmatch(text):
        raise UsageError(
            f"not a slug: {_shown(text)}.",
            hint="A slug is lower-case letters, digits and single hyphens, at most 80 characters; "
            "`omh-research status` lists the known ones.",
        )
    return text


def check_task_id(text: str) -> str:
    """Return `text` if it has the form of a task id, else raise UsageError (E7).

    The form has no separator of paths and neither begins nor ends with a dot, so a task id that
    passes names a file inside its folder.
    """
    if len(text) > MAX_TASK_ID_CHARS or ".." in text or not _TASK_ID.fullmatch(text):
        raise UsageError(
            f"not a task id: {_shown(text)}.",
            hint="`omh-research next SLUG --json` lists the ids that wait for an answer.",
        )
    return text


def finding_stems(names: Sequence[str]) -> tuple[str, ...]:
    """Return one findings file stem per subtopic name, in plan order (E6).

    A stem taken by an earlier subtopic gets `-2`, `-3`, ...: appending subtopics to a plan never
    renames the earlier ones. `_followup` cannot come up, a kebab has no underscore.
    """
    taken: set[str] = set()
    stems: list[str] = []
    for name in names:
        base = kebab(name, STEM_CHARS) or "subtopic"
        if _RESERVED_ON_WINDOWS.fullmatch(base):
            base = f"subtopic-{base}"
        stem, count = base, 1
        while stem in taken:
            count += 1
            stem = f"{base}-{count}"
        taken.add(stem)
        stems.append(stem)
    return tuple(stems)


def fold_topic(text: str) -> str:
    """Return the form under which two topics are the same one (E10).

    NFKC, case folded, whitespace runs to one space, outer punctuation off. A topic that is
    nothing but punctuation keeps it.
    """
    folded = unicode_form("NFKC", unicode_form("NFKC", text).casefold())
    folded = " ".join(folded.split())
    start, end = 0, len(folded)
    while start < end and _is_outer(folded[start]):
        start += 1
    while end > start and _is_outer(folded[end - 1]):
        end -= 1
    return folded[start:end] or folded


def _is_outer(char: str) -> bool:
    return char in _OUTER_MARKS or unicodedata.category(char) in _OUTER_CATEGORIES


def _shown(text: str) -> str:
    """Return a short ASCII form of hostile text for an error line."""
    return ascii(text if len(text) <= 60 else text[:60] + "…")
