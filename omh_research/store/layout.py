"""Where every file of a root stands (spec 10-engine, Files). Pure path arithmetic.

Job: one method per file or folder. Refuses I/O. A slug, stem or task id must have been checked
by `documents.names` before it comes here. Importers: store, wiring, corpus (its cache path).
"""

from __future__ import annotations

import os


class Layout:
    """All paths below one project root, as absolute strings."""

    def __init__(self, root: str) -> None:
        self.root = os.path.abspath(root)
        self.base = os.path.join(self.root, ".omh")
        self.state_dir = os.path.join(self.base, "state")
        self.locks_dir = os.path.join(self.state_dir, "locks")
        self.research_dir = os.path.join(self.base, "research")
        self.logs_dir = os.path.join(self.base, "logs")
        self.cache_dir = os.path.join(self.base, "cache")
        self.batch_dir = os.path.join(self.base, "batch")

    def relative(self, path: str) -> str:
        """Return `path` as shown to a user: relative to the root, forward slashes."""
        return os.path.relpath(path, self.root).replace(os.sep, "/")

    def state(self, slug: str) -> str:
        """Return the state file of a run."""
        return os.path.join(self.state_dir, f"research--{slug}.json")

    def tasks_dir(self, slug: str) -> str:
        """Return the folder of stored replies."""
        return os.path.join(self.state_dir, f"research--{slug}.tasks")

    def reply(self, slug: str, task_id: str) -> str:
        """Return the stored reply to one task."""
        return os.path.join(self.tasks_dir(slug), f"{task_id}.json")

    def heartbeat(self, slug: str) -> str:
        """Return the heartbeat of a run being advanced."""
        return os.path.join(self.state_dir, f"research--{slug}.heartbeat")

    def cancel(self, slug: str) -> str:
        """Return the cancel marker."""
        return os.path.join(self.state_dir, f"research--{slug}.cancel")

    def hook(self, slug: str) -> str:
        """Return the marker of a hook that was started (spec D10b)."""
        return os.path.join(self.state_dir, f"research--{slug}.hook")

    def lock(self, name: str) -> str:
        """Return a lock file (a slug, or a name that no slug can have)."""
        return os.path.join(self.locks_dir, f"{name}.lock")

    def plan(self, slug: str) -> str:
        """Return the plan."""
        return os.path.join(self.research_dir, f"{slug}-plan.md")

    def report(self, slug: str) -> str:
        """Return the report, the sentinel other programs poll."""
        return os.path.join(self.research_dir, f"{slug}-report.md")

    def findings_dir(self, slug: str) -> str:
        """Return the findings folder."""
        return os.path.join(self.research_dir, f"{slug}-findings")

    def finding(self, slug: str, stem: str) -> str:
        """Return one findings file."""
        return os.path.join(self.findings_dir(slug), f"{stem}.md")

    def evidence_dir(self, slug: str) -> str:
        """Return the evidence folder."""
        return os.path.join(self.research_dir, f"{slug}-evidence")

    def evidence(self, slug: str, name: str) -> str:
        """Return one file of the evidence folder, such as `seal.json`."""
        return os.path.join(self.evidence_dir(slug), name)

    def texts_dir(self, slug: str) -> str:
        """Return the folder of held texts."""
        return os.path.join(self.evidence_dir(slug), "texts")

    def text(self, slug: str, sha256: str) -> str:
        """Return one held text."""
        return os.path.join(self.texts_dir(slug), f"{sha256}.txt")

    def log(self, session_id: str) -> str:
        """Return the event log of a session."""
        return os.path.join(self.logs_dir, f"research-{session_id}.log")

    def role(self, name: str) -> str:
        """Return where a project's own role text would stand."""
        return os.path.join(self.base, "roles", f"{name}.md")
