"""Every export of one run, read back by readers of its own kind; hostile text inert (O6, L9)."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.runs import CLAIMS, NAMES, TOPIC, Run, verdict

NASTY = (
    "Alpha <script>window.hit=1</script>",
    'Beta "quoted" & </title><img src=x onerror=window.hit=1>',
    "Gamma {brace} 100% \\emph",
)
ZH = ("潮汐如何塑造海岸？", ("月球与太阳", "漏斗形海湾", "盐沼"),
      ("大潮出现在日月引力重合之时", "狭窄的海湾会抬高湾顶的水位", "盐沼植物减缓水流并截留泥沙"))  # fmt: skip
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-sync",
)  # fmt: skip


def made(folder: Path, topic: str, names: tuple[str, ...], claims: tuple[str, ...], *, titles: tuple[str, ...], more: str = "") -> Run:  # fmt: skip
    """Return a run with a written report: one source a subtopic, `more` in its summary."""
    hosts = [f"https://s{n}.example/p" for n in (1, 2, 3)]
    lines = [f"{titles[n]} — {hosts[n]} — primary — 2024-05-01" for n in range(3)]
    script: list[dict[str, Any]] = [
        {
            "role": "researcher",
            "subtopic": name,
            "text": f"SUBTOPIC: {name}\nQUERIES_RUN:\n- q → x\nSOURCES:\n[1] {line}\nEVIDENCE:\n"
            f'- [1] {claim} | "{claim}"\nSYNTHESIS:\n{claim} [1].\nGAPS:\n- none\n',
        }
        for name, claim, line in zip(names, claims, lines, strict=True)
    ]
    sections = "\n\n".join(
        f"### {name}\n\n{claim} [{n}]."
        for n, (name, claim) in enumerate(zip(names, claims, strict=True), 1)
    )
    sources = "\n".join(f"[{n}] {line}" for n, line in enumerate(lines, 1))
    body = (
        f"# {topic}\n\n## Executive Summary\n\n{claims[0]} [1].{more}\n\n## Detailed Findings\n\n"
        f"{sections}\n\n## Key Takeaways\n\n- {claims[1]} [2].\n\n## Open Questions\n\n- None.\n\n"
        f"## Sources\n\n{sources}\n"
    )
    script.append({"role": "research-synthesist", "text": body})
    run = Run(folder, [*script, {"role": "research-verifier", "text": verdict()}])
    options = [arg for name in names for arg in ("--subtopic", f"{name}: {name} a; {name} b")]
    assert run.start(*options, topic=topic).code == 0
    for _ in range(3):
        run.step()
    return run


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A draft full of active text, as a model might write it."""
    more = (
        ' <img src=x onerror="window.hit=1"> [click](javascript:window.hit=1) '
        "![i](https://evil.example/x.png) <iframe src=https://evil.example></iframe>"
    )
    claims = tuple(CLAIMS[name] for name in NAMES)
    folder = tmp_path_factory.mktemp("hostile")
    return made(folder, TOPIC, NAMES, claims, titles=NASTY, more=more)


def exported(run: Run, form: str, folder: Path) -> Path:
    path = folder / f"report.{form}"
    ended = run.cli("export", run.slug, "--to", form, "-o", str(path))
    assert ended.code == 0, ended.err
    return path


def test_the_html_is_one_file_that_fetches_and_runs_nothing_of_the_report(
    hostile: Run, tmp_path: Path
) -> None:
    page = exported(hostile, "html", tmp_path).read_text("utf-8")
    assert page.count("<script>") == 1 and "<img" not in page and "<iframe" not in page
    assert page.count("</title>") == 1 and not re.search(r"href=\"javascript:", page)
    assert not re.search(r"\bsrc=\"|<link|@import|url\(", page)
    assert "default-src 'none'" in page
    for n in (1, 2, 3):
        assert f'id="source-{n}"' in page and f'href="#source-{n}" data-n="{n}"' in page
    assert page.count('class="check not_held"') == 6, "panel and evidence table say the same"


@pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome on PATH")
def test_a_browser_finds_no_active_text_and_shows_the_card_on_focus(
    hostile: Run, tmp_path: Path
) -> None:
    """Opened for real: focus on a citation shows source, quote and check status, by keyboard."""
    path = exported(hostile, "html", tmp_path)
    probe = (
        "<script>var link=document.querySelector('main .cite');link.focus();"
        # A window that is not in front gets no focus event of its own.
        "if(!document.querySelector('.card'))link.dispatchEvent(new Event('focus'));"
        "document.body.dataset.hit=String(window.hit);"
        "document.body.dataset.card=document.querySelector('.card').innerText;</script>"
    )
    probed = tmp_path / "probed.html"
    probed.write_text(path.read_text("utf-8").replace("</body>", probe + "</body>"), "utf-8")
    command = [str(BROWSER), *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom"]
    done = subprocess.run(
        [*command, probed.as_uri()], capture_output=True, timeout=90, check=True, text=True
    )
    assert 'data-hit="undefined"' in done.stdout
    card = done.stdout.split('data-card="', 1)[1].split('"', 1)[0]
    assert CLAIMS[NAMES[0]] in card and "not_held" in card and "[1]" in card


@pytest.mark.skipif(BROWSER is None, reason="no Chromium or Chrome on PATH")
@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="no pdftotext on PATH")
def test_the_pdf_reads_back(hostile: Run, tmp_path: Path) -> None:
    path = exported(hostile, "pdf", tmp_path)
    text = subprocess.run(
        ["pdftotext", str(path), "-"], capture_output=True, check=True, timeout=60
    ).stdout.decode("utf-8")
    assert "Executive Summary" in text and f"{CLAIMS[NAMES[2]]} [3]" in " ".join(text.split())


def test_the_docx_reads_back(hostile: Run, tmp_path: Path) -> None:
    docx = pytest.importorskip("docx")
    document = docx.Document(str(exported(hostile, "docx", tmp_path)))
    headings = [p.text for p in document.paragraphs if p.style.name.startswith(("Head", "Title"))]
    assert headings[:3] == [TOPIC, "Executive Summary", "Detailed Findings"]
    text = "\n".join(paragraph.text for paragraph in document.paragraphs)
    assert f"{CLAIMS[NAMES[1]]} [2]." in text
    cells = [[cell.text for cell in row.cells] for row in document.tables[-1].rows]
    assert [row[0] for row in cells] == ["Source", "[1]", "[2]", "[3]"]


def test_bibliographies_read_back_with_the_same_numbers(hostile: Run, tmp_path: Path) -> None:
    """BibTeX, RIS and CSL-JSON by parsers that are not ours; the json export agrees."""
    view = json.loads(exported(hostile, "json", tmp_path).read_text("utf-8"))
    wanted = [(s["n"], s["url"]) for s in view["sources"]]
    assert [n for n, _ in wanted] == [1, 2, 3]
    csl = json.loads(exported(hostile, "csl-json", tmp_path).read_text("utf-8"))
    assert [(n, item["URL"]) for n, item in enumerate(csl, 1)] == wanted
    rispy = pytest.importorskip("rispy")
    ris = rispy.loads(exported(hostile, "ris", tmp_path).read_text("utf-8"))
    numbered = [(int(row["id"].split(":")[1]), row["urls"][0]) for row in ris]
    assert numbered == wanted and ris[0]["title"] == NASTY[0]
    bibtexparser = pytest.importorskip("bibtexparser")
    library = bibtexparser.parse_string(exported(hostile, "bibtex", tmp_path).read_text("utf-8"))
    assert not library.failed_blocks and len(library.entries) == 3
    fields = [{f.key: f.value for f in entry.fields} for entry in library.entries]
    assert [(int(f["recordid"].split(":")[1]), f["url"]) for f in fields] == wanted


GOLDEN_ZH = """# 研究报告：潮汐如何塑造海岸？

## 问题拆解

- 子问题 1: 月球与太阳
- 子问题 2: 漏斗形海湾
- 子问题 3: 盐沼

## 关键结论

### 结论 1

狭窄的海湾会抬高湾顶的水位.

证据：

- [P1-官方] 来源 2: 海湾 — 狭窄的海湾会抬高湾顶的水位

## 不确定点

- 未验证点：月球与太阳：独立来源不足两个
- 未验证点：漏斗形海湾：独立来源不足两个
- 未验证点：盐沼：独立来源不足两个

## 总结

大潮出现在日月引力重合之时.狭窄的海湾会抬高湾顶的水位.

## 参考来源

1. [P1-官方] [月球] - https://s1.example/p
2. [P1-官方] [海湾] - https://s2.example/p
3. [P1-官方] [盐沼] - https://s3.example/p
"""


def test_the_seeds_folder_in_chinese(tmp_path: Path) -> None:
    """L5, L9: five files, exactly these headings."""
    run = made(tmp_path, *ZH, titles=("月球", "海湾", "盐沼"))
    out = tmp_path / "out"
    ended = run.cli("export", run.slug, "--to", "auto-deep-research", "-o", str(out))
    assert ended.code == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "memo.json", "memo.md", "report.md", "sources.json", "state.json",
    ]  # fmt: skip
    assert (out / "report.md").read_text("utf-8") == GOLDEN_ZH
    memo = json.loads((out / "memo.json").read_text("utf-8"))
    assert memo["subproblems"][0]["findings"][0] == {
        "source": "https://s1.example/p", "priority": "P1",
        "key_points": [ZH[2][0] + "."], "conflict": None,
    }  # fmt: skip
    assert "### 来源 A [P1-官方] (https://s1.example/p)" in (out / "memo.md").read_text("utf-8")
    state = json.loads((out / "state.json").read_text("utf-8"))
    assert set(state) == {
        "iteration", "max_iterations", "original_query", "subproblems", "has_new_concepts",
        "enough_evidence",
    }  # fmt: skip
    assert state["subproblems"][0] == {
        "id": 1, "title": "月球与太阳", "status": "completed", "sources": 1,
    }  # fmt: skip


def test_a_second_folder_of_the_day_gets_a_number(
    hostile: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """L5: `output/{topic keywords}_{YYYYMMDD}/`, then `-2`."""
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert hostile.cli("export", hostile.slug, "--to", "auto-deep-research").code == 0
    first, second = sorted(path.name for path in (tmp_path / "output").iterdir())
    assert re.fullmatch(r"[a-z0-9-]+_\d{8}", first) and second == first + "-2"


def test_an_unknown_form_and_a_missing_report_are_said(hostile: Run) -> None:
    assert hostile.cli("export", hostile.slug, "--to", "odt").code == 2
    assert hostile.cli("export", "no-such-run-20260101-aaaa", "--to", "html").code != 0
