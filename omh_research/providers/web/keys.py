"""Keys of services, from the environment or a `.env` file in the root.

Job: find one key, and give providers an environment with the root's keys in it. Refuses to write,
log, cache or export any (spec D6), and to take anything but keys from a `.env` file for the
network: addresses and permissions come from the environment alone (a model server's address
excepted). Importers: providers, doctor, wiring.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from omh_research.lazy_re import lazy_re

_Root = str | os.PathLike[str] | None
MAX_DOTENV_BYTES = 64 * 1024
KEY_NAMES: Mapping[str, str] = {
    "tavily": "TAVILY_API_KEY",
    "brave": "BRAVE_API_KEY",
    "serper": "SERPER_API_KEY",
    "jina": "JINA_API_KEY",
}
SCHOLARLY_KEYS = (
    ("OPENALEX_API_KEY",),
    ("SEMANTIC_SCHOLAR_API_KEY", "S2_API_KEY"),
    ("NCBI_API_KEY",),
)
"""The variables of each academic provider that takes a key, the preferred name first."""
MODEL_ADDRESS = "OMH_LLM_BASE_URL"
MODEL_KEYS = ("OMH_LLM_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY")
_LINE = lazy_re(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)")


def find_key(provider: str, environ: Mapping[str, str]) -> str:
    """Return the key of the web service `provider`, "" when there is none."""
    return environ.get(KEY_NAMES[provider], "").strip()


def with_keys(environ: Mapping[str, str], root: _Root) -> dict[str, str]:
    """Return `environ` with the providers' keys of `root/.env` where it has none itself.

    The environment wins (spec D6), under any of a key's names; a blank value counts as unset.
    """
    written = read_dotenv(root)
    seen = dict(environ)
    for names in (*((name,) for name in KEY_NAMES.values()), *SCHOLARLY_KEYS):
        if not any(environ.get(name, "").strip() for name in names):
            seen |= {name: written[name] for name in names if written.get(name)}
    return seen


def for_delegates(environ: Mapping[str, str], root: _Root) -> dict[str, str]:
    """Return `environ` with all of `root/.env` behind it, for whoever asks models.

    A key of the environment is never for an address that only the project's file names: a foreign
    folder could have it sent anywhere. Such an address gets the keys of that file, or none.
    """
    written = read_dotenv(root)
    seen = {**written, **environ}
    if written.get(MODEL_ADDRESS) and not environ.get(MODEL_ADDRESS):
        seen |= {name: written.get(name, "") for name in MODEL_KEYS} | {
            MODEL_ADDRESS: written[MODEL_ADDRESS]
        }
    return seen


def read_dotenv(root: _Root) -> dict[str, str]:
    """Return the assignments of `root/.env`; {} when there is none or it cannot be read.

    Values may be quoted; an unquoted value ends at ` #`. Nothing is expanded or executed.
    """
    if root is None:
        return {}
    try:
        with open(os.path.join(root, ".env"), "rb") as file:
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
