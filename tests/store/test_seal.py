"""The seal: any one changed byte of any durable file is found and named (E37)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from omh_research.errors import DamagedFileError
from omh_research.project import Project
from omh_research.store.seal import SEAL, broken, durable_files, make_seal
from tests.store.parts import SLUG, a_project

REPORT = b"---\nstatus: confirmed\n---\n\n# R\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Return a root with one of each durable file, sealed, the report confirmed."""
    project = a_project(tmp_path)
    layout = project.layout
    for path, text in (
        (layout.plan(SLUG), "plan"),
        (layout.finding(SLUG, "coasts"), "finding"),
        (layout.finding(SLUG, "_followup"), "follow-up"),
        (layout.evidence(SLUG, "fetch_ledger.jsonl"), "{}\n"),
        (layout.text(SLUG, "a" * 64), "held"),
    ):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)
    Path(layout.evidence(SLUG, SEAL)).write_text(make_seal(layout, SLUG, REPORT))
    Path(layout.report(SLUG)).write_bytes(REPORT)
    return project


def sealed(project: Project) -> list[Path]:
    return [*map(Path, durable_files(project.layout, SLUG)), Path(project.layout.report(SLUG))]


def problems(project: Project) -> list[str]:
    found = broken(project.layout, SLUG)
    assert found is not None
    return found[1]


def test_it_holds_every_durable_file_by_relative_path(project: Project) -> None:
    """E33: no absolute path stands in it."""
    text = Path(project.layout.evidence(SLUG, SEAL)).read_text()
    files = json.loads(text)["files"]
    assert len(files) == 6 and all(name.startswith(".omh/research/") for name in files)
    assert project.layout.root not in text
    assert broken(project.layout, SLUG) == (sorted(files), [])


def test_every_changed_byte_of_every_file_is_named(project: Project) -> None:
    for path in sealed(project):
        whole = path.read_bytes()
        for position in range(len(whole)):
            changed = bytearray(whole)
            changed[position] ^= 1
            path.write_bytes(changed)
            named = problems(project)
            assert len(named) == 1 and path.name in named[0], (path.name, position)
        for other in (whole[:-1], whole + b"\n", b""):
            path.write_bytes(other)
            assert len(problems(project)) == 1
        path.write_bytes(whole)
    assert problems(project) == []


def test_a_missing_and_an_added_file_are_named(project: Project) -> None:
    for path in sealed(project):
        whole = path.read_bytes()
        path.unlink()
        named = problems(project)
        assert len(named) == 1 and path.name in named[0] and "missing" in named[0]
        path.write_bytes(whole)
    added = Path(project.layout.finding(SLUG, "planted"))
    added.write_text("x")
    assert [name for name in problems(project) if "planted" in name and "not in the seal" in name]


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\0" * 20, b'{"files": 1, "files": 2}'])
def test_a_damaged_seal_is_said(project: Project, content: bytes) -> None:
    Path(project.layout.evidence(SLUG, SEAL)).write_bytes(content)
    with pytest.raises(DamagedFileError):
        broken(project.layout, SLUG)


@pytest.mark.parametrize(
    "files", ['"x"', "[]", "null", "{}", '{"../../etc/passwd": "0"}', '{"a": 1}']
)
def test_a_forged_seal_holds_nothing(project: Project, files: str) -> None:
    """E7: what it names outside is not read, only said to be missing."""
    Path(project.layout.evidence(SLUG, SEAL)).write_text(f'{{"seal_version": 1, "files": {files}}}')
    found = broken(project.layout, SLUG)
    assert found is not None and not found[0] and len(found[1]) >= 6


def test_no_seal_is_none(project: Project) -> None:
    Path(project.layout.evidence(SLUG, SEAL)).unlink()
    assert broken(project.layout, SLUG) is None


def test_the_same_files_give_the_same_seal(project: Project) -> None:
    """81 section 8, repeatable: and temporary files of a crash are not sealed."""
    first = make_seal(project.layout, SLUG, REPORT)
    (Path(project.layout.findings_dir(SLUG)) / ".coasts.md.12.tmp").write_text("x")
    assert make_seal(project.layout, SLUG, REPORT) == first
