"""What `validate` says of each operator of OpenVINO, compared with what OpenVINO does with single changes of valid calls."""

import itertools
import re

import pytest

from helpers.operator_faults import LENIENT, UNFOUND, outcomes
from helpers.operator_samples import samples
from ov_gather.ir.element_types import ELEMENT_TYPES, by_name
from ov_gather.ir.shapes import PartialShape
from ov_gather.ops.contracts.call import BadTypeError, Call
from ov_gather.ops.contracts.register import CONTRACTS


def is_named(table, sample, what):
    return any(re.fullmatch(pattern, f"{sample.type}: {what}") for pattern in table)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("sample", samples(), ids=str)
def test_single_changes(sample):
    """What OpenVINO refuses is reported, and what it computes is not, but for what the specification forbids all the same."""
    valid, *changes = outcomes(sample)
    assert valid == ("", "ok", [])
    assert not [what for what, done, errors in changes if done != "ok" and not errors and not is_named(UNFOUND, sample, what)]
    false = [
        (what, errors) for what, done, errors in changes if done == "ok" and errors and not is_named(LENIENT, sample, what)
    ]
    assert not false


def test_every_contract_has_a_sample():
    sampled = {sample.type for sample in samples()}
    without = {"Relu", "Assign", "ReadValue"}  # an older name of ReLU; states, which are no single calls
    assert CONTRACTS.keys() - sampled <= without


_PROMOTED = [kind.name for kind in ELEMENT_TYPES if kind.bits and kind.name[0] in "iufbs" and kind.bits not in (2, 3, 6)]


@pytest.mark.parametrize("shapes", [((2,), (3,)), ((), (3,)), ((), ())], ids=str)
@pytest.mark.parametrize("flags", list(itertools.product((False, True), repeat=2)), ids=str)
def test_common_types(flags, shapes):
    """ConvertPromoteTypes has the common type that OpenVINO finds for each two element types, or none if it finds none."""
    import openvino as ov
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
