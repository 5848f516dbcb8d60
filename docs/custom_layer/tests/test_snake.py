"""The operation in OpenVINO, against its definition in NumPy: every type, open shapes, every axis, errors, a round trip."""

import numpy as np
import openvino as ov
import pytest
import snake
from make_model import make_model

TYPES = {"f32": (np.float32, 1e-6), "f16": (np.float16, 1e-3), "f64": (np.float64, 1e-6)}
CORE = ov.Core()
CORE.add_extension(snake.LIBRARY)


def expected(x, alpha, axis=1, epsilon=1e-9):
    x, alpha = x.astype(np.float64), np.expand_dims(alpha.astype(np.float64), [i for i in range(x.ndim) if i != axis % x.ndim])
    return x + np.sin(alpha * x) ** 2 / (alpha + epsilon)


def given(shape, axis, dtype):
    random = np.random.default_rng(sum(shape))
    return random.normal(0, 3, shape).astype(dtype), random.uniform(0.1, 2, shape[axis]).astype(dtype)


@pytest.mark.parametrize("element_type", TYPES)
@pytest.mark.parametrize(("shape", "axis"), [((3, 5, 7), 1), ((4, 6), -1), ((5, 2, 3, 4), 0), ((0, 3), 1), ((1, 64, 999), -2)])
def test_values(element_type, shape, axis):
    dtype, tolerance = TYPES[element_type]
    x, alpha = given(shape, axis, dtype)
    model = make_model([-1] * len(shape), -1, element_type, axis, 0.5)
    y = CORE.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})([x, alpha])["y"]
    assert (y.shape, y.dtype) == (x.shape, x.dtype)
    np.testing.assert_allclose(y, expected(x, alpha, axis, 0.5), tolerance, tolerance)
    (layer,) = [node for node in model.get_ops() if node.get_type_name() == "Snake"]
    y = ov.Tensor(getattr(ov.Type, element_type), ov.Shape(shape))
    assert layer.evaluate([y], [ov.Tensor(x), ov.Tensor(alpha)])  # in this type: the plugin computes in f32
    np.testing.assert_allclose(y.data, expected(x, alpha, axis, 0.5), 1e-12 if element_type == "f64" else tolerance, tolerance)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"element_type": "i32"}, "takes f32, f16 and f64, not i32"),
        ({"epsilon": -1.0}, "epsilon must not be negative"),
        ({"axis": -4}, "axis -4 is out of range"),
        ({"channels": 3}, "one element for each of 2 channels"),
    ],
)
def test_errors(arguments, said):
    with pytest.raises(RuntimeError, match=said):
        make_model(**arguments)


def test_a_round_trip(tmp_path):
    ov.save_model(make_model(axis=-2, epsilon=0.25), tmp_path / "again.xml", compress_to_fp16=False)
    again = CORE.read_model(tmp_path / "again.xml")
    (layer,) = [node for node in again.get_ops() if node.get_type_name() == "Snake"]
    assert layer.get_attributes() == {"axis": -2, "epsilon": 0.25}
    assert again.outputs[0].partial_shape == ov.PartialShape("?,2,?")
