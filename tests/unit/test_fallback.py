"""Everything works without the compiled kernel, and one warning says what is missing."""

import os
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
def test_check_goes_without_the_extension_and_says_so(tmp_path):
    code = (
        "import sys; from ov_gather.extension import installed; from ov_gather.cli import main;"
        "installed.FILE_NAME = 'missing.so';"
        "sys.argv = ['ov-gather', 'check', 'ir_samples/valid/spec_layer.xml']; main()"
    )
    environment = {**os.environ, "CXX": "no-compiler", "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=environment)
    assert done.returncode == 0
    header, _, row = done.stdout.splitlines()[:3]
    assert header.split() == ["layer", "cases", "kernel", "openvino", "onnxruntime"]
    cases, kernel, *_ = row.split()[1:]
    assert cases == kernel
    assert (
        "warning: the OpenVINO extension is compiled on first use, and there is no C++17 compiler (no-compiler)" in done.stderr
    )
