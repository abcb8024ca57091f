"""A literature run from query file to bundle, providers scripted on loopback (B1-B6, B10-B17)."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from omh_research.errors import UsageError
from omh_research.literature.manifest import FilterSet
from omh_research.literature.queries import QueriesError
from omh_research.literature.rls_contract import ARTIFACTS, MANIFEST
from omh_research.literature.validate import check_bundle

from .conftest import QUERIES, Runs
from .provider_server import Answer, html, ok, openalex_body, paper, refuse, work


def lines_of(folder: Path, key: str) -> list[dict[str, Any]]:
    text = (folder / ARTIFACTS[key]).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def full(provider: str, query: str) -> Answer:
    """OpenAlex answers every query with eight good works of its own."""
    start = 10 * (QUERIES.index(query) + 1)
    assert provider == "openalex"
    return openalex_body([work(start + i) for i in range(8)])


def test_b2_b13_everything_answered_is_success(runs: Runs) -> None:
    manifest, folder = runs.run(full, max_results_per_query=8)
    assert manifest.status == "success"
    assert manifest.warnings == () and manifest.failure_code is None
    assert (manifest.counts.raw, manifest.counts.deduped) == (40, 40)
    assert sorted(os.listdir(folder)) == sorted([MANIFEST, *ARTIFACTS.values()])
    assert check_bundle(str(folder)).is_usable
    # Host tools are always there, skipped, and take nothing from success (B5).
    skipped = {(a.provider, a.reason) for a in manifest.attempts if a.status == "skipped"}
    assert skipped == {("mcp", "host tool required"), ("duckduckgo", "host tool required")}


def test_b3_a_candidate_says_what_the_schema_wants(runs: Runs) -> None:
    _, folder = runs.run(full, max_results_per_query=8)
    first = lines_of(folder, "candidates_deduped")[0]
    assert first["record_id"] == "doi:10.1000/work.10"
    assert first["identifiers"] == {
        "doi": "10.1000/work.10", "pmid": None, "arxiv": None, "openalex": "W1010", "semantic_scholar": None,
    }  # fmt: skip
    assert first["doi"] == "10.1000/work.10" and first["openalex_id"] == "W1010"
    assert first["abstract_status"] == "present"
    assert first["abstract_provenance"] == {"provider": "openalex", "provider_record_id": "W1010"}
    assert first["query_matches"] == [{"query_id": "q01", "provider": "openalex", "rank": 1}]
    assert first["sources"][0]["first_seen_at"] == "2026-05-04T09:00:00Z"


def test_b10_the_same_responses_give_the_same_bytes_but_for_id_and_times(runs: Runs) -> None:
    def script(provider: str, query: str) -> Answer:
        if provider == "openalex":
            return openalex_body([work(i) for i in range(3)] + [None, 7])
        if provider == "semantic_scholar":
            return ok(
                {"total": 2, "data": [paper(1), paper(2, externalIds={"DOI": "10.1000/work.1"})]}
            )
        return refuse(500)

    folders = [runs.run(script)[1] for _ in range(2)]
    found = []
    for number, folder in enumerate(folders, 1):
        text = {name: (folder / name).read_text("utf-8") for name in os.listdir(folder)}
        hour, run_id = f"2026-05-04T{8 + number:02d}", f"rls-20260504-{number:012x}"
        plain = {
            name: re.sub(r'("(?:manifest_)?sha256": )"[0-9a-f]{64}"', r"\1", body)
            .replace(hour, "T").replace(run_id, "ID")
            for name, body in text.items()
        }  # fmt: skip
        found.append(plain)
    assert found[0] == found[1]


def test_b5_the_next_provider_is_asked_only_below_seventy_percent(runs: Runs) -> None:
    def script(provider: str, query: str) -> Answer:
        if provider == "openalex":
            # 7 of 10 is enough; 6 is not; then Semantic Scholar brings 2, which makes 8.
            count = 6 if query == QUERIES[1] else 7
            start = 10 * (QUERIES.index(query) + 1)
            return openalex_body([work(start + i) for i in range(count)])
        return ok({"total": 2, "data": [paper(1), paper(2)]})

    manifest, _ = runs.run(script, max_results_per_query=10)
    assert runs.server is not None
    asked = [provider for provider, _ in runs.server.asked]
    assert asked == ["openalex"] * 2 + ["semantic_scholar"] + ["openalex"] * 3
    assert manifest.status == "success"


def test_b5_at_least_five_are_wanted_even_of_a_small_target(runs: Runs) -> None:
    def script(provider: str, query: str) -> Answer:
        if provider == "openalex":
            return openalex_body([work(10 * QUERIES.index(query) + i) for i in range(4)])
        return ok({"total": 1, "data": [paper(9)]})

    runs.run(script, max_results_per_query=5)
    assert runs.server is not None
    assert ("semantic_scholar", QUERIES[0]) in runs.server.asked


def test_b6_null_and_odd_entries_are_counted_and_the_good_ones_used(runs: Runs) -> None:
    def script(provider: str, query: str) -> Answer:
        if provider != "openalex":
            return ok({"total": 0, "data": []} if provider == "semantic_scholar" else
                      {"status": "ok", "message-type": "work-list", "message": {"items": []}})  # fmt: skip
        start = 10 * (QUERIES.index(query) + 1)
        return openalex_body([work(start), None, "text", 7, {}, work(start + 1)])

    manifest, folder = runs.run(script)
    assert manifest.status == "partial_success"
    first = manifest.attempts[0]
    assert (first.status, first.results) == ("partial", 2)
    assert first.empty_records + first.invalid_records == 4
    assert manifest.counts.empty_records + manifest.counts.invalid_records == 20
    assert any(w.startswith("invalid_records") for w in manifest.warnings)
    assert check_bundle(str(folder)).is_usable
    # B14: bad entries do not count towards the target, so the others were asked too.
    assert {a.provider for a in manifest.attempts if a.status == "empty"} == {
        "semantic_scholar",
        "crossref",
    }


def test_b6_nothing_usable_is_failed_and_leaves_its_manifest(runs: Runs) -> None:
    def script(provider: str, query: str) -> Answer:
        return openalex_body([None, None]) if provider == "openalex" else ok(b"null")

    manifest, folder = runs.run(script)
    assert (manifest.status, manifest.failure_code) == ("failed", "no_valid_candidates")
    check = check_bundle(str(folder))
    assert check.problems == () and not check.is_usable


@pytest.mark.parametrize(
    "failure",
    [refuse(500), refuse(429), refuse(429, retry_after="3600"), refuse(429, retry_after="1"), html(),
     ok(b"not json"), ok({"error": "x"}), refuse(401, b"key SECRET123 is wrong")],
    ids=["500", "429", "429-hour", "429-second", "html", "no-json", "error-body", "401"],
)  # fmt: skip
def test_b13_a_provider_that_fails_makes_it_partial(runs: Runs, failure: Answer) -> None:
    def script(provider: str, query: str) -> Answer:
        if provider == "openalex":
            return failure
        start = 10 * (QUERIES.index(query) + 1)
        papers = [paper(start + i) for i in range(5)]
        return ok({"total": 5, "data": papers})

    manifest, folder = runs.run(script, max_results_per_query=5)
    assert manifest.status == "partial_success"
    assert manifest.counts.deduped == 25
    statuses = {a.status for a in manifest.attempts if a.provider == "openalex"}
    assert statuses <= {"error", "exhausted", "skipped"} and statuses & {"error", "exhausted"}
    assert manifest.counts.failed >= 1
    text = (folder / MANIFEST).read_text("utf-8")
    assert "127.0.0.1" not in text and "SECRET123" not in text
    assert check_bundle(str(folder)).is_usable


def test_b13_a_dead_provider_is_not_asked_for_every_query(runs: Runs) -> None:
    def script(provider: str, query: str) -> Answer:
        return html()

    queries = [f"query {i}" for i in range(25)]
    manifest, _ = runs.run(script, queries=queries)
    assert runs.server is not None and len(runs.server.asked) == 9
    assert manifest.status == "failed"


def test_b13_the_total_limit_truncates(runs: Runs) -> None:
    manifest, _ = runs.run(full, max_results_per_query=8, max_total=20)
    assert manifest.status == "partial_success"
    assert manifest.truncation.is_truncated
    assert manifest.truncation.queries == ("q03", "q04", "q05")
    assert (manifest.counts.raw, manifest.counts.dropped) == (20, 4)
    assert any(w.startswith("truncated") for w in manifest.warnings)


def test_b13_candidates_with_gaps_make_it_partial(runs: Runs) -> None:
    def script(provider: str, query: str) -> Answer:
        start = 10 * (QUERIES.index(query) + 1)
        return openalex_body([work(start + i, authorships=[]) for i in range(8)])

    manifest, folder = runs.run(script, max_results_per_query=8)
    assert manifest.status == "partial_success"
    assert "missing_authors: 40 candidates" in manifest.warnings
    assert "missing_authors" in lines_of(folder, "candidates_deduped")[0]["quality_warnings"]


def test_b3_a_malformed_doi_is_dropped_with_a_warning(runs: Runs) -> None:
    def script(provider: str, query: str) -> Answer:
        start = 10 * (QUERIES.index(query) + 1)
        return openalex_body([work(start + i, doi="doi:broken") for i in range(8)])

    _, folder = runs.run(script, max_results_per_query=8)
    first = lines_of(folder, "candidates_deduped")[0]
    assert first["doi"] is None and first["record_id"].startswith("openalex:")
    assert "invalid_doi_discarded" in first["quality_warnings"]


def test_b7_hits_of_one_work_become_one_paper_with_all_its_sources(runs: Runs) -> None:
    preprint = work(500, doi="https://doi.org/10.1101/014852", type="preprint", publication_year=2019,
                    title=work(1)["title"], abstract_inverted_index={"Longer": [0]})  # fmt: skip

    def script(provider: str, query: str) -> Answer:
        if provider == "openalex":
            return openalex_body([preprint, work(1, abstract_inverted_index=None)])
        if provider == "semantic_scholar":
            same = paper(1, externalIds={"DOI": "10.1000/WORK.1", "PubMed": "123"}, abstract="The abstract.",
                         title=work(1)["title"].upper(), authors=[{"name": "A. Casey"}])  # fmt: skip
            return ok({"total": 1, "data": [same]})
        return refuse(404)

    _, folder = runs.run(script)
    deduped = lines_of(folder, "candidates_deduped")
    assert len(deduped) == 1
    only = deduped[0]
    assert only["doi"] == "10.1000/work.1" and only["pmid"] == "123"
    assert only["publication"]["is_preprint"] is False
    assert len(only["sources"]) == 15 and len(only["query_matches"]) == 10
    assert only["abstract"] and only["semantic_scholar_id"]
    edges = json.loads((folder / ARTIFACTS["dedupe_map"]).read_text("utf-8"))
    assert edges["clusters"][0]["ground"] in (
        "published version over preprint",
        "has an abstract",
        "names more authors",
        "found earlier",
        "same content",
    )
    assert {"doi", "preprint_of"} <= {edge["rule"] for edge in edges["edges"]}
    rows = lines_of(folder, "provenance")
    assert [row["line"] for row in rows] == list(range(1, 16))
    assert {row["canonical_id"] for row in rows} == {only["record_id"]}


def test_two_works_that_share_a_doi_keep_different_record_ids(runs: Runs) -> None:
    def script(provider: str, query: str) -> Answer:
        if provider != "openalex":
            return refuse(404)
        return openalex_body([
            work(1, doi="https://doi.org/10.1/sup"), work(2, doi="https://doi.org/10.1000/sup"),
            work(3, doi="https://doi.org/10.1000/sup", title="Glucose and the kidneys of old rats",
                 authorships=[{"author": {"display_name": "Rita Roe"}}]),
        ])  # fmt: skip

    _, folder = runs.run(script)
    ids = [row["record_id"] for row in lines_of(folder, "candidates_deduped")]
    assert len(ids) == len(set(ids)) == 3
    assert check_bundle(str(folder)).problems == ()


@pytest.mark.parametrize("count", [0, 4, 26])
def test_b1_too_few_or_too_many_queries_fail_closed(runs: Runs, count: int) -> None:
    with pytest.raises(QueriesError, match=f"{count} usable queries"):
        runs.run(
            full, queries={"queries": [f"q {i}" for i in range(count)] + ["  ", {"query": ""}]}
        )
    folder = runs.folder / "bundle-1"
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    assert (manifest["status"], manifest["failure_code"]) == ("failed", "invalid_queries")
    assert manifest["query_plan"]["requested_count"] == count + 2
    assert runs.server is not None and runs.server.asked == []
    assert check_bundle(str(folder)).problems == ()


@pytest.mark.parametrize(
    "shape",
    [
        {"queries": QUERIES},
        [{"query": q, "rationale": "why"} for q in QUERIES],
        [*QUERIES, "", None, {"query": "   "}],
    ],
)
def test_b1_every_shape_of_the_query_file(runs: Runs, shape: Any) -> None:
    manifest, _ = runs.run(full, queries=shape, max_results_per_query=8)
    assert [item.query for item in manifest.query_plan.items] == QUERIES
    assert manifest.query_plan.accepted_count == 5
    assert manifest.query_plan.source == "queries.json"


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b'{"queries": 3}', b'["a", 7, "b", "c", "d", "e"]', b'{"queries": [], "queries": []}',
     b"\xff\xfe", b"[" * 100_000, b'["\\ud800 a", "b", "c", "d", "e"]', b'["\\u0007a", "b", "c", "d", "e"]'],
)  # fmt: skip
def test_b1_hostile_query_files_are_named_not_crashed_on(runs: Runs, data: bytes) -> None:
    with pytest.raises(QueriesError, match=r"queries\.json"):
        runs.run(full, queries=data)


def test_b15_all_faults_are_named_in_one_message(runs: Runs) -> None:
    with pytest.raises(UsageError) as caught:
        runs.run(full, topic=" ", output_dir="", provider_order=("arxiv",), max_total=0,
                 filters=FilterSet(2020, 2010), preprint_profile="x", queries=["one"])  # fmt: skip
    for word in (
        "--topic",
        "--output-dir",
        "arxiv",
        "--max-total",
        "--min-year",
        "--preprint-profile",
        "usable queries",
    ):
        assert word in str(caught.value), word


def test_b14_other_providers_need_another_contract(runs: Runs) -> None:
    with pytest.raises(UsageError, match=r"rls\.v1 knows"):
        runs.run(full, provider_order=("openalex", "pubmed"))


def test_b10_an_output_outside_the_scope_root_is_refused(runs: Runs, tmp_path: Path) -> None:
    scope = tmp_path / "scope"
    scope.mkdir()
    (scope / "queries.json").write_text(json.dumps(QUERIES), "utf-8")
    (scope / "door").symlink_to(tmp_path)
    for target in (tmp_path / "out", scope / ".." / "out", scope / "door" / "out"):
        with pytest.raises(UsageError, match="outside the scope root"):
            runs.run(
                full,
                scope_root=str(scope),
                query_file=str(scope / "queries.json"),
                output_dir=str(target),
            )
        assert not (tmp_path / "out").exists()
    inside = scope / "deep" / "out"
    manifest, _ = runs.run(full, scope_root=str(scope), query_file=str(scope / "queries.json"),
                           output_dir=str(inside), max_results_per_query=8)  # fmt: skip
    assert manifest.status == "success" and (inside / MANIFEST).exists()


def test_b15_an_existing_output_is_never_overwritten_without_force(runs: Runs) -> None:
    _, folder = runs.run(full, max_results_per_query=8)
    before = (folder / MANIFEST).read_bytes()
    with pytest.raises(UsageError, match="there already"):
        runs.run(full, output_dir=str(folder))
    assert runs.server is not None and runs.server.asked == []  # nothing was spent
    assert (folder / MANIFEST).read_bytes() == before
    runs.run(full, output_dir=str(folder), force=True, max_results_per_query=8)
    assert (folder / MANIFEST).read_bytes() != before
    assert sorted(p.name for p in folder.parent.iterdir() if p.name.startswith(".")) == []


def test_force_never_removes_what_is_no_bundle(runs: Runs, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "thesis.txt").write_text("years of work", "utf-8")
    with pytest.raises(UsageError, match="not a bundle"):
        runs.run(full, output_dir=str(precious), force=True)
    assert (precious / "thesis.txt").read_text("utf-8") == "years of work"


def test_b11_no_key_user_or_host_in_any_file(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENALEX_API_KEY", "sk-hidden-hidden")
    monkeypatch.setenv("SEMANTIC_SCHOLAR_API_KEY", "s2-hidden-hidden")
    monkeypatch.setenv("OMH_CONTACT", "me@example.org")

    def script(provider: str, query: str) -> Answer:
        if provider == "openalex":
            return openalex_body([work(QUERIES.index(query))])
        return refuse(403, b"bad key s2-hidden-hidden for me@example.org")

    _, folder = runs.run(script)
    everything = b"".join(p.read_bytes() for p in folder.iterdir())
    for secret in (b"hidden", b"example.org", b"127.0.0.1", str(folder.parent).encode()):
        assert secret not in everything


def test_issue_4_queries_reach_each_provider_in_its_own_syntax(runs: Runs) -> None:
    queries = [
        "深度学习 医院",
        "Münchner Spitäler",
        "copper (Cu) [alloy]: trial",
        'zinc AND NOT "old"',
        "a-b c",
    ]

    def script(provider: str, query: str) -> Answer:
        if provider == "openalex":
            return openalex_body([])
        if provider == "semantic_scholar":
            return ok({"total": 0, "data": []})
        return ok({"status": "ok", "message-type": "work-list", "message": {"items": []}})

    runs.run(script, queries=queries)
    assert runs.server is not None
    asked = {
        p: [q for name, q in runs.server.asked if name == p]
        for p in ("openalex", "semantic_scholar", "crossref")
    }
    assert asked["openalex"][0] == asked["crossref"][0] == "深度学习 医院"
    assert asked["openalex"][2] == "copper Cu alloy trial"
    assert asked["openalex"][3] == "zinc and not old"
    assert asked["semantic_scholar"][4] == "a b c"
    assert asked["crossref"][1] == "Münchner Spitäler"


def test_a_provider_may_send_broken_characters(runs: Runs) -> None:
    def script(provider: str, query: str) -> Answer:
        if provider != "openalex":
            return refuse(404)
        bad = work(1, title="Broken \ud800 title of copper \x07 surfaces\u2028here", authorships=[
            {"author": {"display_name": "A\x00nna"}}])  # fmt: skip
        return openalex_body([bad])

    _, folder = runs.run(script)
    assert check_bundle(str(folder)).is_usable
