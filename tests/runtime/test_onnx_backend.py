"""A sample of ONNX's backend tests; `python tests/tools/evidence.py onnx_backend` runs all."""

import re
import subprocess
import sys

import pytest

from helpers.paths import TOOLS
from tools.measurements import onnx_backend
from tools.measurements.onnx_backend import Result


@pytest.mark.exhaustive
def test_what_stock_openvino_passes_compile_onnx_passes():
    """Every 20th test runs, in a process of its own, as the script forks, which OpenVINO's threads do not survive."""
    command = [sys.executable, TOOLS / "evidence.py", "onnx_backend", "--every", "20"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = re.findall(r"^\| all \| (\d+) \| (stock OpenVINO|compile_onnx) \| (\d+)", done.stdout, re.M)
    (tests, _, stock), (_, _, ours) = rows
    assert int(tests) > 100
    assert int(ours) >= int(stock) > int(tests) * 0.7


def test_what_is_bad():
    passed, warned, refused, wrong, crash = ((name, "") for name in onnx_backend.OUTCOMES)
    assert [ours[0] for ours in (passed, warned, refused, wrong, crash) if Result("node", "x", passed, ours).is_bad] == [
        *("refused", "wrong", "crash")
    ]
    assert [ours[0] for ours in (passed, warned, refused, wrong, crash) if Result("node", "x", refused, ours).is_bad] == [
        *("wrong", "crash")
    ]
