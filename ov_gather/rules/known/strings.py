"""Faults in operations on strings, whose bytes the CPU plugin copies as if they were numbers."""

from __future__ import annotations

from ov_gather.ir.bodies import entries
from ov_gather.ir.model import Layer
from ov_gather.rules.known.base import Effect, KnownFault
from ov_gather.rules.known.pattern_graph import PatternGraph


def _are_strings(graph: PatternGraph, layer: Layer) -> bool:
    return graph.type(layer) == "string"


def _split(graph: PatternGraph, layer: Layer) -> bool:
    return _are_strings(graph, layer) and any(graph.readers((layer.id, port.id)) for port in layer.outputs[1:])


def _identity(graph: PatternGraph, layer: Layer) -> bool:
    """Return True for an Identity between an input and an output of the model."""
    readers = graph.readers((layer.id, layer.outputs[0].id)) if layer.outputs else ()
    is_output = any(reader.type == "Result" for reader, _ in readers)
    return (
        graph.model.tag == "net"
        and _are_strings(graph, layer)
        and is_output
        and graph.producer(layer, 0, "Parameter") is not None
    )


def _if(graph: PatternGraph, layer: Layer) -> bool:
    """Return True if a branch returns strings that it was given."""
    for body in layer.bodies:
        inside = PatternGraph(body)
        for entry in entries(layer, body):
            source = inside.viewed(entry.inner, 0, ("Identity",)) if entry.inner and not entry.is_input else None
            if entry.inner and source and source[0].type == "Parameter" and inside.type(entry.inner) == "string":
                return True
    return False


STRINGS = (
    KnownFault(
        report="split_of_strings",
        types=("Split", "VariadicSplit"),
        occurs=_split,
        instead="strings are copied from a wrong place: every part is the first one, or the process ends",
        remedy="use a Gather for each part",
        converter="refuses",
    ),
    KnownFault(
        report="slice_of_strings",
        types=("Slice", "StridedSlice"),
        occurs=_are_strings,
        instead="strings are copied as bytes and freed twice, which ends the process",
        remedy="use a Gather",
        effect=Effect.FATAL,
        converter="refuses",
    ),
    KnownFault(
        report="depth_to_space_of_strings",
        types=("DepthToSpace",),
        occurs=_are_strings,
        instead="strings are copied as bytes and freed twice, which ends the process",
        remedy="use Reshape and Transpose",
        effect=Effect.FATAL,
        converter="refuses",
    ),
    KnownFault(
        report="space_to_depth_of_strings",
        types=("SpaceToDepth",),
        occurs=_are_strings,
        instead="every string of the result is empty",
        remedy="use Reshape and Transpose",
        converter="refuses",
    ),
    KnownFault(
        report="if_of_strings",
        types=("If",),
        occurs=_if,
        instead="strings that a branch returns as it got them are freed twice, which ends the process",
        remedy="let the branch return a Gather of all its strings",
        effect=Effect.FATAL,
        since="2025.4",
        converter="refuses",
    ),
    KnownFault(
        report="string_input_is_output",
        types=("Identity",),
        occurs=_identity,
        instead="an output that is an input of strings is freed twice, which ends the process",
        remedy="leave the Identity out",
        effect=Effect.FATAL,
        since="2025.4",
        converter="refuses",
    ),
)
