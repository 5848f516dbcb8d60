"""Weights of an ONNX file, which `convert` moves to a temporary file and maps from there."""

import errno
import os
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import onnx
import openvino
import pytest
from onnx import TensorProto, numpy_helper

from helpers.preparing import prepared
from helpers.saved_models import parsed
from ov_gather.converters import ConversionError, convert_model
from ov_gather.converters.onnx_file import SMALLEST
from ov_gather.converters.weights import weights_outside
from ov_gather.system.platforms import CAN_REMOVE_MAPPED_FILES

pytestmark = [
    pytest.mark.openvino,
    pytest.mark.skipif(not CAN_REMOVE_MAPPED_FILES, reason="weights stay in the file"),
    pytest.mark.filterwarnings("ignore::ov_gather.converters.LossyConversionWarning"),
]

ROWS = """(int64[2] i, float[2,16] x) => ({output}) {{
    [take] rows = Gather(table, i) [add] sum = Add(rows, x)
    [half] half = Constant<value = float {{0.5}}>() [times] y = Mul(sum, half)
}}"""


@pytest.fixture(autouse=True)
def folder_for_temporary_files(tmp_path, monkeypatch):
    """Check that no temporary file is left."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert [*folder.iterdir()] == []


def table(rows=100):
    return np.arange(rows * 16, dtype=np.float32).reshape(rows, 16)


def saved(path: Path, weights, output="float[2,16] y") -> Path:
    onnx.save(parsed(ROWS.format(output=output), table=weights), path)
    return path


def moved(path: Path) -> bool:
    with weights_outside(path) as readable:
        return readable != path


def constants(model: openvino.Model) -> list[tuple[str, bytes]]:
    nodes = (node for node in model.get_ops() if node.get_type_name() == "Constant" and node.output(0).get_names())
    return sorted((node.get_friendly_name(), node.data.tobytes()) for node in nodes)


@pytest.mark.parametrize("output", ["float[2,16] y", "float[] y", "float[2,16] y, float[100,16] table"])
@pytest.mark.parametrize("target", ["stock", "extension"])
def test_names_and_bits_are_those_of_the_file(tmp_path, monkeypatch, output, target):
    path = saved(tmp_path / "m.onnx", table(), output)
    assert moved(path)
    found = convert_model(path, target=target)
    monkeypatch.setattr("ov_gather.converters.models.weights_outside", nullcontext)
    expected = convert_model(path, target=target)
    assert constants(found) == constants(expected)
    assert "table" in dict(constants(found))
    assert [port.get_names() for port in found.outputs] == [port.get_names() for port in expected.outputs]


def test_weights_of_four_bits(tmp_path, monkeypatch):
    text = "(float[2,40] x) => (float[2,101] y) { w = DequantizeLinear(q, s) y = MatMul(x, w) }"
    model = parsed(text, opset=21, s=np.float32(0.1))
    packed = np.arange(2020, dtype=np.uint8).tobytes()
    model.graph.initializer.append(TensorProto(name="q", data_type=TensorProto.INT4, dims=[40, 101], raw_data=packed))
    onnx.save(model, tmp_path / "m.onnx")
    assert moved(tmp_path / "m.onnx")
    found = convert_model(tmp_path / "m.onnx")
    monkeypatch.setattr("ov_gather.converters.models.weights_outside", nullcontext)
    assert constants(found) == constants(convert_model(tmp_path / "m.onnx"))


def altered(tensor: TensorProto, how: str) -> TensorProto:
    if how == "too short":
        tensor.raw_data = tensor.raw_data[:-1]
    elif how == "negative dimensions":
        tensor.dims[:] = [-100, -16]
    elif how == "many dimensions":
        tensor.dims.extend([1] * 100)
    elif how == "two kinds of data":
        tensor.float_data.append(1)
    elif how == "documented, but not in UTF-8":
        rest = TensorProto.FromString(tensor.SerializeToString() + b"\x62\x02\xff\xfe")
        tensor.CopyFrom(rest)
    elif how == "unknown type":
        tensor.data_type = 99
    elif how == "small":
        tensor.CopyFrom(numpy_helper.from_array(table()[: SMALLEST // 64 - 1], "table"))
    return tensor


HOW = "too short,negative dimensions,many dimensions,two kinds of data,documented, but not in UTF-8,unknown type,small"


@pytest.mark.parametrize("how", HOW.replace(", ", "; ").split(","))
def test_unusual_tensors_stay(tmp_path, how):
    path = saved(tmp_path / "m.onnx", table())
    model = onnx.load(path)
    altered(model.graph.initializer[0], how.replace("; ", ", "))
    path.write_bytes(model.SerializeToString())
    assert not moved(path)


def test_files_that_stay_as_they_are(tmp_path):
    bad = tmp_path / "bad.onnx"
    bad.write_bytes(b"\xff" * 5000)
    assert not moved(bad)
    assert not moved(tmp_path / "missing.onnx")

    path = saved(tmp_path / "m.onnx", table())
    onnx.save(onnx.load(path), tmp_path / "e.onnx", save_as_external_data=True, location="e.data", size_threshold=0)
    assert not moved(tmp_path / "e.onnx")


def test_without_room_for_the_weights_they_stay_in_memory(tmp_path, monkeypatch, folder_for_temporary_files):
    def full(*given):
        assert [*folder_for_temporary_files.rglob("weights")]
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr("ov_gather.converters.weights.set_external_data", full)
    path = saved(tmp_path / "m.onnx", table())
    with weights_outside(path) as readable:
        assert readable == path
        assert [*folder_for_temporary_files.iterdir()] == []
    assert dict(constants(convert_model(path)))["table"] == table().tobytes()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_temporary_directory_with_a_name_that_is_not_utf_8(tmp_path, monkeypatch):
    folder = tmp_path / os.fsdecode(b"\xff")
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    assert not moved(saved(tmp_path / "m.onnx", table()))
    assert [*folder.iterdir()] == []


def test_a_refused_model_is_named_by_its_own_path(tmp_path):
    path = saved(tmp_path / "m.onnx", table())
    model = onnx.load(path)
    model.graph.node[0].op_type = "Unknown"
    path.write_bytes(model.SerializeToString())
    with pytest.raises(ConversionError, match=f"^{path}: not a valid ONNX model: No Op registered for Unknown"):
        convert_model(path)


CHILD = """
import re, sys
from pathlib import Path
from ov_gather.cli import main
try:
    main()
finally:  # unlike ru_maxrss, which a process takes over from the one that starts it
    print("peak", re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
"""


def converted_elsewhere(path: Path, folder: Path, *, files=1024) -> int:
    """Convert a model in a process of its own that may open `files` files; return its peak memory in bytes."""
    limit = f"resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}))"
    done = subprocess.run(
        prepared(limit, [sys.executable, "-c", CHILD, "convert", path, "-o", path.with_suffix(".xml")]),
        env={**os.environ, "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout.rpartition("peak")[2]) * 1024


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_conversion_holds_weights_twice_at_most(tmp_path, folder_for_temporary_files):
    """It held them four times, and other data of 83 MB."""
    weights = np.ones((3_000_000, 16), np.float32)
    peak = converted_elsewhere(saved(tmp_path / "m.onnx", weights), folder_for_temporary_files)
    assert peak < 3 * weights.nbytes


@pytest.mark.exhaustive
@pytest.mark.skipif(sys.platform != "linux", reason="a limit of 64 files is too low elsewhere")
def test_many_tensors_need_few_file_descriptors(tmp_path, folder_for_temporary_files):
    """Indices are read by several passes, and small operands of arithmetic are kept by one."""
    nodes = "".join(f"g{n} = Gather(x, i{n}) h{n} = Mul(f{n}, g{n}) " for n in range(1100))
    weights = {f"i{n}": np.arange(256) for n in range(1100)} | {f"f{n}": np.ones(256, np.float32) for n in range(1100)}
    total = ",".join(f"h{n}" for n in range(1100))
    onnx.save(parsed(f"(float[300] x) => (float[256] y) {{ {nodes} y = Sum({total}) }}", **weights), tmp_path / "m.onnx")
    assert moved(tmp_path / "m.onnx")
    converted_elsewhere(tmp_path / "m.onnx", folder_for_temporary_files, files=64)


def test_nothing_heavy_is_imported_before_the_weights_are_moved():
    code = "import ov_gather.converters.weights, sys; print({'onnx_ir', 'openvino'} & {*sys.modules})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
