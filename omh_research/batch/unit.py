"""The unit of work: advance one run by one phase, or say that it is past that (spec S2).

Job: `advance_unit`, importable by any worker, idempotent: refused when the file is past the
expected phase. Refuses to raise: every end is a value. Importers: batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from omh_research.api import Engine

_ENGINES: dict[str, Engine] = {}


class Unit(Struct, frozen=True):
    """What to do: advance `slug` of `root` if it still is in `expected` phase.

    `stop` (not "") ends the run instead, with a labelled partial report.
    """

    root: str
    slug: str
    expected: str
    stop: str = ""


class Done(Struct, frozen=True):
    """What became of a unit. `status` as in StepReport, or busy, damaged, failed."""

    slug: str
    phase: str
    status: str
    detail: str = ""
    model_calls: int = 0
    cost_usd: float | None = 0.0


def engine_of(root: str) -> Engine:
    """Return this process's engine for a root, made once: providers and indexes are kept."""
    from omh_research.api import Engine

    if root not in _ENGINES:
        _ENGINES[root] = Engine(root)
    return _ENGINES[root]


def advance_unit(unit: Unit) -> Done:
    """Do one unit; never raises for a run's own fault."""
    from omh_research import engine as laps
    from omh_research.errors import BusyError, DamagedFileError, NoSuchRunError, OmhError
    from omh_research.host_protocol import ended_report

    engine = engine_of(unit.root)
    project, services = engine.project, engine.wiring.services
    try:
        if project.reader.state_bytes(unit.slug) is None:
            ended = ended_report(project, unit.slug)
            return Done(unit.slug, ended.phase, ended.status)
        report = laps.advance(project, unit.slug, services, expected=unit.expected, stop=unit.stop)
    except BusyError as error:
        return Done(unit.slug, unit.expected, "busy", error.message)
    except NoSuchRunError as error:
        return Done(unit.slug, "", "cleared", error.message)
    except DamagedFileError as error:
        return Done(unit.slug, unit.expected, "damaged", error.message)
    except OmhError as error:
        return Done(unit.slug, unit.expected, "failed", str(error))
    except Exception as error:  # a bug in one topic must not stop the others
        return Done(unit.slug, unit.expected, "failed", f"{type(error).__name__}: {error}")
    detail = report.blocked_reason or "; ".join(report.notes[:2])
    spent = report.spent
    return Done(
        unit.slug, report.phase, report.status, detail[:300], spent.model_calls, spent.cost_usd
    )
