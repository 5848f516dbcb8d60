"""ONNX files that attack whoever reads them: data outside their folder, offsets that are none, functions that explode."""

from __future__ import annotations

import re
import time

import numpy as np
import onnx
import pytest
from onnx import parser

from helpers.saved_models import parsed
from ov_gather.converters import ConversionError, convert_model

TABLE = np.arange(20, dtype=np.float32).reshape(5, 4)


def write(folder, rank="3", **entries):
    """Write a gather from a table in the file w; `entries` replace what the model says of the table's place."""
    proto = parsed(f"(int64[{rank}] i) => (float[A,4] y) {{ y = Gather(table, i) }}", 17, table=TABLE)
    if not rank:
        proto.graph.input[0].type.tensor_type.ClearField("shape")
    onnx.save(proto, folder / "m.onnx", save_as_external_data=True, location="w", size_threshold=0)
    proto = onnx.load(folder / "m.onnx", load_external_data=False)
    data = proto.graph.initializer[0].external_data
    kept = {entry.key: entry.value for entry in data} | entries
    del data[:]
    for key, value in kept.items():
        data.add(key=key, value=value)
    (folder / "m.onnx").write_bytes(proto.SerializeToString())
    return folder / "m.onnx"


@pytest.mark.parametrize(
    "value", ["-4", "4", "80", "1000", "abc", "1.5", "", "0x10", "+0", "1_0", " 4", "٤", str(2**64), "9" * 5000]
)
def test_offsets(value, tmp_path):
    path = write(tmp_path, offset=value)
    with pytest.raises(ConversionError, match=rf"tensor 'table'.*{re.escape(str(tmp_path / 'w'))}"):
        convert_model(path)


@pytest.mark.parametrize("value", ["-1", "7", "1000", "x"])
def test_lengths(value, tmp_path):
    path = write(tmp_path, length=value)
    with pytest.raises(ConversionError, match=rf"tensor 'table': its length in {re.escape(str(tmp_path / 'w'))}"):
        convert_model(path)


@pytest.mark.parametrize("rank", ["3", ""], ids=["rank 1", "open rank"])
@pytest.mark.parametrize("inside", [True, False])
def test_a_symlinked_directory(rank, inside, tmp_path):
    """A link that leads out of the folder of the model is refused, also where ONNX's checker cannot be asked."""
    folder, other = tmp_path / "model", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    path = write(folder, rank, location="link/w")
    if inside:
        other = folder / "real"
        other.mkdir()
    (folder / "w").rename(other / "w")
    (folder / "link").symlink_to(other)
    if inside:
        assert convert_model(path).inputs[0].get_any_name() == "i"
    else:
        with pytest.raises(ConversionError, match="outside"):
            convert_model(path)


def doubling(levels, nested=False):
    """Functions that each call the next twice; or the next in the body of an If."""
    imports = 'opset_import: ["" : 17, "f" : 1]'
    call = "t = f.f{0}(x) y = f.f{0}(t)"
    if nested:
        call = (
            "c = Constant<value = bool {{1}}>() y = If(c) <then_branch = a () => (a) {{ a = f.f{0}(x) }}, "
            "else_branch = b () => (b) {{ b = Neg(x) }}>"
        )
    functions = [f'<domain: "f", {imports}> f{i} (x) => (y) {{ {call.format(i + 1)} }}' for i in range(levels)]
    functions.append(f'<domain: "f", {imports}> f{levels} (x) => (y) {{ y = Neg(x) }}')
    main = "m (float[2] x) => (float[2] y) { y = f.f0(x) }"
    return parser.parse_model(f"<ir_version: 10, {imports}> {main} {' '.join(functions)}")


@pytest.mark.parametrize("levels", [17, 26, 90])
def test_functions_that_double(levels):
    """The file has 2 kB, and inlined would have 2^26 nodes."""
    proto = doubling(levels)
    start = time.process_time()
    with pytest.raises(
        ConversionError, match=r"function f\.f\d+ grows from 2 to 131,072 nodes .* at most 100,000 may be added"
    ):
        convert_model(proto)
    assert time.process_time() - start < 20


def test_functions_that_nest_bodies():
    with pytest.raises(ConversionError, match="has bodies on 31 levels when functions are inlined; at most 30 may be"):
        convert_model(doubling(60, nested=True))


def test_functions_within_the_limits():
    assert len(convert_model(doubling(8)).get_ops()) == 2**8 + 2
    assert len(convert_model(doubling(20, nested=True)).outputs) == 1
