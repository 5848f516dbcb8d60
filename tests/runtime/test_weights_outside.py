"""Weights of an ONNX file, which conversion reads from a temporary file without a copy in memory."""

import os
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import openvino
import pytest
from onnx import TensorProto, helper, numpy_helper

from ov_gather.converters import ConversionError, convert_model
from ov_gather.converters.weights import SMALLEST, weights_outside
from ov_gather.system.platforms import CAN_REMOVE_MAPPED_FILES

pytestmark = [
    pytest.mark.skipif(not CAN_REMOVE_MAPPED_FILES, reason="weights stay in the file"),
    pytest.mark.filterwarnings("ignore::ov_gather.converters.LossyConversionWarning"),
]

TABLE = np.arange(200 * 100, dtype=np.float32).reshape(200, 100)


@pytest.fixture(autouse=True)
def temporary_files(tmp_path, monkeypatch):
    """The directory of temporary files, which each test leaves empty."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def model_of(tensor, *, constant=False):
    """y = Gather(w, i), with w as an initializer or Constant."""
    nodes = [helper.make_node("Gather", ["w", "i"], ["y"], name="g")]
    if constant:
        nodes.insert(0, helper.make_node("Constant", [], ["w"], value=tensor, name="table"))
    inputs = [helper.make_tensor_value_info("i", TensorProto.INT64, ["n"])]
    outputs = [helper.make_tensor_value_info("y", tensor.data_type, ["n", 100])]
    graph = helper.make_graph(nodes, "g", inputs, outputs, [] if constant else [tensor])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def with_bodies():
    """An If with an initializer and a Constant in its branches."""
    weights = numpy_helper.from_array(TABLE[:100], "v")
    kind = [helper.make_tensor_value_info("a", TensorProto.FLOAT, ["n", 100])]
    product = helper.make_node("MatMul", ["e", "v"], ["a"])
    then = helper.make_graph([product], "then", [], kind, [weights])
    constant = helper.make_node("Constant", [], ["u"], value=weights, name="inside")
    other = helper.make_graph([constant, helper.make_node("MatMul", ["e", "u"], ["b"])], "else", [], kind)
    other.output[0].name = "b"
    model = model_of(numpy_helper.from_array(TABLE, "w"))
    model.graph.node[0].output[0] = "e"
    model.graph.node.append(helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=other))
    model.graph.input.append(helper.make_tensor_value_info("c", TensorProto.BOOL, []))
    return model


def number(value):
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def field(position, payload):
    return number(position << 3 | 2) + number(len(payload)) + payload


def replaced(model, tensor, payload):
    """The file of a model with another message in place of an initializer."""
    graph = model.graph.SerializeToString()
    other = graph.replace(field(5, tensor.SerializeToString()), field(5, payload))
    assert other != graph
    return model.SerializeToString().replace(field(7, graph), field(7, other))


def shown(model, folder):
    """The content of a converted model: its constants, and the names and types of its layers."""
    openvino.save_model(model, folder / "m.xml", compress_to_fp16=False)
    layers = [
        (node.get_type_name(), node.get_friendly_name()) for node in model.get_ordered_ops() if node.get_input_size() != 1
    ]
    return (folder / "m.bin").read_bytes(), [name for name in layers if not name[1].startswith("Constant_")]


def is_moved(path):
    with weights_outside(path) as found:
        return found != path


GOOD = {
    "initializer": model_of(numpy_helper.from_array(TABLE, "w")),
    "constant": model_of(numpy_helper.from_array(TABLE, "w"), constant=True),
    "halves": model_of(numpy_helper.from_array(TABLE.astype(np.float16), "w")),
    "int64": model_of(numpy_helper.from_array(TABLE.astype(np.int64), "w")),
    "bodies": with_bodies(),
}


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("target", ["stock", "extension"])
def test_the_result_is_that_of_the_model_in_memory(name, target, tmp_path):
    path = tmp_path / "m.onnx"
    onnx.save(GOOD[name], path)
    assert is_moved(path)
    found = convert_model(path, target=target)
    assert shown(found, tmp_path) == shown(convert_model(path.read_bytes(), target=target), tmp_path)


def test_a_constant_that_is_an_output(tmp_path):
    model = model_of(numpy_helper.from_array(TABLE, "w"), constant=True)
    model.graph.output.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, TABLE.shape))
    onnx.save(model, tmp_path / "m.onnx")
    found = convert_model(tmp_path / "m.onnx")
    results = openvino.compile_model(found, "CPU")({"i": np.array([3])})
    np.testing.assert_array_equal(results["w"], TABLE)
    np.testing.assert_array_equal(results["y"], TABLE[[3]])


def test_the_model_outlives_its_file(tmp_path):
    path = tmp_path / "m.onnx"
    onnx.save(GOOD["initializer"], path)
    found = convert_model(path)
    path.write_bytes(b"")
    np.testing.assert_array_equal(openvino.compile_model(found, "CPU")({"i": np.array([7])})["y"], TABLE[[7]])


def tensor_with(**fields):
    tensor = numpy_helper.from_array(TABLE, "w")
    for name, value in fields.items():
        getattr(tensor, name).extend(value) if isinstance(value, list) else setattr(tensor, name, value)
    return tensor


ODD = {
    "too short": tensor_with(raw_data=TABLE.tobytes()[:-4]),
    "two kinds of data": tensor_with(float_data=[1.0]),
    "strings": tensor_with(data_type=TensorProto.STRING),
    "no such type": tensor_with(data_type=99),
    "negative sizes": TensorProto(name="w", data_type=1, dims=[-200, -100], raw_data=TABLE.tobytes()),
    "empty": TensorProto(name="w", data_type=1, dims=[0, 100], raw_data=TABLE.tobytes()),
    "huge": TensorProto(name="w", data_type=1, dims=[2**62, 2**62], raw_data=TABLE.tobytes()),
    "external, too": tensor_with(data_location=TensorProto.EXTERNAL),
}


@pytest.mark.parametrize("name", ODD)
def test_tensors_that_are_wrong_stay_and_are_refused(name, tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(model_of(ODD[name]).SerializeToString())
    assert not is_moved(path)
    with pytest.raises(ConversionError, match=r"m\.onnx: not a valid ONNX model: .*"):
        convert_model(path)


@pytest.mark.parametrize("cut", [100, 40_000])
def test_files_that_are_cut(cut, tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(GOOD["initializer"].SerializeToString()[:-cut])
    assert not is_moved(path)
    with pytest.raises(ConversionError, match="parse"):
        convert_model(path)


def test_fields_that_protobuf_merges_stay(tmp_path):
    """Of elements given twice, the last ones count; of two graphs, both."""
    tensor, path = numpy_helper.from_array(TABLE, "w"), tmp_path / "m.onnx"
    model = model_of(tensor)
    path.write_bytes(replaced(model, tensor, tensor.SerializeToString() + field(9, (TABLE + 1).tobytes())))
    assert not is_moved(path)
    found = openvino.compile_model(convert_model(path), "CPU")({"i": np.array([7])})["y"]
    np.testing.assert_array_equal(found, TABLE[[7]] + 1)
    path.write_bytes(model.SerializeToString() + field(7, model.graph.SerializeToString()))
    assert not is_moved(path)


def test_external_data_stays(tmp_path):
    path = tmp_path / "m.onnx"
    model = model_of(numpy_helper.from_array(TABLE, "w"))  # saving changes it
    onnx.save(model, path, save_as_external_data=True, location="weights", size_threshold=0)
    model = onnx.load(path, load_external_data=False)
    model.graph.initializer.append(numpy_helper.from_array(TABLE, "v"))
    model.graph.node.append(helper.make_node("Gather", ["v", "i"], ["z"]))
    model.graph.output.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, ["n", 100]))
    path.write_bytes(model.SerializeToString())
    assert not is_moved(path)
    assert len(convert_model(path).outputs) == 2


def test_small_files_and_models_in_memory_stay(tmp_path):
    path = tmp_path / "m.onnx"
    onnx.save(model_of(numpy_helper.from_array(TABLE[: SMALLEST // 400], "w")), path)
    assert not is_moved(path)
    assert not is_moved(path.read_bytes())
    assert not is_moved(tmp_path / "missing.onnx")


PEAK = """
import sys, warnings
from ov_gather.converters import convert_model
from ov_gather.system.platforms import peak_memory
warnings.simplefilter("ignore")
convert_model(sys.argv[1], output=sys.argv[1] + ".xml")
before = peak_memory()
convert_model(sys.argv[2], output=sys.argv[2] + ".xml")
print(peak_memory() - before)
"""


@pytest.mark.slow
@pytest.mark.parametrize("constant", [False, True])
def test_weights_are_in_memory_once(constant, tmp_path):
    """They were there four times, and as Constants seven times."""
    size = 128 << 20
    small, large = tmp_path / "small.onnx", tmp_path / "large.onnx"
    onnx.save(GOOD["constant" if constant else "initializer"], small)
    array = np.ones((size // 400, 100), np.float32)
    onnx.save(model_of(numpy_helper.from_array(array, "w"), constant=constant), large)
    environment = {**os.environ, "TMPDIR": str(tmp_path / "temporary")}
    command = [sys.executable, "-c", PEAK, small, large]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert int(done.stdout) < 2.5 * size
