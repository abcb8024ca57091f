"""The llm delegate end to end against a real small local model (85-hosts section 1), one question.

Such a model judges badly and searches badly, so nothing is asserted about what it says: only that
its answers arrive, are counted, and that what it read is on record. Skipped without the model.
"""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("pydantic_ai", reason="needs the extra llm")

from omh_research.delegates.registry import make
from omh_research.llm.actions import find_action

from .tasks import WEB, MemoryLibrary, a_task, never

SERVER = Path(__file__).parents[1] / "simulators" / "local_model.py"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Start the model; skip, saying why, where it is not installed."""
    python = os.environ.get("OMH_TEST_LOCAL_MODEL")
    if not python:
        pytest.skip("no local model: see tests/simulators/local_model.py (OMH_TEST_LOCAL_MODEL)")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = Path(tempfile.gettempdir()) / "omh-local-model"
    server = subprocess.Popen(
        [python, str(SERVER), str(port), str(folder)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield wait_until_ready(server, f"http://127.0.0.1:{port}")
    finally:
        server.kill()
        server.wait()


def wait_until_ready(server: subprocess.Popen[bytes], root: str) -> str:
    for _ in range(600):
        assert server.poll() is None, "the local model did not start"
        try:
            with urllib.request.urlopen(f"{root}/health", timeout=2):
                return f"{root}/v1"
        except OSError:
            time.sleep(0.2)
    raise AssertionError("the local model did not become ready")


def test_a_question_is_answered_from_the_context(address: str) -> None:
    options = {
        "base_url": address, "model": "local", "temperature": 0,
        "max_output_tokens": 120, "timeout_s": 240,
    }  # fmt: skip
    delegate = make("llm", options, role_text=lambda _: "You answer in one short sentence.")
    task = a_task(
        "research-verifier", goal="How long is the Rhine, in kilometres?",
        context="The Rhine is 1,233 km long.",
    )  # fmt: skip
    reply = delegate.answer(task, None, never)
    assert reply.status == "answered" and "1,233" in reply.text
    assert reply.usage.model_calls == 1 and reply.usage.input_tokens > 50
    assert reply.usage.cost_usd is None, "the price of an own model is not known"


def test_a_researcher_that_cannot_call_tools_still_stands_on_what_was_read(address: str) -> None:
    """85-hosts 1.4: native tools come back as text, searches repeat for ever."""
    options = {
        "base_url": address, "model": "local", "temperature": 0, "max_turns": 4,
        "max_output_tokens": 160, "timeout_s": 240,
    }  # fmt: skip
    library = MemoryLibrary()
    goal = "Find out how long the Rhine is. Answer with SOURCES: and SYNTHESIS: sections."
    reply = make("llm", options).answer(a_task(goal=goal, tools=WEB), library, never)
    assert library.searched, "whatever the model does, something was searched"
    assert reply.text and find_action(reply.text, WEB) is None, (
        "no tool call is taken for an answer"
    )
    assert 2 <= reply.usage.model_calls <= 12
    assert reply.usage.fetches == len(library.was_read)
