"""The deterministic gate: rule by rule (E28, E28b, E28c, E30, T13b, T23, 81-reliability 7)."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from omh_research.documents.finding import parse_finding
from omh_research.documents.source import HeldText
from omh_research.tools.gate import DECLARED, FETCHED, LEAD, GateInput, check, render_feedback
from omh_research.tools.gate.reading import read_report
from tests.tools.gate_cases import (
    COST,
    SOLAR,
    Page,
    clean_input,
    edited,
    english,
    german,
    held,
    rules,
)

replace = msgspec.structs.replace


def test_e28_a_clean_report_passes_and_says_what_was_compared() -> None:
    result = check(english())
    assert result.passed
    assert result.failures == ()
    assert result.cited == (1, 2, 3)
    assert [(s.n, s.seen, s.is_cited) for s in result.sources] == [
        (1, FETCHED, True),
        (2, FETCHED, True),
        (3, FETCHED, True),
    ]
    assert (result.sources_fetched, result.sources_declared) == (3, 0)
    assert result.checked.sentences == 16
    assert result.checked.evidence_rows == 10


def test_the_same_input_gives_the_same_answer() -> None:
    assert check(english()) == check(english())


def test_feedback_is_numbered_and_names_sentence_and_item() -> None:
    result = check(edited("33.9%", "35.9%"))
    text = render_feedback(result)
    assert text.startswith(
        "The deterministic check failed the report:\n\n1. [figure_not_in_source]"
    )
    assert "35.9%" in text
    assert "The Helmholtz Centre reported" in text
    assert "[1]" in text
    assert render_feedback(check(english())) == "The deterministic check found nothing to mend.\n"


def test_feedback_of_a_hopeless_report_stays_short() -> None:
    case = replace(
        english(),
        report=english().report + "".join(f"\nCost is {n}77 [9{n}].\n" for n in range(10, 90)),
    )
    result = check(case)
    assert len(result.failures) > 60
    assert render_feedback(result).rstrip().endswith("more of the same kinds.")


# -- T23: fetched, declared, lead ---------------------------------------------------------------


def test_t23_a_declared_source_passes_only_where_no_ledger_is_kept() -> None:
    without = replace(english(), held=english().held[1:])
    assert rules(without) == {"source_not_fetched"}
    host = replace(without, declared_allowed=True)
    result = check(host)
    assert result.passed
    assert result.sources_declared == 1
    assert result.sources_fetched == 2
    assert result.sources[0].seen == DECLARED
    assert result.checked.sentences_unknown > 0


def test_t23_a_citation_of_a_lead_fails_even_where_declared_sources_may_be_cited() -> None:
    case = replace(
        english(), held=english().held[1:], declared_allowed=True, leads=frozenset({SOLAR.url})
    )
    result = check(case)
    assert "lead_cited" in {f.rule for f in result.failures}
    assert result.sources[0].seen == LEAD


def test_t23_a_search_hit_that_was_then_read_is_no_lead() -> None:
    assert check(replace(english(), leads=frozenset({SOLAR.url, COST.url}))).passed


def test_e30_claims_on_declared_sources_are_counted_never_failed() -> None:
    case = replace(edited("33.9%", "35.9%"), held=(), declared_allowed=True, require_quotes=True)
    result = check(case)
    assert result.passed
    assert result.checked.sentences == 0
    assert result.checked.sentences_unknown == 16


# -- E28c ---------------------------------------------------------------------------------------


def insufficient_report(names: tuple[str, ...]) -> str:
    sections = "".join(
        f"### {name}\n\n(insufficient sources for this subtopic)\n\n" for name in names
    )
    return f"# Nothing found\n\n## Executive Summary\n\nNo source answers the question.\n\n## Detailed Findings\n\n{sections}## Sources\n"


def test_e28c_without_any_usable_source_nothing_passes() -> None:
    names = english().subtopics
    empty = parse_finding(
        "SOURCES: (none-found, reasons listed)\nSYNTHESIS: (insufficient sources for this subtopic)\nGAPS:\n- all"
    )
    case = GateInput(
        topic="x",
        subtopics=names,
        report=insufficient_report(names),
        findings=tuple((n, empty) for n in names),
    )
    result = check(case)
    assert not result.has_usable_source
    assert not result.passed
    assert result.insufficient_subtopics == names


def test_e28c_a_report_that_answers_none_of_its_subtopics_has_no_usable_source() -> None:
    base = english()
    report = (
        insufficient_report(base.subtopics) + base.report[base.report.index("## Sources") + 11 :]
    )
    result = check(replace(base, report=report))
    assert result.insufficient_subtopics == base.subtopics
    assert not result.has_usable_source


def test_a_single_insufficient_section_is_recorded_never_penalised() -> None:
    base = english()
    start = base.report.index("### Recycling\n")
    end = base.report.index("## Key Takeaways")
    report = (
        base.report[:start]
        + "### Recycling\n\n(insufficient sources for this subtopic)\n\n"
        + base.report[end:]
    )
    result = check(replace(base, report=report))
    assert result.passed
    assert result.insufficient_subtopics == ("Recycling",)


# -- subtopics ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "heading",
    [
        "### 2. Cost and capacity",
        "### **Cost and Capacity**",
        "### Cost and capacity: an overview",
        "#### Cost and capacity [2]",
        "### COST AND CAPACITY",
    ],
)
def test_subtopic_headings_may_be_dressed(heading: str) -> None:
    assert check(edited("### Cost and capacity", heading)).passed


@pytest.mark.parametrize(
    "heading",
    ["### Cost", "### Costs and capacities", "### Capacity and cost", "Cost and capacity", "### "],
)
def test_subtopic_headings_must_be_there(heading: str) -> None:
    assert "missing_subtopic" in rules(edited("### Cost and capacity", heading))


def test_a_subtopic_named_only_in_the_summary_is_missing() -> None:
    base = english()
    report = base.report.replace("### Efficiency\n", "").replace(
        "## Executive Summary\n", "## Executive Summary\n\n### Efficiency\n"
    )
    assert "missing_subtopic" in rules(replace(base, report=report))


# -- sentences ----------------------------------------------------------------------------------


def test_cited_sentences_are_compared_wherever_they_stand() -> None:
    assert "figure_not_in_source" in rules(
        edited("- What comes next.", "- Will it pass 77.7% [1]?")
    )
    assert "figure_not_in_source" in rules(
        edited("## Executive Summary", "It reached 77.7% [1].\n\n## Executive Summary")
    )
    assert "quote_not_in_source" in rules(
        edited("- What comes next.", '- Why "the panels glow at night in winter" [1]?')
    )
    assert check(
        edited("## Executive Summary", "Written on 30 November 2026.\n\n## Executive Summary")
    ).passed


def test_several_sources_behind_one_sentence_are_read_together() -> None:
    both = "Efficiency reached 33.9% while electricity in Spain cost $0.044 per kWh [1][2]."
    assert check(edited("The line cost €4.2 million [1].", both)).passed
    assert "figure_not_in_source" in rules(
        edited("The line cost €4.2 million [1].", both.replace("[1][2]", "[1]"))
    )


def test_citations_inside_a_sentence_belong_to_their_pieces() -> None:
    two = (
        "Efficiency reached 33.9% in March 2024 [1], electricity in Spain cost $0.044 per kWh [2]."
    )
    assert check(edited("The line cost €4.2 million [1].", two)).passed
    swapped = two.replace("[1]", "[0]").replace("[2]", "[1]").replace("[0]", "[2]")
    assert rules(edited("The line cost €4.2 million [1].", swapped)) >= {"figure_not_in_source"}


def test_a_citation_before_the_statement_stands_for_the_sentence() -> None:
    assert check(
        edited("The line cost €4.2 million [1].", "According to [1], the line cost €4.2 million.")
    ).passed
    assert check(
        edited("The line cost €4.2 million [1].", "The line cost €4.2 million. [1]")
    ).passed


@pytest.mark.parametrize(
    "same",
    ["The line cost 4.2 million euros [1].", "The line cost EUR 4,200,000 [1].", "The line cost €4.2m [1].", "Certified by Fraunhofer ISE, it measures 1 cm² [1].",
     "The record was set on 2024-03-12 [1].", "The record was set on March 12th, 2024 [1].", "Sample S-17 lasted 1000 h at 85 °C [1].", "The Helmholtz Centre works in Berlin [1]."],
)  # fmt: skip
def test_another_spelling_of_the_same_fact_passes(same: str) -> None:
    result = check(edited("The line cost €4.2 million [1].", same))
    assert result.passed, render_feedback(result)


@pytest.mark.parametrize(
    ("other", "rule"),
    [
        ("The line cost €4.2 billion [1].", "figure_not_in_source"),
        ("The line cost $4.2 million [1].", "figure_not_in_source"),
        ("Sample S-18 lasted 1,000 hours [1].", "name_not_in_source"),
        ("Sample S-17 lasted 1,000 days [1].", "figure_not_in_source"),
        ("It was certified by Fraunhofer IPMS [1].", "name_not_in_source"),
        ("The record was set on 13 March 2024 [1].", "date_not_in_source"),
        ("Toyota made the cell, LONGi said [1].", "name_not_in_source"),
        ("The cell broke in GPT-5 tests [1].", "name_not_in_source"),
        ("The authors did test modules outdoors [1].", "negation_differs"),
    ],
)
def test_a_changed_fact_is_named(other: str, rule: str) -> None:
    case = edited("The line cost €4.2 million [1].", other)
    case = replace(
        case,
        held=(
            *case.held,
            HeldText(
                url="https://x.example", sha256="0", text="Cars by Toyota sell, and Toyota grows."
            ),
        ),
    )
    assert rule in rules(case)


def test_a_number_from_another_part_of_a_long_text_does_not_count() -> None:
    filler = " ".join(
        f"Paragraph {n} talks about gardens, flowers and weather in general terms."
        for n in range(60)
    )
    page = msgspec.structs.replace(
        SOLAR,
        text=f"{SOLAR.text}\n\n{filler}\n\nThe museum shop sold 57.3% of its postcards before noon.",
    )
    sections = {"A": [page], "B": [COST], "C": [COST]}
    base = clean_input("Solar", sections)
    assert check(base).passed
    assert "figure_out_of_context" in rules(
        edited("tandem cell with 33.9% efficiency", "tandem cell with 57.3% efficiency", base)
    )


def test_uncited_numbers_must_stand_in_some_source_unless_they_are_the_reports_own() -> None:
    takeaway = "The survey covers 1,480 plants."
    assert check(edited("## Open Questions", f"- {takeaway}\n\n## Open Questions")).passed
    assert check(
        edited("## Open Questions", "- Of 3 sources, all were read.\n\n## Open Questions")
    ).passed
    assert "uncited_figure" in rules(
        edited("## Open Questions", "- Prices will fall by 63% soon.\n\n## Open Questions")
    )
    assert "uncited_figure" in rules(edited("- What comes next.", "- Will prices fall by 63%?"))
    assert check(edited("- What comes next.", "- Will it pass 33.9% outdoors?")).passed


# -- quotations ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "quoted",
    ['"reported a tandem cell with an efficiency of 33.9 percent" [1]', "“reported a tandem cell with an efficiency of 33.9 percent” [1]",
     "He wrote: «Perovskite layers do not survive humid air» [1].", "> Perovskite layers do not survive humid air without a glass cover. [1]",
     "> “Perovskite layers do not survive humid air” — the group [1]", '- **Record:** "The cell has an area of 1 cm² and was certified by Fraunhofer ISE." [1]',
     '"On 12 March 2024 the Helmholtz Centre ... with an efficiency of 33.9 percent" [1]', 'The so-called "tandem" is old [1].'],
)  # fmt: skip
def test_true_quotations_pass_in_every_dress(quoted: str) -> None:
    result = check(edited("The line cost €4.2 million [1].", quoted))
    assert result.passed, render_feedback(result)


@pytest.mark.parametrize(
    "quoted",
    ['"reported a tandem cell with an efficiency of 34.9 percent" [1]', "“Perovskite layers survive humid air” [1]", "> Perovskite layers are cheap and they are easy to make. [1]",
     "「reported a single cell with an efficiency」 [1]", '"The cell has an area of 1 cm² and was sold at once" [1]', '"Electricity from new solar farms in Spain" [1]',
     '"Helmholtz Centre in Berlin reported a cell with an efficiency" [1]'],
)  # fmt: skip
def test_false_quotations_fail_in_every_dress(quoted: str) -> None:
    assert "quote_not_in_source" in rules(edited("The line cost €4.2 million [1].", quoted))


def test_a_quotation_that_holds_quotation_marks_is_read_whole() -> None:
    page = msgspec.structs.replace(
        SOLAR, text=SOLAR.text + ' The label says "do not open" and "handle with care" on each box.'
    )
    base = clean_input("Solar", {"A": [page], "B": [COST], "C": [COST]})
    line = '- "The label says "do not open" and "handle with care" on each box." [1]'
    assert check(edited("The line cost €4.2 million [1].", f"\n\n{line}\n", base)).passed
    assert "quote_not_in_source" in rules(
        edited(
            "The line cost €4.2 million [1].", "\n\n" + line.replace("each", "every") + "\n", base
        )
    )


def test_an_uncited_quotation_must_stand_in_some_source_or_in_the_question() -> None:
    assert check(
        edited(
            "- What comes next.",
            '- Nobody knows.\n\n## Notes\n\nThe question was "Where does solar power stand?".',
        )
    ).passed
    assert "quote_not_in_source" in rules(
        edited(
            "## Open Questions",
            '- Experts call it "the dawn of a golden age of light".\n\n## Open Questions',
        )
    )


# -- E28b, E30 ----------------------------------------------------------------------------------


def test_e28b_required_quotes_must_cover_the_facts_of_a_sentence() -> None:
    sentence = "Sample S-17 was held at 85 °C for 1,000 hours [1]."
    case = edited("The line cost €4.2 million [1].", sentence)
    assert check(case).passed
    result = check(replace(case, require_quotes=True))
    assert [f.rule for f in result.failures] == ["no_verified_quote"]
    assert "S-17" in result.failures[0].message
    assert sentence in result.failures[0].where


def test_e28b_an_evidence_line_with_a_false_quote_covers_nothing() -> None:
    base = english(quotes=True)
    findings = tuple(
        (
            stem,
            replace(
                f, evidence=tuple(replace(row, quote=row.quote + " and more") for row in f.evidence)
            ),
        )
        for stem, f in base.findings
    )
    result = check(replace(base, findings=findings))
    assert result.checked.evidence_rows == 0
    assert "no_verified_quote" in {f.rule for f in result.failures}


def test_e30_a_returning_claim_is_told_to_carry_its_label_and_passes_with_it() -> None:
    case = edited(
        "## Open Questions", "- The market will reach 77 GW in Winnipeg [2].\n\n## Open Questions"
    )
    first = check(case)
    assert any("Prove it, correct it, or take it out." in f.message for f in first.failures)
    again = check(replace(case, previous_feedback=render_feedback(first)))
    assert any("(unverified)" in f.message for f in again.failures)
    labelled = replace(
        case, report=case.report.replace("in Winnipeg [2].", "in Winnipeg [2] (unverified).")
    )
    assert check(labelled).passed


def test_e30_the_label_does_not_help_in_detailed_findings_nor_a_quotation() -> None:
    assert "figure_not_in_source" in rules(
        edited(
            "33.9% efficiency on 12 March 2024 [1]. Cells",
            "35.9% efficiency on 12 March 2024 [1] (unverified). Cells",
        )
    )
    quoted = '- "The market will reach seventy-seven gigawatts" [2] (unverified).'
    assert "quote_not_in_source" in rules(
        edited("## Open Questions", f"{quoted}\n\n## Open Questions")
    )


def test_l6_with_several_rounds_a_conclusion_needs_two_sources_or_says_so() -> None:
    case = replace(english(), needs_two_sources=True)
    assert rules(case) == {"one_source_conclusion"}
    line = next(line for line in case.report.split("\n") if line.startswith("- Thermal routes"))
    assert (
        check(
            replace(case, report=case.report.replace(line, f"{line} This rests on one source."))
        ).failures
        != ()
    )
    assert check(
        replace(case, report=case.report.replace(line, line.replace(" [3].", " (one source) [3].")))
    ).passed


# -- T13b ---------------------------------------------------------------------------------------


def test_t13b_across_languages_numbers_and_names_spelled_alike_are_compared() -> None:
    assert check(german()).passed
    assert "figure_not_in_source" in rules(edited("0,044 US-Dollar", "0,054 US-Dollar", german()))
    assert "figure_not_in_source" in rules(edited("1.800 Tonnen", "1.800 Kilogramm", german()))


# -- addresses, works ---------------------------------------------------------------------------


def test_spellings_of_one_address_are_one_source() -> None:
    for spelling in (
        SOLAR.url + "/",
        SOLAR.url.replace("https", "http"),
        SOLAR.url + "?utm_source=mail",
        f"https://doi.org/{SOLAR.doi}",
    ):
        result = check(edited(SOLAR.url, spelling))
        assert result.passed, spelling


def test_two_addresses_of_one_work_are_one_source() -> None:
    for spelling in ("https://arxiv.org/pdf/2401.01234v2", "http://www.arxiv.org/abs/2401.01234"):
        assert check(edited("https://arxiv.org/abs/2401.01234", spelling)).passed


def test_a_doi_in_the_held_text_may_be_named() -> None:
    base = english()
    texts = tuple(
        replace(t, text=t.text + " See doi:10.1234/prior.work.") if t.url == SOLAR.url else t
        for t in base.held
    )
    case = replace(
        edited("The line cost €4.2 million [1].", "Earlier work is doi:10.1234/prior.work [1]."),
        held=texts,
    )
    assert check(case).passed
    assert "doi_not_in_findings" in rules(
        replace(case, report=case.report.replace("prior.work", "prior.works"))
    )


def test_a_source_fetched_but_in_no_finding_is_not_cited() -> None:
    stray = HeldText(url="https://stray.example/x", sha256="9", text=SOLAR.text)
    case = edited(SOLAR.url, stray.url)
    assert "source_not_in_findings" in rules(replace(case, held=(*case.held, stray)))


def test_a_query_that_carries_the_report_away_is_refused() -> None:
    url = "https://drop.example/c?d=The+Helmholtz+Centre+reported+a+tandem+cell+with+33.9%25+efficiency"
    base = english()
    findings = (
        (
            base.findings[0][0],
            replace(
                base.findings[0][1], sources=(replace(base.findings[0][1].sources[0], url=url),)
            ),
        ),
        *base.findings[1:],
    )
    case = replace(
        base, findings=findings, declared_allowed=True, report=base.report.replace(SOLAR.url, url)
    )
    assert "address_carries_text" in rules(case)


def test_invisible_characters_are_noted() -> None:
    result = check(edited("# Where", "# \u202eWhere\u200b"))
    assert any("U+202E" in note for note in result.notes)
    assert result.passed


# -- form ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "clean",
    ["Status: the plant is running.", "The sets are $\\{x | x > 0\\}$.", "Verdict: the court stopped the tender.", "He wrote that it changed [his] mind.",
     "Die Lösung ist `{name}` im Code.", "Data: see the survey.", "Todo el mundo lo sabe.", "The fraction is \\frac{a}{b}."],
)  # fmt: skip
def test_ordinary_text_is_no_placeholder_and_no_plant(clean: str) -> None:
    result = check(edited("- What comes next.", f"- {clean}"))
    assert result.passed, render_feedback(result)


def test_a_report_wrapped_in_one_fence_is_read() -> None:
    base = english()
    assert check(replace(base, report=f"```markdown\n{base.report}```\n")).passed


def test_a_fenced_report_behind_prose_is_told_what_to_mend() -> None:
    base = english()
    result = check(replace(base, report=f"Here it is:\n\n```markdown\n{base.report}```\n"))
    assert any("code fence" in failure.message for failure in result.failures)


def test_thinking_left_in_a_report_is_refused() -> None:
    assert "thinking_left" in rules(edited("# Where", "<think>First I look.</think>\n\n# Where"))


def test_sentences_hidden_among_the_sources_are_read() -> None:
    extra = "The market will grow by 812% and everybody agrees that this is certain to happen."
    base = english()
    assert "uncited_figure" in rules(replace(base, report=base.report + f"\n{extra}\n"))


def test_crlf_reports_are_read_the_same() -> None:
    base = english()
    assert check(replace(base, report=base.report.replace("\n", "\r\n"))).passed


@given(st.text(max_size=400))
def test_any_report_gets_an_answer_and_never_passes_by_accident(text: str) -> None:
    result = check(replace(english(), report=text))
    assert not result.passed
    assert render_feedback(result)


@pytest.mark.parametrize(
    "piece",
    [
        "[1]",
        '"',
        "“",
        "1,000 ",
        "### A\n",
        "> ",
        "| a ",
        "A [1] B [2] ",
        "https://a.b/c ",
        "2020-01-01 ",
        "X-1 ",
        "(A) ",
        "word ",
        "。",
        "not ",
    ],
)
def test_hostile_reports_are_read_in_linear_time(piece: str) -> None:
    report = english().report + piece * (60_000 // len(piece))
    assert check(replace(english(), report=report)) is not None


def test_reading_pairs_sentences_with_sources() -> None:
    text = '# T\n\n## Detailed Findings\n\n### A\n\nOne thing [1]. Another thing. [2] In [3], a third.\n\n- "A. B." [1]\n\n| cell | 5 [2] |\n'
    read = read_report(text)
    assert [(s.text, s.numbers) for s in read.statements] == [
        ("One thing [1].", (1,)), ("Another thing. [2]", (2,)), ("In [3], a third.", (3,)), ('- "A. B." [1]', (1,)), ("| cell | 5 [2] |", (2,)),
    ]  # fmt: skip


def test_held_page_helper_matches_the_page() -> None:
    assert held(COST).text == COST.text


def test_a_verified_quotation_is_never_the_opposite_of_its_source() -> None:
    text = "(希望没有记错。)书院有大师兄,大师兄李慢慢为人仁爱,曾因为君子可以欺之以方困扰,后在宁缺受到危险时,终于学会了杀人。"
    page = msgspec.structs.replace(SOLAR, text=text, facts=((text, text),))
    sections = {"A": [page], "B": [COST], "C": [COST]}
    assert check(clean_input("2017有什么好看的小说", sections, quoted=True)).passed


def test_a_title_of_one_han_character_is_a_title() -> None:
    """E28: another source's title is told, be it one character long."""
    plant, fact = "蓍是菊科的多年生草本植物", "分布在蒙古、伊朗和欧洲"
    pages = [
        Page("https://a.example/yarrow", "蓍", f"{plant}。{fact}。", ((plant, plant), (fact, fact))),
        Page("https://a.example/gordon", "埃里克·戈登", "他效力于休士顿火箭。他是得分后卫。",
             (("他效力于休士顿火箭", "他效力于休士顿火箭"), ("他是得分后卫", "他是得分后卫"))),
    ]  # fmt: skip
    case = clean_input("Texts", {"Alpha": [pages[0]], "Beta": [pages[1]]})
    assert check(case).passed
    assert "title_of_another_source" in rules(edited("] 埃里克·戈登 —", "] 蓍 —", case))


@pytest.mark.timeout(60)
@pytest.mark.parametrize("unit", ["“", "「", '"', "“ ”", "„“"])
def test_a_report_of_quotation_marks_is_read_in_time(unit: str) -> None:
    """T20: each mark once looked for its end through the whole text."""
    assert read_report(unit * (100_000 // len(unit)) + " it cost 5 million [1].").entries == ()
