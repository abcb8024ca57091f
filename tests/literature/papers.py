"""Papers made for tests."""

from __future__ import annotations

from typing import Any

from omh_research.literature.record import Paper, paper_of
from omh_research.providers.academic.record import Record


def made(**fields: Any) -> Paper:
    """A paper as one hit gives it."""
    record = Record(
        **{
            "provider": "openalex",
            "provider_record_id": "W1",
            "title": "A study of copper",
            "authors": ("Anna Casey",),
            "year": 2020,
            "url": "https://openalex.org/W1",
            **fields,
        }
    )
    return paper_of(
        record, query_id="q01", rank=1, provider="openalex", seen_at="2026-01-01T00:00:00Z"
    )


HARD = [
    made(
        title="100% of R&D in $5_markets: #1 {unbalanced, 50~60 ^2 \\alpha C:\\x",
        authors=("Anna van der Berg", "WHO Group for the Study of Copper", "王伟", "O’Neil, Mary-Jane", "Plato"),
        doi="10.1002/(sici)1097-0258(19980815)17:15<1661::aid-sim968>3.0.co;2-2",
        abstract="Two lines.\nER  - \nTY  - BOOK and 50% more, \"quoted\" @article{x}",
        venue="Journal of A & B", published_date="2020-03-28", publication_type="article",
        arxiv="2001.00001", pmid="123", openalex="W1", semantic_scholar="ab12", language="en",
    ),
    made(title="深度学习综述", authors=("李明",), doi="10.1000/zh", venue="计算机学报", publication_type="journal-article"),
    made(title="On α and β", authors=("José Ñandú", "Ærø Ødegård"), year=None, publication_type="book-chapter", venue="Buch"),
    made(title="A preprint", authors=(), publication_type="preprint", is_preprint=True, venue="arXiv"),
    made(title="A study of copper"), made(title="A study of copper"),
    made(title="Thesis", publication_type="dissertation", authors=("Jane Doe and Sons Ltd",)),
    made(title="Data", publication_type="dataset", published_date="2019", year=2020),
    made(title="Conf", publication_type="proceedings-article", venue="Proc. of X", authors=("A. B. Smith Jr",)),
]  # fmt: skip
