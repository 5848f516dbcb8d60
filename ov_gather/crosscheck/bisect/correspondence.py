"""Correspondence of values between two models: by name, then by structure.

Two values correspond by structure if nodes of the same type compute them from corresponding values, and these nodes are unique,
or equally many in the same order. Attributes and constants are ignored, since they may be the fault.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ov_gather.crosscheck.bisect.graphs import ValueGraph
from ov_gather.graph.ir import IrGraph
from ov_gather.graph.protocol import Key, Node


@dataclass(frozen=True)
class Pairs:
    """Map from values of the model to those of the reference, and the basis of each pair."""

    reference: Mapping[Key, Key]
    by: Mapping[Key, str] = field(default_factory=dict)


def pair_inputs(reference: ValueGraph, model: ValueGraph) -> dict[str, str]:
    """Map the model's input names to those of the reference: by name, or else by position if there are equally many.

    Raises ValueError if the inputs cannot be paired.
    """
    found = {}
    for name, value in model.inputs.items():
        names = [name, *model.names.get(value, ())]
        known = [other for other in names if other in reference.inputs] or [
            other for other, theirs in reference.inputs.items() if set(reference.names.get(theirs, ())) & set(names)
        ]
        if known:
            found[name] = known[0]
    if len(found) == len(model.inputs):
        return found
    if not found and len(model.inputs) == len(reference.inputs):
        return dict(zip(model.inputs, reference.inputs, strict=True))
    raise ValueError(
        f"the inputs of the models differ: the reference has {_listed(reference.inputs)}, the model {_listed(model.inputs)}"
    )


def pair_outputs(reference: ValueGraph, model: ValueGraph, *, only_named: bool) -> dict[Key, Key]:
    """Map the model's outputs to the reference's: by name, or unless `only_named`, by position if there are equally many.

    If nodes were removed, an output may also bear names of inner values of the reference; names of its outputs take precedence.
    Raises ValueError if no output can be paired.
    """
    known, theirs = _by_name(reference), set(reference.outputs.values())
    found = {}
    for name, value in model.outputs.items():
        named = [known[other] for other in (name, *model.names.get(value, ())) if other in known]
        if named:
            found[value] = _last(reference, [other for other in named if other in theirs] or named)
    if not found and not only_named and len(model.outputs) == len(reference.outputs):
        return dict(zip(model.outputs.values(), reference.outputs.values(), strict=True))
    if not found:
        raise ValueError(
            f"no output has the same name: the reference has {_listed(reference.outputs)}, the model {_listed(model.outputs)}"
        )
    return found


def correspond(reference: ValueGraph, model: ValueGraph, inputs: Mapping[str, str], outputs: Mapping[Key, Key]) -> Pairs:
    """Return the pairs of all corresponding values. Inputs and outputs are paired already."""
    pairs: dict[Key, Key] = {
        model.inputs[ours]: reference.inputs[theirs]
        for ours, theirs in inputs.items()
        if ours in model.inputs and theirs in reference.inputs
    }
    pairs |= outputs
    by = dict.fromkeys(pairs, "name")
    known = _by_name(reference)
    for value, names in model.names.items():
        if value in pairs:
            continue
        candidates = [known[name] for name in names if name in known]
        fitting = [other for other in candidates if _fits(model.shapes.get(value), reference.shapes.get(other))]
        if fitting:
            pairs[value], by[value] = _last(reference, fitting), "name"
    for value, other in _by_structure(reference, model, pairs):
        pairs[value], by[value] = other, "structure"
    return Pairs(pairs, by)


def _by_name(graph: ValueGraph) -> dict[str, Key]:
    return {name: value for value, names in graph.names.items() for name in names}


def _last(graph: ValueGraph, values: Sequence[Key]) -> Key:
    """Return the value computed last. A value with several names is the result of all values so named."""
    return max(values, key=lambda value: graph.order.get(value, -1))


def _by_structure(reference: ValueGraph, model: ValueGraph, known: Mapping[Key, Key]) -> Iterator[tuple[Key, Key]]:
    """Yield pairs of values, following both graphs from known pairs to nodes of the same type. Both models must be IRs."""
    if not isinstance(reference.graph, IrGraph):
        return  # ONNX node types differ
    pairs = dict(known)
    taken = set(pairs.values())
    for node in model.nodes:
        if not node.outputs or node.outputs[0] in pairs:
            continue
        ours = _kind(model, node, pairs)
        candidates = _candidates(reference, [pairs[value] for value in node.sources if value in pairs], node)
        theirs = [other for other in candidates if other.outputs[0] not in taken and _kind(reference, other, {}) == ours]
        rivals = [
            rival
            for rival in _candidates(model, [value for value in node.sources if value in pairs], node)
            if rival.outputs[0] not in pairs and _kind(model, rival, pairs) == ours
        ]
        if theirs and len(theirs) == len(rivals):
            for rival, other in zip(rivals, theirs, strict=True):
                for value, their_value in zip(rival.outputs, other.outputs, strict=False):
                    pairs[value] = their_value
                    taken.add(their_value)
                    yield value, their_value


def _kind(graph: ValueGraph, node: Node, pairs: Mapping[Key, Key]) -> Hashable:
    """Return a key of a node: its type and unordered operands, with constants reduced to their shapes."""
    operands = (
        f"constant {graph.shapes.get(value)}" if value in graph.constants else f"value {pairs.get(value, value)}"
        for value in node.sources
    )
    return node.type, len(node.outputs), tuple(sorted(operands))


def _candidates(graph: ValueGraph, operands: Sequence[Key], node: Node) -> list[Node]:
    """Return the nodes of the same type that use the first operand; without operands, those that use only constants."""
    found: Iterable[Node]
    if operands and graph.graph:
        found = dict.fromkeys(user for user, _ in graph.graph.uses(operands[0]))
    else:
        found = [other for other in graph.nodes if all(value in graph.constants for value in other.sources)]
    return [other for other in found if other.type == node.type and other.outputs]


def _fits(ours: Sequence[int] | None, theirs: Sequence[int] | None) -> bool:
    """Return True if two shapes may be equal, apart from dimensions of 1."""
    if ours is None or theirs is None or -1 in ours or -1 in theirs or not ours or not theirs:
        return True
    return [size for size in ours if size != 1] == [size for size in theirs if size != 1]


def _listed(names: Mapping[str, object]) -> str:
    return ", ".join(names) or "none"
