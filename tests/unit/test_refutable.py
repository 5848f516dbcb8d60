"""Sites that are out of bounds in every run: found as by an analysis of the whole model, at the cost of what is near them."""

import numpy as np
import pytest

from helpers.paths import SAMPLES
from helpers.steps import steps_of
from ov_gather import IRError, read_ir, validate
from ov_gather.graph.ir import IrGraph
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I64
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.writer import write_ir
from ov_gather.ranges.analysis import Assumption, Outcome, analyse, steps_to
from ov_gather.ranges.graph import AnalysedGraph
from ov_gather.ranges.proofs import refuted
from ov_gather.ranges.refutable import NEAR
from ov_gather.ranges.rules.call import CPU_PLUGIN
from ov_gather.rules.findings import Severity

OPEN, RANK_1, PAIR = PartialShape.parse("?,?,4"), PartialShape.parse("?"), PartialShape.of((2,))


@pytest.mark.parametrize("path", sorted(SAMPLES.rglob("*.xml")), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_nothing_is_lost(path):
    try:
        model = read_ir(path)
    except IRError:
        pytest.skip("cannot be read")
    graph = AnalysedGraph(IrGraph(model))
    whole = analyse(graph, steps_to(graph, graph.sites), CPU_PLUGIN, Assumption())
    expected = [site for site in graph.sites if whole.outcome(site) is Outcome.OUT_OF_BOUNDS]
    assert [site for site, _ in refuted(AnalysedGraph(IrGraph(model)), CPU_PLUGIN, graph.sites)] == expected


def gather_of(builder, indices, size=5):
    table, axis = builder.parameter("table", F32, PartialShape.of((size, 3))), builder.const("axis", I64, np.array(0))
    builder.result("y", *builder.layer("Gather", "g", "opset8", {}, [table, indices, axis], [(F32, PartialShape.parse("?,3"))]))


def moved_input(builder):
    ids, scalar = builder.parameter("ids", I64, PartialShape.of((2, 1))), builder.const("last", I64, np.array([1]))
    return builder.layer("Squeeze", "s", "opset1", {}, [ids, scalar], [(I64, PAIR)])[0]


def moved_and_shifted_input(builder):
    shift = builder.const("shift", I64, np.array([2**20]))
    bounded = builder.layer("Clamp", "c", "opset1", {"min": "0", "max": "3"}, [moved_input(builder)], [(I64, PAIR)])
    return builder.layer("Add", "a", "opset1", {"auto_broadcast": "numpy"}, [*bounded, shift], [(I64, PAIR)])[0]


def joined_with_constant(builder):
    constant = builder.const("constant", I64, np.array([7]))
    return builder.layer("Concat", "c", "opset1", {"axis": "0"}, [constant, constant], [(I64, PartialShape.of((2,)))])[0]


def series_from(start):
    def made(builder):
        ends = [builder.const(name, I64, np.array(end)) for name, end in (("start", start), ("stop", 20), ("step", 1))]
        return builder.layer("Range", "r", "opset4", {"output_type": "i64"}, ends, [(I64, PartialShape.of((20 - start,)))])[0]

    return made


@pytest.mark.parametrize(
    ("indices", "size", "is_refuted"),
    [
        (moved_input, 5, False),
        (moved_input, 0, True),
        (moved_and_shifted_input, 5, True),
        (joined_with_constant, 5, True),
        (joined_with_constant, 8, False),
        (series_from(0), 5, False),
        (series_from(9), 5, True),
    ],
)
def test_what_is_refuted(tmp_path, indices, size, is_refuted):
    builder = ModelBuilder("m")
    gather_of(builder, indices(builder), size)
    write_ir(builder.build(), tmp_path / "m.xml")
    assert [found.rule for found in validate(tmp_path / "m.xml", select=["OVG603"])] == ["OVG603"] * is_refuted


def lengths_behind(layers, path):
    """Write a model of many layers, then an LSTMSequence whose lengths are the size of its tensor."""
    builder, batch = ModelBuilder("m"), PartialShape.parse("?,1,3")
    x = builder.parameter("x", F32, OPEN)
    for number in range(layers):
        (x,) = builder.layer("Abs", f"a{number}", "opset1", {}, [x], [(F32, OPEN)])
    zero, one = (builder.const(name, I64, np.array([value])) for name, value in (("zero", 0), ("one", 1)))
    axis = builder.const("axis", I64, np.array(0))
    (shape,) = builder.layer("ShapeOf", "shape", "opset3", {"output_type": "i64"}, [x], [(I64, PartialShape.of((3,)))])
    time, count = (
        builder.layer(
            "Gather", f"of_{name}", "opset8", {"batch_dims": "0"}, [shape, place, axis], [(I64, PartialShape.of((1,)))]
        )[0]
        for name, place in (("time", one), ("batch", zero))
    )
    (lengths,) = builder.layer("Broadcast", "lengths", "opset3", {"mode": "numpy"}, [time, count], [(I64, RANK_1)])
    states = [builder.parameter(name, F32, batch) for name in ("h", "c")]
    weights = [
        builder.const(name, F32, np.zeros(size, np.float32))
        for name, size in {"W": (1, 12, 4), "R": (1, 12, 3), "B": (1, 12)}.items()
    ]
    outputs = [(F32, PartialShape.parse("?,1,?,3")), (F32, batch), (F32, batch)]
    attributes = {"direction": "forward", "hidden_size": "3"}
    y = builder.layer("LSTMSequence", "lstm", "opset5", attributes, [x, *states, lengths, *weights], outputs)
    for number, value in enumerate(y):
        builder.result(f"y{number}", value)
    write_ir(builder.build(), path)


def test_what_is_far_away_may_refute(tmp_path):
    """The indices are 2^20 or more, as a Clamp far before them says; what is near says nothing."""
    builder = ModelBuilder("m")
    indices = moved_and_shifted_input(builder)
    one = builder.const("one", I64, np.array([1]))
    for number in range(2 * NEAR):
        (indices,) = builder.layer("Add", f"add{number}", "opset1", {"auto_broadcast": "numpy"}, [indices, one], [(I64, PAIR)])
    gather_of(builder, indices)
    write_ir(builder.build(), tmp_path / "m.xml")
    assert [found.rule for found in validate(tmp_path / "m.xml", select=["OVG603"])] == ["OVG603"]


def test_what_is_far_away_is_not_analysed(tmp_path):
    """A layer far before the lengths of a sequence costs hardly more with the rule than without it, in counted steps."""
    costs = {}
    for layers in (20, 120):
        lengths_behind(layers, tmp_path / "m.xml")
        assert not [found for found in validate(tmp_path / "m.xml") if found.severity is Severity.ERROR]
        for select in ("OVG603", "OVG001"):
            costs[layers, select] = steps_of(lambda select=select: validate(tmp_path / "m.xml", select=[select]))
    per_layer = {select: (costs[120, select] - costs[20, select]) / 100 for select in ("OVG603", "OVG001")}
    assert per_layer["OVG603"] - per_layer["OVG001"] < 40
