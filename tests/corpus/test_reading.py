"""One file to one page: kinds, states, and no crash (E43, complaints 25 and 31)."""

import gzip
import json
import os
import sys
import zipfile
from pathlib import Path

import pytest

from omh_research.corpus import html_reading, pdf_reading
from omh_research.corpus.reading import MAX_TEXT_BYTES, read_bytes, read_file

DATA = Path(
    os.environ.get("OMH_SHARED_DATA") or Path(__file__).resolve().parents[2] / "../shared/data"
)
data = pytest.mark.data
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the shared data folder is not here")


def read(folder: Path, name: str, content: bytes | str):
    path = folder / name
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return read_file(path, f"corpus:c/{name}")


def test_markdown_keeps_its_text_and_gives_title_and_date(tmp_path: Path) -> None:
    page = read(tmp_path, "a.md", "---\ntitle: 'A name'\ndate: 2021-03-04\n---\n# Head\n\nBody.\n")
    assert (page.state, page.title, page.date) == ("ok", "A name", "2021-03-04")
    assert page.text.endswith("# Head\n\nBody.\n")
    assert read(tmp_path, "b.md", "Head\n====\n\nBody.\n").title == "Head"
    assert read(tmp_path, "my_notes.txt", "Body.\n").title == "my notes"


def test_html_drops_menus_scripts_and_note_marks(tmp_path: Path) -> None:
    body = "<p>" + "The bridge was opened in 1932<sup><a href='#1'>[1]</a></sup> by the king. " * 8
    html = (
        "<html lang='en'><head><title>Bridge</title><script>var x='SECRET'</script></head><body>"
        f"<nav><ul><li>Home</li><li>About</li></ul></nav>{body}</p>"
        "<table><tr><th>Length</th><td>1149 m</td></tr></table><footer>Imprint</footer></body>"
    )
    page = read(tmp_path, "a.html", html)
    assert (page.state, page.title, page.language) == ("ok", "Bridge", "en")
    assert "opened in 1932 by the king" in page.text
    assert "SECRET" not in page.text and "[1]" not in page.text and "About" not in page.text


@pytest.mark.parametrize(
    "text", ["A sentence about bridges, of which there are many. " * 9, "Short."]
)
@pytest.mark.parametrize(
    ("head", "body", "told"),
    [
        ("<title>Bridge</title><meta name='author' content='Ann'><meta name=date content=2021-03-04>",
         "", ("Bridge", "Ann", "2021-03-04")),
        ("<title>Bridge</title>", "<svg><title>Icon</title></svg>", ("Bridge", "", "")),
        ("<title>Bridge</title>", "<meta itemprop='datePublished' content='2020-02-03'>",
         ("Bridge", "", "2020-02-03")),
        ("<meta property='og:title' content='Bridge'>", "<meta itemprop=author content=Bo>",
         ("Bridge", "Bo", "")),
        ("", "<h1>Head line</h1>", ("Head line", "", "")),
    ],
)  # fmt: skip
def test_a_page_is_what_it_declares_wherever_it_does(
    head: str, body: str, told: tuple[str, str, str], text: str, tmp_path: Path
) -> None:
    html = f"<html lang=de-AT><head>{head}</head><body class=a>{body}<p>{text}</p></body></html>"
    page = read(tmp_path, "a.html", html)
    assert (page.title, page.author, page.date) == told
    assert (page.state, page.language) == ("ok", "de") and text.strip() in page.text


def test_e43_html_is_read_without_the_web_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    html = (
        "<html><head><title>T</title><style>p{}</style><body><nav>Menu</nav><h1>Head</h1>"
        "<p>First &amp; second.<p>Third<br>line.<ul><li>one<li>two</ul>"
        "<table><tr><td>a</td><td>b</td></tr></table><pre>x = 1\n  y</pre>"
    )
    page = read(tmp_path, "a.htm", html)
    assert page.title == "T"
    assert page.text == (
        "# Head\n\nFirst & second.\n\nThird line.\n\n- one\n- two\n\n| a | b |\n\n```\nx = 1\n  y\n```"
    )


def test_e43_a_pdf_without_the_extra_names_the_install_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdf_reading, "has_pdf_reader", lambda: False)
    page = read(tmp_path, "a.pdf", b"%PDF-1.4\n...")
    assert page.state == "unsupported"
    assert "pip install" in page.detail and "omh-research[web]" in page.detail


def test_25_declared_and_real_encoding_differ(tmp_path: Path) -> None:
    text = "<html><meta charset=utf-8><p>" + "Die Straße führt über die Brücke. " * 10
    page = read(tmp_path, "a.html", text.encode("cp1252"))
    assert "Die Straße führt über die Brücke." in page.text
    assert "cp1252" in page.detail


def test_25_utf16_text_is_not_called_binary(tmp_path: Path) -> None:
    assert read(tmp_path, "a.txt", "Größe und Maß.\n".encode("utf-16")).text == "Größe und Maß.\n"


@pytest.mark.parametrize(
    ("name", "content", "state"),
    [
        ("a.md", b"", "empty"),
        ("b.md", b" \n\t\n", "empty"),
        ("c.txt", bytes(range(256)) * 8, "unsupported"),
        ("d.md", b"PK\x03\x04" + b"\x00" * 60, "unsupported"),
        ("e.pdf", b"no pdf at all", "error"),
        ("f.pdf", b"%PDF-1.7\n%%EOF", "error"),
        ("g.docx", b"not a zip", "error"),
        ("h.docx", b"PK\x03\x04broken word/", "error"),
        ("i.html", b"<html><script>1</script></html>", "empty"),
    ],
)
def test_every_fault_is_a_state_with_a_reason(
    tmp_path: Path, name: str, content: bytes, state: str
) -> None:
    page = read(tmp_path, name, content)
    assert page.state == state
    assert page.text == "" or not page.text.strip()
    assert page.detail or name == "i.html"


def test_a_huge_text_is_cut_and_says_so(tmp_path: Path) -> None:
    page = read(tmp_path, "a.txt", b"A line of text.\n" * (MAX_TEXT_BYTES // 16 + 5))
    assert page.state == "ok"
    assert len(page.text) <= MAX_TEXT_BYTES and page.text.endswith("text.\n")
    assert "only the first" in page.detail


def test_links_fifos_and_missing_files_are_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("secret", "utf-8")
    link = tmp_path / "link.md"
    link.symlink_to(secret)
    assert read_file(link, "corpus:c/link.md").state == "refused"
    assert read_file(tmp_path / "none.md", "corpus:c/none.md").state == "not_found"
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.md")
        assert read_file(tmp_path / "pipe.md", "corpus:c/pipe.md").state == "refused"


def make_docx(path: Path, body: str) -> None:
    namespace = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "word/document.xml", f'<w:document xmlns:w="{namespace}"><w:body>{body}</w:body></w:document>'
        )  # fmt: skip


def test_docx_gives_headings_paragraphs_and_rows(tmp_path: Path) -> None:
    make_docx(
        tmp_path / "a.docx",
        '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Head</w:t></w:r></w:p>'
        "<w:p><w:r><w:t>One </w:t></w:r><w:r><w:t>two.</w:t></w:r></w:p><w:tbl><w:tr>"
        "<w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc>"
        "<w:tc><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc></w:tr></w:tbl>",
    )
    page = read_file(tmp_path / "a.docx", "corpus:c/a.docx")
    assert page.text == "# Head\n\nOne two.\n\n| a | b |"


def test_docx_hidden_text_is_left_out(tmp_path: Path) -> None:
    """Hidden text is an injection: no reader of the document sees it (81-reliability 7)."""
    make_docx(
        tmp_path / "a.docx",
        "<w:p><w:r><w:t>Seen </w:t></w:r>"
        "<w:r><w:rPr><w:vanish/></w:rPr><w:t>SECRET </w:t><w:tab/></w:r>"
        '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>text.</w:t></w:r></w:p>',
    )
    assert read_file(tmp_path / "a.docx", "corpus:c/a.docx").text == "Seen text."


def test_docx_with_entities_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.docx", "w") as archive:
        archive.writestr("word/document.xml", '<!DOCTYPE x [<!ENTITY a "aaaa">]><x>&a;</x>')
    assert read_file(tmp_path / "a.docx", "corpus:c/a.docx").state == "error"


def test_html_bombs_end(tmp_path: Path) -> None:
    for piece in ("<div>", "<table><tr>", "<sup>", "<p hidden>", "<!--", "</div>", "<a href='"):
        page = html_reading.read_html(piece * 20_000 + "The end.", "u")
        assert page.state in ("ok", "empty")


@data
@needs_data
def test_31_pdfs_give_their_text_page_by_page() -> None:
    items = json.loads((DATA / "pdf/ground_truth.json").read_text("utf-8"))["items"]
    found = wanted = 0
    for name, item in items.items():
        page = read_file(DATA / "pdf" / name, f"corpus:pdf/{name}")
        text = " ".join(page.text.split())
        anchors = [" ".join(anchor.split()) for anchor in item.get("anchors", [])]
        wanted += len(anchors)
        found += sum(anchor in text for anchor in anchors)
        assert list(page.page_starts) == sorted(page.page_starts)
    assert found >= 0.97 * wanted


@data
@needs_data
def test_31_encrypted_scanned_and_typed_by_content(tmp_path: Path) -> None:
    encrypted = read_file(DATA / "pdf/jabref-encrypted.pdf", "corpus:a")
    assert encrypted.state == "unsupported" and "password" in encrypted.detail
    scanned = read_file(DATA / "pdf/jabref-scanned-image-only.pdf", "corpus:b")
    assert scanned.state == "empty" and "scanned" in scanned.detail
    raw = (DATA / "pdf/sample-files-multicolumn.pdf").read_bytes()
    page = read_bytes(raw, "corpus:c", name="download")
    assert page.state == "ok" and len(page.page_starts) == 3
    assert "\ufffe" not in page.text and "consectetuer" in page.text
    assert page.text[page.page_starts[1] :].strip() != page.text.strip()


@data
@needs_data
def test_31_a_cut_pdf_is_a_state(tmp_path: Path) -> None:
    raw = (DATA / "pdf/sample-files-pdflatex-4-pages.pdf").read_bytes()
    for keep in (20, 500, len(raw) // 2, len(raw) - 200):
        page = read_bytes(raw[:keep], "corpus:a", name="a.pdf")
        assert page.state in ("ok", "error", "empty")
        assert page.state == "ok" or page.detail


def test_31_one_bad_page_does_not_lose_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    class Document:
        def __len__(self) -> int:
            return 4

        def get_metadata_value(self, name: str) -> str:
            return "report_final.docx"

        def __getitem__(self, number: int) -> "Leaf":
            if number == 2:
                raise ValueError("page tree is damaged")
            return Leaf(number)

    class Leaf:
        def __init__(self, number: int) -> None:
            self.number = number

        def get_textpage(self) -> "Leaf":
            return self

        def get_text_range(self) -> str:
            return f"Text of page {self.number + 1} goes exam\ufffe\r\nple."

        def close(self) -> None:
            pass

    page = pdf_reading._collect(Document(), "corpus:a")
    assert page.state == "ok" and page.title == ""
    assert "unreadable pages: 3" in page.detail
    assert page.text.count("example.") == 3
    assert page.text[page.page_starts[3] :].startswith("Text of page 4")


@data
@needs_data
def test_html_quality_does_not_fall() -> None:
    folder = DATA / "html/article-bench-a"
    items = json.loads((folder / "ground_truth.json").read_text("utf-8"))["items"]
    names = sorted(items)[::4]
    total = 0.0
    for name in names:
        raw = gzip.decompress((folder / f"{name}.html.gz").read_bytes())
        got = set(read_bytes(raw, "u", name="a.html").text.split())
        gold = set((items[name].get("text") or items[name]["articleBody"]).split())
        total += 2 * len(got & gold) / max(1, len(got) + len(gold))
    assert total / len(names) >= 0.9
