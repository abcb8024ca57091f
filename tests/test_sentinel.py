"""The sentinel other programs poll: `status: confirmed`, exactly so, or not at all (E34, E26)."""

from __future__ import annotations

import os
from pathlib import Path

import frontmatter as python_frontmatter
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from omh_research.documents import frontmatter
from omh_research.errors import DamagedFileError
from omh_research.sentinel import HEAD_BYTES, is_confirmed, read_status, status_of

SLUG = "tides-20261130-ab12"
OURS = frontmatter.render({"status": "draft", "topic": "Tides", "slug": SLUG}, "# Tides\n")


def confirmed(text: str = OURS) -> str:
    return frontmatter.set_status(text, "confirmed")


def test_what_we_write_is_read() -> None:
    """E34: the line reads exactly so, unquoted, in the first block; draft likewise."""
    assert OURS.split("\n")[1] == "status: draft"
    assert confirmed().split("\n")[1] == "status: confirmed"
    assert (status_of(OURS.encode()), status_of(confirmed().encode())) == ("draft", "confirmed")


NEVER = {
    "empty": b"",
    "no block": b"status: confirmed\n",
    "not closed": b"---\nstatus: confirmed\n# Report\n",
    "closed too late": b"---\nstatus: confirmed\n" + b"x: y\n" * 20_000 + b"---\n",
    "quoted": b'---\nstatus: "confirmed"\n---\n',
    "quoted once": b"---\nstatus: 'confirmed'\n---\n",
    "quoted key": b'---\n"status": confirmed\n---\n',
    "two lines": b"---\nstatus: draft\nstatus: confirmed\n---\n",
    "two lines turned": b"---\nstatus: confirmed\nstatus: draft\n---\n",
    "twice the same": b"---\nstatus: confirmed\nstatus: confirmed\n---\n",
    "a quoted second": b'---\nstatus: confirmed\n"status": draft\n---\n',
    "later block": b"---\nstatus: draft\n---\n\n---\nstatus: confirmed\n---\n",
    "in the body": b"---\nstatus: draft\n---\n\nstatus: confirmed\n",
    "blank before": b"\n---\nstatus: confirmed\n---\n",
    "byte order mark": b"\xef\xbb\xbf---\nstatus: confirmed\n---\n",
    "indented": b"---\nmeta:\n  status: confirmed\n---\n",
    "in a block scalar": b"---\nnote: |\n  status: confirmed\n---\n",
    "no space": b"---\nstatus:confirmed\n---\n",
    "two spaces": b"---\nstatus:  confirmed\n---\n",
    "space before the colon": b"---\nstatus : confirmed\n---\n",
    "trailing space": b"---\nstatus: confirmed \n---\n",
    "comment": b"---\nstatus: confirmed # by me\n---\n",
    "upper case": b"---\nstatus: Confirmed\n---\n",
    "key in capitals": b"---\nSTATUS: confirmed\n---\n",
    "prefix": b"---\nstatus: confirmed-not\n---\n",
    "a list": b"---\nstatus: [confirmed]\n---\n",
    "anchor": b"---\nstatus: &a confirmed\n---\n",
    "tag": b"---\nstatus: !!str confirmed\n---\n",
    "merge": b"---\nx: &a {status: confirmed}\n<<: *a\n---\n",
    "flow": b"---\n{status: confirmed}\n---\n",
    "NULs": b"\0" * 500,
    "UTF-16": "---\nstatus: confirmed\n---\n".encode("utf-16"),
    "old Mac line ends": b"---\rstatus: confirmed\r---\r",
    "a dash more": b"----\nstatus: confirmed\n----\n",
    "nothing": b"---\nstatus:\n---\n",
    "next line": b"---\nstatus:\n  confirmed\n---\n",
    "Cyrillic o": "---\nstatus: c\u043enfirmed\n---\n".encode(),
    "control": b"---\nstatus: confirmed\x00\n---\n",
}


@pytest.mark.parametrize("name", sorted(NEVER))
def test_nothing_else_is_confirmed(name: str) -> None:
    """E34, 81 section 4: in doubt not; never by accident."""
    assert status_of(NEVER[name]) != "confirmed"


def test_windows_line_ends_are_the_same_line() -> None:
    """E34: a checkout that turned LF to CRLF is still the report that we wrote."""
    assert status_of(confirmed().replace("\n", "\r\n").encode()) == "confirmed"


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200))
def test_no_body_confirms_a_draft(body: str) -> None:
    """E26, E34: whatever a model returned."""
    text = frontmatter.render({"status": "draft", "topic": body[:50], "slug": SLUG}, body)
    assert status_of(text.encode("utf-8", "replace")) == "draft"


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from((
    "---", "status: confirmed", "status: draft", "", " status: confirmed", "status:", "x: |",
    "  status: confirmed", "...", '"status": confirmed', "# c", "a: b", "- status: confirmed",
)), max_size=8))  # fmt: skip
def test_we_never_say_confirmed_where_the_strict_reader_does_not(lines: list[str]) -> None:
    """81 section 4: the fast reader of the head is no laxer than the full one."""
    text = "\n".join(lines) + "\n"
    if status_of(text.encode()) != "confirmed":
        return
    try:
        meta, _ = frontmatter.parse(text, where="r")
    except DamagedFileError:
        return  # a block with more faults than the head shows; `audit` names them
    assert meta["status"] == "confirmed"
    assert python_frontmatter.loads(text).metadata["status"] == "confirmed"


def put(root: Path, data: bytes, slug: str = SLUG) -> Path:
    folder = root / ".omh" / "research"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{slug}-report.md"
    path.write_bytes(data)
    return path


def test_polling_reads_the_head_only(tmp_path: Path) -> None:
    path = put(tmp_path, confirmed().encode() + b"x" * 5_000_000)
    assert is_confirmed(str(tmp_path), SLUG)
    path.write_bytes(b"x" * HEAD_BYTES + confirmed().encode())
    assert not is_confirmed(str(tmp_path), SLUG)


@pytest.mark.parametrize("kind", ["fifo", "folder", "link", "dangling", "device"])
def test_what_is_no_file_is_never_confirmed_and_never_hangs(tmp_path: Path, kind: str) -> None:
    """81 section 6."""
    path = put(tmp_path, b"")
    path.unlink()
    outside = tmp_path / "outside.md"
    outside.write_text(confirmed())
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        target = {"link": outside, "dangling": tmp_path / "none", "device": Path("/dev/zero")}[kind]
        path.symlink_to(target)
    assert not is_confirmed(str(tmp_path), SLUG)
    assert read_status(str(path)) in (None, "damaged")


@pytest.mark.parametrize("level", [".omh", ".omh/research"])
def test_no_report_is_read_through_a_linked_folder(tmp_path: Path, level: str) -> None:
    """E7."""
    put(tmp_path, confirmed().encode())
    place = tmp_path / level
    outside = tmp_path / "outside"
    place.rename(outside)
    place.symlink_to(outside)
    assert not is_confirmed(str(tmp_path), SLUG)


@pytest.mark.parametrize(
    "slug", ["", "../x", "a--b", "A", "a\n", "-a", "a-", "a" * 81, "a/b", "..", "ａ", "a.b"]
)
def test_a_name_that_is_no_slug_is_never_confirmed(tmp_path: Path, slug: str) -> None:
    """E7: checked before any path is built."""
    assert not is_confirmed(str(tmp_path), slug)


def test_nothing_there_is_none(tmp_path: Path) -> None:
    assert read_status(str(tmp_path / "none")) is None
    assert read_status(str(put(tmp_path, b"x") / "under-a-file")) is None
