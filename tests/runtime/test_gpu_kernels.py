"""Our kernels for GPUs, executed by the GPU plugin of OpenVINO on PoCL: no Intel GPU executes anything here.

One process executes all models, those with planted faults, too; it compiles the kernels for 15 s.
"""

import platform
import re
import shutil
import sys
from dataclasses import dataclass

import numpy as np
import pytest

import ov_gather
from helpers.gpu_kernels import KERNELS, expected, view
from helpers.gpu_plugin import Execution, execute
from ov_gather.crosscheck.cases.designed import of_32_bits, operands
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I32
from ov_gather.ir.model import Model
from ov_gather.ir.shapes import PartialShape
from ov_gather.ops.layer_view import LayerView

HAS_POCL = sys.platform == "linux" and platform.machine() == "x86_64" and shutil.which("gcc")
pytestmark = pytest.mark.skipif(not HAS_POCL, reason="needs gcc, and PoCL: Linux on x86-64")

LAYERS = {
    "rows": view("GatherElements", [(4, 6), (4, 9)], axis=1),
    "smaller indices": view("GatherElements", [(4, 6, 5, 3), (2, 7, 4, 3)], "i32", "i64", axis=1),
    "first axis": view("GatherElements", [(6, 4, 5), (3, 4, 5)], "u8", axis=0),
    "broadcast": view("GatherElements", [(3, 6, 4), (1, 5, 1)], axis=1, broadcast=True),
    "lanes": view("GatherElements", [(3, 6, 2), (3, 5)], "i32", axis=1, lanes=True),
    "columns": view("Gather", [(3, 6, 4), (2, 5)], axis=1),
    "scalar index": view("Gather", [(3, 6), ()], "i32", "i64", axis=0),
    "batches": view("Gather", [(3, 2, 6, 2), (3, 5)], axis=2, batch_dims=1),
    "zero": view("Gather", [(6, 3), (4,)], axis=0, bounds="zero"),
    "pairs": view("GatherND", [(4, 5, 3), (6, 2)]),
    "tuples of one": view("GatherND", [(4, 5), (3, 2, 1)], "i8"),
    "one tuple of one": view("GatherND", [(4, 1), (1, 1)]),
    "tuples in batches": view("GatherND", [(3, 4, 5), (3, 2, 1)], batch_dims=1),
    "scattered less": view("ScatterElements", [(4, 6, 3), (2, 5, 3), (2, 5, 3)], "i32", "i64", axis=1),
    "minima": view("ScatterElements", [(4, 6), (9, 6), (9, 6)], axis=0, reduction="min"),
    "maxima": view("ScatterElements", [(4, 6), (9, 6), (9, 6)], "u8", axis=0, reduction="max"),
    "sums": view("ScatterElements", [(7,), (20,), (20,)], "i32", axis=0, reduction="add"),
    "slices": view("ScatterND", [(5, 3, 4), (6, 1), (6, 3, 4)]),
    "elements": view("ScatterND", [(5, 3), (2, 4, 2), (2, 4)], "i32", "i64"),
    "products": view("ScatterND", [(5, 3), (8, 1), (8, 3)], "i32", reduction="mul"),
}

FAULTS = [
    ("indexing.cl", "index < 0 ? index + size : index", "index", "rows"),
    ("indexing.cl", "from_start < size", "from_start < size - 1", "rows"),
    ("gather_elements.cl", "index.sizes[i] == 1 ? 0 : place[i]", "place[i]", "broadcast"),
    ("gather.cl", "row / outer * per_batch", "row * per_batch", "batches"),
    ("gather_nd.cl", "int taken = tuple /", "int taken = 0 * tuple /", "tuples in batches"),
    ("scatter_elements.cl", "place[i] < index.sizes[i]", "true", "scattered less"),
    ("scatter_nd.cl", "row == number / slice", "row >= number / slice", "slices"),
    ("reductions.cl", "(update) < (old)", "(update) > (old)", "minima"),
]

BUILD_FAILS = "CL_BUILD_PROGRAM_FAILURE|failed to build the program"  # 2026.4, 2024.6
REFUSED = {
    "negative axis": (view("GatherElements", [(4, 6), (4, 9)], axis=-1), BUILD_FAILS),
    "transposed": (view("GatherElements", [(4, 6), (4, 9)], axis=1, transpose=True), BUILD_FAILS),
    "negative batch_dims": (view("Gather", [(4, 6), (4, 9)], axis=1, batch_dims=-1), BUILD_FAILS),
    "lanes of a scatter": (view("ScatterND", [(5, 2), (6, 1), (6, 2)], "i32", lanes="i64"), BUILD_FAILS),
    "five dimensions": (view("GatherElements", [(2, 2, 2, 2, 3), (2, 2, 2, 2, 3)], axis=1), "Unexpected elements count"),
    "an open dimension": (view("GatherElements", [("?", 6), (4, 9)], axis=1), "Unexpected layout"),
}


@dataclass(frozen=True)
class Subject:
    """A layer, the folder of the kernels that execute it, and the cases."""

    layer: LayerView
    folder: object = KERNELS
    limit: int = 16

    @property
    def cases(self):
        return list(of_32_bits(self.layer, self.limit, 0))

    def execution(self):
        return Execution(self.layer.graph, self.folder / "ov_gather.xml", [list(case.inputs) for case in self.cases])

    def wrong(self, outputs):
        """The names of the cases in which an output is not as expected."""
        assert outputs["executed"].tolist().count("CustomGPUPrimitive") == 1
        names = []
        for number, case in enumerate(self.cases):
            want = expected(self.layer, operands(self.layer, case.inputs))
            if not np.array_equal(outputs[str(number)].astype(want.dtype), want, equal_nan=want.dtype.kind == "f"):
                names.append(case.name)
        return names


def among_others() -> Model:
    """Concat(GatherElements of ours(ReLU(x), i), x, Gather-8 of OpenVINO(x, 1)): x is [4, 6], i is [4, 9]."""
    builder, shapes = ModelBuilder("model"), {n: PartialShape.of([4, n]) for n in (1, 6, 9, 16)}
    x, i = builder.parameter("x", F32, shapes[6]), builder.parameter("i", I32, shapes[9])
    one, column = (builder.const(name, I32, np.array(value, np.int32)) for name, value in (("1", 1), ("column", [7])))
    (relu,) = builder.layer("ReLU", "relu", "opset1", {}, [x], [(F32, shapes[6])])
    (ours,) = builder.layer("GatherElements", "ours", "ov_gather", {"axis": "1"}, [relu, i], [(F32, shapes[9])])
    (stock,) = builder.layer("Gather", "stock", "opset8", {"batch_dims": "0"}, [x, column, one], [(F32, shapes[1])])
    (all_of_them,) = builder.layer("Concat", "concat", "opset1", {"axis": "1"}, [ours, x, stock], [(F32, shapes[16])])
    builder.result("y", all_of_them)
    return builder.build()


X, PLACES = np.arange(-12, 12, dtype=np.float32).reshape(4, 6), (np.arange(36, dtype=np.int32).reshape(4, 9) % 13) - 6
NEGATIVE_AXIS = view("Gather", [(4, 6), (3,)], axis=-1)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The outputs of all models, by the names of layers, the numbers of faults, and the names of what is refused."""
    folder = tmp_path_factory.mktemp("gpu")
    planned = {name: Subject(layer).execution() for name, layer in LAYERS.items()}
    planned |= {number: subject.execution() for number, subject in enumerate(faulty(tmp_path_factory))}
    planned |= {name: Subject(layer, limit=1).execution() for name, (layer, _) in REFUSED.items()}
    planned["among others"] = Execution(among_others(), KERNELS / "ov_gather.xml", [[X, PLACES]])
    planned["negative axis of Gather"] = Subject(NEGATIVE_AXIS, limit=1).execution()
    done = execute(folder, list(planned.values()), ov_gather.extension_path())
    return dict(zip(planned, done, strict=True))


def faulty(tmp_path_factory):
    for file, right, wrong, name in FAULTS:
        folder = shutil.copytree(KERNELS, tmp_path_factory.mktemp("fault") / "kernels")
        source = (folder / file).read_text()
        assert right in source
        (folder / file).write_text(source.replace(right, wrong))
        yield Subject(LAYERS[name], folder)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", LAYERS)
def test_designed_cases(outputs, name):
    subject = Subject(LAYERS[name])
    assert {case.name.split(",")[0] for case in subject.cases} > {"random", "boundary", "negative", "above", "below"}
    assert subject.wrong(outputs[name]) == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("number", range(len(FAULTS)))
def test_a_planted_fault_is_noticed(outputs, number):
    assert Subject(LAYERS[FAULTS[number][-1]]).wrong(outputs[number])


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", REFUSED)
def test_what_the_kernels_cannot_do_is_an_error(outputs, name):
    assert re.search(REFUSED[name][1], str(outputs[name]["error"]))


@pytest.mark.exhaustive
def test_a_negative_axis_of_gather_flags_everything(outputs):
    """It is an input, which the compiler does not see, and its rank is unknown."""
    assert np.isnan(outputs["negative axis of Gather"]["0"]).all()


@pytest.mark.exhaustive
def test_among_layers_of_openvino(outputs):
    """A layer of OpenVINO with the type of one of ours gets our kernel, which computes what OpenVINO specifies: zeros."""
    done = outputs["among others"]
    assert done["executed"].tolist().count("CustomGPUPrimitive") == 2
    taken = np.take_along_axis(np.maximum(X, 0), PLACES % 6, 1)
    want = np.concatenate([np.where(PLACES == 6, np.nan, taken), X, np.zeros((4, 1))], 1)
    np.testing.assert_array_equal(done["0"], want)


def test_attributes_are_those_of_the_operations():
    """A layer without an attribute gets the operation's default, but for `bounds`, which Gather-8 lacks: it means zeros."""
    from xml.etree import ElementTree

    config = ElementTree.fromstring(f"<all>{(KERNELS / 'ov_gather.xml').read_text()}</all>")
    operations = {layer.layer.type: layer.operation for layer in LAYERS.values()}
    assert [root.get("name") for root in config] == list(operations)
    for root in config:
        defaults = {one.name: one.default for one in operations[root.get("name")].attributes} | {"bounds": "zero"}
        for define in root.iter("Define"):
            value = defaults[define.get("param")]
            assert define.get("default") == (value if isinstance(value, str) else str(int(value)))
