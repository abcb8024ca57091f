"""Faults of figures, units, dates and names, and what is cited for them."""

from __future__ import annotations

import re

from omh_research.tools.dates import find_dates
from omh_research.tools.figures import find_figures, index_figures
from omh_research.tools.gate import GateInput
from omh_research.tools.gate.reading import read_report
from tests.tools.fabrications.making import Mutation, cited_lines, replaced, source_text


def changed_number(case: GateInput) -> Mutation:
    """One number of a cited sentence changed to one that its source does not hold."""
    for line in cited_lines(case):
        plain = re.sub(r"\[\d+\]", lambda m: "#" * len(m[0]), line)
        index = index_figures(source_text(case, line))
        for figure in find_figures(plain):
            digits = re.match(r"[\d.,]+\d|\d", figure.text)
            if not digits:
                continue
            for change in ("up", "tenfold", "digit", "swap"):
                new = _changed_digits(digits[0], change)
                changed = find_figures(
                    plain[: figure.start] + new + plain[figure.start + len(digits[0]) :]
                )
                target = next((f for f in changed if f.start == figure.start), None)
                if (
                    new == digits[0]
                    or target is None
                    or any(v in index.units for v in target.values)
                ):
                    continue
                yield replaced(
                    case, line, line[: figure.start] + new + line[figure.start + len(digits[0]) :]
                )


def _changed_digits(number: str, change: str) -> str:
    if change == "up":
        return number[:-1] + str((int(number[-1]) + 3) % 10)
    if change == "tenfold":
        return (
            number + "0"
            if "." not in number and "," not in number
            else number.replace(".", "").replace(",", "")
        )
    if change == "digit":
        return str(int(number[0]) % 9 + 1) + number[1:]
    return number[::-1] if number[0].isdigit() and number[-1] not in "0.," else number


UNIT_CHANGES = (
    (" kWh", " MWh"), (" GW", " MW"), ("million", "billion"), (" percent", " percentage points"), ("%", " percentage points"),
    (" tonnes", " kilograms"), ("Millionen", "Milliarden"), ("万", "亿"), ("吉瓦", "兆瓦"), ("Gigawatt", "Megawatt"), (" US-Dollar", " Euro"),
    ("$", "€"), ("€", "$"), ("元", "美元"), (" cm²", " m²"), (" °C", " °F"), (" hours", " days"), (" Prozent", " Promille"), ("美元", "欧元"),
    (" Tonnen", " Kilogramm"), ("百万", "千万"),
)  # fmt: skip


def changed_unit(case: GateInput) -> Mutation:
    for line in cited_lines(case):
        for old, new in UNIT_CHANGES:
            if re.search(
                rf"\d{re.escape(old)}" if old not in "$€" else rf"{re.escape(old)}\d", line
            ):
                if old == "%" and "percentage" in line:
                    continue
                if old == "元" and "美元" in line:
                    continue
                yield replaced(case, line, line.replace(old, new, 1))


def changed_date(case: GateInput) -> Mutation:
    for line in cited_lines(case):
        for old, new in (
            ("March", "April"),
            ("12 March", "21 March"),
            ("31. Dezember", "13. Dezember"),
            ("31.12.2023", "30.11.2023"),
            ("Dezember", "Oktober"),
            ("2023", "2019"),
            ("2024", "2014"),
            ("2022", "2008"),
            ("2015", "2005"),
        ):
            if any(old in date.text for date in find_dates(line)) and new not in source_text(
                case, line
            ):
                yield replaced(case, line, line.replace(old, new, 1))


NAME_CHANGES = (
    ("Helmholtz", "Oppenheim"), ("LONGi", "JinkoSolar"), ("Spain", "Portugal"), ("Maria Keller", "Maria Kessler"), ("Keller", "Brandt"),
    ("Rousset", "Marseille"), ("European Union", "United Nations"), ("Fraunhofer ISE", "Fraunhofer IPMS"), ("Berlin", "Munich"), ("Denmark", "Norway"),
)  # fmt: skip


def changed_name(case: GateInput) -> Mutation:
    for line in cited_lines(case):
        for old, new in NAME_CHANGES:
            if old in line and case.topic.isascii() and not case.topic.startswith("Wie"):
                yield replaced(case, line, line.replace(old, new))


def swapped_citation(case: GateInput) -> Mutation:
    """A sentence with a checkable fact cites another source that does not hold it."""
    texts = {e.n: source_text(case, f"[{e.n}]") for e in read_report(case.report).entries}
    for line in cited_lines(case):
        match = re.search(r"\[(\d+)\]", line)
        if not match or len(re.findall(r"\[\d+\]", line)) > 1:
            continue
        figures = find_figures(re.sub(r"\[\d+\]", " ", line))
        for n, text in texts.items():
            index = index_figures(text)
            if n != int(match[1]) and any(
                not any(v in index.units for v in f.values) for f in figures
            ):
                yield replaced(case, line, line.replace(match[0], f"[{n}]"))


def invented_sentence(case: GateInput) -> Mutation:
    for line in cited_lines(case):
        n = re.search(r"\[\d+\]", line)
        assert n
        yield replaced(case, line, f"{line} A later trial in Winnipeg reached 47.3% {n[0]}.")
        yield replaced(
            case, line, f'{line} "This finding was replicated by nineteen groups worldwide" {n[0]}.'
        )


def uncited_number(case: GateInput) -> Mutation:
    for line in cited_lines(case):
        yield replaced(case, line, f"{line} Sales will reach 7,431 units.")


PASTEUR = "Louis Pasteur of Winnipeg reached 7,431 units by 7 May 1850"


def unplaced_fact(case: GateInput) -> Mutation:
    """A figure, date or name where nothing is cited: title, heading, question, inference."""
    title = case.report.split("\n", 1)[0]
    yield replaced(case, title, f"# {PASTEUR}")
    yield replaced(case, "- What comes next.", f"- Why was it that {PASTEUR}?")
    yield replaced(case, "## Open Questions", f"- Inference: {PASTEUR}.\n\n## Open Questions")
    for line in cited_lines(case):
        yield replaced(case, line, f"{line}\n\n#### {PASTEUR}\n\n{line}")
