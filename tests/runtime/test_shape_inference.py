"""Shape rules against OpenVINO's own: the same shape, or both refuse, on thousands of random partial shapes an operation."""

from functools import cache

import numpy as np
import openvino as ov
import pytest
from openvino import opset1, opset3, opset4, opset5, opset6, opset7, opset8, opset12, opset15
from openvino.utils.node_factory import NodeFactory

from helpers import seeds
from ov_gather import extension_path
from ov_gather.ir.shapes import PartialShape
from ov_gather.ops import OPERATIONS
from ov_gather.ops.spec import ShapeError

PAIRS = 5_000
DIMS = ("?", "0", "1", "2", "3", "3", "4", "1..3", "2..", "..4", "3..5")


def shape(rng):
    return "..." if rng.random() < 0.06 else ",".join(rng.choice(DIMS) for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 3, 4))))


def like(rng, text):
    """A shape, often of the same rank with other dimensions, so that not nearly all pairs are refused."""
    if text in ("...", "") or rng.random() < 0.3:
        return shape(rng)
    return ",".join(dim if rng.random() < 0.7 else rng.choice(DIMS) for dim in text.split(","))


def parameter(text, element_type=ov.Type.f32):
    return ov.op.Parameter(element_type, ov.PartialShape("[...]" if text == "..." else f"[{text}]"))


def axis(value):
    return parameter("", ov.Type.i64) if value is None else opset1.constant(np.array(value))


@cache
def ours():
    """What makes nodes of our opset."""
    factory = NodeFactory()
    factory.add_extension(str(extension_path()))
    return factory


def of_ours(kind, operands, **attributes):
    return ours().create(kind, [node.output(0) for node in operands], attributes)


# Name of the operation -> the node that OpenVINO makes of operands and attributes.
NODES = {
    "GatherElements-6": lambda s, a: opset6.gather_elements(*s, a["axis"]),
    "Gather-1": lambda s, a: opset1.gather(*s, axis(a["axis"])),
    "Gather-7": lambda s, a: opset7.gather(*s, axis(a["axis"]), a["batch_dims"]),
    "Gather-8": lambda s, a: opset8.gather(*s, axis(a["axis"]), a["batch_dims"]),
    "GatherND-5": lambda s, a: opset5.gather_nd(*s, a["batch_dims"]),
    "GatherND-8": lambda s, a: opset8.gather_nd(*s, a["batch_dims"]),
    "ScatterElementsUpdate-3": lambda s, a: opset3.scatter_elements_update(*s, axis(a["axis"])),
    "ScatterElementsUpdate-12": lambda s, a: opset12.scatter_elements_update(*s, axis(a["axis"])),
    "ScatterUpdate-3": lambda s, a: opset3.scatter_update(*s, axis(a["axis"])),
    "ScatterNDUpdate-3": lambda s, a: opset4.scatter_nd_update(*s),
    "Gather-ov_gather": lambda s, a: of_ours("Gather", [*s, axis(a["axis"])], batch_dims=a["batch_dims"]),
    "GatherND-ov_gather": lambda s, a: of_ours("GatherND", s, batch_dims=a["batch_dims"]),
    "ScatterElements-ov_gather": lambda s, a: of_ours("ScatterElements", s, reduction="add", axis=a["axis"]),
    "ScatterND-ov_gather": lambda s, a: of_ours("ScatterND", s, reduction="add"),
    "ScatterNDUpdate-15": lambda s, a: opset15.scatter_nd_update(*s),
}


def specified(operation, shapes, values):
    """The shape by our rules, or None where they refuse."""
    partial = [PartialShape.parse(text) for text in shapes]
    partial += [PartialShape.of(())] * (len(operation.inputs) - len(partial))
    try:
        return operation.infer_shapes(partial, {name: value for name, value in values.items() if value is not None})[0]
    except ShapeError:
        return None


def inferred(name, shapes, values):
    """The shape that OpenVINO infers, or None where it refuses."""
    data, indices, *updates = shapes
    try:
        node = NODES[name]([parameter(data), parameter(indices, ov.Type.i64), *map(parameter, updates)], values)
        return PartialShape.parse(str(node.output(0).partial_shape).strip("[]"))
    except (RuntimeError, TypeError, ValueError):  # a negative number for an unsigned attribute, std::length_error
        return None


def rank(text):
    return text.count(",") + 1 if text else 0


def refused_by_ours_alone(name, data, where, batch_dims, axis, **_):
    """Return True for negative batch_dims of GatherND, scalar data, and batch_dims not below the rank where axis is unknown."""
    if name == "GatherND-ov_gather":
        return batch_dims < 0
    batch_dims += rank(where) if batch_dims < 0 else 0
    return name == "Gather-ov_gather" and (data == "" or (axis is None and data != "..." and batch_dims >= rank(data)))


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    "operation", [operation for operation in OPERATIONS if operation.name in NODES], ids=lambda operation: operation.name
)
def test_the_same_shape_or_both_refuse(operation):
    rng = seeds.choices(operation.name)
    agreed = 0
    for _ in range(PAIRS):
        data = shape(rng)
        where = like(rng, data)
        shapes = (data, where, like(rng, where))[: 3 if "Scatter" in operation.name else 2]
        constant = rng.random() < 0.85 or any(attribute.name == "axis" for attribute in operation.attributes)
        values = {"axis": rng.randint(-3, 3) if constant else None}
        if operation.name != "Gather-1":
            values["batch_dims"] = rng.choice((0, 0, 1, 1, 2, -1, -2, 3))
        if "Gather-" in operation.name and values.get("batch_dims", 0) < -(where.count(",") + 1 if where else 0):
            continue  # OpenVINO reads before the beginning of the shape
        if refused_by_ours_alone(operation.name, data, where, **{"batch_dims": 0, **values}):
            continue
        ours, theirs = specified(operation, shapes, values), inferred(operation.name, shapes, values)
        assert ours == theirs, f"{operation.name} {shapes} {values}: {ours}, OpenVINO {theirs}"
        agreed += ours is not None
    assert agreed > PAIRS / 10  # enough examples are not refused
