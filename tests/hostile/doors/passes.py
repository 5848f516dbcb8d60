"""`accelerate` and `harden` on one gather or scatter, in forms near known divergences.

Batches of one, dynamic and bounded dimensions, empty tensors, indices of every integer type, names that collide. The oracle
computes the operation element by element; the nodes around it only move elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
from openvino import opset13 as ops
from openvino.utils.node_factory import NodeFactory

import ov_gather
from ov_gather.acceleration import costs
from ov_gather.runtimes.session import Session

TRIALS = 120
SECONDS = 60

OPSETS = {
    **{"Gather-1": "opset1", "Gather-7": "opset7", "Gather-8": "opset8", "GatherElements-6": "opset6"},
    **{"GatherND-5": "opset5", "GatherND-8": "opset8", "ScatterUpdate-3": "opset3", "ScatterElementsUpdate-3": "opset3"},
    **{"ScatterElementsUpdate-12": "opset12", "ScatterNDUpdate-3": "opset4", "ScatterNDUpdate-15": "opset15"},
}
KINDS = (*OPSETS, "GatherElements-6", "GatherND-8")
INDEX_TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
DATA_TYPES = (*("float32",) * 4, "int32", "int64", "uint8", "bool", "float16")
ACCELERATE = ({}, {"portable": True}, {"portable": True, "assume_in_bounds": True})
HARDEN = ({"policy": "raise"}, {"policy": "raise", "portable": True}, {"policy": "clamp"}, {"policy": "zero"})


class OutOfBoundsError(Exception):
    """An index is out of bounds, and the policy is to raise."""


@dataclass(frozen=True)
class Call:
    """One call of an operation.

    Attributes:
        kind: versioned name, e.g. "Gather-8".
        policy: what an index out of bounds does: "raise", "clamp" or "zero".
    """

    kind: str
    data: np.ndarray
    indices: np.ndarray
    axis: int = 0
    batch_dims: int = 0
    updates: np.ndarray | None = None
    reduction: str = "none"
    policy: str = "raise"

    def evaluate(self) -> np.ndarray:
        """Return the output, element by element. Raises OutOfBoundsError."""
        if self.updates is not None:
            out = self.data.copy()
            combined = {"none": lambda old, new: new, "sum": np.add, "min": np.minimum, "max": np.maximum}[self.reduction]
            for place, where in self._pairs():
                out[place] = combined(out[place], self.updates[where])
            return out
        shape, given, batch = self.data.shape, self.indices.shape, self.batch_dims
        if "ND" in self.kind:
            given = (*given[:-1], *shape[batch + given[-1] :])
        elif self.kind != "GatherElements-6":
            given = (*shape[: self.axis], *given[batch:], *shape[self.axis + 1 :])
        out = np.zeros(given, self.data.dtype)
        for place, where in self._pairs():
            out[where] = self.data[place]
        return out.reshape(int(np.prod(given[:batch])), *given[batch:]) if self.kind == "GatherND-5" and batch > 1 else out

    def _pairs(self) -> Iterator[tuple[Any, Any]]:
        """Yield places in data with those in the output, or in updates."""
        axis, batch, tuples = self.axis, self.batch_dims, "ND" in self.kind
        for where in np.ndindex(self.indices.shape[:-1] if tuples else self.indices.shape):
            named = np.atleast_1d(self.indices[where]).tolist()
            place = self._place(named, range(batch, batch + len(named)) if tuples else [axis])
            if place is None:
                continue
            if "Elements" in self.kind:
                yield (*where[:axis], *place, *where[axis + 1 :]), where
            else:
                between = (slice(None),) * (0 if tuples else axis - batch)
                yield (*where[:batch], *between, *place), (*where[:batch], *between, *where[batch:])

    def _place(self, coordinates: Sequence[int], axes: Sequence[int]) -> tuple[int, ...] | None:
        """Return coordinates counted from the start; None if one is out of bounds and the policy is "zero"."""
        found, is_out = [], False
        for coordinate, axis in zip(coordinates, axes, strict=True):
            size = self.data.shape[axis]
            lowest = 0 if self.kind in ("Gather-1", "Gather-7", "ScatterUpdate-3") else -size
            if size == 0 or (self.policy == "raise" and not lowest <= coordinate < size):
                raise OutOfBoundsError
            is_out |= not lowest <= coordinate < size
            found.append(min(max(coordinate, lowest), size - 1) % size)
        return None if is_out and self.policy == "zero" else tuple(found)


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Rewrite a random model by one of the two functions, with random options, and execute it."""
    costs.SMALL = 0
    is_hardened, call = bool(rng.integers(2)), None
    while call is None:
        call = random_call(rng, is_hardened)
    model, feed = build(rng, call)
    options = dict((HARDEN if is_hardened else ACCELERATE)[rng.integers(4 if is_hardened else 3)])
    (ov_gather.harden if is_hardened else ov_gather.accelerate)(after := model.clone(), **options)
    told = f"{call}\n{options}\n{[str(node) for node in model.get_parameters()]}"
    check_interface(model, after, told)
    check_names(model, after, folder)
    # Any Gather of static empty shapes crashes OpenVINO (dies-of-empty-gathers).
    is_empty = any(array.size == 0 for array in feed)
    if not is_hardened and rng.integers(2) and not call.kind.startswith("Gather-") and not is_empty:
        after.reshape({i: list(array.shape) for i, array in enumerate(feed)})
    policy = options.get("policy", "raise")
    if call.kind == "GatherND-5" and call.batch_dims > 1 and policy == "zero":
        policy = "raise"  # zeros are not supported here, according to the table
    check_results(call if policy == "raise" else replace(call, policy=policy), after, feed, told)


def pick(rng: np.random.Generator, choices: Any) -> Any:
    return choices[int(rng.integers(len(choices)))]


def random_call(rng: np.random.Generator, is_hardened: bool) -> Call | None:
    """Return a call that OpenVINO executes correctly; one for `harden` may have an index out of bounds. None if impossible."""
    kind, rank = pick(rng, KINDS), int(rng.integers(1, 4))
    shape = [int(pick(rng, (0, 1, 1, 1, 2, 3, 5))) for _ in range(rank)]
    axis, count = int(rng.integers(rank)), int(pick(rng, (0, 1, 1, 2, 4)))
    batch, updates, reduction = 0, None, "none"
    if kind in ("Gather-7", "Gather-8"):
        batch = int(rng.integers(axis + 1))
    elif kind.startswith("GatherND"):
        batch = int(rng.integers(rank))
    length = int(rng.integers(1, rank - batch + 1)) if "ND" in kind else 0
    if kind.startswith("Gather-"):
        index_shape = [*shape[:batch], *[count] * int(rng.integers(0, 3))]
        limits = np.array(shape[axis])
    elif "Elements" in kind:
        index_shape = [count if i == axis else size for i, size in enumerate(shape)]
        limits = np.array(shape[axis])
    elif kind == "ScatterUpdate-3":
        index_shape, limits = [count], np.array(shape[axis])
    else:
        index_shape, limits = [*shape[:batch], count, length], np.array(shape[batch : batch + length])
    if not is_hardened and 0 in limits.ravel() and np.prod(index_shape):
        return None  # no index is in bounds
    if kind.startswith("Gather-") and 0 in (*shape, *index_shape):
        return None  # OpenVINO's compiler crashes
    if kind.startswith("Scatter") and 0 in (*shape, *index_shape):
        return None  # OpenVINO does not execute it
    data = rng.integers(0, 99, shape).astype(pick(rng, DATA_TYPES))
    wanted = pick(rng, INDEX_TYPES)
    if kind in ("GatherElements-6", "ScatterNDUpdate-3", "ScatterNDUpdate-15"):
        wanted = pick(rng, ("int32", "int64"))
    from_end = np.dtype(wanted).kind == "i" and kind not in ("Gather-1", "Gather-7", "ScatterUpdate-3")
    low = -limits if from_end else 0 * limits
    indices = rng.integers(low, np.maximum(limits, 1), index_shape).astype(wanted)
    if kind.startswith("Scatter"):
        if indices.size > 1 and not (kind.startswith("ScatterElements") and count == 1):
            return None  # an element that is written twice is undefined in OpenVINO
        updates = rng.integers(0, 2, _update_shape(kind, shape, index_shape, axis, length)).astype(data.dtype)
        if kind in ("ScatterElementsUpdate-12", "ScatterNDUpdate-15") and data.dtype in (np.float32, np.int32):
            reduction = pick(rng, ("none", "sum", "min", "max"))
    elif is_hardened and indices.size and rng.integers(2):
        limit = np.iinfo(wanted)
        lowest, highest = max(limit.min, -(2**31)), min(limit.max, 2**31 - 1)
        indices.flat[rng.integers(indices.size)] = pick(rng, (highest, lowest, min(highest, int(limits.max(initial=0)))))
    return Call(kind, data, indices, axis, batch, updates, reduction)


def _update_shape(kind: str, shape: list[int], index_shape: list[int], axis: int, length: int) -> list[int]:
    if kind.startswith("ScatterElements"):
        return index_shape
    if kind == "ScatterUpdate-3":
        return [*shape[:axis], *index_shape, *shape[axis + 1 :]]
    return [*index_shape[:-1], *shape[length:]]


def build(rng: np.random.Generator, call: Call) -> tuple[ov.Model, list[np.ndarray]]:
    """Build a model of a call in a random form; return it with arrays for its inputs."""
    fed: list[tuple[ov.Node, np.ndarray]] = []
    number = int(ops.constant(0).get_name().rpartition("_")[2])
    # Static batches of one are a known divergence of OpenVINO's own Gather.
    is_open = bool(rng.integers(2)) or (
        call.kind in ("Gather-7", "Gather-8") and set(call.indices.shape[: call.batch_dims]) <= {1}
    )

    def given(array: np.ndarray, name: str, may_be_constant: bool, fixed: int = 0) -> ov.Output:
        if may_be_constant and not is_open and rng.integers(4) == 0:
            return ops.constant(array).output(0)
        shape = [
            pick(rng, (-1, f"{size // 2}..{size + 3}")) if is_open and (rng.integers(3) or i < call.batch_dims) else size
            for i, size in enumerate(array.shape)
        ]
        if fixed:
            shape[-1] = array.shape[-1]
        node = ops.parameter(ov.PartialShape(shape), array.dtype, name=name)
        node.output(0).set_names({name})
        fed.append((node, array))
        return node.output(0)

    data = given(call.data, "data", True)
    tuples = "ND" in call.kind
    inside = given(call.indices, "indices", not call.kind.startswith("Scatter"), fixed=tuples)
    names = [f"{pick(rng, ('Constant', 'Squeeze', 'Convert', 'ShapeOf', 'Gather'))}_{number + i}" for i in range(5, 45, 9)]
    if tuples and rng.integers(2) and inside.get_element_type() in (ov.Type.i64, ov.Type.i32) and call.policy == "raise":
        parts = ops.split(inside, ops.constant(len(call.indices.shape) - 1), call.indices.shape[-1]).outputs()
        inside = ops.concat(parts, len(call.indices.shape) - 1).output(0)
    operands = [data, inside, *([] if call.updates is None else [given(call.updates, "updates", True)])]
    attributes: dict[str, Any] = {} if call.reduction == "none" else {"reduction": call.reduction}
    if call.kind == "GatherElements-6":
        attributes["axis"] = call.axis
    elif not tuples:
        operands.append(ops.constant(call.axis).output(0))
    if call.kind in ("Gather-7", "Gather-8", "GatherND-5", "GatherND-8"):
        attributes["batch_dims"] = call.batch_dims
    node = NodeFactory(OPSETS[call.kind]).create(call.kind.partition("-")[0], operands, attributes)
    node.set_friendly_name(names[0])
    result, unused = ops.result(node), ops.result(ops.unsqueeze(data, ops.constant(0), name=names[1]))
    unused.set_friendly_name(names[2])
    node.output(0).set_names({"out"})
    return ov.Model([result, unused], [parameter for parameter, _ in fed], "model"), [array for _, array in fed]


def check_interface(before: ov.Model, after: ov.Model, told: str) -> None:
    """Check that outputs have the same types, shapes and tensor names."""
    for old, new in zip(before.outputs, after.outputs, strict=True):
        assert old.get_element_type() == new.get_element_type(), told
        assert old.get_partial_shape() == new.get_partial_shape(), f"{old} {new}\n{told}"
        assert old.get_names() <= new.get_names(), told


def check_names(before: ov.Model, after: ov.Model, folder: Path) -> None:
    """Check that layer names are unique, if they were before."""
    found = []
    for name, model in (("before", before), ("after", after)):
        ov.serialize(model, folder / f"{name}.xml")
        found.append(ov_gather.validate(folder / f"{name}.xml", select=("OVG114",)))
    assert found[0] or not found[1], found[1]


def check_results(call: Call, model: ov.Model, feed: list[np.ndarray], told: str) -> None:
    """Check the outputs of one inference, or that it raises as expected."""
    try:
        expected = call.evaluate()
    except OutOfBoundsError:
        expected = None
    try:
        session = Session(ov_gather.register(ov.Core()), model, properties={"INFERENCE_NUM_THREADS": 1})
        found, _ = session(feed)
    except RuntimeError as error:
        assert expected is None, f"{error}\n{told}"
        return
    assert expected is not None, f"an index out of bounds raised no error\n{told}"
    assert found.shape == expected.shape, f"{found.shape}, expected {expected.shape}\n{told}"
    assert found.tobytes() == expected.tobytes(), f"{found}, expected {expected}\n{told}"
