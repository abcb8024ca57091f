"""De-duplication on labelled benchmark sets (B7, Q7): false merges first, floors may only rise."""

from __future__ import annotations

import json
import os
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from omh_research.literature.bibrecord import record_from
from omh_research.literature.dedupe import dedupe

pytestmark = pytest.mark.data
SETS = (
    Path(
        os.environ.get("OMH_SHARED_DATA") or Path(__file__).resolve().parents[2] / "../shared/data"
    )
    / "dedupe"
)


def rows_of(name: str) -> list[dict[str, Any]]:
    path = SETS / f"{name}.jsonl"
    if not path.exists():
        pytest.skip("the labelled sets are not here")
    lines = path.read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def plain(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "identifiers": {k: row[k] for k in ("doi", "pmid", "arxiv") if row.get(k)}}


def clusters_of(rows: Iterable[Mapping[str, Any]]) -> tuple[tuple[int, ...], ...]:
    return dedupe([record_from(plain(row)) for row in rows]).clusters


def pairs_of(clusters: Iterable[Iterable[Any]]) -> set[frozenset[Any]]:
    return {frozenset(pair) for cluster in clusters for pair in combinations(cluster, 2)}


@pytest.mark.parametrize(("name", "floor"), [("copper", 0.997), ("respiratory-a", 0.975)])
def test_b7_no_record_is_called_a_duplicate_that_is_none(name: str, floor: float) -> None:
    rows = rows_of(name)
    found = {i for cluster in clusters_of(rows) if len(cluster) > 1 for i in cluster}
    labelled = {i for i, row in enumerate(rows) if row["has_duplicate"]}
    assert found - labelled == set()
    assert 2 * len(found & labelled) / (len(found) + len(labelled)) >= floor


def test_b7_unique_count_is_exact_on_asysd() -> None:
    assert len(clusters_of(rows_of("asysd-labelled-a"))) == 283


def test_b7_dblp_acm_pairs() -> None:
    rows = rows_of("dblp-acm-a")
    gold = json.loads((SETS / "dblp-acm-a.meta.json").read_text(encoding="utf-8"))["gold_pairs"]
    wanted = {frozenset(pair) for pair in gold}
    found = {
        frozenset(rows[i]["id"] for i in pair) for pair in map(sorted, pairs_of(clusters_of(rows)))
    }
    assert found - wanted == set()
    assert 2 * len(found & wanted) / (len(found) + len(wanted)) >= 0.95


@pytest.mark.parametrize("dropped", [False, True])
def test_b7_precision_is_whole_across_providers(dropped: bool) -> None:
    rows = rows_of("cross-provider-a")
    meta = json.loads((SETS / "cross-provider-a.meta.json").read_text(encoding="utf-8"))
    place = {row["id"]: i for i, row in enumerate(rows)}
    undecided = pairs_of([place[i] for i in group] for group in meta["same_title_other_id"])
    gold: dict[str, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        gold[row["gold"]].append(i)
    rnd = random.Random(11)
    shown = [
        {k: v for k, v in row.items() if k not in ("doi", "pmid", "arxiv")}
        if dropped and rnd.random() < 0.5
        else row
        for row in rows
    ]
    found = pairs_of(clusters_of(shown)) - undecided
    wanted = pairs_of(gold.values())
    assert found - wanted == set()
    assert len(found & wanted) >= (0.97 if dropped else 1.0) * len(wanted)


def test_b7_every_hard_case_of_bib_dedupe() -> None:
    for case in rows_of("bibdedupe-cases-a"):
        pair = [case["record_a"], case["record_b"]]
        is_one = len(clusters_of(pair)) == 1
        assert is_one == case["expected_duplicate"], case["id"]


@pytest.mark.parametrize("name", ["sra-isbn-false-dupe", "sra-nodupes"])
def test_b7_sets_without_duplicates_stay_whole(name: str) -> None:
    rows = rows_of(name)
    assert len(clusters_of(rows)) == len(rows)
