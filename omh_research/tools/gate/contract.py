"""What the gate is given and what it answers.

Job: the frozen value types of the deterministic gate (spec E28, E28b, E28c, T23). Refuses to
decide anything. Importers: tools.gate, phases, cli.
"""

from __future__ import annotations

from msgspec import Struct

from omh_research.documents.finding import ParsedFinding
from omh_research.documents.source import HeldText

FETCHED, DECLARED, LEAD = "fetched", "declared", "lead"


class GateInput(Struct, frozen=True):
    """Everything the gate looks at; nothing else is read.

    `report` is the body without the file's own frontmatter. `findings` pairs each file stem with
    its parsed text. `held` are the fetched texts of the run, `leads` addresses seen only as search
    hits. `declared_allowed` is true where the delegate keeps no ledger (host, command), so that a
    source it says it read may be cited. `previous_feedback` is the feedback of the attempt before
    (E30). `needs_two_sources` is the iron rule of several rounds (L6).
    """

    topic: str
    subtopics: tuple[str, ...]
    report: str
    findings: tuple[tuple[str, ParsedFinding], ...]
    held: tuple[HeldText, ...] = ()
    leads: frozenset[str] = frozenset()
    require_quotes: bool = False
    declared_allowed: bool = False
    previous_feedback: str = ""
    needs_two_sources: bool = False


class Failure(Struct, frozen=True):
    """One reason why the report does not pass: a rule's name, the place, what to mend."""

    rule: str
    where: str
    message: str


class ListedSource(Struct, frozen=True):
    """An entry of the report's Sources list, resolved.

    `key` names the work (`doi:…`, `arxiv:…`, canonical address); `seen` is "fetched" (its text is
    held), "declared" (a delegate says it read it), "lead" (a search hit only) or "" (in no
    finding). `is_cited` says whether a `[n]` in the text points to it.
    """

    n: int
    title: str
    url: str
    key: str
    seen: str
    is_cited: bool


class Checked(Struct, frozen=True):
    """How much was compared with held text, and how much could not be.

    Sentences and quotes whose sources are only declared are `unknown`: no failure, no proof.
    """

    sentences: int = 0
    sentences_unknown: int = 0
    quotes: int = 0
    quotes_unknown: int = 0
    evidence_rows: int = 0


class GateResult(Struct, frozen=True):
    """The gate's answer. `passed` only without failures and with a usable source (E28c)."""

    failures: tuple[Failure, ...]
    notes: tuple[str, ...]
    insufficient_subtopics: tuple[str, ...]
    has_usable_source: bool
    cited: tuple[int, ...]
    sources: tuple[ListedSource, ...]
    checked: Checked

    @property
    def passed(self) -> bool:
        """Whether a verifier may be asked about this report."""
        return not self.failures and self.has_usable_source

    @property
    def sources_fetched(self) -> int:
        """How many cited sources have their text held (T23)."""
        return sum(source.is_cited and source.seen == FETCHED for source in self.sources)

    @property
    def sources_declared(self) -> int:
        """How many cited sources are only declared (T23)."""
        return sum(source.is_cited and source.seen == DECLARED for source in self.sources)
