"""A whole IR: its layers on the operands that they have in it, and its outputs with our gathers beside stock OpenVINO's."""

import numpy as np
import openvino as ov
import pytest
from click.testing import CliRunner
from openvino import opset13 as ops

from helpers.branching import if_of
from helpers.openvino_models import made_of, named, number
from helpers.paths import VALID
from ov_gather import cross_check, read_ir
from ov_gather.cli import check
from ov_gather.crosscheck.cases.designed import OWN_OPERANDS
from ov_gather.crosscheck.inputs.ir import generate_inputs
from ov_gather.crosscheck.results import Status
from ov_gather.runtimes import isolated


@pytest.fixture
def plant(monkeypatch):
    """A runtime of `helpers.artificial_openvino` in the place of another."""
    monkeypatch.setattr(isolated, "_idle", {(name, ()): [] for name in (*isolated.RUNTIMES, *isolated.FOR_MODELS)})

    def put(name, class_name):
        table = isolated.FOR_MODELS if name in isolated.FOR_MODELS else isolated.RUNTIMES
        monkeypatch.setitem(table, name, ("helpers.artificial_openvino", class_name))

    yield put
    for runtimes in isolated._idle.values():
        for runtime in runtimes:
            runtime.stop()


def saved(path, outputs, parameters):
    ov.save_model(ov.Model(outputs, parameters, "model"), path, compress_to_fp16=False)
    return path


def floats(*shape):
    return ops.constant(np.random.default_rng(shape).standard_normal(shape).astype(np.float32))


@pytest.fixture
def embedding(tmp_path):
    """A model that embeds four tokens a row as one list, multiplies them, and gathers what is best of each."""
    tokens = named("tokens", "i64[?,4]")
    flat = ops.reshape(ops.convert(tokens, "i32"), ops.constant(np.array([-1])), False)
    rows = ops.gather(floats(50, 8), flat, number(0))
    best = ops.topk(ops.matmul(rows, floats(8, 8), False, False), number(3), 1, "max", "value", index_element_type="i64")
    picked = ops.gather_elements(rows, best.output(1), 1)
    picked.output(0).set_names({"picked"})
    return saved(tmp_path / "embedding.xml", [picked.output(0), best.output(0)], [tokens])


def test_layers_on_their_own_operands_and_every_output(embedding):
    result = cross_check(embedding, runtimes=("kernel", "openvino", "extension"))
    assert result.passed, result
    assert [(layer.operation, layer.cases[0].name, layer.cases[0].shapes[:2]) for layer in result.layers] == [
        ("Gather-8", OWN_OPERANDS, ((50, 8), (24,))),
        ("GatherElements-6", OWN_OPERANDS, ((24, 8), (24, 3))),
    ]
    assert {comparison.status for layer in result.layers for comparison in layer.cases[0].comparisons} == {Status.PASSED}
    assert [(output.name, output.type, output.shape, output.comparison.status) for output in result.outputs] == [
        ("picked", "float32", (24, 3), Status.PASSED),
        (result.outputs[1].name, "float32", (24, 3), Status.PASSED),
    ]
    assert result.not_run == ""


def test_inputs_are_in_bounds_and_the_same_for_a_seed(embedding):
    model = read_ir(embedding)
    (tokens,) = generate_inputs(model, 1)
    assert tokens.shape == (6, 4)
    assert tokens.min() >= 0
    assert 2 <= tokens.max() < 50
    assert (generate_inputs(model, 1)[0] == tokens).all()
    assert (generate_inputs(model, 2)[0] != tokens).any()


def test_an_index_that_is_shifted_stays_in_bounds_and_a_mask_is_0_or_1(tmp_path):
    index, mask = named("index", "i64[?]"), named("mask", "i64[?]")
    shifted = ops.subtract(ops.unsqueeze(index, number(0)), number(2000))
    rows = ops.gather(floats(10, 3), shifted, number(0))
    model = saved(tmp_path / "m.xml", [rows, ops.add(mask, mask)], [index, mask])
    values, ones = generate_inputs(read_ir(model), 1)
    assert set(values) <= set(range(2000, 2010))
    assert set(ones) <= {0, 1}
    assert cross_check(model).passed


def test_what_only_the_own_operands_show(embedding, plant):
    plant("kernel", "WrongOf24")
    result = cross_check(embedding)
    assert not result.passed
    (layer,) = [layer for layer in result.layers if not layer.passed]
    assert layer.operation == "GatherElements-6"
    assert [case.name for case in layer.cases if not case.passed] == [OWN_OPERANDS]


def test_an_output_that_differs_fails_though_every_layer_passes(embedding, plant):
    plant("accelerated", "Shifted")
    result = cross_check(embedding)
    assert not result.passed
    assert all(layer.passed for layer in result.layers)
    difference = result.outputs[0].comparison.difference
    assert difference is not None
    assert (difference.position, difference.count, difference.size) == ((23, 2), 1, 72)


def test_a_crash_with_our_gathers_fails(embedding, plant):
    plant("accelerated", "Crashing")
    result = cross_check(embedding)
    assert not result.passed
    assert [output.comparison.detail for output in result.outputs] == ["crashes: SIGSEGV"] * 2


def test_a_crash_of_stock_openvino_is_said(embedding, plant):
    plant("openvino", "Crashing")
    result = cross_check(embedding, cases=1)
    assert result.not_run == "OpenVINO crashes: SIGSEGV"
    assert result.outputs == ()


def gather_beyond(path, gather):
    """A model with rows 0 and 7 gathered from 6 rows, and all rows."""
    index, data = named("index", "i64[4,1]"), named("data", "f32[6,3]")
    rows = gather(data, ops.multiply(index, number(7)))
    return saved(path / "m.xml", [ops.relu(rows), ops.relu(data)], [index, data])


def test_what_lies_beyond_data_may_differ_and_what_follows_from_it(tmp_path, plant):
    plant("accelerated", "Shifted")
    result = cross_check(gather_beyond(tmp_path, ops.gather_nd))
    behind, beside = (output.comparison for output in result.outputs)
    assert (behind.status, behind.divergences) == (Status.EXPECTED, ("unchecked-indices",))
    assert beside.status is Status.FAILED


@pytest.mark.parametrize("planted", [False, True])
def test_zeros_for_what_lies_beyond_data_are_the_same_zeros(tmp_path, plant, planted):
    if planted:
        plant("accelerated", "Shifted")
    result = cross_check(gather_beyond(tmp_path, lambda data, index: ops.gather(data, index, number(0))))
    assert [output.comparison.passed for output in result.outputs] == [not planted] * 2


def test_bodies_keep_their_designed_cases(tmp_path):
    condition, data = named("condition", "boolean[]"), named("data", "f32[5,4]")
    rows_of = (lambda given, row=row: [ops.gather(given, ops.constant(np.array([row, 0])), number(0))] for row in (1, 2))
    (rows,) = if_of(condition, [data], *rows_of)
    result = cross_check(saved(tmp_path / "m.xml", [ops.relu(rows)], [condition, data]))
    assert result.passed, result
    assert len(result.layers) == 2
    assert all(case.name != OWN_OPERANDS for layer in result.layers for case in layer.cases)
    assert [output.comparison.status for output in result.outputs] == [Status.PASSED]


@pytest.mark.parametrize(
    ("make", "data", "why"),
    [
        (
            lambda data: ops.matmul(ops.gather(data, [0, 1], 0), floats(8, 8), False, False),
            "f32[?,?]",
            "OpenVINO refuses it with data [6, 6] (--input gives others): ",
        ),
        (lambda data: (ops.relu(data), ops.gather(floats(5, 8), [0, 1], 0)), "f32[...]", "may have any type or rank"),
    ],
    ids=["wide", "any rank"],
)
def test_why_a_model_is_not_run(tmp_path, make, data, why):
    ov.save_model(made_of(make, data=data), tmp_path / "m.xml", compress_to_fp16=False)
    result = cross_check(tmp_path / "m.xml")
    assert result.passed, result  # the layers alone are run, and pass
    assert why in result.not_run
    assert result.outputs == ()


def test_longer_inputs_are_tried_if_short_ones_are_refused(tmp_path):
    """A Pad that reflects 64 elements needs more of them than the usual size has."""

    def make(data):
        padded = ops.pad(data, np.array([0, 64]), np.array([0, 64]), "reflect")
        return ops.gather(padded, [0, 1], 0)

    ov.save_model(made_of(make, data="f32[?,?]"), tmp_path / "m.xml", compress_to_fp16=False)
    result = cross_check(tmp_path / "m.xml")
    assert result.passed and not result.not_run, result
    assert [output.shape for output in result.outputs] == [(2, 384)]


def test_random_outputs_are_not_compared(tmp_path):
    shape, zero, one = ops.constant(np.array([6, 3])), ops.constant(np.float32(0)), ops.constant(np.float32(1))
    noise = ops.random_uniform(shape, zero, one, "f32", 0, 0)
    rows = ops.gather(noise, ops.constant(np.array([5, 2])), number(0))
    result = cross_check(saved(tmp_path / "m.xml", [rows], []))
    assert "random" in result.not_run
    assert result.layers[0].cases[0].name == OWN_OPERANDS


def test_outputs_that_are_the_same_in_each_run_are_compared_beside_random_ones(tmp_path):
    shape, zero, one = ops.constant(np.array([6, 3])), ops.constant(np.float32(0)), ops.constant(np.float32(1))
    x = ops.parameter([6, 3], np.float32, name="x")
    noise = ops.random_uniform(shape, zero, one, "f32", 0, 0)
    rows = ops.gather(ops.add(x, ops.multiply(noise, zero)), ops.constant(np.array([5, 2])), number(0))
    for name, output in (("noise", noise), ("rows", rows)):
        output.output(0).set_names({name})
    result = cross_check(saved(tmp_path / "m.xml", [noise, rows], [x]))
    assert result.passed
    assert [output.name for output in result.outputs] == ["rows"]
    assert result.not_run.endswith("makes outputs random: noise")


def test_a_model_with_states():
    result = cross_check(VALID / "detector_with_state.xml")
    assert result.passed, result
    assert result.outputs
    assert result.not_run == ""


def test_one_gather_is_no_whole_model():
    result = cross_check(VALID / "spec_layer.xml")
    assert (result.outputs, result.not_run) == ((), "")
    assert all(case.name != OWN_OPERANDS for case in result.layers[0].cases)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("planted", [False, True])
def test_check_shows_the_outputs(embedding, plant, planted, tmp_path):
    if planted:
        plant("accelerated", "Shifted")
    arguments = [str(embedding), "--runtimes", "kernel,openvino", "--cases", "2", "--failures", str(tmp_path / "failures")]
    result = CliRunner().invoke(check.command, arguments)
    assert result.exit_code == planted, result.output
    counts = "passed: 0, failed: 2" if planted else "passed: 2, failed: 0"
    assert f"whole models: 1, outputs: 2, {counts}, not run: 0" in result.output
    assert "picked" in result.output
    assert ("differ" in result.output) == planted


def test_only_a_tolerance_by_name_concerns_the_outputs_of_an_ir(embedding, plant):
    """Without one, the bits must be the same, whatever is permitted for outputs in general."""
    plant("accelerated", "Shifted")
    names = [output.name for output in cross_check(embedding, cases=1).outputs]
    for atol in (1e6, {"": 1e6, names[0]: 1e6}):
        named = [isinstance(atol, dict) and name in atol for name in names]
        outputs = cross_check(embedding, cases=1, atol=atol).outputs
        assert [output.comparison.passed for output in outputs] == named
        assert [output.comparison.is_within_tolerance for output in outputs] == named
        assert all(output.comparison.deviation.differing for output in outputs)
    with pytest.raises(ValueError, match=f"'nope', but the outputs are {', '.join(names)}"):
        cross_check(embedding, rtol={"nope": 1})


def test_a_model_is_executed_on_the_inputs_of_its_user(embedding):
    tokens = np.arange(8, dtype=np.int64).reshape(2, 4)
    result = cross_check(embedding, {"tokens": tokens})
    assert result.passed, result
    assert [(layer.operation, layer.cases[0].name, layer.cases[0].shapes[1]) for layer in result.layers] == [
        ("Gather-8", OWN_OPERANDS, (8,)),
        ("GatherElements-6", OWN_OPERANDS, (8, 3)),
    ]
    assert [output.shape for output in result.outputs] == [(8, 3), (8, 3)]


@pytest.mark.parametrize(
    ("inputs", "runtimes", "message"),
    [
        ({"ids": np.zeros((2, 4), np.int64)}, ("openvino",), "there is no input 'ids'; the inputs of the model are tokens"),
        ({"tokens": np.zeros((2, 4), np.int32)}, ("openvino",), "tokens must be i64, not int32"),
        ({"tokens": np.zeros((2, 5), np.int64)}, ("openvino",), r"tokens has shape \[2, 5\]; the layer declares"),
        ({"tokens": np.zeros((2, 4), np.int64)}, ("kernel",), "the runtime 'openvino', which executes it, is not among"),
        ([np.zeros((2, 4), np.int64)], ("openvino",), "inputs are given in order, but there are 2 gather-family layers"),
    ],
)
def test_inputs_that_do_not_fit_a_model(embedding, inputs, runtimes, message):
    with pytest.raises((TypeError, ValueError), match=message):
        cross_check(embedding, inputs, runtimes=runtimes)
