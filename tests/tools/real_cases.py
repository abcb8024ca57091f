"""Clean runs over real texts of the shared data: sentences of the sources, cited truly."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

from omh_research.tools import sentences
from omh_research.tools.gate import GateInput
from tests.documents.shared_data import shared_data
from tests.tools.gate_cases import Page, clean_input

UNFIT = frozenset('"“”„«»「」『』[]()（）{}<>|#*_`…^~\\【】〔〕')


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def page(name: str, number: int, title: str, text: str) -> Page | None:
    """Return a page with two of its own sentences as facts, or None if it has none that fit."""
    facts = []
    for span in sentences.split(text):
        plain = span.text.strip().rstrip(".。!！?？؟ ")
        if (
            not 30 <= len(span.text) <= 260
            or UNFIT & set(span.text)
            or "http" in plain
            or "\n" in plain
            or span.text[:1] in "-•+"
        ):
            continue
        facts.append((plain, plain))
        if len(facts) == 2:
            title = " ".join((title or text[:70]).split())[:90]
            title = (
                "".join(char for char in title if char not in UNFIT).strip(" —-")
                or f"Text {number}"
            )
            return Page(
                f"https://texts.example.org/{name}/{number}", title, text, tuple(facts), date="2024"
            )
    return None


def texts() -> dict[str, list[tuple[str, str]]]:
    """Return (title, text) pairs by name of the set."""
    data = shared_data()
    found: dict[str, list[tuple[str, str]]] = {}
    for row in rows(data / "retrieval/scifact-en-a/docs.jsonl"):
        found.setdefault("scifact", []).append((row["title"], " ".join(row["sentences"])))
    for name in ("xquad-multi-a", "cmrc-zh-hans", "dureader-zh-a"):
        for row in rows(data / "retrieval" / name / "docs.jsonl"):
            text = row.get("text") or "\n".join(row.get("paragraphs", ()))
            found.setdefault(f"{name}-{row.get('lang', '')}", []).append(
                (row.get("title") or "", text)
            )
    articles = json.loads((data / "html/article-bench-a/ground_truth.json").read_text("utf-8"))
    for row in articles["items"].values():
        body = row.get("text")
        if body:
            found.setdefault("articles", []).append((body[:60], body))
    return found


def real_runs(per_set: int) -> dict[str, GateInput]:
    """Return at most `per_set` runs of each set, each over three texts of it."""
    runs: dict[str, GateInput] = {}
    for name, pairs in texts().items():
        pages = (page(name, number, title, text) for number, (title, text) in enumerate(pairs))
        usable = [p for p in islice(pages, per_set * 6) if p]
        for at in range(0, len(usable) - 2, 3):
            if at // 3 >= per_set:
                break
            sections = {
                f"{label} {at}": [p]
                for label, p in zip(("Alpha", "Beta", "Gamma"), usable[at : at + 3], strict=True)
            }
            quoted = at % 2 == 0
            runs[f"{name} {at}"] = clean_input(
                f"Texts of {name}", sections, quoted=quoted, quotes=at % 4 < 2
            )
    return runs


def supported_claims() -> list[tuple[str, GateInput]]:
    """Return one run for each claim that experts marked as supported by an abstract."""
    data = shared_data()
    docs = {row["id"]: row for row in rows(data / "retrieval/scifact-en-a/docs.jsonl")}
    found = []
    for row in rows(data / "retrieval/scifact-en-a/queries.jsonl"):
        for doc_id, evidence in row["evidence"].items():
            doc = docs.get(doc_id)
            if evidence["label"] != "SUPPORT" or not doc:
                continue
            quote = doc["sentences"][evidence["rationales"][0][0]].strip()
            claim = row["text"].rstrip(".")
            source = Page(
                f"https://texts.example.org/claim/{doc_id}",
                doc["title"],
                " ".join(doc["sentences"]),
                ((claim, quote),),
            )
            found.append((f"{row['id']} {doc_id}", clean_input("Claims", {"Alpha": [source]})))
    return found
