"""5xx: constants and the .bin."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from ov_gather.ir.constants import check_payload, constant, payload
from ov_gather.ir.element_types import BOOLEAN, STRING, ElementType
from ov_gather.ir.errors import Fault, IRError
from ov_gather.ir.model import Layer, Model
from ov_gather.ir.numbers import parse_digits
from ov_gather.ir.reader import Document
from ov_gather.ir.shapes import element_count
from ov_gather.rules.base import Violation, document_rule, graph_rule
from ov_gather.rules.document import faults
from ov_gather.rules.findings import Severity


@document_rule("OVG501")
def missing_weights(document: Document) -> Iterator[Violation]:
    """The model has Consts, but there is no .bin with the same stem beside the .xml, or it cannot be read."""
    return faults(document, Fault.NO_WEIGHTS)


@document_rule("OVG502")
def outside_weights(document: Document) -> Iterator[Violation]:
    """The payload of a Const lies outside the .bin: the file is truncated, or belongs to another .xml."""
    return faults(document, Fault.RANGE)


@document_rule("OVG503")
def malformed_constant(document: Document) -> Iterator[Violation]:
    """The attributes of a Const are missing, malformed, or disagree: offset and size in bytes, static shape, element_type.

    An inline value="..." is refused, too: OpenVINO takes its text for the payload, whatever its length, and may crash.
    """
    return faults(document, Fault.CONST)


@document_rule("OVG504", Severity.WARNING)
def overlap(document: Document) -> Iterator[Violation]:
    """Two Consts share a part of their payloads, but not all of it. OpenVINO writes equal payloads once, others apart."""
    end, owner = 0, None
    before = (-1, -1)
    for start, stop, trail, layer in _payloads(document):
        if owner and start < end and (start, stop) != before:
            yield Violation(
                f"bytes {start}..{stop} overlap those of {owner}, which end at {end}",
                "correct offset and size, unless one constant is to be a part of the other",
                layer.data_line,
                layer,
                trail=trail,
            )
        if stop > end:
            end, owner = stop, layer
        before = (start, stop)


@document_rule("OVG505", Severity.WARNING)
def left_over(document: Document) -> Iterator[Violation]:
    """The .bin has bytes that no Const uses: it belongs to another .xml, or an offset, a size or a Const is wrong or gone."""
    model = document.model
    if model is None or model.weights is None or document.problems:
        return
    try:
        total = model.weights.size()
    except OSError:
        return  # with a Const, OVG501 has said it
    end = 0
    for start, stop, trail, layer in _payloads(document):
        if start > end:
            yield Violation(
                f"no Const uses the bytes {end}..{start} of the .bin before this one",
                "does the .bin belong to this .xml?",
                layer.data_line,
                layer,
                trail=trail,
            )
        end = max(end, stop)
    if end < total:
        reason = f"no Const uses the last {total - end} of the {total} bytes of the .bin"
        yield Violation(reason, "does the .bin belong to this .xml?", model.line)


@graph_rule("OVG506")
def packed_strings(graph: Model) -> Iterator[Violation]:
    """The payload of a string Const is malformed: as many strings as its shape says, offsets that rise, text in UTF-8.

    OpenVINO does not compare their number with the shape: it crashes where there are fewer, and drops what is more.
    """
    for layer in _readable(graph, STRING):
        try:
            constant(graph, layer)
        except IRError as error:
            yield Violation(error.reason, "write count, offsets and UTF-8 text anew", layer.data_line, layer)


@graph_rule("OVG507")
def larger_than_needed(graph: Model) -> Iterator[Violation]:
    """A Const has more bytes than its shape and type need. OpenVINO reads the first of them: the tensor is cut off."""
    fine: set[tuple[str | None, ...]] = set()  # many Consts are alike
    for layer in graph.of_type("Const"):
        told = tuple(map(layer.attributes.get, ("element_type", "shape", "size")))
        if told in fine:
            continue
        shape, element_type = layer.declared_shape, layer.declared_type
        size = parse_digits(layer.attributes.get("size", ""))
        if size is None or shape is None or not shape.is_static or element_type is None or not element_type.bits:
            continue
        # A Const without elements owns one byte.
        needed = max(element_type.byte_size(element_count(shape.sizes)), 1)
        if size > needed:
            yield Violation(
                f"{size} bytes are more than shape {shape} of {element_type} needs: {needed}",
                "make size, shape and element_type agree",
                layer.data_line,
                layer,
            )
        else:
            fine.add(told)


@graph_rule("OVG508", Severity.WARNING)
def odd_booleans(graph: Model) -> Iterator[Violation]:
    """A boolean Const has bytes other than 0 and 1. Runtimes differ in what they make of them."""
    for layer in _readable(graph, BOOLEAN):
        odd = 0
        with suppress(IRError):  # cut meanwhile: validation starts again
            odd = len(bytes(payload(graph, layer)).translate(None, b"\0\1"))
        if odd:
            yield Violation(f"{odd} bytes are neither 0 nor 1", "write 0 or 1", layer.data_line, layer)


def _readable(graph: Model, element_type: ElementType) -> Iterator[Layer]:
    """The Consts of a type whose bytes can be had; where not, OVG501 to OVG503 say it."""
    for layer in graph.of_type("Const"):
        if layer.declared_type is element_type:
            with suppress(IRError):
                check_payload(graph, layer)
                yield layer


def _payloads(document: Document) -> list[tuple[int, int, tuple[str, ...], Layer]]:
    """Where the Consts of all graphs have their bytes, in order."""
    found = []
    for trail, graph in document.model.walk() if document.model and not document.damaged else ():
        for layer in graph.of_type("Const"):
            offset = parse_digits(layer.attributes.get("offset", ""))
            size = parse_digits(layer.attributes.get("size", ""))
            if offset is not None and size is not None:
                found.append((offset, offset + size, trail, layer))
    return sorted(found, key=lambda it: it[:2])
