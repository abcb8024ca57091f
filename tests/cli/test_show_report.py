"""`run --show-report` prints what `show --report` prints (P10)."""

from pathlib import Path

from tests.phases.test_panel import SAID
from tests.runs import SUBTOPICS, TOPIC, Run, answers


def test_p10_the_verification_section_is_shown_at_the_end_of_a_run(tmp_path: Path) -> None:
    run = Run(tmp_path, [{"role": "claim-skeptic", "text": SAID["qualified"]}, *answers()])
    words = ("run", TOPIC, *run.script_options, "--panel", "3", *SUBTOPICS, "--show-report")
    ended = run.cli(*words)
    assert ended.code == 0, ended.err
    slug = next((run.base / "research").glob("*-report.md")).name.removesuffix("-report.md")
    shown = run.cli("show", slug, "--report").out
    assert "## Verification" in shown and "only in narrow bays" in shown
    assert ended.out.endswith(shown)
    body = (run.base / "research" / f"{slug}-report.md").read_text("utf-8")
    assert "## Verification" not in body, "the file stays as returned"


def test_e11_a_confirmed_report_is_shown_again_and_nothing_is_repeated(tmp_path: Path) -> None:
    """E11: its path, with `--show-report` the report as well, and no call is made."""
    run = Run(tmp_path)
    words = ("run", TOPIC, *run.script_options, *SUBTOPICS)
    assert run.cli(*words).code == 0
    made = run.calls()
    (path,) = (run.base / "research").glob("*-report.md")
    shown = f".omh/research/{path.name}\n"
    for command in ("start", "run"):
        again = run.cli(command, *words[1:])
        assert (again.code, again.out) == (0, shown)
    whole = run.cli(*words, "--show-report")
    assert whole.code == 0 and whole.out.startswith(f"{shown}---\nstatus: confirmed\n")
    assert run.calls() == made


def test_one_json_object_is_all_there_is_with_json(tmp_path: Path) -> None:
    run = Run(tmp_path)
    ended = run.cli("run", TOPIC, *run.script_options, *SUBTOPICS, "--show-report", "--json")
    assert (ended.code, ended.out) == (2, "") and not run.base.exists()
    assert "choose one" in ended.error["message"]
