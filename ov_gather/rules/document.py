"""0xx: the document as a whole. Most of these rules report one reason for which a document cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from ov_gather.ir.errors import NOWHERE, Fault, IRError
from ov_gather.ir.location import Location
from ov_gather.ir.model import Element, Layer, Model, Port
from ov_gather.ir.reader import Document
from ov_gather.rules.base import Violation, rule
from ov_gather.rules.findings import Severity
from ov_gather.rules.spelling import hint


@dataclass(frozen=True, slots=True)
class Unopened:
    """A file that could not be opened, and the reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An unfinished check of a file: the reason, advice, and the place that stopped it, if it is known."""

    reason: str
    hint: str
    location: Location = NOWHERE


def faults(document: Document, fault: Fault) -> Iterator[Violation]:
    """Yield the problems of one kind that the reader found."""
    for problem in document.problems:
        if problem.fault is fault:
            yield _violation(problem)


def _violation(problem: IRError) -> Violation:
    place = problem.location
    if place.layer_id is not None or not place.layer_type:
        return Violation(problem.reason, problem.hint, place)
    # Reports show only layers with an id, so name this one in the message.
    layer = replace(place, subgraph_path=()).layer_text[:300]
    graph = Location(place.path, place.line, subgraph_path=place.subgraph_path)
    return Violation(f"{layer}: {problem.reason}", problem.hint, graph)


@rule("OVG001", Document)
def not_well_formed(document: Document) -> Iterator[Violation]:
    """The file is not well-formed XML: empty, truncated, not XML, or with a NUL byte or characters invalid in its encoding.

    OpenVINO's parser accepts some such files, e.g. with duplicate attributes, text after the root element or invalid UTF-8, and
    silently picks one reading. Save the model again.
    """
    return faults(document, Fault.SYNTAX)


@rule("OVG002", Document)
def has_doctype(document: Document) -> Iterator[Violation]:
    """The file has a document type declaration, <!DOCTYPE ...>.

    An IR has none. A declaration may define entities that fetch other files or grow without end, so none is expanded or
    fetched. Remove the declaration.
    """
    return faults(document, Fault.DOCTYPE)


@rule("OVG003", Document)
def is_not_an_ir(document: Document) -> Iterator[Violation]:
    """The root element is neither <net> (a whole IR) nor <layer> (a fragment of one).

    The file is XML of another kind, not a model. Skip it with --exclude, or all such files with --skip-other-xml.
    """
    return faults(document, Fault.ROOT)


@rule("OVG004", Document)
def unknown_version(document: Document) -> Iterator[Violation]:
    """The version of <net> is not 10 or 11.

    OpenVINO reads no other versions of the IR. Save the model again with a current OpenVINO.
    """
    return faults(document, Fault.VERSION)


@rule("OVG005", Document)
def beyond_limits(document: Document) -> Iterator[Violation]:
    """The document exceeds a limit of the reader.

    The limits protect memory and time from hostile files: 256 levels of nested elements, 256 MiB of XML, 1 MiB for a tag or a
    comment, a million elements in rt_info and similar sections, 2^63-1 elements in the tensor of a port.
    """
    return faults(document, Fault.LIMIT)


@rule("OVG006", Document)
def missing_or_repeated(document: Document) -> Iterator[Violation]:
    """A required attribute or section is missing or repeated, or an element is in a list of other elements.

    If a section is repeated, OpenVINO reads only the first; it ignores an element that does not belong in a list. The model
    then differs from what the file seems to describe. Write each required part exactly once.
    """
    return faults(document, Fault.STRUCTURE)


@rule("OVG007", Document)
def malformed_number(document: Document) -> Iterator[Violation]:
    """An id, an end of an edge or a <dim> is not a whole number.

    OpenVINO reads "3abc" as 3, and so accepts a damaged file. Write a decimal number and nothing else.
    """
    return faults(document, Fault.NUMBER)


@rule("OVG008", Unopened)
def cannot_be_opened(file: Unopened) -> Iterator[Violation]:
    """The file cannot be opened: it is a broken link or a directory, or permission to read it is missing.

    This is an error, so that an unchecked file does not pass as clean.
    """
    yield Violation(f"cannot be opened: {file.reason}", "", NOWHERE)


@rule("OVG099", Unfinished)
def not_checked(check: Unfinished) -> Iterator[Violation]:
    """The check of the file did not finish: its process died, e.g. out of memory, or ov-gather had an internal error.

    This is an error, so that an unchecked file does not pass as clean. --select and --ignore do not hide it.
    """
    yield Violation(check.reason[:300], check.hint, check.location)


# Elements allowed in a graph, a layer and a port, besides those that the reader interprets.
_IN_GRAPH = ("rt_info", "meta_data", "quantization_parameters", "pre-process", "statistics", "layers", "edges")
_IN_LAYER = (
    *("rt_info", "port_map", "then_port_map", "else_port_map", "back_edges", "data", "input", "output"),
    *("body", "then_body", "else_body"),
)
_IN_PORT = ("rt_info", "dim")


def _has_known_elements(graph: Model) -> bool:
    """Return True if every element is where it is allowed, and ports have none at all, as is usual."""
    in_layers = {section.tag for layer in graph.layers if layer.sections for section in layer.sections}
    in_ports = any(port.sections for ports in (graph.input_ports, graph.output_ports) for port in ports)
    return not in_ports and in_layers.issubset(_IN_LAYER) and all(section.tag in _IN_GRAPH for section in graph.sections)


@rule("OVG009", Model, Severity.WARNING, unless=_has_known_elements)
def unknown_element(graph: Model) -> Iterator[Violation]:
    """An element is in a place where OpenVINO ignores it.

    The element has no effect. Perhaps its name is misspelt, or it belongs elsewhere. Correct, move or remove it.
    """
    yield from _unknown(graph.sections, _IN_GRAPH, f"<{graph.tag}>", graph)
    for layer in graph.layers:
        yield from _unknown(layer.sections, _IN_LAYER, "<layer>", layer)
    for layer, port in graph.ports():
        yield from _unknown(port.sections, _IN_PORT, "<port>", layer, port)


def _unknown(
    sections: Iterable[Element], known: tuple[str, ...], where: str, place: Model | Layer, port: Port | None = None
) -> Iterator[Violation]:
    for section in sections:
        if section.tag not in known:
            advice = hint(section.tag, known, "OpenVINO ignores it: remove it")
            message = f"unknown element <{section.tag}> in {where}"
            yield Violation.at(place, message, advice, port=port, line=section.line)
