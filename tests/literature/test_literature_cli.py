"""The commands and the seed's script, as processes see them (B1, B8, B9, B16, B17)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import QUERIES
from .provider_server import Answer, ProviderServer, Script, openalex_body, refuse, work

RUNNER = Path(__file__).resolve().parents[2] / "scripts" / "search_runner.py"


def script(provider: str, query: str) -> Answer:
    if provider != "openalex":
        return refuse(404)
    if query not in QUERIES:
        return openalex_body([work(1)])
    start = 10 * QUERIES.index(query)
    return openalex_body([work(start + i) for i in range(6)])


def call(*words: str, environ: dict[str, str], cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(RUNNER), *words], cwd=cwd, capture_output=True, text=True, timeout=60,
        env={**os.environ, **environ}, check=False,
    )  # fmt: skip


@pytest.fixture
def environ(serve: Callable[[Script], ProviderServer], tmp_path: Path) -> dict[str, str]:
    return {**serve(script).environ(), "OMH_STATE_HOME": str(tmp_path / "state")}


def test_b16_the_seeds_three_commands(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "queries.json").write_text(json.dumps({"queries": QUERIES}), "utf-8")
    done = call("run", "--topic", "Copper", "--query-file", "./queries.json", "--output-dir", "./out/search-bundle",
                "--max-results-per-query", "6", environ=environ, cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "success: 30 papers from 30 hits" in done.stdout
    done = call("validate", "--bundle", "./out/search-bundle", environ=environ, cwd=tmp_path)
    assert (done.returncode, "holds" in done.stdout) == (0, True)
    rows = (tmp_path / "out/search-bundle/candidates_deduped.jsonl").read_text("utf-8").split("\n")
    first = json.loads(rows[1]) | {
        "abstract": None,
        "abstract_status": "not_requested",
        "abstract_provenance": None,
    }
    (tmp_path / "selected.jsonl").write_text(json.dumps(first) + "\n", "utf-8")
    done = call(
        "enrich-abstracts",
        "--input",
        "selected.jsonl",
        "--output",
        "enriched.jsonl",
        environ=environ,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert (
        json.loads((tmp_path / "enriched.jsonl").read_text("utf-8"))["abstract"]
        == "Copper kills bacteria."
    )


def test_b8_b17_exit_codes(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "few.json").write_text(json.dumps(["one"]), "utf-8")
    done = call(
        "run",
        "--topic",
        "T",
        "--queries",
        "few.json",
        "--output-dir",
        "b",
        environ=environ,
        cwd=tmp_path,
    )
    assert done.returncode == 1 and "1 usable queries" in done.stderr
    assert (
        json.loads((tmp_path / "b/manifest.json").read_text("utf-8"))["failure_code"]
        == "invalid_queries"
    )
    done = call("validate", "--bundle", "b", environ=environ, cwd=tmp_path)
    assert done.returncode == 1 and "failed: the bundle holds" in done.stdout
    done = call("validate", "--bundle", "nowhere", "--json", environ=environ, cwd=tmp_path)
    assert done.returncode == 1 and json.loads(done.stdout)["ok"] is False
    done = call("run", environ=environ, cwd=tmp_path)
    assert done.returncode == 2
    for word in ("--topic", "--query-file", "--output-dir"):
        assert word in done.stderr
    done = call("export", "--bundle", "b", environ=environ, cwd=tmp_path)
    assert done.returncode == 7 and "Traceback" not in done.stderr


def test_json_on_stdout(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "q.json").write_text(json.dumps(QUERIES), "utf-8")
    done = call("run", "--topic", "T", "--queries", "q.json", "--output-dir", "b", "--json",
                "--publication-type", "article", "--exclude-preprints", "--min-year", "2019", "--language", "en",
                "--open-access", "--domain", "medicine", environ=environ, cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["ok"] is True and told["status"] == "partial_success"
    manifest = json.loads((tmp_path / "b/manifest.json").read_text("utf-8"))
    assert manifest["filters"] == {
        "min_year": 2019, "max_year": None, "publication_types": ["article"], "exclude_preprints": True,
        "language": "en", "open_access": True,
    }  # fmt: skip
    assert manifest["domain"] == "medicine"
