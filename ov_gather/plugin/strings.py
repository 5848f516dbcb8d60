"""Faults in operations on strings, whose bytes the CPU plugin copies as if they were numbers."""

from __future__ import annotations

from ov_gather.graph.protocol import Key, Node
from ov_gather.plugin.base import Effect, KnownFault
from ov_gather.plugin.pattern_graph import PatternGraph


def _are_strings(graph: PatternGraph, node: Node) -> bool:
    return graph.type(node) == "string"


def _split(graph: PatternGraph, node: Node) -> bool:
    return _are_strings(graph, node) and any(graph.readers(key) for key in node.outputs[1:])


def _identity(graph: PatternGraph, node: Node) -> bool:
    """Return True for an Identity between an input and an output of the model."""
    is_given = not node.path and graph.producer(node, 0, "Parameter") is not None
    return is_given and _are_strings(graph, node) and graph.is_output(node)


def _if(graph: PatternGraph, node: Node) -> bool:
    """Return True if a branch returns strings that it was given."""
    exits = [edge.inner for body in node.bodies for edge in body.exits]
    return any(_is_given(graph, key) for key in exits if str(graph.graph.type_of(key)) == "string")


def _is_given(graph: PatternGraph, key: Key) -> bool:
    """Return True for an input of a body, maybe behind Identity."""
    found = graph.graph.producer(key)
    while found and found.type == "Identity":
        found = graph.producer(found)
    return found is not None and found.is_input


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
