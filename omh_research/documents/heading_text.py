"""What a Markdown heading says.

Job: the text of a heading's line without its closing sequence. Refuses to tell headings from other
lines. Importers: documents, corpus, extractive.
"""

from __future__ import annotations


def heading_text(text: str) -> str:
    """Return what follows a heading's opening mark, without a closing sequence and outer blanks.

    Hashes at the end close the heading only after a space (CommonMark 4.2): `C#` and `F#` are
    names.
    """
    text = text.strip(" \t\r")
    body = text.rstrip("#")
    if body != text and (not body or body[-1] in " \t"):
        return body.rstrip(" \t")
    return text
