"""Reading what other programs write (E2)."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from omh_research.errors import DamagedFileError
from omh_research.project import Project
from omh_research.settings import Settings
from tests.runs import Run


def test_e2_a_state_that_another_program_is_writing_in_place_is_not_called_damaged(
    tmp_path: Path,
) -> None:
    run = Run(tmp_path)
    run.start()
    whole = run.state_path.read_bytes()
    reader = Project(Settings(root=str(run.root))).reader

    def write_slowly() -> None:
        time.sleep(0.015)
        run.state_path.write_bytes(whole)

    for part in (b"", whole[: len(whole) // 2]):
        run.state_path.write_bytes(part)
        writer = threading.Thread(target=write_slowly)
        writer.start()
        state = reader.state(run.slug)
        writer.join()
        assert state is not None and state.phase == "search"


def test_e3_a_state_that_stays_cut_is_damaged_and_left_as_it_is(tmp_path: Path) -> None:
    run = Run(tmp_path)
    run.start()
    half = run.state_path.read_bytes()[:100]
    run.state_path.write_bytes(half)
    with pytest.raises(DamagedFileError):
        Project(Settings(root=str(run.root))).reader.state(run.slug)
    assert run.state_path.read_bytes() == half
