"""Operators that read at an index and are no gathers: `compile_onnx`, `validate`, guards and `harden` at each index."""

import warnings

import numpy as np
import onnx
import openvino as ov
import pytest
from openvino import opset9
from openvino import opset13 as ops

import ov_gather
from helpers.indexed_models import ONNX_CASES, OPENVINO_CASES
from helpers.legalized import model, run
from ov_gather import guard, harden, prove, validate
from ov_gather.converters import LossyConversionWarning, compile_onnx, convert_model
from ov_gather.rules.findings import Severity
from ov_gather.runtimes.session import Session


@pytest.mark.parametrize("name", ONNX_CASES)
def test_compile_onnx_refuses_each_index_out_of_bounds_and_no_other(name, rng):
    case = ONNX_CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error", LossyConversionWarning)
        compiled = compile_onnx(case.proto)
    for index in (case.low, case.high - 1):
        feed = case.feed(rng, index)
        for output, expected in zip(dict(compiled(feed)).values(), run(case.proto, feed), strict=True):
            np.testing.assert_allclose(output, expected, 1e-4, 1e-5)
    for index in (case.low - 1, case.high, 2**24, -(2**24)):
        with pytest.raises(IndexError):
            compiled(case.feed(rng, index))


@pytest.mark.parametrize("name", ONNX_CASES)
def test_stock_conversions_warn_once_of_what_does_not_raise(name):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", LossyConversionWarning)
        convert_model(ONNX_CASES[name].proto)
    said = [str(warning.message).partition(":")[0] for warning in found if warning.category is LossyConversionWarning]
    assert len(said) == (0 if name.endswith("Loss") else 1)  # OpenVINO raises for labels
    assert all(text.startswith("an index out of bounds ") and text.endswith("; target extension raises") for text in said)


@pytest.mark.parametrize("name", [name for name in ONNX_CASES if "Embed" in name])
def test_tables_may_be_constants(name, rng):
    case = ONNX_CASES[name]
    proto, feed = case.proto, case.feed(rng, case.high - 1)
    for port in [port for port in proto.graph.input if len(port.type.tensor_type.shape.dim) < 3 and port.name not in "abi"]:
        proto.graph.input.remove(port)
        proto.graph.initializer.append(onnx.numpy_helper.from_array(feed.pop(port.name), port.name))
    compiled = compile_onnx(proto)
    np.testing.assert_allclose(compiled(feed)["y"], run(proto, feed)[0], 1e-4, 1e-5)
    for index in (case.low - 1, case.high, 2**31 - 1, -(2**31)):
        feed["i"].ravel()[-1:] = index
        with pytest.raises(IndexError):
            compiled(feed)


def test_rows_of_quantized_blocks():
    compiled = compile_onnx(ONNX_CASES["GatherBlockQuantized"].proto)
    rows = 2 * (np.arange(64).reshape(4, 16) % 16)
    np.testing.assert_array_equal(compiled({"i": np.int64([3, -4])})["y"], rows[[3, 0]])
    with pytest.raises(IndexError, match="9 is out of bounds for axis 0 of size 4"):
        compiled({"i": np.int64([0, 9])})


@pytest.mark.parametrize("operator", ["NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"])
def test_labels_to_ignore_are_legal_and_others_are_refused(operator):
    text = f'y = {operator}<reduction = "none", ignore_index = -7>(x, i)'
    proto = model("float[2,3] x, int64[2] i) => (float[2] y)", text, 23)
    scores, compiled = np.log(np.float32([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])), compile_onnx(proto)
    np.testing.assert_allclose(compiled({"x": scores, "i": np.int64([2, -7])})["y"], [-np.log(0.5), 0], 1e-5)
    for label in (3, -4, -8, 2**31 - 1):
        with pytest.raises(IndexError):
            compiled({"x": scores, "i": np.int64([label, 0])})


def test_indices_beyond_32_bits_are_refused(rng):
    case = ONNX_CASES["RotaryEmbedding"]
    with pytest.raises(IndexError, match=r"i\[0, 1\] = 4294967297 does not fit"):
        compile_onnx(case.proto)(case.feed(rng, 2**32 + 1))


def test_indices_in_bodies_are_checked(rng):
    case = ONNX_CASES["RotaryEmbedding"]
    turned = "then_branch = t () => (float[1,2,2,8] q) { q = RotaryEmbedding(x, c, s, i) }"
    same = "else_branch = e () => (float[1,2,2,8] r) { r = Identity(x) }"
    signature = case.signature.replace(") =>", ", bool b) =>")
    compiled, feed = compile_onnx(model(signature, f"y = If(b) <{turned}, {same}>", 23)), case.feed(rng, 5)
    np.testing.assert_allclose(compiled(feed | {"b": np.array(True)})["y"], run(case.proto, feed)[0], 1e-4, 1e-5)
    feed["i"] += 1
    np.testing.assert_array_equal(compiled(feed | {"b": np.array(False)})["y"], feed["x"])
    with pytest.raises(IndexError, match="Gather 'q/i'"):
        compiled(feed | {"b": np.array(True)})


def test_an_open_axis_is_checked_at_its_size(rng):
    proto = ONNX_CASES["RotaryEmbedding"].proto
    for name in (1, 2):
        proto.graph.input[name].type.tensor_type.shape.dim[0].dim_param = "R"
    compiled, feed = compile_onnx(proto), ONNX_CASES["RotaryEmbedding"].feed(rng, 3)
    np.testing.assert_allclose(compiled(feed)["y"], run(proto, feed)[0], 1e-4, 1e-5)
    short = feed | {"c": feed["c"][:3], "s": feed["s"][:3]}
    with pytest.raises(IndexError, match=r"y/i': indices\[0, 1\] = 3 is out of bounds for axis 0 of size 3"):
        compiled(short)


def constant_model(case, index):
    """Return the model of a case with constant indices, all the same, as SegmentMax wants sorted ones."""
    x, indices = ops.parameter(case.data, np.float32, name="x"), np.full(case.indices, index, np.int32)
    return ov.Model(case.make(x, ops.constant(indices)).outputs()[:1], [x], "one")


@pytest.mark.parametrize("name", sorted(set(OPENVINO_CASES) - {"SegmentMax"}))
def test_validate_finds_constant_indices_out_of_bounds(name, tmp_path):
    case = OPENVINO_CASES[name]
    for index, is_outside in ((case.high - 1, False), (case.high, True), (case.low - 1, True)):
        ov.save_model(constant_model(case, index), tmp_path / "model.xml", compress_to_fp16=False)
        found = [finding.rule for finding in validate(tmp_path / "model.xml") if finding.severity is Severity.ERROR]
        assert found in ([["OVG603"], ["OVG204"]] if is_outside else [[]])  # OVG204: offsets are no offsets


def test_segment_max_has_no_upper_bound():
    case = OPENVINO_CASES["SegmentMax"]
    assert [proof.status for proof in prove(constant_model(case, 2**31 - 2))] == ["proved"]
    assert [proof.status for proof in prove(constant_model(case, -1))] == ["refuted"]


@pytest.mark.parametrize("name", OPENVINO_CASES)
def test_a_guard_refuses_what_is_out_of_bounds(name, rng):
    case = OPENVINO_CASES[name]
    check, feed = guard(case.model()), {"x": rng.random(case.data).astype(np.float32)}
    assert not check.uncovered
    check(feed | {"i": np.full(case.indices, case.high - 1, np.int32)})
    for index in (case.low - 1, min(case.high, 2**31 - 1)):
        with pytest.raises(ValueError, match=f"{case.low}"):
            check(feed | {"i": np.full(case.indices, index, np.int32)})


@pytest.mark.parametrize("policy", ["raise", "clamp", "zero"])
@pytest.mark.parametrize("name", OPENVINO_CASES)
def test_hardened_operations_read_nothing_out_of_bounds(name, policy, rng):
    case = OPENVINO_CASES[name]
    data, legal = rng.random(case.data).astype(np.float32), np.full(case.indices, case.low, np.int32)
    model, original = case.model(), Session(ov.Core(), case.model())
    summary = harden(model, policy=policy, portable=True)
    assert all(site.done for site in summary.sites if site.status != "proved")
    session = Session(ov.Core(), model)
    np.testing.assert_array_equal(session([data, legal])[0], original([data, legal])[0])
    for index in (case.low - 1, -(2**31)):
        wrong = legal.copy()
        wrong.ravel()[-1] = index
        if policy == "clamp":
            np.testing.assert_array_equal(session([data, wrong])[0], original([data, legal])[0])
        else:
            with pytest.raises((RuntimeError, IndexError)):
                session([data, wrong])


def test_what_cannot_be_checked_is_named():
    x, boxes = ops.parameter([2, 1, 4, 4], np.float32, name="x"), ops.parameter([2, 5], np.float32, name="boxes")
    model = ov.Model([ops.roi_pooling(x, boxes, [2, 2], 1.0, "max")], [x, boxes], "one")
    (site,) = harden(model, policy="clamp").sites
    assert (site.status, site.done, site.kept) == ("unknown", "", "not checked")
    assert "first column" in site.reason
    assert [each.reason for each in ov_gather.guard(model).uncovered] == [site.reason]


def test_labels_of_a_loss_are_proved_or_named():
    logits, labels = ops.parameter([2, 4, 5], np.float32), ops.parameter([2, 4], np.int32, name="labels")
    lengths = ops.constant(np.int32([4, 4]))

    def statuses(indices):
        loss = ops.ctc_loss(logits, lengths, indices, lengths, ops.constant(np.int32(4)))
        return [site.status for site in harden(ov.Model([loss], [logits, labels], "one")).sites]

    assert statuses(ops.clamp(labels, 0, 4)) == ["proved"]
    assert statuses(ops.clamp(labels, 0, 5)) == ["unknown"]


def test_numbers_of_boxes_are_named():
    """Their sum is the number of boxes that OpenVINO reads, wherever these end."""
    given = [ops.parameter(shape, kind) for shape, kind in (([1, 4, 4], np.float32), ([1, 4], np.float32), ([2], np.int32))]
    (proof,) = prove(ov.Model(opset9.multiclass_nms(*given).outputs(), given, "one"))
    assert (proof.type, proof.status, "sum" in proof.reason) == ("MulticlassNms", "unknown", True)
