"""0xx: the document as a whole. Each rule is one way in which a document cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ov_gather.ir.errors import Fault, IRError
from ov_gather.ir.model import Element, Layer, Model
from ov_gather.ir.reader import Document
from ov_gather.rules.base import Violation, document_rule, graph_rule
from ov_gather.rules.findings import Severity
from ov_gather.rules.spelling import hint


def faults(document: Document, fault: Fault) -> Iterator[Violation]:
    """What the reader found wrong in one way."""
    for problem in document.problems:
        if problem.fault is fault:
            yield _violation(problem)


def _violation(problem: IRError) -> Violation:
    place = problem.location
    if place.layer_id is None:  # a layer without a number may have a name
        prefix = f"{problem.layer}: " if place.layer_type else ""
        return Violation(prefix + problem.reason, problem.hint, place.line, trail=place.trail)
    layer = Layer(place.layer_id, place.layer_name, place.layer_type)
    return Violation(problem.reason, problem.hint, place.line, layer, trail=place.trail)


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
    """A mandatory attribute or section is missing or stands twice, or an element stands in a list that has no such elements.

    Of a section that stands twice OpenVINO reads the first; an element that does not belong there it ignores.
    """
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


# What may stand in a graph, a layer and a port, besides what the reader interprets.
_IN_GRAPH = ("rt_info", "meta_data", "quantization_parameters", "pre-process", "statistics", "layers", "edges")
_IN_LAYER = (
    "rt_info",
    "port_map",
    "then_port_map",
    "else_port_map",
    "back_edges",
    "data",
    "input",
    "output",
    "body",
    "then_body",
    "else_body",
)
_IN_PORT = ("rt_info", "dim")


@graph_rule("OVG009", Severity.WARNING)
def unknown_element(graph: Model) -> Iterator[Violation]:
    """An element that OpenVINO does not look for where it stands, and ignores."""
    yield from _unknown(graph.sections, _IN_GRAPH, f"<{graph.tag}>", None)
    for layer in graph.layers:
        if layer.sections:
            yield from _unknown(layer.sections, _IN_LAYER, "<layer>", layer)
    if any(port.sections for ports in (graph.input_ports, graph.output_ports) for port in ports):
        for layer, port in graph.ports():
            yield from _unknown(port.sections, _IN_PORT, "<port>", layer, port.id)


def _unknown(
    sections: Iterable[Element], known: tuple[str, ...], where: str, layer: Layer | None, port: int | None = None
) -> Iterator[Violation]:
    for section in sections:
        if section.tag not in known:
            advice = hint(section.tag, known, "OpenVINO ignores it: remove it")
            yield Violation(f"unknown element <{section.tag}> in {where}", advice, section.line, layer, port)
