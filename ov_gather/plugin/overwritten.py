"""Results of constants that OpenVINO computes once, in the first inference, and writes over in each."""

from __future__ import annotations

from itertools import islice

from ov_gather.graph.protocol import Key, Node
from ov_gather.ops.table import OPENVINO, OpKind, where
from ov_gather.plugin.base import REAL, KnownFault
from ov_gather.plugin.pattern_graph import LAYERS, UNFOLDED, PatternGraph
from ov_gather.system.traversal import reachable

IN_PLACE = where(OPENVINO, lambda op: op.kind in (OpKind.ARITHMETIC, OpKind.BITWISE, OpKind.LOGICAL))
"""Operations that the CPU plugin computes in the memory of their first input, if nothing else reads that."""
_CONVERTED = ("bf16", "f16")
"""Element types of operands that the plugin converts to float32 first, into other memory."""


def _is_written_over(graph: PatternGraph, node: Node) -> bool:
    """Return True if something computed once of an unfolded operation is the first operand of arithmetic of inputs."""
    is_folded = node.type == "CumSum" and graph.made_type(node) in REAL
    if is_folded or not _is_computed_once(graph, node):
        return False

    def following(one: Node) -> list[Node]:
        readers = [reader for key in one.outputs for reader in graph.readers(key)]
        return [reader for reader in readers if _is_computed_once(graph, reader)]

    once = islice(reachable([node], following), LAYERS)
    return any(_is_overwritten(graph, one.outputs[0]) for one in once if len(one.outputs) == 1)


def _is_computed_once(graph: PatternGraph, node: Node) -> bool:
    return bool(node.outputs) and all(graph.origins(node, position) for position in range(len(node.inputs)))


def _is_overwritten(graph: PatternGraph, key: Key) -> bool:
    """Return True if a tensor is read once, by an operation that has its shape and type, and depends on inputs."""
    readers = graph.readers(key)
    if len(readers) != 1 or readers[0].type not in IN_PLACE or graph.source(readers[0]) != key:
        return False
    (reader,) = readers
    if graph.made(reader) != graph.shape(reader) or graph.made_type(reader) != graph.type(reader):
        return False
    if graph.made_type(reader) in _CONVERTED:
        return False
    return not _is_computed_once(graph, reader) and graph.shape(reader, 1).is_static


OVERWRITTEN = (
    KnownFault(
        report="constant_result_overwritten",
        types=tuple(sorted(UNFOLDED)),
        occurs=_is_written_over,
        instead="the result is computed once and then written over: from the second inference on it is another one",
        remedy="store the result as a constant, or let two operations read it",
        converter="avoids",
    ),
)
