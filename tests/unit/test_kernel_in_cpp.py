"""The installed kernel against naive loops in C++, through its C interface; .ci/sanitizers runs the same program."""

import os
import shutil
import subprocess

import pytest

from helpers.paths import ROOT
from ov_gather.extension.installed import kernel

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


@pytest.mark.exhaustive
def test_equals_naive_loops_in_cpp(tmp_path):
    library, program = kernel(), tmp_path / "kernel_test"
    flags = ["-std=c++17", "-O1", "-ffp-contract=off", "-pthread", "-I", ROOT / "ov_gather" / "native" / "interface"]
    source = ROOT / "tests" / "native" / "kernel_test.cpp"
    subprocess.run(["g++", *flags, source, library, f"-Wl,-rpath,{library.parent}", "-o", program], check=True)
    for isa in subprocess.run([program, "--isas"], capture_output=True, text=True, check=True).stdout.split():
        done = subprocess.run([program], env={**os.environ, "OV_GATHER_ISA": isa}, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"kernel_test: {isa}, " in done.stdout
        assert done.stdout.count(" cases\n") == 5
