"""Plans: strict files, lenient planners, the rules of E15 by name."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.documents.plan import (
    Subtopic,
    check_plan,
    parse_plan_file,
    parse_planner_answer,
    parse_subtopic_option,
)
from omh_research.errors import PlanError

GOOD = (
    Subtopic("History", ("history of x", "origin of x")),
    Subtopic("Cost: 2024", ("cost of x", "price of x")),
    Subtopic("风险", ("x 的风险", "x 事故")),
)
YAML = """subtopics:
  - name: History
    queries: [history of x, origin of x]
  - name: "Cost: 2024"
    queries:
      - cost of x
      - price of x
  - name: 风险
    queries: ["x 的风险", 'x 事故']
"""
JSON = json.dumps({"subtopics": [{"name": s.name, "queries": list(s.queries)} for s in GOOD]})


@pytest.mark.parametrize(
    "text",
    [
        YAML,
        JSON,
        "\ufeff" + YAML,
        YAML.replace("\n", "\r\n"),
        f"---\nstatus: planning\n{YAML}---\n\nprose",
        f"---\n{YAML}",
    ],
)
def test_e15_yaml_json_and_plan_files_read_the_same(text: str) -> None:
    assert parse_plan_file(text.encode(), "plan.yaml") == GOOD
    check_plan(GOOD)


def test_scalars_of_yaml_stay_strings() -> None:
    text = "subtopics:\n  - {name: 2024-01-02, queries: [no, 1.10]}\n"
    assert parse_plan_file(text.encode(), "p") == (Subtopic("2024-01-02", ("no", "1.10")),)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "list `subtopics`"),
        ("just words", "list `subtopics`"),
        ("subtopics: many", "list `subtopics`"),
        ("subtopics:\n  - History", "`name` and `queries`"),
        ("subtopics:\n  - {name: '', queries: [a, b]}", "no text as `name`"),
        ("subtopics:\n  - {queries: [a, b]}", "no text as `name`"),
        ("subtopics:\n  - {name: x}", "no list of `queries`"),
        ("subtopics:\n  - {name: x, queries: []}", "no list of `queries`"),
        ("subtopics:\n  - {name: x, queries: a}", "no list of `queries`"),
        ("subtopics:\n  - {name: x, queries: [{a: b}]}", "not a text"),
        ("subtopics:\n  - {name: [x], queries: [a, b]}", "no text as `name`"),
        ("a: &a [x, x]\nb: &b [*a, *a]\nsubtopics: *b", "anchors"),
        ("subtopics: *x", "aliases"),
        ("subtopics: !!python/object:os.system x", "tags"),
        ("subtopics: []\nsubtopics: []", "twice"),
        ("<<: {a: b}\nsubtopics: []", "merge"),
        ("subtopics: [", "cannot be read"),
        ('{"subtopics": [{"name": NaN, "queries": ["a"]}]}', "NaN"),
        ('{"subtopics": [{"name": 5, "queries": ["a", "b"]}]}', "no text as `name`"),
        ('{"subtopics": [{"name": "a", "queries": [1, null]}]}', "not a text"),
        ('{"subtopics": [], "subtopics": []}', "twice"),
        ("[" * 30_000, ""),
        ("subtopics:\n" + "  - x\n" * 20_000, "size limit"),
    ],
)
def test_hostile_and_malformed_plans_are_refused_with_the_rule(text: str, rule: str) -> None:
    with pytest.raises(PlanError, match=rule or "plan.yaml") as caught:
        parse_plan_file(text.encode(), "plan.yaml")
    assert caught.value.exit_code == 2
    assert len(str(caught.value)) < 600


def test_a_plan_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(PlanError, match="UTF-8"):
        parse_plan_file("subtopics: ü".encode("latin-1"), "p")


def subtopics(count: int, queries: int = 2) -> list[Subtopic]:
    return [Subtopic(f"s{n}", tuple(f"q{n} {k}" for k in range(queries))) for n in range(count)]


@pytest.mark.parametrize("plan", [subtopics(3), subtopics(5, 3)])
def test_e15_three_to_five_subtopics_pass(plan: list[Subtopic]) -> None:
    check_plan(plan)


@pytest.mark.parametrize(
    ("plan", "rule"),
    [
        ([], "3 to 5 subtopics, this one has 0"),
        (subtopics(2), "3 to 5 subtopics, this one has 2"),
        (subtopics(6), "3 to 5 subtopics, this one has 6"),
        (subtopics(3, 1), "2 to 3 queries"),
        (subtopics(3, 4), "2 to 3 queries"),
        ([*subtopics(2), Subtopic("S0", ("a", "b"))], "twice"),
        ([*subtopics(2), Subtopic("x", ("a", "A"))], "same query twice"),
        ([*subtopics(2), Subtopic(" ", ("a", "b"))], "empty"),
        ([*subtopics(2), Subtopic("x" * 201, ("a", "b"))], "over 200"),
        ([*subtopics(2), Subtopic("x", ("a" * 501, "b"))], "over 500"),
        ([*subtopics(2), Subtopic("x\x00y", ("a", "b"))], "control"),
        ([*subtopics(2), Subtopic("_followup", ("a", "b"))], "reserved"),
    ],
)
def test_e15_a_broken_rule_is_named(plan: list[Subtopic], rule: str) -> None:
    with pytest.raises(PlanError, match=rule):
        check_plan(plan)


def test_the_option_form() -> None:
    assert parse_subtopic_option("Cost of x: first q;  second q ;") == Subtopic(
        "Cost of x", ("first q", "second q")
    )
    assert parse_subtopic_option("成本：价格；费用") == Subtopic("成本", ("价格", "费用"))


@pytest.mark.parametrize("text", ["", "name", "name:", ": q", "name: ;"])
def test_a_malformed_option_is_a_plan_error(text: str) -> None:
    with pytest.raises(PlanError, match="not a subtopic"):
        parse_subtopic_option(text)


LIST = YAML.removeprefix("subtopics:\n")


@pytest.mark.parametrize(
    "answer",
    [
        YAML,
        JSON,
        LIST,
        f"Here is my plan:\n\n```yaml\n{YAML}```\n\nIt covers all.",
        f"Here is my plan:\n\n~~~\n{LIST}~~~\n",
        f"<think>- name: wrong\n  queries: [a]\n</think>\nSure:\n{LIST}\nHope this helps: tell me more.",
        f"Plan: {JSON} done.".replace("Plan: ", "Plan:\n"),
        "- name: History\n  queries:\n    - history of x\n    - origin of x\n- name: Cost: 2024\n  queries: [cost of x, price of x]\n- name: 风险\n  queries:\n  - x 的风险\n  - x 事故\n",
        "1. **name**: History\n   **queries**: history of x; origin of x\n2. **name**: Cost: 2024\n   queries: cost of x; price of x\n3. name: 风险\n   queries: x 的风险；x 事故",
    ],
)
def test_d5b_planners_answer_in_many_forms(answer: str) -> None:
    assert parse_planner_answer(answer) == GOOD


def test_a_latex_backslash_does_not_lose_the_plan() -> None:
    answer = (
        r'{"subtopics": [{"name": "The \alpha decay", "queries": ["\alpha decay", "half life"]}]}'
    )
    assert parse_planner_answer(answer) == (
        Subtopic(r"The \alpha decay", (r"\alpha decay", "half life")),
    )


@pytest.mark.parametrize(
    "answer", ["", "I cannot plan this.", "- a\n- b", "```yaml\nname: x\n```", '{"subtopics": []}']
)
def test_an_answer_without_a_list_is_a_plan_error(answer: str) -> None:
    with pytest.raises(PlanError, match="no list"):
        parse_planner_answer(answer)


@given(st.text(max_size=200))
def test_any_answer_is_a_plan_or_a_plan_error(answer: str) -> None:
    for text in (answer, f"- name: {answer}\n  queries: [{answer}, b]"):
        try:
            found = parse_planner_answer(text)
        except PlanError:
            continue
        assert all(subtopic.name and subtopic.queries for subtopic in found)


@given(st.binary(max_size=200))
def test_any_file_is_a_plan_or_a_plan_error(data: bytes) -> None:
    with contextlib.suppress(PlanError):
        assert all(item.name and item.queries for item in parse_plan_file(data, "p"))


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "piece", ["- name: x\n", "```\n", "[", "{", "\\", "- name: x\n  queries: [a]\nprose: [\n"]
)
def test_hostile_planner_answers_end_quickly(piece: str) -> None:
    try:
        found = parse_planner_answer(piece * (60_000 // len(piece)))
    except PlanError as error:
        assert 0 < len(error.message) < 1_000, "the reason, not the answer"
    else:
        assert found and all(subtopic.name and subtopic.queries for subtopic in found)
