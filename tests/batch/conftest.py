"""Fixtures of the batch tests: their folder is in memory where there is one.

These tests are about killed processes and many runs, not about disks.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.batch.batches import fast_folder


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder of its own for each test."""
    with fast_folder() as folder:
        yield folder
