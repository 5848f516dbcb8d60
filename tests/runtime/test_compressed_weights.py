"""Embeddings whose weights are compressed stay so with our extension, and an index out of bounds still is an error."""

import subprocess
import sys

import numpy as np
import onnx
import openvino as ov
import pytest
from onnx import numpy_helper
from openvino import opset13 as ops

from helpers.saved_models import saved
from ov_gather.acceleration.compressed import keep_compressed
from ov_gather.acceleration.graph import ours
from ov_gather.converters import compile_onnx, convert_model

WORDS, WIDTH, BLOCK = 16000, 1024, 64
DECOMPRESSED = WORDS * WIDTH * 4 / 2**20  # MiB

# Prints the memory in MiB that compiling and running a model takes beyond what is mapped from its file, and the outputs.
MEASURE = """
import sys
import numpy as np, openvino, ov_gather
from ov_gather.runtimes.session import Session
def anonymous():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) / 1024
core = ov_gather.register(openvino.Core())
before = anonymous()
session = Session(core, core.read_model(sys.argv[1]))
np.save(sys.argv[2], session([np.array([0, -1, 15999, 7])])[0])
print(anonymous() - before)
try:
    session([np.array([3, 16000])])
except RuntimeError as error:
    print(str(error).splitlines()[-1] or str(error))
"""


def embedding(path, kind):
    rng = np.random.default_rng(5)
    first, constants = "", {"table": rng.standard_normal((WORDS, WIDTH), np.float32)}
    if kind == "f16":
        first, constants = "table = Cast<to = 1>(half)", {"half": constants["table"].astype(np.float16)}
    elif kind == "i8":
        first = "table = DequantizeLinear<axis = 0>(narrow, scale)"
        narrow = rng.integers(-128, 128, (WORDS, WIDTH), np.int8)
        constants = {"narrow": narrow, "scale": rng.random(WORDS, np.float32)}
    text = f"(int64[n] i) => (float[n,{WIDTH}] y) {{ {first} [embed] y = Gather(table, i) }}"
    return saved(path, text, 21, **constants)


def in_blocks_of_4_bits(path, index_is_checked):
    """An embedding's weights as NNCF compresses them."""
    rng = np.random.default_rng(5)
    packed = rng.integers(0, 256, WORDS * WIDTH // 2, np.uint8)
    elements = ov.op.Constant(ov.Tensor(packed, [WORDS, WIDTH // BLOCK, BLOCK], ov.Type.u4))
    scales = ops.constant(rng.random((WORDS, WIDTH // BLOCK, 1), np.float32).astype(np.float16))
    blocks = ops.multiply(ops.subtract(ops.convert(elements, "f16"), ops.constant(np.float16(8))), scales)
    table = ops.convert(ops.reshape(blocks, ops.constant(np.array([WORDS, WIDTH])), special_zero=False), "f32")
    index = ops.parameter([-1], np.int64)
    gather = ops.gather(table, index, ops.constant(np.array(0)))
    if index_is_checked:
        gather = ours("Gather", gather.input_values(), {"batch_dims": 0, "bounds": "error"})
    model = ov.Model([gather], [index], "model")
    assert len(keep_compressed(model)) == index_is_checked
    ov.serialize(model, path)
    return path


def test_weights_of_4_bits_stay_compressed(tmp_path):
    stock = measured(in_blocks_of_4_bits(tmp_path / "stock.xml", False), tmp_path / "y.npy")
    memory, message, rows = measured(in_blocks_of_4_bits(tmp_path / "ours.xml", True), tmp_path / "y.npy")
    assert memory < DECOMPRESSED / 2
    assert "indices[1] = 16000 is out of bounds for axis 0 of size 16000 (valid -16000..15999)" in message
    assert rows.tobytes() == stock[2].tobytes()


def measured(path, output):
    done = subprocess.run([sys.executable, "-c", MEASURE, path, output], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    memory, *message = done.stdout.splitlines()
    return float(memory), " ".join(message), np.load(output)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", ["f16", "i8", "f32 written as f16"])
@pytest.mark.filterwarnings("ignore::ov_gather.converters.LossyConversionWarning")
def test_weights_stay_compressed(kind, tmp_path):
    source, halved = embedding(tmp_path / "m.onnx", kind[:3].strip()), kind.endswith("written as f16")
    results = {}
    for target in ("stock", "extension"):
        convert_model(source, target=target, fp16=halved, output=tmp_path / f"{target}.xml")
        results[target] = measured(tmp_path / f"{target}.xml", tmp_path / "y.npy")
    memory, message, rows = results["extension"]
    assert memory < results["stock"][0] + DECOMPRESSED / 4
    assert memory < DECOMPRESSED / 2
    assert "indices[1] = 16000 is out of bounds for axis 0 of size 16000 (valid -16000..15999)" in message
    assert results["stock"][1] == ""  # stock OpenVINO returns zeros
    assert rows.tobytes() == results["stock"][2].tobytes()


@pytest.mark.filterwarnings("ignore::ov_gather.converters.LossyConversionWarning")
def test_compile_onnx_keeps_weights_compressed(tmp_path):
    source = embedding(tmp_path / "m.onnx", "f16")
    compiled = compile_onnx(source)
    table = numpy_helper.to_array(onnx.load(source).graph.initializer[0])
    (rows,) = compiled({"i": np.array([5, -2])}).values()
    assert np.array_equal(rows, table[[5, -2]].astype(np.float32))
    with pytest.raises(IndexError, match=r"indices\[0\] = -16001 is out of bounds for axis 0 of size 16000"):
        compiled({"i": np.array([-16001])})
