"""The block between `---` lines at the head of plan, findings and report files.

Job: read it strictly and write it so that every YAML reader sees the same strings. Refuses what
readers disagree about (anchors, aliases, tags, merges, directives, duplicate keys, a missing
fence) instead of guessing, because `status: confirmed` is a promise to other programs (spec E34,
81-reliability section 4). Every scalar is read as a string; nothing here knows what a key means.
The only importer of yaml is `omh_research.documents.yaml_text`. Importers: documents, store,
roles, literature, cli.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from omh_research.documents.yaml_text import MAX_YAML_BYTES, YamlRefused, read_yaml
from omh_research.errors import DamagedFileError
from omh_research.lazy_re import is_unprintable, lazy_re

_FENCE = lazy_re(r"---[ \t]*\r?\n")
_CLOSING = lazy_re(r"^---[ \t]*(?=\r?$)", re.MULTILINE)
_GAP = lazy_re(r"\r?\n(?:\r?\n)?")  # the end of the fence line, then one blank line
_CLOSING_LOOSE = lazy_re(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)
_STATUS_LINE = lazy_re(r"^status:[^\r\n]*", re.MULTILINE)
_WORD = lazy_re(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
_KEY = lazy_re(r"[A-Za-z_][A-Za-z0-9_-]*")
# Words that a YAML 1.1 reader takes for a boolean or null.
_NOT_PLAIN = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
# What JSON leaves raw but YAML refuses, folds or hides: C1 controls, line separators, byte order
# marks, bidirectional controls, noncharacters.
_TO_ESCAPE = lazy_re(
    "[\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]",
    guard=is_unprintable,
)
_SURROGATE = lazy_re("[\ud800-\udfff]", beyond_ascii=True)
_BLOCK_LINE = lazy_re(r"[ \t]*(?:#.*|-(?:[ \t].*)?|\?[ \t].*|[\w\"'<][^:\n]{0,120}:(?:[ \t].*)?)?")


def parse(text: str, *, where: str) -> tuple[dict[str, object], str]:
    """Return (metadata, body) of a file's `text`.

    Values are strings, lists and dicts of them. The body comes back as it stands in the file,
    without the one blank line that `render` puts before it. `where` names the file in errors.
    Raises DamagedFileError when there is no block, it is not closed, over 64 kB, or breaks one of
    the rules above; the message names the rule.
    """
    block, body = _split(text, where)
    try:
        meta = read_yaml(block.replace("\r\n", "\n"))
    except YamlRefused as error:
        raise _damaged(where, str(error)) from error
    if not isinstance(meta, dict):
        raise _damaged(where, "the frontmatter is not a list of `key: value` lines")
    return meta, body


def render(meta: Mapping[str, object], body: str) -> str:
    """Return the file text: `meta` in the given order between fences, a blank line, `body` as is.

    Values are str, int, bool, and lists or mappings of them. A plain word (`draft`) is written
    unquoted, every other string in JSON's double quotes, which any YAML reader reads back to the
    same string. Raises ValueError for a value outside this, a key that is not a plain word, or a
    block over 64 kB (it could not be read again).
    """
    block = "".join(f"{line}\n" for key, value in meta.items() for line in _entry(key, value))
    if len(block.encode()) > MAX_YAML_BYTES:
        raise ValueError(f"frontmatter over {MAX_YAML_BYTES} bytes")
    return f"---\n{block}---\n\n{body}"


def strip_leading_block(text: str) -> tuple[str, bool]:
    """Return (`text` without one leading frontmatter block, whether there was one) (E26).

    For answers of delegates: the block is recognised by its look, never interpreted, so that a
    hostile one goes as well. Text between two horizontal rules is no block and stays.
    """
    start = len(text) - len(text.lstrip("\ufeff \t\r\n"))
    fence = _FENCE.match(text, start)
    if not fence:
        return text, False
    closing = _CLOSING_LOOSE.search(text, fence.end())
    if not closing or closing.start() - fence.end() > MAX_YAML_BYTES:
        return text, False
    lines = text[fence.end() : closing.start()].split("\n")
    if not all(_BLOCK_LINE.fullmatch(line.rstrip("\r")) for line in lines):
        return text, False
    return text[closing.end() :].lstrip("\r\n"), True


def set_status(text: str, status: str, *, where: str = "report") -> str:
    """Return `text` with the value of its `status:` line replaced and every other byte kept.

    `status` is a plain word (`draft`, `confirmed`). Raises DamagedFileError when the frontmatter
    does not read under the rules or has no status line of its own.
    """
    if not _WORD.fullmatch(status) or status in _NOT_PLAIN:
        raise ValueError(f"not a status word: {status!r}")
    meta, _ = parse(text, where=where)
    block, _ = _split(text, where)
    start = text.index(block) if block else 0
    line = _STATUS_LINE.search(text, start, start + len(block))
    if not line or not isinstance(meta.get("status"), str):
        raise _damaged(where, "there is no `status:` line")
    changed = f"{text[: line.start()]}status: {status}{text[line.end() :]}"
    if parse(changed, where=where)[0] != {**meta, "status": status}:
        raise _damaged(where, "the `status:` value does not stand on its own line")
    return changed


def _split(text: str, where: str) -> tuple[str, str]:
    """Return (block, body) as they stand in `text`."""
    start = 1 if text.startswith("\ufeff") else 0
    fence = _FENCE.match(text, start)
    if not fence:
        raise _damaged(where, "it does not begin with a `---` line")
    closing = _CLOSING.search(text, fence.end())
    if not closing:
        raise _damaged(where, "its frontmatter has no closing `---` line")
    block = text[fence.end() : closing.start()]
    gap = _GAP.match(text, closing.end())
    return block, text[gap.end() if gap else closing.end() :]


def _damaged(where: str, reason: str) -> DamagedFileError:
    return DamagedFileError(
        f"{where}: {reason}.", hint="The file was left as it is; mend it or clear the run."
    )


def _entry(key: str, value: object) -> Iterator[str]:
    """Yield the lines of one top-level key."""
    name = _checked_key(key)
    if isinstance(value, Mapping) and value:
        yield f"{name}:"
        for inner, item in value.items():
            yield f"  {_checked_key(inner)}: {_flow(item)}"
    elif isinstance(value, list | tuple) and value:
        yield f"{name}:"
        for item in value:
            yield from _list_item(item)
    else:
        yield f"{name}: {_flow(value)}"


def _list_item(item: object) -> Iterator[str]:
    if not isinstance(item, Mapping) or not item:
        yield f"  - {_flow(item)}"
        return
    lead = "- "
    for key, value in item.items():
        yield f"  {lead}{_checked_key(key)}: {_flow(value)}"
        lead = "  "


def _flow(value: object) -> str:
    """Return `value` on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return quote_scalar(value)
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{_checked_key(key)}: {_flow(item)}" for key, item in value.items())
        return f"{{{pairs}}}"
    if isinstance(value, list | tuple):
        items = ", ".join(_flow(item) for item in value)
        return f"[{items}]"
    raise ValueError(f"frontmatter cannot hold a {type(value).__name__}")


def quote_scalar(text: str) -> str:
    """Return `text` as a YAML scalar that every YAML 1.1 reader reads back to the same string.

    A lone surrogate is no text in UTF-8 and becomes U+FFFD.
    """
    if _WORD.fullmatch(text) and text not in _NOT_PLAIN:
        return text
    quoted = json.dumps(_SURROGATE.sub("\ufffd", text), ensure_ascii=False)
    return _TO_ESCAPE.sub(lambda match: f"\\u{ord(match[0]):04x}", quoted)


def _checked_key(key: object) -> str:
    """Return `key` as it is written: quoted where YAML 1.1 would take it for a boolean (`n`)."""
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise ValueError(f"not a frontmatter key: {key!r}")
    return f'"{key}"' if key.lower() in _NOT_PLAIN else key
