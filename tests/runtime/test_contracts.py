"""What `validate` says of each operator of OpenVINO, compared with what OpenVINO does with single changes of valid calls."""

import itertools
import re

import numpy as np
import openvino as ov
import pytest
from openvino import opset8 as op
from openvino import opset13, opset14, opset15

from helpers.operator_faults import LENIENT, UNFOUND, ir_of, open_outcomes, outcomes, read_by_openvino
from helpers.operator_samples import samples
from ov_gather import validate
from ov_gather.ir.bodies import BODIES
from ov_gather.ir.element_types import ELEMENT_TYPES, by_name
from ov_gather.ir.shapes import PartialShape
from ov_gather.ops import known_types
from ov_gather.ops.contracts.call import BadTypeError, Call, ContractError
from ov_gather.ops.contracts.register import CONTRACTS
from ov_gather.rules.findings import Severity
from ov_gather.rules.opsets import operations
from tools.measurements import single_faults


def is_named(table, sample, what):
    return any(re.fullmatch(pattern, f"{sample.type}: {what}") for pattern in table)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("sample", list(samples()), ids=str)
def test_single_changes(sample):
    """What OpenVINO refuses is reported, and what it computes is not, but for what the specification forbids all the same."""
    valid, *changes = outcomes(sample)
    assert valid == ("", "ok", [])
    assert not [what for what, done, errors in changes if done != "ok" and not errors and not is_named(UNFOUND, sample, what)]
    false = [
        (what, errors) for what, done, errors in changes if done == "ok" and errors and not is_named(LENIENT, sample, what)
    ]
    assert not false


@pytest.mark.sampled(9)
@pytest.mark.parametrize("sample", list(samples()), ids=str)
def test_open_inputs(sample):
    """A call is valid where sizes and elements are open, and its outputs may have the shapes that OpenVINO infers."""
    assert not [(what, errors) for what, done, errors in open_outcomes(sample) if done == "ok" and errors]


@pytest.mark.sampled(9)
@pytest.mark.parametrize("sample", list(samples()), ids=str)
def test_output_ports(sample):
    """OpenVINO refuses one output more. It reads a layer without its last output, and nothing is reported."""
    done, declared = read_by_openvino(ir_of(sample, [("f32", ())] * sample.outputs))
    more, fewer = ir_of(sample, [*declared, ("f32", ())]), ir_of(sample, declared[:-1])
    assert (done, *read_by_openvino(more)) == ("ok", "read", [])
    assert "OVG104" in {finding.rule for finding in validate(more[0], weights=more[1])}
    assert "OVG104" not in {finding.rule for finding in validate(fewer[0], weights=fewer[1])}


_MASKS = {"begin_mask": 0.2, "end_mask": 0.2, "new_axis_mask": 0.15, "shrink_axis_mask": 0.15, "ellipsis_mask": 0.1}


def _random_slice(rng):
    """Return sizes, the three lists of a StridedSlice, and its masks."""
    sizes = rng.integers(0, 7, rng.integers(1, 5)).tolist()
    length = rng.integers(1, len(sizes) + 2)
    lists = [rng.integers(-9, 10, length), rng.integers(-9, 10, length), rng.choice([1, 1, 2, 3, -1, -2], length)]
    return sizes, lists, {name: (rng.random(length) < often).astype(int).tolist() for name, often in _MASKS.items()}


def _strided_slice(sizes, lists, masks):
    """Return the shapes of a StridedSlice that OpenVINO and the contract infer; None for what they refuse."""
    from openvino import opset1

    data = opset1.parameter(ov.PartialShape(sizes), ov.Type.f32)
    try:
        inferred = opset1.strided_slice(data, *map(opset1.constant, lists), **masks).output(0).partial_shape
    except RuntimeError:
        inferred = None
    shapes = [PartialShape.of(sizes), *[PartialShape.of(one.shape) for one in lists]]
    attributes = {name: ",".join(map(str, mask)) for name, mask in masks.items()}
    kinds = [by_name(name) for name in ("f32", "i64", "i64", "i64")]
    call = Call("StridedSlice", 1, attributes, kinds, shapes, lambda port: tuple(lists[port - 1].tolist()))
    try:
        ((_, shape),) = CONTRACTS["StridedSlice"].outputs(call)
    except ContractError:
        shape = None
    return inferred, shape


@pytest.mark.parametrize("seed", range(4))
def test_random_slices(seed):
    """The shape of a StridedSlice is OpenVINO's; with open axes, it allows every shape that their sizes lead to."""
    rng = np.random.default_rng(seed)
    for _ in range(400):
        sizes, lists, masks = _random_slice(rng)
        inferred, shape = _strided_slice(sizes, lists, masks)
        assert (inferred is None) == (shape is None), (sizes, lists, masks)
        if shape is not None:
            assert list(inferred.to_shape()) == list(shape.sizes), (sizes, lists, masks)
            some = [-1 if rng.random() < 0.5 else size for size in sizes]
            _, wider = _strided_slice(some, lists, masks)
            assert shape.sizes in wider, (sizes, some, lists, masks)


def test_every_operator_of_the_newest_opsets_is_judged():
    """By a contract, by the specification of the gather family, or, three, by rules of their own."""
    newest = {name for name, opsets in operations().items() if opsets.keys() & {"opset16", "opset17"}}
    assert newest - CONTRACTS.keys() - {*known_types()} == {"Parameter", "Const", "Result"}
    assert len(newest) > 200


def test_every_contract_has_a_sample():
    sampled = {sample.type for sample in samples()}
    in_body_models = {*BODIES, "ReadValue", "Assign"}
    assert CONTRACTS.keys() - sampled - in_body_models <= {"Relu", "PRelu"}  # as `openvino.Node` names them


_PROMOTED = [kind.name for kind in ELEMENT_TYPES if kind.bits and kind.name[0] in "iufbs" and kind.bits not in (2, 3, 6)]


@pytest.mark.parametrize("shapes", [((2,), (3,)), ((), (3,)), ((), ())], ids=str)
@pytest.mark.parametrize("flags", list(itertools.product((False, True), repeat=2)), ids=str)
def test_common_types(flags, shapes):
    """ConvertPromoteTypes has the common type that OpenVINO finds for each two element types, or none if it finds none."""
    from openvino import opset14

    names = ("promote_unsafe", "pytorch_scalar_promotion")
    attributes = {name: str(flag) for name, flag in zip(names, flags, strict=True)}
    for kinds in itertools.product(_PROMOTED, repeat=2):
        inputs = [opset14.parameter(shape, getattr(ov.Type, kind)) for shape, kind in zip(shapes, kinds, strict=True)]
        try:
            node = opset14.convert_promote_types(
                *inputs, **dict(zip(names, flags, strict=True)), u64_integer_promotion_target="string"
            )
            wanted = node.output(0).element_type.get_type_name()
        except RuntimeError:
            wanted = "none"
        given = [by_name(kind) for kind in kinds], list(map(PartialShape.of, shapes))
        try:
            (found, _), _ = CONTRACTS["ConvertPromoteTypes"].outputs(
                Call("ConvertPromoteTypes", 14, attributes, *given, lambda _: None)
            )
        except BadTypeError:
            assert wanted == "none", kinds
        else:
            assert wanted == ("string" if found is None else found.name), kinds


def given(shape, kind="f32"):
    return op.parameter(ov.PartialShape(shape), getattr(ov.Type, kind))


def recurrent():
    """Return the inputs of a GRUCell of 4 hidden numbers, whose sizes no input states."""
    return given("[?,3]"), given("[?,?]"), given("[?,3]"), given("[?,?]"), given("[?]")


UNUSUAL = {
    "limits longer than open data": lambda: op.fake_quantize(given("[?,?]"), given("[3]"), *map(given, ["[]"] * 3), 16),
    "limits longer than data": lambda: op.fake_quantize(given("[3]"), *[given("[1,3]")] * 4, 16),
    "one signal": lambda: opset15.stft(given("[40]"), given("[16]"), number(16), number(4), True),
    "signals of open rank": lambda: opset15.stft(given("..."), given("[16]"), number(16), number(4), False),
    "a scalar, and an open rank": lambda: opset14.convert_promote_types(
        given("[2,3]", "i32"), given("...", "u8"), pytorch_scalar_promotion=True
    ),
    "scales of open rank": lambda: opset13.fake_convert(given("[2,3]"), given("..."), given("[3]")),
    "hidden size in no input": lambda: op.gru_cell(*recurrent(), hidden_size=4),
    "hidden size in no input of a sequence": lambda: op.rnn_sequence(
        given("[2,?,3]"), given("[?,?,?]"), given("[?]", "i64"), *map(given, ("[1,?,3]", "[?,4,?]", "[?,4]")), 4, "forward"
    ),
    "boxes of open rank": lambda: op.matrix_nms(given("..."), given("[2,3,6]")),
    "sizes of offsets": lambda: op.deformable_convolution(
        given("[1,?,8,?]"), given("[?,?,6,5]"), given("[?,?,?,?]"), [1, 2], [0, 1], [0, 1], [1, 1]
    ),
    "images of additional boxes": lambda: op.detection_output(
        *map(given, ("[?,20]", "[?,15]", "[?,?,25]")),
        {"keep_top_k": [5], "nms_threshold": 0.5, "input_height": 10, "input_width": 20, "top_k": 4},
        given("[2,10]"),
        given("[?,?]"),
    ),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_outputs_are_as_open_as_those_of_openvino(name, tmp_path):
    node = UNUSUAL[name]()
    parameters = [value.get_node() for value in node.input_values() if value.get_node().get_type_name() == "Parameter"]
    model = ov.Model(list(map(op.result, node.outputs())), list({one.get_name(): one for one in parameters}.values()), "m")
    ov.save_model(model, tmp_path / "m.xml")
    assert not [found for found in validate(tmp_path / "m.xml") if found.severity is Severity.ERROR]


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(3))
def test_single_faults_of_models(seed):
    """In models unlike the samples, nearly all that OpenVINO refuses is found, and nothing that it takes is reported."""
    *rows, all_faults = [row for row in single_faults.measure(count=200, seed=seed) if isinstance(row, tuple)]
    assert len(rows) > 5
    _, found, missed, _, false, *_ = all_faults
    assert found > 50
    assert missed <= 0.05 * (found + missed)
    assert not false


def row(*numbers):
    return op.constant(np.int64(numbers))


def number(value):
    return op.constant(np.int64(value))


SIZES = {
    "converted": lambda: op.convert(op.constant(np.int32([2, 3])), "i64"),
    "the shape of an input": lambda: op.shape_of(op.parameter([2, 3], np.float32, "y")),
    "of two": lambda: op.concat([row(2), row(3)], 0),
    "gathered": lambda: op.gather(row(3, 7, 2), row(-1, 0), number(0)),
    "one size more": lambda: op.concat([op.unsqueeze(op.gather(row(2, 9), number(0), number(0)), number(0)), row(3)], 0),
    "reshaped": lambda: op.reshape(op.constant(np.int64([[2], [3]])), row(-1), False),
    "sliced": lambda: op.slice(row(9, 2, 8, 3), row(1), row(4), row(2)),
    "sliced by strides": lambda: op.strided_slice(row(2, 3, 9), row(1), row(-1), row(1), [1], [0]),
    "split": lambda: op.concat([op.variadic_split(row(9, 8, 2, 3), number(0), row(2, -1)).output(1)], 0),
    "multiplied": lambda: op.multiply(op.subtract(row(3, 4), number(1)), op.broadcast(number(1), row(2))),
    "divided": lambda: op.minimum(op.maximum(op.divide(row(4, 6), number(2)), row(1, 1)), op.add(row(8, 8), row(1, 1))),
}


@pytest.mark.parametrize("sizes", SIZES)
def test_computed_sizes(sizes, tmp_path):
    """Sizes that are computed from constants and shapes are those that OpenVINO computes, and are compared."""
    x = op.parameter([6], np.float32, "x")
    computed = SIZES[sizes]()
    reshaped = op.reshape(x, computed, False)
    assert list(reshaped.get_output_shape(0)) == [2, 3]
    others = [value.get_node() for value in computed.input_values()]
    inputs = [x, *(node for node in others if node.get_type_name() == "Parameter")]
    ov.save_model(ov.Model([op.result(op.relu(reshaped))], inputs, "m"), tmp_path / "m.xml", compress_to_fp16=False)
    assert not [found for found in validate(tmp_path / "m.xml") if found.severity is Severity.ERROR]
    text = (tmp_path / "m.xml").read_text().replace('shape="6"', 'shape="7"').replace("<dim>6</dim>", "<dim>7</dim>")
    (tmp_path / "m.xml").write_text(text)
    (error,) = [found for found in validate(tmp_path / "m.xml") if found.severity is Severity.ERROR]
    assert (error.rule, error.location.layer_type) == ("OVG204", "Reshape")
