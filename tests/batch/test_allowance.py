"""The budget of all topics together, and the fairness of the runner (S1, S3, O5)."""

from __future__ import annotations

import random
from collections import Counter, deque
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.batch.allowance import Allowance, BatchRules
from omh_research.batch.executors import make_executor
from omh_research.batch.record import Entry, Record
from omh_research.batch.runner import Runner
from omh_research.batch.unit import Done, Unit
from omh_research.errors import PrerequisiteError, UsageError
from omh_research.project import Project
from omh_research.settings import Settings

PHASES = ("decompose", "search", "gap_check", "synthesize", "verify")
COSTS = {"decompose": 0, "search": 3, "gap_check": 0, "synthesize": 1, "verify": 1}


class Simulated:
    """Units that end at once, in any order, as a table says; the calls they make are counted."""

    def __init__(self, width: int = 2, seed: int = 0) -> None:
        self.room, self.calls = width * 2, 0
        self.units: list[Unit] = []
        self.waiting: list[Unit] = []
        self.spent: Counter[str] = Counter()
        self.odd: dict[str, deque[str]] = {}
        self.closed: list[bool] = []
        self.together: list[set[str]] = []
        self._chance = random.Random(seed)

    def submit(self, unit: Unit) -> None:
        self.units.append(unit)
        self.waiting.append(unit)

    def completed(self, timeout_s: float | None = None) -> Done | None:
        self.together.append({unit.slug for unit in self.waiting})
        unit = self.waiting.pop(self._chance.randrange(len(self.waiting)))
        odd = self.odd.get(unit.slug)
        if odd:
            return Done(unit.slug, unit.expected, odd.popleft(), "as told")
        if unit.stop:
            return Done(unit.slug, "blocked", "partial", "cap", self.spent[unit.slug])
        self.spent[unit.slug] += COSTS[unit.expected]
        self.calls += COSTS[unit.expected]
        after = PHASES.index(unit.expected) + 1
        if after == len(PHASES):
            return Done(unit.slug, "confirmed", "confirmed", "", self.spent[unit.slug])
        return Done(unit.slug, PHASES[after], "active", "", self.spent[unit.slug])

    def close(self, *, now: bool = False) -> None:
        self.closed.append(now)


def a_batch(folder: Path, count: int) -> tuple[Project, Record]:
    project = Project(Settings(root=str(folder)))
    entries = [
        Entry(f"topic {n}", f"t-{n}", phase="decompose", status="active") for n in range(count)
    ]
    return project, Record("simulated", entries)


def test_every_topic_is_advanced_by_one_phase_at_a_time(tmp_path: Path) -> None:
    """S1: fairly: no run is two phases ahead of one that is ready."""
    project, record = a_batch(tmp_path, 50)
    executor = Simulated(4)
    Runner(project, record, executor, BatchRules()).run()
    assert record.has_ended and record.counts() == {"confirmed": 50}
    done: Counter[str] = Counter()
    for unit in executor.units:
        done[unit.slug] += 1
        assert done[unit.slug] - min(done[f"t-{n}"] for n in range(50)) <= 2
    assert set(done.values()) == {5} and executor.closed == [False]


@pytest.mark.parametrize("limit", [1, 3, 4, 7, 23, 60, 99, 100, 1000])
@pytest.mark.parametrize("width", [1, 2, 8])
def test_a_cap_on_calls_is_never_crossed(tmp_path: Path, limit: int, width: int) -> None:
    """O5: but for the first unit of a phase, whose cost nobody knows yet."""
    project, record = a_batch(tmp_path, 20)
    executor = Simulated(width, seed=limit)
    Runner(project, record, executor, BatchRules(max_model_calls=limit)).run()
    assert executor.calls <= max(limit, 3)
    assert record.has_ended
    assert (record.stopped != "") == (limit < 100)
    if limit >= 100:
        assert record.counts() == {"confirmed": 20}
    else:
        assert f"cap of {limit} model calls" in record.stopped
        assert executor.calls > limit - 4, "what is left is too little for one more search"


@given(
    st.integers(0, 40),
    st.lists(st.tuples(st.sampled_from(PHASES), st.integers(0, 4), st.booleans()), max_size=40),
)
def test_the_sums_are_those_of_the_entries(limit: int, steps: list[tuple[str, int, bool]]) -> None:
    """S3: whatever comes back, also twice (Dask may run a finished unit again)."""
    entries = [Entry(f"topic {n}", f"t-{n}") for n in range(5)]
    allowance = Allowance(BatchRules(max_cost_usd=limit / 100), entries)
    for number, (phase, calls, again) in enumerate(steps):
        entry = entries[number % 5]
        if allowance.ask(phase) == "stop":
            assert "cost cap" in allowance.reason()
            continue
        allowance.begin(entry.slug, phase)
        total = entry.model_calls + calls
        cost = (entry.cost_usd or 0) + calls / 100
        for _ in range(1 + again):
            allowance.end(entry, Done(entry.slug, phase, "active", "", total, cost))
        assert entry.model_calls == total
        assert allowance.calls == sum(each.model_calls for each in entries)
        assert allowance.cost == pytest.approx(sum(each.cost_usd or 0 for each in entries))


def test_an_unknown_price_is_kept_as_unknown() -> None:
    """O5: never 0."""
    entry = Entry("topic", "t-0")
    allowance = Allowance(BatchRules(max_cost_usd=1.0), [entry])
    allowance.begin("t-0", "search")
    allowance.end(entry, Done("t-0", "search", "active", "", 1, None))
    assert entry.cost_usd is None and entry.model_calls == 1


def test_a_run_that_is_busy_elsewhere_is_tried_again_while_others_go_on(tmp_path: Path) -> None:
    """S1: a fenced owner's run too; its pause holds up nobody."""
    project, record = a_batch(tmp_path, 3)
    executor = Simulated(1)
    executor.odd["t-0"] = deque(["busy", "busy"])
    Runner(project, record, executor, BatchRules()).run()
    assert record.counts() == {"confirmed": 3}
    order = [unit.slug for unit in executor.units]
    assert order.count("t-0") == 7 and order.count("t-1") == 5


def test_a_unit_that_kills_its_workers_is_tried_alone_then_given_up(tmp_path: Path) -> None:
    """S1: exit 1 for it alone; those that died with it are not counted against."""
    project, record = a_batch(tmp_path, 6)
    executor = Simulated(3)
    executor.odd["t-2"] = deque(["lost"] * 9)
    executor.odd["t-4"] = deque(["lost"])
    Runner(project, record, executor, BatchRules()).run()
    assert record.counts() == {"confirmed": 5, "failed": 1}
    assert not record.has_ended, "a run that was given up has not ended"
    (failed,) = (entry for entry in record.entries if entry.status == "failed")
    assert failed.slug == "t-2" and "died 5 times" in failed.detail
    alone = [group for group in executor.together if "t-2" in group][-3:]
    assert alone == [{"t-2"}] * 3


def test_a_worker_without_the_folder_ends_the_batch_at_once(tmp_path: Path) -> None:
    """S3: it must not be taken for a run that was cleared; nothing is lost."""
    project, record = a_batch(tmp_path, 3)
    executor = Simulated(2)
    executor.odd["t-1"] = deque(["unreachable"])
    with pytest.raises(PrerequisiteError, match="as told"):
        Runner(project, record, executor, BatchRules()).run()
    assert executor.closed == [True]
    assert {entry.status for entry in record.entries} == {"active"}


def test_a_worker_says_that_it_does_not_see_the_folder_or_runs_another_version(
    tmp_path: Path,
) -> None:
    """S2, S3: before it touches anything."""
    from omh_research.batch.unit import advance_unit

    done = advance_unit(Unit(str(tmp_path), "no-batch", "a-run", "search"))
    assert done.status == "unreachable" and "does not see" in done.detail
    done = advance_unit(Unit(str(tmp_path), "no-batch", "a-run", "search", version="0.0.1"))
    assert done.status == "unreachable" and "0.0.1" in done.detail
    assert list(tmp_path.iterdir()) == []


def test_an_executor_nobody_knows_is_refused() -> None:
    with pytest.raises(UsageError, match="serial, processes, dask"):
        make_executor("threads", lambda unit: Done(unit.slug, "", "active"), workers=1)
