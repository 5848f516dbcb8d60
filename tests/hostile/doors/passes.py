"""`accelerate` and `harden` on one gather or scatter, in forms near known divergences.

Batches of one, dynamic and bounded dimensions, empty tensors, indices of every integer type, names that collide. The oracle
computes the operation element by element; the nodes around it only move elements.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
from openvino import opset1, opset3, opset4, opset5, opset7, opset8, opset12, opset15
from openvino import opset13 as ops

import ov_gather
from helpers.naive_family import Call, OutOfBoundsError
from ov_gather.acceleration import changes

TRIALS = 120
SECONDS = 60

KINDS = (
    *("Gather-1", "Gather-7", "Gather-8", "GatherElements-6", "GatherElements-6", "GatherND-5", "GatherND-8", "GatherND-8"),
    *("ScatterUpdate-3", "ScatterElementsUpdate-3", "ScatterElementsUpdate-12", "ScatterNDUpdate-3", "ScatterNDUpdate-15"),
)
INDEX_TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
DATA_TYPES = (*("float32",) * 4, "int32", "int64", "uint8", "bool", "float16")
TABLE: dict[str, Any] = {"Gather-1": opset1, "Gather-7": opset7, "Gather-8": opset8, "GatherND-5": opset5, "GatherND-8": opset8}
ACCELERATE = ({}, {"portable": True}, {"portable": True, "assume_in_bounds": True})
HARDEN = ({"policy": "raise"}, {"policy": "raise", "portable": True}, {"policy": "clamp"}, {"policy": "zero"})


def attack(rng: np.random.Generator, folder: Path) -> None:
    """Rewrite a random model by one of the two functions, with random options, and execute it."""
    changes.SMALL = 0
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

    data, axis = given(call.data, "data", True), ops.constant(call.axis)
    tuples = "ND" in call.kind
    inside = given(call.indices, "indices", not call.kind.startswith("Scatter"), fixed=tuples)
    names = [f"{pick(rng, ('Constant', 'Squeeze', 'Convert', 'ShapeOf', 'Gather'))}_{number + i}" for i in range(5, 45, 9)]
    if tuples and rng.integers(2) and inside.get_element_type() in (ov.Type.i64, ov.Type.i32) and call.policy == "raise":
        parts = ops.split(inside, ops.constant(len(call.indices.shape) - 1), call.indices.shape[-1]).outputs()
        inside = ops.concat(parts, len(call.indices.shape) - 1).output(0)
    if call.updates is not None:
        updates = given(call.updates, "updates", True)
    attributes = {} if call.reduction == "none" else {"reduction": call.reduction}
    match call.kind:
        case "Gather-1":
            node = opset1.gather(data, inside, axis)
        case "Gather-7" | "Gather-8":
            node = TABLE[call.kind].gather(data, inside, axis, call.batch_dims)
        case "GatherElements-6":
            node = ops.gather_elements(data, inside, call.axis)
        case "GatherND-5" | "GatherND-8":
            node = TABLE[call.kind].gather_nd(data, inside, call.batch_dims)
        case "ScatterUpdate-3":
            node = opset3.scatter_update(data, inside, updates, axis)
        case "ScatterElementsUpdate-3":
            node = opset3.scatter_elements_update(data, inside, updates, axis)
        case "ScatterElementsUpdate-12":
            node = opset12.scatter_elements_update(data, inside, updates, axis, **attributes)
        case "ScatterNDUpdate-3":
            node = opset4.scatter_nd_update(data, inside, updates)
        case _:
            node = opset15.scatter_nd_update(data, inside, updates, **attributes)
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
        properties = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": 1}
        request = ov_gather.register(ov.Core()).compile_model(model, "CPU", properties).create_infer_request()
        for position, array in enumerate(feed):
            request.set_input_tensor(position, ov.Tensor(array))
        request.start_async()
        request.wait()
    except RuntimeError as error:
        assert expected is None, f"{error}\n{told}"
        return
    assert expected is not None, f"an index out of bounds raised no error\n{told}"
    found = request.get_output_tensor(0).data
    assert found.shape == expected.shape, f"{found.shape}, expected {expected.shape}\n{told}"
    assert found.tobytes() == expected.tobytes(), f"{found}, expected {expected}\n{told}"
