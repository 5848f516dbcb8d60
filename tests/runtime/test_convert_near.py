"""Operators near the gathers through the converter: a part of their matrix, and what is lost on stock OpenVINO."""

import numpy as np
import onnx
import pytest

from helpers.cells import Cell, losses
from helpers.cells import model as model_of
from helpers.legalized import constant, model
from ov_gather.converters import ConversionError, compile_onnx, convert_model
from tools.measurements import near_gathers


@pytest.mark.sampled(12)
@pytest.mark.parametrize(
    ("cell", "outcome"),
    [
        (("Compress", "float32", "none", "shorter", "unknown rank"), "exact"),
        (("Compress", "float32", "none", "beyond", "dynamic"), "raises"),
        (("Compress", "string", "1", "beyond", "static"), "raises"),
        (("Compress", "float32", "1", "whole", "dynamic", ("data",)), "exact"),
        (("Compress", "complex128", "-1", "shorter", "dynamic"), "exact"),
        (("GatherND", "float32", "2 batch dims", "negative", "dynamic"), "exact"),
        (("GatherND", "float32", "1 batch dim", "other batches", "dynamic"), "raises"),
        (("ReverseSequence", "int32", "time first", "lengths", "dynamic"), "exact"),
        (("ReverseSequence", "uint64", "batch first", "lengths", "unknown rank"), "exact"),
        (("ReverseSequence", "string", "time first", "lengths", "static", ("data",)), "exact"),
        (("ReverseSequence", "float32", "batch first", "lengths", "static", ("data",)), "exact"),
        (("ReverseSequence", "complex64", "batch first", "lengths", "dynamic"), "exact"),
        (("ReverseSequence", "int32", "batch first", "beyond", "dynamic"), "raises"),
        (("ReverseSequence", "int32", "time first", "before", "dynamic"), "raises"),
        (("OneHot", "int64", "0 int64", "out of range", "dynamic", ("depth",)), "exact"),
        (("OneHot", "string", "-1 int64", "out of range", "static", ("depth",)), "exact"),
        (("OneHot", "complex64", "1 int64", "out of range", "static", ("depth", "values")), "exact"),
        (("OneHot", "float32", "-1 float32", "fractions", "dynamic", ("depth",)), "exact"),
        (("OneHot", "float32", "-1 int64", "beyond 32 bits", "static", ("depth",)), "refused"),
        (("EmbeddingBag", "float32", "loop ReduceSum", "empty bag", "dynamic", ("table",)), "exact"),
        (("EmbeddingBag", "float32", "loop ReduceMax", "before", "dynamic", ("table",)), "raises"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else value,
)
def test_a_part_of_the_matrix(cell, outcome):
    assert near_gathers.outcome(Cell(*cell))[0] == outcome


def test_a_length_of_no_sequence_is_found():
    proto = model("int32[5,3] x, int64[3] n) => (int32[5,3] y)", "y = ReverseSequence(x, n)")
    compiled, x = compile_onnx(proto), np.arange(15, dtype=np.int32).reshape(5, 3)
    with pytest.raises(IndexError, match=r"indices\[0, 1, 0\] = 5 is out of bounds for axis 0 of size 5"):
        compiled({"x": x, "n": np.array([5, 6, 0])})
    with pytest.raises(IndexError, match=r"indices\[4, 2, 0\] = -6 is out of bounds for axis 0 of size 5"):
        compiled({"x": x, "n": np.array([5, 0, -1])})
    with pytest.raises((IndexError, ValueError, RuntimeError)):
        compile_onnx(model("int32[A,B] x, int64[C] n) => (int32[A,B] y)", "y = ReverseSequence(x, n)"))(
            {"x": x, "n": np.ones(1, int)}
        )


@pytest.mark.parametrize("data_type", ["int32", "uint32", "int64", "uint64"])
def test_stock_openvino_rounds_integers_in_sequences(data_type):
    proto = model(f"{data_type}[5,3] x, int64[3] n) => ({data_type}[5,3] y)", "y = ReverseSequence(x, n)")
    assert any("OVG712: integers are rounded to float32: node ReverseSequence" in text for text in losses(convert_model, proto))
    assert not any("reverse" in text or "rank" in text for text in losses(convert_model, proto, target="extension"))
    assert losses(compile_onnx, proto) == []


def test_stock_openvino_reverses_no_strings():
    proto = model("string[5,3] x, int64[3] n) => (string[5,3] y)", "y = ReverseSequence(x, n)")
    with pytest.raises(ConversionError, match=r"strings as bytes in ReverseSequence.*; target extension reverses them"):
        convert_model(proto)
    assert not any("ReverseSequence" in text for text in losses(convert_model, proto, target="extension"))
    assert losses(compile_onnx, proto) == []


def test_integers_that_float32_has_are_no_loss_in_sequences():
    small = model(
        "int8[5,3] x, int32[3] n8) => (int32[5,3] y)", "w = Cast<to = 6>(x) n = Cast<to = 7>(n8) y = ReverseSequence(w, n)"
    )
    assert losses(convert_model, small) == []


def test_a_condition_beyond_the_end_yields_zeros_on_stock_openvino():
    for shape, is_told in (("4,5", False), ("N,5", True)):
        proto = model(f"float[{shape}] x, bool[4] c) => (float[K,5] y)", "y = Compress<axis = 0>(x, c)")
        assert bool(losses(convert_model, proto)) == is_told
        assert losses(compile_onnx, proto) == []


def test_a_bag_for_each_offset_is_no_loss():
    """The indices and offsets are only moved and counted, and whoever calls is told where one does not fit in 32 bits."""
    cell = Cell("EmbeddingBag", "float32", "loop ReduceSum", "positive", constant=("table",))
    assert losses(compile_onnx, model_of(cell, near_gathers.subject(cell))) == []


def test_constant_strings_at_computed_places():
    nodes = "p = NonZero(c) q = Transpose(p) y = GatherND(t, q)"
    proto = constant(np.array(["a", "b", "ä"], object), model("bool[3] c) => (string[K] y)", nodes), "t")
    onnx.checker.check_model(proto)
    assert compile_onnx(proto)({"c": np.array([True, False, True])})["y"].tolist() == ["a", "ä"]
