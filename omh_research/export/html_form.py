"""A report as one self-contained HTML file (spec O6).

Job: contents, citations that show source, quote and check status on hover, on focus and in a side
panel, evidence table; print, dark, phone, right to left; no remote request, hostile text inert.
Refuses raw HTML of the report. Importers: export.registry.
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any

from omh_research.errors import PrerequisiteError
from omh_research.export.view import ReportView
from omh_research.lazy_re import lazy_re
from omh_research.tools.references import find_markers

_TAG = lazy_re(r"(<[^>]*>)")
_HEADING = lazy_re(r"<h([1-6])>(.*?)</h\1>", re.DOTALL)
_STRIP = lazy_re(r"<[^>]+>")
_TAGS = {
    "h1", "h2", "h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "blockquote", "code", "pre", "em",
    "strong", "del", "table", "thead", "tbody", "tr", "th", "td", "hr", "br", "a",
}  # fmt: skip
_HINT = "Install it: pip install 'omh-research[report]'."


def to_html(view: ReportView) -> str:
    """Return the HTML file's text.

    Raises:
        PrerequisiteError: the extra `report` is not installed.
    """
    try:
        from jinja2 import Environment
        from markdown_it import MarkdownIt
        from nh3 import clean
    except ModuleNotFoundError as error:
        raise PrerequisiteError(f"The HTML export needs {error.name}.", hint=_HINT) from error
    markdown = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(
        ["table", "strikethrough"]
    )
    rendered = clean(
        markdown.render(view.flowing_body),
        tags=_TAGS,
        attributes={"a": {"href"}},
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )
    numbers = {source.n for source in view.sources}
    rendered = rendered.replace("<table>", '<div class="wide"><table>')
    rendered = rendered.replace("</table>", "</table></div>")
    body, contents = _with_contents(_with_citations(rendered, numbers))
    template = files("omh_research.export").joinpath("report.html.j2").read_text("utf-8")
    page: str = (
        Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
        .from_string(template)
        .render(
            view=view,
            body=_safe(body),
            contents=contents,
            direction="rtl" if view.is_right_to_left else "ltr",
            rows=[(source, quote) for source in view.sources for quote in source.quotes],
        )
    )
    return page


def _safe(html: str) -> Any:
    from markupsafe import Markup

    return Markup(html)


def _with_citations(html: str, numbers: set[int]) -> str:
    """Turn the markers of text nodes into links to the source; code and links are left alone."""
    parts = _TAG.split(html)
    depth = 0
    for index, part in enumerate(parts):
        if part.startswith("<"):
            if re.match(r"<(?:code|pre|a)\b", part):
                depth += 1
            elif re.match(r"</(?:code|pre|a)>", part):
                depth -= 1
        elif depth == 0 and part:
            parts[index] = _linked(part, numbers)
    return "".join(parts)


def _linked(text: str, numbers: set[int]) -> str:
    for marker in reversed(find_markers(text)):
        if not set(marker.numbers) & numbers:
            continue
        links = ", ".join(
            f'<a class="cite" href="#source-{n}" data-n="{n}">{n}</a>' if n in numbers else str(n)
            for n in marker.numbers
        )
        text = f'{text[: marker.start]}<bdi dir="ltr">[{links}]</bdi>{text[marker.end :]}'
    return text


def _with_contents(html: str) -> tuple[str, list[tuple[int, str, str]]]:
    """Give every heading an id; return the HTML and (level, id, text) of each."""
    contents: list[tuple[int, str, str]] = []

    def name(match: re.Match[str]) -> str:
        import html as entities

        level, inner = int(match[1]), match[2]
        anchor = f"part-{len(contents) + 1}"
        contents.append((level, anchor, entities.unescape(_STRIP.sub("", inner)).strip()))
        return f'<h{level} id="{anchor}">{inner}</h{level}>'

    return _HEADING.sub(name, html), contents
