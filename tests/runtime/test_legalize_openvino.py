"""What stock OpenVINO refuses or gets wrong, it executes as onnxruntime does once it is legalized."""

import numpy as np
import onnx_ir
import openvino
import pytest

from helpers.legalized import indices, model, random, run
from helpers.saved_models import parsed
from ov_gather.converters.legalize import legalize
from ov_gather.runtimes.session import Session

pytestmark = pytest.mark.onnxruntime


def on_openvino(proto, inputs):
    core = openvino.Core()
    model = core.read_model(proto.SerializeToString())
    return Session(core, model)([inputs[port.any_name] for port in model.inputs])


def compare(proto, inputs, **options):
    changed = onnx_ir.from_proto(proto)
    legalize(changed, **options)
    for expected, got in zip(run(proto, inputs), on_openvino(onnx_ir.to_proto(changed), inputs), strict=True):
        assert expected.shape == got.shape
        assert expected.tobytes() == got.tobytes()


@pytest.mark.parametrize("shape", ["4,5,3", "B,M,K", "4,M,3"])
def test_smaller_indices(shape):
    proto = model(f"float[4,9,7] x, int64[{shape}] i) => (float[{shape}] y)", "y = GatherElements<axis = 2>(x, i)")
    inputs = {"x": random(4, 9, 7), "i": indices(7, 4, 5, 3)}
    with pytest.raises(RuntimeError):
        on_openvino(proto, inputs)
    compare(proto, inputs)


def test_smaller_indices_inside_a_body():
    proto = model(
        "float[4,9] x, int64[A,3] i, bool c) => (float[A,3] y)",
        """y = If (c) <then_branch = yes () => (float[A,3] a) { a = GatherElements<axis = 1>(x, i) },
                       else_branch = no () => (float[A,3] b) { b = GatherElements<axis = 0>(x, i) }>""",
    )
    for condition in (True, False):
        compare(proto, {"x": random(4, 9), "i": indices(4, 2, 3), "c": np.array(condition)})


@pytest.mark.sampled(3)
@pytest.mark.parametrize("nodes", ["part = Slice(x, s, e, a)", "p = Slice(x, s, e, a, o) part = Identity(p)"])
@pytest.mark.parametrize("axis", [0, 1])
def test_slices_of_the_model_stay(nodes, axis):
    """Stock OpenVINO removes the Slice: an index below 0 counts from the end of all data, and one past the Slice is valid."""
    text = f"(float[9,9] x, int64[K,L] i) => (float[K,L] y) {{ {nodes} y = GatherElements<axis = 1>(part, i) }}"
    proto = parsed(text, s=[0], e=[5], a=[axis], o=[1])
    inputs = {"x": random(9, 9), "i": indices(5, 9 if axis else 5, 3)}
    compare(proto, inputs)
    if axis == 1:
        assert run(proto, inputs)[0].tobytes() != on_openvino(proto, inputs)[0].tobytes()
        inputs["i"][0, 0] = 5
        changed = onnx_ir.from_proto(proto)
        assert [rewrite.done for rewrite in legalize(changed)][-1]
        with pytest.raises(RuntimeError, match="indices"):
            on_openvino(onnx_ir.to_proto(changed), inputs)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("small", [(1, 6, 1), (2, 6, 1), (1, 1, 1), (6, 1)])
@pytest.mark.parametrize("element_type", ["int32", "int64"])
def test_folded_broadcasts(small, element_type):
    proto = model(
        f"float[2,9,4] x, {element_type}{list(small)} i) => (float[2,{small[-2]},3] y)",
        f"to = Constant<value_ints = [2, {small[-2]}, 3]>() wide = Expand(i, to) y = GatherElements<axis = 1>(x, wide)",
    )
    compare(proto, {"x": random(2, 9, 4), "i": indices(9, *small).astype(element_type)}, assume_in_bounds=True)


def test_folded_broadcast_of_open_size():
    proto = model(
        "float[B,N,4] x, float[B,N] scores) => (float[B,1,4] y)",
        """i = ArgMax<axis = 1>(scores) one = Constant<value_ints = [2]>() column = Unsqueeze(i, one)
        to = Constant<value_ints = [1, 1, 4]>() wide = Expand(column, to) y = GatherElements<axis = 1>(x, wide)""",
    )
    compare(proto, {"x": random(2, 9, 4), "scores": random(2, 9)})


def test_negative_constants():
    proto = model(
        "float[2,9,4] x) => (float[2,4] y)", "i = Constant<value = int64[2,1] {-1, 3}>() y = GatherND<batch_dims = 1>(x, i)"
    )
    compare(proto, {"x": random(2, 9, 4)})
