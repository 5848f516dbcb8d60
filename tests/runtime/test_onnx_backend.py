"""A sample of ONNX's backend tests; `python tests/tools/onnx_backend.py` runs all."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools import onnx_backend
from tools.onnx_backend import Result

pytestmark = pytest.mark.slow

SCRIPT = Path(onnx_backend.__file__)


def test_what_stock_openvino_passes_compile_onnx_passes():
    """Every 20th test runs, in a process of its own, as the script forks, which OpenVINO's threads do not survive."""
    done = subprocess.run([sys.executable, SCRIPT, "--every", "20"], capture_output=True, text=True, cwd=SCRIPT.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = re.findall(r"^all +(\d+) +(stock OpenVINO|compile_onnx) +(\d+)", done.stdout, re.M)
    (tests, _, stock), (_, _, ours) = rows
    assert int(tests) > 100
    assert int(ours) >= int(stock) > int(tests) * 0.7


def test_what_is_bad():
    passed, warned, refused, wrong, crash = ((name, "") for name in onnx_backend.OUTCOMES)
    assert [ours[0] for ours in (passed, warned, refused, wrong, crash) if Result("node", "x", passed, ours).is_bad] == [
        *("refused", "wrong", "crash")
    ]
    assert [ours[0] for ours in (passed, warned, refused, wrong, crash) if Result("node", "x", refused, ours).is_bad] == [
        "crash"
    ]
