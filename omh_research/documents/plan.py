"""Plans: subtopics with their queries, from a file, an option or a planner's answer.

Job: read a plan strictly where a person wrote it and leniently where a model did, and check the
rules of spec E15, naming the one that is broken. Refuses to invent a subtopic or to drop one.
Importers: phases, delegates, cli, store.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence

from msgspec import Struct

from omh_research.documents import frontmatter
from omh_research.documents.answer_text import drop_fence_lines, unwrap_answer
from omh_research.documents.names import check_decoded
from omh_research.documents.yaml_text import MAX_YAML_BYTES, YamlRefused, read_yaml
from omh_research.errors import DamagedFileError, PlanError, UsageError
from omh_research.lazy_re import lazy_re
from omh_research.unicode_form import unicode_form

MIN_SUBTOPICS, MAX_SUBTOPICS = 3, 5
MIN_QUERIES, MAX_QUERIES = 2, 3
MAX_NAME_CHARS, MAX_QUERY_CHARS = 200, 500
_SHAPE_HINT = "A plan is `subtopics: [{name: NAME, queries: [QUERY, QUERY]}]` in YAML or JSON."

_FENCED = lazy_re(
    r"^[ \t]*(`{3,}|~{3,})[ \t]*(?:ya?ml|json)?[ \t]*\n(.*?)^[ \t]*\1[ \t]*$", re.M | re.S
)
_LIST_START = lazy_re(
    r"^[ \t]*(?:subtopics[ \t]*:|-[ \t]+[\"']?name[\"']?[ \t]*:|[\[{])", re.M | re.I
)
_NAME_LINE = lazy_re(
    r"\s*(?:-|\d+[.)])?\s*[\"'*_]*(?:name|subtopic|名称|子主题)[\"'*_]*\s*[:：]\s*(.+)", re.I
)
_QUERIES_LINE = lazy_re(
    r"\s*[-*]?\s*[\"'*_]*(?:queries|查询|search queries)[\"'*_]*\s*[:：]\s*(.*)", re.I
)
_ITEM_LINE = lazy_re(r"\s*(?:[-*•]|\d+[.)])\s+(.+)")
_BAD_ESCAPE = lazy_re(r'\\(?!["\\/bfnrtu])')


class Subtopic(Struct, frozen=True):
    """One part of the question: its `name` and the search `queries` to run for it."""

    name: str
    queries: tuple[str, ...]


def parse_plan_file(data: bytes, name: str) -> tuple[Subtopic, ...]:
    """Return the subtopics of a plan file (YAML, JSON or a Markdown file with frontmatter).

    Every scalar of YAML is a string. Raises PlanError naming the file and the rule for text that
    is not UTF-8, over 64 kB, hostile (anchors, aliases, tags, merges, duplicate keys, NaN) or of
    another shape. The counts of E15 are checked by `check_plan`.
    """
    if len(data) > MAX_YAML_BYTES:
        raise PlanError(f"{name}: the plan is over the size limit of {MAX_YAML_BYTES} bytes.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PlanError(f"{name}: the plan is not UTF-8 text.") from error
    return _to_subtopics(_load(text, name), name)


def plan_head(data: bytes) -> dict[str, str]:
    """Return the texts that stand beside `subtopics` in a plan file, such as its `topic`.

    For a file that `parse_plan_file` has read; another one gives nothing.
    """
    try:
        value = _load(data.decode("utf-8-sig"), "plan")
    except (PlanError, UnicodeDecodeError):
        return {}
    pairs = value.items() if isinstance(value, dict) else ()
    return {str(key): text for key, text in pairs if isinstance(text, str) and text.strip()}


def parse_planner_answer(text: str) -> tuple[Subtopic, ...]:
    """Return the subtopics a planner delegate listed, in prose, fences or JSON alike (D5b).

    Raises PlanError when no list of `name` and `queries` can be found.
    """
    answer = unwrap_answer(text[:400_000])
    for candidate in _candidates(answer):
        value = _load_leniently(candidate)
        if value is None:
            continue
        try:
            found = _to_subtopics(value, "the planner's answer")
        except PlanError:
            continue
        if found:
            return found
    found = tuple(_read_lines(drop_fence_lines(answer)))
    if not found:
        raise PlanError(
            "The planner's answer holds no list of `name` and `queries`.", hint=_SHAPE_HINT
        )
    return found


def parse_subtopic_option(text: str) -> Subtopic:
    """Return the Subtopic of one `--subtopic "NAME: query; query"`.

    Raises PlanError when the name or the queries are missing.
    """
    name, colon, rest = text.replace("：", ":").partition(":")
    queries = tuple(query for part in re.split(r"[;；]", rest) if (query := _clean(part)))
    if not colon or not _clean(name) or not queries:
        raise PlanError(
            f"not a subtopic: {text[:80]!a}.",
            hint='Write --subtopic "NAME: first query; second query".',
        )
    return Subtopic(_clean(name), queries)


def check_plan(subtopics: Sequence[Subtopic], *, counted: bool = True) -> None:
    """Raise PlanError, naming the rule, unless the plan keeps E15.

    3 to 5 subtopics, 2 to 3 queries each, no name twice, no empty, overlong or control text.
    `counted=False` leaves out the number of subtopics: near duplicates may still be dropped.
    """
    if counted and not MIN_SUBTOPICS <= len(subtopics) <= MAX_SUBTOPICS:
        raise PlanError(
            f"A plan has {MIN_SUBTOPICS} to {MAX_SUBTOPICS} subtopics, "
            f"this one has {len(subtopics)}.",
            hint="`--subtopic` may be repeated."
            if len(subtopics) < MIN_SUBTOPICS
            else "Leave some out, or research them as a topic of their own.",
        )
    seen: set[str] = set()
    for subtopic in subtopics:
        _check_subtopic(subtopic)
        folded = unicode_form("NFKC", subtopic.name).casefold().strip()
        if folded in seen:
            raise PlanError(f"The subtopic name {subtopic.name!a} stands twice in the plan.")
        seen.add(folded)


def _check_subtopic(subtopic: Subtopic) -> None:
    _check_text(subtopic.name, "subtopic name", MAX_NAME_CHARS)
    if subtopic.name == "_followup":
        raise PlanError("The subtopic name `_followup` is reserved.")
    if not MIN_QUERIES <= len(subtopic.queries) <= MAX_QUERIES:
        raise PlanError(
            f"A subtopic has {MIN_QUERIES} to {MAX_QUERIES} queries, {subtopic.name!a} has "
            f"{len(subtopic.queries)}."
        )
    for query in subtopic.queries:
        _check_text(query, f"query of {subtopic.name!a}", MAX_QUERY_CHARS)
    if len({query.casefold() for query in subtopic.queries}) < len(subtopic.queries):
        raise PlanError(f"The subtopic {subtopic.name!a} has the same query twice.")


def _check_text(text: str, what: str, limit: int) -> None:
    if not text.strip():
        raise PlanError(f"A {what} is empty.")
    if len(text) > limit:
        raise PlanError(f"A {what} is over {limit} characters.")
    try:
        check_decoded(text, what)
    except UsageError as error:
        raise PlanError(error.message, hint=error.hint) from None
    if any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") for char in text):
        raise PlanError(f"A {what} holds a control character: {text[:60]!a}.")


def _load(text: str, name: str) -> object:
    """Return the raw value of a plan file's text."""
    try:
        if text.lstrip()[:1] in ("{", "[") and not text.lstrip().startswith("[["):
            return _load_json(text)
        if re.match(r"---[ \t]*\r?\n", text) and re.search(r"^---[ \t]*\r?$", text[4:], re.M):
            return frontmatter.parse(text, where=name)[0]
        return read_yaml(text)
    except DamagedFileError as error:
        raise PlanError(error.message, hint=_SHAPE_HINT) from error
    except (YamlRefused, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise PlanError(f"{name}: {reason}.", hint=_SHAPE_HINT) from error


def _load_json(text: str) -> object:
    """Return strict JSON; a text that is no JSON is read as YAML flow, under YAML's rules."""

    def refuse(word: str) -> object:
        raise PlanError(f"the plan holds {word}, which is no JSON.")

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len({key for key, _ in pairs}) < len(pairs):
            raise PlanError("the plan has the same key twice in one object.")
        return dict(pairs)

    try:
        return json.loads(text, parse_constant=refuse, object_pairs_hook=unique)
    except json.JSONDecodeError:
        return read_yaml(text)


def _to_subtopics(value: object, name: str) -> tuple[Subtopic, ...]:
    """Return `value` as subtopics or raise PlanError saying which part has another shape."""
    items = value.get("subtopics") if isinstance(value, dict) else value
    if not isinstance(items, list):
        raise PlanError(f"{name}: there is no list `subtopics`.", hint=_SHAPE_HINT)
    found: list[Subtopic] = []
    for number, item in enumerate(items, start=1):
        if not isinstance(item, dict):
            raise PlanError(
                f"{name}: subtopic {number} is not `name` and `queries`.", hint=_SHAPE_HINT
            )
        title, queries = item.get("name"), item.get("queries")
        if not isinstance(title, str) or not title.strip():
            raise PlanError(f"{name}: subtopic {number} has no text as `name`.", hint=_SHAPE_HINT)
        if not isinstance(queries, list) or not queries:
            raise PlanError(
                f"{name}: subtopic {number} has no list of `queries`.", hint=_SHAPE_HINT
            )
        if not all(isinstance(query, str) and query.strip() for query in queries):
            raise PlanError(
                f"{name}: a query of subtopic {number} is not a text.", hint=_SHAPE_HINT
            )
        found.append(Subtopic(_clean(title), tuple(_clean(query) for query in queries)))
    return tuple(found)


def _candidates(answer: str) -> Iterator[str]:
    """Yield the parts of a planner's answer that may be its list, most likely first."""
    for match in _FENCED.finditer(answer):
        yield match[2]
    plain = drop_fence_lines(answer)
    start = _LIST_START.search(plain)
    if start:
        text = plain[start.start() :]
        yield text
        lines = text.split("\n")
        for end in range(len(lines) - 1, 0, -1)[:60] if len(lines) < 400 else ():
            if not lines[end].startswith((" ", "\t", "-", "]", "}")) and lines[end].strip():
                yield "\n".join(lines[:end])


def _load_leniently(text: str) -> object:
    stripped = text.strip()
    if not stripped or len(stripped.encode("utf-8", "replace")) > MAX_YAML_BYTES:
        return None
    if stripped[0] in "[{":
        try:
            value: object = json.JSONDecoder(strict=False).raw_decode(
                _BAD_ESCAPE.sub(r"\\\\", stripped)
            )[0]
            return value
        except (ValueError, RecursionError):
            pass
    try:
        return read_yaml(text)
    except YamlRefused:
        return None


def _read_lines(text: str) -> Iterator[Subtopic]:
    """Read `name:` and `queries:` lines that are no valid YAML (an unquoted colon, say)."""
    name, queries, inside = "", list[str](), False
    for line in text.split("\n"):
        if match := _NAME_LINE.fullmatch(line):
            if name and queries:
                yield Subtopic(name, tuple(queries))
            name, queries, inside = _clean(match[1].strip("\"'*_ ")), [], False
        elif name and (match := _QUERIES_LINE.fullmatch(line)):
            inside = True
            inline = match[1].strip().strip("[]")
            queries += [
                query
                for part in re.split(r"[,;，；]", inline)
                if (query := _clean(part.strip("\"' ")))
            ]
        elif inside and (match := _ITEM_LINE.fullmatch(line)):
            queries.append(_clean(match[1].strip("\"'` ")))
        elif line.strip():
            inside = False
    if name and queries:
        yield Subtopic(name, tuple(queries))


def _clean(text: str) -> str:
    return " ".join(text.split())
