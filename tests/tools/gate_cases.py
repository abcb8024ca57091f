"""Clean research runs, built from source texts: what the gate must let pass.

Each case is a `GateInput` whose report follows the form, cites only what it read and says nothing
its sources do not say. Tests make faulty ones out of them.
"""

from __future__ import annotations

from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from omh_research.documents.finding import parse_finding
from omh_research.documents.source import HeldText
from omh_research.tools.gate import GateInput, check


class Page(Struct, frozen=True):
    """A source: address, title, text, and statements that rest on it.

    `facts` pairs a sentence (without citation) with the exact words of `text` behind it.
    """

    url: str
    title: str
    text: str
    facts: tuple[tuple[str, str], ...]
    date: str = "2024-03-05"
    doi: str | None = None


def held(page: Page) -> HeldText:
    """Return the page as a held text."""
    digest = sha256(page.text.encode()).hexdigest()
    return HeldText(
        url=page.url, sha256=digest, title=page.title, date=page.date, text=page.text, doi=page.doi
    )


def finding_text(subtopic: str, pages: list[Page]) -> str:
    """Return a researcher's answer on `pages`."""
    lines = [
        f"SUBTOPIC: {subtopic}",
        "",
        "QUERIES_RUN:",
        f"- {subtopic} facts → pages found",
        "",
        "SOURCES:",
    ]
    lines += [f"[{n}] {p.title} — {p.url} — primary — {p.date}" for n, p in enumerate(pages, 1)]
    lines += ["", "EVIDENCE:"]
    lines += [
        f'- [{n}] {claim} | "{quote}"' for n, p in enumerate(pages, 1) for claim, quote in p.facts
    ]
    lines += ["", "SYNTHESIS:"]
    lines += [f"{claim} [{n}]" for n, p in enumerate(pages, 1) for claim, _ in p.facts]
    lines += ["", "GAPS:", "- none"]
    return "\n".join(lines)


def report_text(title: str, sections: dict[str, list[Page]], *, quoted: bool = False) -> str:
    """Return a report in the form of the role; with `quoted` every sentence is a quotation."""
    numbers: dict[str, int] = {}
    pages: list[Page] = []
    for group in sections.values():
        for page in group:
            if page.url not in numbers:
                numbers[page.url] = len(numbers) + 1
                pages.append(page)

    def say(page: Page, at: int) -> str:
        claim, quote = page.facts[at]
        return f'"{quote}" [{numbers[page.url]}]' if quoted else f"{claim} [{numbers[page.url]}]."

    first = pages[0]
    lines = [
        f"# {title}",
        "",
        "## Executive Summary",
        "",
        say(first, 0),
        "",
        "## Detailed Findings",
        "",
    ]
    for name, group in sections.items():
        lines += [f"### {name}", ""]
        for page in group:
            if quoted:
                lines += [f"- {say(page, at)}" for at in range(len(page.facts))]
            else:
                lines += [" ".join(say(page, at) for at in range(len(page.facts))), ""]
        lines.append("")
    lines += [
        "## Key Takeaways",
        "",
        f"- {say(pages[-1], 0)}",
        "",
        "## Open Questions",
        "",
        "- What comes next.",
        "",
        "## Sources",
        "",
    ]
    lines += [f"[{n}] {p.title} — {p.url} — primary — {p.date}" for n, p in enumerate(pages, 1)]
    return "\n".join(lines) + "\n"


def clean_input(
    topic: str, sections: dict[str, list[Page]], *, quoted: bool = False, quotes: bool = False
) -> GateInput:
    """Return a clean run over `sections` (subtopic name to pages)."""
    pages = {page.url: page for group in sections.values() for page in group}
    findings = tuple(
        (f"f{n}", parse_finding(finding_text(name, group)))
        for n, (name, group) in enumerate(sections.items())
    )
    return GateInput(
        topic=topic,
        subtopics=tuple(sections),
        report=report_text(topic, sections, quoted=quoted),
        findings=findings,
        held=tuple(held(page) for page in pages.values()),
        require_quotes=quotes,
    )


SOLAR = Page(
    "https://lab.example.org/records/2024",
    "Record solar cell efficiencies in 2024",
    "On 12 March 2024 the Helmholtz Centre in Berlin reported a tandem cell with an efficiency of 33.9 percent. "
    "The cell has an area of 1 cm² and was certified by Fraunhofer ISE. Earlier cells, made by LONGi in 2022, reached 31.3%. "
    "Perovskite layers do not survive humid air without a glass cover. The group spent €4.2 million on the line. "
    "Sample S-17 was held at 85 °C for 1,000 hours. The authors did not test modules outdoors.",
    (
        ("The Helmholtz Centre reported a tandem cell with 33.9% efficiency on 12 March 2024", "On 12 March 2024 the Helmholtz Centre in Berlin reported a tandem cell with an efficiency of 33.9 percent"),
        ("Cells that LONGi made in 2022 reached 31.3%", "Earlier cells, made by LONGi in 2022, reached 31.3%"),
        ("Perovskite layers do not survive humid air without a glass cover", "Perovskite layers do not survive humid air without a glass cover"),
        ("The line cost €4.2 million", "The group spent €4.2 million on the line"),
    ),
    doi="10.5555/solar.2024.117",
)  # fmt: skip
COST = Page(
    "https://www.energy-stats.example/reports/cost?year=2023",
    "Levelised cost of electricity, yearly survey",
    "In 2023 electricity from new solar farms in Spain cost $0.044 per kWh, against $0.39 in 2010. "
    "Installed capacity rose from 1.2 GW to 5.6 GW between 2015 and 2023. The survey covers 1,480 plants in 41 countries. "
    "Battery prices fell by 14 percentage points of the total. Wind parks in Denmark were cheaper, at $0.033 per kWh. "
    "The agency employs 250 analysts; Maria Keller leads the survey.",
    (
        ("Electricity from new solar farms in Spain cost $0.044 per kWh in 2023", "In 2023 electricity from new solar farms in Spain cost $0.044 per kWh, against $0.39 in 2010"),
        ("Capacity rose from 1.2 GW in 2015 to 5.6 GW in 2023", "Installed capacity rose from 1.2 GW to 5.6 GW between 2015 and 2023"),
        ("The survey covers 1,480 plants in 41 countries and is led by Maria Keller", "The survey covers 1,480 plants in 41 countries. Battery prices fell by 14 percentage points of the total. Wind parks in Denmark were cheaper, at $0.033 per kWh. The agency employs 250 analysts; Maria Keller leads the survey"),
    ),
)  # fmt: skip
RECYCLE = Page(
    "https://arxiv.org/abs/2401.01234",
    "Recycling of photovoltaic modules: a review",
    "We reviewed 96 studies of module recycling. Thermal routes recover 95 to 98 percent of the glass but only 61% of the silver. "
    "A plant in Rousset, France, treats 1,800 tonnes a year. No study measured lead losses over more than 5 years. "
    "The European Union requires that 85% of the mass be recovered (Directive 2012/19/EU). Costs are $20 to $30 per module. "
    "Dr. Ana Ribeiro and COVID-19 delays are named in the acknowledgements.",
    (
        ("Thermal routes recover 95–98% of the glass but only 61% of the silver", "Thermal routes recover 95 to 98 percent of the glass but only 61% of the silver"),
        ("A plant in Rousset treats 1,800 tonnes a year", "A plant in Rousset, France, treats 1,800 tonnes a year"),
        ("The European Union requires that 85% of the mass be recovered", "The European Union requires that 85% of the mass be recovered"),
    ),
)  # fmt: skip
CHINESE = Page(
    "https://www.nianjian.example.cn/2023/guangfu",
    "2023年中国光伏产业年鉴",
    "截至2023年底，中国光伏装机容量达到609.5吉瓦，比上年增长55.2%。全年新增装机216.9吉瓦。组件价格从每瓦1.9元降至0.9元。"
    "青海省的电站占地约300平方公里。行业从业人员约为180万人，其中制造环节占六成。专家指出，回收体系尚未建立，预计2030年后退役组件将超过100万吨。",
    (
        ("截至2023年底，中国光伏装机容量达到609.5吉瓦", "截至2023年底，中国光伏装机容量达到609.5吉瓦"),
        ("组件价格从每瓦1.9元降至0.9元", "组件价格从每瓦1.9元降至0.9元"),
        ("行业从业人员约180万人", "行业从业人员约为180万人"),
    ),
    date="2024年1月20日",
)  # fmt: skip
GERMAN = Page(
    "https://www.umweltbericht.example.de/photovoltaik/",
    "Photovoltaik in Deutschland: Bericht 2023",
    "Im Jahr 2023 wurden in Deutschland 14,1 Gigawatt Photovoltaik zugebaut. Die Vergütung betrug 8,2 Cent je Kilowattstunde. "
    "Rund 3,7 Millionen Anlagen waren am 31. Dezember 2023 in Betrieb. Die Bundesnetzagentur führt das Register. "
    "Module aus China deckten 86 Prozent des Bedarfs. Ein Verbot gibt es nicht.",
    (
        ("Im Jahr 2023 wurden 14,1 Gigawatt zugebaut", "Im Jahr 2023 wurden in Deutschland 14,1 Gigawatt Photovoltaik zugebaut"),
        ("Am 31.12.2023 waren 3,7 Millionen Anlagen in Betrieb", "Rund 3,7 Millionen Anlagen waren am 31. Dezember 2023 in Betrieb"),
        ("Module aus China deckten 86 % des Bedarfs", "Module aus China deckten 86 Prozent des Bedarfs"),
    ),
    date="2024-02-11",
)  # fmt: skip


def english(*, quoted: bool = False, quotes: bool = False) -> GateInput:
    """Return the English run: three subtopics, three sources."""
    sections = {"Efficiency": [SOLAR], "Cost and capacity": [COST], "Recycling": [RECYCLE, SOLAR]}
    return clean_input("Where does solar power stand?", sections, quoted=quoted, quotes=quotes)


def chinese(*, quoted: bool = False, quotes: bool = False) -> GateInput:
    """Return the Chinese run; one subtopic rests on an English source (T13b)."""
    english_page = Page(
        COST.url, COST.title, COST.text,
        (("2023年，西班牙新建光伏电站的发电成本为每千瓦时0.044美元", COST.facts[0][1]), ("装机容量从2015年的1.2 GW增至2023年的5.6 GW", COST.facts[1][1])),
    )  # fmt: skip
    sections = {"装机规模": [CHINESE], "价格": [CHINESE, english_page], "德国": [GERMAN]}
    german = Page(
        GERMAN.url,
        GERMAN.title,
        GERMAN.text,
        (
            ("2023年德国新增光伏14.1吉瓦", GERMAN.facts[0][1]),
            ("中国组件占需求的86%", GERMAN.facts[2][1]),
        ),
    )
    sections["德国"] = [german]
    return clean_input("光伏发电现状如何？", sections, quoted=quoted, quotes=quotes)


def german(*, quoted: bool = False, quotes: bool = False) -> GateInput:
    """Return the German run."""
    sections = {"Zubau": [GERMAN], "Kosten": [COST_DE], "Recycling": [RECYCLE_DE]}
    return clean_input("Wie steht es um die Photovoltaik?", sections, quoted=quoted, quotes=quotes)


COST_DE = Page(
    COST.url, COST.title, COST.text,
    (("Strom aus neuen Solarparks in Spanien kostete 2023 0,044 US-Dollar je kWh", COST.facts[0][1]), ("Die Leistung stieg von 1,2 GW auf 5,6 GW", COST.facts[1][1])),
)  # fmt: skip
RECYCLE_DE = Page(
    RECYCLE.url, RECYCLE.title, RECYCLE.text,
    (("Thermische Verfahren gewinnen 95 bis 98 Prozent des Glases zurück, aber nur 61 % des Silbers", RECYCLE.facts[0][1]), ("Eine Anlage in Rousset verarbeitet 1.800 Tonnen im Jahr", RECYCLE.facts[1][1])),
)  # fmt: skip


def all_clean() -> dict[str, GateInput]:
    """Return every clean run by name."""
    cases = {}
    for name, make in (("english", english), ("chinese", chinese), ("german", german)):
        for quoted in (False, True):
            for quotes in (False, True):
                cases[
                    f"{name}{' quoted' if quoted else ''}{' with quotes required' if quotes else ''}"
                ] = make(quoted=quoted, quotes=quotes)
    return cases


def edited(old: str, new: str, case: GateInput | None = None) -> GateInput:
    """Return the English run (or `case`) with one piece of its report replaced."""
    base = case or english()
    assert old in base.report
    return replace(base, report=base.report.replace(old, new, 1))


def rules(case: GateInput) -> set[str]:
    """Return the names of the rules that a run breaks."""
    return {failure.rule for failure in check(case).failures}
