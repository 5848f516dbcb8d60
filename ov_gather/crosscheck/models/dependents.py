"""Forward dependencies in an ONNX model, such as the values that depend on random nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import onnx_ir

from ov_gather.converters.graphs import bodies_of

_RANDOM = ("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial")


def dependents(model: onnx_ir.Model, sources: Iterable[onnx_ir.Node]) -> dict[str, onnx_ir.Node]:
    """Map the name of each value that depends on one of these nodes to the first such node.

    A value in a body also makes the outputs of the node that owns the body (If, Loop, Scan) dependent.
    """
    owners = _owners(model)
    found: dict[str, onnx_ir.Node] = {}
    seen: set[onnx_ir.Node] = set()
    for source in sources:
        waiting = [source]
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            found |= {str(value.name): source for value in node.outputs}
            waiting += [user for value in node.outputs for user, _ in value.uses()]
            waiting += [owners[node.graph]] if node.graph in owners else []
    return found


def random_nodes(model: onnx_ir.Model) -> Iterator[onnx_ir.Node]:
    """Yield the nodes, also in bodies, whose outputs are random and thus differ between runtimes."""
    for node in model.graph.all_nodes():
        if node.domain == "" and (node.op_type in _RANDOM or (node.op_type == "Dropout" and _trains(node))):
            yield node


def _trains(node: onnx_ir.Node) -> bool:
    """Return True if a Dropout may drop elements: its `training_mode` is given and not constant False."""
    mode = node.inputs[2] if len(node.inputs) > 2 else None
    if mode is None:
        return False
    tensor = onnx_ir.convenience.get_const_tensor(mode)
    return tensor is None or bool(tensor.numpy().any())


def _owners(model: onnx_ir.Model) -> dict[object, onnx_ir.Node]:
    """Map each body to the node that owns it."""
    return {body: node for node in model.graph.all_nodes() for _, body in bodies_of(node)}
