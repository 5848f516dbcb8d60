"""External data stay where they are: no command needs the room for a copy of them."""

import re
import tempfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from helpers.saved_models import parsed
from ov_gather.converters import convert_model
from ov_gather.system.files import scratch

pytestmark = [pytest.mark.onnxruntime, pytest.mark.openvino]

SIZE = 1024
BYTES = SIZE * SIZE * 4


@pytest.fixture
def model(tmp_path):
    """A model with 4 MB of external data, a gather that must be rewritten, and a body."""
    text = f"""(float[2,{SIZE}] x, int32[2,1] i, bool c) => (float[] y) {{
        [scores] scores = MatMul(x, w) [take] taken = GatherElements<axis = 0>(scores, i) [rows] rows = Add(scores, taken)
        [choice] y = If (c) <then_branch = then () => (float[] more) {{ [add] more = Add(rows, b) }},
                             else_branch = other () => (float[] less) {{ [neg] less = Neg(rows) }}> }}"""
    weights = (np.arange(SIZE * SIZE) % 7 - 3).reshape(SIZE, SIZE).astype(np.float32)
    proto = parsed(text, w=weights)
    bias = numpy_helper.from_array(np.arange(SIZE).astype(np.float32), "b")
    proto.graph.node[-1].attribute[0].g.initializer.append(bias)
    folder = tmp_path / "folder"
    folder.mkdir()
    onnx.save(proto, folder / "m.onnx", save_as_external_data=True, location="weights", size_threshold=1 << 20)
    return folder / "m.onnx"


def test_no_file_as_large_as_the_data_is_written(cli, model, tmp_path):
    """What is written has half their size, as float16, and no file can be larger than that."""
    ir, limit = tmp_path / "m.xml", BYTES // 2 + 10_000
    done = cli("convert", model, "-o", ir, "--fp16", "--verify", file_size=limit, code=0)
    assert re.search(r"outputs: 1, passed: 1 \([^)]*\); gathers: 1, passed: 1", done.stdout)
    assert sorted(path.name for path in model.parent.iterdir()) == ["m.onnx", "weights"]

    given = {"x": np.ones((2, SIZE), np.float32), "i": np.zeros((2, 1), np.int32), "c": np.array(True)}
    np.savez(tmp_path / "inputs.npz", **given)
    done = cli("bisect", model, ir, "--input", tmp_path / "inputs.npz", file_size=limit, code=0)
    assert "outputs: 1, equal: 1" in done.stdout


def test_nothing_is_written_to_tmpdir(model, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(model.parent / "absent"))
    assert convert_model(model).get_ops()


def test_where_nothing_can_be_written_beside_the_data_they_are_copied(model, monkeypatch):
    def refuse(**options):
        raise PermissionError(f"{options['dir']} is read-only")

    monkeypatch.setattr("ov_gather.converters.saving.mkstemp", refuse)
    assert convert_model(model).get_ops()


def test_a_full_tmpdir_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(OSError, match=f"{tmp_path} has no room for temporary files: set TMPDIR"), scratch():
        Path("/dev/full").write_text("anything")
