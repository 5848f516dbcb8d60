"""The smallest part of a model with which OpenVINO still crashes: fewer outputs, operations, inferences and open dimensions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import openvino as ov
from numpy.typing import NDArray
from openvino import opset16 as ops

from helpers.index_sites import Arrays, Tensor, tensor
from helpers.range_judgements import limit_memory
from helpers.worker_process import DiedError, Worker
from ov_gather import harden, validate
from ov_gather.ranges.openvino_graph import bodies
from ov_gather.rules.releases import RELEASES
from ov_gather.runtimes.session import Session
from tools.upstream.registry import FAULTS

LIMIT = 60
"""Seconds that a part may take."""
THREADS = {"INFERENCE_NUM_THREADS": 2}
RULES = ("OVG707", "OVG710", "OVG711", "OVG712")
FOR_SOME_VALUES = ("iterator_over_no_elements", "search_sorted_in_nothing")
"""Reports of faults that end the process, or lead to that, for some values or sizes: OVG712 notes many that do not."""
LEAVES = ("Parameter", "Constant")


@dataclass(frozen=True)
class Part:
    """A part of a model.

    Attributes:
        make: returns the whole model; a function of a module.
        feeds: the inputs of each inference: of the Parameters, and of the values that Parameters take the place of.
        cuts, constants: the values that Parameters, or constants, take the place of.
        dropped: operations that their first operand takes the place of.
        is_static: whether each input has the shape of its first array.
        keeps_states: whether states are assigned.
        is_hardened: whether indices that are not proved to be in bounds are clamped.
    """

    make: Callable[[], ov.Model]
    outputs: tuple[Tensor, ...]
    feeds: tuple[Arrays, ...]
    cuts: tuple[Tensor, ...] = ()
    constants: tuple[Tensor, ...] = ()
    dropped: tuple[str, ...] = ()
    is_static: bool = False
    keeps_states: bool = True
    is_hardened: bool = False


@dataclass(frozen=True)
class Ending:
    """How the process of a part ended: `phase` is what it was about to do, `exit_code` is None if it did not end."""

    phase: str
    exit_code: int | None


def built(part: Part) -> tuple[ov.Model, list[Tensor]]:
    """Return the model of a part, and the values that its inputs are, in their order. Raises RuntimeError."""
    model = part.make()
    nodes = {node.get_friendly_name(): node for node in model.get_ordered_ops() if node.get_type_name() != "Result"}
    for name in part.dropped:
        _replace(nodes[name].output(0), nodes[name].input_value(0))
    for name, position in (*part.cuts, *part.constants):
        output = nodes[name].output(position)
        if (name, position) in part.cuts:
            given = ops.parameter(output.get_partial_shape(), output.get_element_type())
        else:
            given = ops.constant(part.feeds[0][name, position])
        given.set_friendly_name(f"{name}:{position}")
        nodes[given.get_friendly_name()] = given
        _replace(output, given.output(0))
    results = [ops.result(nodes[name].output(position)) for name, position in part.outputs]
    sinks = model.get_sinks() if part.keeps_states else []
    reached = _reached([*results, *sinks])
    names = {tensor(node.output(0)): tensor(node.output(0)) for node in model.get_parameters()}
    names |= {(f"{name}:{position}", 0): (name, position) for name, position in part.cuts}
    inputs = [nodes[name] for name, _ in names if name in reached]
    if part.is_static:
        for node in inputs:
            node.set_partial_shape(ov.PartialShape(list(part.feeds[0][names[tensor(node.output(0))]].shape)))
    smaller = ov.Model(results, sinks, inputs, "part")
    smaller.validate_nodes_and_infer_types()
    return smaller, [names[tensor(node.output(0))] for node in inputs]


def _replace(output: ov.Output, other: ov.Output) -> None:
    for reader in output.get_target_inputs():
        reader.replace_source_output(other)


def _reached(nodes: Sequence[ov.Node]) -> set[str]:
    found, waiting = set[str](), list(nodes)
    while waiting:
        node = waiting.pop()
        for value in node.input_values():
            if value.get_node().get_friendly_name() not in found:
                found.add(value.get_node().get_friendly_name())
                waiting.append(value.get_node())
    return found


def _executed(part: Part, tell: Callable[[str], None]) -> list[list[NDArray[Any]]]:
    limit_memory()
    session, names = _compiled(part, tell)
    tell("infer")
    return [session([feed[name] for name in names]) for feed in part.feeds]


def _compiled(part: Part, tell: Callable[[str], None]) -> tuple[Session, list[Tensor]]:
    tell("build")
    model, names = built(part)
    if part.is_hardened:
        harden(model, policy="clamp")
    tell("compile")
    return Session(ov.Core(), model, properties=THREADS), names


def _executed_in_turn(parts: Sequence[Part], tell: Callable[[str], None]) -> int:
    """Execute parts in one process. One that raises has been seen to raise before."""
    limit_memory()
    sessions: dict[tuple[Tensor, ...], tuple[Session, list[Tensor]]] = {}
    for part in parts:
        with suppress(RuntimeError, ValueError):
            if part.outputs not in sessions:
                sessions[part.outputs] = _compiled(part, tell)
            session, names = sessions[part.outputs]
            tell("infer")
            session([part.feeds[0][name] for name in names])
    return len(parts)


def _in_process(function: Callable[..., Any], item: Any) -> Any:
    """Return what a function returns in a process of its own, None if it raises, or how the process ends."""
    worker = Worker[Any, Any](partial(_caught, function), "forkserver", tells=True)
    try:
        return worker.call(item, LIMIT)
    except DiedError as death:
        return Ending(worker.told, death.exit_code)
    finally:
        worker.stop()


def _caught(function: Callable[..., Any], item: Any, tell: Callable[[str], None]) -> Any:
    try:
        return function(item, tell)
    except (RuntimeError, ValueError, KeyError):
        return None


def ending(part: Part) -> Ending | None:
    """Return how the process of a part ends; None if it lives."""
    found = _in_process(_executed, part)
    return found if isinstance(found, Ending) else None


def ending_in_turn(parts: Sequence[Part]) -> Ending | None:
    """Return how a process ends that executes parts one after the other, of three that do; None if they live."""
    found = (_in_process(_executed_in_turn, parts) for _ in range(3))
    return next((one for one in found if isinstance(one, Ending)), None)


def reduced(part: Part) -> tuple[Part, Ending | None]:
    """Return the smallest part found with which the process ends in the same way; None if it lives with the whole part."""
    last = replace(part, feeds=part.feeds[-1:])
    for first in (last, part):
        if found := ending(first):
            return _Reduction(found).of(first), found
    return part, None


class _Reduction:
    def __init__(self, found: Ending) -> None:
        self._found = found

    def of(self, part: Part) -> Part:
        for step in (self._fewer_outputs, self._earlier_output, self._given_operands, self._without_operations):
            part = step(part)
        for simpler in ({"keeps_states": False}, {"is_static": True}):
            part = self._first([replace(part, **simpler)]) or part
        return part

    def _ends(self, part: Part) -> bool:
        return ending(part) == self._found

    def _first(self, parts: Iterable[Part]) -> Part | None:
        return next((one for one in parts if self._ends(one)), None)

    def _fewer_outputs(self, part: Part) -> Part:
        """Halve the outputs as long as one half is enough; then leave out one after the other."""
        while len(part.outputs) > 1:
            middle = len(part.outputs) // 2
            halves = (part.outputs[:middle], part.outputs[middle:])
            half = self._first(replace(part, outputs=outputs) for outputs in halves)
            if half is None:
                break
            part = half
        for one in part.outputs if len(part.outputs) > 1 else ():
            fewer = replace(part, outputs=tuple(other for other in part.outputs if other != one))
            part = fewer if self._ends(fewer) else part
        return part

    def _earlier_output(self, part: Part) -> Part:
        """End the model earlier, as long as it crashes."""
        while len(part.outputs) == 1:
            name, _ = part.outputs[0]
            earlier = self._first(
                replace(part, outputs=(one,)) for one, kind in _operands(part).get(name, ()) if kind not in LEAVES
            )
            if earlier is None:
                break
            part = earlier
        return part

    def _given_operands(self, part: Part) -> Part:
        """Feed values instead of computing them, the last ones first; those that are fed are no longer computed."""
        tried = set[Tensor](part.outputs)
        while candidates := [one for one in _computed(part) if one not in tried]:
            one = candidates[0]
            tried.add(one)
            computed = _in_process(_executed, replace(part, outputs=(one,)))
            if isinstance(computed, list):
                feeds = tuple({**feed, one: arrays[0]} for feed, arrays in zip(part.feeds, computed, strict=True))
                as_input = replace(part, cuts=(*part.cuts, one), feeds=feeds)
                as_constant = replace(part, constants=(*part.constants, one), feeds=feeds)
                part = self._first([as_input, as_constant]) or part
        return part

    def _without_operations(self, part: Part) -> Part:
        """Drop operations between the inputs and the outputs."""
        for name, _ in _computed(part):
            without = replace(part, dropped=(*part.dropped, name))
            if (name, 0) not in part.outputs and self._ends(without):
                part = without
        return part


def _operands(part: Part) -> Mapping[str, Sequence[tuple[Tensor, str]]]:
    """Return the operands of each operation, and the types of the operations that compute them, in order of execution."""
    found = _in_process(_listed, part)
    return found if isinstance(found, dict) else {}


def _listed(part: Part, tell: Callable[[str], None]) -> Mapping[str, Sequence[tuple[Tensor, str]]]:
    model, names = built(part)
    known = {tensor(node.output(0)): name for node, name in zip(model.get_parameters(), names, strict=True)}
    return {
        node.get_friendly_name(): [
            (known.get(tensor(value), tensor(value)), value.get_node().get_type_name()) for value in node.input_values()
        ]
        for node in model.get_ordered_ops()
    }


def _computed(part: Part) -> list[Tensor]:
    """Return the values that operations read and that are computed, the last ones first."""
    read = [one for operands in _operands(part).values() for one in operands]
    return list(dict.fromkeys(one for one, kind in reversed(read) if kind not in LEAVES))


@dataclass(frozen=True)
class Described:
    """Of a part: its operations in a line each, their names, and the reports of known faults that it meets.

    has_bad_index: whether it lives if its indices are clamped.
    """

    lines: tuple[str, ...]
    names: tuple[str, ...]
    reports: tuple[str, ...]
    has_bad_index: bool


def described(part: Part) -> Described | None:
    """Describe a part with which the process ends; None if OpenVINO cannot even make it."""
    found = _in_process(_described, part)
    clamped = _in_process(_executed, replace(part, is_hardened=True))
    return replace(found, has_bad_index=isinstance(clamped, list)) if isinstance(found, Described) else None


def _described(part: Part, tell: Callable[[str], None]) -> Described:
    model, inputs = built(part)
    nodes = [node for node in model.get_ordered_ops() if node.get_type_name() not in (*LEAVES, "Result")]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "part.xml"
        ov.serialize(model, path)
        findings = validate(path, target=RELEASES[-1], select=RULES)
    hinted = {finding.hint.rpartition("upstream/")[2].removesuffix(".md"): finding.rule for finding in findings}
    reports = [name for name, rule in hinted.items() if name in FAULTS and (rule != "OVG712" or name in FOR_SOME_VALUES)]
    names = sorted(node.get_type_name() for node in nodes)
    fed = [f"{array.dtype}{list(array.shape)} {array.ravel()[:8].tolist()}" for array in map(part.feeds[-1].get, inputs)]
    return Described((*_lines(nodes), f"fed: {', '.join(fed)}"), tuple(names), tuple(sorted(reports)), False)


def _lines(nodes: Iterable[ov.Node], indent: str = "") -> Iterator[str]:
    for node in nodes:
        yield indent + _line(node)
        for body in bodies(node):
            inside = [one for one in body.get_ordered_ops() if one.get_type_name() not in (*LEAVES, "Result")]
            yield from _lines(inside, f"{indent}    ")


def _line(node: ov.Node) -> str:
    kinds = {"Parameter": "input ", "Constant": "constant "}
    operands = ", ".join(
        f"{kinds.get(value.get_node().get_type_name(), '')}{_typed(value)}{_elements(value)}" for value in node.input_values()
    )
    given = {name: value for name, value in node.get_attributes().items() if isinstance(value, (int, float, str, list))}
    return f"{node.get_type_name()}({operands}) {given or ''} -> {', '.join(map(_typed, node.outputs()))}"


def _typed(output: ov.Output) -> str:
    return f"{output.get_element_type().get_type_name()}{output.get_partial_shape()}"


def _elements(output: ov.Output) -> str:
    node = output.get_node()
    return f" {node.data.ravel()[:6].tolist()}" if node.get_type_name() == "Constant" else ""
