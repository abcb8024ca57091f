"""The shipped schemas are those of the types, and other validators agree (B3, B4, B8)."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from omh_research.literature.schemas import TYPES, schema_text

from .conftest import QUERIES, Runs
from .papers import HARD
from .provider_server import Answer, openalex_body, refuse, work

FOLDER = Path(__file__).resolve().parents[2] / "state_schema"


@pytest.mark.parametrize("name", sorted(TYPES))
def test_the_shipped_schema_is_that_of_the_type(name: str) -> None:
    assert (FOLDER / f"{name}.schema.json").read_text("utf-8") == schema_text(name)


def test_jsonschema_accepts_papers_and_refuses_broken_ones() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    check = jsonschema.Draft202012Validator(json.loads(schema_text("paper")))
    for paper in HARD:
        row = json.loads(msgspec.json.encode(paper))
        assert list(check.iter_errors(row)) == []
        for field, value in (
            ("title", ""),
            ("year", 999),
            ("sources", []),
            ("doi", "x"),
            ("schema_version", "v"),
        ):
            assert list(check.iter_errors(row | {field: value})), field


def test_jsonschema_accepts_a_real_manifest(runs: Runs) -> None:
    jsonschema = pytest.importorskip("jsonschema")

    def script(provider: str, query: str) -> Answer:
        return (
            openalex_body([work(QUERIES.index(query))]) if provider == "openalex" else refuse(404)
        )

    _, folder = runs.run(script)
    check = jsonschema.Draft202012Validator(json.loads(schema_text("bundle")))
    assert list(check.iter_errors(json.loads((folder / "manifest.json").read_text("utf-8")))) == []
