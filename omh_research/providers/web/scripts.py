"""Which language a script settles.

Job: tell the language of a page or a query by its letters where they leave no doubt. Refuses to
guess among the languages of one script. Importers: providers.web.
"""

from __future__ import annotations

from omh_research.lazy_re import lazy_re

SCRIPTS = (
    ("ja", lazy_re(r"[\u3040-\u30ff]")),
    ("ko", lazy_re(r"[\uac00-\ud7af]")),
    ("zh", lazy_re(r"[\u3400-\u9fff]")),
    ("ar", lazy_re(r"[\u0600-\u06ff]")),
    ("he", lazy_re(r"[\u0590-\u05ff]")),
    ("hi", lazy_re(r"[\u0900-\u097f]")),
    ("th", lazy_re(r"[\u0e00-\u0e7f]")),
    ("el", lazy_re(r"[\u0370-\u03ff]")),
)
_CYRILLIC = ("ru", lazy_re(r"[\u0400-\u04ff]"))
_SAMPLE_CHARS = 2_000
_GREEK_LETTERS = 3  # fewer are signs of mathematics and physics


def language_of_script(text: str) -> str:
    """Return the language that a text's script settles alone, "" for Latin and Cyrillic ones.

    A page that declares no language is only given one that its letters leave no doubt about.
    """
    sample = text[:_SAMPLE_CHARS]
    letters = sum(1 for char in sample if char.isalpha())
    for code, script in SCRIPTS:
        share = 0.05 if code == "ja" else 0.3
        if letters and len(script.findall(sample)) > share * letters:
            return code
    return ""


def language_of_query(query: str) -> str:
    """Return the language whose script some of a query is in; "en" for Latin letters alone."""
    for code, script in (*SCRIPTS, _CYRILLIC):
        if len(script.findall(query)) >= (_GREEK_LETTERS if code == "el" else 1):
            return code
    return "en"
