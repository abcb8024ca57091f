"""A hostile tree: a cloned repository may bring anything at any path of ours (E7; 81 section 6).

Every command, with a link, FIFO, device, folder, file or second name at every path: a clean end,
nothing outside read into a report or changed, no hang.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import sys
from pathlib import Path

import pytest

from tests.runs import SUBTOPICS, Run, finding

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="POSIX file kinds"),
    pytest.mark.timeout(60),
]

PATHS = (
    "", "state", "state/locks", "state/locks/_start.lock", "state/locks/SLUG.lock", "research",
    "logs", "cache", "state/research--SLUG.json", "state/research--SLUG.tasks",
    "state/research--SLUG.tasks/search-0-moon-and-sun.json", "state/research--SLUG.heartbeat",
    "state/research--SLUG.cancel", "research/SLUG-plan.md", "research/SLUG-report.md",
    "research/SLUG-findings", "research/SLUG-findings/moon-and-sun.md", "research/SLUG-evidence",
    "research/SLUG-evidence/caps_plan.json", "research/SLUG-evidence/fetch_ledger.jsonl",
    "research/SLUG-evidence/evidence_ledger.jsonl", "research/SLUG-evidence/texts",
    "research/SLUG-evidence/seal.json", "logs/LOG", "README.md", ".gitignore", "config.yaml",
    "cache/runs.json", "cache/topics.json",
)  # fmt: skip
KINDS = ("link", "dangling", "fifo", "swapped", "twin", "device")
CODES = {0, 1, 2, 3, 4, 5, 6, 7, 8, 124}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a host run in its search phase with one of three answers handed in."""
    run = Run(tmp_path_factory.mktemp("hostile"))
    assert run.start(delegate="host").code == 0
    submit(run)
    return run


def submit(run: Run) -> int:
    return run.cli("submit", run.slug, "search-0-moon-and-sun", stdin=finding("Moon and Sun")).code


def commands(slug: str) -> list[tuple[str, ...]]:
    return [
        ("status",), ("status", slug), ("show", slug, "--plan"), ("show", slug, "--findings"),
        ("show", slug, "--evidence"), ("log", slug), ("wait", slug, "--timeout", "0"),
        ("next", slug, "--json"), ("step", slug), ("audit", slug), ("recover",),
        ("start", "Another topic altogether", "--delegate", "host"), ("retry", slug),
        ("cancel", slug), ("step", slug), ("recover", "--move-damaged"), ("clear", slug, "--yes"),
    ]  # fmt: skip


def plant(path: Path, kind: str, outside: Path) -> bool:
    """Put something hostile in the place of `path`; tell whether it can be had here."""
    was_folder = path.is_dir()
    if kind == "twin" and (was_folder or not path.exists()):
        return False
    data = path.read_bytes() if path.is_file() else b""
    shutil.rmtree(path) if was_folder else path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "link":
        target = outside / ("folder" if was_folder else "file")
        path.symlink_to(target)
    elif kind == "dangling":
        path.symlink_to(outside / "none")
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "swapped":
        path.write_text("x") if was_folder else path.mkdir()
    elif kind == "twin":
        (outside / "twin").write_bytes(data.rstrip(b"\n"))
        os.link(outside / "twin", path)
    else:
        try:
            os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 5))
        except PermissionError:
            return False
    return True


def fingerprint(folder: Path) -> str:
    """Return a digest of names and contents below a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        digest.update(str(path.relative_to(folder)).encode() + b"\0")
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()


def attack(template: Run, folder: Path, place: str, kind: str) -> Run | None:
    run = Run(folder)
    shutil.copytree(template.root, run.root, dirs_exist_ok=True)
    run.slug = template.slug
    log = next((template.base / "logs").iterdir()).name
    path = run.base / place.replace("SLUG", run.slug).replace("LOG", log)
    outside = folder / "outside"
    shutil.copytree(path if path.is_dir() else run.base / "research", outside / "folder")
    (outside / "file").write_bytes(path.read_bytes() if path.is_file() else b"precious\nunfinished")
    return run if plant(path, kind, outside) else None


def check_commands(run: Run, chosen: list[tuple[str, ...]]) -> None:
    outside = run.folder / "outside"
    before = fingerprint(outside)
    for command in chosen:
        ended = run.cli(*command)
        assert ended.code in CODES, (command, ended)
        assert ended.code == 0 or ended.err or ended.out, command
        assert fingerprint(outside) == before, f"{command} changed something outside"


@pytest.mark.parametrize("kind", ("link", "fifo"))
@pytest.mark.parametrize("place", PATHS)
def test_writing_commands_change_nothing_outside(
    template: Run, tmp_path: Path, place: str, kind: str
) -> None:
    """E7: what a cloned repository can bring is met with one line, never followed."""
    run = attack(template, tmp_path, place, kind)
    if run is None:
        return
    check_commands(run, [("status",), ("next", run.slug, "--json"), ("cancel", run.slug)])
    submit(run)
    check_commands(run, [("step", run.slug), ("start", "Another topic", "--delegate", "host")])


@pytest.mark.deep
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", PATHS)
def test_every_command_at_every_path(template: Run, tmp_path: Path, place: str, kind: str) -> None:
    run = attack(template, tmp_path, place, kind)
    if run is not None:
        check_commands(run, commands(run.slug))


def test_a_damaged_run_does_not_lock_its_process_out(template: Run, tmp_path: Path) -> None:
    """E12: the lock is freed when taking the run fails half-way."""
    from omh_research import Engine
    from omh_research.errors import DamagedFileError

    run = attack(template, tmp_path, "research/SLUG-evidence", "dangling")
    assert run is not None
    engine = Engine(str(run.root))
    for _ in range(3):
        with pytest.raises(DamagedFileError):
            engine.step(run.slug)


def test_the_index_of_a_corpus_is_not_written_through_a_link(tmp_path: Path) -> None:
    """E7: a start names the linked folder; a run under way goes on without a cache."""
    run = Run(tmp_path)
    docs, outside = run.root / "docs", tmp_path / "outside"
    docs.mkdir()
    outside.mkdir()
    (docs / "a.md").write_text("# Tides\n\nSpring tides come twice a month.\n")
    script = [{"role": "researcher", "searches": ["spring tides"], "text": finding("Moon and Sun")}]
    run.set_script(script)
    assert run.start("--corpus", str(docs), *SUBTOPICS).code == 0
    shutil.rmtree(run.base / "cache")
    (run.base / "cache").symlink_to(outside)
    assert run.step().code == 0
    refused = run.cli("start", "Another question", "--delegate", "host", *SUBTOPICS, "--json")
    assert refused.code == 7 and "symbolic link" in refused.error["message"]
    assert not list(outside.iterdir())
