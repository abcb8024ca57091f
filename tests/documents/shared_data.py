"""Where the shared data stands, for tests marked `data`."""

import os
from pathlib import Path

import pytest


def shared_data() -> Path:
    """Return the shared data folder or skip the test."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "data"
    folder = Path(os.environ.get("OMH_SHARED_DATA") or beside)
    if not folder.is_dir():
        pytest.skip("the shared data folder is absent")
    return folder
