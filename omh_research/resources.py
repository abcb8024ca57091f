"""Files that ship with the package: `roles/` and `state_schema/`.

Job: find and read them, in a wheel (`omh_research/_data/`) or in a checkout (beside the package).
Refuses to read anything else and to interpret what it reads. Importers: roles, store, cli.
"""

from __future__ import annotations

import os

from omh_research.errors import PrerequisiteError
from omh_research.lazy_re import lazy_re

FOLDERS = ("roles", "state_schema")
_FILE_NAME = lazy_re(r"[a-z0-9]+(?:[-_.][a-z0-9]+)*")


def resource_folder(folder: str) -> str:
    """Return the path of `roles` or `state_schema`.

    Raises PrerequisiteError when this installation lacks it.
    """
    if folder not in FOLDERS:
        raise ValueError(f"no resource folder: {folder!r}")
    package = os.path.dirname(os.path.realpath(__file__))
    for base in (os.path.join(package, "_data"), os.path.dirname(package)):
        if os.path.isdir(os.path.join(base, folder)):
            return os.path.join(base, folder)
    raise PrerequisiteError(
        f"this installation lacks its {folder} files.", hint="Install omh-research again."
    )


def resource_names(folder: str) -> tuple[str, ...]:
    """Return the file names in a resource folder, sorted."""
    with os.scandir(resource_folder(folder)) as entries:
        return tuple(sorted(entry.name for entry in entries if entry.is_file()))


def resource_text(folder: str, name: str) -> str:
    """Return the text of one shipped file, with LF line ends.

    Raises PrerequisiteError when it is not there; a name that is no plain file name is a
    ValueError, so nothing outside the folder can be read.
    """
    if not _FILE_NAME.fullmatch(name):
        raise ValueError(f"not a resource name: {name!r}")
    path = os.path.join(resource_folder(folder), name)
    if not os.path.isfile(path):
        raise PrerequisiteError(
            f"this installation lacks {folder}/{name}.", hint="Install omh-research again."
        )
    with open(path, encoding="utf-8") as file:
        return file.read()
