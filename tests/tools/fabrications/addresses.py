"""Faults of sources: invented, swapped, never read, described wrongly."""

from __future__ import annotations

import re

import msgspec

from omh_research.tools.gate import GateInput
from omh_research.tools.gate.reading import read_report
from omh_research.tools.identifiers import work_key
from omh_research.tools.similarity import token_jaccard
from tests.tools.fabrications.making import Mutation, cited_lines, entry_urls, replaced


def invented_address(case: GateInput) -> Mutation:
    for url in entry_urls(case):
        yield replaced(case, url, "https://journal-of-results.example.net/articles/7781")
        yield replaced(case, url, "https://doi.org/10.9999/invented.2024.1")


def lookalike_address(case: GateInput) -> Mutation:
    for url in entry_urls(case):
        host = url.split("/")[2]
        variants = [
            url.replace(host, host.replace("e", "3", 1)),
            url.replace(host, host + ".co"),
            url.replace(host, "m-" + host.removeprefix("www.")),
            url.replace(host, host.replace("a", "а", 1)),
            url + "-2" if not url.endswith("/") else url + "2",
            url.rstrip("/") + "/en",
            re.sub(r"(\d)(\D*)$", lambda m: f"{(int(m[1]) + 1) % 10}{m[2]}", url),
            url.replace("//", "//user@", 1),
            url.replace(host, host + ":8443"),
            url + ("&" if "?" in url else "?") + "id=2",
        ]
        for variant in variants:
            if work_key(variant) not in {work_key(other) for other in entry_urls(case)}:
                yield replaced(case, url, variant)


def invented_doi(case: GateInput) -> Mutation:
    for line in cited_lines(case)[:6]:
        yield replaced(case, line, f"{line} The paper is doi:10.4321/abc.{len(line)}.")
        yield replaced(case, line, f"{line} See https://doi.org/10.4321/xyz.{len(line)}.")
    for url in entry_urls(case):
        yield replaced(case, f" — {url}", f". doi:10.4321/fake.77 — {url}")


def neighbour_doi(case: GateInput) -> Mutation:
    for text in case.held:
        if text.doi:
            near = re.sub(r"(\d)(\D*)$", lambda m: f"{(int(m[1]) + 1) % 10}{m[2]}", text.doi)
            yield replaced(case, f" — {text.url}", f". doi:{near} — {text.url}")
            yield replaced(case, text.url, f"https://doi.org/{near}")
            for line in cited_lines(case)[:3]:
                yield replaced(case, line, f"{line} (doi:{near})")


def title_of_another(case: GateInput) -> Mutation:
    entries = read_report(case.report).entries
    for one in entries:
        for other in entries:
            likeness = token_jaccard(one.title, other.title)
            if one.n != other.n and one.title and other.title and likeness < 0.3:
                yield replaced(case, f"[{one.n}] {one.title} —", f"[{one.n}] {other.title} —")


def lead_cited(case: GateInput) -> Mutation:
    for text in case.held:
        rest = tuple(t for t in case.held if t is not text)
        yield msgspec.structs.replace(
            case, held=rest, leads=frozenset({text.url}), declared_allowed=True
        )


def never_fetched(case: GateInput) -> Mutation:
    for text in case.held:
        yield msgspec.structs.replace(case, held=tuple(t for t in case.held if t is not text))


def changed_entry(case: GateInput) -> Mutation:
    """Title, type or date of a Sources entry made up."""
    for entry in read_report(case.report).entries:
        head, tail = f"[{entry.n}] {entry.title} — ", f"{entry.url} — primary — {entry.date}"
        yield replaced(case, head, f"[{entry.n}] Moon rocks, weighed in 1931 — ")
        yield replaced(case, tail, f"{entry.url} — vendor — {entry.date}")
        yield replaced(case, tail, f"{entry.url} — primary — 1931-01-01")
