"""Our operations inside OpenVINO on data in lanes: what stands along the last dimension is gathered by one index."""

import numpy as np
import pytest

import ov_gather
from helpers.inside_openvino import evaluate, one_layer, read
from ov_gather.ir.element_types import I32, I64

FLAGS = {"broadcast": False, "transpose": False, "same_shape": False, "lanes": True}


def layer_model(data, indices, axis, **flags):
    inputs = {"data": (data, I32), "indices": (indices, I64)}
    return one_layer("GatherElements", inputs, {"axis": axis, **FLAGS, **flags})


@pytest.mark.sanitized
@pytest.mark.parametrize("lanes", [1, 2, 3, 4])
@pytest.mark.parametrize("broadcast", [False, True])
def test_lanes_stay_together(core, lanes, broadcast, rng):
    """Elements of lanes are gathered by one index, whether they fill one wide element (as 2 and 4 of i32) or not."""
    data = rng.integers(-(2**31), 2**31, (3, 7, 5, lanes), np.int64).astype(np.int32)
    where = rng.integers(-7, 7, (3, 10, 1) if broadcast else (2, 10, 4))
    model = read(core, layer_model("?,?,?,?", "?,?,?", -3, broadcast=broadcast))
    part = data if broadcast else data[:2, :, :4]
    expected = np.take_along_axis(part, np.broadcast_to(where, (len(part), 10, part.shape[2]))[..., None], 1)
    assert np.array_equal(evaluate(model, I32, data, where), expected)
    where[1, 9, 0] = 7
    with pytest.raises(RuntimeError, match=r"indices\[1, 9, 0\] = 7 is out of bounds for axis 1 of size 7"):
        evaluate(model, I32, data, where)


@pytest.mark.onnxruntime
@pytest.mark.parametrize("kind", ["ScatterElements", "ScatterND"])
@pytest.mark.parametrize(("lanes", "reduction"), [("i64", "add"), ("c128", "mul")])
def test_scatters_are_checked(kind, lanes, reduction):
    """The layers that `convert --lanes` writes are compared with NumPy; ONNX has none."""
    count = 4 if lanes == "c128" else 2
    shapes = [[3, 7, count], [3, 9], [3, 9, count]] if kind == "ScatterElements" else [[3, 7, count], [9, 2], [9, count]]
    data, indices, updates = (",".join(map(str, shape)) for shape in shapes)
    inputs = {"data": (data, I32), "indices": (indices, I64), "updates": (updates, I32)}
    attributes = {"lanes": lanes, "reduction": reduction, **({"axis": -1} if kind == "ScatterElements" else {})}
    result = ov_gather.cross_check(one_layer(kind, inputs, attributes), runtimes=("extension", "onnxruntime"))
    assert result.passed, result.layers
