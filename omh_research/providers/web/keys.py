"""Keys of services, from the environment or a `.env` file in the root.

Job: find one key. Refuses to write, log, cache or export any (spec D6). Importers: providers.web,
wiring.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from omh_research.lazy_re import lazy_re

MAX_DOTENV_BYTES = 64 * 1024
KEY_NAMES: Mapping[str, str] = {
    "tavily": "TAVILY_API_KEY",
    "brave": "BRAVE_API_KEY",
    "serper": "SERPER_API_KEY",
    "jina": "JINA_API_KEY",
}
_LINE = lazy_re(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)")


def find_key(provider: str, environ: Mapping[str, str], root: Path | None) -> str:
    """Return the key of `provider`, "" when there is none; the environment wins over `.env`."""
    name = KEY_NAMES[provider]
    return environ.get(name, "").strip() or read_dotenv(root).get(name, "")


def read_dotenv(root: Path | None) -> dict[str, str]:
    """Return the assignments of `root/.env`; {} when there is none or it cannot be read.

    Values may be quoted; an unquoted value ends at ` #`. Nothing is expanded or executed.
    """
    if root is None:
        return {}
    try:
        with (root / ".env").open("rb") as file:
            text = file.read(MAX_DOTENV_BYTES).decode("utf-8-sig", errors="replace")
    except OSError:
        return {}
    found = {}
    for line in text.splitlines():
        match = _LINE.fullmatch(line.strip())
        if match:
            found[match.group(1)] = _plain_value(match.group(2))
    return found


def _plain_value(raw: str) -> str:
    value = raw.strip()
    if value[:1] in ("'", '"'):
        end = value.find(value[0], 1)
        return value[1:end] if end > 0 else value[1:]
    return value.partition(" #")[0].strip()
