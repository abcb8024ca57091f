"""Rules about what a Sources entry says of its source: title, type and date are copies.

Job: compare an entry with the findings' entries and the held texts of the same work (spec D5b,
E28; complaint 23): an invented title, tag or date is none of theirs. Lenient in case, white
space, marks, a subtitle cut off and a date given more coarsely. Refuses to compare addresses (see
`sources`). Importers: tools.gate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from omh_research.documents.report import fold_title
from omh_research.documents.source_lines import CREDIBILITY_TAGS
from omh_research.lazy_re import lazy_re
from omh_research.tools.gate.contract import Failure
from omh_research.tools.gate.sources import Sources
from omh_research.tools.source_list import SourceEntry
from omh_research.tools.tokens import content_tokens, detect_language

# An entry may add author or journal to a title if the page names them at its head.
_HEAD_CHARS = 3_000
_KNOWN_SHARE = 0.6
_NUMBER = lazy_re(r"\d+")
_ACCESSED = lazy_re(r"access|retriev|abgerufen|consult|visited|访问|閲覧", re.IGNORECASE)


def check_entries(entries: tuple[SourceEntry, ...], sources: Sources) -> Iterator[Failure]:
    """Yield what an entry says of its source that neither a finding nor the page says."""
    for entry in entries:
        if not entry.url or not sources.is_declared(entry.url):
            continue
        where = f"Sources [{entry.n}]"
        if said := _invented_title(entry, sources):
            message = f"the title is not that of the findings ({said[:120]}); copy it."
            yield Failure("title_not_in_findings", where, message)
        declared = sources.declared_of(entry.url)
        tags = {s.credibility.casefold() for s in declared} & set(CREDIBILITY_TAGS)
        tag = entry.credibility.casefold()
        if tags and tag in CREDIBILITY_TAGS and tag not in tags:
            message = f"the findings call this source {' or '.join(sorted(tags))}, not {tag}."
            yield Failure("type_not_in_findings", where, message)
        dates = [s.date for s in declared] + [t.date for t in sources.texts_of(entry.url)]
        if _is_invented_date(entry.date, [date for date in dates if _NUMBER.search(date)]):
            message = f"the findings date this source {dates[0] or dates[-1]}, not {entry.date}."
            yield Failure("date_not_in_findings", where, message)


def _invented_title(entry: SourceEntry, sources: Sources) -> str:
    """Return the title the run knows, if the entry's is another one."""
    own = [title for title in sources.titles_of(entry.url) if fold_title(title)]
    folded = fold_title(entry.title)
    if not own or not folded or any(_is_cut(folded, fold_title(title)) for title in own):
        return ""
    texts = sources.texts_of(entry.url)
    if all(detect_language(title) != detect_language(entry.title) for title in own) and not texts:
        return ""  # translated
    said = " ".join([*own, entry.url, *(f"{t.publisher} {t.text[:_HEAD_CHARS]}" for t in texts)])
    digits = set(_NUMBER.findall(entry.title)) - set(_NUMBER.findall(f"{said} {entry.date}"))
    tokens, known = set(content_tokens(entry.title)), set(content_tokens(said))
    near = set(content_tokens(" ".join(own)))
    is_near = not near or not tokens or bool(tokens & near)
    if digits or not is_near or len(tokens & known) < _KNOWN_SHARE * len(tokens):
        return own[0]
    return ""


def _is_cut(one: str, other: str) -> bool:
    """Return whether two folded titles are one, or one is the other with its end cut off."""
    short, long = sorted((one, other), key=len)
    return one == other or (one == short and len(short) >= 4 and short in long)


def _is_invented_date(date: str, known: list[str]) -> bool:
    """Return whether a date has a number that none of the known dates has."""
    numbers = {int(n) for n in _NUMBER.findall(date)}
    if not numbers or not known or _ACCESSED.search(date):
        return False
    for other in known:
        given = {int(n) for n in _NUMBER.findall(other)}
        if numbers <= given | {n % 100 for n in given}:  # "04/03/21"
            return False
    return True
