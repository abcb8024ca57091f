"""The report speaks the topic's language, or the one that was asked for (O7)."""

from __future__ import annotations

from pathlib import Path

import pytest

from omh_research import Engine
from omh_research.documents.frontmatter import parse
from omh_research.documents.options import RunOptions

DEMO = Path(__file__).resolve().parents[2] / "scripts" / "demo_corpus"


@pytest.mark.parametrize(
    ("topic", "asked", "language", "nothing_open"),
    [
        ("What causes tides?", "", "en", "- None."),
        ("Wie entsteht der Wald in Deutschland?", "", "de", "- Keine."),
        ("茶是怎样制作的？", "", "zh", "- 无。"),
        ("What causes tides?", "de", "de", "- Keine."),
    ],
)
def test_o7_the_report_is_in_the_topics_language_or_the_one_asked_for(
    topic: str, asked: str, language: str, nothing_open: str, tmp_path: Path
) -> None:
    engine = Engine(tmp_path)
    options = RunOptions(corpus=(str(DEMO),), language=asked)
    started = engine.start(topic, options=options)
    assert engine.run(started.slug).status == "confirmed"
    path = tmp_path / ".omh" / "research" / f"{started.slug}-report.md"
    meta, body = parse(path.read_text("utf-8"), where=path.name)
    assert meta["language"] == language
    assert nothing_open in body.split("\n")
