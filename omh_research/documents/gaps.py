"""Gaps: what research has not answered yet.

Job: read the bullets of a GAPS section and merge those of several findings (spec E23). Refuses to
judge whether a gap matters. Importers: documents, phases, delegates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from omh_research.documents.answer_text import after_bullet
from omh_research.lazy_re import lazy_re
from omh_research.unicode_form import unicode_form

_BULLET = lazy_re(r"\s*(?:[-*+•·▪◦–—]|\(?\d{1,3}[.)、）]|\[[ xX]?\])\s+")
_NONE = """
none|no|nil|null|n/a|na|not applicable|nothing|no gaps|no gap|none found|none identified
none remaining|none noted|none known|no known gaps|no gaps found|no gaps identified|no gaps remain
no gaps remaining|no remaining gaps|no significant gaps|no significant gaps found|no open gaps
no significant gaps identified|no major gaps|no major gaps identified|no material gaps
no further gaps|nothing to report|nothing missing|no unanswered questions|no open questions
all queries answered
all queries were answered|all questions answered|empty|none significant|no critical gaps
无|無|没有|沒有|暂无|暫無|无缺口|無缺口|没有缺口|无明显缺口|无重大缺口|无遗漏|未发现缺口|未发现明显缺口
暂无缺口|无空白|没有空白|不适用|无。|没有明显缺口|無明顯缺口
keine|keiner|keines|nichts|keine lücken|keine bekannt|keine offenen fragen|entfällt
keine wesentlichen lücken|aucun|aucune|aucune lacune|rien|sans objet|néant|ninguno|ninguna|nada
ninguna laguna|sin lagunas|no aplica|nessuno|nessuna|nessuna lacuna|niente|nenhum|nenhuma
nenhuma lacuna
sem lacunas|não há|geen|niets|ingen|inga|ei ole|ei mitään|brak|žádné|nincs|yok|tidak ada|không có
なし|無し|特になし|特に無し|該当なし|ありません|特にありません|없음|없습니다|해당 없음|特段なし
нет|отсутствуют|пробелов нет|нет пробелов|немає|لا يوجد|لا توجد|لا شيء|لا توجد فجوات|אין|कोई नहीं|ไม่มี
καμία|κανένα|δεν υπάρχουν
"""
# A remark after "none" that takes it back.
_TAKEN_BACK = lazy_re(
    r"\b(?:except|but|however|beyond|other than|apart|besides|although|though|yet|still|only|unless"
    r"|aber|außer|jedoch|mais|sauf|cependant|pero|salvo|excepto|ma|tranne|mas|exceto|но|кроме)\b"
    r"|但|除|不过|然而|只是|ただし|しかし|다만|لكن|باستثناء"
)
_REMARK = lazy_re(r"\s*(?:[.。;；:：(（,，—–!！]|\s-\s)")
_OUTER = " \t*_`\"'“”‘’()（）[]【】<>.。,，;；:：-–—!！·•"


def is_none(text: str) -> bool:
    """Return whether `text` says, in any usual wording or language, that there is no gap (E23)."""
    folded = " ".join(unicode_form("NFKC", text).casefold().split()).strip(_OUTER)
    if not folded or folded in _none_words():
        return True
    head = _REMARK.split(folded, maxsplit=1)[0].strip(_OUTER)
    remark = folded[len(head) :]
    return head in _none_words() and not _TAKEN_BACK.search(remark) and "?" not in remark


def read_gaps(section: str) -> tuple[str, ...]:
    """Return the gaps a GAPS section lists, in order, without those that say "none".

    A bullet's continuation lines belong to it; without bullets every line is a gap. A paragraph
    after the list, or after "none", is the answer's farewell and no gap.
    """
    entries: list[str] = []
    bulleted = any(after_bullet(line, _BULLET) for line in section.split("\n"))
    is_after_blank = False
    for line in section.split("\n"):
        text = line.strip()
        if not text or text.startswith(("|--", "|:-", "---", "***")):
            is_after_blank = is_after_blank or not text
            continue
        begin = after_bullet(line, _BULLET)
        if begin:
            entries.append(line[begin:].strip())
        elif _is_farewell(line, entries, bulleted, is_after_blank):
            continue  # until the next bullet
        elif not bulleted or not entries:
            entries.append(text.lstrip("#").strip())
        elif not text.startswith("#"):
            entries[-1] = f"{entries[-1]} {text}"
        is_after_blank = False
    return tuple(entry for entry in entries if not is_none(entry))


def _is_farewell(line: str, entries: list[str], bulleted: bool, is_after_blank: bool) -> bool:
    """True for what stands behind a blank line and belongs to no gap before it."""
    if not entries or not is_after_blank or line[:1].isspace():
        return False
    return bulleted or is_none(entries[0])


def merge_gaps(lists: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """Return all gaps in order without literal repeats (trimmed, case-insensitive; E23)."""
    merged: dict[str, str] = {}
    for gaps in lists:
        for gap in gaps:
            text = gap.strip()
            if not is_none(text):
                merged.setdefault(text.casefold(), text)
    return tuple(merged.values())


@cache
def _none_words() -> frozenset[str]:
    words = re.split(r"[|\n]", _NONE)
    return frozenset(unicode_form("NFKC", word).casefold().strip(_OUTER) for word in words)
