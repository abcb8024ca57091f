"""The HTML export opened in a real browser, the documents in real readers (O6, 81 section 7).

Chromium over its debugging pipe: contents, card and panel, keyboard, phone, dark, print, right to
left and Chinese, no request, hostile text inert. LibreOffice and pdftotext read docx and pdf.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.export.test_exports import NASTY, ZH, exported, made
from tests.runs import CLAIMS, NAMES, TOPIC, Run
from tests.simulators.browser import PROGRAM, Browser

needs_browser = pytest.mark.skipif(PROGRAM is None, reason="no Chromium or Chrome on PATH")
needs_pdftotext = pytest.mark.skipif(
    shutil.which("pdftotext") is None, reason="no pdftotext on PATH"
)
OFFICE = shutil.which("soffice") or shutil.which("libreoffice")

AR = (
    "كيف تشكل حركات المد والجزر السواحل؟",
    ("القمر والشمس", "الخلجان القمعية", "المستنقعات المالحة"),
    (
        "يحدث المد العالي عندما تتطابق جاذبية القمر مع الشمس",
        "يرفع الخليج الضيق منسوب المياه في رأسه",
        "تبطئ نباتات المستنقعات التيار وتحبس الطين",
    ),
)
ACTIVE = (
    ' <img src="http://evil.example/x.png" onerror="window.hit=1"> [a](javascript:window.hit=1) '
    '![i](https://evil.example/y.png) <iframe src="https://evil.example"></iframe> '
    "<script>window.hit=1</script> <svg onload=window.hit=1> "
    "[b](https://ok.example/page) user\u202etxt.exe\u2066 \U000e0041tag"
)
TABLE = "\n\n| a | b |\n| --- | --- |\n| " + "word " * 40 + "| " + "w" * 120 + " |\n"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """One report each: English and hostile, Chinese, Arabic."""
    claims = tuple(CLAIMS[name] for name in NAMES)
    folder = tmp_path_factory.mktemp("looks")
    return {
        "en": made(folder / "en", TOPIC, NAMES, claims, titles=NASTY, more=ACTIVE + TABLE),
        "zh": made(folder / "zh", *ZH, titles=("月球", "海湾", "盐沼")),
        "ar": made(folder / "ar", *AR, titles=("القمر", "Bay of Fundy", "المستنقعات")),
    }


@pytest.fixture(scope="module")
def pages(runs: dict[str, Run], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The HTML exports by language."""
    folder = tmp_path_factory.mktemp("pages")
    found = {}
    for language, run in runs.items():
        (folder / language).mkdir()
        found[language] = exported(run, "html", folder / language)
    return found


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


def _text(data: bytes, folder: Path) -> str:
    """Return the text of a PDF as one line."""
    (folder / "read.pdf").write_bytes(data)
    done = subprocess.run(
        ["pdftotext", str(folder / "read.pdf"), "-"], capture_output=True, check=True, timeout=60
    )
    text = re.sub("[\u200e\u200f\u202a-\u202e]", "", done.stdout.decode("utf-8"))
    return " ".join(text.split())


@needs_browser
def test_the_contents_lead_to_every_heading(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["en"])
    broken = "[...document.querySelectorAll('nav a')].filter(a=>!document.querySelector(a.hash))"
    assert browser.value(f"{broken}.length") == 0
    shown = browser.value("[...document.querySelectorAll('nav a')].map(a=>a.textContent)")
    assert shown[:2] == [TOPIC, "Executive Summary"] and shown[-1] == "Evidence"


@needs_browser
def test_hostile_text_is_inert_and_nothing_is_requested(
    browser: Browser, pages: dict[str, Path]
) -> None:
    browser.requests.clear()
    browser.open(pages["en"])
    browser.point_at("main .cite")
    assert browser.value("window.hit") is None
    assert browser.value("document.querySelectorAll('img,iframe,svg,object,embed').length") == 0
    assert browser.value("document.scripts.length") == 1
    handlers = (
        "[...document.querySelectorAll('*')].flatMap(e=>[...e.attributes])"
        ".filter(a=>a.name.startsWith('on')||/^\\s*javascript:/i.test(a.value)).length"
    )
    assert browser.value(handlers) == 0
    hidden = re.findall(
        "[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]",
        browser.value("document.documentElement.outerHTML"),
    )
    assert hidden == []
    assert browser.value("document.querySelector('a[href=\"https://ok.example/page\"]').rel") == (
        "noopener noreferrer nofollow"
    )
    assert browser.requests == [pages["en"].as_uri()]


@needs_browser
def test_hovering_shows_source_quote_and_check(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["en"])
    browser.point_at("main .cite[data-n='2']")
    card = browser.value("document.querySelector('.card').innerText")
    assert NASTY[1] in card and CLAIMS[NAMES[1]] in card and "not_held" in card
    inside = browser.value(
        "(()=>{const b=document.querySelector('.card').getBoundingClientRect();"
        "return b.left>=0&&b.right<=innerWidth&&b.top>=0&&b.bottom<=innerHeight})()"
    )
    assert inside is True


@needs_browser
def test_the_keyboard_alone_reaches_opens_and_closes(
    browser: Browser, pages: dict[str, Path]
) -> None:
    browser.open(pages["zh"])
    active = "document.activeElement"
    for _ in range(40):
        browser.press("Tab")
        if browser.value(f"{active}.classList.contains('cite')"):
            break
    assert browser.value(f"{active}.dataset.n") == "1"
    assert browser.value("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert ZH[2][0] in browser.value("document.querySelector('.card').innerText")
    browser.press("Escape")
    assert browser.value("document.querySelector('.card')") is None
    browser.press("Enter")
    opened = "new Promise(done=>setTimeout(()=>done(document.activeElement.id),50))"
    answer = browser.call(
        "Runtime.evaluate", expression=opened, awaitPromise=True, returnByValue=True
    )
    assert answer["result"]["value"] == "source-1"
    assert browser.value("document.querySelector('.source.on').id") == "source-1"
    browser.press("Escape")
    assert browser.value("document.querySelector('.source.on')") is None
    assert browser.value(f"{active}.dataset.n") == "1", "back at the citation"


@needs_browser
@pytest.mark.parametrize("language", ["en", "zh", "ar"])
def test_a_phone_scrolls_down_only(browser: Browser, pages: dict[str, Path], language: str) -> None:
    browser.open(pages[language], width=390, height=844)
    assert browser.value("document.documentElement.scrollWidth") <= 390
    narrow = (
        "[...document.querySelectorAll('main td,main p,main li')]"
        ".filter(e=>e.innerText.length>12&&e.getBoundingClientRect().width<60).length"
    )
    assert browser.value(narrow) == 0


@needs_browser
def test_dark_and_light_can_be_read(browser: Browser, pages: dict[str, Path]) -> None:
    """WCAG contrast of every text against its page, 4.5 at least, in both schemes."""
    contrast = """(()=>{const rgb=c=>c.match(/[\\d.]+/g).slice(0,3).map(Number);
    const lum=c=>{const [r,g,b]=rgb(c).map(v=>{v/=255;return v<=.03928?v/12.92:((v+.055)/1.055)**2.4});
    return .2126*r+.7152*g+.0722*b};
    const paper=e=>{for(;e;e=e.parentElement){const c=getComputedStyle(e).backgroundColor;
    if(!/, 0\\)$/.test(c)&&c!=='transparent')return c}return 'rgb(255,255,255)'};
    return Math.min(...[...document.querySelectorAll('main *,nav *,aside *')].map(e=>{
    const a=lum(getComputedStyle(e).color),b=lum(paper(e));
    return (Math.max(a,b)+.05)/(Math.min(a,b)+.05)}))})()"""
    papers = []
    for scheme in ("light", "dark"):
        browser.open(pages["en"], prefers_color_scheme=scheme)
        assert browser.value(contrast) >= 4.5, scheme
        papers.append(browser.value("getComputedStyle(document.body).backgroundColor"))
    assert papers[0] != papers[1]


@needs_browser
def test_arabic_reads_from_right_to_left(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["ar"])
    assert browser.value("getComputedStyle(document.querySelector('main p')).direction") == "rtl"
    sides = browser.value(
        "['nav','main','aside'].map(n=>document.querySelector(n).getBoundingClientRect().left)"
    )
    assert sides == sorted(sides, reverse=True)
    assert browser.value("document.documentElement.lang") == "ar"


@needs_browser
@needs_pdftotext
def test_the_print_view_leaves_the_contents_out(
    browser: Browser, pages: dict[str, Path], tmp_path: Path
) -> None:
    browser.open(pages["en"])
    browser.point_at("main .cite")
    text = _text(browser.printed(), tmp_path)
    assert text.count("Executive Summary") == 1 and f"{CLAIMS[NAMES[0]]} [1]" in text
    assert NASTY[1] in text, "the sources are printed"


@needs_browser
@needs_pdftotext
@pytest.mark.parametrize("language", ["en", "zh", "ar"])
def test_the_pdf_holds_the_text_and_the_numbers(
    runs: dict[str, Run], language: str, tmp_path: Path
) -> None:
    text = _text(exported(runs[language], "pdf", tmp_path).read_bytes(), tmp_path)
    wanted = {"en": CLAIMS[NAMES[2]], "zh": ZH[2][2], "ar": "المستنقعات"}[language]
    assert wanted in text
    for n in (1, 2, 3):
        # pdftotext orders brackets by its own rules beside Arabic: the number stands at one.
        assert re.search(rf"[\[\]]\W*{n}\b", text), (n, text)


def test_every_paragraph_of_an_arabic_docx_reads_from_right_to_left(
    runs: dict[str, Run], tmp_path: Path
) -> None:
    docx = pytest.importorskip("docx")
    for language, wanted in (("ar", True), ("zh", False)):
        document = docx.Document(str(exported(runs[language], "docx", tmp_path)))
        cells = [p for t in document.tables for c in t._cells for p in c.paragraphs]
        turned = ["w:bidi" in p._p.xml for p in (*document.paragraphs, *cells) if p.text]
        assert turned and all(is_turned == wanted for is_turned in turned)


@pytest.mark.skipif(OFFICE is None, reason="no LibreOffice on PATH")
@needs_pdftotext
@pytest.mark.parametrize("language", ["en", "zh", "ar"])
def test_libreoffice_opens_the_docx(runs: dict[str, Run], language: str, tmp_path: Path) -> None:
    pytest.importorskip("docx")
    path = exported(runs[language], "docx", tmp_path)
    subprocess.run(
        [str(OFFICE), f"-env:UserInstallation={(tmp_path / 'office').as_uri()}", "--headless",
         "--convert-to", "pdf", "--outdir", str(tmp_path), str(path)],
        check=True, timeout=180, stdin=subprocess.DEVNULL, capture_output=True,
    )  # fmt: skip
    text = _text((tmp_path / "report.pdf").read_bytes(), tmp_path)
    wanted = {"en": f"{CLAIMS[NAMES[1]]} [2].", "zh": ZH[2][1], "ar": "المستنقعات"}[language]
    assert wanted in text and "https://s3.example/p" in text


def test_every_form_has_the_same_numbers(
    runs: dict[str, Run], pages: dict[str, Path], tmp_path: Path
) -> None:
    """Complaint 23: number and address agree in json, html, docx, md and the report itself."""
    docx = pytest.importorskip("docx")
    view = json.loads(exported(runs["zh"], "json", tmp_path).read_text("utf-8"))
    wanted = [(source["n"], source["url"]) for source in view["sources"]]
    rows = re.compile(r"^\[?(\d)[\].].*?(https://\S+)", re.M)

    def read(text: str) -> list[tuple[int, str]]:
        return [(int(n), url) for n, url in rows.findall(text)]

    page = pages["zh"].read_text("utf-8")
    panel = re.findall(r'id="source-(\d)".*?href="(https://[^"]+)"', page, re.S)
    assert [(int(n), url) for n, url in panel] == wanted
    document = docx.Document(str(exported(runs["zh"], "docx", tmp_path)))
    assert read("\n".join(p.text for p in document.paragraphs)) == wanted
    assert read(runs["zh"].report_path.read_text("utf-8")) == wanted
    ended = runs["zh"].cli(
        "export", runs["zh"].slug, "--to", "auto-deep-research", "-o", str(tmp_path / "out")
    )
    assert ended.code == 0
    assert read((tmp_path / "out" / "report.md").read_text("utf-8")) == wanted


def test_the_seeds_markdown_opens_no_tag_and_no_link(runs: dict[str, Run], tmp_path: Path) -> None:
    markdown = pytest.importorskip("markdown_it")
    out = tmp_path / "out"
    assert runs["en"].cli(
        "export", runs["en"].slug, "--to", "auto-deep-research", "-o", str(out)
    ).code == 0  # fmt: skip
    for name in ("report.md", "memo.md"):
        text = (out / name).read_text("utf-8")
        page = markdown.MarkdownIt("commonmark").render(text)
        assert not re.search(r"<(?:script|img|iframe|svg|a)\b", page), (name, page)
        assert not re.search("[\u202e\u2066\U000e0041]", text)
        assert "evil.example" not in page or "&lt;img" in page
