"""lxml elements built from names and texts that XML may not allow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from xml.sax.saxutils import quoteattr

from lxml import etree

from ov_gather.ir.errors import Fault, IRError
from ov_gather.system.tables import printable

NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""A character that XML does not allow."""
_NONE: Mapping[str, object] = {}


def legal(text: str) -> str:
    r"""Return the text with the characters that XML does not allow escaped, as in \x1b."""
    return NOT_XML.sub(lambda found: printable(found[0]), text)


def element(
    tag: str, attributes: Mapping[str, object] = _NONE, text: str = "", parent: etree._Element | None = None
) -> etree._Element:
    """Create an element, appended to `parent`. Raises IRError if XML does not allow a name, a value or the text."""
    values = {name: str(value) for name, value in attributes.items()} if attributes else None
    try:
        made = etree.Element(tag, values) if parent is None else etree.SubElement(parent, tag, values)
        if text:
            made.text = text
    except ValueError:
        names = dict(values or {})
        _check((tag, *names, *names.values(), text))
        made = _with_colons(tag, names)
        made.text = text or None
        if parent is not None:
            parent.append(made)
    return made


def _check(texts: Iterable[str]) -> None:
    for text in texts:
        if match := NOT_XML.search(text):
            raise IRError(Fault.SYNTAX, f"the name or text {text[:40]!r} holds {match[0]!r}, which XML cannot hold")


def _with_colons(tag: str, attributes: Mapping[str, str]) -> etree._Element:
    """Create an element with colons in its names.

    The lxml API requires a declared namespace for such names, which an IR need not have; the recovering parser does not.
    """
    for name in (tag, *attributes):
        try:
            etree.QName(name.replace(":", "_"))
        except ValueError:
            raise IRError(Fault.SYNTAX, f"{name[:40]!r} cannot be the name of an element or attribute in XML") from None
    pairs = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
    return etree.fromstring(f"<{tag}{pairs}/>", etree.XMLParser(recover=True, huge_tree=True))
