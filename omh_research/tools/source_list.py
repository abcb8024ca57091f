"""The Sources list of a report: where it stands and what it lists.

Job: find the list, under a heading in any usual language or at the end without one, and read its
entries, numbered or not (`[1]`, `1.`, `[^1]:`, `【1】`, table rows, entries over several lines).
Refuses to read citations in running text (see `references`) and to judge. Importers: tools,
phases, literature, cli.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache, lru_cache

from msgspec import Struct

from omh_research.documents.source_lines import parse_source_line
from omh_research.lazy_re import lazy_re
from omh_research.unicode_form import unicode_form


class SourceEntry(Struct, frozen=True):
    """One listed source. `n` is 0 when the entry carries no number; `url` may be "".

    `credibility` is the tag as written, `date` as written, both "" when not given.
    """

    n: int
    title: str
    url: str
    credibility: str = ""
    date: str = ""


class SourceSection(Struct, frozen=True):
    """Where a report's list stands (character offsets) and its entries in order."""

    start: int
    end: int
    entries: tuple[SourceEntry, ...]


_NAMES = """
sources|references|bibliography|works cited|citations|footnotes|endnotes|reference list
来源|來源|参考文献|參考文獻|参考资料|參考資料|资料来源|資料來源|信息来源|数据来源|引用来源|参考来源|參考來源
参考链接|引用文献|引用|文献|出典|情報源|参考|参照|ソース|참고문헌|참고 문헌|참고 자료|참고자료|출처
quellen|quellenverzeichnis|literatur|literaturverzeichnis|referenzen|einzelnachweise|belege
références|bibliographie|fuentes|referencias|bibliografía|fontes|referências|bibliografia|fonti
riferimenti|bronnen|referenties|bronvermelding|źródła|kaynaklar|kaynakça|nguồn|tài liệu tham khảo
sumber|referensi|daftar pustaka|källor|kilder|lähteet|zdroje|πηγές|джерела|источники|литература
список литературы|ссылки|المصادر|المراجع|قائمة المصادر|قائمة المراجع|منابع|מקורות|स्रोत|संदर्भ
แหล่งอ้างอิง|แหล่งที่มา
"""
_HEADING = lazy_re(r"[ ]{0,3}(#{1,6})[ \t]*(.{1,200})")
_BOLD_LINE = lazy_re(r"[ ]{0,3}(?:\*\*|__)(.{1,80}?)(?:\*\*|__)[ \t]*[:：]?[ \t]*")
_PLAIN_LINE = lazy_re(r"[ ]{0,3}([^\W\d_][^\n.。|]{0,60}?)[ \t]*[:：][ \t]*")
_ENTRY = lazy_re(
    r"[ \t]{0,8}(?:[-*+•][ \t]+)?(?:\d{1,3}[.)][ \t]+(?=\[\d{1,3}\][^(]))?(?:\*\*|__)?(?:"
    r"\\?[\[【［〔]\^?(?P<a>\d{1,4})\\?[\]】］〕](?!\()|(?P<b>\d{1,3})(?:[.)][ \t]|[、．）])"
    r"|[(（](?P<c>\d{1,3})[)）](?=\s)|(?P<d>[¹²³⁰⁴-⁹]{1,3})[ \t])"
)
_LINKED_NUMBER = lazy_re(
    r"[ \t]{0,8}(?:[-*+•][ \t]+)?\[\[?(\d{1,4})\]?\]\((https?://[^\s)]+)\)(.*)"
)
_ROW = lazy_re(r"[ \t]{0,4}\|[ \t]*(?:\*\*)?\[?\^?(\d{1,3})\]?(?:\*\*)?[ \t]*\|(.*)")
_BULLET = lazy_re(r"[ \t]{0,8}[-*+•][ \t]+(?=\S)")
_HAS_URL = lazy_re(r"(?i)https?://|www\.|doi\s*:|\b10\.\d{4,9}/|arxiv")
_RULE = lazy_re(r"[ ]{0,3}(?:-{3,}|\*{3,}|_{3,})[ \t]*")
_MAX_ENTRY_CHARS = 3_000


def find_source_sections(report: str) -> list[SourceSection]:
    """Return the Sources lists of `report`, the chief one first; [] when it has none.

    The chief one has most numbered entries with an address, the later one on a tie. Without a
    heading, numbered lines with addresses at the end of the report are the list.
    """
    lines = _lines(report)
    levels = [_source_heading(line) for _, line in lines]
    sections = []
    for index, level in enumerate(levels):
        if level == 0:
            continue
        last = _section_end(lines, levels, index + 1, level)
        end = lines[last][0] if last < len(lines) else len(report)
        entries = read_entries(line for _, line in lines[index + 1 : last])
        if entries:
            sections.append(SourceSection(lines[index][0], end, entries))
    sections.sort(key=lambda section: (_weight(section.entries), section.start), reverse=True)
    if not sections or not any(entry.n for entry in sections[0].entries):
        trailing = _trailing_list(report, lines)
        sections[:0] = [trailing] if trailing else []
    return sections


def parse_sources(report_text: str) -> list[SourceEntry]:
    """Return the listed sources of a report, in order; [] when there are none.

    A report may list its sources section by section: numbered entries of the other lists are
    added where the chief one lacks their number.
    """
    sections = find_source_sections(report_text)
    if not sections:
        return []
    entries = list(sections[0].entries)
    numbers = {entry.n for entry in entries}
    if numbers != {0}:
        for section in sorted(sections[1:], key=lambda section: section.start):
            for entry in section.entries:
                if entry.n and entry.url and entry.n not in numbers:
                    numbers.add(entry.n)
                    entries.append(entry)
    return entries


def read_entries(lines: Iterable[str]) -> tuple[SourceEntry, ...]:
    """Return the entries among `lines` (an iterable of text lines).

    An entry may run over several lines. Bullets without number count only where no entry is
    numbered, and only with an address.
    """
    blocks: list[tuple[int, list[str]]] = []
    is_open = False
    for line in lines:
        number = _entry_number(line)
        if number is not None:
            blocks.append((number, [line]))
            is_open = True
        elif not line.strip() or _RULE.fullmatch(line) or _HEADING.fullmatch(line):
            is_open = is_open and not line.strip() and not _HAS_URL.search(blocks[-1][1][-1])
        elif _BULLET.match(line) and (not is_open or not line.startswith((" ", "\t"))):
            blocks.append((0, [line]))
            is_open = True
        elif is_open and sum(map(len, blocks[-1][1])) < _MAX_ENTRY_CHARS:
            blocks[-1][1].append(line)
        elif _HAS_URL.match(line.strip()):
            blocks.append((0, [line]))
    if any(number for number, _ in blocks):
        blocks = [block for block in blocks if block[0]]
    read = (_entry(number, block) for number, block in blocks)
    entries = [entry for entry in read if entry is not None]
    times = Counter(entry.n for entry in entries)
    located = {entry.n for entry in entries if entry.url}
    # A short list in prose before the full one repeats its numbers without addresses.
    return tuple(e for e in entries if e.url or times[e.n] == 1 or e.n not in located)


def _entry_number(line: str) -> int | None:
    match = _ENTRY.match(line)
    if match:
        digits = match["a"] or match["b"] or match["c"]
        return int(digits or unicode_form("NFKC", match["d"]))
    linked = _LINKED_NUMBER.match(line) or _ROW.match(line)
    return int(linked[1]) if linked else None


def _entry(number: int, block: list[str]) -> SourceEntry | None:
    """Read one entry; without a number it must have an address to be one."""
    linked = _LINKED_NUMBER.match(block[0])
    if linked:
        title = linked[3].strip(" \t:：-–—.*_")
        return SourceEntry(number, title, linked[2])
    text = " ".join(part.strip() for part in block)
    row = _ROW.match(text)
    match = _ENTRY.match(text)
    rest = text[match.end() :] if match else _BULLET.sub("", text)
    rest = rest.strip().lstrip("*_:：.、 \t")
    source = parse_source_line(text if row else f"[{number or 1}] {rest}")
    if source is not None:
        after = rest.partition(source.url)[2].strip(" \t:：-–—|·>)*_")
        if not source.title and len(after) > 12 and not row:
            return SourceEntry(number, after, source.url, "", source.date)
        tag = source.credibility if re.search(r"\w", source.credibility) else ""
        return SourceEntry(number, source.title, source.url, tag, source.date)
    if not number:
        return None
    title = row[2].strip(" |") if row else rest
    return SourceEntry(number, title.strip(" *_"), "")


def _lines(text: str) -> list[tuple[int, str]]:
    """Return (offset, line without its end) of each line outside fenced code."""
    found, at, fence = [], 0, ""
    for line in text.split("\n"):
        mark = line.lstrip()[:3]
        if fence:
            fence = "" if mark == fence else fence
        elif mark in ("```", "~~~"):
            fence = mark
        else:
            found.append((at, line.rstrip("\r")))
        at += len(line) + 1
    return found


def _source_heading(line: str) -> int:
    """Return the heading's level (7: bold or plain line) if it names a list of sources, else 0."""
    if not line or len(line) > 220 or line[0] in "[|-":
        return 0
    heading = _HEADING.fullmatch(line)
    other = None if heading else _BOLD_LINE.fullmatch(line) or _PLAIN_LINE.fullmatch(line)
    name = heading[2] if heading else other[1] if other else line if len(line) < 40 else ""
    if not name or not _names_sources(name):
        return 0
    return len(heading[1]) if heading else 7


@cache
def _names() -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the names of such lists, and those in scripts without spaces (found anywhere)."""
    names = frozenset(_NAMES.strip().replace("\n", "|").split("|"))
    return names, tuple(name for name in names if name[0] > "\u3000" and len(name) > 2)


@lru_cache(maxsize=4_096)
def _names_sources(name: str) -> bool:
    words = re.sub(r"[\W\d_]+", " ", unicode_form("NFKC", name).casefold()).strip()
    words = re.sub(r"^[ivxlc]{1,4} (?=\w)", "", words)
    names, phrases = _names()
    if words in names:
        return True
    if len(words) > 40 or words.count(" ") > 4:
        return False
    first, last = words.split(" ")[0], words.split(" ")[-1]
    return (
        any(part in words for part in phrases)
        or first in names
        or (last in names and words.count(" ") <= 2)
    )


def _section_end(lines: list[tuple[int, str]], levels: list[int], index: int, level: int) -> int:
    """Return the index of the line that ends a section of `level` begun before `index`.

    The next list of sources ends it too, which keeps the whole reading linear.
    """
    while index < len(lines) and not levels[index]:
        heading = _HEADING.fullmatch(lines[index][1])
        if heading and len(heading[1]) <= level:
            return index
        index += 1
    return index


def _weight(entries: tuple[SourceEntry, ...]) -> tuple[int, int, int]:
    """Order lists: numbered entries with an address, then addresses, then numbered entries."""
    located = [entry for entry in entries if entry.url]
    numbered = sum(1 for entry in located if entry.n)
    return numbered, len(located), sum(1 for entry in entries if entry.n)


def _trailing_list(report: str, lines: list[tuple[int, str]]) -> SourceSection | None:
    """Return numbered lines with addresses at the end of a report that has no heading for them."""
    index, first = len(lines), None
    while index > 0:
        line = lines[index - 1][1]
        match = _ENTRY.match(line)
        if match and match["a"] and _HAS_URL.search(line):
            first = index - 1
        elif line.strip() and not _HAS_URL.match(line.strip()):
            break
        index -= 1
    if first is None:
        return None
    entries = read_entries(line for _, line in lines[first:])
    return SourceSection(lines[first][0], len(report), entries) if len(entries) > 1 else None
