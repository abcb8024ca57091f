"""Commits executed: in order, fenced, re-based on foreign writes, no cancel lost (E1, E2, E29, O4)."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from omh_research import commit
from omh_research.commit import Clear, Commit, Log, PutFiles, PutRows, PutState, Seal
from omh_research.documents import event
from omh_research.documents.event import Word
from omh_research.documents.state import State, parse_state
from omh_research.errors import DamagedFileError, FencedError, NoSuchRunError, StorageError
from omh_research.outcome import Artifact
from omh_research.project import Project
from tests.store.fault_os import faulty_disk
from tests.store.parts import SESSION, SLUG, a_project, a_state, free


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return a_project(tmp_path)


def state_file(project: Project) -> Path:
    return Path(project.layout.state(SLUG))


def put(project: Project, state: State, base: State | None = None) -> None:
    project.writer.put_state(PutState(state, base))


def on_disk(project: Project) -> State:
    state = project.reader.state(SLUG)
    assert state is not None
    return state


def write_as_plugin(project: Project, **changes: Any) -> None:
    """Change the state as a tool of the `omh_state` format does: read, merge, write in place."""
    plain = json.loads(state_file(project).read_bytes())
    plain.update(changes)
    plain["_meta"] = {"written_at": "now", "mode": "research", "schema_version": 1,
                      "written_by": "omh-plugin"}  # fmt: skip
    state_file(project).write_text(json.dumps(plain))


def a_commit(*ops: Any) -> Commit:
    return Commit(SLUG, tuple(ops), None, "search")


def started() -> Log:
    return Log(SESSION, (event.make(Word.STARTED, SLUG, 1),))


def test_ops_are_made_true_in_order_each_before_the_next(project: Project) -> None:
    """E18: artifacts, events, state; the owner is checked before each."""
    seen: list[list[str]] = []

    def guard() -> None:
        base = Path(project.layout.base)
        seen.append(
            sorted(p.name for p in base.rglob("*") if p.is_file() and "README" not in p.name)
        )

    ops = (
        PutFiles((Artifact("finding", "coasts", "c"), Artifact("finding", "moon", "m"))),
        PutRows("evidence_ledger.jsonl", ("{}",)),
        started(),
        PutState(a_state(), None),
    )
    project.writer.execute(a_commit(*ops), guard)
    state, log = f"research--{SLUG}.json", f"research-{SESSION}.log"
    files = [".gitignore", "coasts.md", "moon.md", "evidence_ledger.jsonl", log]
    assert seen == [sorted(files[:n]) for n in (1, 3, 4, 5)]
    guard()
    assert seen[-1] == sorted([*files, state])


def test_modes_and_the_seeded_files(project: Project) -> None:
    """E1: 0600 for the state; README and .gitignore seeded once, never overwritten."""
    put(project, a_state())
    assert stat.S_IMODE(state_file(project).stat().st_mode) == 0o600
    ignore = Path(project.layout.base) / ".gitignore"
    assert ignore.read_text() == "state/\nlogs/\ncache/\n"
    ignore.write_text("mine\n")
    project.writer.prepare_root()
    assert ignore.read_text() == "mine\n"


def test_a_batch_costs_no_more_syncs_than_it_needs(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Q3: three findings in one folder (4), rows (1), events (1), state (2); none less."""
    rows = PutRows("evidence_ledger.jsonl", ('{"a": 1}',))
    files = PutFiles(tuple(Artifact("finding", stem, "x") for stem in ("a", "b", "c")))
    state = a_state()
    commit_1 = a_commit(files, rows, started(), PutState(state, None))
    project.writer.execute(commit_1, free)
    with faulty_disk(monkeypatch) as fake:
        more = PutRows("evidence_ledger.jsonl", ('{"a": 2}',))
        project.writer.execute(
            a_commit(files, more, started(), PutState(a_state(revision=3), state)), free
        )
    assert fake.count("fsync") == 4 + 1 + 1 + 2


def test_a_new_run_never_overwrites_another(project: Project) -> None:
    """E5."""
    put(project, a_state(topic="first"))
    with pytest.raises(FencedError):
        put(project, a_state(topic="second"))
    assert on_disk(project).topic == "first"


def test_an_owner_that_was_overtaken_is_refused(project: Project) -> None:
    """O4: a paused old owner that wakes must not write over its successor's state."""
    base = a_state(revision=2)
    put(project, base)
    put(project, a_state(revision=3, phase="gap_check"), base)
    with pytest.raises(FencedError) as caught:
        put(project, a_state(revision=3, phase="search"), base)
    assert caught.value.exit_code == 6
    assert on_disk(project).phase == "gap_check"


def test_another_session_under_the_slug_is_refused(project: Project) -> None:
    put(project, a_state(session_id="other"))
    with pytest.raises(FencedError):
        put(project, a_state(revision=3), a_state())


def test_a_state_that_was_cleared_does_not_come_back(project: Project) -> None:
    with pytest.raises(NoSuchRunError):
        put(project, a_state(revision=3), a_state())
    assert not state_file(project).exists()


def test_a_foreign_write_is_rebased_on_never_refused(project: Project) -> None:
    """E2: its unknown fields and its cancel stay, our phase and counters win."""
    base = a_state()
    put(project, base)
    write_as_plugin(project, phase="search", note_of_another={"a": 1}, synthesis_attempts=0)
    put(project, a_state(revision=3, phase="gap_check", completed_subtopics=("a",)), base)
    state = on_disk(project)
    assert (state.phase, state.completed_subtopics) == ("gap_check", ("a",))
    assert state.unknown == {"note_of_another": {"a": 1}}
    assert state.revision == 3 and state.meta.written_by.startswith("omh_research ")


def test_a_foreign_write_without_a_revision_does_not_turn_ours_back(project: Project) -> None:
    """O4: the revision only grows."""
    base = a_state(revision=8)
    put(project, base)
    plain = json.loads(state_file(project).read_bytes())
    del plain["revision"]
    plain["_meta"]["written_by"] = "omh-plugin"
    state_file(project).write_text(json.dumps(plain))
    put(project, a_state(revision=9), base)
    assert on_disk(project).revision == 9


def test_a_foreign_cancel_is_never_lost_to_our_write(project: Project) -> None:
    """E2, E35: asked for while a phase was at work."""
    base = a_state()
    put(project, base)
    write_as_plugin(project, cancel_requested=True, cancel_reason="enough", cancel_at="t",
                    cancel_requested_by="ann")  # fmt: skip
    put(project, a_state(revision=3, phase="gap_check"), base)
    state = on_disk(project)
    assert (state.cancel_requested, state.cancel_reason, state.cancel_requested_by) == (
        True, "enough", "ann",
    )  # fmt: skip
    assert project.reader.cancel_request(SLUG, state) is not None


def test_our_own_cancel_marker_is_outside_the_state(project: Project) -> None:
    """E35: no state write can lose it; it never waits for the run's lock and never expires."""
    base = a_state()
    put(project, base)
    project.writer.put_cancel(SLUG, "enough", "user")
    put(project, a_state(revision=3, phase="gap_check"), base)
    asked = project.reader.cancel_request(SLUG, on_disk(project))
    assert asked is not None and (asked.reason, asked.by) == ("enough", "user")
    assert stat.S_IMODE(os.stat(project.layout.cancel(SLUG)).st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"\0\0", b"nonsense", b"[]", b'{"reason": 1}'])
def test_a_damaged_cancel_marker_still_cancels(project: Project, content: bytes) -> None:
    """E35: in doubt it was meant."""
    Path(project.layout.cancel(SLUG)).write_bytes(content)
    assert project.reader.cancel_request(SLUG, a_state()) is not None


def test_a_cancel_swept_away_while_it_was_written_is_written_again(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """E35: the holder of the run sweeps temporary files; a cancel may be one of them."""
    with faulty_disk(monkeypatch) as fake:
        fake.fail("replace", 1, 2)
        project.writer.put_cancel(SLUG, "r", "user")
        assert fake.count("replace") == 2
        fake.fail("replace", 3, 13)
        with pytest.raises(StorageError):
            project.writer.put_cancel(SLUG, "r", "user")
    assert Path(project.layout.cancel(SLUG)).exists()


def test_clearing_removes_what_lives_and_dies_with_the_state(project: Project) -> None:
    """E29 (3): replies, state, marker; durable files and lock files stay."""
    from omh_research.documents.task import Reply
    from omh_research.store import lock
    from omh_research.store.mailbox import Mailbox

    put(project, a_state())
    Mailbox(project.layout, SLUG).put(Reply(task_id="search-0-a", text="x"))
    project.writer.put_cancel(SLUG, "", "")
    lock.acquire(project.layout.lock(SLUG)).release()
    project.writer.execute(
        a_commit(PutFiles((Artifact("report", SLUG, "r"),)), Clear(SLUG), Clear(SLUG)), free
    )
    left = sorted(path.name for path in Path(project.layout.state_dir).iterdir())
    assert left == ["locks"] and os.path.exists(project.layout.lock(SLUG))
    assert Path(project.layout.report(SLUG)).read_text() == "r"


def test_a_guard_that_objects_stops_the_commit(project: Project) -> None:
    calls = 0

    def guard() -> None:
        nonlocal calls
        calls += 1
        if calls == 2:
            raise FencedError("taken over")

    ops = (started(), PutFiles((Artifact("report", SLUG, "r"),)))
    with pytest.raises(FencedError):
        project.writer.execute(a_commit(*ops), guard)
    assert not os.path.exists(project.layout.report(SLUG))


def test_the_confirmation_is_sealed_before_the_report_says_so() -> None:
    """E29, E37: VERIFY_PASS, seal, (1) report, (2) event, (3) clear; nothing else, no state."""
    from omh_research.documents.options import RunOptions
    from omh_research.documents.snapshot import Snapshot
    from omh_research.machine import Trigger
    from omh_research.outcome import Outcome

    events = tuple(event.make(word, SLUG, 5) for word in (Word.VERIFY_PASS, Word.REPORT_CONFIRMED))
    report = Artifact("report", SLUG, "---\nstatus: confirmed\n---\n")
    outcome = Outcome(trigger=Trigger.PASSED, artifacts=(report,), events=events)
    planned = commit.plan(outcome, Snapshot(state=a_state(phase="verify"), options=RunOptions()))
    kinds = [type(op).__name__ for op in planned.ops]
    assert kinds == ["Log", "Seal", "PutFiles", "Log", "Clear"]
    assert planned.state is None and planned.phase == "confirmed"
    logged = [op.events[0].word for op in planned.ops if isinstance(op, Log)]
    assert logged == ["VERIFY_PASS", "REPORT_CONFIRMED"]


def test_a_seal_is_written_before_the_report(project: Project) -> None:
    report = Artifact("report", SLUG, "---\nstatus: confirmed\n---\n")
    project.writer.execute(a_commit(Seal(report)), free)
    assert not os.path.exists(project.layout.report(SLUG))
    seal = json.loads(Path(project.layout.evidence(SLUG, "seal.json")).read_text())
    assert list(seal["files"]) == [f".omh/research/{SLUG}-report.md"]


def test_a_damaged_state_is_never_overwritten(project: Project) -> None:
    """E3: not silently, not by a commit."""
    put(project, a_state())
    state_file(project).write_bytes(b"{damaged")
    with pytest.raises(DamagedFileError):
        put(project, a_state(revision=3), a_state())
    assert state_file(project).read_bytes() == b"{damaged"


def test_moving_aside_keeps_every_damaged_file(project: Project) -> None:
    """E3, 81 section 3: `.corrupt-N`, one more each time."""
    for n in (1, 2, 3):
        state_file(project).write_bytes(b"%d" % n)
        assert project.writer.move_aside(str(state_file(project))).endswith(f".corrupt-{n}")
    kept = sorted(Path(project.layout.state_dir).glob("*.corrupt-*"))
    assert [path.read_bytes() for path in kept] == [b"1", b"2", b"3"]
    with pytest.raises(StorageError):
        project.writer.move_aside(str(state_file(project)))


def test_a_state_written_by_us_reads_back(project: Project) -> None:
    put(project, a_state(unknown={"x": 1}))
    data = state_file(project).read_bytes()
    assert parse_state(data, where="s", slug=SLUG).meta.written_at == "2026-11-30T12:00:00Z"
