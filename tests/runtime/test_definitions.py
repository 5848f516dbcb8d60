"""An IR's layers beside OpenVINO: what they compute by their definitions, and which have none."""

import json

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as op

from helpers.openvino_models import number
from helpers.paths import VALID
from ov_gather import cross_check
from ov_gather.crosscheck.results import Status
from ov_gather.ir.reader import read_ir
from ov_gather.report.check import html as check_html
from ov_gather.report.check import json as check_json
from ov_gather.report.check import junit
from ov_gather.report.check.report import CheckReport
from ov_gather.report.check.text import summary
from ov_gather.runtimes import isolated
from ov_gather.runtimes.evaluated import EvaluatedRuntime

X = np.arange(5, dtype=np.float32)


@pytest.fixture
def plant(monkeypatch):
    """Puts a runtime of `helpers.artificial_openvino` in the place of OpenVINO."""
    monkeypatch.setattr(isolated, "_idle", {(name, ()): [] for name in (*isolated.RUNTIMES, *isolated.FOR_MODELS)})
    yield lambda name: monkeypatch.setitem(isolated.RUNTIMES, "openvino", ("helpers.artificial_openvino", name))
    for runtimes in isolated._idle.values():
        for runtime in runtimes:
            runtime.stop()


def saved(path, outputs, parameters):
    """An IR with named outputs."""
    for name, output in outputs.items():
        output.output(0).set_names({name})
    ov.save_model(ov.Model(list(outputs.values()), parameters), path, compress_to_fp16=False)
    return path


def ends_of(x, slicing):
    """The first element, then the others from the end."""
    parts = [slicing(x, *(op.constant(np.array([bound])) for bound in bounds)) for bounds in ((0, 1, 1), (-1, 0, -1))]
    return op.concat(parts, 0)


def strided(x, start, stop, step):
    return op.strided_slice(x, start, stop, step, [0], [0])


def sliced(x, start, stop, step):
    return op.slice(x, start, stop, step, op.constant(np.array([0])))


def gathered(data):
    """Data, and a gather of them."""
    indices = op.parameter([2], np.int32, name="i")
    return op.gather_elements(data, indices, 0), indices


def test_slices_that_openvino_does_not_reverse_are_wrong_by_a_known_fault(tmp_path):
    x = op.parameter([5], np.float32, name="x")
    ends = ends_of(x, strided)
    gather, i = gathered(ends)
    result = cross_check(saved(tmp_path / "m.xml", {"ends": ends, "picked": gather}, [x, i]), {"x": X})
    values = {value.name: value.comparison for value in result.definitions.values}
    assert values["ends"].status is Status.EXPECTED
    assert values["ends"].divergences == ("reversed_slice_beside_others",)
    assert "output[1]: expected 4.0, here 1.0; 4 of 5 differ" in values["ends"].detail
    text = "\n".join(summary([result]))
    assert "known fault reversed_slice_beside_others (openvino): a StridedSlice in reverse" in text
    assert "other layers with a reference (1 Concat, 2 StridedSlice)" in text


def test_the_same_slices_are_right_where_openvino_is(tmp_path):
    x = op.parameter([5], np.float32, name="x")
    ends = ends_of(x, sliced)
    gather, i = gathered(ends)
    result = cross_check(saved(tmp_path / "m.xml", {"ends": ends, "picked": gather}, [x, i]), {"x": X})
    assert [value.comparison.status for value in result.definitions.values] == [Status.PASSED] * 2
    assert result.divergences == ("negative-indices",)


def test_a_fault_behind_layers_without_a_reference_is_found(tmp_path):
    """What a Softmax computes is taken from OpenVINO; the slices behind it are not."""
    x = op.parameter([5], np.float32, name="x")
    gather, i = gathered(ends_of(op.softmax(x, 0), strided))
    result = cross_check(saved(tmp_path / "m.xml", {"all": op.exp(gather)}, [x, i]), {"x": X, "i": np.array([1, 2], np.int32)})
    (value,) = result.definitions.values
    assert value.comparison.divergences == ("reversed_slice_beside_others",)
    assert (result.definitions.defined, result.definitions.undefined) == (
        {"StridedSlice": 2, "Concat": 1},
        {"SoftMax": 1, "Exp": 1},
    )


def test_a_difference_that_the_book_does_not_know_fails(tmp_path, plant):
    x = op.parameter([5], np.float32, name="x")
    gather, i = gathered(op.relu(x))
    path = saved(tmp_path / "m.xml", {"picked": gather}, [x, i])
    plant("Shifted")
    result = cross_check(path, runtimes=("kernel", "openvino"))
    (value,) = result.definitions.values
    assert value.comparison.status is Status.FAILED
    report = CheckReport([result])
    assert not report.passed
    (wrong,) = json.loads(check_json.render(report))["values"]
    assert (wrong["name"], wrong["comparison"]["status"]) == ("picked", "failed")
    assert "1 value compared: 1 wrong" in check_html.render(report)
    assert "value 'picked'" in junit.render(report)


def shrunk(x, begin_mask):
    """Row 1 of two, or row 0 if the mask counts."""
    rows = op.reshape(x, op.constant(np.array([-1, 5])), False)
    ends = (op.constant(np.array([number])) for number in (-1, 0, 1))
    return op.strided_slice(op.concat([rows, op.relu(rows)], 0), *ends, [begin_mask], [0], [], [1])


KINDS = {
    "a row by its number": (lambda x: shrunk(x, 0), True),
    "a row by a number that a mask hides": (lambda x: shrunk(x, 1), False),
    "integers are exact": (
        lambda x: op.convert(op.add(op.convert(op.greater(x, number(0, np.float32)), "i64"), number(7)), "f32"),
        True,
    ),
    "sums of fractions are not": (lambda x: op.add(x, op.constant(np.float32(0.1))), False),
    "the greatest fraction is": (lambda x: op.maximum(x, op.constant(np.float32(0.1))), True),
    "a product over nothing is unknown": (lambda x: op.reduce_prod(op.unsqueeze(x, number(0)), number(0)), False),
}


@pytest.mark.parametrize("kind", KINDS)
def test_which_layers_have_a_reference(kind, tmp_path):
    make, is_defined = KINDS[kind]
    x = op.parameter([5], np.float32, name="x")
    gather, i = gathered(make(x))
    result = cross_check(saved(tmp_path / "m.xml", {"picked": gather}, [x, i]))
    assert result.passed
    assert (result.definitions.undefined == {}) is is_defined


def test_a_model_of_pytorch_and_one_with_a_state():
    for name in ("deberta_bias", "detector_with_state"):
        result = cross_check(VALID / f"{name}.xml", cases=2)
        assert result.passed
        assert len(result.definitions.values) == 2


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.bool_, np.float16])
def test_constants_are_read_where_openvino_has_no_views_of_them(tmp_path, monkeypatch, dtype):
    """As in 2024.6."""
    monkeypatch.delattr(type(op.constant(X)), "get_tensor_view")
    x, constant = op.parameter([5], dtype), op.constant(X.astype(dtype))
    runtime = EvaluatedRuntime()
    runtime.activate(read_ir(saved(tmp_path / "model.xml", {"y": op.concat([x, constant], 0)}, [x])))
    (result,) = runtime.execute([X[::-1].astype(dtype)])
    np.testing.assert_array_equal(result, np.concatenate([X[::-1], X]).astype(dtype))
