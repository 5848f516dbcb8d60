"""Layers become operations of our opset: which ones, with which attributes, and what becomes of inputs that ours lack."""

import numpy as np
import pytest

from helpers.paths import VALID
from ov_gather import read_ir
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I64
from ov_gather.ir.shapes import PartialShape
from ov_gather.runtimes.openvino import customized


def model_of(layer_type, opset, text, constant_axis=True):
    builder = ModelBuilder("model")
    shapes = {"data": (F32, (3, 4)), "indices": (I64, (2, 1) if "ND" in layer_type else (2, 4)), "updates": (F32, (2, 4))}
    inputs = [builder.parameter(name, kind, PartialShape.of(sizes)) for name, (kind, sizes) in shapes.items()]
    if "ND" not in layer_type:
        axis = np.array(0)
        inputs.append(
            builder.const("axis", I64, axis) if constant_axis else builder.parameter("axis", I64, PartialShape.of(()))
        )
    (output,) = builder.layer(layer_type, "scatter", opset, text, inputs, [(F32, PartialShape.of((3, 4)))])
    builder.result("output", output)
    return builder.build()


def scatter_of(model):
    return next(layer for layer in model.layers if layer.name == "scatter")


@pytest.mark.parametrize(
    ("layer_type", "opset", "text", "expected"),
    [
        ("ScatterElementsUpdate", "opset3", {}, ("ScatterElements", {"axis": "0", "reduction": "none"})),
        ("ScatterElementsUpdate", "opset12", {"reduction": "sum"}, ("ScatterElements", {"axis": "0", "reduction": "add"})),
        ("ScatterNDUpdate", "opset4", {}, ("ScatterND", {"reduction": "none"})),
        ("ScatterNDUpdate", "opset15", {"reduction": "prod"}, ("ScatterND", {"reduction": "mul"})),
        ("ScatterNDUpdate", "opset15", {"reduction": "max"}, ("ScatterND", {"reduction": "max"})),
    ],
)
def test_scatters(layer_type, opset, text, expected):
    made = customized(model_of(layer_type, opset, text))
    layer = scatter_of(made)
    assert (layer.type, layer.attributes, layer.version) == (*expected, "ov_gather")
    assert len(layer.inputs) == 3
    assert [made.producer(layer, port)[0].name for port in layer.inputs] == ["data", "indices", "updates"]
    assert all(edge.to_port in [port.id for port in layer.inputs] for edge in made.edges if edge.to_layer == layer.id)


@pytest.mark.parametrize(
    ("layer_type", "opset", "text", "constant_axis"),
    [
        ("ScatterElementsUpdate", "opset12", {"reduction": "mean"}, True),
        ("ScatterElementsUpdate", "opset12", {"reduction": "sum", "use_init_val": "false"}, True),
        ("ScatterElementsUpdate", "opset3", {}, False),
        ("ScatterElementsUpdate", "opset12", {"reduction": "sub"}, True),
        ("ScatterNDUpdate", "opset15", {"reduction": "sub"}, True),
        ("ScatterUpdate", "opset3", {}, True),
    ],
)
def test_what_ours_do_not_do_stays(layer_type, opset, text, constant_axis):
    model = model_of(layer_type, opset, text, constant_axis)
    assert customized(model) == model


@pytest.mark.parametrize(
    ("name", "layer_type", "attributes"),
    [
        ("gather_8", "Gather", {"batch_dims": "0", "bounds": "zero"}),
        ("gather_7", "Gather", {"batch_dims": "1"}),
        ("gather_nd_8", "GatherND", {"batch_dims": "1"}),
    ],
)
def test_gathers(name, layer_type, attributes):
    model = customized(read_ir(VALID / f"{name}.xml"))
    layer = next(layer for layer in model.layers if layer.type == layer_type)
    assert (layer.version, layer.attributes) == ("ov_gather", attributes)


def test_fused_batches_stay():
    model = read_ir(VALID / "gather_nd_5.xml")
    assert customized(model) == model
