"""Caps inside one task of a model: the call that would cross a cap is not made (D4, T5, O5)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pydantic_ai", reason="needs the extra llm")

from omh_research.documents.task import Allowance, Usage
from omh_research.errors import CapCrossedError
from omh_research.llm.prices import load_prices
from omh_research.llm.purse import Purse
from tests.runs import Ended, cli
from tests.simulators.llm_server import LlmServer, Step
from tests.skill.mind import FACTS, TOPIC, finding, page_of, plan, report, verdict

MODEL = "gpt-4o-mini"


@given(
    tokens=st.integers(0, 60_000),
    cents=st.one_of(st.none(), st.floats(0, 3)),
    sizes=st.lists(st.integers(0, 40_000), max_size=12),
    share=st.floats(0.05, 0.33),
)
def test_no_series_of_calls_crosses_tokens_or_money(
    tokens: int, cents: float | None, sizes: list[int], share: float
) -> None:
    """Whatever a server counts, up to a token for three bytes, and however long it answers."""
    prices = load_prices()
    money = None if cents is None else cents / 100
    purse = Purse(Allowance(tokens=tokens, cost_usd=money), MODEL, prices)
    used, sent = Usage(cost_usd=0.0), 0
    for size in sizes:
        sent += size
        try:
            written = purse.output_limit(used, sent, 8_000)
        except CapCrossedError:
            continue
        read = int(sent * share)
        purse.learn(sent, read)
        cost = prices.cost(MODEL, read, written)
        used = Usage(
            used.model_calls + 1, 0, used.input_tokens + read, used.output_tokens + written,
            (used.cost_usd or 0.0) + (cost or 0.0),
        )  # fmt: skip
    assert used.input_tokens + used.output_tokens <= tokens
    assert money is None or (used.cost_usd or 0.0) <= money


class Greedy:
    """A model that searches on and on and answers only when it may not call a tool.

    It counts a token for four bytes and writes all it is allowed to.
    """

    def __init__(self) -> None:
        self.tokens = 0
        self.addresses: dict[str, str] = {}

    def __call__(self, body: dict[str, Any]) -> Step:
        words = json.dumps(body["messages"], ensure_ascii=False)
        step = self._say(words, body)
        allowed = body.get("max_tokens") or body["max_completion_tokens"]
        read = sum(len(str(m.get("content") or "").encode()) for m in body["messages"]) // 4
        step.tokens = (read, min(allowed, 400))
        self.tokens += sum(step.tokens)
        return step

    def _say(self, words: str, body: dict[str, Any]) -> Step:
        if "[omh-role:planner]" in words:
            return Step(plan())
        if "[omh-role:research-synthesist]" in words:
            return Step(self._cited(report()))
        if "[omh-role:research-verifier]" in words:
            return Step(verdict("PASS"))
        name = next(name for name in FACTS if f"Subtopic: {name}" in words)
        turn = sum(message["role"] == "tool" for message in body["messages"])
        address = f"corpus:docs/{name.split()[0].lower()}.md"
        self.addresses[name] = address
        if body.get("tool_choice") == "none" or not body.get("tools"):
            return Step(finding(name).replace(page_of(name)["url"], address))
        if turn == 0:
            return Step(calls=[("corpus_read", {"urls": [address]})])
        return Step(calls=[("corpus_search", {"query": f"{name} {turn}"})])

    def _cited(self, text: str) -> str:
        for name, address in self.addresses.items():
            text = text.replace(page_of(name)["url"], address)
        return text


@pytest.fixture
def root(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    for name in FACTS:
        text = f"# {name}\n\n{page_of(name)['text']}\n"
        (docs / f"{name.split()[0].lower()}.md").write_text(text, encoding="utf-8")
    return tmp_path


def run(root: Path, made: LlmServer, patch: pytest.MonkeyPatch, *words: str) -> Ended:
    for name in ("OMH_OFFLINE", "OMH_ROOT", "OMH_LLM_PROVIDER"):
        patch.delenv(name, raising=False)
    patch.setenv("OMH_LLM_BASE_URL", made.openai_url)
    patch.setenv("OMH_LLM_MODEL", MODEL)
    patch.setenv("OMH_LLM_API_KEY", "sk-none")
    patch.chdir(root)
    fixed = ("--delegate", "llm", "--corpus", "docs", "--json", "--root", str(root))
    return cli("run", TOPIC, *words, *fixed)


@pytest.mark.parametrize("calls", [6, 9, 14])
def test_side_by_side_tool_loops_keep_the_cap_on_calls_and_leave_draft_and_verdict(
    calls: int, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """O5: three greedy researchers share what is left; the report is still written and judged."""
    with LlmServer(Greedy()) as made:
        done = run(root, made, monkeypatch, "--cap", f"max_model_calls={calls}")
    assert len(made.requests) <= calls
    assert (done.code, done.json["status"]) == (0, "confirmed"), done.out + done.err


def test_too_few_calls_end_in_a_labelled_partial_report(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LlmServer(Greedy()) as made:
        done = run(root, made, monkeypatch, "--cap", "max_model_calls=4")
    assert len(made.requests) <= 4
    assert (done.code, done.json["blocked_reason"]) == (3, "cap")
    text = (root / done.json["report"]).read_text("utf-8")
    assert "status: partial" in text


@pytest.mark.parametrize("tokens", [3_000, 9_000, 20_000, 60_000])
def test_tokens_are_never_overspent(
    tokens: int, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mind = Greedy()
    with LlmServer(mind) as made:
        done = run(root, made, monkeypatch, "--max-tokens", str(tokens))
    assert mind.tokens <= tokens, done.out
    assert done.json["status"] == "confirmed" or done.json["blocked_reason"] == "cap", done.out
    assert done.json["status"] == "confirmed" or tokens < 60_000


@pytest.mark.parametrize("dollars", [0.0005, 0.002, 0.02])
def test_money_is_never_overspent(
    dollars: float, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LlmServer(Greedy()) as made:
        done = run(root, made, monkeypatch, "--cap", f"max_cost_usd={dollars}")
    shown = cli("status", done.json["slug"], "--json", "--root", str(root)).json
    spent = shown.get("spent", {}).get("cost_usd")
    assert spent is None or spent <= dollars, shown
    assert done.json["status"] == "confirmed" or done.json["blocked_reason"] == "cap", done.out
    assert done.json["status"] == "confirmed" or dollars < 0.02
