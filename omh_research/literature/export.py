"""`literature export`: a pool for reference managers and reports (B12).

Job: read a bundle through its valid manifest, hand its papers to one writer, write the result
whole. Refuses a bundle that does not hold. Importers: cli.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from omh_research.errors import UsageError
from omh_research.literature import bibtex, csl, prisma, ris
from omh_research.literature.bundle import check_in_scope
from omh_research.literature.files import replace
from omh_research.literature.manifest import to_json
from omh_research.literature.pool import open_checked
from omh_research.literature.record import Paper

WRITERS: dict[str, Callable[[Sequence[Paper]], str]] = {
    "bibtex": bibtex.write_bibtex,
    "ris": ris.write_ris,
    "csl-json": csl.write_csl,
}
FORMATS = (*WRITERS, "prisma")


def export_bundle(folder: str, form: str) -> str:
    """Return a bundle's pool in one of `FORMATS`.

    Raises:
        DamagedFileError: the bundle does not hold, or its run failed.
        UsageError: no such format.
    """
    if form not in FORMATS:
        raise UsageError(f"There is no format {form!r}.", hint=f"Known: {', '.join(FORMATS)}.")
    manifest, papers = open_checked(folder)
    if form == "prisma":
        return to_json(prisma.summarise(manifest)).decode("utf-8")
    return WRITERS[form](papers)


def write_export(text: str, path: str, *, scope_root: str | None, force: bool) -> None:
    """Write an export to a file, whole.

    Raises:
        UsageError: the file is there already, or lies outside the scope root.
        StorageError: the file system refused.
    """
    target = check_in_scope(path, scope_root, "--output")
    if os.path.lexists(target) and not force:
        raise UsageError(
            f"{os.path.basename(target)} is there already.", hint="Replace it with --force."
        )
    replace(target, text.encode("utf-8"))
