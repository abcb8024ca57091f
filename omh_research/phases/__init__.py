"""The five phases, in order. `PHASES` is the table of contents; phases are imported when run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import cast

from omh_research.phases.contract import Phase

ORDER = ("decompose", "search", "gap_check", "synthesize", "verify")


class _Phases(Mapping[str, Phase]):
    """Phase name to the `run` of the module of that name."""

    def __getitem__(self, name: str) -> Phase:
        if name not in ORDER:
            raise KeyError(name)
        return cast(Phase, import_module(f"omh_research.phases.{name}").run)

    def __iter__(self) -> Iterator[str]:
        return iter(ORDER)

    def __len__(self) -> int:
        return len(ORDER)


PHASES: Mapping[str, Phase] = _Phases()
