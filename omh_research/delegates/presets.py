"""How each known agent program is called: arguments as data, one entry a program.

Job: say for hermes, claude, codex, gemini and opencode how a prompt goes in, how the answer comes
out and which arguments hold a role to reading (spec D3, 85-hosts section 4). Refuses to run
anything. Importers: command.

Placeholders in arguments: `{prompt}` the whole prompt, `{prompt_file}` a file that holds it,
`{answer_file}` where the program writes its answer, `{usage_file}` where it writes its usage.
Without `{prompt}` and `{prompt_file}` the prompt is the standard input.
"""

from __future__ import annotations

import json
from typing import Literal

from msgspec import Struct

ResultFormat = Literal["auto", "text", "json", "jsonl"]

# One argument may hold 128 KiB on Linux, its closing NUL included; less is kept for safety.
MAX_ARGUMENT_BYTES = 120_000


class Preset(Struct, frozen=True):
    """One program. `web` are the arguments for a role that may search and read the web, `closed`
    those for a role without any tool, `spilled` replaces both when the prompt is too long for an
    argument. `limits_to_list` tells whether the program has a true allow-list of tools; else
    `note` says what it has instead. `files` are written into its working folder (by `closed`
    or `web`)."""

    program: str
    arguments: tuple[str, ...]
    web: tuple[str, ...]
    closed: tuple[str, ...]
    result: ResultFormat = "text"
    limits_to_list: bool = True
    note: str = ""
    spilled: tuple[str, ...] = ()
    spilled_note: str = ""
    files_web: tuple[tuple[str, str], ...] = ()
    files_closed: tuple[tuple[str, str], ...] = ()


def _opencode_rules(**allowed: str) -> tuple[tuple[str, str], ...]:
    return (("opencode.json", json.dumps({"permission": {"*": "deny", **allowed}})),)


def _gemini_policy(*allowed: str) -> tuple[tuple[str, str], ...]:
    """A tool that a rule denies is not even offered to the model; its plan mode offers writing."""
    rules = [(name, "allow", 999) for name in allowed] + [("*", "deny", 998)]
    text = "".join(
        f'[[rule]]\ntoolName = "{name}"\ndecision = "{decision}"\npriority = {priority}\n'
        for name, decision, priority in rules
    )
    return (("policy.toml", text),)


PRESETS: dict[str, Preset] = {
    "hermes": Preset(
        program="hermes",
        arguments=("--usage-file", "{usage_file}", "-z", "{prompt}"),
        web=("-t", "web"),
        closed=("-t", "context_engine"),
        spilled=("-t", "web,file"),
        spilled_note=(
            "the prompt was too long for an argument, so hermes had to read it from a file and "
            "its tools could not be scoped to reading"
        ),
    ),
    "claude": Preset(
        program="claude",
        arguments=(
            "-p", "--output-format", "json", "--no-session-persistence",
            "--permission-mode", "dontAsk", "--strict-mcp-config",
        ),
        web=("--tools", "WebSearch,WebFetch", "--allowedTools", "WebSearch,WebFetch"),
        closed=("--tools", ""),
        result="json",
    ),
    "codex": Preset(
        program="codex",
        arguments=(
            "exec", "--skip-git-repo-check", "--ephemeral", "-s", "read-only",
            "-o", "{answer_file}",
        ),
        web=("-c", 'web_search="live"', "-"),
        closed=("-c", 'web_search="disabled"', "-"),
        limits_to_list=False,
        note="codex has a read-only sandbox, not a list of tools: it may read local files",
    ),
    "gemini": Preset(
        program="gemini",
        arguments=(
            "-o", "json", "--skip-trust", "--approval-mode", "plan", "--policy", "policy.toml",
        ),
        web=("-p", "Do the task above."),
        closed=("-p", "Do the task above, without any tool."),
        result="json",
        files_web=_gemini_policy("google_web_search", "web_fetch"),
        files_closed=_gemini_policy(),
    ),
    "opencode": Preset(
        program="opencode",
        arguments=("run", "--format", "json", "--agent", "plan"),
        web=(),
        closed=(),
        result="jsonl",
        files_web=_opencode_rules(webfetch="allow", websearch="allow"),
        files_closed=_opencode_rules(),
    ),
}  # fmt: skip
