"""Caps: the seed's plan and account (T1-T4, T25), from payloads and from ledgers."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.documents.source import Fetch
from omh_research.errors import ToolInputError
from omh_research.tools.caps import (
    ABSOLUTE_CAPS,
    DEFAULT_CAPS,
    account,
    account_ledger,
    count_attempts,
    effective_caps,
    plan,
)

DISTINCT = [
    "encryption at rest guarantees", "network latency impact benchmarks",
    "offline inference accuracy tradeoffs", "battery power consumption profile",
    "user consent flow design", "data retention policy limits", "third party audit findings",
    "open source licensing terms", "memory footprint ceiling", "cross device state sync",
]  # fmt: skip


def test_defaults_and_ceilings_are_the_specs() -> None:
    """T2, T25."""
    assert DEFAULT_CAPS == {
        "max_subquestions": 8,
        "max_fetches": 40,
        "max_fetches_per_subquestion": 8,
        "max_model_calls": 30,
        "max_depth": 2,
        "max_cost_usd": None,
    }
    assert ABSOLUTE_CAPS == {
        "max_subquestions": 20,
        "max_fetches": 100,
        "max_fetches_per_subquestion": 20,
        "max_model_calls": 100,
        "max_depth": 4,
    }
    assert effective_caps(None) == effective_caps({}) == DEFAULT_CAPS


def test_an_override_lowers_or_lifts_to_the_ceiling_only() -> None:
    caps = effective_caps(
        {"max_subquestions": 3, "max_fetches": 1e9, "max_depth": float("inf"), "max_cost_usd": 0.25}
    )
    assert caps["max_subquestions"] == 3
    assert caps["max_fetches"] == 100
    assert caps["max_depth"] == 4
    assert caps["max_cost_usd"] == 0.25
    assert effective_caps({"max_fetches": None})["max_fetches"] == 40


@pytest.mark.parametrize("garbage", [-3, "many", float("nan"), [], {}, True, "", -0.1])
def test_garbage_negative_and_nan_count_as_nothing(garbage: object) -> None:
    """T2."""
    for name in DEFAULT_CAPS:
        assert effective_caps({name: garbage})[name] == 0
    counted = account({"steps": [{"step": "g", "fetches": garbage, "cost_usd": garbage}]})
    assert counted["totals"] == {"fetches": 0, "model_calls": 0, "cost_usd": 0}


def test_an_unknown_field_is_refused_with_the_allowed_ones() -> None:
    with pytest.raises(ToolInputError) as caught:
        effective_caps({"max_fetchs": 3, "b": 1})
    assert "b, max_fetchs" in caught.value.message
    for name in DEFAULT_CAPS:
        assert name in caught.value.message
    with pytest.raises(ToolInputError):
        effective_caps([3])  # type: ignore[arg-type]


def test_plan_drops_exact_and_near_duplicates_and_says_so() -> None:
    """T1, T3: order kept, nothing vanishes silently, Chinese rephrasings collapse."""
    result = plan(
        {
            "subquestions": [
                "What is X?", "what is x", " How does Y work? ",
                "local first ai agent privacy model", "privacy model local first ai agent",
                "中国新能源汽车的出口趋势分析", "分析中国新能源汽车的出口趋势",
                "The Who", "Who",
            ]
        }
    )  # fmt: skip
    assert result["subquestions"] == [
        "What is X?", "How does Y work?", "local first ai agent privacy model",
        "中国新能源汽车的出口趋势分析", "The Who", "Who",
    ]  # fmt: skip
    assert result["dropped"] == {
        "duplicates": [
            "what is x",
            "privacy model local first ai agent",
            "分析中国新能源汽车的出口趋势",
        ],
        "over_cap": [],
    }


def test_plan_over_the_cap_and_its_budgets() -> None:
    result = plan({"subquestions": DISTINCT})
    assert result["subquestions"] == DISTINCT[:8]
    assert result["dropped"]["over_cap"] == DISTINCT[8:]
    assert result["fetch_budget_per_subquestion"] == 5
    assert result["total_fetch_budget"] == 40
    assert plan({"subquestions": DISTINCT[:2]})["fetch_budget_per_subquestion"] == 8
    small = plan({"subquestions": DISTINCT[:8], "caps": {"max_fetches": 3}})
    assert small["fetch_budget_per_subquestion"] == 1
    assert small["total_fetch_budget"] == 3
    none = plan({"subquestions": DISTINCT[:2], "caps": {"max_fetches": 0}})
    assert none["fetch_budget_per_subquestion"] == none["total_fetch_budget"] == 0


def test_plan_past_the_depth_is_not_allowed() -> None:
    result = plan({"subquestions": ["a topic"], "depth": 3})
    assert (result["allowed"], result["reason"], result["depth"]) == (
        False,
        "max_depth_exceeded",
        3,
    )
    assert plan({"subquestions": ["a topic"], "depth": 2})["allowed"]
    assert plan({"subquestions": ["a topic"]})["reason"] is None
    deeper = {"subquestions": ["a topic"], "depth": 5, "caps": {"max_depth": 99}}
    assert plan(deeper)["allowed"] is False


def test_plan_has_the_seeds_fields_and_no_other() -> None:
    assert set(plan({"subquestions": []})) == {
        "subquestions", "fetch_budget_per_subquestion", "total_fetch_budget", "allowed", "reason",
        "dropped", "depth", "caps",
    }  # fmt: skip


def test_entries_that_are_no_text_are_named() -> None:
    result = plan({"subquestions": ["a question", None, 3, " "]})
    assert result["subquestions"] == ["a question"]
    assert result["dropped"]["invalid"] == [None, 3, " "]


@pytest.mark.parametrize("payload", [None, [], "x", {"subquestions": "x"}, {"caps": 3}])
def test_payloads_of_the_wrong_shape_are_refused(payload: object) -> None:
    with pytest.raises(ToolInputError):
        plan(payload)  # type: ignore[arg-type]


def test_account_adds_up_by_step() -> None:
    """T4."""
    result = account(
        {
            "steps": [
                {"step": "gather", "fetches": 3, "model_calls": 1, "cost_usd": 0.01},
                {"step": "gather", "fetches": 2, "model_calls": 1, "cost_usd": 0.02},
                {"step": "synth", "model_calls": 2, "cost_usd": 0.05},
            ]
        }
    )
    assert result["by_step"] == {
        "gather": {"fetches": 5, "model_calls": 2, "cost_usd": 0.03},
        "synth": {"fetches": 0, "model_calls": 2, "cost_usd": 0.05},
    }
    assert result["totals"] == {"fetches": 5, "model_calls": 4, "cost_usd": 0.08}
    assert result["remaining"] == {"fetches": 35, "model_calls": 26}
    assert result["exceeded"] == result["limits_reached"] == []
    assert result["stop"] is False


@pytest.mark.parametrize(("fetches", "stop"), [(39, False), (40, True), (41, True)])
def test_reaching_a_limit_stops(fetches: int, stop: bool) -> None:
    result = account({"steps": [{"step": "g", "fetches": fetches}]})
    assert result["stop"] is stop
    assert result["exceeded"] == result["limits_reached"] == (["max_fetches"] if stop else [])
    assert result["remaining"]["fetches"] == max(0, 40 - fetches)


def test_cost_counts_only_against_a_cost_cap() -> None:
    steps = [{"step": "g", "cost_usd": 0.5, "model_calls": 30}]
    assert account({"steps": steps})["exceeded"] == ["max_model_calls"]
    capped = account({"steps": steps, "caps": {"max_cost_usd": 0.5}})
    assert capped["exceeded"] == ["max_model_calls", "max_cost_usd"]
    assert capped["remaining"]["cost_usd"] == 0


LEDGER = [
    Fetch(
        "search", "ok", "2026-11-30T10:00:00Z", query="official pricing", provider="web", charge=1
    ),
    Fetch("fetch", "ok", "2026-11-30T10:00:01Z", canonical_url="https://e.org/a", charge=1),
    Fetch("fetch", "timeout", "2026-11-30T10:00:02Z", canonical_url="https://e.org/b", charge=1),
    Fetch("fetch", "deduplicated", "2026-11-30T10:00:03Z", canonical_url="https://e.org/a"),
    Fetch("fetch", "refused_cap", "2026-11-30T10:00:04Z", canonical_url="https://e.org/c"),
]


def lines(rows: list[object]) -> str:
    return "".join(msgspec.json.encode(row).decode() + "\n" for row in rows)


def test_our_ledger_counts_attempts_only() -> None:
    """T4, T19: searches, answers from the ledger and refusals are no attempts."""
    assert count_attempts(lines([*LEDGER])) == 2


def test_the_seeds_ledger_counts_failed_and_cached_attempts() -> None:
    rows: list[object] = [
        {"status": "ok", "url": "https://e.org/1"},
        {"status": "failed", "url": "https://e.org/2"},
        {"status": "cached", "canonical_url": "https://e.org/1"},
        {"kind": "query", "query": "x", "status": "ok"},
        {"query": "an older search row", "status": "ok"},
    ]
    assert count_attempts("\n" + lines(rows) + "\n \n") == 3


def test_account_from_plan_and_ledger() -> None:
    envelope = {"ok": True, "data": plan({"subquestions": ["a"], "caps": {"max_fetches": 2}})}
    result = account_ledger(json.loads(json.dumps(envelope)), lines([*LEDGER]))
    assert result["by_step"] == {"fetch_ledger": {"fetches": 2, "model_calls": 0, "cost_usd": 0.0}}
    assert result["exceeded"] == ["max_fetches"]
    assert account_ledger(envelope["data"], "")["totals"]["fetches"] == 0  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ledger", "number"),
    [
        ('{"status":"ok"}\nnot-json\n', 2),
        ('\n\n{"status":"ok"\n{"status":"ok"}\n', 3),
        ("[1]\n", 1),
        ("\x00\n", 1),
        ('{"a": NaN}\n', 1),
        ("nothing", 1),
    ],
)
def test_a_malformed_ledger_line_is_an_error_with_its_number(ledger: str, number: int) -> None:
    with pytest.raises(ToolInputError, match=f"line {number} "):
        count_attempts(ledger)


def test_a_torn_last_line_is_tolerated() -> None:
    """T19."""
    whole = lines([*LEDGER])
    for cut in range(len(whole) - 1, len(whole) - 40, -1):
        assert count_attempts(whole[:cut]) == 2


@pytest.mark.parametrize("document", [{}, {"data": {}}, {"data": {"caps": 3}}, [], None])
def test_a_plan_without_caps_is_refused(document: object) -> None:
    with pytest.raises(ToolInputError):
        account_ledger(document, "")  # type: ignore[arg-type]


json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(json_values, json_values, st.sampled_from(sorted(DEFAULT_CAPS)))
def test_any_json_is_answered_or_refused(value: object, other: object, name: str) -> None:
    for run in (plan, account):
        payload = {"subquestions": value, "steps": value, "depth": other, "caps": {name: other}}
        try:
            result = run(payload)
        except ToolInputError:
            continue
        json.dumps(result["caps"], allow_nan=False)
        assert all(result["caps"][cap] <= top for cap, top in ABSOLUTE_CAPS.items())
