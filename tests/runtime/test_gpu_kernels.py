"""Our kernels for GPUs under PoCL, a CPU implementation of OpenCL, with the macros that the GPU plugin defines.

No Intel GPU and no GPU plugin executes anything here.
"""

import platform
import shutil
import sys

import numpy as np
import pytest

from helpers.gpu_kernels import KERNELS, expected, run, view
from ov_gather.crosscheck.cases.designed import designed, of_32_bits, operands

pytestmark = pytest.mark.skipif((sys.platform, platform.machine()) != ("linux", "x86_64"), reason="PoCL is a wheel for Linux on x86-64")

LAYERS = {
    "rows": view("GatherElements", [(4, 6), (4, 9)], axis=1),
    "smaller indices": view("GatherElements", [(4, 6, 5, 3), (2, 7, 4, 3)], "i32", "i64", axis=1),
    "first axis": view("GatherElements", [(6, 4, 5), (3, 4, 5)], "u8", axis=0),
    "vector": view("GatherElements", [(7,), (5,)], "i8", axis=0),
    "broadcast": view("GatherElements", [(3, 6, 4), (1, 5, 1)], axis=1, broadcast=True),
    "lanes": view("GatherElements", [(3, 6, 2), (3, 5)], "i32", axis=1, lanes=True),
    "same shape": view("GatherElements", [(3, 6, 4), (3, 2, 4)], axis=1, same_shape=True),
    "columns": view("Gather", [(3, 6, 4), (2, 5)], axis=1),
    "scalar index": view("Gather", [(3, 6), ()], "i32", "i64", axis=0),
    "batches": view("Gather", [(3, 2, 6, 2), (3, 5)], axis=2, batch_dims=1),
    "batches to the axis": view("Gather", [(3, 2, 6), (3, 2, 4)], "u8", axis=2, batch_dims=2),
    "zero": view("Gather", [(6, 3), (4,)], axis=0, bounds="zero"),
    "pairs": view("GatherND", [(4, 5, 3), (6, 2)]),
    "all coordinates": view("GatherND", [(4, 5, 3), (2, 4, 3)], "i32", "i64"),
    "tuples of one": view("GatherND", [(4, 5), (3, 2, 1)], "i8"),
    "one tuple of one": view("GatherND", [(4, 1), (1, 1)]),
    "tuples in batches": view("GatherND", [(3, 4, 5), (3, 2, 1)], batch_dims=1),
    "scattered": view("ScatterElements", [(4, 6), (4, 3), (4, 3)], axis=1),
    "scattered less": view("ScatterElements", [(4, 6, 3), (2, 5, 3), (2, 5, 3)], "i32", "i64", axis=1),
    "minima": view("ScatterElements", [(4, 6), (9, 6), (9, 6)], axis=0, reduction="min"),
    "maxima": view("ScatterElements", [(4, 6), (9, 6), (9, 6)], "u8", axis=0, reduction="max"),
    "sums": view("ScatterElements", [(7,), (20,), (20,)], "i32", axis=0, reduction="add"),
    "slices": view("ScatterND", [(5, 3, 4), (6, 1), (6, 3, 4)]),
    "elements": view("ScatterND", [(5, 3), (2, 4, 2), (2, 4)], "i32", "i64"),
    "updates of one": view("ScatterND", [(9,), (5, 1), (5,)], "i8"),
    "products": view("ScatterND", [(5, 3), (8, 1), (8, 3)], "i32", reduction="mul"),
    "sums of slices": view("ScatterND", [(5, 3), (8, 1), (8, 3)], reduction="add"),
}


def check(layer, folder=KERNELS):
    """Compare a kernel in every designed case, half of them with padding; return the names of the cases."""
    done = []
    for number, case in enumerate(of_32_bits(layer, 16, 0)):
        given = operands(layer, case.inputs)
        output = run(layer, given, folder, padding=number % 2)
        np.testing.assert_array_equal(output, expected(layer, given), case.name)
        done.append(case.name)
    return done


@pytest.mark.parametrize("name", LAYERS)
def test_designed_cases(name):
    done = check(LAYERS[name])
    assert len(done) >= 10
    assert {word.split(",")[0] for word in done} > {"random", "boundary", "negative", "above", "below"}


FAULTS = [
    ("indexing.cl", "index < 0 ? index + size : index", "index", "rows"),
    ("indexing.cl", "from_start < size", "from_start <= size", "rows"),
    ("indexing.cl", "? 1 : indices", "? indices->sizes[last] : indices", "tuples of one"),
    ("indexing.cl", "int at = tensor->offset", "int at = 0", "rows"),
    ("gather_elements.cl", "index.sizes[i] == 1 ? 0 : place[i]", "place[i]", "broadcast"),
    ("gather.cl", "row / outer * per_batch", "row * per_batch", "batches"),
    ("gather_nd.cl", "int taken = tuple /", "int taken = 0 * tuple /", "tuples in batches"),
    ("scatter_elements.cl", "place[i] < index.sizes[i]", "true", "scattered less"),
    ("scatter_elements.cl", "is_bad ? FLAG : value", "value", "scattered"),
    ("scatter_nd.cl", "row == number / slice", "row >= number / slice", "slices"),
    ("reductions.cl", "(update) < (old)", "(update) > (old)", "minima"),
]


@pytest.mark.parametrize(("file", "right", "wrong", "name"), FAULTS)
def test_a_planted_fault_is_noticed(file, right, wrong, name, tmp_path):
    folder = shutil.copytree(KERNELS, tmp_path / "kernels")
    source = (folder / file).read_text()
    assert source.count(right) >= 1
    (folder / file).write_text(source.replace(right, wrong))
    with pytest.raises(AssertionError):
        check(LAYERS[name], folder)


@pytest.mark.parametrize(
    ("layer", "said"),
    [
        (view("GatherElements", [(4, 6), (4, 9)], axis=-1), "GatherElements: write axis as 0 or more"),
        (view("GatherElements", [(4, 6), (4, 9)], axis=1, transpose=True), "transpose=true has no kernel"),
        (view("Gather", [(4, 6), (4, 9)], axis=1, batch_dims=-1), "Gather: write batch_dims as 0 or more"),
        (view("ScatterElements", [(4, 6), (4, 9), (4, 9)], axis=-1), "ScatterElements: write axis as 0 or more"),
        (view("ScatterND", [(5, 2), (6, 1), (6, 2)], "i32", lanes="i64"), "with lanes=none only"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_kernel_cannot_know_is_not_compiled(layer, said):
    import pyopencl

    case = next(designed(layer, 1, 0))
    with pytest.raises(pyopencl.RuntimeError, match=said):
        run(layer, operands(layer, case.inputs))


def test_a_negative_axis_of_gather_flags_everything():
    """It is an input, which the compiler does not see."""
    layer = view("Gather", [(4, 6), (3,)], axis=-1)
    output = run(layer, operands(layer, next(designed(layer, 1, 0)).inputs))
    assert np.isnan(output).all()


def test_attributes_are_those_of_the_operations():
    """A layer without an attribute gets the operation's default, but for `bounds`, which Gather-8 lacks: it means zeros."""
    from xml.etree import ElementTree

    config = ElementTree.fromstring(f"<all>{(KERNELS / 'ov_gather.xml').read_text()}</all>")
    assert [root.get("name") for root in config] == ["GatherElements", "Gather", "GatherND", "ScatterElements", "ScatterND"]
    layers = {layer.layer.type: layer.operation for layer in LAYERS.values()}
    for root in config:
        attributes = {one.name: one for one in layers[root.get("name")].attributes}
        for define in root.iter("Define"):
            default = attributes[define.get("param")].default
            assert define.get("default") == ("zero" if define.get("param") == "bounds" else str(int(default) if default in (0, 1) else default))
