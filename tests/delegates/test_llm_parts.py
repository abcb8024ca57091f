"""Parts of the llm delegate: actions in text, prices, failures, keys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omh_research.delegates.redaction import redact
from omh_research.delegates.structure import has_structure
from omh_research.errors import UsageError
from omh_research.llm.actions import find_action
from omh_research.llm.prices import load_prices
from omh_research.llm.settings import LlmOptions, resolve_endpoint
from omh_research.llm.shorten import shorten_context

TOOLS = ("web_search", "web_extract")


# --- actions ---------------------------------------------------------------------------------


def test_latex_backslashes_and_raw_newlines_do_not_hide_an_action() -> None:
    """Complaint 32."""
    found = find_action('{"answer": "energy \\alpha is $\\frac{1}{2}$\nnext"}', TOOLS)
    assert found is not None and found.answer == "energy \\alpha is $\\frac{1}{2}$\nnext"


def test_the_first_action_of_a_known_tool_counts_and_other_objects_do_not() -> None:
    text = (
        'First {"note": 1}, then {"tool": "shell", "cmd": "x"} {"tool": "web_search", "query": "a"}'
    )
    found = find_action(text, TOOLS)
    assert found is not None and (found.tool, found.arguments) == ("web_search", {"query": "a"})


def test_half_an_action_is_none() -> None:
    assert find_action('{"tool": "web_search", "query": "a', TOOLS) is None
    assert find_action("{" * 100_000, TOOLS) is None
    assert find_action('{"answer": ""}', TOOLS) is None


# Backspace and form feed are left out: before a letter their escapes are read as LaTeX, on purpose.
_MEANT = st.text(alphabet=st.characters(exclude_characters="\b\f"), max_size=20)


@given(st.dictionaries(st.sampled_from(["query", "limit"]), _MEANT), st.text())
@settings(max_examples=60, deadline=None)
def test_any_call_written_as_json_between_any_prose_without_braces_is_found(
    arguments: dict[str, str], prose: str
) -> None:
    prose = prose.replace("{", "(").replace("}", ")")
    written = json.dumps({"tool": "web_search", "arguments": arguments})
    found = find_action(f"{prose}\n{written}\n{prose}", TOOLS)
    assert found is not None and found.arguments == arguments


@given(st.text(alphabet='{}[]":,\\ at', max_size=200))
@settings(max_examples=80, deadline=None)
def test_any_text_is_read_without_an_error(text: str) -> None:
    found = find_action(text, TOOLS)
    assert found is None or found.tool in (*TOOLS, "answer", "")


# --- contexts cut to fit ---------------------------------------------------------------------


def test_gaps_and_sources_without_any_digit_are_kept_and_prose_goes() -> None:
    """E24: SOURCES and GAPS stay word for word; only running prose is cut, and that is said."""
    prose = "Water flows slowly downhill between green banks. " * 60
    gaps = "GAPS:\n- nobody has measured the upper reach\n- the older maps could not be read"
    text = f"SOURCES:\nthe survey office, no address given\nSYNTHESIS:\n{prose}\n{gaps}"
    cut = shorten_context(text, "upper reach", 400)
    assert cut.text.endswith(gaps) and "the survey office, no address given" in cut.text
    assert cut.cut_chars > 2_000 and "characters of prose cut" in cut.text
    assert shorten_context(text, "x", len(text)).text == text


# --- prices ----------------------------------------------------------------------------------


def test_the_packaged_table_is_dated_and_every_price_is_positive() -> None:
    table = load_prices()
    assert len(table.as_of) == 10 and len(table.models) > 50
    assert all(price.input > 0 and price.output > 0 for price in table.models.values())


@pytest.mark.parametrize(
    ("model", "known"),
    [
        ("gpt-4o", "gpt-4o"), ("openai/gpt-4o", "gpt-4o"), ("gpt-4o-2024-08-06", "gpt-4o"),
        ("GPT-4o-mini", "gpt-4o-mini"), ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude-3-5-haiku-20241022", "claude-3-5-haiku-latest"),
    ],
)  # fmt: skip
def test_a_model_is_found_with_prefix_and_date(model: str, known: str) -> None:
    table = load_prices()
    assert table.find(model) == table.models[known]


@pytest.mark.parametrize("model", ["gpt-4o-turbo-max", "gpt", "", "qwen2.5-coder-0.5b", "gpt-99"])
def test_an_unknown_model_has_no_price(model: str) -> None:
    assert load_prices().find(model) is None
    assert load_prices().cost(model, 1000, 1000) is None


def test_cached_and_long_inputs_have_their_own_prices(tmp_path: Path) -> None:
    own = tmp_path / "p.yaml"
    own.write_text(
        'as_of: "2026-01-01"\nmodels:\n  M: {input: 4, output: 10, cached: 1, long_from: 1000000,'
        " long_input: 8, long_output: 20}\n"
    )
    table = load_prices(str(own))
    assert "own prices of 2026-01-01" in table.as_of
    assert table.cost("m", 500_000, 100_000, cached_tokens=250_000) == pytest.approx(1 + 0.25 + 1)
    assert table.cost("m", 1_000_000, 100_000) == pytest.approx(8 + 2)


@pytest.mark.parametrize(
    "text",
    ["models: 3", 'as_of: "x"\nmodels:\n  m: {input: -1, output: 1}',
     'as_of: "x"\nmodels:\n  m: {in: 1}', 'as_of: "x"\nmodels:\n  m: {input: .nan, output: 1}'],
)  # fmt: skip
def test_a_wrong_price_file_is_named(tmp_path: Path, text: str) -> None:
    own = tmp_path / "p.yaml"
    own.write_text(text)
    with pytest.raises(UsageError, match=r"p\.yaml"):
        load_prices(str(own))


# --- endpoints, keys, shapes -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("environ", "provider", "url"),
    [
        ({"OPENAI_API_KEY": "k"}, "openai", "https://api.openai.com/v1"),
        ({"ANTHROPIC_API_KEY": "k"}, "anthropic", "https://api.anthropic.com"),
        ({"OMH_LLM_BASE_URL": "http://127.0.0.1:1/v1/"}, "openai", "http://127.0.0.1:1/v1"),
        (
            {"OMH_LLM_BASE_URL": "http://127.0.0.1:1", "OMH_LLM_PROVIDER": "anthropic"},
            "anthropic",
            "http://127.0.0.1:1",
        ),
    ],
)
def test_the_environment_names_the_endpoint(
    environ: dict[str, str], provider: str, url: str
) -> None:
    found = resolve_endpoint(LlmOptions(model="m"), environ)
    assert (found.provider, found.base_url) == (provider, url)


def test_secret_values_and_key_shapes_are_removed_and_ordinary_words_stay() -> None:
    environ = {"MY_TOKEN": "abc123xyz", "PATH": "/usr/bin", "SHORT_KEY": "ab"}
    text = (
        "abc123xyz in /usr/bin ab Authorization: Bearer zzz999zzz https://me:secret@host/x "
        "sk-ant-api03-AAAAAAAAAAAA task-force risk-assessment-2024"
    )
    assert redact(text, environ) == (
        "[redacted] in /usr/bin ab Authorization: Bearer [redacted] https://[redacted]@host/x "
        "[redacted] task-force risk-assessment-2024"
    )


@pytest.mark.parametrize(
    ("role", "text", "shaped"),
    [
        ("researcher", "SOURCES:\n[1] x\nSYNTHESIS: y", True),
        ("researcher", "**Sources**\n- x\n## Synthesis\ny", True),
        ("researcher", "来源：\n[1] x\n综合：y", True),
        ("researcher", "The sources say that synthesis is hard.", False),
        ("researcher", "SOURCES: x", False),
        ("research-synthesist", "# T\n## Executive Summary\nx", True),
        ("research-synthesist", "# T\nx", False),
        ("planner", '- name: "A"\n  queries: [b]', True),
        ("planner", '[{"name": "A", "queries": ["b"]}]', True),
        ("planner", "1. A\n2. B", False),
        ("research-verifier", "", True),
        ("claim-skeptic", "", True),
    ],
)
def test_shapes_of_roles(role: str, text: str, shaped: bool) -> None:
    assert has_structure(role, text) is shaped
