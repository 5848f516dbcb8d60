"""Elements of XML and HTML, made by lxml. A name that a document holds stays text in them, whatever characters it has."""

from __future__ import annotations

from typing import TypeAlias

from lxml import etree
from lxml.builder import E

from ov_gather.tables import printable

Element: TypeAlias = etree._Element


def element(tag: str, *children: Element | str, **attributes: str) -> Element:
    """Return an element with children and attributes, of which `class_` stands for class and `aria_label` for aria-label."""
    made: Element = E(
        tag,
        *(_text(child) if isinstance(child, str) else child for child in children),
        **{name.rstrip("_").replace("_", "-"): _text(value) for name, value in attributes.items()},
    )
    return made


def _text(text: str) -> str:
    """XML cannot hold most control characters, and lxml refuses them: they are shown as escapes. Ends of lines stay."""
    return "\n".join(map(printable, text.split("\n")))
