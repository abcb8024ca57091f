"""The topics of a batch: a text file (a topic a line), YAML or JSON lines (spec S1).

Job: read them, each with the options it brings, keep a broken one as a broken one. Refuses to stop
at a bad row: it becomes a topic that fails by itself. Importers: cli, batch.runner.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from omh_research.documents.names import fold_topic, kebab
from omh_research.documents.options import RunOptions, to_plain
from omh_research.documents.plan import parse_plan_file
from omh_research.documents.yaml_text import YamlRefused, read_yaml
from omh_research.errors import OmhError, UsageError

MAX_FILE_BYTES = 64_000_000
_KEYS = ("topic", "plan", "subtopics", "corpus", "bundle", "language", "delegate", "caps",
         "panel", "rounds")  # fmt: skip


class Topic(Struct, frozen=True):
    """One topic with its delegate and options; `problem` says why it cannot be started."""

    topic: str
    delegate: str
    options: RunOptions
    problem: str = ""


def read_topics(path: str, root: str, delegate: str, defaults: RunOptions) -> tuple[Topic, ...]:
    """Return the topics of a file, each once (the first of equal ones stays).

    Raises:
        UsageError: the file cannot be read, or holds no topic.
    """
    try:
        with open(path, "rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"Cannot read {path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text.") from None
    if len(data) > MAX_FILE_BYTES:
        raise UsageError(f"{path} is larger than {MAX_FILE_BYTES} bytes.")
    base = os.path.dirname(os.path.abspath(path))
    rows = _rows(text, path)
    topics: dict[str, Topic] = {}
    for row in rows:
        topic = _topic(row, base, root, Topic("", delegate, defaults))
        topics.setdefault(fold_topic(topic.topic) or f"#{len(topics)}", topic)
    if not topics:
        raise UsageError(f"{path} holds no topic.")
    return tuple(topics.values())


def _rows(text: str, path: str) -> list[Any]:
    suffix = os.path.splitext(path)[1].lower()
    if suffix in (".jsonl", ".ndjson"):
        rows: list[Any] = []
        for line in text.split("\n"):
            if line.strip():
                try:
                    rows.append(json.loads(line))
                except (ValueError, RecursionError) as error:
                    rows.append({"topic": line[:200], "problem": f"not JSON: {error}"})
        return rows
    if suffix in (".yaml", ".yml", ".json"):
        try:
            value = json.loads(text) if suffix == ".json" else read_yaml(text)
        except (YamlRefused, ValueError, RecursionError) as error:
            raise UsageError(f"{path}: {error}.") from None
        found = value.get("topics") if isinstance(value, dict) else value
        if not isinstance(found, list):
            raise UsageError(f"{path}: a list of topics is expected.")
        return found
    lines = [line.strip() for line in text.split("\n")]
    return [line for line in lines if line and not line.startswith("#")]


def _topic(row: Any, base: str, root: str, default: Topic) -> Topic:
    if isinstance(row, str):
        return replace(default, topic=" ".join(row.split()))
    if not isinstance(row, dict) or not isinstance(row.get("topic"), str):
        return replace(default, topic=str(row)[:200], problem="a topic is a text or has `topic`")
    topic = replace(default, topic=" ".join(row["topic"].split()))
    if row.get("problem"):
        return replace(topic, problem=str(row["problem"]))
    unknown = sorted(str(key) for key in row if key not in _KEYS)
    if unknown:
        return replace(topic, problem=f"unknown option: {', '.join(unknown)}")
    try:
        options = _options(row, base, root, default.options)
    except (OmhError, ValueError, TypeError) as error:
        return replace(topic, problem=str(error) or type(error).__name__)
    return replace(topic, delegate=str(row.get("delegate") or default.delegate), options=options)


def _options(row: Mapping[str, Any], base: str, root: str, options: RunOptions) -> RunOptions:
    from omh_research.cli.run_options import stored_path

    changes: dict[str, Any] = {}
    corpus = row.get("corpus")
    if corpus:
        paths = [corpus] if isinstance(corpus, str) else list(corpus)
        changes["corpus"] = tuple(stored_path(root, os.path.join(base, str(p))) for p in paths)
    if row.get("bundle"):
        changes["bundle"] = stored_path(root, os.path.join(base, str(row["bundle"])))
    if row.get("language"):
        changes["language"] = str(row["language"])
    if row.get("caps"):
        changes["caps"] = {str(key): float(value) for key, value in dict(row["caps"]).items()}
    for name in ("panel", "rounds"):
        if row.get(name):
            changes[name] = int(row[name])
    plan = row.get("subtopics")
    if row.get("plan"):
        with open(os.path.join(base, str(row["plan"])), "rb") as stream:
            subtopics = parse_plan_file(stream.read(1_000_001), str(row["plan"]))
    elif plan is not None:
        document = json.dumps({"subtopics": plan}).encode()
        subtopics = parse_plan_file(document, "subtopics")
    else:
        subtopics = ()
    if subtopics:
        changes["subtopics"] = tuple((item.name, item.queries) for item in subtopics)
    return replace(options, **changes)


def batch_id(path: str, topics: tuple[Topic, ...]) -> str:
    """Return the batch's id: the same file with the same options is the same batch."""
    facts = [[topic.topic, topic.delegate, to_plain(topic.options)] for topic in topics]
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:10]
    name = kebab(os.path.splitext(os.path.basename(path))[0], 30) or "batch"
    return f"{name}-{digest}"
