"""When a round names a new concept or a blind spot, and when it keeps silent (L2)."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from omh_research.documents.finding import ParsedFinding, parse_finding
from omh_research.phases.novelty import blind_spot, new_concept, phrases

TOPIC = "How do tides shape coasts?"
_BESIDE = Path(__file__).resolve().parents[2] / "../shared/data"
DATA = Path(os.environ.get("OMH_SHARED_DATA") or _BESIDE) / "retrieval"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the shared data folder is absent")


def found(
    name: str, quotes: dict[str, str], synthesis: str = "Tides move mud [1]."
) -> ParsedFinding:
    """Return a finding with one quote a source, by host."""
    sources = "\n".join(
        f"[{n}] {host} — https://{host}.example/a — primary — 2024"
        for n, host in enumerate(quotes, 1)
    )
    evidence = "\n".join(
        f'- [{n}] {quote} | "{quote}"' for n, quote in enumerate(quotes.values(), 1)
    )
    return parse_finding(
        f"SUBTOPIC: {name}\nQUERIES_RUN:\n- q → ok\nSOURCES:\n{sources}\nEVIDENCE:\n{evidence}\n"
        f"SYNTHESIS:\n{synthesis}\nGAPS:\n- none\n"
    )


def concept(
    first: str, second: str, texts: dict[str, str] | None = None, topic: str = TOPIC
) -> str:
    groups = {"A": [found("A", {"one": first})], "B": [found("B", {"two": second})]}
    return new_concept(groups, topic, ["A", "B"], texts or {}).phrase


def test_l2_a_phrase_in_two_sources_of_two_subproblems_is_a_concept() -> None:
    first = "The Kelvin wave carries tides along the coast."
    assert concept(first, "Tides turn with the Kelvin wave amplitude.") == "Kelvin wave"
    groups = {
        "A": [found("A", {"one": first, "two": first.replace("carries", "moves")})],
        "B": [found("B", {"three": "Tides come twice a day."})],
    }
    assert new_concept(groups, TOPIC, [], {}).phrase == "", "one subproblem is not two"


def test_l2_a_fragment_of_a_longer_phrase_is_none() -> None:
    first = "Tides follow the super Kelvin wave front model of the coast."
    whole = "super Kelvin wave front model"
    assert concept(first, first.replace("follow", "obey")) == whole
    assert (
        concept(
            f"The one two three four {whole}s of tides.", f"A one two three four {whole}s of tides."
        )
        == ""
    )
    assert concept("Tides, Kelvin, wave and coast.", "Tides: Kelvin; wave.") == ""


def test_l2_a_copy_of_one_text_is_one_source() -> None:
    text = "The Kelvin wave carries tides along every coast of the northern sea. " * 6
    held = {"https://one.example/a": text, "https://two.example/a": text}
    first, second = "The Kelvin wave of tides along a coast", "Tides make the Kelvin wave here"
    assert concept(first, second) == "Kelvin wave"
    assert concept(first, second, held) == ""


def test_l2_everyday_words_name_no_concept() -> None:
    assert (
        concept("Several recent studies link tides.", "Tides appear in several recent studies.")
        == ""
    )
    assert concept("潮汐的主要影响很大。", "潮汐有主要影响。", topic="潮汐如何塑造海岸？") == ""


def test_l2_far_from_the_topic_or_covered_is_none() -> None:
    wave = "The Kelvin wave is fast."
    assert concept(wave, wave.replace("fast", "slow")) == ""
    groups = {
        "A": [found("A", {"one": "Tides and the Kelvin wave."})],
        "B": [found("B", {"two": "The Kelvin wave of tides."})],
    }
    assert new_concept(groups, TOPIC, [], {}).phrase == "Kelvin wave"
    assert new_concept(groups, TOPIC, ["kelvin wave speed"], {}).phrase == ""


def test_l2_a_chinese_phrase_keeps_its_ends() -> None:
    found_phrase = concept(
        "潮汐受开尔文波的推动。", "开尔文波使潮汐升高。", topic="潮汐如何塑造海岸？"
    )
    assert "开尔文波" in found_phrase


def test_phrases_stop_at_punctuation() -> None:
    texts = [phrase.text for phrase in phrases("salt marsh, funnel bay")]
    assert texts == ["salt marsh", "funnel bay"]
    assert [phrase.text for phrase in phrases("salt marsh tide bank", {"tide"})] == ["salt marsh"]


def test_l2_a_blind_spot_is_a_word_of_the_question_that_matters() -> None:
    groups = {"A": [found("A", {"one": "Copper surfaces kill bacteria."}, "Copper surfaces [1].")]}
    assert blind_spot(groups, "Do copper surfaces protect sick nurses?") == ""
    spot = "Do copper surfaces kill bacteria in hospitals?"
    assert blind_spot(groups, spot) == "hospitals"
    assert blind_spot(groups, spot, ["copper in a hospital"]) == "", "searched for: no blind spot"
    assert blind_spot(groups, "Do copper surfaces kill many bacteria?") == ""
    assert blind_spot(groups, "How are bacteria killed on a copper surface?") == ""
    assert blind_spot(groups, "Do copper surfaces mostly kill the first bacteria?") == ""


def test_l2_where_hardly_anything_was_found_no_single_word_is_blind() -> None:
    groups = {"A": [found("A", {"one": "Copper is red."}, "Copper is red [1].")]}
    assert blind_spot(groups, "Does bariatric surgery harm mental health in copper miners?") == ""
    assert blind_spot({}, TOPIC) == ""


@needs_data
@pytest.mark.data
@pytest.mark.parametrize("name", ["scifact-en-a", "xquad-multi-a"])
def test_l2_on_a_real_corpus_little_is_taken_for_new(name: str, tmp_path: Path) -> None:
    """Whole runs of three rounds on five real questions: the words a revision names."""
    from omh_research import Engine
    from omh_research.documents.options import RunOptions

    rows = (DATA / name / "docs.jsonl").read_text("utf-8").split("\n")[:120]
    docs = {d["id"]: d for d in map(json.loads, filter(None, rows))}
    (tmp_path / "docs").mkdir()
    for number, document in enumerate(docs.values()):
        text = " ".join([document.get("text", ""), *document.get("sentences", ())])
        title = document.get("title", f"Document {number}")
        (tmp_path / "docs" / f"{number}.md").write_text(f"# {title}\n\n{text}\n", "utf-8")
    asked = (DATA / name / "queries.jsonl").read_text("utf-8").split("\n")
    queries = {q["id"]: q["text"] for q in map(json.loads, filter(None, asked))}
    judged = (DATA / name / "qrels.tsv").read_text("utf-8").split("\n")
    cells = [line.split("\t") for line in judged]
    topics = dict.fromkeys(
        queries[row[0]] for row in cells if row[0] in queries and any(c in docs for c in row[1:])
    )
    engine, blind, concepts = Engine(str(tmp_path)), [], []
    options = RunOptions(corpus=(str(tmp_path / "docs"),), rounds=3)
    for topic in list(topics)[:5]:
        slug = engine.start(topic, delegate="extractive", options=options).slug
        engine.run(slug)
    for log in (tmp_path / ".omh" / "logs").glob("*.log"):
        for line in log.read_text("utf-8").split("\n"):
            blind += re.findall('not touched by any finding: ([^."]+)', line)
            concepts += re.findall('new concept: ([^."]+)', line)
    assert len(blind) <= 1, blind
    assert len(concepts) <= 10 and all(" " in phrase for phrase in concepts), concepts
