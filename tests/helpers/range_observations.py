"""What the CPU plugin computes at each tensor of a model, whose outputs it becomes.

An index out of bounds may read and write any memory: nothing that depends on one is looked at.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import openvino as ov
from numpy.typing import NDArray
from openvino import opset16 as ops

from helpers.index_sites import Arrays, Site, Tensor, site_of, tensor
from ov_gather.runtimes.session import Session

HARMFUL = ("GatherElements", "GatherND", "ScatterUpdate", "ScatterElementsUpdate", "ScatterNDUpdate")
"""Out of bounds these raise, or read and write whatever is in memory: nothing that depends on them is looked at then."""
FEW = 64
"""Of so many integers in one row Gather reads memory out of bounds. Near by that is worth a look, far away it crashes."""
NEAR = 1000
MOST_COMPILED = 10
"""How often parts of one model are compiled, which takes nearly all the time: again and smaller where an inference raises."""


@cache
def _core() -> ov.Core:
    """The one Core of this process; making one takes time."""
    return ov.Core()


class Observer:
    """Observes the tensors of one model.

    about_to: is called before anything that may end the process, with a name for that; false means to skip it.
    """

    def __init__(self, model: ov.Model, about_to: Callable[[str], bool]) -> None:
        self._model, self._about_to, self._compiled = model, about_to, 0
        self._sessions: dict[tuple[Tensor, ...], Session | None] = {}
        self._crashed: set[tuple[Tensor, ...]] = set()
        self._before: dict[Tensor, frozenset[str]] = {}
        self._sites: dict[str, Site] = {}
        self.constants: dict[Tensor, NDArray[Any]] = {}
        self.raised = 0
        for node in model.get_ordered_ops():
            self._look_at(node)
        groups: dict[frozenset[str], list[Tensor]] = {}
        for one, before in self._before.items():
            groups.setdefault(before, []).append(one)
        self._groups = sorted(groups.items(), key=lambda group: len(group[0]))
        self._parameters = [tensor(node.output(0)) for node in model.get_parameters()]

    def _look_at(self, node: ov.Node) -> None:
        if node.get_type_name() == "Constant":
            self.constants[tensor(node.output(0))] = np.array(node.data)
        if node.get_type_name() in ("Constant", "Parameter", "Result", "Assign"):
            return
        before = frozenset().union(*(self._before.get(tensor(value), frozenset()) for value in node.input_values()))
        site = site_of(node)
        if site is not None and (node.get_type_name() in HARMFUL or _is_of_few(node)):
            self._sites[site.name] = site
            before |= {site.name}
        for output in node.outputs():
            if output.get_partial_shape().rank.is_static:
                self._before[tensor(output)] = before

    def observe(self, inputs: Sequence[NDArray[Any]]) -> Arrays:
        """All tensors that these inputs, as often as the runtime computes them, let us see."""
        found: dict[Tensor, NDArray[Any]] = dict(zip(self._parameters, inputs, strict=True)) | self.constants
        left = list(self._groups)
        while left:
            harmless = [(before, group) for before, group in left if self._is_harmless(before, found)]
            if not harmless:
                break
            left = [one for one in left if one not in harmless]
            self._see([one for _, group in harmless for one in group], inputs, found)
        return found

    def _is_harmless(self, before: frozenset[str], found: Arrays) -> bool:
        return not any(self._harms(self._sites[name], found) for name in before)

    def observe_alone(self, one: Tensor, inputs: Sequence[NDArray[Any]], seen: Arrays) -> NDArray[Any] | None:
        """One tensor, of a model that ends there, so that other operations are joined than where all are observed."""
        if one not in self._before or not self._is_harmless(self._before[one], seen):
            return None
        outputs = self._run((one,), inputs)
        return None if outputs is None else outputs[0]

    def _harms(self, site: Site, found: Arrays) -> bool:
        outside = site.outside(found)
        if outside is None:
            return True
        is_few = "_Gather" in site.name and not any(name in site.name for name in HARMFUL)
        return bool(outside.any()) and (not is_few or bool((np.abs(found[site.index].astype(np.int64)) > NEAR).any()))

    def _see(
        self,
        group: Sequence[Tensor],
        inputs: Sequence[NDArray[Any]],
        found: dict[Tensor, NDArray[Any]],
        *,
        is_of_crashed: bool = False,
    ) -> None:
        """Observe some tensors at once; where that raises, those of each half. A crash takes long: its halves are the last."""
        outputs = self._run(tuple(group), inputs)
        has_crashed = tuple(group) in self._crashed
        if outputs is not None:
            found.update(zip(group, outputs, strict=True))
        elif len(group) > 1 and not (has_crashed and is_of_crashed):
            for half in (group[: len(group) // 2], group[len(group) // 2 :]):
                self._see(half, inputs, found, is_of_crashed=has_crashed)

    def _run(self, group: tuple[Tensor, ...], inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]] | None:
        """The tensors of a group; None where OpenVINO raises, now or while it compiles."""
        stage = f"{group[-1][0]} and {len(group) - 1} more"
        if group not in self._sessions and self._compiled < MOST_COMPILED and self._may(f"compiling {stage}", group):
            self._sessions[group] = self._compile(group)
        session = self._sessions.get(group)
        if session is None or not self._may(f"running {stage}", group):
            return None
        try:
            return session(inputs)
        except (RuntimeError, ValueError):  # ValueError: OpenVINO gives out a tensor whose size is negative
            self.raised += 1
            del self._sessions[group]  # because TopK and loops give out old results after an inference that has raised
            return None

    def _may(self, stage: str, group: tuple[Tensor, ...]) -> bool:
        if not self._about_to(stage):
            self._crashed.add(group)
        return group not in self._crashed

    def _compile(self, group: Sequence[Tensor]) -> Session | None:
        self._compiled += 1
        try:
            return Session(_core(), cut(self._model, group), properties={"INFERENCE_NUM_THREADS": 2})
        except RuntimeError:
            return None


def cut(model: ov.Model, tensors: Sequence[Tensor]) -> ov.Model:
    """The model with these tensors as its only outputs. All Parameters stay, and so do states."""
    copy = model.clone()
    nodes = {node.get_friendly_name(): node for node in copy.get_ordered_ops() if node.get_type_name() != "Result"}
    results = [ops.result(nodes[name].output(position)) for name, position in tensors]
    return ov.Model(results, copy.get_sinks(), copy.get_parameters(), "cut")


def _is_of_few(node: ov.Node) -> bool:
    """Whether a Gather reads from one row of integers that may be as few as those that are not checked."""
    data = node.input_value(0)
    shape = data.get_partial_shape()
    is_integer = data.get_element_type().get_type_name() in ("i32", "i64")
    if node.get_type_name() != "Gather" or not is_integer or len(shape) > 1:
        return False
    return len(shape) == 0 or shape[0].is_dynamic or shape[0].get_length() <= FEW
