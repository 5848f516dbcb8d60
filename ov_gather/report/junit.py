"""JUnit XML documents, which Jenkins, GitLab, Azure and others show as test results."""

from __future__ import annotations

from lxml import etree

from ov_gather.report.elements import Element


def document(*suites: Element) -> str:
    """Return the text of a file with these suites, and set their counts of test cases and failures."""
    root = etree.Element("testsuites")
    root.extend(suites)
    for counted in (root, *suites):
        tests, failures = (str(sum(1 for _ in counted.iter(tag))) for tag in ("testcase", "failure"))
        counted.attrib.update({"tests": tests, "failures": failures, "errors": "0", "skipped": "0"})
    etree.indent(root)
    # ASCII with character references is correct in any encoding that the text is written in.
    body: bytes = etree.tostring(root, encoding="us-ascii", xml_declaration=False)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body.decode()}\n'
