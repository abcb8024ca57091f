"""Where output goes: files are replaced, pipes and devices are written to, `.omh/` is not touched."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path

import pytest

from omh_research.cli.output import judge, write
from omh_research.errors import UsageError
from tests.runs import Ended, Run, child, cli

pytestmark = pytest.mark.skipif(os.name == "nt", reason="pipes and links of POSIX")


@pytest.fixture(scope="module")
def confirmed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = Run(tmp_path_factory.mktemp("confirmed"))
    run.start()
    run.to_end()
    return run


def export(run: Run, out: Path | str, form: str = "bibtex") -> Ended:
    return run.cli("export", run.slug, "--to", form, "-o", str(out))


def drained(path: Path) -> tuple[threading.Thread, list[bytes]]:
    """Read a pipe to its end in a thread."""
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(path.read_bytes()), daemon=True)
    reader.start()
    return reader, found


def test_o6_a_pipe_is_written_to_and_stays_a_pipe(confirmed: Run, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader, found = drained(pipe)
    assert export(confirmed, pipe).code == 0
    reader.join(20)
    assert found and found[0].startswith(b"@") and stat.S_ISFIFO(os.lstat(pipe).st_mode)
    assert sorted(tmp_path.iterdir()) == [pipe]


def test_o6_a_device_is_written_to_and_stays_a_device(confirmed: Run, tmp_path: Path) -> None:
    parent, child_end = os.openpty()
    try:
        link = tmp_path / "tty"
        link.symlink_to(os.ttyname(child_end))
        assert export(confirmed, link).code == 0
        assert link.is_symlink() and stat.S_ISCHR(os.stat(link).st_mode)
        assert os.read(parent, 1) == b"@"
    finally:
        os.close(parent), os.close(child_end)


def test_o6_a_links_target_is_replaced_and_the_link_stays(confirmed: Run, tmp_path: Path) -> None:
    target, link, hanging = tmp_path / "real.bib", tmp_path / "link.bib", tmp_path / "later.bib"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    hanging.symlink_to(tmp_path / "new.bib")
    assert export(confirmed, link).code == 0 and export(confirmed, hanging).code == 0
    assert link.is_symlink() and hanging.is_symlink() and target.read_text().startswith("@")
    assert stat.S_IMODE(target.stat().st_mode) == 0o600  # as its owner set it
    assert (tmp_path / "new.bib").read_text().startswith("@")


def test_o6_a_dash_is_stdout_and_nothing_else_goes_there(
    confirmed: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = export(confirmed, "-")
    assert ended.code == 0 and ended.out.startswith("@") and ended.out.rstrip().endswith("}")
    assert os.listdir(tmp_path) == []
    both = confirmed.cli("export", confirmed.slug, "--to", "ris", "-o", "-", "--json")
    assert both.code == 2 and both.out == ""


@pytest.mark.parametrize("kind", ["folder", "slash", "circle", "empty"])
def test_o6_what_is_no_file_is_a_usage_error(confirmed: Run, tmp_path: Path, kind: str) -> None:
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    outs = {"folder": str(tmp_path), "slash": f"{tmp_path}/new/", "empty": " "}
    ended = export(confirmed, outs.get(kind, str(tmp_path / "circle")))
    assert ended.code == 2 and "-o" in ended.err and "Traceback" not in ended.err


@pytest.mark.parametrize("way", ["straight", "dots", "folder link", "file link", "new name"])
@pytest.mark.parametrize("form", ["bibtex", "auto-deep-research"])
def test_nothing_is_written_inside_the_engines_folder(
    confirmed: Run, tmp_path: Path, way: str, form: str
) -> None:
    """E34, E37: an export over a run's own report would be a forged sentinel."""
    before = confirmed.files(), confirmed.report_path.read_bytes()
    (tmp_path / "door").symlink_to(confirmed.base / "research")
    (tmp_path / "file").symlink_to(confirmed.report_path)
    out = {
        "straight": confirmed.report_path,
        "dots": f"{confirmed.root}/x/../.omh/research/{confirmed.report_path.name}",
        "folder link": tmp_path / "door" / "new",
        "file link": tmp_path / "file",
        "new name": confirmed.base / "new",
    }[way]
    ended = export(confirmed, out, form)
    assert ended.code == 2 and ".omh/" in ended.err
    assert (confirmed.files(), confirmed.report_path.read_bytes()) == before


def test_the_tools_keep_out_of_the_engines_folder_too(confirmed: Run) -> None:
    """T25: their failures are envelopes with exit 1."""
    ended = child("tools", "caps", "--out", ".omh/caps.json", stdin='{"subquestions": ["a"]}',
                  cwd=confirmed.root)  # fmt: skip
    assert ended.code == 1 and ".omh/" in json.loads(ended.err)["error"]
    assert not (confirmed.base / "caps.json").exists()


def test_a_literature_export_writes_to_a_pipe_and_not_into_the_engines_folder(
    confirmed: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMH_ROOT", str(confirmed.root))
    inside = str(confirmed.base / "pool.bib")
    for words in (
        ("export", "--bundle", str(tmp_path), "--output", inside, "--force"),
        ("enrich-abstracts", "--input", str(tmp_path / "x"), "--output", inside, "--force"),
        ("run", "--topic", "x", "--query-file", "q", "--output-dir", str(confirmed.base / "b")),
    ):
        ended = child("literature", *words, environment={"OMH_ROOT": str(confirmed.root)})
        assert ended.code == 2 and ".omh/" in ended.err, words


def test_another_spelling_of_the_engines_folder_is_seen(tmp_path: Path) -> None:
    """Also where `.omh` itself stands elsewhere."""
    (tmp_path / "real").mkdir()
    (tmp_path / ".omh").symlink_to(tmp_path / "real")
    for out in (tmp_path / "real" / "x", tmp_path / ".omh" / "x"):
        with pytest.raises(UsageError):
            judge(str(out), str(tmp_path), "-o")
    write(judge(str(tmp_path / "beside"), str(tmp_path), "-o"), b"x")
    assert (tmp_path / "beside").read_bytes() == b"x"
    assert sorted(os.listdir(tmp_path / "real")) == []


def test_an_unknown_form_is_said_before_the_run_is_looked_for(tmp_path: Path) -> None:
    """O6: `export nosuchrun --to exe` is wrong words first."""
    ended = Run(tmp_path).cli("export", "no-such-run", "--to", "exe")
    assert ended.code == 2 and "auto-deep-research" in ended.err


def test_a_folder_that_is_not_there_is_named(confirmed: Run, tmp_path: Path) -> None:
    ended = export(confirmed, tmp_path / "no" / "such" / "x.bib")
    assert ended.code == 2 and str(tmp_path / "no" / "such") in ended.err
    assert not (tmp_path / "no").exists()


def test_what_is_no_longer_known_of_a_run_that_ended_is_not_said(confirmed: Run) -> None:
    """O1: its counts went with its state; "spent 0 tasks, $0.0000" would be a statement."""
    shown = confirmed.cli("status", confirmed.slug).out
    assert "confirmed" in shown and "subtopics" in shown
    assert "spent" not in shown and "failed drafts" not in shown and "batch" not in shown


@pytest.mark.parametrize("out", ["-", "/dev/stdout"])
def test_l5_a_folder_of_files_does_not_go_to_stdout(
    confirmed: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    """L5, O6: exit 2, and no folder named `-` is made; likewise a bundle's and a skills folder."""
    monkeypatch.chdir(tmp_path)
    for ended in (
        export(confirmed, out, "auto-deep-research"),
        cli("literature", "run", "--topic", "x", "--query-file", "q", "--output-dir", out),
        cli("skill", "install", "--host", "generic", "--dir", out),
    ):
        assert ended.code == 2 and "Name a folder" in ended.err, ended
    assert list(tmp_path.iterdir()) == []
