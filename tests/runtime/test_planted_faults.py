"""`check`, with the default cases, finds any fault that is planted in the compiled kernel.

The oracle is the NumPy reference, which shares nothing with it. A copy of the sources is patched and compiled once, with all
faults in it; an environment variable says which one is there. The product knows no fault.
"""

import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator

import pytest

from helpers.paths import ROOT, SAMPLES, VALID
from ov_gather import cross_check
from ov_gather.runtimes import isolated

DOCUMENTS = sorted(VALID.glob("*.xml")) + sorted((SAMPLES / "divergent").glob("*/*.xml"))

# Each fault is a file, and a text in it in which `«right → wrong»` says what takes an expression's place.
FAULTS = {
    "the upper bound is not checked": (
        "kernel/line_indices.hpp",
        "| «(clamped ^ index) → static_cast<uint32_t>(static_cast<int32_t>(index) < 0)»;",
    ),
    "negative indices are not wrapped": ("kernel/line_indices.hpp", "«low + ((low >> 31) & size) → low»"),
    "the index is off by one": (
        "kernel/line_indices.hpp",
        "wrapped[i] = «static_cast<int32_t>(clamped) → static_cast<int32_t>(clamped ? clamped - 1 : 0)»;",
    ),
    "beyond 32 bits is not seen": ("kernel/line_indices.hpp", "«static_cast<uint32_t>(low != given) → 0u»"),
    "the stride of the axis is wrong where it is not the last": (
        "kernel/line_blocks.hpp",
        "data[«offsets[i] → across && offsets[i] > 0 ? offsets[i] - 1 : offsets[i]» * step + (across ? i : 0)]",
    ),
    "what follows the last whole block is lost": (
        "kernel/line_blocks.hpp",
        "«start < count → start == 0 || start + most <= count»; start += most",
    ),
    "a tile that is not full repeats its first line": ("kernel/line_columns.hpp", "i < rows; ++i) to[i] = tile[«i → 0»][j];"),
    "a copied slice is one element short": (
        "kernel/lines.cpp",
        "slices<Index>(plane, data, indices, output, lines, «count * size → (count - (count > 1)) * size»);",
    ),
    "batches share their indices": ("interface/slices.hpp", "at < batch ? «indices[at] → 0 * indices[at]»"),
    "the last element of a thread is lost": (
        "kernel/gather.cpp",
        "int64_t left = «range.size() → range.size() - (range.begin() > 0)»; left > 0 &&",
    ),
    "the last byte of a packed row is lost": ("kernel/gather.cpp", "data + row * plane.axis_stride, «bytes → bytes - 1»);"),
    "the coordinates of a tuple are swapped": (
        "kernel/tuples.cpp",
        "place = «place * sizes[k] + index → place + index * sizes[depth - 1 - k]»;\n        }\n        if (!in",
    ),
    "tuples of later batches take the first": ("kernel/tuples.cpp", "* given.index_size, «axis_size * slice → 0»,"),
    "short lines start where the first does": (
        "kernel/short_lines.hpp",
        "starts[row * count + i] = «static_cast<int32_t>(row) * row_step → 0»;",
    ),
    "the end of a column is not copied before it is updated": (
        "kernel/scatter.cpp",
        "data + first * bytes, «rows * bytes → (rows - 1) * bytes»);",
    ),
    "a scattered update is dropped": ("kernel/scatter_pieces.cpp", "int64_t k = «0 → axis.size > 1»; k < axis.size; ++k"),
    "tuples write to the row before": (
        "kernel/scatter_rows.cpp",
        "(output) + «rows[i] → (rows[i] ? rows[i] - 1 : 0)» * scatter.row_size",
    ),
    "a reduction forgets what is there": (
        "kernel/scatter_rows.cpp",
        "Reduce::apply(«row[column] → from[column]», from[column]);",
    ),
}

PLANTED = """#pragma once
#include <cstdlib>
inline bool planted(int fault) {
    static const int there = std::atoi(std::getenv("PLANTED_FAULT"));
    return there == fault;
}
"""

# The baseline is the only instruction set, so that the module compiles sooner. The second-level cache is small, whatever this
# machine has, so that the default cases exceed what is near.
PATCHES = (
    ("kernel/caches.hpp", "std::max<int64_t>(second_level_cache_size(), 1 << 18)", "1 << 18"),
    ("CMakeLists.txt", "$<$<CXX_COMPILER_ID:GNU>:-O2;-ftree-vectorize;-fvect-cost-model=dynamic>", ""),
    ("CMakeLists.txt", "if(MSVC OR NOT ", "if(TRUE OR "),
    ("interface/platform.hpp", "#if defined(__x86_64__) && !defined(_MSC_VER)", "#if 0"),
)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    """The path of the compiled module, with every fault in it."""
    work = tmp_path_factory.mktemp("planted")
    source, build = work / "native", work / "build"
    shutil.copytree(ROOT / "ov_gather" / "native", source)
    (source / "interface" / "planted.hpp").write_text(PLANTED)
    for file, old, new in PATCHES:
        _replace(source / file, old, new)
    for number, (file, text) in enumerate(FAULTS.values(), 1):
        before, right, faulty, after = re.split("«| → |»", text)
        assert (source / file).read_text().count(before + right + after) == 1, f"{text}: a fault is planted in one place"
        _replace(source / file, before + right + after, f"{before}(planted({number}) ? {faulty} : {right}){after}")
    for file in {file for file, _ in FAULTS.values()}:
        (source / file).write_text('#include "planted.hpp"\n' + (source / file).read_text())
    configure = ["cmake", "-S", source, "-B", build, "-G", "Ninja", "-DSKBUILD=1", f"-DPython_EXECUTABLE={sys.executable}"]
    _run([*configure, "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O0"])
    _run(["cmake", "--build", build, "--target", "_native", "--parallel", "2"])
    (module,) = build.glob("_native*.so")
    return module


def _replace(path, old, new):
    text = path.read_text()
    assert old in text, f"{path.name}: the source has changed: {old}"
    path.write_text(text.replace(old, new))


def _run(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def plant(kernel, monkeypatch):
    """A function that takes the number of a fault, 0 for none; the kernel with that fault takes the place of ours."""
    monkeypatch.setenv("PLANTED_KERNEL", str(kernel))
    monkeypatch.setitem(isolated.RUNTIMES, "kernel", ("helpers.planted_kernel", "KernelRuntime"))
    monkeypatch.setattr(isolated, "_idle", defaultdict(list))
    yield lambda number: monkeypatch.setenv("PLANTED_FAULT", str(number))
    for runtime in isolated._idle["kernel", ()]:
        runtime.stop()


def _layers() -> Iterator:
    return (layer for path in DOCUMENTS for layer in cross_check(path, runtimes=["kernel"]).layers)


@pytest.mark.exhaustive
def test_no_fault_is_found_where_there_is_none(plant):
    plant(0)
    layers = list(_layers())
    assert len(layers) > 40
    assert [layer for layer in layers if not layer.passed] == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(plant, name):
    plant([*FAULTS].index(name) + 1)
    assert any(not layer.passed for layer in _layers())
