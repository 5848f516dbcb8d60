"""Known faults of OpenVINO are found by their patterns, in models of any size, and in the releases that show them."""

import numpy as np
import onnx.parser
import onnxruntime
import openvino as ov
import pytest
from openvino import opset13 as op
from openvino import opset16

from helpers.known_faults import EXPORTS, HOSTS, as_ir, between_layers, in_export, met_by, model_of, onnx_of
from ov_gather import validate
from ov_gather.converters import ConversionError, convert_model
from ov_gather.plugin.register import ELSEWHERE, KNOWN
from ov_gather.rules.known_faults import RULE_OF
from ov_gather.rules.register import RULES
from ov_gather.rules.releases import RELEASES
from tools.upstream.measured import Measured, number
from tools.upstream.registry import FAULTS
from tools.upstream.running import shows

BY_OTHERS = {report: rule[:6] for report, rule in ELSEWHERE.items() if rule[:6] in RULES}
IN_BODIES = ("loop_overwrites_outer_value",)  # layers of a loop meet it
NOT_IN_BODIES = ("i64_state", "string_input_is_output")  # states belong to models, and this output is one of a model


def found(model, path, *, target=RELEASES[-1]):
    """Return the reports that findings of a model name, each with the rule and the way to the layer."""
    as_ir(model, path)
    findings = validate(path, target=target, select=["OVG7"])
    return {
        finding.hint.rpartition("ov-gather explain ")[2]: (finding.rule, finding.location.subgraph_path)
        for finding in findings
        if "ov-gather explain " in finding.hint
    }


def test_each_report_has_a_pattern_or_a_reason_why_not():
    patterns = [fault.report for fault in KNOWN]
    assert len(set(patterns)) == len(patterns)
    assert sorted([*patterns, *ELSEWHERE]) == sorted(FAULTS)


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.report)
def test_releases_are_those_measured(known):
    """A release between two that show the fault may be right by luck, if the fault reads memory that nothing has written."""
    kinds = {release.rpartition(".")[0]: kinds for release, kinds in Measured().of(FAULTS[known.report]).items()}
    measured = sorted(kinds, key=number)
    shown = [release for release in measured if any(map(shows, kinds[release]))]
    assert known.since == ("" if shown[0] == measured[0] else shown[0])
    after = measured[measured.index(shown[-1]) + 1 :]
    assert known.before == (after[0] if after else "")
    assert set(measured) <= set(RELEASES)


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.report)
def test_a_reproducer_is_found(known, tmp_path):
    rule, path = found(met_by(known.report), tmp_path / "model.xml")[known.report]
    assert rule == RULE_OF[known.effect]
    assert bool(path) is (known.report in IN_BODIES)
    if known.since:
        earlier = RELEASES[RELEASES.index(known.since) - 1]
        assert known.report not in found(met_by(known.report), tmp_path / "model.xml", target=earlier)


@pytest.mark.sampled(112)
@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.__name__)
@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.report)
def test_a_planted_reproducer_is_found(known, host, tmp_path):
    if host is not between_layers and known.report in NOT_IN_BODIES:
        pytest.skip("not legal there")
    rule, path = found(host(met_by(known.report)), tmp_path / "model.xml")[known.report]
    assert rule == RULE_OF[known.effect]
    assert bool(path) is (host is not between_layers or known.report in IN_BODIES)


@pytest.mark.parametrize("export", EXPORTS)
def test_reproducers_planted_into_an_export_are_found(export, tmp_path):
    as_ir(in_export({known.report: met_by(known.report) for known in KNOWN}, export), tmp_path / "model.xml")
    findings = validate(tmp_path / "model.xml", target=RELEASES[-1], select=["OVG7"])
    assert [one for one in findings if "planted" not in one.location.layer_name] == []  # the export itself meets none
    found = {(one.rule, one.hint.rpartition(" ")[2], one.location.layer_name.split("/")[1]) for one in findings}
    assert [known.report for known in KNOWN if (RULE_OF[known.effect], known.report, known.report) not in found] == []


@pytest.mark.parametrize(
    ("body", "noted"),
    [
        ("z = Neg(x) y = Equal(x, z)", ["equal_through_float32"]),
        ("y = Equal(x, x)", []),
        ("c = Constant<value = int32 {7}>() y = Equal(x, c)", []),  # no number is rounded to 7
        ("c = Constant<value = int32 {7}>() y = Equal(c, x)", []),
        ("c = Constant<value = int32[2] {1, 3}>() y = Div(x, c)", ["divide_in_float32"]),
        ("c = Constant<value = int32[2] {1, 1}>() y = Div(x, c)", []),
        ("s = Shape(x) one = Constant<value_ints = [1]>() y = Div(s, one)", []),
        ("s = Shape(x) n = Squeeze(s) z = Constant<value_int = 0>() one = Constant<value_int = 1>() y = Range(z, n, one)", []),
        (
            "n = ReduceSum<keepdims = 0>(x) one = Constant<value = int32 {1}>() y = Range(one, n, one)",
            ["reduce_sum_through_float32", "range_away_from_its_limit"],
        ),
    ],
)
def test_values_that_are_small_for_every_input(body, noted, tmp_path):
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 18]> g (int32[n] x) => (y) {{ {body} }}')
    read = ov.Core().read_model(model.SerializeToString())
    as_ir(read, tmp_path / "model.xml")
    assert list(found(read, tmp_path / "model.xml")) == noted
    assert validate(tmp_path / "model.xml", select=["OVG712"]) == []  # only with a target


def test_attributes_that_make_no_sense_meet_no_fault(tmp_path):
    as_ir(model_of("abs_of_clamp"), tmp_path / "model.xml")
    text = (tmp_path / "model.xml").read_text()
    assert text.count('min="-3"') == 1
    (tmp_path / "model.xml").write_text(text.replace('min="-3"', 'min="low"'))
    assert "OVG710" not in [finding.rule for finding in validate(tmp_path / "model.xml")]


@pytest.mark.parametrize("work", [op.add, lambda one, other: op.concat([one, other], 0)], ids=["sums", "concats"])
@pytest.mark.parametrize("start", [op.parameter([2], np.float32), op.constant(np.float32([1, 2]))], ids=["input", "constant"])
def test_operations_that_double_are_followed_once(work, start, tmp_path):
    both = start
    for _ in range(40):
        both = work(both, both)
    inputs = [start] if start.get_type_name() == "Parameter" else []
    as_ir(ov.Model([op.abs(both)], inputs), tmp_path / "model.xml")
    assert validate(tmp_path / "model.xml", select=["OVG710"]) == []


@pytest.mark.parametrize(("report", "rule"), BY_OTHERS.items())
def test_what_other_rules_find(report, rule, tmp_path):
    as_ir(model_of(report), tmp_path / "model.xml")
    assert rule in [finding.rule for finding in validate(tmp_path / "model.xml")]


def first_of(x):
    zero, one = op.constant(np.array([0])), op.constant(np.array([1]))
    return op.strided_slice(x, zero, one, one, [0], [0], shrink_axis_mask=[1])


@pytest.mark.parametrize(
    ("node", "inputs", "noted"),
    [
        (lambda x: op.matmul(x, op.constant(np.ones((2, 3), np.float32)), False, False), [4, -1], ["matmul_inner_dimension"]),
        (lambda x: op.matmul(x, op.constant(np.ones((1, 3), np.float32)), False, False), [4, -1], []),
        (lambda x: opset16.segment_max(x, op.convert(x, "i32"), fill_mode="ZERO"), [4], ["segment_max_of_negative_ids"]),
        (lambda x: opset16.segment_max(x, op.constant(np.int32([0, 0, 1])), fill_mode="ZERO"), [3], []),
        (lambda x: op.unique(x).output(0), [4, -1], ["unique_of_nothing"]),
        (lambda x: op.unique(x).output(0), [4, ov.Dimension(1, 9)], []),
        (lambda x: op.unique(x, sorted=False).output(1), [4, 2], ["unique_without_inverse"]),
        (lambda x: op.unique(x, sorted=False).output(2), [4, 2], []),
        (lambda x: op.unique(x, op.constant(0), sorted=False).output(0), [4, 2], []),
        (lambda x: op.unique(x, sorted=False).output(0), [2], ["unique_without_inverse"]),
        (lambda x: op.unique(x, sorted=False).output(0), [1], []),
        (first_of, [-1, 2], ["strided_slice_of_empty_axis"]),
        (first_of, [ov.Dimension(1, 9), 2], []),
        (lambda x: op.random_uniform(op.shape_of(x), np.float32(0), np.float32(1), "f32"), [], ["random_scalar"]),
        (lambda x: op.random_uniform(op.shape_of(x), np.float32(0), np.float32(1), "f32"), [1], []),
        (lambda x: op.add(x, op.abs(op.convert(op.constant(np.array([0, 2])), "f32"))), [2], []),
        (lambda x: op.add(x, op.abs(op.clamp(op.constant(np.float32([-7, 2])), -3, 3))), [2], ["abs_of_clamp"]),
        (lambda x: op.add(x, op.abs(op.convert(op.constant(np.array([-1, 2])), "f32"))), [2], ["abs_of_folded_convert"]),
    ],
)
def test_sizes_and_uses_decide(node, inputs, noted, tmp_path):
    x = op.parameter(inputs, np.float32)
    assert list(found(ov.Model([node(x)], [x]), tmp_path / "model.xml")) == noted


AVOIDED, REFUSED = ([known.report for known in KNOWN if known.converter == what] for what in ("avoids", "refuses"))


@pytest.mark.sampled(9)
@pytest.mark.onnxruntime
@pytest.mark.parametrize("report", AVOIDED)
def test_what_convert_avoids(report, tmp_path, rng):
    """OpenVINO's own front end makes a model with the fault, ours one without it, which is right."""
    model = onnx_of(report)
    assert report in found(ov.Core().read_model(model.SerializeToString()), tmp_path / "stock.xml")
    converted = convert_model(model)
    assert report not in found(converted, tmp_path / "converted.xml")
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    feed = {
        given.name: np.array(rng.integers(1, 200, sizes_of(given)) if given.shape else 3).astype(DTYPES[given.type])
        for given in session.get_inputs()
    }
    compiled = ov.compile_model(converted, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    outputs = compiled({port.any_name: feed[port.any_name] for port in compiled.inputs})
    for i, expected in enumerate(session.run(None, feed)):
        np.testing.assert_array_equal(outputs[i], expected)


def sizes_of(given):
    """Sizes of an input: 2 for an open one, 0 for one that is named "none"."""
    return [{"none": 0}.get(size, 2) if isinstance(size, str) else size for size in given.shape]


DTYPES = {
    f"tensor({name})": np.dtype(dtype)
    for name, dtype in {"float": "f4", "int32": "i4", "int64": "i8", "uint8": "u1", "int8": "i1", "bool": "?"}.items()
}


@pytest.mark.parametrize("report", REFUSED)
def test_what_convert_refuses(report):
    with pytest.raises(ConversionError):
        convert_model(onnx_of(report))


def test_convert_reports_what_remains(tmp_path, cli):
    onnx.save(onnx_of("resize_through_float32"), tmp_path / "resize.onnx")
    done = cli("convert", tmp_path / "resize.onnx", code=0)
    assert "OVG712: integers are rounded to float32" in done.stdout and "node Interpolate 'y'" in done.stdout
