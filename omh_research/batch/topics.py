"""The topics of a batch: a text file (a topic a line), YAML or JSON lines (spec S1).

Job: read them, each with the options it brings, keep a broken one as a broken one. Refuses to stop
at a bad row: it becomes a topic that fails by itself; a file that as a whole is none of these is an
error. Importers: cli, batch.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from omh_research.documents.names import fold_topic, kebab
from omh_research.documents.options import RunOptions, to_plain
from omh_research.documents.yaml_text import MAX_YAML_BYTES, YamlRefused, read_yaml
from omh_research.errors import OmhError, UsageError

MAX_FILE_BYTES = 64_000_000
MAX_TOPICS = 100_000
MAX_TOPIC_CHARS = 4_000  # as `start` takes; a longer one is kept cut, with its problem


class Topic(Struct, frozen=True):
    """One topic with its delegate and options; `problem` says why it cannot be started."""

    topic: str
    delegate: str
    options: RunOptions
    problem: str = ""


def read_topics(path: str, root: str, delegate: str, defaults: RunOptions) -> tuple[Topic, ...]:
    """Return the topics of a file, each once (the first of equal ones stays).

    Raises:
        UsageError: the file cannot be read, is no text of its kind, or holds no topic.
    """
    text = _read_text(path)
    base = os.path.dirname(os.path.abspath(path))
    topics: dict[str, Topic] = {}
    default = Topic("", delegate, defaults)
    for row in _rows(text, path):
        topic = _topic(row, base, root, default)
        topics.setdefault(fold_topic(topic.topic) or f"#{len(topics)}", topic)
        if len(topics) > MAX_TOPICS:
            raise UsageError(f"{path} holds more than {MAX_TOPICS} topics.", hint="Split it.")
    if not topics:
        raise UsageError(f"{path} holds no topic.", hint="Write one a line; # begins a comment.")
    return tuple(topics.values())


def _read_text(path: str) -> str:
    try:
        with open(path, "rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise UsageError(f"Cannot read {path}: {error.strerror}.") from None
    if len(data) > MAX_FILE_BYTES:
        raise UsageError(f"{path} is larger than {MAX_FILE_BYTES} bytes.", hint="Split it.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is not UTF-8 text (byte {error.start}).", hint="Save it as UTF-8."
        ) from None
    if "\0" in text:
        raise UsageError(f"{path} is not a text file (it holds NUL bytes).")
    return text


def _rows(text: str, path: str) -> Iterator[Any]:
    suffix = os.path.splitext(path)[1].lower()
    if suffix in (".yaml", ".yml", ".json"):
        yield from _document_rows(text, path, suffix)
        return
    is_json = suffix in (".jsonl", ".ndjson")
    for number, raw in enumerate(io.StringIO(text, newline="\n"), 1):  # no second copy of all lines
        line = raw.strip()
        if line and is_json:
            yield _json_row(line, number)
        elif line and not line.startswith("#"):
            yield line


def _json_row(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        return {"topic": f"line {number}", "problem": f"line {number} is not JSON: {error}"[:200]}


def _document_rows(text: str, path: str, suffix: str) -> list[Any]:
    try:
        value = json.loads(text) if suffix == ".json" else read_yaml(text)
    except (YamlRefused, ValueError, RecursionError) as error:
        big = len(text) > MAX_YAML_BYTES // 2 and suffix != ".json"
        hint = "JSON lines (.jsonl) take any number of topics." if big else ""
        reason = str(error) or type(error).__name__
        raise UsageError(f"{path}: {reason[:300]}.", hint=hint) from None
    found = value.get("topics") if isinstance(value, dict) else value
    if not isinstance(found, list):
        raise UsageError(
            f"{path}: a list of topics is expected.", hint="Either at the top or under `topics:`."
        )
    return found


def _topic(row: Any, base: str, root: str, default: Topic) -> Topic:
    from omh_research.batch.topic_options import read_options, unknown_keys

    if isinstance(row, str):
        return replace(default, topic=_clean(row), problem=_too_long(row))
    if not isinstance(row, dict) or not isinstance(row.get("topic"), str):
        return replace(default, topic=_clean(str(row)[:200]), problem=NO_TOPIC)
    topic = replace(default, topic=_clean(row["topic"]), problem=_too_long(row["topic"]))
    if topic.problem:
        return topic
    if row.get("problem"):
        return replace(topic, problem=str(row["problem"])[:300])
    unknown = unknown_keys(row)
    if unknown:
        return replace(topic, problem=f"unknown option: {', '.join(unknown)}"[:300])
    try:
        delegate, options = read_options(row, base, root, default)
    except (OmhError, OSError, ValueError, TypeError, RecursionError) as error:
        return replace(topic, problem=(str(error) or type(error).__name__)[:300])
    return replace(topic, delegate=delegate, options=options)


NO_TOPIC = "a topic is a text or a mapping with `topic`"


def _too_long(topic: str) -> str:
    length = len(" ".join(topic.split()))
    if length <= MAX_TOPIC_CHARS:
        return ""
    return f"the topic has {length} characters; at most {MAX_TOPIC_CHARS} are taken"


def _clean(topic: str) -> str:
    """Fold white space; a lone surrogate from JSON, which is no text, becomes `?`."""
    folded = " ".join(topic.split())[: MAX_TOPIC_CHARS + 1]
    return folded.encode("utf-8", "replace").decode("utf-8")


def batch_id(path: str, topics: tuple[Topic, ...]) -> str:
    """Return the batch's id: the same file with the same options is the same batch."""
    facts = [[topic.topic, topic.delegate, to_plain(topic.options)] for topic in topics]
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:10]
    name = kebab(os.path.splitext(os.path.basename(path))[0], 30) or "batch"
    return f"{name}-{digest}"
