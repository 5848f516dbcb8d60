"""Many layers in one model: those that are the same are executed once, and each on its own operands."""

from collections import defaultdict
from types import SimpleNamespace

import numpy as np
import pytest

from ov_gather import cross_check
from ov_gather.crosscheck.cases.designed import OWN_OPERANDS
from ov_gather.crosscheck.models import ir
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I32, I64
from ov_gather.ir.shapes import PartialShape
from ov_gather.report.check import text
from ov_gather.runtimes import isolated
from ov_gather.runtimes.isolated import IsolatedRuntime
from ov_gather.system import worker


def model(*layers):
    """Make a model of GatherElements, each given by its name, rows, axis and, if they are constant, its indices."""
    builder = ModelBuilder("many")
    for name, rows, axis, indices in layers:
        shape = PartialShape.of([rows, 2])
        data = builder.parameter(f"{name} data", F32, shape)
        if indices is None:
            given = builder.parameter(f"{name} indices", I64, shape)
        else:
            given = builder.const(f"{name} indices", I64, np.array(indices))
        outputs = builder.layer("GatherElements", name, "opset6", {"axis": str(axis)}, [data, given], [(F32, shape)])
        builder.result(f"{name} out", outputs[0])
    return builder.build()


@pytest.fixture
def executed(monkeypatch):
    """The number of executions, by runtime and by whether it was the case with a layer's own operands."""
    counts = {"activate": 0, "execute": 0}
    for method in counts:
        original = getattr(IsolatedRuntime, method)

        def counted(self, *arguments, method=method, original=original):
            counts[method] += self.name == "kernel"
            return original(self, *arguments)

        monkeypatch.setattr(IsolatedRuntime, method, counted)
    return counts


def cases_of(layer):
    return [case.name for case in layer.cases]


def test_identical_layers_are_executed_once(executed):
    twins = [(f"twin {i}", 3, 1, None) for i in range(4)]
    result = cross_check(model(*twins[:2], ("other", 4, 1, None), *twins[2:]), runtimes=("kernel", "openvino"))
    assert result.passed
    assert [layer.layer for layer in result.layers] == ["twin 0", "twin 1", "other", "twin 2", "twin 3"]
    assert [layer.executed_as for layer in result.layers] == ["", "twin 0", "", "twin 0", "twin 0"]
    for layer in result.layers:
        assert cases_of(layer)[0] == OWN_OPERANDS
        assert len(layer.cases) == 17
    assert cases_of(result.layers[4]) == cases_of(result.layers[0])
    assert executed["execute"] == 5 + 2 * 16
    assert executed["activate"] < 10  # once a number of threads and group, and anew after errors


def test_more_twins_need_no_more_compilations(monkeypatch):
    compiled, original = defaultdict(int), IsolatedRuntime.activate

    def counted(self, *arguments):
        compiled[self.name] += 1
        return original(self, *arguments)

    monkeypatch.setattr(IsolatedRuntime, "activate", counted)
    counts = []
    for number in (3, 30):
        compiled.clear()
        result = cross_check(model(*((f"twin {i}", 3, 1, None) for i in range(number))), runtimes=("kernel", "openvino"))
        assert result.passed
        assert {len(layer.cases) for layer in result.layers} == {17}
        counts.append(dict(compiled))
    assert counts[1]["accelerated"] == 1
    assert counts[1]["openvino"] <= counts[0]["openvino"] + 1  # one more batch of operands
    assert counts[1]["kernel"] <= counts[0]["kernel"] + 1


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(("b", 3, 0, None), id="axis"),
        pytest.param(("b", 2, 1, None), id="shape"),
        pytest.param(("b", 3, 1, [[0, 0]] * 3), id="constant instead of an input"),
    ],
)
def test_layers_that_differ_are_executed_each(other):
    result = cross_check(model(("a", 3, 1, None), other), runtimes=("kernel",), cases=2)
    assert [layer.executed_as for layer in result.layers] == ["", ""]


def test_constants_make_a_difference():
    layers = [("a", 2, 1, [[0, 1], [1, 0]]), ("b", 2, 1, [[0, 1], [1, 1]]), ("c", 2, 1, [[0, 1], [1, 0]])]
    result = cross_check(model(*layers), runtimes=("kernel",), cases=2)
    assert [layer.executed_as for layer in result.layers] == ["", "", "a"]


def test_results_that_are_held_a_few_at_a_time_are_the_same(monkeypatch):
    layers = [(f"gather {i}", 2 + i % 3, i % 2, None) for i in range(7)]
    whole = cross_check(model(*layers), runtimes=("kernel", "openvino"), cases=3)
    monkeypatch.setattr(ir, "BATCH", 2)  # the operands of one layer are more than may be held at once, too
    monkeypatch.setattr(ir, "HELD", 1)
    monkeypatch.setattr("ov_gather.crosscheck.layers.MAX_PENDING_BYTES", 1)
    parts = cross_check(model(*layers), runtimes=("kernel", "openvino"), cases=3)
    assert parts.passed
    for one, other in zip(whole.layers, parts.layers, strict=True):
        assert (one.layer, one.executed_as) == (other.layer, other.executed_as)
        assert [(case.name, case.shapes) for case in one.cases] == [(case.name, case.shapes) for case in other.cases]


def test_layers_whose_operands_fit_are_executed_together():
    views = [SimpleNamespace(input_types=(F32, I32), input_shapes=(PartialShape.parse("1024,1024"), PartialShape.parse("2,?")))]
    together = ir.HELD // (4 * 1024 * 1024 + 4 * 2)
    assert [ir._fitting(views * count) for count in (1, together, together + 1)] == [1, together, together]


def test_a_layer_that_cannot_be_executed_does_not_stop_its_twins():
    broken = [("a", 3, 7, None), ("b", 3, 7, None), ("c", 3, 1, None)]
    result = cross_check(model(*broken), runtimes=("kernel",), cases=2)
    assert [layer.passed for layer in result.layers] == [False, False, True]
    assert "not executed" in result.layers[1].problem


@pytest.mark.exhaustive
def test_a_runtime_that_hangs_is_named_with_the_layer_and_the_time(monkeypatch, tmp_path):
    """One hang a number of threads is enough: the other cases of the layer are not tried, nor smaller ones."""
    monkeypatch.setitem(isolated.RUNTIMES, "kernel", ("helpers.artificial_openvino", "HangingOf24"))
    monkeypatch.setattr(isolated, "_idle", defaultdict(list))
    monkeypatch.setattr(worker, "TIME_LIMIT", 4.0)
    layers = [("good", 3, 1, None), ("bad", 12, 1, None), ("as good", 5, 1, None)]
    result = cross_check(model(*layers), runtimes=("kernel",), cases=4, failures=tmp_path)
    assert [layer.passed for layer in result.layers] == [True, False, True]
    first, *others = text.failure_lines(result.layers[1])
    assert first.startswith(
        ": GatherElements-6 'bad': case 'random, small' of [12, 2], [12, 2]: kernel: FAILED (hangs: no answer"
    )
    assert [line for line in others if "hangs: no answer within 4 s" in line]
    assert [case.comparisons[0].hangs for case in result.layers[1].cases[:2]] == [True, False]
    assert result.layers[1].cases[1].comparisons[0].detail == (
        "is not executed: in case 'random, small' it hangs: no answer within 4 s"
    )
    for runtime in isolated._idle["kernel"]:
        runtime.stop()
