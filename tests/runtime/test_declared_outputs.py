"""Operations of users with several outputs and tolerances by type, as whole layers and as made-up ones."""

import openvino as ov
import pytest

import ov_gather
from helpers.declaring import declared
from ov_gather.crosscheck.results import Status
from ov_gather.crosscheck.sweep import sweep
from ov_gather.extension.users import loaded
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import by_name
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.writer import write_ir

pytestmark = [
    pytest.mark.skipif(not hasattr(ov, "DiscreteTypeInfo"), reason="this OpenVINO takes no operations in Python"),
]

DECLARATION = """
import numpy as np
from ov_gather.ops.spec import *


def ends(inputs, attributes):
    (x,) = inputs
    return [x.min(-1), x.max(-1)]


def infer_shapes(shapes, attributes):
    if shapes[0].rank == 0:
        raise RankError("x is a scalar", "it needs an axis", 0)
    return [PartialShape(shapes[0].dims and shapes[0].dims[:-1])] * 2


def restrict(shapes, attributes):
    if shapes[0].dims and 0 in shapes[0].dims[-1]:
        raise DimensionError("an empty axis has no ends", "give it an element", 0)


ENDS = Operation(
    type="Ends",
    opset="mine",
    inputs=[Input("x", types=("f32", "i32"))],
    outputs=["lowest", "highest"],
    infer_types=lambda types: [types[0]] * 2,
    infer_shapes=infer_shapes,
    restrict=restrict,
    choose_sizes=lambda shapes, attributes, size: [
        [max(1, dim.closest_to(size)) for dim in (shapes[0].dims or (Dimension(), Dimension()))]
    ],
    adds_up=lambda attributes: True,
    reference=ends,
    rtol={"f32": 1e-3},
)
"""
CLASS = """
import numpy as np
import openvino as ov


class Ends(ov.Op):
    class_type_info = ov.DiscreteTypeInfo("Ends", "mine")

    def __init__(self, inputs=None):
        super().__init__(self)
        if inputs is not None:
            self.set_arguments(inputs)
            self.constructor_validate_and_infer_types()

    def get_type_info(self):
        return Ends.class_type_info

    def visit_attributes(self, visitor):
        return True

    def validate_and_infer_types(self):
        shape = self.get_input_partial_shape(0)
        found = shape if shape.rank.is_dynamic else ov.PartialShape(list(shape)[:-1])
        for i in range(2):
            self.set_output_type(i, self.get_input_element_type(0), found)

    def clone_with_new_inputs(self, inputs):
        return Ends(inputs)

    def has_evaluate(self):
        return True

    def evaluate(self, outputs, inputs):
        x = inputs[0].data
        for output, values in zip(outputs, (x.min(-1), x.max(-1) FAULT)):
            output.shape = values.shape
            output.data[...] = values
        return True
"""


@pytest.fixture
def ends(tmp_path, monkeypatch):
    """A function that returns the extension with this fault."""
    name = f"ends_of_{tmp_path.name}"
    monkeypatch.syspath_prepend(tmp_path)

    def extension(fault):
        (tmp_path / f"{name}.py").write_text(CLASS.replace("FAULT", fault))
        return [f"{name}:Ends"]

    with declared(tmp_path / "ends_ops.py", DECLARATION):
        yield extension


def write_ends(path, *kinds, rank=2):
    builder = ModelBuilder("ends")
    for i, kind in enumerate(kinds):
        shape = PartialShape.of((3,) * (rank + i))
        x = builder.parameter(f"x{i}", by_name(kind), shape)
        outputs = [(by_name(kind), PartialShape.of((3,) * (rank + i - 1)))] * 2
        for name, value in zip("lh", builder.layer("Ends", f"ends{i}", "mine", {}, [x], outputs), strict=True):
            builder.result(f"{name}{i}", value)
    write_ir(builder.build(), path)
    return path


def test_a_right_library_passes(ends, tmp_path):
    model = write_ends(tmp_path / "m.xml", "f32", "f32")
    result = ov_gather.cross_check(model, runtimes=["openvino"], extensions=ends(""), cases=2)
    assert result.passed, [layer.problem or layer.comparisons for layer in result.layers]
    assert [sum(layer.counts["library"].values()) for layer in result.layers] == [14, 14]  # of two ranks: both are probed


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("kind", "fault", "passes"), [("f32", "* 1.0001", True), ("f32", "* 1.01", False), ("i32", "+ 1", False)]
)
def test_executed_cases_compare_every_output_within_the_tolerance_of_its_type(ends, tmp_path, kind, fault, passes):
    model = write_ends(tmp_path / "m.xml", kind)
    (layer,) = ov_gather.cross_check(model, runtimes=["openvino"], extensions=ends(fault), cases=2).layers
    executed = [comparison for comparison in layer.comparisons if comparison.runtime == "openvino"]
    assert {comparison.status for comparison in executed} == {Status.PASSED if passes else Status.FAILED}
    assert all(comparison.detail.startswith("" if passes else "highest: ") for comparison in executed)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("fault", "passes"), [("", True), ("* (1 + (x.ndim > 3))", False)])
def test_sweep_makes_up_layers_of_declared_operations(ends, tmp_path, fault, passes):
    result = sweep(["openvino"], cases=60, extensions=loaded(ends(fault)), failures=tmp_path / "failures")
    assert {layer.operation for layer in result.layers} == {"Ends-mine"}
    assert result.passed == passes
    ranks = {len(case.shapes[0]) for layer in result.layers for case in layer.cases}
    assert len(ranks) > 3
    failed = {len(case.shapes[0]) for layer in result.layers for case in layer.cases if not case.passed}
    assert failed == (set() if passes else {rank for rank in ranks if rank > 3})
    assert {kind for layer in result.layers for kind in layer.types.values()} == {"f32", "i32"}
    replays = [case.replay for layer in result.layers for case in layer.cases if case.replay]
    assert bool(replays) != passes
    assert all("--ops" in replay and "--extension" in replay for replay in replays)


def test_a_sweep_ends_if_no_reference_can_be_executed(tmp_path, monkeypatch):
    broken = DECLARATION.replace("(x,) = inputs", "raise ValueError('typo')")
    assert broken != DECLARATION
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "right_ends.py").write_text(CLASS.replace("FAULT", ""))
    with declared(tmp_path / "broken.py", broken):
        result = sweep(["openvino"], cases=3, extensions=loaded(["right_ends:Ends"]))
    assert not result.passed
    assert len(result.layers) == 3
    assert all("raises ValueError: typo" in layer.problem for layer in result.layers)
