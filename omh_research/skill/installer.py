"""Puts the packaged skill where a host looks for skills.

Job: know each host's folder, copy (or link) the skill and its aliases there, and leave alone
what somebody else put there. Refuses to overwrite a foreign folder, to follow a foreign link and
to delete anything but an own link or copy. Importers: cli.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path

from msgspec import Struct

from omh_research.errors import PrerequisiteError, StorageError, UsageError

SKILL = "omh-deep-research"
ALIASES = ("auto-deep-research", "deep-research-harness")
HOSTS = ("hermes", "claude", "codex", "generic")

# Stands in every SKILL.md of ours: by it an own folder is told from a foreign one.
OWN_MARK = "origin: omh-research"
TEMPORARY = ".omh-skill-"


class Installed(Struct, frozen=True):
    """What an installation did: the folders, each with `created`, `updated` or `linked`."""

    host: str
    folders: tuple[tuple[str, str], ...]


def skills_folder(host: str, environ: Mapping[str, str], home: Path) -> Path:
    """Return the folder in which `host` looks for skills of this user.

    `generic` is `.agents/skills` of the current project, which most hosts read (85-hosts 3.1).
    Raises `UsageError` for an unknown host.
    """
    match host:
        case "hermes":
            own = environ.get("HERMES_HOME", "")
            return (Path(own) if own else home / ".hermes") / "skills" / "omh"
        case "claude":
            own = environ.get("CLAUDE_CONFIG_DIR", "")
            return (Path(own) if own else home / ".claude") / "skills"
        case "codex":
            return home / ".agents" / "skills"
        case "generic":
            return Path(".agents") / "skills"
        case _:
            raise UsageError(f"No host is called {host!r}.", hint=f"Hosts: {', '.join(HOSTS)}.")


def install(host: str, folder: Path, *, link: bool = False, aliases: bool = False) -> Installed:
    """Write the skill (and its aliases) into the skills folder `folder`; parents are made.

    Installing again brings own files up to date and leaves files of the user in there alone.
    Raises `UsageError` for a foreign folder, file or link in the way (nothing is written then),
    `PrerequisiteError` if a link was asked for and cannot be made, `StorageError` if the disk
    refuses.
    """
    names = (SKILL, *ALIASES) if aliases else (SKILL,)
    targets = [folder / name for name in names]
    for target in targets:
        _refuse_foreign(target)
    done = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, target in zip(names, targets, strict=True):
            source = files("omh_research.skill") / "data" / name
            done.append((str(target), _link(source, target) if link else _copy(source, target)))
    except OSError as error:
        raise StorageError(f"The skill cannot be written to {folder}: {error.strerror}.") from error
    return Installed(host=host, folders=tuple(done))


def _refuse_foreign(target: Path) -> None:
    if not os.path.lexists(target):
        return
    if _is_own(target):
        return
    what = "link" if target.is_symlink() else "folder" if target.is_dir() else "file"
    raise UsageError(
        f"{target} is a {what} that was not installed by omh-research; it was left as it is.",
        hint="Move it away, or choose another folder with --dir.",
    )


def _is_own(target: Path) -> bool:
    """Tell whether this path is our own link, or a folder with our SKILL.md (or a start of it)."""
    if target.is_symlink():
        return _own_source(target.name) == target.resolve() or _has_mark(target / "SKILL.md")
    if not target.is_dir():
        return False
    # Nothing but our temporary files: an installation that was cut off.
    names = [path.name for path in target.iterdir()]
    return _has_mark(target / "SKILL.md") or all(name.startswith(TEMPORARY) for name in names)


def _own_source(name: str) -> Path | None:
    source = files("omh_research.skill") / "data" / name
    return source.resolve() if isinstance(source, Path) else None


def _has_mark(skill_file: Path) -> bool:
    try:
        text = skill_file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    head = text.split("\n---", 1)[0]
    return OWN_MARK in head


def _link(source: Traversable, target: Path) -> str:
    if not isinstance(source, Path):
        raise PrerequisiteError(
            "The package is not unpacked on disk, so nothing can be linked to.",
            hint="Install without --link.",
        )
    if target.is_symlink():
        target.unlink()
    elif target.is_dir():
        _remove_own_copy(source, target)
    try:
        target.symlink_to(source.resolve(), target_is_directory=True)
    except OSError as error:
        raise PrerequisiteError(
            f"The link {target} cannot be made: {error.strerror}.", hint="Install without --link."
        ) from error
    return "linked"


def _remove_own_copy(source: Path, target: Path) -> None:
    """Remove a folder that holds our files only; refuse if the user added any."""
    own = {path.relative_to(source) for path in source.rglob("*")}
    extra = [path for path in target.rglob("*") if path.relative_to(target) not in own]
    if extra:
        raise UsageError(
            f"{target} holds files of your own ({extra[0].name}), so it was not replaced by a link."
        )
    shutil.rmtree(target)


def _copy(source: Traversable, target: Path) -> str:
    was_there = target.is_dir() and not target.is_symlink()
    if target.is_symlink():
        target.unlink()
    with as_file(source) as folder:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                _write_whole(target / path.relative_to(folder), path.read_bytes())
    for leftover in target.glob(f"{TEMPORARY}*"):
        leftover.unlink(missing_ok=True)
    return "updated" if was_there else "created"


def _write_whole(path: Path, data: bytes) -> None:
    """Write a file in one replace, so that a host never reads half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=TEMPORARY)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
