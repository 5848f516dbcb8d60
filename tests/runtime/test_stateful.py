"""Language models whose cache is a state, as optimum-intel makes them: each step reorders it by `beam_idx` and adds to it."""

import itertools
import random
from dataclasses import replace

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as ops

import ov_gather
from helpers.accelerating import accelerated, operations, parameter, variable
from helpers.openvino_models import number
from helpers.planting import candidates
from ov_gather.ir.reader import read_ir
from ov_gather.runtimes.isolated import borrowed

pytestmark = pytest.mark.usefixtures("nothing_is_too_small")

RNG = np.random.default_rng(9)
BEAMS, WIDTH, WORDS = 3, 16, 40
KEYS, VALUES = (RNG.standard_normal((WIDTH, WIDTH), np.float32) for _ in range(2))
HEAD = RNG.standard_normal((WIDTH, WORDS), np.float32)


def cached(name, new, beam):
    """The cache with one more token, and what stores it."""
    batch = ops.gather(ops.shape_of(new), number([0]), number(0))
    empty = ops.broadcast(ops.constant(np.float32(0)), ops.concat([batch, number([0, WIDTH])], 0))
    state = variable(name, [-1, -1, WIDTH])
    past = ops.gather(ops.read_value(empty, state), beam, number(0))
    present = ops.concat([past, new], 1)
    return present, ops.assign(present, state)


def decoder():
    """A model of the scores of the next token, those of some words, and the values of the tokens attended to most."""
    x, beam = parameter("x", [-1, 1, WIDTH]), parameter("beam_idx", [-1], np.int32)
    words = parameter("words", [-1, 1, 5], np.int64)
    keys, keep_keys = cached("keys", ops.matmul(x, ops.constant(KEYS), False, False), beam)
    values, keep_values = cached("values", ops.matmul(x, ops.constant(VALUES), False, False), beam)
    weights = ops.softmax(ops.matmul(x, keys, False, True), -1)
    logits = ops.matmul(ops.matmul(weights, values, False, False), ops.constant(HEAD), False, False)
    scores = ops.gather_elements(ops.log_softmax(logits, -1), words, 2)
    most = ops.topk(weights, number(1), -1, "max", "value", index_element_type="i64").output(1)
    width = ops.broadcast(most, number([1, 1, WIDTH]), broadcast_spec="BIDIRECTIONAL")
    listened = ops.gather_elements(values, width, 1)
    results = [ops.result(value) for value in (logits, scores, listened)]
    return ov.Model(results, [keep_keys, keep_values], [x, beam, words], "decoder")


STEPS = [
    [RNG.standard_normal((BEAMS, 1, WIDTH), np.float32), np.array(order, np.int32), RNG.integers(0, WORDS, (BEAMS, 1, 5))]
    for order in ([0, 1, 2], [2, 0, 0], [1, 1, 2], [0, 2, 1])
]


def generate(path, runtime):
    with borrowed([runtime]) as (worker,), worker:
        worker.activate(path)
        return [worker.execute(step) for step in STEPS]


def reference():
    """What each step computes, in NumPy."""
    past = [np.zeros((BEAMS, 0, WIDTH), np.float32) for _ in range(2)]
    for x, beam, words in STEPS:
        past = [np.concatenate([old[beam], x @ new], 1) for old, new in zip(past, (KEYS, VALUES), strict=True)]
        weights = np.exp(x @ past[0].swapaxes(1, 2))
        weights /= weights.sum(-1, keepdims=True)
        logits = weights @ past[1] @ HEAD
        scores = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
        listened = np.take_along_axis(past[1], weights.argmax(-1)[..., None].repeat(WIDTH, -1), 1)
        yield [logits, np.take_along_axis(scores, words, 2), listened]


def test_a_stateful_model_generates_the_same(tmp_path):
    model = decoder()
    ov.serialize(model, tmp_path / "m.xml")
    expected = generate(tmp_path / "m.xml", "openvino")
    for step, truth in zip(expected, reference(), strict=True):
        for one, other in zip(step, truth, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)
    other, summary = accelerated(model)
    assert summary.changed
    ov.serialize(other, tmp_path / "accelerated.xml")
    found = generate(tmp_path / "accelerated.xml", "extension")
    assert [[one.tobytes() for one in step] for step in found] == [[one.tobytes() for one in step] for step in expected]


def test_a_number_of_beams_that_may_be_one_keeps_its_gathers():
    """Reshaped for one beam, the Gather-8 with a batch dimension that would be written reads foreign memory."""
    _, summary = accelerated(decoder(), portable=True, assume_in_bounds=True)
    assert not summary.changed
    assert any(change.reason.startswith("batches-of-one: ") for change in summary.changes)


def test_a_stateful_model_has_no_findings_and_checks(tmp_path):
    ov.serialize(decoder(), tmp_path / "m.xml")
    assert [finding for finding in ov_gather.validate(tmp_path / "m.xml") if finding.severity.name == "ERROR"] == []
    assert ov_gather.cross_check(tmp_path / "m.xml").passed


@pytest.mark.parametrize("portable", [True, False])
def test_a_state_that_starts_as_a_constant_is_not_folded(portable, rng):
    """A gather of constants would be folded before this MatMul."""
    state, data = variable("state", [7, 3, 5]), parameter("data", [7, 3, 5])
    read = ops.read_value(ops.constant(np.zeros((7, 3, 5), np.float32)), state)
    gathered = ops.gather_elements(read, ops.constant(rng.integers(0, 7, (4, 3, 5))), 0)
    turned = ops.matmul(ops.transpose(data, number([1, 0, 2])), ops.transpose(gathered, number([1, 0, 2])), False, True)
    model = ov.Model([ops.result(turned)], [ops.assign(ops.add(read, data), state)], [data], "model")
    other, _ = accelerated(model, portable=portable)
    assert operations(other).count("ReadValue-6") == 1
    (node,) = [node for node in other.get_ops() if node.get_type_name() == "GatherElements"]
    assert node.input_value(0).get_node().get_type_name() == "ReadValue"


@pytest.mark.exhaustive
def test_bisect_compares_what_is_stored(tmp_path):
    """The first inference attends to one token only, so that a wrong key or value shows in what is stored alone, or later."""
    ov.save_model(decoder(), tmp_path / "m.xml", compress_to_fp16=False)
    model, inputs = read_ir(tmp_path / "m.xml"), dict(zip(("x", "beam_idx", "words"), STEPS[0], strict=True))
    result = ov_gather.bisect(tmp_path / "m.xml", model, inputs)
    assert result.passed
    assert [output.name for output in result.outputs][-2:] == ["what is stored in keys", "what is stored in values"]
    assert "as at the first inference" in result.notes[0]
    for way in itertools.islice(candidates(model, "attribute"), 2):
        planted = way(random.Random(0))
        result = ov_gather.bisect(tmp_path / "m.xml", planted.model, inputs, reproducers=tmp_path / "found")
        assert result.node == f"MatMul '{planted.layer.name}'"
        assert result.reproducer


def test_bisect_names_what_the_state_refuses(tmp_path):
    """Executed without the states, every node is right."""
    ov.save_model(decoder(), tmp_path / "m.xml", compress_to_fp16=False)
    model, inputs = read_ir(tmp_path / "m.xml"), dict(zip(("x", "beam_idx", "words"), STEPS[0], strict=True))
    (assign,) = (layer for layer in model.of_type("Assign") if layer.attributes["variable_id"] == "keys")
    orphan = replace(assign, attributes={"variable_id": "nobody"})
    layers = tuple(orphan if layer.id == assign.id else layer for layer in model.layers)
    result = ov_gather.bisect(tmp_path / "m.xml", replace(model, layers=layers), inputs)
    assert result.node.startswith(("Assign", "ReadValue"))
    assert result.culprits[0].kind == "refusal"
