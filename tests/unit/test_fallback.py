"""Everything works without the compiled kernel, and one warning says what is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from helpers.paths import ROOT

# An import of the compiled module that fails, as it does where no compiler was at hand.
_HIDE = "import sys; sys.modules['ov_gather._native'] = None; import warnings, numpy as np, ov_gather; "


def test_one_warning_says_what_is_missing():
    code = _HIDE + (
        "warnings.simplefilter('always');[print(ov_gather.gather_elements(np.array([7, 8]), np.array([-1]))) for _ in range(3)]"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[8]\n" * 3
    assert done.stderr.count("RuntimeWarning") == 1
    assert "compiled kernel is missing" in done.stderr
    assert "install a C++17 compiler" in done.stderr


@pytest.mark.slow
def test_check_goes_without_the_extension_and_says_so():
    code = (
        "import sys; from ov_gather import extension; from ov_gather.cli import main; extension._FILE_NAME = 'missing.so';"
        "sys.argv = ['ov-gather', 'check', 'ir_samples/valid/spec_layer.xml']; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0
    header, _, row = done.stdout.splitlines()[:3]
    assert header.split() == ["layer", "cases", "kernel", "openvino", "onnxruntime"]
    cases, kernel, *_ = row.split()[1:]
    assert cases == kernel
    assert "warning: the OpenVINO extension is missing" in done.stderr
