"""Bundles from recorded bodies of the real services, served on loopback (issue 4, B10)."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

import pytest

from omh_research.literature.validate import check_bundle

from .conftest import QUERIES, Runs
from .provider_server import Answer

pytestmark = pytest.mark.data
BODIES = (
    Path(
        os.environ.get("OMH_SHARED_DATA") or Path(__file__).resolve().parents[2] / "../shared/data"
    )
    / "providers"
)
FILES = {
    "openalex": ("openalex", "works-search-200-*.json"),
    "semantic_scholar": ("semanticscholar", "search-200-*.json"),
    "crossref": ("crossref", "works-search-200-*.json"),
}


def recorded() -> dict[str, list[bytes]]:
    if not BODIES.is_dir():
        pytest.skip("the recorded bodies are not here")
    found: dict[str, list[bytes]] = defaultdict(list)
    for provider, (folder, pattern) in FILES.items():
        found[provider] = [p.read_bytes() for p in sorted((BODIES / folder).glob(pattern))]
    return found


def test_b10_real_answers_become_a_bundle_that_holds(runs: Runs) -> None:
    bodies = recorded()

    def script(provider: str, query: str) -> Answer:
        own = bodies[provider]
        return 200, {"content-type": "application/json"}, own[QUERIES.index(query) % len(own)]

    results = [runs.run(script) for _ in range(2)]
    for manifest, folder in results:
        assert manifest.status in ("success", "partial_success")
        assert manifest.counts.deduped >= 10 and manifest.counts.invalid_records > 0
        assert check_bundle(str(folder)).problems == ()
    first, second = (
        [
            (p.record_id, p.title, p.authors, p.identifiers, p.abstract, p.quality_warnings)
            for p in check_bundle(str(folder)).papers
        ]
        for _, folder in results
    )
    assert first == second


@pytest.mark.parametrize("kind", ["error", "redirect"])
def test_b13_recorded_error_bodies_are_failures_never_papers(runs: Runs, kind: str) -> None:
    if not BODIES.is_dir():
        pytest.skip("the recorded bodies are not here")
    found = {
        provider: sorted((BODIES / folder).glob(f"{kind}-*"))
        for provider, (folder, _) in FILES.items()
    }

    def script(provider: str, query: str) -> Answer:
        own = found[provider]
        if not own:
            return 500, {}, b""
        path = own[QUERIES.index(query) % len(own)]
        return int(path.name.split("-")[1]), {"content-type": "text/html"}, path.read_bytes()

    manifest, folder = runs.run(script)
    assert (manifest.status, manifest.failure_code) == ("failed", "no_valid_candidates")
    assert check_bundle(str(folder)).problems == ()
