"""The citations tool (T11-T18, T20, T25): the seed's contract, field by field."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omh_research.errors import ToolInputError
from omh_research.tools import citations
from omh_research.tools.citations import references, verify
from omh_research.tools.comparison import COMPARISON_KEYS, NOT_VERIFIED
from omh_research.tools.ledger import EvidenceRow

TEXT = (
    "Example is a local-first chat application. It runs on macOS and Windows with a desktop "
    "installer. Example is licensed under Apache-2.0. Version 2.1 was released on 2026-07-01. "
    "Models are fetched by a built-in download. It does not send telemetry. doi:10.1234/example"
)
RUNS = {
    "text": "Example runs on macOS and Windows.",
    "citations": [
        {
            "source": "s1",
            "quote": "It runs on macOS and Windows with a desktop installer",
            "doi": "10.1234/example",
        }
    ],
}
LICENSED = {
    "text": "Example is licensed under Apache-2.0.",
    "citations": [
        {"url": "http://www.example.org", "quote": "Example is licensed under Apache-2.0."}
    ],
}


def payload(*claims: dict[str, Any], **more: Any) -> dict[str, Any]:
    first = {
        "id": "s1",
        "url": "https://example.org/",
        "title": "Example project",
        "date": "2026-07-01",
        "accessed_at": "2026-07-28",
        "limitations": "Official source only.",
        "doi": "10.1234/example",
        "text": TEXT,
    }
    second = {
        "id": "s2",
        "url": "https://other.example/x",
        "title": "Other",
        "text": "Nothing of interest to anyone stands here.",
    }
    return copy.deepcopy({"sources": [first, second], "claims": list(claims), **more})


def one(
    citation: dict[str, Any], text: str = "Example runs on macOS and Windows."
) -> dict[str, Any]:
    """Return the checked citation of a payload with this one citation, its flags beside it."""
    result = verify(payload({"text": text, "citations": [citation]}))
    return {
        **result["claims"][0]["citations"][0],
        "flags": [flag["issue"] for flag in result["flags"]],
        "claim": result["claims"][0],
    }


def test_a_good_payload_has_every_field_of_the_contract() -> None:
    """T11, T25: names, summary and shapes of the seed."""
    result = verify(
        payload(RUNS, LICENSED, {"text": "Example is popular.", "citations": [{"source": "s2"}]})
    )
    assert list(result) == [
        "abstain", "abstain_reason", "summary", "claims", "references", "flags", "warnings",
        "evidence_rows", "evidence_markdown", "comparison_rows", "comparison_markdown",
        "comparison_warnings",
    ]  # fmt: skip
    assert (result["abstain"], result["abstain_reason"]) == (False, None)
    assert result["summary"] == {
        "claims": 3, "supported": 2, "unsupported": 1, "citations": 3, "verified": 2, "weak": 1,
        "flagged": 0, "aligned": 2, "support_unproven": 1,
    }  # fmt: skip
    first = result["claims"][0]["citations"][0]
    assert first == {
        "source": "s1", "url": None, "resolved_by": "id", "url_status": "known",
        "quote_status": "verified", "doi_status": "verified", "alignment_status": "aligned",
        "alignment_detail": None, "basis": "source_text", "verdict": "verified", "ref": 1,
    }  # fmt: skip
    second = result["claims"][1]["citations"][0]
    assert (second["source"], second["url"], second["resolved_by"]) == (
        None,
        "http://www.example.org",
        "url",
    )
    assert [claim["support_status"] for claim in result["claims"]] == [
        "supported",
        "supported",
        "unproven",
    ]
    assert [claim["supported"] for claim in result["claims"]] == [True, True, False]
    assert [(r["ref"], r["title"], r["url"], r["date"]) for r in result["references"]] == [
        (1, "Example project", "https://example.org/", "2026-07-01"),
        (2, "Other", "https://other.example/x", None),
    ]
    assert result["flags"] == []
    assert json.loads(json.dumps(result)) == result


def test_the_same_input_gives_the_same_bytes() -> None:
    given = payload(RUNS, LICENSED)
    before = copy.deepcopy(given)
    assert json.dumps(verify(given)) == json.dumps(verify(payload(RUNS, LICENSED)))
    assert given == before


@pytest.mark.parametrize(
    ("citation", "issue", "status"),
    [
        ({"source": "s9", "quote": "It runs on macOS and Windows"}, "citation_source_not_found", {"url_status": "unknown", "resolved_by": None}),
        ({"url": "https://example.com/", "quote": "It runs on macOS and Windows"}, "citation_source_not_found", {"url_status": "unknown"}),
        ({}, "citation_source_not_found", {"quote_status": "missing"}),
        ({"source": "s1", "url": "https://other.example/x", "quote": "It runs on macOS and Windows"}, "citation_source_not_found", {}),
        ({"source": "s1", "quote": "It runs on macOS and Linux"}, "quote_not_found_in_source", {"quote_status": "not_found"}),
        ({"source": "s1", "quote": "It does send telemetry."}, "quote_not_found_in_source", {"quote_status": "not_found"}),
        ({"source": "s2", "quote": "It runs on macOS and Windows"}, "quote_not_found_in_source", {}),  # swapped
        ({"source": "s1", "doi": "10.12/x"}, "doi_malformed", {"doi_status": "malformed"}),
        ({"source": "s1", "doi": "doi example"}, "doi_malformed", {"doi_status": "malformed"}),
        ({"source": "s1", "doi": "10.1234/example2"}, "doi_not_found_in_source", {"doi_status": "not_found"}),
        ({"source": "s2", "doi": "10.1234/example"}, "doi_not_found_in_source", {"doi_status": "not_found"}),
    ],
)  # fmt: skip
def test_each_kind_of_fabrication_is_flagged(
    citation: dict[str, Any], issue: str, status: dict[str, Any]
) -> None:
    """T14: the four issues; a flagged citation earns no reference."""
    found = one(citation)
    assert found["flags"] == [issue]
    assert found["verdict"] == "flagged"
    assert found["ref"] is None
    assert found["claim"]["support_status"] == "invalid"
    assert {key: found[key] for key in status} == status


@pytest.mark.parametrize(
    ("citation", "status"),
    [
        ({"source": "s1"}, {"quote_status": "missing", "doi_status": "missing"}),
        (
            {"source": "s1", "doi": "https://doi.org/10.1234/EXAMPLE"},
            {"quote_status": "missing", "doi_status": "verified"},
        ),
        ({"source": "s1", "quote": "runs on"}, {"quote_status": "too_short"}),
        ({"source": "https://example.org"}, {"resolved_by": "url"}),
    ],
)
def test_without_a_provable_quote_a_citation_is_weak_never_flagged(
    citation: dict[str, Any], status: dict[str, Any]
) -> None:
    """T12, T13, T25: weak, unproven, still a reference."""
    found = one(citation)
    assert (found["verdict"], found["flags"], found["ref"]) == ("weak", [], 1)
    assert found["claim"]["support_status"] == "unproven"
    assert {key: found[key] for key in status} == status


def test_a_verified_quote_that_does_not_carry_the_claim_is_unproven() -> None:
    """T13: verified and unaligned: no support, a warning, no flag."""
    result = verify(
        payload(
            {
                "text": "Example runs on 3 billion devices.",
                "citations": [
                    {
                        "source": "s1",
                        "quote": "It runs on macOS and Windows with a desktop installer",
                    }
                ],
            }
        )
    )
    claim = result["claims"][0]
    assert (claim["supported"], claim["support_status"]) == (False, "unproven")
    assert claim["citations"][0]["alignment_status"] == "unaligned"
    assert [warning["issue"] for warning in result["warnings"]] == ["quote_does_not_carry_claim"]
    assert result["evidence_rows"][0]["support_status"] == "unproven"


def test_a_negation_before_the_quote_or_another_script_is_unproven() -> None:
    cut = one(
        {"source": "s1", "quote": "send telemetry. doi:10.1234/example"},
        "Example does send telemetry.",
    )
    assert (cut["quote_status"], cut["alignment_status"]) == ("verified", "unaligned")
    foreign = one(
        {"source": "s1", "quote": "It runs on macOS and Windows"},
        "它可以在 macOS 和 Windows 上运行。",
    )
    assert (foreign["alignment_status"], foreign["claim"]["support_status"]) == (
        "cross_language",
        "unproven",
    )


def test_quotes_may_carry_a_claim_together() -> None:
    both = {
        "text": "Example runs on macOS and Windows and is licensed under Apache-2.0.",
        "citations": [
            RUNS["citations"][0],
            {"source": "s1", "quote": "Example is licensed under Apache-2.0"},
        ],
    }
    result = verify(payload(both))
    assert [c["alignment_status"] for c in result["claims"][0]["citations"]] == [
        "unaligned",
        "unaligned",
    ]
    assert result["claims"][0]["supported"] is True


@pytest.mark.parametrize(
    "given", [{}, {"sources": []}, {"sources": [{"id": "s1", "text": "  "}]}, {"claims": [RUNS]}]
)
def test_without_usable_sources_it_abstains(given: dict[str, Any]) -> None:
    """T11, T21."""
    result = verify(given)
    assert (result["abstain"], result["abstain_reason"]) == (True, "no_sources")
    assert result["references"] == []
    assert not any(claim["supported"] for claim in result["claims"])


@pytest.mark.parametrize(
    "given",
    [[], "x", None, {"sources": {}}, {"sources": ["x"]}, {"sources": [{"text": []}]}, {"claims": [1]}, {"claims": [{"citations": "x"}]}, {"claims": [{"citations": [1]}]}, {"comparison": [1]}, {"sources": [{}] * 1001}],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_by_name(given: Any) -> None:
    with pytest.raises(ToolInputError) as caught:
        verify(given)
    assert caught.value.code == "input"


def test_references_are_one_a_work_by_first_citation() -> None:
    """T15, complaint 23: two addresses of one paper have one number."""
    given = payload(
        {"text": "B", "citations": [{"source": "s2"}]},
        {"text": "A", "citations": [{"source": "a"}, {"source": "b"}, {"source": "s9"}]},
    )
    paper = "The paper says a thing about something."
    given["sources"] += [
        {"id": "a", "url": "https://arxiv.org/abs/2301.00001v2", "title": "Paper", "text": paper},
        {
            "id": "b",
            "url": "https://arxiv.org/pdf/2301.00001?utm_source=x",
            "title": "Paper (PDF)",
            "text": paper,
        },
    ]
    result = references(given)
    assert list(result) == ["abstain", "abstain_reason", "references"]
    assert [(r["ref"], r["source"]) for r in result["references"]] == [(1, "s2"), (2, "a")]


LEDGER = [
    EvidenceRow(
        source_id="s2",
        canonical_url="https://other.example/x",
        published_at="2020-05-05",
        accessed_at="2026-01-01",
        publisher="Other Press",
        source_type="secondary",
        limitations="One page.",
        quote="Nothing of interest to anyone stands here.",
    ),
    EvidenceRow(source_id="s1", published_at="1999-01-01", quote="It runs on macOS and Windows"),
    EvidenceRow(source_id="s1", quote="with a desktop installer and more"),
]


def test_a_ledger_fills_gaps_and_changes_nothing_given() -> None:
    """T16: by id or address; what the payload says stands."""
    result = verify(payload(RUNS, {"text": "x", "citations": [{"source": "s2"}]}), LEDGER)
    first, second = result["references"]
    assert (first["date"], first["accessed_at"]) == ("2026-07-01", "2026-07-28")
    assert (second["date"], second["accessed_at"], second["publisher"], second["source_type"]) == (
        "2020-05-05",
        "2026-01-01",
        "Other Press",
        "secondary",
    )


def test_on_resume_saved_quotes_stand_in_for_the_text() -> None:
    """T16: basis ledger_quotes; a quote never spans two saved ones; nothing without --ledger."""
    given = payload(RUNS)
    given["sources"][0]["text"] = ""
    quote = {"source": "s1", "quote": "It runs on macOS and Windows"}
    spanning = {"source": "s1", "quote": "on macOS and Windows with a desktop installer"}
    given["claims"] = [{"text": "It runs on macOS and Windows.", "citations": [quote, spanning]}]
    resumed = verify(given, LEDGER, resume=True)["claims"][0]["citations"]
    assert [(c["quote_status"], c["basis"]) for c in resumed] == [
        ("verified", "ledger_quotes"),
        ("not_found", "ledger_quotes"),
    ]
    plain = verify(given, LEDGER)["claims"][0]["citations"][0]
    assert plain["quote_status"] == "not_found"


ROW = {
    "candidate": "Example",
    "best_for": "Private | local chat",
    "os": "macOS, Windows",
    "installation": "Desktop installer",
    "local_model_path": "Built-in download",
    "privacy": "Local-first",
    "license_open_source": "Apache-2.0",
    "project_activity": "Version 2.1 released",
    "activity_observed_at": "2026-07-28",
    "hardware_constraints": "8 GB RAM",
    "ideal_user": "Everyday user",
    "evidence_sources": ["s1", "s2"],
}
RELEASED = {
    "text": "Version 2.1 was released on 2026-07-01.",
    "citations": [{"source": "s1", "quote": "Version 2.1 was released on 2026-07-01"}],
}


def test_only_covered_cells_of_a_comparison_are_printed() -> None:
    """T17: every factual cell without a verified claim of its row's source says Not verified."""
    result = verify(payload(RUNS, LICENSED, RELEASED, comparison=[ROW]))
    row = result["comparison_rows"][0]
    assert tuple(row) == COMPARISON_KEYS
    assert row["evidence_sources"] == ["s1"]
    assert {key: row[key] for key in COMPARISON_KEYS if row[key] == NOT_VERIFIED} == dict.fromkeys(
        ["local_model_path", "privacy", "hardware_constraints"], NOT_VERIFIED
    )
    markdown = result["comparison_markdown"]
    assert "5 of 8 factual cells verified." in markdown
    assert "Private \\| local chat" in markdown
    assert "| E1, E2, E3 |" in markdown
    assert {w["field"] for w in result["comparison_warnings"]} == {
        "local_model_path",
        "privacy",
        "hardware_constraints",
        "evidence_sources",
    }


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"os": "macOS, Windows, Linux"}, "os"),
        ({"license_open_source": "MIT"}, "license_open_source"),
        ({"license_open_source": "Apache-3.0"}, "license_open_source"),
        ({"activity_observed_at": ""}, "project_activity"),
        ({"activity_observed_at": "recently"}, "project_activity"),
        ({"activity_observed_at": "2025-01-01"}, "activity_observed_at"),
        ({"evidence_sources": ["s2"]}, "os"),
        ({"evidence_sources": []}, "license_open_source"),
        ({"installation": None}, "installation"),
        ({"project_activity": "Version 2.2 released"}, "project_activity"),
    ],
)
def test_a_cell_that_says_more_than_the_evidence_is_not_verified(
    change: dict[str, Any], field: str
) -> None:
    result = verify(payload(RUNS, LICENSED, RELEASED, comparison=[{**ROW, **change}]))
    assert result["comparison_rows"][0][field] == NOT_VERIFIED


def test_keys_of_a_comparison_are_exact() -> None:
    result = verify(payload(RUNS, comparison=[{"candidate": "X", "price": "free"}]))
    assert tuple(result["comparison_rows"][0]) == COMPARISON_KEYS
    assert "0 of 8 factual cells verified." in result["comparison_markdown"]
    assert [(w["field"], w["issue"]) for w in result["comparison_warnings"]] == [
        ("price", "unknown_key")
    ]
    assert verify(payload(RUNS))["comparison_markdown"] == ""


def test_no_text_breaks_out_of_a_table_cell() -> None:
    """T17, T18: cells are escaped; only http addresses become links."""
    given = payload(
        {
            "text": "A | B\n| --- | <script>",
            "citations": [
                {"source": "x", "quote": "A | B [link](javascript:alert(1)) stands here"}
            ],
        }
    )
    given["sources"].append(
        {
            "id": "x",
            "url": "javascript:alert(1)",
            "title": "T](http://evil) | x",
            "text": "A | B [link](javascript:alert(1)) stands here",
            "limitations": "`code` | more",
        }
    )
    markdown = verify(given)["evidence_markdown"]
    lines = markdown.strip().split("\n")
    assert len(lines) == 5
    assert all(line.replace("\\|", "").count("|") == 9 for line in lines[2:])
    assert "](javascript" not in markdown.replace("\\]", "")
    assert "<script>" not in markdown.replace("\\<", "")


def test_the_evidence_table_says_claim_quote_link_dates_status_limitation() -> None:
    """T18."""
    line = verify(payload(RUNS))["evidence_markdown"].strip().split("\n")[-1]
    assert (
        line
        == "| E1 | Example runs on macOS and Windows. | “It runs on macOS and Windows with a desktop installer” | [Example project](https://example.org/) | 2026-07-01 | 2026-07-28 | verified | Official source only. |"
    )


def test_confidence_follows_the_number_of_sources() -> None:
    """T22: one source is LOW, several that agree are more, none is SPECULATIVE."""
    given = payload(RUNS)
    quote = "Example is licensed under Apache-2.0."
    for name in ("a", "b", "c"):
        given["sources"].append(
            {"id": name, "url": f"https://{name}.example/", "title": name, "text": quote}
        )
    given["claims"] = [
        {"text": quote, "citations": [{"source": n, "quote": quote} for n in names]}
        for names in ("a", "ab", "abc", "")
    ]
    assert [claim["confidence"] for claim in verify(given)["claims"]] == [
        "LOW",
        "MEDIUM",
        "HIGH",
        "SPECULATIVE",
    ]


def test_limits_are_published_under_the_seeds_names() -> None:
    """T25."""
    assert citations.MIN_QUOTE_CHARS == 12
    assert (
        min(citations.MAX_SOURCES, citations.MAX_SOURCE_CHARS, citations.MAX_TOTAL_INPUT_CHARS) > 0
    )


def test_large_and_hostile_input_ends() -> None:
    """T20: a text of megabytes, a thousand claims, text made to slow down matching."""
    text = "ab … " * 200_000 + TEXT
    given = {
        "sources": [{"id": "s1", "text": text}],
        "claims": [
            {
                "text": "ab " * 50,
                "citations": [{"source": "s1", "quote": f"ab … ab … {n} ab ab ab ab"}],
            }
            for n in range(300)
        ],
    }
    given["claims"].append(
        {
            "text": RUNS["text"],
            "citations": [{"source": "s1", "quote": RUNS["citations"][0]["quote"]}],
        }
    )
    result = verify(given)
    assert result["claims"][-1]["supported"] is True
    assert result["summary"]["flagged"] == 300


PIECES = st.lists(
    st.sampled_from(
        ["|", "\\", "\\|", "\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "`", "<b>", "](http://evil)", "[x](y)", "<!--",
         "\x1b[31m", "\u202e", "**", "\t", "&#124;", "a", "中", '"', "'", "\x00", "\ud800", "$", "~~"]
    ),
    max_size=4,
).map("".join)  # fmt: skip
UNESCAPED = re.compile(r"<b>|<!--|\]\(http://evil|[\x00\x1b\u202e\u2028\x85]")


@given(st.lists(PIECES, min_size=9, max_size=9))
@settings(max_examples=300, deadline=None)
def test_no_text_breaks_out_of_its_cell(junk: list[str]) -> None:
    """T17, T18: verified quotes with any characters around them stay in their table."""
    quote = f"The tool runs on {junk[0]}macOS and Windows machines"
    source = {
        "id": f"s{junk[1]}", "url": f"https://e.org/{junk[2]}", "title": f"T{junk[3]}", "date": f"2024{junk[4]}",
        "limitations": junk[5], "text": f"Intro. {quote}. End.",
    }  # fmt: skip
    claim = {"text": f"The tool runs on macOS {junk[6]}", "citations": [{"source": source["id"], "quote": quote}]}  # fmt: skip
    row = {"candidate": junk[7], "best_for": junk[8], "os": "macOS, Windows", "evidence_sources": [source["id"]]}  # fmt: skip
    found = verify({"sources": [source], "claims": [claim], "comparison": [row]})
    for markdown, columns in ((found["evidence_markdown"], 8), (found["comparison_markdown"], 12)):
        plain = re.sub(r"\\.", "", markdown)
        for line in plain.split("\n"):
            assert not line or line.startswith(("## ", "| ")) or "cells verified" in line
            assert not line.startswith("|") or line.count("|") == columns + 1
        assert UNESCAPED.search(plain) is None


def test_a_lone_surrogate_in_an_address_is_no_crash() -> None:
    """T11: the JSON escape \\ud800 in the address of a verified quote."""
    quote = "The tool runs on macOS and Windows"
    source = {"id": "s1", "url": "https://e.org/\ud800x", "text": f"{quote}."}
    claim = {"text": quote, "citations": [{"source": "s1", "quote": quote}]}
    found = verify({"sources": [source], "claims": [claim]})
    assert found["summary"]["supported"] == 1
    assert "(https://e.org/" in found["evidence_markdown"]
