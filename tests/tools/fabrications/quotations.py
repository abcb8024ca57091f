"""Faults of quotations: words between quotation marks that no source has."""

from __future__ import annotations

import re

from omh_research.tools.gate import GateInput
from tests.tools.fabrications.making import Mutation, cited_lines, replaced, source_text


def false_tail(case: GateInput) -> Mutation:
    """A quotation with a true beginning and an invented end."""
    tails = (
        " and this will double by 2031",
        ", which experts call a breakthrough",
        "，专家称之为突破",
        " und wird weiter steigen",
    )
    for line in cited_lines(case):
        for match in re.finditer(r'"([^"]{24,})"', line):
            quote = match[1]
            for tail in tails:
                yield replaced(case, line, line.replace(quote, quote + tail, 1))
                half = quote[: max(16, len(quote) // 2)]
                yield replaced(case, line, line.replace(quote, half + tail, 1))


def changed_word_in_quote(case: GateInput) -> Mutation:
    for line in cited_lines(case):
        for match in re.finditer(r'"([^"]{24,})"', line):
            words = match[1].split(" ")
            for at in range(len(words)):
                if words[at].isalpha() and len(words[at]) > 3:
                    changed = [
                        *words[:at],
                        words[at][::-1] if words[at] != words[at][::-1] else "other",
                        *words[at + 1 :],
                    ]
                    yield replaced(case, line, line.replace(match[1], " ".join(changed), 1))
                rest = " ".join(words[:at] + words[at + 1 :])
                # Of a word said twice one may go and the rest still be the source's own words.
                if 0 < at < len(words) - 1 and rest not in " ".join(
                    source_text(case, line).split()
                ):
                    yield replaced(case, line, line.replace(match[1], rest, 1))


def single_or_block_quote(case: GateInput) -> Mutation:
    for line in cited_lines(case)[:6]:
        n = re.search(r"\[\d+\]", line)
        assert n
        said = "the plants were all closed down within days"
        for quoted in (f"So it is: '{said}' {n[0]}.", f"So it is: ‘{said}’ {n[0]}.", f"> {said}"):
            yield replaced(case, line, f"{line}\n\n{quoted}\n\n{line}")
