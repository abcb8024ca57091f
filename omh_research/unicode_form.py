"""Unicode normalisation in linear time.

Job: the standard library's normal forms for text of any origin. Putting a run of combining marks
in order takes it quadratic time: 1 MB of alternating accents would take a quarter of an hour. Runs
longer than the 30 marks that UAX 15 calls stream-safe are therefore ordered piece by piece.
Refuses to fold or compare. Importers: everybody.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

MOST_MARKS = 30
_SHORT = 512
_ASCII_BYTES = bytes(range(128))
# Letters by category that become marks in the compatibility forms.
_HIDDEN_MARKS = "\uff9e\uff9f"


def unicode_form(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """Return `text` in a normal form, as `unicodedata.normalize` gives it.

    Only within a run of more than 30 marks, which no language writes, may their order differ.
    """
    if len(text) <= _SHORT or text.isascii():
        return unicodedata.normalize(form, text)
    foreign = text.encode("utf-8", "surrogatepass").translate(None, _ASCII_BYTES)
    marks = "".join(filter(_is_mark, set(foreign.decode("utf-8", "surrogatepass"))))
    if not marks:
        return unicodedata.normalize(form, text)
    pieces: list[str] = []
    start = 0
    for run in re.finditer(f"[{re.escape(marks)}]{{{MOST_MARKS + 1},}}", text):
        for cut in range(run.start() + MOST_MARKS, run.end(), MOST_MARKS):
            pieces.append(unicodedata.normalize(form, text[start:cut]))
            start = cut
    pieces.append(unicodedata.normalize(form, text[start:]))
    return "".join(pieces)


def _is_mark(char: str) -> bool:
    return unicodedata.category(char)[0] == "M" or char in _HIDDEN_MARKS
