"""What stands around a delegate's answer: thinking, wrappers, terminal decoration.

Job: return the answer itself from the text a model or agent program printed (spec E22, complaint
32), for reading only: what is stored stays verbatim. Refuses to interpret the answer.
Importers: documents.
"""

from __future__ import annotations

import json
import re

from omh_research.lazy_re import lazy_re

_TAG = lazy_re(
    r"<(?P<end>/?)(?:think|thinking|thought|reasoning|scratchpad|analysis)(?:\s[^<>]{0,80})?>",
    re.IGNORECASE,
    needs=("<",),
)
_WRAPPER_LINE = lazy_re(
    r"</?(?:answer|output|result|results|response|final|final_answer|tool_result|tool_output"
    r"|tool_response|function_result|function_results|stdout|text|content|document|findings"
    r"|report)(?:\s[^<>]{0,80})?>|\[/?(?:TOOL_OUTPUT|TOOL_RESULT|OUTPUT|RESULT)\]",
    re.IGNORECASE,
    needs=("<", "output]", "result]"),
)
_ESCAPE_SEQUENCE = lazy_re(r"\x1b\[[0-9;?]{0,16}[A-Za-z]", needs=("\x1b",))
_FENCE_LINE = lazy_re(r"(?:`{3,}|~{3,})[\w+.-]{0,30}", needs=("```", "~~~"))
_TEXT_KEYS = ("result", "output", "text", "content", "answer", "response", "message", "final")
_GUTTERS = "│┃┊║"
_BOX_CORNERS = ("╭", "╰", "┌", "└", "╔", "╚")
_MAX_JSON_CHARS = 2_000_000


def unwrap_answer(text: str, *, keep_unclosed_thinking: bool = True) -> str:
    """Return `text` with LF line ends and without thinking, wrapper tags, JSON or box around it.

    Thinking that never ends is kept where a lost answer would be worse (findings), and dropped
    with `keep_unclosed_thinking=False` where a thought must not decide (verdicts, votes); only
    then can the result be empty for a text that holds something.
    """
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    found = _unwrap_json(plain)
    found = _ESCAPE_SEQUENCE.sub("", plain if found is None else found)
    found = _drop_thinking(found, keep_unclosed_thinking)
    found = "\n".join(
        line for line in _drop_box(found.split("\n")) if not _WRAPPER_LINE.fullmatch(line.strip())
    )
    return found if found.strip() or not keep_unclosed_thinking else plain


def is_fence_line(line: str) -> bool:
    """Return whether `line` opens or closes a code fence and says nothing else."""
    return bool(_FENCE_LINE.fullmatch(line.strip()))


def after_bullet(line: str, bullet: re.Pattern[str]) -> int:
    """Return where the text of a list's entry begins; 0 when no `bullet` opens the line.

    The usual "- " and a line that begins with a letter are known without the pattern.
    """
    if line[:2] == "- " and line[2:3].strip():
        return 2
    if line[:1].isalpha():
        return 0
    match = bullet.match(line)
    return match.end() if match else 0


def after_number(line: str) -> tuple[int, int] | None:
    """Return N and where the text begins in `[N] text` and `- [N] text`, the template's own forms.

    None for every other spelling: those are for the patterns of who reads such a list.
    """
    start = 3 if line.startswith("- [") else 1
    end = line.find("] ", start, start + 6)
    number = line[start:end]
    if end < 0 or line[start - 1] != "[" or not (number.isascii() and number.isdecimal()):
        return None
    following = line[end + 2 : end + 3]
    return None if not following.strip() or following in ":：.|｜" else (int(number), end + 2)


def drop_fence_lines(text: str) -> str:
    """Return `text` without its fence lines; what stands between them stays."""
    return "\n".join(line for line in text.split("\n") if not is_fence_line(line))


def _drop_thinking(text: str, keep_unclosed: bool) -> str:
    """Drop thinking blocks; an unopened end drops what is before it."""
    kept: list[str] = []
    start, depth, opened = 0, 0, 0
    for tag in _TAG.finditer(text):
        if not tag["end"]:
            if depth == 0:
                kept.append(text[start : tag.start()])
                opened = tag.end()
            depth += 1
        elif depth:
            depth -= 1
            start = tag.end() if depth == 0 else start
        else:
            kept, start = [], tag.end()
    if not depth:
        kept.append(text[start:])
    elif keep_unclosed:
        kept.append(text[opened:])
    return "".join(kept)


def _unwrap_json(text: str) -> str | None:
    """Return the one text a JSON envelope carries, or None when `text` is no such envelope."""
    stripped = text.strip()
    if not stripped.startswith(("{", "[")) or len(stripped) > _MAX_JSON_CHARS:
        return None
    try:
        value = json.loads(stripped, strict=False)
    except (ValueError, RecursionError):
        return None
    return _text_of(value, 0)


def _text_of(value: object, depth: int) -> str | None:
    if isinstance(value, str):
        return value if "\n" in value else None
    if depth > 4:
        return None
    if isinstance(value, list):
        parts = [part for item in value if (part := _text_of(item, depth + 1)) is not None]
        return "\n".join(parts) if parts else None
    if isinstance(value, dict):
        for key in _TEXT_KEYS:
            if key in value and (part := _text_of(value[key], depth + 1)) is not None:
                return part
    return None


def _drop_box(lines: list[str]) -> list[str]:
    """Drop the frame that terminal programs draw around an answer."""
    if not any(
        line.lstrip()[:1] in _GUTTERS or line.lstrip()[:1] in _BOX_CORNERS
        for line in lines
        if line.strip()
    ):
        return lines
    inside = [line for line in lines if not line.lstrip().startswith(_BOX_CORNERS)]
    return [
        line.strip().strip(_GUTTERS).strip()
        if line.lstrip()[:1] in _GUTTERS and line.strip()
        else line
        for line in inside
    ]
