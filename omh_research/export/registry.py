"""Exports by name (spec O6). Refuses to import one before it is asked for. Importers: cli."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from omh_research.errors import UsageError
from omh_research.export.view import ReportView

FORMS: dict[str, tuple[str, str]] = {
    "html": ("html_form:to_html", ".html"),
    "json": ("json_form:to_json", ".json"),
    "docx": ("docx_form:to_docx", ".docx"),
    "pdf": ("pdf_form:to_pdf", ".pdf"),
    "bibtex": ("bibliography:to_bibtex", ".bib"),
    "ris": ("bibliography:to_ris", ".ris"),
    "csl-json": ("bibliography:to_csl", ".csl.json"),
}
FOLDER_FORMS = ("auto-deep-research",)
NAMES = (*FORMS, *FOLDER_FORMS)


def check_form(form: str) -> None:
    """Raise UsageError unless `form` is one of NAMES."""
    if form not in NAMES:
        raise UsageError(f"There is no export {form!r}.", hint=f"Known: {', '.join(NAMES)}.")


def render(view: ReportView, form: str) -> bytes:
    """Return a report in one form, as the bytes of its file.

    Raises:
        UsageError: no such form. PrerequisiteError: what the form needs is not installed.
    """
    if form not in FORMS:
        raise UsageError(f"There is no export {form!r}.", hint=f"Known: {', '.join(NAMES)}.")
    module, _, name = FORMS[form][0].partition(":")
    function = getattr(import_module(f"omh_research.export.{module}"), name)
    made = cast(Callable[[ReportView], str | bytes], function)(view)
    return made.encode("utf-8") if isinstance(made, str) else made
