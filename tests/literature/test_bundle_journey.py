"""A whole offline run with a bundle as its only source (B12): the report cites the pool."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from .conftest import QUERIES, Runs
from .provider_server import Answer, openalex_body, refuse, work

ABSTRACTS = [
    "Copper surfaces reduced bacterial contamination in hospital wards by 83% in a randomised trial of 650 patients.",
    "Copper oxide textiles lowered infection rates among ventilated patients over six months.",
    "The costs of copper fittings were recovered within two years according to the figures of the hospital.",
    "Copper alloys keep their antimicrobial effect after five years of daily cleaning with detergents.",
    "Silver coatings were less effective than copper in intensive care units, as the comparison showed.",
]


def script(provider: str, query: str) -> Answer:
    if provider != "openalex":
        return refuse(404)
    at = QUERIES.index(query)
    places: dict[str, list[int]] = {}
    for position, word in enumerate(ABSTRACTS[at].split()):
        places.setdefault(word, []).append(position)
    return openalex_body(
        [
            work(
                at,
                title=f"Copper in hospitals, report {'ABCDE'[at]}",
                abstract_inverted_index=places,
            )
        ]
    )


def test_b12_a_run_cites_the_papers_of_its_bundle(runs: Runs, tmp_path: Path) -> None:
    _, folder = runs.run(script)
    done = subprocess.run(
        [sys.executable, "-m", "omh_research", "run", "Do copper surfaces reduce infections in hospitals?",
         "--bundle", str(folder), "--root", str(tmp_path)],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "OMH_OFFLINE": "1"},
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    ledgers = list((tmp_path / ".omh" / "research").glob("*-evidence/evidence_ledger.jsonl"))
    assert ledgers, done.stdout + done.stderr
    rows = [json.loads(line) for line in ledgers[0].read_text("utf-8").split("\n") if line]
    assert rows and all(
        row["canonical_url"].startswith("https://doi.org/10.1000/work.") for row in rows
    )
    assert all(any(row["quote"] in text for text in ABSTRACTS) for row in rows)
    reports = list((tmp_path / ".omh" / "research").glob("*-report.md"))
    assert reports and "https://doi.org/10.1000/work.0" in reports[0].read_text("utf-8")


def test_b15_a_damaged_bundle_stops_a_run_before_anything_is_spent(
    runs: Runs, tmp_path: Path
) -> None:
    _, folder = runs.run(script)
    (folder / "provenance.jsonl").write_bytes(b"{}\n")
    done = subprocess.run(
        [sys.executable, "-m", "omh_research", "run", "Copper?", "--bundle", str(folder), "--root", str(tmp_path)],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, "OMH_OFFLINE": "1"},
    )  # fmt: skip
    assert done.returncode != 0 and "Traceback" not in done.stderr
    assert "does not hold" in done.stderr
