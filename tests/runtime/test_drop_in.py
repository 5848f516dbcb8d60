"""`ov_gather.convert_model` with the arguments of `openvino.convert_model`, whose model is the oracle of names and shapes."""

import inspect
import subprocess
import sys
from io import BytesIO

import numpy as np
import onnx
import onnx.parser
import openvino as ov
import pytest

import ov_gather

pytestmark = pytest.mark.openvino

TEXT = """<ir_version: 10, opset_import: ["": 18]>
g (float[n, 4] x, int64[m, 4] i, float[n, 4] y) => (float[m, 4] taken, float[n, 4] both)
{ taken = GatherElements<axis = 0>(x, i)
  both = Add(x, y) }"""


@pytest.fixture
def path(tmp_path):
    onnx.save(onnx.parser.parse_model(TEXT), tmp_path / "m.onnx")
    return tmp_path / "m.onnx"


def described(model):
    inputs = [(port.names, str(port.partial_shape), port.element_type) for port in model.inputs]
    return inputs, [port.names for port in model.outputs]


def test_the_arguments_are_those_of_openvino():
    ours, theirs = (inspect.signature(each.convert_model).parameters for each in (ov_gather, ov))
    assert [name for name in theirs if name not in ours] == []
    assert list(ours)[: len(theirs)] == list(theirs)
    assert [each.default for each in ours.values()][: len(theirs)] == [each.default for each in theirs.values()]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"input": ["y", "x", "i"]},
        {"input": {"i": [2, 4], "x": [3, 4], "y": [-1, 4]}},
        {"input": [("x", [3, 4]), ("i", ov.PartialShape([-1, 4]), ov.Type.i64), ("y", [3, 4], np.float32)]},
        {"input": [([3, 4], ov.Type.f32), [2, 4], [3, 4]]},
        {"output": "both"},
        {"output": []},
        {"output": ["both", "taken"], "input": [("y", (5, 4)), ("x", (5, 4)), "i"]},
        {"verbose": False, "share_weights": False},
    ],
    ids=str,
)
def test_it_describes_the_same_model(path, arguments):
    assert described(ov_gather.convert_model(path, **arguments)) == described(ov.convert_model(path, **arguments))


def test_a_name_with_a_comma_and_a_model_in_memory(tmp_path):
    proto = onnx.parser.parse_model(TEXT)
    proto.graph.node[0].output[0] = proto.graph.output[0].name = "both,taken"
    onnx.save(proto, tmp_path / "m.onnx")
    expected = described(ov.convert_model(tmp_path / "m.onnx", output="both,taken"))
    assert described(ov_gather.convert_model(tmp_path / "m.onnx", output="both,taken")) == expected
    assert described(ov_gather.convert_model(BytesIO(proto.SerializeToString()), output="both,taken")) == expected


def test_its_results_are_those_of_onnx(path):
    """OpenVINO's own conversion gives 0 for a negative index here, or fails."""
    x, i = np.arange(12, dtype=np.float32).reshape(3, 4), np.array([[-1, 0, -3, 2], [1, -2, 2, -1]])
    model = ov_gather.convert_model(str(path), input=["x", "i", "y"], output="taken")
    request = ov.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"}).create_infer_request()
    request.start_async([x, i, x])
    request.wait()
    assert np.array_equal(request.get_output_tensor().data, np.take_along_axis(x, i, 0))
    assert described(ov_gather.convert_model(onnx.load(path))) == described(ov_gather.convert_model(path.read_bytes()))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"input": "z"}, "'z' is not among 'x', 'i', 'y'; to cut a model"),
        ({"input": {"x": [3, 5]}}, r"input 'x' is declared \[\?,4\], which \[3,5\] does not fit"),
        ({"input": {"i": ov.Type.i32}}, "input 'i' is declared i64, not i32: use openvino.preprocess"),
        ({"input": ["x", "i", "y", "z"]}, "input describes 4 inputs, and the model has 3"),
        ({"input": {"x": 1.5}}, "input: Unexpected object"),
        ({"output": ["taken", "z"]}, "'z' is not among 'taken', 'both'"),
        ({"example_input": np.zeros(3)}, "example_input is for a torch.nn.Module"),
    ],
    ids=str,
)
def test_what_cannot_mean_the_same_is_an_error(path, arguments, said):
    with pytest.raises(ValueError, match=said):
        ov_gather.convert_model(path, **arguments)


@pytest.mark.parametrize("output", [3, [3], {"both": 1}], ids=str)
def test_an_output_is_a_name(path, output):
    with pytest.raises(TypeError, match="output must be a name, or a list of names, not"):
        ov_gather.convert_model(path, output=output)


def test_a_source_of_another_framework():
    with pytest.raises(TypeError, match=r"path, bytes, or an onnx\.ModelProto, not dict"):
        ov_gather.convert_model({})


def test_a_module_of_pytorch():
    torch = pytest.importorskip("torch")

    class Take(torch.nn.Module):
        def forward(self, x, i):
            return torch.gather(x, 0, i)

    x, i = torch.rand(3, 4), torch.tensor([[2, 0, 1, 2]])
    with pytest.raises(ValueError, match="exported for example_input: give it"):
        ov_gather.convert_model(Take())
    for example in ((x, i), {"x": x, "i": i}):
        compiled = ov.compile_model(ov_gather.convert_model(Take(), example_input=example), "CPU")
        assert np.array_equal(compiled([x.numpy(), i.numpy()])[0], torch.gather(x, 0, i).numpy())


def test_the_import_of_the_package_stays_cheap():
    code = "import sys, ov_gather; assert not {'openvino', 'onnx', 'numpy', 'ov_gather.converters'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
