"""0xx: the document as a whole. Each rule is one way in which a document cannot be read."""

from __future__ import annotations

from collections.abc import Iterator

from ov_gather.ir.errors import Fault
from ov_gather.ir.reader import Document
from ov_gather.rules.base import Violation, document_rule


def faults(document: Document, fault: Fault) -> Iterator[Violation]:
    """What the reader found wrong in one way."""
    for problem in document.problems:
        if problem.fault is fault:
            layer = f"{problem.layer}: " if problem.layer else ""
            yield Violation(layer + problem.reason, problem.hint, problem.line)


@document_rule("OVG001")
def not_well_formed(document: Document) -> Iterator[Violation]:
    """The file is not well-formed XML: empty, truncated, not XML at all, a NUL byte, or text that its encoding does not allow.

    OpenVINO's parser is more lenient (duplicate attributes, text after the root, invalid UTF-8) and silently picks one reading.
    """
    return faults(document, Fault.SYNTAX)


@document_rule("OVG002")
def has_doctype(document: Document) -> Iterator[Violation]:
    """The file has a document type declaration. An IR has none; entities are neither expanded nor fetched."""
    return faults(document, Fault.DOCTYPE)


@document_rule("OVG003")
def is_not_an_ir(document: Document) -> Iterator[Violation]:
    """The root element is neither <net> (a whole IR) nor <layer> (a fragment)."""
    return faults(document, Fault.ROOT)


@document_rule("OVG004")
def unknown_version(document: Document) -> Iterator[Violation]:
    """The version of <net> is not 10 or 11, the IR versions that OpenVINO reads."""
    return faults(document, Fault.VERSION)


@document_rule("OVG005")
def beyond_limits(document: Document) -> Iterator[Violation]:
    """The document exceeds a limit of the reader.

    The limits: 256 nested elements, 256 MiB of XML, 1 MiB for a tag or a comment, a million elements of rt_info and the like,
    2^63-1 elements in the tensor of a port.
    """
    return faults(document, Fault.LIMIT)


@document_rule("OVG006")
def missing_or_repeated(document: Document) -> Iterator[Violation]:
    """A mandatory attribute or section is missing, or a section stands twice, of which OpenVINO reads only the first."""
    return faults(document, Fault.STRUCTURE)


@document_rule("OVG007")
def malformed_number(document: Document) -> Iterator[Violation]:
    """An id, an edge end or a <dim> is not a whole number. OpenVINO reads "3abc" as 3."""
    return faults(document, Fault.NUMBER)


@document_rule("OVG008")
def cannot_be_opened(document: Document) -> Iterator[Violation]:
    """The file cannot be opened: a broken link, a directory, no permission."""
    return faults(document, Fault.FILE)


@document_rule("OVG099")
def not_checked(document: Document) -> Iterator[Violation]:
    """The check of the file did not come to its end: its process died, e.g. for want of memory, or met a fault of its own.

    Nothing is known of the file then, which must not pass for a file without findings. --select and --ignore leave it in.
    """
    return faults(document, Fault.CHECK)
