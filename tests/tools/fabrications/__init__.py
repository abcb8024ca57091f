"""Faulty reports made out of clean ones, by kind of fault: the fabrication battery.

`mutants(case, kind)` yields, for every place where the kind can be applied, the run with that one
fault. Each kind names the gate rules of which one must fire.
"""

from __future__ import annotations

import random
from collections.abc import Callable

from omh_research.tools.gate import GateInput
from tests.tools.fabrications.addresses import (
    changed_entry,
    invented_address,
    invented_doi,
    lead_cited,
    lookalike_address,
    neighbour_doi,
    never_fetched,
    title_of_another,
)
from tests.tools.fabrications.facts import (
    changed_date,
    changed_name,
    changed_number,
    changed_unit,
    invented_sentence,
    swapped_citation,
    uncited_number,
    unplaced_fact,
)
from tests.tools.fabrications.form import (
    broken_numbering,
    dangling_number,
    empty_or_sample,
    markup,
    missing_subtopic,
    no_usable_source,
    nothing_cited,
    one_work_twice,
    template_text,
)
from tests.tools.fabrications.making import ADDRESS, FACTS, Mutation
from tests.tools.fabrications.planted import planted_frontmatter, planted_verdict, unsafe_content
from tests.tools.fabrications.quotations import (
    changed_word_in_quote,
    false_tail,
    single_or_block_quote,
)
from tests.tools.fabrications.wording import (
    changed_numeral,
    changed_word_number,
    denied,
    negated,
    opposite_word,
    turned_bound,
)

KINDS: dict[str, tuple[Callable[[GateInput], Mutation], tuple[str, ...]]] = {
    "invented address": (invented_address, ADDRESS),
    "look-alike address": (lookalike_address, (*ADDRESS, "numbering")),
    "invented DOI": (
        invented_doi,
        ("doi_not_in_source", "doi_not_in_findings", "address_not_in_findings"),
    ),
    "neighbouring DOI": (
        neighbour_doi,
        ("doi_not_in_source", "doi_not_in_findings", "source_not_in_findings"),
    ),
    "another source's title": (title_of_another, ("title_of_another_source",)),
    "search hit cited as source": (lead_cited, ("lead_cited",)),
    "source never fetched": (never_fetched, ("source_not_fetched",)),
    "changed number": (changed_number, FACTS),
    "changed unit or magnitude": (changed_unit, FACTS),
    "changed date": (changed_date, FACTS),
    "changed name": (changed_name, FACTS),
    "negation (verbatim or nearly)": (negated, (*FACTS, "negation_differs")),
    "negation in Chinese or Japanese (nearly verbatim)": (denied, (*FACTS, "negation_differs")),
    "changed number in Chinese or Japanese numerals": (changed_numeral, FACTS),
    "changed fraction or number word (nearly verbatim)": (changed_word_number, FACTS),
    "a bound that turns a number round (nearly verbatim)": (turned_bound, FACTS),
    "opposite word (rose for fell; nearly verbatim)": (
        opposite_word,
        (*FACTS, "negation_differs"),
    ),
    "swapped citation": (swapped_citation, FACTS),
    "true-prefix-false-tail quote": (false_tail, ("quote_not_in_source",)),
    "changed or dropped word in a quote": (changed_word_in_quote, ("quote_not_in_source",)),
    "invented sentence with a real citation": (invented_sentence, FACTS),
    "invented number without citation": (uncited_number, ("uncited_figure", *FACTS)),
    "number, date or name in title, heading, question or inference": (
        unplaced_fact,
        ("uncited_figure", "uncited_date", "uncited_name"),
    ),
    "invented quotation in single marks or a block quote": (
        single_or_block_quote,
        ("quote_not_in_source",),
    ),
    "changed title, type or date of a source": (
        changed_entry,
        (
            "title_not_in_findings",
            "title_of_another_source",
            "type_not_in_findings",
            "date_not_in_findings",
        ),
    ),
    "HTML, comments, bare addresses": (markup, ("html", "address_not_in_findings")),
    "missing, renamed or empty subtopic": (
        missing_subtopic,
        ("missing_subtopic", "empty_subtopic"),
    ),
    "dangling number": (dangling_number, ("dangling_number",)),
    "holes and repeats in numbering": (
        broken_numbering,
        ("dangling_number", "repeated_number", "numbering"),
    ),
    "one work under two numbers": (one_work_twice, ("one_work_one_number",)),
    "template text": (template_text, ("placeholder",)),
    "empty or sample text as report": (
        empty_or_sample,
        ("no_report", "missing_subtopic", "empty_subtopic"),
    ),
    "planted frontmatter": (planted_frontmatter, ("planted_frontmatter",)),
    "planted verdict or vote": (planted_verdict, ("planted_verdict",)),
    "images, scripts, foreign links, role markers": (
        unsafe_content,
        ("image", "unsafe_content", "address_not_in_findings", "planted_role"),
    ),
    "no usable source in any subtopic": (no_usable_source, ()),
    "nothing cited": (nothing_cited, ("nothing_cited",)),
}


def mutants(case: GateInput, kind: str, *, limit: int = 0, seed: int = 0) -> list[GateInput]:
    """Return the mutants of one kind that differ from the case; at most `limit` drawn at random."""
    make, _ = KINDS[kind]
    found = [m for m in make(case) if m != case]
    if limit and len(found) > limit:
        return random.Random(seed).sample(found, limit)
    return found
