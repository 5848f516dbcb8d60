"""An IR tells less of shapes than a model in memory, and `prove` finds out the same of both. All decode loops alike."""

import numpy as np
import onnx_ir
import openvino as ov
import pytest
from openvino import opset13 as op

from helpers.random_index_models import finished, sample
from helpers.random_openvino import OpenvinoBuilder
from helpers.range_analysis import by_ir, by_openvino
from helpers.saved_models import saved
from helpers.seeds import seeds
from ov_gather.converters.onnx_graph import OnnxGraph
from ov_gather.graph.ir import IrGraph
from ov_gather.graph.openvino import OpenvinoGraph
from ov_gather.graph.protocol import Passing
from ov_gather.ir.reader import read_ir


def statuses(model):
    (_, in_ir), (_, in_memory) = by_ir(model), by_openvino(model)
    assert {name: verdict.status for name, verdict in in_ir.items()} == {
        name: verdict.status for name, verdict in in_memory.items()
    }
    return [verdict.status for verdict in in_ir.values()]


@pytest.mark.sampled(12)
@pytest.mark.parametrize("seed", seeds(20))
def test_both_adapters_say_the_same_of_each_site(seed):
    statuses(sample(seed).model)


def shortest(b, line):
    size = b.make("minimum", b.size_of(line, 0, "i64"), b.constant(4, "i64"))
    return b.make("topk", line, size, 0, "min", "index", "i64", dims=())


BOUNDED = {
    "Reshape": (16, lambda b, line: b.make("reshape", b.parameter("f32", ["A", 4]), b.longs(-1), False, dims=())),
    "TopK": (4, shortest),
    "Unique": (5, lambda b, line: b.make("unique", b.parameter("i64", [5]), None, True, "i64", "i64", dims=())),
    "Concat": (12, lambda b, line: b.make("concat", [line] * 3, 0, dims=())),
    "StridedSlice": (
        1,
        lambda b, line: b.make("strided_slice", line, b.longs(0), b.longs(1), b.longs(1), [0], [0], [], [], [], dims=()),
    ),
    "VariadicSplit": (
        4,
        lambda b, line: b.make("variadic_split", b.parameter("f32", ["A", 3]), b.constant(1, "i64"), b.longs(1, -1)),
    ),
    "Tile": (8, lambda b, line: b.make("tile", line, b.longs(2), dims=())),
    "Broadcast": (
        4,
        lambda b, line: b.make("broadcast", b.parameter("f32", [1]), b.make("shape_of", line, "i64"), None, "NUMPY", dims=()),
    ),
}


@pytest.mark.parametrize("name", BOUNDED)
def test_bounds_of_inner_dimensions(name):
    """Bounds of inner dimensions, which an IR does not hold, follow from rules for shapes."""
    b = OpenvinoBuilder(np.random.default_rng(0), {"A": (1, 4)})
    largest, make = BOUNDED[name]
    size = b.size_of(make(b, b.parameter("f32", ["A"])), 0, "i64")
    b.add("gather", b.parameter("f32", [largest + 1]), size, b.constant(0, "i64"))
    assert statuses(finished(b, name).model)[-1] == "proved"


LOOPS = """
(float[2, 3] x, int64 n, bool c) => (float[2, 3] y, float[k, 3] z)
{
    y = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [1], scan_output_axes = [1],
        body = b (float[2] e) => (float[2] r) { r = Neg(e) }> (x)
    z = Loop <body = d (int64 i, bool before) => (bool after, float[3] w) {
        after = Identity(before)
        at = Cast <to = 1> (i)
        three = Constant <value_ints = [3]> ()
        w = Expand(at, three)
    }> (n, c)
}
"""


def slices(graph):
    """Axis and direction of each slice of the loops of a model; what else is known: what decides if they go on, the counter."""
    for node in graph.nodes("Loop", "Scan", "TensorIterator"):
        (body,) = node.bodies
        found = [edge.slicing for edge in (*body.entries, *body.exits) if edge.passing is Passing.SLICED]
        has_counter = any(edge.passing is Passing.COUNT for edge in body.entries)
        yield [(slicing.axis, slicing.stride < 0) for slicing in found], (body.goes_on is not None, has_counter)


BRANCHES = """
(float[2] x, bool c) => (float[2] y)
{
    [y] y = If (c) <
        then_branch = t () => (float[2] p) { p = Sin(x) },
        else_branch = e () => (float[2] q) {
            q = If (c) <
                then_branch = u () => (float[2] r) { r = Cos(x) },
                else_branch = f () => (float[2] s) { s = Exp(x) }>
        }>
}
"""


def branches(graph):
    """The node at the top that each node of a branch is in, and the condition of its branch."""
    for body in (body for node in graph.nodes("If") for body in node.bodies):
        for node in graph.nodes_in(body):
            whole = graph.producer(node.within)
            assert node.within in whole.outputs
            yield node.type, (whole.name, body.condition)


def test_all_adapters_decode_the_same_branches(tmp_path):
    source = saved(tmp_path / "m.onnx", BRANCHES)
    model = ov.convert_model(source)
    ov.save_model(model, tmp_path / "m.xml")
    expected = {"Sin": ("y", True), "If": ("y", False), "Cos": ("y", True), "Exp": ("y", False)}
    for graph in (OnnxGraph(onnx_ir.load(source)), OpenvinoGraph(model), IrGraph(read_ir(tmp_path / "m.xml"))):
        found = dict(branches(graph))
        assert found | expected == found


def test_both_adapters_tell_converts_that_decompress(tmp_path):
    x = op.parameter([2, 4], np.int32)
    weights = op.constant(np.ones((4, 64), np.float32))
    ov.save_model(ov.Model([op.matmul(op.convert(x, "f32"), weights, False, False)], [x]), tmp_path / "m.xml")
    read = ov.Core().read_model(tmp_path / "m.xml")
    for graph in (OpenvinoGraph(read), IrGraph(read_ir(tmp_path / "m.xml"))):
        found = {graph.producer(node.inputs[0]).type: node.decompresses for node in graph.nodes("Convert")}
        assert found == {"Parameter": False, "Const": True}


@pytest.mark.parametrize(
    ("types", "of", "expected"),
    [
        (("Abs", "Parameter"), ("f32",), ["Abs", "Parameter"]),
        (("Abs", "Negative"), ("i32",), ["Negative"]),
        (("Abs",), (), ["Abs"]),
    ],
)
def test_nodes_of_element_types(types, of, expected, tmp_path):
    x, y = op.parameter([2], np.float32), op.parameter([2], np.int32)
    model = ov.Model([op.abs(x), op.negative(y)], [x, y])
    ov.save_model(model, tmp_path / "m.xml", compress_to_fp16=False)
    for graph in (OpenvinoGraph(model), IrGraph(read_ir(tmp_path / "m.xml"))):
        assert sorted(node.type for node in graph.nodes(*types, of=of)) == expected


def test_all_adapters_decode_the_same_slices(tmp_path):
    source = saved(tmp_path / "m.onnx", LOOPS)
    model = ov.convert_model(source)
    ov.save_model(model, tmp_path / "m.xml")
    found = [
        sorted(slices(graph))
        for graph in (OnnxGraph(onnx_ir.load(source)), OpenvinoGraph(model), IrGraph(read_ir(tmp_path / "m.xml")))
    ]
    assert found[0] == [([(0, False)], (True, True)), ([(1, True), (1, False)], (False, False))]
    assert found == found[:1] * 3


def test_nodes_that_a_pass_has_cut_off_are_no_readers():
    x = op.parameter([2], np.float32)
    kept, cut_off = op.abs(x), op.negative(x)
    graph = OpenvinoGraph(ov.Model([kept], [x]))
    assert [node.type for node, _ in graph.uses(graph.key(x.output(0)))] == ["Abs"]
    assert cut_off.get_input_size()
