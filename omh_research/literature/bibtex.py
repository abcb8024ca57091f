r"""BibTeX: one entry for each paper (B12).

Job: write UTF-8 BibTeX that any parser reads back with nothing lost. Refuses to abbreviate or to
guess. TeX's special characters are escaped; braces inside a value become \lbrace and \rbrace,
since a lone one would end the value. Importers: literature.export.
"""

from __future__ import annotations

from collections.abc import Sequence

from omh_research.literature.record import Paper
from omh_research.literature.reference_fields import citation_keys, kind_of

_ESCAPES = str.maketrans({
    "\\": r"\textbackslash{}", "{": r"\lbrace{}", "}": r"\rbrace{}", "&": r"\&", "%": r"\%",
    "$": r"\$", "#": r"\#", "_": r"\_", "~": r"\textasciitilde{}", "^": r"\string^",
})  # fmt: skip
# Addresses and identifiers are read as they stand; only what would break the entry is encoded.
_VERBATIM = str.maketrans({"{": "%7B", "}": "%7D", "\\": "%5C"})
_VENUE_FIELD = {
    "article": "journal",
    "inproceedings": "booktitle",
    "incollection": "booktitle",
    "phdthesis": "school",
    "techreport": "institution",
    "book": "publisher",
    "misc": "howpublished",
}


def write_bibtex(papers: Sequence[Paper]) -> str:
    """Return the papers as BibTeX."""
    keys = citation_keys(papers)
    return "".join(_entry(paper, key) for paper, key in zip(papers, keys, strict=True))


def _entry(paper: Paper, key: str) -> str:
    kind = kind_of(paper).bibtex
    ids = paper.identifiers
    fields = [
        ("author", " and ".join(_name(each) for each in paper.authors)),
        ("title", _text(paper.title)),
        (_VENUE_FIELD[kind], _text(paper.venue)),
        ("year", str(paper.year) if paper.year is not None else ""),
        ("date", _text(paper.published_date)),
        ("doi", _verbatim(ids.doi)),
        ("url", _verbatim(paper.url)),
        ("eprint", _verbatim(ids.arxiv)),
        ("archiveprefix", "arXiv" if ids.arxiv else ""),
        ("pmid", _verbatim(ids.pmid)),
        ("openalex", _verbatim(ids.openalex)),
        ("semanticscholar", _verbatim(ids.semantic_scholar)),
        ("language", _text(paper.publication.language)),
        ("abstract", _text(paper.abstract)),
        ("recordid", _verbatim(paper.record_id)),
    ]
    lines = [f"  {name} = {{{value}}}" for name, value in fields if value]
    return f"@{kind}{{{key},\n" + ",\n".join(lines) + "\n}\n\n"


def _text(value: str | None) -> str:
    return " ".join(value.split()).translate(_ESCAPES) if value else ""


def _verbatim(value: str | None) -> str:
    return "".join(value.split()).translate(_VERBATIM) if value else ""


def _name(name: str) -> str:
    """Return an author; braces keep together what BibTeX would split (", ", " and ", "others")."""
    text = _text(name)
    words = text.lower().split()
    is_whole = "and" in words or "others" in words or text.count(",") > 2
    return f"{{{text}}}" if is_whole else text
