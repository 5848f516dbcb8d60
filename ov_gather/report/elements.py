"""XML and HTML elements, made by lxml, and JUnit documents. Names from documents are always escaped as text."""

from __future__ import annotations

from typing import TypeAlias

from lxml import etree
from lxml.builder import E

from ov_gather.system.tables import printable

Element: TypeAlias = etree._Element


def element(tag: str, *children: Element | str, **attributes: str) -> Element:
    """Return an element. In names of attributes, a trailing `_` is removed (`class_`), and others become `-` (`aria_label`)."""
    made: Element = E(
        tag,
        *(_text(child) if isinstance(child, str) else child for child in children),
        **{name.rstrip("_").replace("_", "-"): _text(value) for name, value in attributes.items()},
    )
    return made


def _text(text: str) -> str:
    """Escape control characters, which lxml refuses because XML cannot hold most of them. Line ends are kept."""
    return "\n".join(map(printable, text.split("\n")))


def junit_document(*suites: Element) -> str:
    """Return JUnit XML with these suites, as CI services read it, and set their counts of test cases and failures."""
    root = etree.Element("testsuites")
    root.extend(suites)
    for counted in (root, *suites):
        tests, failures = (str(sum(1 for _ in counted.iter(tag))) for tag in ("testcase", "failure"))
        counted.attrib.update({"tests": tests, "failures": failures, "errors": "0", "skipped": "0"})
    etree.indent(root)
    # ASCII with character references is correct in any encoding that the text is written in.
    body: bytes = etree.tostring(root, encoding="us-ascii", xml_declaration=False)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body.decode()}\n'
