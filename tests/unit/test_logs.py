"""The package tells loggers below `ov_gather` what it does, and prints nothing unless a caller asks for it."""

import logging
import subprocess
import sys

import onnx.parser
import openvino
import pytest

import ov_gather
from helpers.paths import SAMPLES
from ov_gather.converters import convert_model

SAMPLE = SAMPLES / "valid" / "spec_layer.xml"
MODEL = onnx.parser.parse_model(
    '<ir_version: 10, opset_import: ["": 18]> g (float[4,4] x, int64[2,1] i) => (float[2,1] y) '
    "{ y = GatherElements<axis = 1>(x, i) }"
)


def test_files_that_are_read(caplog):
    with caplog.at_level(logging.DEBUG, "ov_gather"):
        ov_gather.validate(SAMPLE)
        ov_gather.read_ir(SAMPLE.read_bytes())
    assert caplog.messages == [f"{SAMPLE}: read, problems: 0", "a document in memory: read, problems: 0"]
    assert {record.name for record in caplog.records} == {"ov_gather.ir"}


@pytest.mark.openvino
@pytest.mark.filterwarnings("ignore")
def test_what_was_changed_lost_and_written(caplog, tmp_path):
    with caplog.at_level(logging.INFO, "ov_gather"):
        model = convert_model(MODEL, output=tmp_path / "m.xml")
        ov_gather.harden(model, policy="clamp")
    told = "\n".join(caplog.messages)
    assert "node GatherElements '' (output y): data sliced to" in told
    assert "input 'i': i64 is computed as i32, values beyond wrap around" in told
    assert f"{tmp_path / 'm.xml'}: written" in told
    assert "GatherElements-6 'y': conditional, indices are clamped" in told


@pytest.mark.openvino
def test_what_acceleration_did(caplog):
    with caplog.at_level(logging.INFO, "ov_gather"):
        ov_gather.accelerate(openvino.Core().read_model(SAMPLE))
    assert any(message.startswith("GatherElements-6 'gather': ") for message in caplog.messages)


def test_nothing_is_printed_unless_asked_for():
    code = f"import logging, ov_gather; ov_gather.read_ir({str(SAMPLE)!r}); assert logging.getLogger('ov_gather').handlers"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
