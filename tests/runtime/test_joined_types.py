"""Where 64-bit results of our operations meet stock tensors of 64 bits, the model compiles."""

import warnings

import numpy as np
import onnx
import openvino
import pytest
from onnx import TensorProto, helper, numpy_helper

from ov_gather import accelerate, register
from ov_gather.converters import compile_onnx, convert_model

onnxruntime = pytest.importorskip("onnxruntime")
N = helper.make_node
I64, BOOL = TensorProto.INT64, TensorProto.BOOL
ARRAYS = {"x": np.array([3, 1, 2]), "i": np.array([2, 0, 1]), "u": np.array([10, 11, 12])}
CONSTANTS = {
    **{"axis": np.array([1]), "c": np.array([True, False, True]), "k": np.array([5, 6, 7]), "yes": np.array(True)},
    **{"trip": np.array(3), "five": np.array(5), "zero": np.array(0), "one": np.array(1), "all": np.array([-1])},
}
OURS = {
    "GatherElements": ["x", "i"],
    "Gather": ["x", "i"],
    "GatherND": ["x", "ii"],
    "ScatterElements": ["x", "i", "u"],
    "ScatterND": ["x", "ii", "u"],
}


def info(name, kind=I64, shape=(3,)):
    return helper.make_tensor_value_info(name, kind, shape)


def branch(*nodes):
    return helper.make_graph(list(nodes), "branch", [], [info(nodes[-1].output[0])])


def body(*nodes):
    inputs = [info("iteration", I64, ()), info("goes_on", BOOL, ()), info("state")]
    return helper.make_graph(
        [*nodes, N("Identity", ["goes_on"], ["goes_on_2"])], "body", inputs, [info("goes_on_2", BOOL, ()), info("state_2")]
    )


def scanned():
    nodes = [N("Add", ["state", "element"], ["state_2"]), N("Identity", ["element"], ["seen"])]
    inputs, outputs = [info("state", I64, ()), info("element", I64, ())], [info("state_2", I64, ()), info("seen", I64, ())]
    return helper.make_graph(nodes, "body", inputs, outputs)


def scattering_body():
    scatter = N("ScatterElements", ["state", "i", "u"], ["written"])
    return body(scatter, N("Where", ["c", "written", "state"], ["state_2"]))


JOINS = {
    "Where": [N("Where", ["c", "a", "u"], ["y"])],
    "Where, other side": [N("Where", ["c", "u", "a"], ["y"])],
    "Where, constant": [N("Where", ["c", "k", "a"], ["y"])],
    "Where, behind what is removed": [N("Reshape", ["a", "all"], ["r"]), N("Where", ["c", "r", "u"], ["y"])],
    "Where, behind a Cast to int64": [N("Cast", ["a"], ["r"], to=I64), N("Where", ["c", "r", "u"], ["y"])],
    "Where, in a branch": [
        N(
            "If",
            ["yes"],
            ["y"],
            then_branch=branch(N("Where", ["c", "a", "u"], ["t"])),
            else_branch=branch(N("Neg", ["u"], ["e"])),
        )
    ],
    "Where, in a loop": [N("Loop", ["trip", "yes", "u"], ["y"], body=body(N("Where", ["c", "state", "a"], ["state_2"])))],
    "Where, of the same body": [N("Loop", ["trip", "yes", "a"], ["y"], body=scattering_body())],
    "Concat": [N("Concat", ["k", "a"], ["y"], axis=0)],
    "Add": [N("Add", ["a", "u"], ["y"])],
    "Mul": [N("Mul", ["u", "a"], ["y"])],
    "Min": [N("Min", ["a", "u"], ["y"])],
    "Max": [N("Max", ["u", "a", "k"], ["y"])],
    "Div": [N("Add", ["a", "one"], ["b"]), N("Div", ["u", "b"], ["y"])],
    "Equal": [N("Equal", ["a", "k"], ["e"]), N("Cast", ["e"], ["y"], to=I64)],
    "Less": [N("Less", ["u", "a"], ["e"]), N("Cast", ["e"], ["y"], to=I64)],
    "updates of ScatterElements": [N("ScatterElements", ["u", "i", "a"], ["y"])],
    "data of ScatterElements": [N("ScatterElements", ["a", "i", "u"], ["y"])],
    "updates of ScatterND": [N("ScatterND", ["u", "ii", "a"], ["y"])],
    "Gather": [N("Gather", ["a", "i"], ["y"])],
    "If": [
        N(
            "If",
            ["yes"],
            ["y"],
            then_branch=branch(N("Identity", ["a"], ["t"])),
            else_branch=branch(N("Identity", ["u"], ["e"])),
        )
    ],
    "carried value": [N("Loop", ["trip", "yes", "a"], ["y"], body=body(N("Add", ["state", "u"], ["state_2"])))],
    "Scan": [N("Scan", ["five", "a"], ["last", "y"], num_scan_inputs=1, body=scanned())],
    "sequence": [N("SequenceConstruct", ["a", "u"], ["s"]), N("ConcatFromSequence", ["s"], ["y"], axis=0)],
    "Range": [N("Gather", ["a", "zero"], ["end"]), N("Range", ["zero", "end", "one"], ["y"])],
}


def model_of(ours, join, shape):
    nodes = [N("Unsqueeze", ["i", "axis"], ["ii"]), N(ours, OURS[ours], ["a"]), *JOINS[join]]
    inputs = [info(name, I64, shape) for name in ARRAYS]
    constants = [numpy_helper.from_array(array, name) for name, array in CONSTANTS.items()]
    graph = helper.make_graph(nodes, "g", inputs, [info("y", I64, None), info("a", I64, None)], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


def executed(model):
    compiled = register(openvino.Core()).compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": 1})
    request = compiled.create_infer_request()
    request.start_async({port: ARRAYS[port.any_name] for port in compiled.inputs})
    request.wait()
    return {name: request.get_tensor(name).data.copy() for name in ("y", "a")}


def as_onnxruntime(model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    given = {port.name: ARRAYS[port.name] for port in session.get_inputs()}
    return dict(zip(("y", "a"), session.run(["y", "a"], given), strict=True))


@pytest.mark.parametrize("ours", OURS)
@pytest.mark.parametrize("join", JOINS)
@pytest.mark.filterwarnings("ignore::ov_gather.converters.LossyConversionWarning")
def test_what_ours_give_meets_stock_tensors(ours, join):
    model = model_of(ours, join, (3,))
    expected = as_onnxruntime(model)
    got = executed(convert_model(model, target="extension"))
    assert {name: array.tolist() for name, array in got.items()} == {name: array.tolist() for name, array in expected.items()}


@pytest.mark.parametrize("ours", ["ScatterElements", "ScatterND"])
@pytest.mark.parametrize("join", [join for join in JOINS if join.startswith("Where")])
def test_open_shapes_compile_too(ours, join):
    model = model_of(ours, join, ("n",))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = compile_onnx(model)(ARRAYS)
        converted = convert_model(model, target="extension")
    expected = as_onnxruntime(model)
    assert all((got[name] == array).all() for name, array in expected.items())
    assert all((array == expected[name]).all() for name, array in executed(converted).items())


def test_the_written_model_keeps_names_and_types_of_its_outputs():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        converted = convert_model(model_of("ScatterElements", "Where", (3,)), target="extension")
    assert [(port.any_name, port.get_element_type().get_type_name()) for port in converted.outputs] == [
        ("y", "i64"),
        ("a", "i64"),
    ]


def test_accelerate_puts_ours_where_a_select_compiles():
    elements = 200_000
    arrays = {"x": np.arange(elements), "i": np.arange(elements)[::-1].copy(), "u": np.arange(elements) * 2}
    nodes = [N("ScatterElements", ["x", "i", "u"], ["a"]), N("Equal", ["u", "x"], ["e"]), N("Where", ["e", "u", "a"], ["y"])]
    inputs = [info(name, I64, (elements,)) for name in arrays]
    proto = helper.make_model(
        helper.make_graph(nodes, "g", inputs, [info("y", I64, (elements,))]), opset_imports=[helper.make_opsetid("", 18)]
    )
    proto.ir_version = 10
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = convert_model(onnx.ModelProto.FromString(proto.SerializeToString()))
    assert accelerate(model, passes=["scatter-elements"]).changed
    compiled = register(openvino.Core()).compile_model(model, "CPU")
    expected = np.where(arrays["u"] == arrays["x"], arrays["u"], arrays["u"][arrays["i"]])
    assert (compiled(arrays)[0] == expected).all()
