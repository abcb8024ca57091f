"""The one door of this package to the file system.

Job: guarded reads, whole-file writes and folder checks for bundles, by the store's own calls, so
that there is one way to write durably. Refuses to know what a bundle is. Importers: literature.
"""

from __future__ import annotations

from omh_research.store.disk import (
    check_directory,
    read_bytes,
    replace,
    replace_all,
    sync_directory,
)

__all__ = ["check_directory", "read_bytes", "replace", "replace_all", "sync_directory"]
