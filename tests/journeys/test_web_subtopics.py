"""Subtopics of model-free runs over the web are names, as those of runs over a folder (D1b, E15)."""

from __future__ import annotations

from pathlib import Path

import pytest

from omh_research import Engine
from omh_research.documents.options import RunOptions
from omh_research.documents.plan_file import parse_plan
from omh_research.documents.source import Hit
from omh_research.documents.task import Brief
from omh_research.extractive.facets import plan_facets
from omh_research.tools.tokens import content_tokens, detect_language
from tests.journeys.test_web_run import open_web, report_of, sections_of
from tests.simulators.city_web import CITY, CITY_TOPIC, MOOR_TOPIC, MOORS
from tests.simulators.small_web import ARTICLES, TOPIC, Article

WEBS = {TOPIC: ARTICLES, CITY_TOPIC: CITY, "cooling of cities": CITY, MOOR_TOPIC: MOORS}


def names_in(root: Path) -> list[str]:
    (plan,) = root.glob(".omh/research/*-plan.md")
    return [topic.name for topic in parse_plan(plan.read_text("utf-8"), where="plan").subtopics]


def folder_names(articles: tuple[Article, ...], topic: str, folder: Path) -> list[str]:
    (folder / "notes").mkdir(parents=True)
    for number, article in enumerate(articles):
        text = "\n\n".join((f"# {article.title}", *article.paragraphs))
        (folder / "notes" / f"{number}.md").write_text(text, "utf-8")
    engine = Engine(folder)
    engine.run(engine.start(topic, options=RunOptions(corpus=("notes",))).slug)
    return names_in(folder)


def is_name(name: str, language: str) -> bool:
    """Two words and more, a proper name, or (German) a compound."""
    if " " in name:
        return True
    return len(name) >= 10 if language == "de" else name[:1].isupper()


@pytest.mark.parametrize("topic", WEBS)
def test_d1b_a_web_run_is_split_into_names_as_a_folder_run_is(
    topic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    language, articles = detect_language(topic), WEBS[topic]
    opened = open_web(articles, tmp_path, monkeypatch)
    with opened.site:
        report = report_of(opened, opened.run(topic))
    names = names_in(opened.root)
    whole = " ".join(" ".join(a.paragraphs) for a in articles).casefold()
    asked = set(content_tokens(topic, language))
    assert len({*names}) == len(names) >= 3
    for name in names:
        assert name.casefold() in whole, "a slice of what was retrieved"
        words = set(content_tokens(name, language))
        assert words and len(words & asked) * 2 < len(words), f"{name} rewords the topic"
    assert list(sections_of(report)) == names
    beside = folder_names(articles, topic, tmp_path / "folder")
    good = [sum(is_name(name, language) for name in each) for each in (names, beside)]
    assert good[0] * len(beside) >= good[1] * len(names), (names, beside)
    if language == "en":
        assert good[0] == len(names), names


PLAIN = "The harbour seals rest on sand banks. Sand banks shift with every storm. Seals hunt fish."


def test_d1b_a_lone_common_word_stands_in_only_where_names_are_too_few() -> None:
    brief = Brief("Where do seals live?", "seals-20260101-abcd")
    hit = Hit(url="https://a.example/seals", title="Seals", snippet=PLAIN, rank=1, provider="web")
    names = [facet.name for facet in plan_facets(brief, [hit])]
    assert names[0] == "sand banks" and len(names) == 3


def test_d1b_a_german_document_gives_german_names_to_a_topic_of_one_word() -> None:
    """A word like "Wald" is of no language: the documents' own cuts their names."""
    text = " ".join(" ".join(article.paragraphs) for article in MOORS[:7])
    hit = Hit(url="https://a.example/moor", title="Moore", snippet=text, rank=1, provider="web")
    brief = Brief("Moore", "moore-20260101-abcd", language=detect_language("Moore"))
    assert brief.language == "en"
    for facet in plan_facets(brief, [hit]):
        assert facet.name.split()[-1][0].isupper(), "a German name ends in a noun"
        assert facet.name.split()[0].casefold() not in ("der", "die", "das", "und", "aus", "wie")
