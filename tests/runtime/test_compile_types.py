"""`compile_onnx`: the order of equal numbers in TopK, and the rounding of float16, which OpenVINO drops."""

import warnings

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator

from helpers.legalized import run
from helpers.saved_models import parsed
from ov_gather.converters import LossyConversionWarning, compile_onnx


@pytest.mark.parametrize("largest", [0, 1])
@pytest.mark.parametrize(("name", "dtype", "size", "k"), [("float", "float32", 20, 12), ("int32", "int32", 40, 30)])
def test_topk_takes_the_first_of_equal_numbers(name, dtype, size, k, largest):
    topk = f"k = Constant<value = int64[1] {{{k}}}>() v, y = TopK<largest = {largest}>(a, k)"
    model = parsed(f"({name}[{size}] a) => (int64[{k}] y) {{ {topk} }}")
    inputs = {"a": np.tile(np.array([1, 2, 2, 1], dtype), size // 4)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = compile_onnx(model)(inputs)
    np.testing.assert_array_equal(result["y"], run(model, inputs)[0])


@pytest.mark.parametrize(
    "text",
    [
        "(float[3000] w, float[2] a) => (float[2] y) { h = Cast<to = 10>(a) i = Cast<to = 7>(h) y = Gather(w, i) }",
        "(float[3000] w, int32[2] a) => (float[2] y) { h = Cast<to = 10>(a) i = Cast<to = 7>(h) y = Gather(w, i) }",
        "(float[2] a) => (float[2] y) { h = Cast<to = 10>(a) y = Cast<to = 1>(h) }",
        "(float[2] a) => (float[2] y) { h = Cast<to = 10>(a) m = Identity(h) y = Cast<to = 1>(m) }",
        "(float[2] a, float16[2] b) => (float[2] y) { h = CastLike(a, b) y = Cast<to = 1>(h) }",
        "(float[2] a, float16[2] b) => (bool[2] y) { h = Cast<to = 10>(a) y = Equal(h, b) }",
    ],
)
def test_a_cast_to_float16_that_does_not_round_is_named(text):
    model = parsed(text)
    values = {
        "w": np.arange(3000, dtype=np.float32),
        "a": np.array([2049, 2051], np.int32 if "int32" in text else np.float32),
        "b": np.array([2048, 2052], np.float16),
    }
    inputs = {each.name: values[each.name] for each in model.graph.input}
    with pytest.warns(LossyConversionWarning, match="this Cast neither rounds nor overflows"):
        compiled = compile_onnx(model)
    # Should OpenVINO round one day, the warning is to go. onnxruntime itself drops such a Cast before Equal.
    (right,) = ReferenceEvaluator(model).run(None, inputs)
    assert not np.array_equal(compiled(inputs)["y"], right)


@pytest.mark.parametrize(
    "text",
    [
        "(float[2] a) => (float16[2] y) { y = Cast<to = 10>(a) }",
        "(float[2] a) => (float[2] y) { h = Cast<to = 10>(a) m = Mul(h, h) y = Cast<to = 1>(m) }",
        "(float[2] a) => (float[2] y) { h = Cast<to = 10>(a) z = Add(h, h) g = CastLike(z, h) y = Cast<to = 1>(g) }",
        "(float[2] a) => (int64[1] y) { h = Cast<to = 10>(a) y = Shape(h) }",
        "(float16[2] a) => (int32[2] y) { y = Cast<to = 6>(a) }",
        "(uint8[2] a) => (float[2] y) { h = Cast<to = 10>(a) y = Cast<to = 1>(h) }",
        "(float[2] a) => (float[2] y) { b = IsNaN(a) i = Cast<to = 6>(b) h = Cast<to = 10>(i) y = Cast<to = 1>(h) }",
    ],
)
def test_a_cast_to_float16_that_makes_no_difference_is_not_named(text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile_onnx(parsed(text))
