"""Installing the skill (D10, D10c): each host's folder, updates, links, foreign folders."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from omh_research.cli.skill import skill
from omh_research.errors import UsageError
from omh_research.skill.installer import ALIASES, HOSTS, SKILL, install, skills_folder

EXPECTED = {
    "SKILL.md",
    *(f"references/{name}.md" for name in (
        "citation-style", "evidence-standards", "report-structure", "research-workflow",
        "scholarly-evidence", "source-quality",
    )),
}  # fmt: skip


def files_in(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    ("host", "environ", "folder"),
    [
        ("hermes", {}, "HOME/.hermes/skills/omh"),
        ("hermes", {"HERMES_HOME": "/else"}, "/else/skills/omh"),
        ("claude", {}, "HOME/.claude/skills"),
        ("codex", {}, "HOME/.agents/skills"),
        ("generic", {}, ".agents/skills"),
    ],
)
def test_each_host_has_its_folder(host: str, environ: dict[str, str], folder: str) -> None:
    assert skills_folder(host, environ, Path("HOME")) == Path(folder)


def test_the_whole_skill_is_written_parents_first_and_again_brings_it_up_to_date(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "a" / "b" / "skills"
    assert install("hermes", folder).folders == ((str(folder / SKILL), "created"),)
    assert files_in(folder / SKILL) == EXPECTED
    (folder / SKILL / "SKILL.md").write_text(
        "---\nname: x\nmetadata:\n  origin: omh-research\n---\nan older text\n"
    )
    (folder / SKILL / "my-notes.md").write_text("mine")
    (folder / SKILL / ".omh-skill-left").write_text("cut off")
    assert install("hermes", folder).folders == ((str(folder / SKILL), "updated"),)
    assert files_in(folder / SKILL) == EXPECTED | {"my-notes.md"}
    assert "an older text" not in (folder / SKILL / "SKILL.md").read_text("utf-8")


def test_an_installation_cut_off_before_its_first_file_can_be_repeated(tmp_path: Path) -> None:
    (tmp_path / SKILL).mkdir()
    (tmp_path / SKILL / ".omh-skill-x").write_text("half")
    install("claude", tmp_path)
    assert files_in(tmp_path / SKILL) == EXPECTED


@pytest.mark.parametrize("kind", ["folder", "file", "link", "dangling"])
def test_what_somebody_else_put_there_is_refused_and_left_alone(tmp_path: Path, kind: str) -> None:
    target, other = tmp_path / "skills" / SKILL, tmp_path / "other"
    target.parent.mkdir()
    other.mkdir()
    (other / "SKILL.md").write_text("---\nname: omh-deep-research\nversion: 2\n---\nupstream's")
    match kind:
        case "folder":
            other.rename(target)
        case "file":
            target.write_text("a file")
        case "link":
            target.symlink_to(other)
        case _:
            target.symlink_to(tmp_path / "nowhere")
    before = sorted((str(p), p.is_symlink()) for p in tmp_path.rglob("*"))
    for link in (False, True):
        with pytest.raises(UsageError, match="was not installed by omh-research"):
            install("hermes", target.parent, link=link, aliases=True)
    assert sorted((str(p), p.is_symlink()) for p in tmp_path.rglob("*")) == before


def test_a_link_replaces_an_own_copy_and_a_copy_an_own_link(tmp_path: Path) -> None:
    install("hermes", tmp_path)
    assert install("hermes", tmp_path, link=True).folders[0][1] == "linked"
    assert (tmp_path / SKILL).is_symlink() and (tmp_path / SKILL / "SKILL.md").is_file()
    install("hermes", tmp_path, link=True)
    install("hermes", tmp_path)
    assert not (tmp_path / SKILL).is_symlink() and files_in(tmp_path / SKILL) == EXPECTED


def test_a_copy_with_files_of_the_user_is_not_replaced_by_a_link(tmp_path: Path) -> None:
    install("hermes", tmp_path)
    (tmp_path / SKILL / "mine.md").write_text("mine")
    with pytest.raises(UsageError, match=r"files of your own \(mine\.md\)"):
        install("hermes", tmp_path, link=True)
    assert (tmp_path / SKILL / "mine.md").read_text() == "mine"


def test_the_packaged_files_are_never_written_through_a_link(tmp_path: Path) -> None:
    install("hermes", tmp_path, link=True)
    source = (tmp_path / SKILL).resolve()
    before = (source / "SKILL.md").stat().st_mtime_ns
    install("hermes", tmp_path)
    assert (source / "SKILL.md").stat().st_mtime_ns == before


def test_aliases_come_on_request(tmp_path: Path) -> None:
    install("claude", tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {SKILL}
    install("claude", tmp_path, aliases=True)
    assert {p.name for p in tmp_path.iterdir()} == {SKILL, *ALIASES}


@pytest.mark.parametrize("host", HOSTS)
def test_the_command_installs_into_the_hosts_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("HERMES_HOME", raising=False)
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(skill, ["install", "--host", host, "--json"])
    assert result.exit_code == 0, result.output
    path = Path(json.loads(result.stdout)["folders"][0]["path"])
    assert path.resolve().is_relative_to(tmp_path.resolve()) and files_in(path) == EXPECTED


def test_the_command_takes_a_folder(tmp_path: Path) -> None:
    args = ["install", "--host", "generic", "--dir", str(tmp_path / "s"), "--with-aliases"]
    result = CliRunner().invoke(skill, args)
    assert result.stdout.splitlines() == [
        f"created: {tmp_path / 's' / name}" for name in (SKILL, *ALIASES)
    ]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    from omh_research.errors import StorageError

    tmp_path.chmod(0o500)
    with pytest.raises(StorageError, match="cannot be written"):
        install("hermes", tmp_path / "skills")
