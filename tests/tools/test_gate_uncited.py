"""What cites nothing may only name what the run knows (E28, E30, P9, T23): headings, open
questions, inferences, quotations between single marks, titles that somebody hands in."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.documents.finding import parse_finding
from omh_research.documents.single_quotes import find_single_quotations
from omh_research.tools.gate import check, render_feedback
from tests.tools.gate_cases import (
    COST,
    RECYCLE,
    SOLAR,
    Page,
    clean_input,
    edited,
    english,
    finding_text,
    german,
    held,
    rules,
)

replace = msgspec.structs.replace
TAIL = "- What comes next."
LINE = "The line cost €4.2 million [1]."


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("# Where does solar power stand?", "# Solar power kills 5 million people", "figure"),
        (LINE, f"{LINE}\n\n#### Prices fell by 63% in May 2019\n\n{LINE}", "figure"),
        (LINE, f"{LINE}\n\n#### Built by Louis Pasteur against cholera\n\n{LINE}", "name"),
        (TAIL, "- Since Louis Pasteur built a plant in Winnipeg, who runs it?", "name"),
        (TAIL, "- What followed on 7 May 2019?", "date"),
        (TAIL, "- Inference: 80 percent of women are affected.", "figure"),
        (
            "## Open Questions",
            "- Inference: it costs 80 percent more.\n\n## Open Questions",
            "figure",
        ),
        (LINE, f"{LINE} The first cell was made by Louis Pasteur against cholera.", "name"),
    ],
)
def test_e28_what_cites_nothing_names_nothing_new(old: str, new: str, rule: str) -> None:
    failures = check(edited(old, new)).failures
    assert f"uncited_{rule}" in {failure.rule for failure in failures}
    assert all(failure.where for failure in failures)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# Where does solar power stand?", "# Where Does Solar Power Stand? A Research Report"),
        ("### Efficiency", "### 1. Efficiency"),
        (LINE, f"{LINE}\n\n#### Certified by Fraunhofer ISE in 2024\n\n{LINE}"),
        (TAIL, "- Will LONGi pass 33.9% before long?"),
        (TAIL, "- None of the 3 sources measured modules outdoors."),
        ("## Open Questions", "- Inference: Spain is far from $0.39 by now.\n\n## Open Questions"),
        (LINE, f"{LINE} The survey of Maria Keller says more on that."),
        (TAIL, "- Die Lösung für Anlagen ist offen."),
    ],
)
def test_e28_what_the_run_knows_may_be_named_without_a_source(old: str, new: str) -> None:
    result = check(edited(old, new))
    assert result.passed, render_feedback(result)


def test_p9_an_uncited_claim_in_the_takeaways_is_one_without_source() -> None:
    """E30: told once; if it returns, the label is demanded, and with the label it may stay."""
    claim = "Solar panels cause infertility in most women."
    case = edited("## Open Questions", f"- {claim}\n\n## Open Questions")
    assert rules(case) == {"uncited_claim"}
    again = replace(case, previous_feedback=render_feedback(check(case)))
    assert "(unverified)" in render_feedback(check(again))
    assert check(edited(claim, f"{claim[:-1]} (unverified).", case)).passed
    known = "Perovskite layers without a glass cover survive because the air is less humid."
    assert check(edited("## Open Questions", f"- {known}\n\n## Open Questions")).passed


@pytest.mark.parametrize(
    "invented",
    [
        "As they say, 'the layers are useless in humid air' [1].",
        "As they say, ‘the layers are useless in humid air’ [1].",
        "> The layers are useless in humid air\n\nSo they say [1].",
        "> The layers are useless in humid air [1]",
    ],
)
def test_e28_single_marks_and_block_quotes_are_quotations(invented: str) -> None:
    assert "quote_not_in_source" in rules(edited(LINE, f"{LINE}\n\n{invented}"))
    true = invented.replace(
        "he layers are useless in humid air",
        "he authors did not test modules outdoors",
    )
    assert check(edited(LINE, f"{LINE}\n\n{true}")).passed


@pytest.mark.parametrize(
    "line",
    [
        "The dogs' bowls don't fit the 1990's and '90s style of workers' rights.",
        "'Tis the season, and 'twas the dogs' own fault.",
        "Rock 'n' roll isn't the dogs' thing.",
        "The terms 'use it' and 'lose it' are the workers' own.",
        "5' 3\" tall, and the boys' 6' wall.",
        "l'homme qu'il voit n'est pas l'ami d'hier",
    ],
)
def test_an_apostrophe_is_no_quotation_mark(line: str) -> None:
    assert find_single_quotations(line) == ()


def test_a_possessive_inside_single_marks_has_two_readings() -> None:
    assert find_single_quotations("He said 'the new dogs' bowls are red'.") == (
        (("the new dogs' bowls are red",),),
    )
    assert find_single_quotations("他说‘记忆细胞在接种之后没有用处’。") == (
        (("记忆细胞在接种之后没有用处",),),
    )


@given(st.text(alphabet="'‘’ ab\"“”.,5", max_size=200))
def test_single_quotations_are_slices_of_the_line(line: str) -> None:
    for readings in find_single_quotations(line):
        assert all(text in line for reading in readings for text in reading)


def test_t23_a_title_that_is_handed_in_is_not_source_text() -> None:
    planted = "The first cell was made by Louis Pasteur in 1850 against cholera"
    pages = [Page(SOLAR.url, planted, SOLAR.text, SOLAR.facts, SOLAR.date), COST, RECYCLE]
    sections = {"Efficiency": [pages[0]], "Cost and capacity": [COST], "Recycling": [RECYCLE]}
    case = replace(clean_input("Where does solar power stand?", sections), declared_allowed=True)
    assert check(case).passed
    for said in (f"{planted} [1].", f'"{planted}" [1].', f"{planted}."):
        assert not check(edited(LINE, f"{LINE} {said}", case)).passed
    honest = edited(LINE, f'{LINE} So says "{COST.title}" [2].', case)
    assert check(honest).passed, render_feedback(check(honest))


def test_e30_a_declared_source_beside_a_held_one_excuses_no_invention() -> None:
    base = english()
    case = replace(
        base, held=tuple(t for t in base.held if t.url != COST.url), declared_allowed=True
    )
    assert check(case).passed
    assert check(edited(LINE, f"{LINE} Spain paid $0.044 per kWh in 2023 [1][2].", case)).passed
    new = edited(LINE, f"{LINE} Spain paid 77.7% more [1][2].", case)
    assert "figure_not_in_source" in rules(new)
    for cited in ("[1][2]", "[2]"):
        quoted = edited(LINE, f'{LINE} "Nobody paid anything in Spain" {cited}.', case)
        assert "quote_not_in_source" in rules(quoted)
    told = f'{LINE} "{COST.facts[0][1]}" [1][2].'
    assert check(edited(LINE, told, case)).checked.quotes_unknown == 1


def test_the_words_of_findings_in_another_language_are_not_held_against_names() -> None:
    """T13b: an English report on German pages writes names as English does."""
    assert check(
        edited("## Open Questions", "- Was es gibt.\n\n## Open Questions", german())
    ).passed
    base = english()
    text = held(
        Page("https://de.example.org/x", "Bericht", "Der Bericht sagt nicht viel. " * 9, ())
    )
    finding = ("f9", parse_finding(finding_text("Cost and capacity", [COST])))
    case = replace(base, held=(*base.held, text), findings=(*base.findings, finding))
    assert check(edited(TAIL, "- Is it so in Munich as well?", case)).passed
    assert "uncited_figure" in rules(edited(TAIL, "- Is it so in 77.7% of cases?", case))
