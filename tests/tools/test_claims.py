"""Claims of a draft: what counts, its subject resolved, a fair selection (P1, P9)."""

from __future__ import annotations

from omh_research.tools.claims import MAX_CLAIMS, Claim, find_claims, resolve, select

BODY = """# T

## Executive Summary

Spring tides come when both bodies line up [1]. Did you know?

## Detailed Findings

### Moon

Spring tides come when both bodies line up [1]. They are highest at the equinox. [2]
Its range doubled in 1990. The sea is beautiful. See also:

### 海湾

潮差在湾顶最大【3】。它由共振导致。

## Key Takeaways

- Neap tides follow the quarter moons [1][2].

## Open Questions

- Why 42?

## Sources

[1] A — https://a.example — primary — 2024
"""


def test_what_is_a_claim_and_what_is_none() -> None:
    found = {claim.sentence: claim for claim in find_claims(BODY, ("Moon", "海湾"))}
    assert [(claim.subtopic, claim.numbers) for claim in found.values()] == [
        ("Moon", (1,)),
        ("Moon", (2,)),
        ("Moon", ()),
        ("海湾", (3,)),
        ("海湾", ()),
        ("Moon", (1, 2)),
    ], list(found)
    texts = [claim.text for claim in found.values()]
    assert texts[1].startswith("Spring tides are highest"), "the marker behind the stop is its own"
    assert "range doubled in 1990" in texts[2]
    assert not any(text.startswith(("它", "They", "Its")) for text in texts), texts


def test_p9_without_a_subject_the_sentence_stays_and_its_context_stands_before_it() -> None:
    assert resolve("It rose by 3 m.", "", "Funnel bays") == "(Funnel bays) It rose by 3 m."
    assert resolve("它是由月球引起的。", "", "潮汐") == "(潮汐) 它是由月球引起的。"
    before = "So much for the bays."
    assert resolve("It rose by 3 m.", before, "Funnel bays") == f"({before}) It rose by 3 m."
    assert resolve("It rose by 3 m.", "Funnel bays are long.", "x") == "Funnel bays rose by 3 m."
    assert resolve("Italy has small tides.", "", "x") == "Italy has small tides."


def test_p9_quoted_words_are_never_rewritten() -> None:
    sentence = '"It was first calculated by Hans Queisser at Shockley Semiconductor" [1].'
    assert resolve(sentence, "The limit is 33.7%.", "William Shockley") == (
        f"(The limit is 33.7%.) {sentence}"
    )
    assert resolve(sentence, "", "William Shockley") == f"(William Shockley) {sentence}"
    body = (
        "# T\n\n## Detailed Findings\n\n### S\n\n"
        'The so-called "bay effect" is old [1]. It doubled the range in 1990 [1].\n'
        "“It was strong in 1953” [1]. They fell by 3 m [1].\n"
    )
    for claim in find_claims(body, ("S",)):
        assert claim.sentence in claim.text or '"' not in claim.text
        assert claim.text.count('"') % 2 == 0
        assert claim.text.count("“") == claim.text.count("”")


def test_each_subtopic_gets_its_floor_before_any_gets_more() -> None:
    def group(name: str, count: int) -> list[Claim]:
        return [Claim(f"{name} {n}", f"{name} {n}", (1,), name) for n in range(count)]

    names = ("a", "b", "c", "d", "e")
    claims = [*group("a", 30), *group("b", 1), *group("c", 2), *group("d", 5), *group("e", 0)]
    chosen = select(claims, names)
    counts = {name: sum(c.subtopic == name for c in chosen.chosen) for name in names}
    assert len(chosen.chosen) == MAX_CLAIMS
    assert counts["b"] == 1 and counts["c"] == 2 and counts["d"] >= 2
    assert sum(chosen.unexamined.values()) == len(claims) - MAX_CLAIMS


def test_t20_claims_of_hostile_text_are_found_in_linear_time() -> None:
    """Twice the text, at most four times the processor time: nothing grows with its square."""
    import time

    def cost(unit: str, size: int) -> float:
        body = f"# T\n\n## Detailed Findings\n\n### S\n\n{(unit * size)[:size]}\n"
        before = time.process_time()
        find_claims(body, ("S",))
        return time.process_time() - before

    for unit in ("二", "by aing ", "when a", "as a ", "三百 ", "[1]: https://"):
        small = max(min(cost(unit, 40_000) for _ in range(3)), 0.004)
        assert min(cost(unit, 80_000) for _ in range(3)) < 4 * small, unit
