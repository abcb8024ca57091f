"""Settings of an installation and a project: flag > environment > file > default.

Job: one frozen Settings; reads `.omh/config.yaml` and the environment when asked. Refuses work at
import and refuses to hold a key: keys are read from the environment where they are used.
Importers: everybody above the store.
"""

import math
import os
from collections.abc import Callable, Mapping

import msgspec
from msgspec import Struct

from omh_research.errors import UsageError

CONFIG_NAME = "config.yaml"
MAX_CONFIG_BYTES = 64_000


class Settings(Struct, frozen=True, kw_only=True):
    """All tunables. Times in seconds, sizes in characters.

    `root` is the project root; `.omh/` lies in it. `task_timeout_s` is the deadline of one task of
    a delegate we run; `host_timeout_s` of a task handed to a host (0: none). `lease_s` is how long
    a heartbeat from another machine keeps its run (spec S3). `on_confirmed` / `on_blocked` name a
    command that gets the report's path (spec D10b).
    """

    root: str = "."
    offline: bool = False
    context_budget: int = 40_000
    task_timeout_s: float = 900.0
    host_timeout_s: float = 0.0
    lease_s: float = 60.0
    side_by_side: int = 3
    contact: str = ""
    on_confirmed: str = ""
    on_blocked: str = ""
    hook_timeout_s: float = 60.0


_FILE_FIELDS = frozenset(Settings.__struct_fields__) - {"root", "offline"}
# What a value may be, both ends included; a lease of 0 would let every run be taken over at once.
_RANGES: dict[str, tuple[float, float]] = {
    "context_budget": (2_000, 2_000_000),
    "task_timeout_s": (0, 86_400),
    "host_timeout_s": (0, 31_536_000),
    "lease_s": (0.1, 86_400),
    "side_by_side": (1, 16),
    "hook_timeout_s": (0, 86_400),
}


def load_settings(
    root: str | None = None,
    environ: Mapping[str, str] = os.environ,
    *,
    on_damage: Callable[[str], None] | None = None,
) -> Settings:
    """Return the settings for `root` (else `OMH_ROOT`, else the current folder).

    `on_damage` is told in a sentence what is wrong with the configuration file, and the defaults
    stand in for it: for commands that look or stop, which must work whatever stands there.

    Raises:
        UsageError: there is no such root; or the file is damaged, names an unknown setting or a
            value out of its range, and there is no `on_damage`.
    """
    chosen = os.path.abspath(root or environ.get("OMH_ROOT") or os.getcwd())
    if not os.path.lexists(chosen):  # else a mistyped one would look like one without runs
        raise UsageError(f"There is no folder {chosen}.", hint="Check --root or OMH_ROOT.")
    offline = environ.get("OMH_OFFLINE", "") not in ("", "0")
    try:
        settings = _from_file(os.path.join(chosen, ".omh", CONFIG_NAME))
    except UsageError as error:
        if on_damage is None:
            raise
        on_damage(str(error))
        settings = Settings()
    return msgspec.structs.replace(settings, root=chosen, offline=offline)


def _from_file(path: str) -> Settings:
    try:
        settings = msgspec.convert(_read_file(path), Settings, strict=False)
    except msgspec.ValidationError as error:
        raise UsageError(f".omh/{CONFIG_NAME}: {error}.") from None
    for name, (low, high) in _RANGES.items():
        value = getattr(settings, name)
        if not (math.isfinite(value) and low <= value <= high):
            raise UsageError(
                f".omh/{CONFIG_NAME}: {name} is {value:g}; it must be from {low:g} to {high:g}."
            )
    for name in ("contact", "on_confirmed", "on_blocked"):
        if not getattr(settings, name).isprintable():
            raise UsageError(f".omh/{CONFIG_NAME}: {name} holds a control character.")
    return settings


def _read_file(path: str) -> dict[str, object]:
    if not os.path.lexists(path):
        return {}
    if os.path.islink(path) or not os.path.isfile(path):
        raise UsageError(f".omh/{CONFIG_NAME} is not a plain file.")
    from omh_research.documents.yaml_text import read_yaml

    try:
        with open(path, "rb") as stream:
            data = stream.read(MAX_CONFIG_BYTES + 1)
    except OSError as error:
        raise UsageError(f".omh/{CONFIG_NAME} cannot be read: {error.strerror}.") from None
    if len(data) > MAX_CONFIG_BYTES:
        raise UsageError(f".omh/{CONFIG_NAME} is larger than {MAX_CONFIG_BYTES} bytes.")
    try:
        raw = read_yaml(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, ValueError) as error:
        raise UsageError(f".omh/{CONFIG_NAME}: {error}.") from None
    if raw in (None, ""):
        return {}
    if not isinstance(raw, dict):
        raise UsageError(f".omh/{CONFIG_NAME}: a mapping of settings is expected.")
    unknown = sorted(str(key) for key in raw if key not in _FILE_FIELDS)
    if unknown:
        raise UsageError(
            f".omh/{CONFIG_NAME}: unknown setting {', '.join(unknown)}.",
            hint=f"Known: {', '.join(sorted(_FILE_FIELDS))}.",
        )
    return raw
