"""What an HTML page says but does not show.

Job: tell by an element's name, `hidden` attribute and own style whether a reader of the page sees
its text, and take what is not seen out of a parsed page: hidden text is a way to put words into
quotes that nobody reads (81-reliability, section 7). Refuses to apply style sheets and to guess at
colours; `aria-hidden` is seen. Importers: corpus.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from omh_research.lazy_re import lazy_re

# A page that styles these away shows them as soon as its script runs.
_WHOLE = frozenset(("html", "body", "main", "article"))
# Invisible at first, to be faded in, is common for whole blocks; within a sentence it is a trick.
_INLINE = frozenset(
    ("span", "a", "b", "i", "em", "strong", "font", "small", "u", "s", "sub", "sup", "mark", "q",
     "cite", "code", "abbr", "label", "bdi", "bdo", "del", "ins", "big", "tt", "kbd", "var")
)  # fmt: skip
_HIDING = lazy_re(
    r"(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|content-visibility:hidden"
    r"|(?:left|right|top|bottom|text-indent):-(?:\d{4,}|[5-9]\d\d|\d{3,}r?em)"
    r"|clip:rect\([01](?:px)?,|clip-path:inset\((?:50|100)%)"
)
_TINY = lazy_re(
    r"(?:^|;)(?:font-size:(?:0+(?:\.0*)?(?:[a-z]{1,4}|%)?|1px)(?:!important)?(?:;|$)|font:0+(?:px)?/)"
)
_CLEAR = lazy_re(
    r"(?:^|;)(?:opacity:(?:0+(?:\.0*)?|\.0+)%?|color:transparent)(?:!important)?(?:;|$)"
)
_COMMENT = lazy_re(r"/\*.{0,200}?\*/")
CONTAINERS = ("p", "div", "section", "ul", "ol", "table", "article", "figure")


def hides(tag: str, attributes: Mapping[str, Any], *, is_leaf: bool = True) -> bool:
    """Return whether a page does not show the text of an element (lower-case `tag`).

    `is_leaf` says that no block lies within: type of size nought around blocks only closes the
    gaps between them, and they set their own; a `noscript` around them may lack its end.
    """
    if tag == "template" or (tag == "noscript" and is_leaf):
        return True
    if "hidden" in attributes:
        return tag not in ("html", "body")
    style = attributes.get("style")
    if not style or tag in _WHOLE:
        return False
    style = _COMMENT.sub("", "".join(style.split())).lower()
    if _HIDING.search(style):
        return True
    return (is_leaf and bool(_TINY.search(style))) or (
        tag in _INLINE and bool(_CLEAR.search(style))
    )


def drop_hidden(tree: Any) -> None:
    """Take out of a parsed page (lxml) what it does not show; what follows an element stays."""
    for element in tree.xpath("//*[@hidden or @style or self::template or self::noscript]"):
        is_leaf = next(element.iterdescendants(*CONTAINERS), None) is None
        if hides(element.tag, element.attrib, is_leaf=is_leaf) and element.getparent() is not None:
            element.drop_tree()
