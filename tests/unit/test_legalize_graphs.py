"""Legalizing what is not one flat graph of a recent opset: bodies, functions, old opsets, names, large files."""

import numpy as np
import onnx
import onnx_ir
import onnxruntime
import pytest
from onnx import helper

from helpers.legalized import constant, indices, legalized, model, random
from ov_gather.converters.legalize import legalize

pytestmark = pytest.mark.onnxruntime

SMALLER = "GatherElements<axis = 1>(x, i)"  # x has 5 rows, i has 2


@pytest.mark.parametrize("condition", [True, False])
def test_nested_bodies(condition):
    """Bodies are nested five deep, with data, indices and constants from outside."""
    body = f"a0 = {SMALLER}"
    for depth in range(1, 6):
        body = (
            f"a{depth} = If (c) <then_branch = t{depth} () => (float[2,3] a{depth - 1}) {{ {body} }}, "
            f"else_branch = e{depth} () => (float[2,3] b{depth - 1}) {{ b{depth - 1} = GatherElements<axis = 1>(x, k) }}>"
        )
    proto = model("float[5,4] x, int64[2,3] i, bool c) => (float[2,3] a5)", body)
    constant([[0, -1, 2], [3, -4, 1]], proto, "k")
    ops, rewrites = legalized(proto, {"x": random(5, 4), "i": indices(4, 2, 3), "c": np.array(condition)})
    assert ops["Slice"] == 6
    assert len(rewrites) == 11


def test_broadcast_inside_a_body():
    """The best of each round is a position in the carried rows."""
    proto = model(
        "float[9,4] x, int64 n, bool c) => (float[1,4] last, float[R,1,4] all)",
        """start = Constant<value = float[1,4] {0, 0, 0, 0}>()
        last, all = Loop (n, c, start) <body = round (int64 trip, bool go, float[1,4] before)
            => (bool go_on, float[1,4] after, float[1,4] row) {
            go_on = Identity(go)
            i = ArgMax<axis = 0>(x)
            one = Constant<value_ints = [1]>() zero = Constant<value_ints = [0]>()
            first = Slice(i, zero, one, one)
            to = Constant<value_ints = [1, 4]>()
            wide = Expand(first, to)
            row = GatherElements<axis = 0>(x, wide)
            after = Add(before, row)
        }>""",
    )
    ops, (rewrite,) = legalized(proto, {"x": random(9, 4), "n": np.array(3), "c": np.array(True)})
    assert rewrite.what == "broadcast of the indices folded into Gather"
    assert (ops["Gather"], ops["Expand"]) == (1, 0)


def test_scan():
    proto = model(
        "float[5,4] x, int64[3,2,3] steps) => (float[3,2,3] all)",
        """all = Scan (steps) <num_scan_inputs = 1, body = step (int64[2,3] i) => (float[2,3] y)
            { y = GatherElements<axis = 1>(x, i) }>""",
    )
    ops, _ = legalized(proto, {"x": random(5, 4), "steps": indices(4, 3, 2, 3)})
    assert ops["Slice"] == 1


FUNCTION = """<domain: "f", opset_import: ["" : 20]> pick <axis> (a, b) => (c)
    { t = GatherElements<axis: int = @axis>(a, b) u = Neg(t) c = Neg(u) }"""


@pytest.mark.parametrize("condition", [True, False])
def test_functions(condition):
    """A function is called from the graph, and from a body that has a value of the name that inlining would choose."""
    proto = model(
        "float[5,4] x, int64[2,3] i, bool c) => (float[2,3] y, float[2,3] z)",
        """t = f.pick<axis = 1>(x, i)
        y = If (c) <then_branch = yes () => (float[2,3] a) { t_2 = Neg(t) u = f.pick<axis = 1>(x, i) a = Add(t_2, u) },
                    else_branch = no () => (float[2,3] b) { b = f.pick<axis = 1>(x, i) }>
        z = f.pick<axis = 1>(x, i)""",
        imports=', "f" : 1',
        functions=FUNCTION,
    )
    ops, rewrites = legalized(proto, {"x": random(5, 4), "i": indices(4, 2, 3), "c": np.array(condition)})
    assert (ops["Slice"], ops["pick"]) == (4, 0)
    assert (rewrites[0].node, rewrites[0].what) == ("function f.pick", "inlined")


def test_sizes_named_in_a_function_differ_from_call_to_call():
    proto = model(
        "float[A,B] x, float[C,D] i) => (int64[C,D] y)",
        "data = f.whole(x) at = f.whole(i) y = GatherElements<axis = 1>(data, at)",
        imports=', "f" : 1',
        functions="""<domain: "f", opset_import: ["" : 20]> whole (a) => (c) { b = Identity(a) c = Cast<to = 7>(b) }""",
    )
    proto.functions[0].value_info.append(helper.make_tensor_value_info("c", onnx.TensorProto.INT64, ["N", "M"]))
    ops, _ = legalized(proto, {"x": random(5, 4), "i": np.array([[0.0, 3.0]], np.float32)})
    assert ops["Slice"] == 1


def test_function_of_another_opset_is_left():
    proto = model(
        "float[5,4] x, int64[2,3] i) => (float[2,3] y)", "y = f.pick<axis = 1>(x, i)", 18, ', "f" : 1', functions=FUNCTION
    )
    changed = onnx_ir.from_proto(proto)
    (rewrite,) = legalize(changed)
    assert not rewrite.done
    assert rewrite.what.startswith("not inlined: Opset mismatch")
    after = onnx_ir.to_proto(changed)
    assert (list(after.graph.node), len(after.functions)) == (list(proto.graph.node), 1)


@pytest.mark.parametrize("opset", [7, 9, 11, 12, 13, 17, 20])
def test_gather_of_any_opset(opset):
    proto = constant([[-1, 0], [3, -5]], model("float[5,4] x) => (float[2,2,4] y)", "y = Gather(x, i)", opset, ir_version=8))
    _, (rewrite,) = legalized(proto, {"x": random(5, 4)})
    assert rewrite.what.startswith("2 negative constant indices")
    assert rewrite.done == (opset >= 9)


@pytest.mark.parametrize("opset", [11, 12, 13, 15, 18, 20, 23])
def test_slices_of_any_opset(opset):
    proto = model("float[A,7] x, int64[B,7] i) => (float[B,7] y)", "y = GatherElements<axis = 1>(x, i)", opset)
    ops, _ = legalized(proto, {"x": random(5, 7), "i": indices(7, 3, 7)})
    assert (ops["Shape"], ops["Slice"]) == (1, 1)


@pytest.mark.parametrize("opset", [12, 13, 20])
def test_batches_of_any_opset(opset):
    """The index is repeated in front of the axis, too."""
    proto = model(
        "float[2,6,9,4] x, float[2,9] scores) => (float[2,6,1,4] y)",
        """best = ArgMax<axis = 1>(scores) i = Reshape(best, column) wide = Expand(i, to)
        y = GatherElements<axis = 2>(x, wide)""",
        opset,
    )
    constant([2, 6, 1, 4], constant([2, 1, 1, 1], proto, "column"), "to")
    ops, (rewrite,) = legalized(proto, {"x": random(2, 6, 9, 4), "scores": random(2, 9)})
    assert (ops["GatherND"], ops["GatherElements"]) == (1, 0)
    assert rewrite.what == "broadcast of the indices folded into GatherND"


def test_rank_8():
    shape = (2, 1, 2, 3, 1, 2, 1, 2)
    proto = model(
        f"float{list(shape)} x, float[2,1,2,3] scores) => (float[2,1,2,1,1,2,1,2] y)",
        """i = ArgMax<axis = 3>(scores) last = Constant<value_ints = [4, 5, 6, 7]>() small = Unsqueeze(i, last)
        to = Constant<value_ints = [2, 1, 2, 1, 1, 2, 1, 2]>() wide = Expand(small, to)
        y = GatherElements<axis = -5>(x, wide)""",
    )
    ops, _ = legalized(proto, {"x": random(*shape), "scores": random(2, 1, 2, 3)})
    assert ops["GatherND"] == 1


def test_names_documentation_and_metadata_stay():
    proto = model(
        "float[9,4] x) => (float[1,4] y)",
        """i = ArgMax<axis = 0>(x) one = Constant<value_ints = [1]>() zero = Constant<value_ints = [0]>()
        first = Slice(i, zero, one, one) to = Constant<value_ints = [1, 4]>() wide = Expand(first, to)
        y = GatherElements<axis = 0>(x, wide)""",
    )
    node = proto.graph.node[-1]
    node.name, node.doc_string = "pick", "the best"
    node.metadata_props.add(key="layer", value="7")
    changed = onnx_ir.from_proto(proto)
    legalize(changed)
    after = onnx_ir.to_proto(changed).graph.node
    assert [node.name for node in after][-3:] == ["pick_constant", "pick_reshape", "pick"]
    assert after[-1].op_type == "Gather"
    assert (after[-1].doc_string, after[-1].metadata_props) == (node.doc_string, node.metadata_props)


def test_outputs_stay_as_declared():
    proto = model("float[5,4] x, int64[2,3] i) => (float[P,Q] y)", f"y = {SMALLER}")
    legalized(proto, {"x": random(5, 4), "i": indices(4, 2, 3)})


def test_names_are_never_taken_twice():
    proto = model("float[5,4] x, int64[2,3] i) => (float[2,3] y, float[2,3] y_slice)", f"y = {SMALLER} y_slice = {SMALLER}")
    proto.graph.node[1].name = "y"
    legalized(proto, {"x": random(5, 4), "i": indices(4, 2, 3)})


def test_sequences_and_optionals_pass():
    proto = model(
        "seq(float[5,4]) xs, int64[2,3] i) => (float[2,3] y, optional(float[2,3]) z)",
        f"zero = Constant<value_int = 0>() x = SequenceAt(xs, zero) y = {SMALLER} z = Optional(y)",
    )
    changed = onnx_ir.from_proto(proto)
    assert [rewrite.done for rewrite in legalize(changed)] == [True]
    onnx.checker.check_model(onnx_ir.to_proto(changed), full_check=True)


def test_external_data_is_not_read(tmp_path):
    """Weights stay where they are; legalizing touches only the constants that are indices."""
    proto = model(
        "float[2,3] x, int64[1,2] i) => (float[1,2] y, float[2,64] z)", "y = GatherElements<axis = 1>(x, i) z = MatMul(x, w)"
    )
    constant(random(3, 64), proto, "w")
    onnx.save(proto, tmp_path / "m.onnx", save_as_external_data=True, size_threshold=0, location="w.bin")
    changed = onnx_ir.load(tmp_path / "m.onnx")
    (tmp_path / "w.bin").rename(tmp_path / "gone.bin")
    (rewrite,) = legalize(changed)
    (tmp_path / "gone.bin").rename(tmp_path / "w.bin")
    assert rewrite.done
    onnx_ir.save(changed, tmp_path / "l.onnx")
    inputs = {"x": random(2, 3), "i": indices(3, 1, 2)}
    before, after = (onnxruntime.InferenceSession(tmp_path / name).run(None, inputs) for name in ("m.onnx", "l.onnx"))
    assert all(one.tobytes() == other.tobytes() for one, other in zip(before, after, strict=True))
