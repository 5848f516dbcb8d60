"""`check`, with the default cases, finds any fault that is planted in the compiled kernel.

The oracle is the NumPy reference, which shares nothing with it. The sources are patched in a copy; the product knows no fault.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

import pytest

from helpers.paths import ROOT, SAMPLES, VALID
from ov_gather import cross_check
from ov_gather.runtimes import isolated

DOCUMENTS = sorted(VALID.glob("*.xml")) + sorted((SAMPLES / "divergent").glob("*/*.xml"))

# What is planted: the file, what stands there, what is put in its place.
FAULTS = {
    "the upper bound is not checked": (
        "lines.cpp",
        "| (clamped ^ index)",
        "| static_cast<uint32_t>(static_cast<int32_t>(index) < 0)",
    ),
    "negative indices are not wrapped": ("lines.cpp", "low + ((low >> 31) & size)", "low"),
    "the index is off by one": (
        "lines.cpp",
        "wrapped[i] = static_cast<int32_t>(clamped);",
        "wrapped[i] = static_cast<int32_t>(clamped ? clamped - 1 : 0);",
    ),
    "beyond 32 bits is not seen": ("lines.cpp", "static_cast<uint32_t>(low != given)", "0u"),
    "the stride of the axis is wrong where it is not the last": (
        "lines.cpp",
        "data[offsets[i] * step + (across ? i : 0)]",
        "data[(across && offsets[i] > 0 ? offsets[i] - 1 : offsets[i]) * step + (across ? i : 0)]",
    ),
    "what follows the last whole block is lost": (
        "lines.cpp",
        "start < count; start += block",
        "start == 0 || start + block <= count; start += block",
    ),
    "a tile that is not full repeats its first line": (
        "lines.cpp",
        "i < rows; ++i) to[i] = tile[i][j];",
        "i < rows; ++i) to[i] = tile[0][j];",
    ),
    "a copied slice is one element short": (
        "lines.cpp",
        "memcpy(output, data, count * size);",
        "memcpy(output, data, (count - (count > 1)) * size);",
    ),
    "batches share their indices": ("slices.hpp", "at < batch ? indices[at]", "at < batch ? 0 * indices[at]"),
    "the last element of a thread is lost": (
        "gather.cpp",
        "int64_t left = range.size(); left > 0 &&",
        "int64_t left = range.size() - (range.begin() > 0); left > 0 &&",
    ),
    "the last byte of a packed row is lost": (
        "gather.cpp",
        "data + row * plane.axis_stride, bytes);",
        "data + row * plane.axis_stride, bytes - 1);",
    ),
    "the coordinates of a tuple are swapped": (
        "tuples.cpp",
        "flat * dims[i] + index",
        "flat + index * dims[dims.size() - 1 - i]",
    ),
    "a scattered update is dropped": (
        "scatter.cpp",
        "int64_t k = 0; k < axis.size; ++k",
        "int64_t k = axis.size > 1; k < axis.size; ++k",
    ),
}

# So that it compiles sooner: no instruction set but the baseline.
FASTER = (
    ("CMakeLists.txt", "-O3 ", ""),
    ("CMakeLists.txt", "list(APPEND isas avx2 avx512)", ""),
    ("isa.cpp", "defined(__x86_64__)", "0"),
)


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """The compiled part as it is, and with each fault: the path of the module."""
    work = tmp_path_factory.mktemp("planted")
    names = ["none", *FAULTS]
    places = [names[i::2] for i in range(2)]  # two builds at a time, each of one fault after the other
    with ThreadPoolExecutor(2) as pool:
        built = pool.map(lambda at: _build(work / str(at), places[at]), range(2))
    return {name: path for paths in built for name, path in paths.items()}


def _build(place, names):
    source, build, paths = place / "native", place / "build", {}
    shutil.copytree(ROOT / "ov_gather" / "native", source)
    for file, old, new in FASTER:
        text = (source / file).read_text()
        assert old in text, f"{file}: the source has changed"
        (source / file).write_text(text.replace(old, new))
    configure = ["cmake", "-S", source, "-B", build, "-G", "Ninja", "-DSKBUILD=1", f"-DPython_EXECUTABLE={sys.executable}"]
    _run([*configure, "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O1"])
    for name in names:
        file, old, new = FAULTS.get(name, ("lines.cpp", "", ""))
        text = (source / file).read_text()
        assert not old or text.count(old) == 1, f"{name}: the source has changed"
        (source / file).write_text(text.replace(old, new) if old else text)
        _run(["cmake", "--build", build, "--target", "_native", "--parallel", "1"])
        (source / file).write_text(text)
        (module,) = build.glob("_native*.so")
        paths[name] = shutil.copy(module, place / f"{len(paths)}{module.name}")
    return paths


def _run(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def _failures(monkeypatch, kernel):
    monkeypatch.setenv("PLANTED_KERNEL", str(kernel))
    monkeypatch.setitem(isolated.RUNTIMES, "kernel", ("helpers.planted_kernel", "KernelRuntime"))
    monkeypatch.setattr(isolated, "_idle", defaultdict(list))
    layers = [layer for path in DOCUMENTS for layer in cross_check(path, runtimes=["kernel"]).layers]
    for runtime in isolated._idle["kernel"]:
        runtime.stop()
    assert len(layers) > 40
    return [layer for layer in layers if not layer.passed]


def test_no_fault_is_found_where_there_is_none(kernels, monkeypatch):
    assert _failures(monkeypatch, kernels["none"]) == []


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(kernels, monkeypatch, name):
    assert _failures(monkeypatch, kernels[name])
