"""Converted models check an index only where it may be out of bounds; elsewhere OpenVINO gathers alone, if it is fast."""

import numpy as np
import onnx
import pytest
from openvino import opset13 as ops

from helpers.accelerating import check_same, model_of, operations, parameter
from helpers.saved_models import parsed
from ov_gather.acceleration.graph import operation, ours, walk
from ov_gather.acceleration.proved_gathers import use_stock_where_proved
from ov_gather.converters import LossyConversionWarning, compile_onnx
from ov_gather.converters.models import convert
from ov_gather.runtimes.base import OutOfBoundsError
from ov_gather.runtimes.openvino import core_with_extension
from ov_gather.runtimes.session import Session

TABLE = np.arange(40, dtype=np.float32).reshape(10, 4)


def looked_up(code, table=TABLE, kind="float"):
    """A table that is looked up by what `code` computes from the inputs `i` and `scores`."""
    return parsed(f"(float[N,10] scores, int64[N] i) => ({kind}[N,4] y) {{ {code} y = Gather(t, j) }}", t=table)


BEST = "j = ArgMax<axis = 1, keepdims = 0>(scores)"
SCORES = np.eye(10, dtype=np.float32)[[0, 3, 9]]
NO_INDICES = np.zeros(3, np.int64)


def gathers(converted):
    return [operation(node) for _, node in walk(converted) if node.get_type_name().startswith("Gather")]


def test_a_proved_gather_is_openvinos_own():
    conversion = convert(looked_up(BEST), target="extension")
    assert gathers(conversion.model) == ["Gather-8"]
    assert any("no index can be out of bounds" in rewrite.what for rewrite in conversion.rewrites)
    (y,) = Session(core_with_extension(), conversion.model, "CPU")([SCORES, NO_INDICES])
    np.testing.assert_array_equal(y, TABLE[[0, 3, 9]])


def test_a_table_that_is_one_row_too_short_is_checked():
    conversion = convert(looked_up(BEST, TABLE[:9]), target="extension")
    assert gathers(conversion.model) == ["ov_gather.Gather"]
    assert not any("no index can be out of bounds" in rewrite.what for rewrite in conversion.rewrites)
    execute = Session(core_with_extension(), conversion.model, "CPU")
    np.testing.assert_array_equal(execute([SCORES[:2], NO_INDICES[:2]])[0], TABLE[[0, 3]])
    with pytest.raises(OutOfBoundsError, match=r"indices\[2\] = 9 is out of bounds for axis 0 of size 9"):
        execute([SCORES, NO_INDICES])


@pytest.mark.parametrize("is_proved", [True, False])
def test_each_gather_is_judged_alone(is_proved):
    """One branch of an If takes the best index, and the other one what it is given."""
    graphs = [f"{name} () => (float[N,4] {name}_y) {{ {name}_y = Gather(t, {name}) }}" for name in ("j", "i")]
    then, otherwise = graphs if is_proved else graphs[::-1]
    nodes = f"{BEST} y = If (c) <then_branch = {then}, else_branch = {otherwise}>"
    compiled = compile_onnx(parsed(f"(bool c, float[N,10] scores, int64[N] i) => (float[N,4] y) {{ {nodes} }}", t=TABLE))
    given = {"scores": SCORES, "i": np.array([99, 0, -9])}
    np.testing.assert_array_equal(compiled({"c": np.array(is_proved), **given})["y"], TABLE[[0, 3, 9]])
    with pytest.raises(IndexError, match="= 99 is out of bounds"):
        compiled({"c": np.array(not is_proved), **given})


@pytest.mark.parametrize(("numpy_type", "onnx_type"), [(np.float16, "float16"), (np.float64, "double"), (np.uint64, "uint64")])
def test_types_that_openvino_may_alter_stay_with_ours(numpy_type, onnx_type):
    converted = convert(looked_up(BEST, TABLE.astype(numpy_type), onnx_type), target="extension").model
    assert gathers(converted) == ["ov_gather.Gather"]


def test_a_gather_without_indices_stays_ours():
    """OpenVINO's compiler dies of its own with such a static shape, which models of open rank get at each call."""
    statically = onnx.parser.parse_model(onnx.printer.to_text(looked_up(BEST)).replace("float[N,10] s", "float[0,10] s"))
    assert gathers(convert(statically, target="extension").model) == ["ov_gather.Gather"]
    openly = looked_up(BEST)
    openly.graph.input.append(onnx.helper.make_tensor_value_info("any", onnx.TensorProto.FLOAT, None))
    openly.graph.node.append(onnx.helper.make_node("Abs", ["any"], ["z"]))
    openly.graph.output.append(onnx.helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, None))
    assert gathers(convert(openly, target="extension").model) == ["ov_gather.Gather"]


def test_compiled_models_check_inputs_of_64_bits_whatever_is_proved():
    """The sign of every number is in bounds; but of this one 32 bits are 0, and ONNX says 1."""
    with pytest.warns(LossyConversionWarning):
        compiled = compile_onnx(looked_up("j = Sign(i)"))
    given = {"scores": SCORES[:2]}
    np.testing.assert_array_equal(compiled({**given, "i": np.array([99, -3])})["y"], TABLE[[1, -1]])
    with pytest.raises(IndexError, match=r"i\[1\] = 4294967296 does not fit in int32"):
        compiled({**given, "i": np.array([0, 2**32])})


def test_an_input_of_which_the_shape_matters_may_hold_anything(recwarn):
    compiled = compile_onnx(parsed("(int64[N] i) => (int64[1] y) { y = Shape(i) }"))
    assert compiled({"i": np.array([2**40, -(2**63)])})["y"].tolist() == [2]
    assert not [warning for warning in recwarn if issubclass(warning.category, LossyConversionWarning)]


ELEMENTS = {"axis": 1, "broadcast": False}


def made(kind, *, size=5, data=None, low=-5, **attributes):
    """A model of one of our operations, whose indices a Clamp keeps in bounds of an axis of 5."""
    value, rng = parameter("data", data or [7, 5]), np.random.default_rng(0)
    if kind == "GatherND":
        index = ops.clamp(parameter("i", [9, 2], np.int64), low, 4)
        node = ours(kind, [value.output(0), index.output(0)], {"batch_dims": 0, **attributes})
        return model_of(node), [rng.integers(-9, 9, (9, 2))]
    index = ops.clamp(parameter("i", [7, size], np.int64), low, 4)
    if kind == "GatherElements":
        return model_of(ours(kind, [value.output(0), index.output(0)], ELEMENTS | attributes)), [rng.integers(-9, 9, (7, size))]
    updates = parameter("u", [7, size])
    node = ours(kind, [value.output(0), index.output(0), updates.output(0)], {"axis": 1, "reduction": "none"} | attributes)
    return model_of(node), [rng.integers(-9, 9, (7, size)), rng.random((7, size), np.float32)]


@pytest.mark.parametrize(
    ("kind", "stock"),
    [("GatherElements", "GatherElements-6"), ("GatherND", "GatherND-8"), ("ScatterElements", "ScatterElementsUpdate-3")],
)
def test_little_that_is_proved_is_stock(kind, stock, rng):
    model, arrays = made(kind)
    other = model.clone()
    assert len(use_stock_where_proved(other)) == 1
    assert stock in operations(other)
    check_same(model, other, [rng.random((7, 5), np.float32), *arrays])


def clamped(name, shape):
    return ops.clamp(parameter(name, shape, np.int64), -5, 4)


@pytest.mark.parametrize(("width", "is_stock"), [(20, True), (16, False)], ids=["long slices", "short slices"])
def test_long_slices_are_stock(width, is_stock, rng):
    data, tuples = parameter("data", [7, 5, width]), clamped("i", [900, 2])
    model = model_of(ours("GatherND", [data.output(0), tuples.output(0)], {"batch_dims": 0}))
    other = model.clone()
    assert len(use_stock_where_proved(other)) == is_stock
    assert ("GatherND-8" in operations(other)) == is_stock
    check_same(model, other, [rng.random((7, 5, width), np.float32), rng.integers(-9, 9, (900, 2))])


@pytest.mark.parametrize("is_computed", [True, False])
def test_scatters_into_what_is_computed_are_stock(is_computed, rng):
    """OpenVINO writes into the memory of data that it has computed, which ours would copy."""
    data, indices, updates = parameter("data", [2000, 5]), clamped("i", [2000, 3]), parameter("u", [2000, 3])
    given = [ops.abs(data) if is_computed else data, indices, updates]
    model = model_of(ours("ScatterElements", [node.output(0) for node in given], {"axis": 1, "reduction": "none"}))
    other = model.clone()
    assert len(use_stock_where_proved(other)) == is_computed
    assert ("ScatterElementsUpdate-3" in operations(other)) == is_computed
    shapes = (2000, 5), (2000, 3), (2000, 3)
    floats, _, others = (rng.random(shape, np.float32) for shape in shapes)
    check_same(model, other, [floats, rng.integers(-9, 9, shapes[1]), others])


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("GatherElements", {"low": -6}),
        ("GatherElements", {"broadcast": True}),
        ("GatherElements", {"transpose": True}),
        ("GatherElements", {"data": [8, 5]}),
        ("GatherElements", {"size": 2000}),
        ("ScatterElements", {"reduction": "add"}),
        ("ScatterElements", {"low": -6}),
        ("GatherND", {"data": [4, 5]}),
    ],
    ids=["not proved", "broadcast", "transposed", "fewer rows", "much", "a sum", "a scatter not proved", "a tuple not proved"],
)
def test_what_stays_ours(kind, options):
    model, _ = made(kind, **options)
    before = operations(model)
    assert use_stock_where_proved(model) == []
    assert operations(model) == before
