"""A missing extra is one line with its install command, before anything is written (D6c)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.runs import child_environment

DEMO = Path(__file__).resolve().parents[2] / "scripts" / "demo_corpus"
WITHOUT = (
    "import sys\n"
    "for name in sys.argv.pop(1).split(','): sys.modules[name] = None\n"
    "from omh_research.cli import main; main(sys.argv[1:])"
)


def without(names: str, root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command as if the named modules were not installed."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, names, *words], cwd=root, capture_output=True, text=True,
        encoding="utf-8", env=child_environment(), timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("names", "extra", "words"),
    [
        ("mcp", "mcp", ("mcp",)),
        ("pydantic_ai", "llm", ("start", "Tides", "--delegate", "llm", "--model", "m",
                                "--corpus", str(DEMO))),
        ("distributed", "cluster", ("batch", "topics.txt", "--executor", "dask",
                                    "--corpus", str(DEMO))),
    ],
)  # fmt: skip
def test_d6c_a_missing_extra_is_one_line_with_its_install_command(
    names: str, extra: str, words: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "topics.txt").write_text("Tides of the sea\n", "utf-8")
    ended = without(names, tmp_path, *words)
    assert ended.returncode == 8
    last = ended.stderr.strip().split("\n")[-1]
    assert f"pip install 'omh-research[{extra}]'" in last and "Traceback" not in ended.stderr
    assert not list((tmp_path / ".omh").rglob("*-plan.md"))


@pytest.mark.parametrize(("names", "to"), [("docx", "docx"), ("jinja2", "html")])
def test_d6c_an_export_without_its_extra_says_so_and_writes_nothing(
    names: str, to: str, tmp_path: Path
) -> None:
    ran = without("unknown_module", tmp_path, "run", "What causes tides?", "--corpus", str(DEMO))
    assert ran.returncode == 0, ran.stderr
    slug = next((tmp_path / ".omh" / "research").glob("*-report.md")).name.removesuffix(
        "-report.md"
    )
    ended = without(names, tmp_path, "export", slug, "--to", to, "-o", "out.file")
    assert ended.returncode == 8 and "pip install 'omh-research[report]'" in ended.stderr
    assert not (tmp_path / "out.file").exists()
