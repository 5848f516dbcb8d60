"""5xx: constants and the .bin file that holds their values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter

from ov_gather.ir.constants import check_payload, constant, needed_size, payload
from ov_gather.ir.element_types import BOOLEAN, STRING, ElementType
from ov_gather.ir.errors import Fault, IRError
from ov_gather.ir.location import Location
from ov_gather.ir.model import Layer, Model
from ov_gather.ir.numbers import parse_digits
from ov_gather.ir.reader import Document
from ov_gather.ops import find_operation
from ov_gather.rules.base import Violation, rule
from ov_gather.rules.document import faults
from ov_gather.rules.findings import Severity
from ov_gather.rules.fixes import CutWeights, Fix, WriteWeights
from ov_gather.rules.opsets import operations


@rule("OVG501", Document)
def missing_weights(document: Document) -> Iterator[Violation]:
    """The model has Consts, but the .bin file beside the .xml, with the same stem, is missing or cannot be read.

    The .bin holds the values of the Consts. Put the .bin that was written with the .xml beside it.
    """
    return _of_the_file(document, Fault.NO_WEIGHTS)


@rule("OVG502", Document)
def outside_weights(document: Document) -> Iterator[Violation]:
    """The payload of a Const lies partly or wholly outside the .bin file.

    The .bin is truncated, or belongs to another .xml. Use the .bin that was written with this .xml.
    """
    return _of_the_file(document, Fault.RANGE)


def _of_the_file(document: Document, fault: Fault) -> Iterator[Violation]:
    """Yield a fault of the .bin once: of the document, with the first Const and their number, if several meet it."""
    found = [problem for problem in document.problems if problem.fault is fault]
    if len(found) < 2:
        yield from faults(document, fault)
        return
    first = found[0]
    place = Location(first.path, first.line)  # of no Const, so that the finding has the same fingerprint in any order
    yield Violation(f"{first.layer}: {first.reason} ({len(found)} Consts in all)", first.hint, place)


@rule("OVG503", Document)
def malformed_constant(document: Document) -> Iterator[Violation]:
    """The attributes of a Const are missing or malformed, or contradict each other.

    A Const needs an offset and a size in bytes, a static shape and an element_type, and the size must suffice for the shape. An
    inline value="..." is refused, too: OpenVINO reads its text as the payload, whatever its length, and may crash.
    """
    return faults(document, Fault.CONST)


@dataclass(frozen=True)
class Payloads:
    """The payloads of all Consts of a document that was read completely."""

    document: Document

    @cached_property
    def in_order(self) -> list[tuple[int, int, tuple[str, ...], Layer]]:
        """Start and end of each payload, with the sub-graph path of its Const and the Const, in the order of the .bin."""
        found = []
        for subgraph_path, graph in self.document.model.walk() if self.document.model else ():
            for layer in graph.of_type("Const"):
                offset = parse_digits(layer.attributes.get("offset", ""))
                size = parse_digits(layer.attributes.get("size", ""))
                if offset is not None and size is not None:
                    found.append((offset, offset + size, subgraph_path, layer))
        return sorted(found, key=itemgetter(0, 1))


@rule("OVG504", Payloads, Severity.WARNING)
def overlap(payloads: Payloads) -> Iterator[Violation]:
    """The payloads of two Consts overlap, but are not the same.

    OpenVINO stores equal payloads once and others apart, so an offset or a size is probably wrong. Correct it.
    """
    end, owner = 0, None
    before = (-1, -1)
    for start, stop, subgraph_path, layer in payloads.in_order:
        if owner and start < end and (start, stop) != before:
            message = f"bytes {start}..{stop} overlap those of {owner}, which end at {end}"
            hint = "correct offset and size, unless one constant is to be a part of the other"
            yield Violation.at(layer, message, hint, line=layer.data_line, subgraph_path=subgraph_path)
        if stop > end:
            end, owner = stop, layer
        before = (start, stop)


@rule("OVG505", Payloads, Severity.WARNING)
def left_over(payloads: Payloads) -> Iterator[Violation]:
    """The .bin file has bytes that no Const uses.

    The .bin belongs to another .xml, an offset or a size is wrong, or a Const was lost. Use the .bin that was written with this
    .xml, or save the model again.
    """
    model = payloads.document.model
    if model is None or model.weights is None or payloads.document.problems:
        return
    try:
        total = model.weights.size()
    except OSError:
        return  # OVG501 reports it if there is a Const
    end, hint = 0, "does the .bin belong to this .xml?"
    for start, stop, subgraph_path, layer in payloads.in_order:
        if start > end:
            message = f"no Const uses the bytes {end}..{start} of the .bin before this one"
            yield Violation.at(layer, message, hint, line=layer.data_line, subgraph_path=subgraph_path)
        end = max(end, stop)
    if end < total:
        message = f"no Const uses the last {total - end} of the {total} bytes of the .bin"
        fix = Fix(CutWeights(end), safe=not _has_operations_of_extensions(model))
        yield Violation.at(model, message, hint, fix=fix)


def _has_operations_of_extensions(model: Model) -> bool:
    """Return True if the model has operations that OpenVINO lacks: these may read bytes of the .bin in their own way."""
    kinds = (kind for _, graph in model.walk() for kind in graph.kinds.items())
    return any(
        version not in operations().get(layer_type, {}) and not find_operation(layers[0])
        for (layer_type, version), layers in kinds
    )


@rule("OVG506", Model)
def packed_strings(graph: Model) -> Iterator[Violation]:
    """The payload of a string Const is malformed.

    It must hold as many strings as the shape has elements, offsets that never decrease, and UTF-8 text. OpenVINO does not
    compare the number of strings with the shape: it crashes if there are too few, and drops the rest if there are too many.
    Write the payload again.
    """
    for layer in _readable(graph, STRING):
        try:
            constant(graph, layer)
        except IRError as error:
            yield Violation.at(layer, error.reason, "write count, offsets and UTF-8 text anew", line=layer.data_line)


@rule("OVG507", Model)
def larger_than_needed(graph: Model) -> Iterator[Violation]:
    """A Const has more bytes than its shape and element type need.

    OpenVINO reads only the first bytes, so the tensor is cut off. Make size, shape and element_type agree.
    """
    fine: set[tuple[str | None, ...]] = set()  # many Consts are alike
    for layer in graph.of_type("Const"):
        declared_as = tuple(map(layer.attributes.get, ("element_type", "shape", "size")))
        if declared_as in fine:
            continue
        size, needed = parse_digits(layer.attributes.get("size", "")), needed_size(layer)
        if size is None or needed is None:
            continue
        if size > needed:
            message = f"{size} bytes are more than shape {layer.declared_shape} of {layer.declared_type} needs: {needed}"
            yield Violation.at(layer, message, "make size, shape and element_type agree", line=layer.data_line)
        else:
            fine.add(declared_as)


@rule("OVG508", Model, Severity.WARNING)
def odd_booleans(graph: Model) -> Iterator[Violation]:
    """A boolean Const has bytes other than 0 and 1.

    Runtimes differ in how they read such bytes. Write 0 or 1.
    """
    for layer in _readable(graph, BOOLEAN):
        odd, fix = 0, None
        with suppress(IRError):  # the file was truncated meanwhile: validation starts again
            content = bytes(payload(graph, layer))
            odd = len(content.translate(None, b"\0\1"))
            fix = Fix(WriteWeights(check_payload(graph, layer)[0], bytes(map(bool, content))), safe=False) if odd else None
        if odd:
            yield Violation.at(layer, f"{odd} bytes are neither 0 nor 1", "write 0 or 1", line=layer.data_line, fix=fix)


def _readable(graph: Model, element_type: ElementType) -> Iterator[Layer]:
    """Yield the Consts of a type whose bytes can be read; OVG501 to OVG503 report the others."""
    for layer in graph.of_type("Const"):
        if layer.declared_type is element_type:
            with suppress(IRError):
                check_payload(graph, layer)
                yield layer
