"""`accelerate` on whole models: dynamic shapes, sub-graphs, states, names, what it refuses."""

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as ops

import ov_gather
from helpers.accelerating import check_stays, executable, outputs_of, variable
from helpers.branching import if_of
from helpers.openvino_models import made_of
from helpers.saved_models import parsed
from ov_gather.acceleration.accelerate import PASSES
from ov_gather.acceleration.graph import operation, walk

pytestmark = pytest.mark.usefixtures("nothing_is_too_small")


def parameter(shape, dtype=np.float32, name=None):
    return ops.parameter(ov.PartialShape(shape), dtype, name=name)


def operations(model):
    return [operation(node) for _, node in walk(model) if "Gather" in node.get_type_name()]


def infer(model, *arrays):
    return outputs_of(model, arrays)[0]


def expand_rows(data, index, *, like, way="gather"):
    """`index[:, None].expand(-1, like.shape[1])`, in several ways, then a gather of rows."""
    shape, one = ops.shape_of(like), ops.constant(np.array([1]))
    if way == "gather":
        scalar = ops.gather(ops.convert(shape, "i32"), ops.constant(1), ops.constant(0))
        width = ops.convert(ops.unsqueeze(scalar, ops.constant(0)), "i64")
    else:
        width = ops.slice(shape, one, ops.constant(np.array([2])), one)
    column, repeats = ops.unsqueeze(index, ops.constant(1)), ops.concat([one, width], 0)
    rows = ops.tile(column, repeats) if way == "tile" else ops.broadcast(column, repeats, broadcast_spec="BIDIRECTIONAL")
    return ops.gather_elements(data, rows, 0)


@pytest.mark.parametrize("way", ["gather", "slice", "tile"])
@pytest.mark.parametrize("sizes", [((7, 5), (9,)), ((1, 1), (1,)), ((4, 30), (2,))])
def test_dynamic_shapes_that_are_known_to_be_the_same(sizes, way, rng):
    model = made_of(lambda data, index: expand_rows(data, index, like=ops.relu(data), way=way), data="f32[?,?]", index="i64[?]")
    assert [change.done for change in ov_gather.accelerate(model).changed] == [["ov_gather.GatherElements by [?,1]"]]
    shape, count = sizes
    values, indices = rng.random(shape, np.float32), rng.integers(-shape[0], shape[0], count)
    assert np.array_equal(infer(model, values, indices), values[indices])


def test_dynamic_shapes_that_may_differ_are_not_folded():
    inputs = {"data": "f32[?,?]", "index": "i64[?]", "other": "f32[?,?]"}
    model = made_of(lambda data, index, other: expand_rows(data, index, like=other), **inputs)
    summary = check_stays(model, "fold-broadcasts")
    (change,) = (change for change in summary.changes if change.operation == "GatherElements-6")
    assert change.reason == "index not folded: dimension 1 of indices may differ from data's, which must raise as before"
    ov_gather.accelerate(model)
    values, indices = np.random.default_rng(0).random((7, 5), np.float32), np.arange(4)
    assert np.array_equal(infer(model, values, indices, values), values[:4])
    with pytest.raises(RuntimeError):
        infer(model, values, indices, np.zeros((7, 6), np.float32))


def test_a_dynamic_dimension_that_may_be_one_is_not_taken_for_repeated():
    model = made_of(
        lambda data, index: ops.gather_elements(data, ops.broadcast(index, [4, 3]), 0), data="f32[?,?]", index="i64[?,?]"
    )
    check_stays(model, "fold-broadcasts")


def test_dynamic_rank():
    model = made_of(lambda data, index: ops.gather_elements(data, index, 1), data="f32[...]", index="i64[...]")
    ov_gather.accelerate(model)
    assert operations(model) == ["ov_gather.GatherElements"]
    model.reshape({0: [3, 4], 1: [3, 2]})
    values = np.random.default_rng(0).random((3, 4), np.float32)
    indices = np.array([[0, -1], [3, 1], [2, 2]])
    assert np.array_equal(infer(model, values, indices), np.take_along_axis(values, indices, 1))


def test_no_trace_of_the_names_of_dimensions():
    model = made_of(lambda data, index: ops.gather_elements(data, index, 1), data="f32[?,?]", index="i64[2,1..9]")
    before = [str(port.partial_shape) for port in (*model.inputs, *model.outputs)]
    ov_gather.accelerate(model)
    assert [str(port.partial_shape) for port in (*model.inputs, *model.outputs)] == before
    assert not any(dim.has_symbol() for port in (*model.inputs, *model.outputs) for dim in port.partial_shape)


def gather_of_rows(data, index):
    node = ops.gather_elements(data, ops.broadcast(index, ops.constant(np.array([9, 5]))), 0)
    node.set_friendly_name("gather")
    return node


def if_model():
    condition, data, index = parameter([], np.bool_), parameter([7, 5]), parameter([9, 1], np.int64)
    branches = [lambda *given, after=after: [after(gather_of_rows(*given))] for after in (ops.relu, ops.negative)]
    return ov.Model(if_of(condition, [data, index], *branches), [condition, data, index], "model")


def loop_model():
    text = """(float[7,5] data, int64[9,1] index) => (float[9,5] loop) {
        loop = Loop(three, , zeros) <body = round (int64 i, bool go, float[9,5] total) => (bool on, float[9,5] sum) {
            on = Identity(go) rows = Expand(index, shape)
            [gather] taken = GatherElements<axis = 0>(data, rows) sum = Add(total, taken) }> }"""
    proto = parsed(text, three=3, zeros=np.zeros((9, 5), np.float32), shape=[9, 5])
    return ov.Core().read_model(proto.SerializeToString())


def iterator_model():
    data, index = parameter([7, 5]), parameter([3, 9, 1], np.int64)
    inner, part = parameter([7, 5]), parameter([1, 9, 1], np.int64)
    output = ops.unsqueeze(gather_of_rows(inner, ops.squeeze(part, ops.constant(0))), ops.constant(0))
    node = ops.tensor_iterator()
    node.set_body(ov.Model([output], [inner, part], "body"))
    node.set_sliced_input(part, index.output(0), 0, 1, 1, -1, 0)
    node.set_invariant_input(inner, data.output(0))
    node.set_friendly_name("iterator")
    return ov.Model([node.get_concatenated_slices(output.output(0), 0, 1, 1, -1, 0)], [data, index], "model")


VALUES, ROWS = np.random.default_rng(0).random((7, 5), np.float32) - 0.5, np.random.default_rng(0).integers(-7, 7, (3, 9, 1))
SUBGRAPHS = [
    (if_model, [np.array(True), VALUES, ROWS[0]], np.maximum(VALUES[ROWS[0, :, 0]], 0), 2),
    (if_model, [np.array(False), VALUES, ROWS[0]], -VALUES[ROWS[0, :, 0]], 2),
    (loop_model, [VALUES, ROWS[0]], sum([VALUES[ROWS[0, :, 0]]] * 3), 1),
    (iterator_model, [VALUES, ROWS], VALUES[ROWS[..., 0]], 1),
]


@pytest.mark.parametrize(("make", "arrays", "expected", "bodies"), SUBGRAPHS)
@pytest.mark.parametrize("portable", [False, True])
def test_subgraphs(make, arrays, expected, bodies, portable, tmp_path):
    model = make()
    summary = ov_gather.accelerate(model, portable=portable, assume_in_bounds=portable)
    assert operations(model) == ["Gather-8" if portable else "ov_gather.GatherElements"] * bodies
    holder = make.__name__.removesuffix("_model")
    assert [change.layer for change in summary.changes] == [f"{holder}/gather"] * bodies
    assert np.array_equal(infer(model, *arrays), expected)
    ov.serialize(model, tmp_path / "m.xml")
    core = ov.Core() if portable else ov_gather.register(ov.Core())
    assert np.array_equal(infer(core.read_model(tmp_path / "m.xml"), *arrays), expected)


def test_states():
    data, index = parameter([7, 5]), parameter([9, 5], np.int64)
    state = variable("state", [7, 5])
    total = ops.add(ops.read_value(ops.constant(np.zeros((7, 5), np.float32)), state), data)
    result = ops.result(ops.gather_elements(total, index, 0))
    model = ov.Model([result], [ops.assign(total, state)], [data, index], "model")
    ov_gather.accelerate(model)
    assert operations(model) == ["ov_gather.GatherElements"]
    execute, indices = executable(model), np.random.default_rng(0).integers(-7, 7, (9, 5))
    for times in (1, 2, 3):
        expected = np.take_along_axis(sum([VALUES] * times, np.zeros_like(VALUES)), indices, 0)
        assert np.array_equal(execute([VALUES, indices])[0], expected)


def test_names_and_rt_info_stay():
    data, index = parameter([7, 5], name="data"), parameter([9, 1], np.int64, "index")
    data.output(0).set_names({"d"})
    gather = gather_of_rows(data, index)
    gather.output(0).set_names({"rows", "also"})
    gather.get_rt_info()["mine"] = "kept"
    model = ov.Model([gather], [data, index], "model")
    model.set_rt_info("value", ["section", "key"])
    ov_gather.accelerate(model)
    (node,) = [node for node in model.get_ops() if node.get_type_name() == "GatherElements"]
    assert node.get_friendly_name() == "gather"
    assert node.get_rt_info()["mine"].astype(str) == "kept"
    assert model.output(0).get_names() == {"rows", "also"}
    assert [port.get_names() for port in model.inputs] == [{"d"}, {"index"}]
    assert model.get_rt_info(["section", "key"]).astype(str) == "value"


def test_a_second_time_changes_nothing(tmp_path):
    model = if_model()
    ov_gather.accelerate(model)
    ov.serialize(model, tmp_path / "once.xml")
    summary = ov_gather.accelerate(model)
    ov.serialize(model, tmp_path / "twice.xml")
    assert not summary.changed
    assert {change.reason for change in summary.changes} == {"ours already"}
    assert (tmp_path / "once.xml").read_bytes() == (tmp_path / "twice.xml").read_bytes()


def test_a_model_without_gathers():
    summary = ov_gather.accelerate(made_of(ops.relu, data="f32[2,3]"))
    assert summary.changes == ()
    assert str(summary) == "no gathers or scatters: the model is unchanged"


def test_other_gathers_and_small_ones_stay(monkeypatch):
    monkeypatch.undo()
    model = made_of(
        lambda data, index: [ops.gather(data, index, ops.constant(0)), ops.gather_elements(data, index, 0)],
        data="f32[7,5]",
        index="i64[9,5]",
    )
    summary = check_stays(model)
    assert {change.operation: change.reason for change in summary.changes} == {
        "Gather-8": "OpenVINO's own is as fast",
        "GatherElements-6": "too small to gain",
    }
    assert "[7,5] by [9,5]" in str(summary)


def test_what_is_no_model():
    compiled = ov.Core().compile_model(loop_model(), "CPU")
    with pytest.raises(TypeError, match=r"must be an openvino\.Model, not CompiledModel: accelerate it before it is compiled"):
        ov_gather.accelerate(compiled)
    with pytest.raises(TypeError, match=r"must be an openvino\.Model, not str"):
        ov_gather.accelerate("model.xml")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"passes": ["fold"]}, f"there is no pass fold; there are {', '.join(PASSES)}"),
        ({"passes": ["fold-broadcasts"], "portable": True}, "there is no portable pass fold-broadcasts; there are fold-con"),
        ({"assume_in_bounds": True}, "assume_in_bounds is for portable"),
    ],
)
def test_options_that_do_not_fit(options, reason):
    with pytest.raises(ValueError, match=reason):
        ov_gather.accelerate(loop_model(), **options)
