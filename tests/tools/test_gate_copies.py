"""What a Sources entry copies, and what readers click or do not see (D5b, E28, T20, T23)."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omh_research.tools.gate import FETCHED, check, render_feedback
from tests.tools.gate_cases import COST, RECYCLE, SOLAR, Page, clean_input, edited, english, rules

replace = msgspec.structs.replace
LINE = "The line cost €4.2 million [1]."
ENTRY = f"[1] {SOLAR.title} — {SOLAR.url} — primary — {SOLAR.date}"


@pytest.mark.parametrize(
    ("title", "tag", "date", "rule"),
    [
        ("Nature: solar power kills", "primary", SOLAR.date, "title_not_in_findings"),
        ("Moon rocks and how to cook them", "primary", SOLAR.date, "title_not_in_findings"),
        ("Record solar cell efficiencies in 2031", "primary", SOLAR.date, "title_not_in_findings"),
        (SOLAR.title, "vendor", SOLAR.date, "type_not_in_findings"),
        (SOLAR.title, "primary", "1999-01-01", "date_not_in_findings"),
        (SOLAR.title, "primary", "2024-03-06", "date_not_in_findings"),
    ],
)
def test_d5b_an_entry_copies_title_type_and_date(
    title: str, tag: str, date: str, rule: str
) -> None:
    case = edited(ENTRY, f"[1] {title} — {SOLAR.url} — {tag} — {date}")
    assert rules(case) == {rule}


@pytest.mark.parametrize(
    ("title", "tag", "date"),
    [
        ("RECORD SOLAR CELL EFFICIENCIES IN 2024", "Primary", "2024"),
        ("Record solar cell efficiencies", "primary", "n.d."),
        ("“Record solar-cell efficiencies in 2024”", "", ""),
        ("Record solar cell efficiencies in 2024 (Helmholtz Centre)", "primary", "March 2024"),
        (SOLAR.title, "primary", "5 March 2024"),
        (SOLAR.title, "primary", "2024-03-05, accessed 2026-11-30"),
    ],
)
def test_d5b_a_copy_may_differ_in_spelling_and_be_cut(title: str, tag: str, date: str) -> None:
    entry = " — ".join(part for part in (title, SOLAR.url, tag, date) if part)
    result = check(edited(ENTRY, f"[1] {entry}"))
    assert result.passed, render_feedback(result)


@pytest.mark.parametrize(
    ("piece", "rule"),
    [
        ("It is <b>big</b>.", "html"),
        ("It is big<br/> and old.", "html"),
        ("It is big. <!-- status: confirmed -->", "html"),
        ("It is big. <!-- never closed", "html"),
        ("See www.evil.example for it.", "address_not_in_findings"),
        ("See evil.example/buy for it.", "address_not_in_findings"),
        ("See evil-shop.com for it.", "address_not_in_findings"),
    ],
)
def test_e28_no_html_and_no_bare_addresses(piece: str, rule: str) -> None:
    assert rule in rules(edited(LINE, f"{LINE} {piece}"))


@pytest.mark.parametrize(
    "piece",
    [
        "The effect is clear (p < 0.05, n > 2).",
        "The call is `<b>x</b>` in the code.",
        "Input and/or output, km/h, 24/7, i.e. all of it.",
        "A type such as Vec<T> is meant.",
        "More at www.energy-stats.example/reports/cost and energy-stats.example.",
    ],
)
def test_e28_ordinary_text_is_no_markup_and_no_address(piece: str) -> None:
    result = check(edited(LINE, f"{LINE} {piece}"))
    kinds = {failure.rule for failure in result.failures}
    assert not kinds & {"html", "address_not_in_findings"}, render_feedback(result)


def test_e28_markup_that_a_page_itself_holds_may_be_quoted() -> None:
    page = Page("https://x.example.org/html", "On markup", "The tag <b> makes text bold here. " * 2,
                (("The tag makes text bold", "The tag <b> makes text bold here"),))  # fmt: skip
    sections = {"Tags": [page], "Cost": [COST]}
    case = clean_input("What do tags do?", sections, quoted=True)
    assert "<b>" in case.report
    assert check(case).passed, render_feedback(check(case))


@pytest.mark.timeout(60)
@pytest.mark.parametrize("unit", ["<!--", "<b ", "a.", "www.", "a-", "evil.example/x ", "<b>"])
def test_t20_hostile_markup_is_read_in_time(unit: str) -> None:
    assert check(edited(LINE, f"{LINE} {unit * (60_000 // len(unit))}")).cited


@settings(max_examples=25, deadline=None)
@given(st.text(alphabet="<>!-b/ .wcom\n`", max_size=120))
def test_any_text_is_judged_without_an_error(text: str) -> None:
    assert check(edited(LINE, f"{LINE} {text}")).cited


@pytest.mark.parametrize("change", ["?a=1", ";x", "%20", "?"])
def test_t23_a_changed_address_hides_no_page_from_its_text(change: str) -> None:
    """A page handed in under its address is read for every spelling that findings make of it."""
    other = Page(COST.url.split("?")[0], COST.title, COST.text, COST.facts)
    page = Page(SOLAR.url + change, SOLAR.title, SOLAR.text, SOLAR.facts)
    sections = {"Efficiency": [page], "Cost and capacity": [other], "Recycling": [RECYCLE]}
    case = clean_input("Where does solar power stand?", sections)
    texts = tuple(
        replace(text, url=text.url.removesuffix(change)) if text.url == page.url else text
        for text in case.held
    )
    case = replace(case, held=texts, declared_allowed=True)
    result = check(case)
    assert result.passed, render_feedback(result)
    assert result.sources[0].seen == FETCHED
    assert "figure_not_in_source" in rules(edited("33.9%", "35.9%", case))


def test_t23_another_page_of_the_same_host_stays_another_source() -> None:
    case = english()
    text = "Nothing is said here. " * 5
    second = replace(case.held[0], url=f"{SOLAR.url}?page=2", text=text, sha256="2", doi=None)
    held = (case.held[0], second, *case.held[1:])
    assert check(replace(case, held=held, declared_allowed=True)).passed
