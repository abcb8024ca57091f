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
