"""The fabrication battery (issue 3, item 4): every fault of a claimed kind is caught, no clean
report is flagged. The table of kinds is printed with `-s`; scripts/make_fabrication_table.py puts
it into the README."""

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from omh_research.tools.gate import GateInput, check, render_feedback
from tests.tools.fabrications import KINDS, mutants
from tests.tools.gate_cases import all_clean as plain_runs
from tests.tools.real_cases import real_runs
from tests.tools.wording_cases import worded_runs

NOT_CAUGHT = (
    (
        "a number, date or name swapped for another one that the same source states nearby",
        "outside quotation marks; the verifier's task",
    ),
    (
        "a changed name in a script without capitals (Chinese, Arabic), or a German noun",
        "outside quotation marks, book-title marks aside",
    ),
    (
        'a negation, an opposite word, a bound ("less than") or a number in words in a freely worded '
        "sentence",
        "caught in quotations and in sentences nearly as the source has them; not compared across "
        "languages",
    ),
    (
        "anything about a source that is only declared",
        "its text is not held: counted as unknown, never as proven; a quotation that no finding "
        "has either is caught",
    ),
    (
        "a statement without number, date, name or quotation that its source does not make",
        "meaning is the verifier's and the panel's task",
    ),
)


def all_clean() -> dict[str, GateInput]:
    """Return every clean run by name."""
    return {**plain_runs(), **worded_runs()}


def is_caught(case: GateInput, rules: tuple[str, ...]) -> bool:
    result = check(case)
    if not rules:
        return not result.has_usable_source and not result.passed
    return not result.passed and bool({failure.rule for failure in result.failures} & set(rules))


def run_battery(cases: dict[str, GateInput], limit: int) -> Iterator[tuple[str, int, int]]:
    """Yield (kind, mutants, caught) over all cases; at most `limit` mutants of a kind and case."""
    for kind, (_, rules) in KINDS.items():
        found = [
            m
            for seed, case in enumerate(cases.values())
            for m in mutants(case, kind, limit=limit, seed=seed)
        ]
        yield kind, len(found), sum(is_caught(m, rules) for m in found)


def print_table(rows: list[tuple[str, int, int]], write: Callable[[str], None] = print) -> None:
    write("| kind of fault | mutants | caught |")
    write("|---|---|---|")
    for kind, made, caught in rows:
        write(f"| {kind} | {made} | {caught} |")
    write(f"| all | {sum(r[1] for r in rows)} | {sum(r[2] for r in rows)} |")
    write("")
    write("Not caught by the gate, and not claimed:")
    for kind, why in NOT_CAUGHT:
        write(f"- {kind} ({why})")


@pytest.mark.parametrize("name", all_clean())
def test_no_clean_report_is_flagged(name: str) -> None:
    result = check(all_clean()[name])
    assert result.passed, render_feedback(result)
    assert result.checked.sentences > 5
    assert result.checked.sentences_unknown == 0


def test_every_kind_is_made_and_every_mutant_of_it_is_caught() -> None:
    few = ("english", "english quoted with quotes required", "chinese", "german quoted", *worded_runs())  # fmt: skip
    rows = list(run_battery({name: all_clean()[name] for name in few}, 2))
    print_table(rows)
    assert all(made > 0 for _, made, _ in rows)
    assert [(kind, made - caught) for kind, made, caught in rows if made != caught] == []


@pytest.mark.deep
@pytest.mark.timeout(3_600)
def test_every_mutant_at_every_place_is_caught() -> None:
    rows = list(run_battery(all_clean(), 0))
    print_table(rows)
    assert sum(made for _, made, _ in rows) >= 12_000
    assert [(kind, made - caught) for kind, made, caught in rows if made != caught] == []


@pytest.mark.data
def test_clean_runs_over_real_texts_are_not_flagged() -> None:
    runs = real_runs(8)
    flagged = [(name, check(case)) for name, case in runs.items()]
    assert len(runs) >= 50
    assert [(name, render_feedback(result)) for name, result in flagged if not result.passed] == []


@pytest.mark.data
@pytest.mark.deep
@pytest.mark.timeout(3_600)
def test_mutants_of_runs_over_real_texts_are_caught() -> None:
    rows = list(run_battery(real_runs(40), 3))
    print_table(rows)
    assert sum(made for _, made, _ in rows) >= 14_000
    assert [(kind, made - caught) for kind, made, caught in rows if made != caught] == []


def test_the_readme_table_is_of_this_battery() -> None:
    """Issue 3, item 4: the README names every kind caught and every kind not caught."""
    root = Path(__file__).resolve().parents[2]
    script = runpy.run_path(str(root / "scripts/make_fabrication_table.py"))
    _, marker, rest = (root / "README.md").read_text(encoding="utf-8").partition(script["BEGIN"])
    if not marker:
        pytest.skip("the README has no fabrication table")
    assert script["faults_of"](rest.partition(script["END"])[0]) == []


def test_a_wrong_readme_table_is_told() -> None:
    root = Path(__file__).resolve().parents[2]
    script = runpy.run_path(str(root / "scripts/make_fabrication_table.py"))
    lines: list[str] = []
    print_table([(kind, 9, 9) for kind in KINDS], lines.append)
    right = "\n".join(lines)
    assert script["faults_of"](right) == []
    row = f"| {next(iter(KINDS))} | 9 | 9 |"
    for wrong in (
        "",
        right.replace(row, ""),
        right.replace(row, row.replace("9 |", "8 |", 1)),
        right.replace(NOT_CAUGHT[0][0], "nothing"),
        right.replace("| 9 | 9 |", "| 9 | 9 |\n| new kind | 9 | 9 |", 1),
    ):
        assert script["faults_of"](wrong) != []
