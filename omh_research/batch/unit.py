"""The unit of work: advance one run by one phase, or say that it is past that (spec S2).

Job: `advance_unit`, importable by any worker, idempotent: refused when the file is past the
expected phase. Refuses to raise: every end is a value. Importers: batch.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

from omh_research import __version__

if TYPE_CHECKING:
    from omh_research.api import Engine
    from omh_research.engine import StepReport
    from omh_research.project import Project

MAX_ENGINES = 4
UNITS_AN_ENGINE = 500
_ENGINES: dict[str, tuple[Engine, int]] = {}


class Unit(Struct, frozen=True):
    """What to do: advance `slug` of `root` if it still is in `expected` phase.

    `batch` is the batch's id: its record shows a worker that it sees the same folder. `stop` (not
    "") ends the run instead, with a labelled partial report. `version` is the sender's.
    """

    root: str
    batch: str
    slug: str
    expected: str
    stop: str = ""
    version: str = __version__


class Done(Struct, frozen=True):
    """What became of a unit. `status` as in StepReport, or one of these.

    partial (stopped by a cap, with a labelled report), busy (another process has the run), damaged,
    cleared, failed (the run has not ended, but this cannot go on), lost (its worker died),
    unreachable (the worker does not see the folder, or runs another version).
    """

    slug: str
    phase: str
    status: str
    detail: str = ""
    model_calls: int = 0
    cost_usd: float | None = 0.0


def engine_of(root: str) -> Engine:
    """Return this process's engine for a root: providers and indexes are kept.

    It is made anew after some hundred units, so that a worker's memory does not grow with the
    number of topics it has seen.
    """
    from omh_research.api import Engine

    engine, used = _ENGINES.pop(root, (None, 0))
    if engine is None or used >= UNITS_AN_ENGINE:
        engine, used = Engine(root), 0
    while len(_ENGINES) >= MAX_ENGINES:
        _ENGINES.pop(next(iter(_ENGINES)))
    _ENGINES[root] = (engine, used + 1)
    return engine


def advance_unit(unit: Unit) -> Done:
    """Do one unit; never raises for a run's own fault."""
    from omh_research.errors import BusyError, DamagedFileError, NoSuchRunError, OmhError

    trouble = _why_unreachable(unit)
    if trouble:
        return Done(unit.slug, unit.expected, "unreachable", trouble)
    try:
        return _advance(unit)
    except BusyError as error:  # a fenced owner too: the run is another's now
        return Done(unit.slug, unit.expected, "busy", error.message)
    except NoSuchRunError as error:
        return Done(unit.slug, "", "cleared", error.message)
    except DamagedFileError as error:
        return Done(unit.slug, unit.expected, "damaged", error.message)
    except OmhError as error:
        return Done(unit.slug, unit.expected, "failed", str(error))
    except Exception as error:  # a bug in one topic must not stop the others
        return Done(unit.slug, unit.expected, "failed", f"{type(error).__name__}: {error}")


def _why_unreachable(unit: Unit) -> str:
    from omh_research.store.heartbeat import own_host

    if unit.version != __version__:
        return f"the worker on {own_host()} runs omh_research {__version__}, not {unit.version}."
    record = os.path.join(unit.root, ".omh", "batch", f"{unit.batch}.json")
    if not os.path.lexists(record):
        return f"the worker on {own_host()} does not see {record}."
    return ""


def _advance(unit: Unit) -> Done:
    from omh_research import engine as laps
    from omh_research.errors import NoSuchRunError
    from omh_research.host_protocol import ended_report

    engine = engine_of(unit.root)
    project, services = engine.project, engine.wiring.services
    if project.reader.state_bytes(unit.slug) is None:
        return _done(project, ended_report(project, unit.slug))
    try:
        report = laps.advance(project, unit.slug, services, expected=unit.expected, stop=unit.stop)
    except NoSuchRunError:  # another owner ended it while we waited or worked
        report = ended_report(project, unit.slug)
    return _done(project, report)


def _done(project: Project, report: StepReport) -> Done:
    status = report.status
    if status == "blocked" and project.reader.report_status(report.slug) == "partial":
        status = "partial"
    detail = report.blocked_reason or "; ".join(report.notes[:2])
    spent = report.spent
    return Done(report.slug, report.phase, status, detail[:300], spent.model_calls, spent.cost_usd)
