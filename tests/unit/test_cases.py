"""Cases: what they hold, and that they are the same for one seed."""

import numpy as np
import pytest

from helpers.paths import VALID
from ov_gather import read_ir
from ov_gather.crosscheck.cases.designed import DEFAULT_CASES, designed, operands
from ov_gather.crosscheck.cases.values import VALUES
from ov_gather.ir.element_types import by_name
from ov_gather.ops.isolation import isolate
from ov_gather.ops.layer_view import family_layers


def alone(name):
    (view,) = family_layers(read_ir(VALID / f"{name}.xml"))
    return next(family_layers(isolate(view)))


def cases_of(name, limit=DEFAULT_CASES):
    return {case.name: case for case in designed(alone(name), limit, 0)}


def test_indices_at_the_bounds_and_beyond():
    cases = cases_of("spec_layer")  # an axis of 7
    indices = {name.partition(",")[0]: case.inputs[1] for name, case in cases.items()}
    assert set(np.unique(indices["boundary"])) == {0, -1, 6, -7}
    assert (indices["negative"].min(), indices["negative"].max()) == (-7, -1)
    assert len(np.unique(indices["equal"])) == 1
    assert set(np.unique(indices["duplicates"])) == {0, 1}
    assert list(indices["reversed"].ravel()[:8]) == [6, 5, 4, 3, 2, 1, 0, 6]
    assert sorted(indices["permutation"].ravel()[:7]) == list(range(7))
    for name, value in (
        ("above", 7),
        ("below", -8),
        ("far above", 2**31 - 1),
        ("far below", -(2**31)),
        ("beyond 32 bits", 2**32 + 1),
    ):
        assert ((indices[name] < -7) | (indices[name] > 6)).sum() == (indices[name] == value).sum() == 1
        assert next(case for case in cases.values() if case.inputs[1] is indices[name]).out_of_bounds
    assert {case.threads for case in cases.values()} == {1, 2}


def test_sizes_where_they_are_open():
    shapes = [case.inputs[0].shape for case in cases_of("gather_elements_6_open_sizes").values()]
    assert {(0, 0), (1, 1), (6, 6), (1021, 128), (128, 1021)} <= set(shapes)
    bounded = [case.inputs[0].shape for case in cases_of("dynamic_shapes").values()]  # [?,1..5,3..9]
    assert all(1 <= shape[1] <= 5 and 3 <= shape[2] <= 9 for shape in bounded)


@pytest.mark.parametrize("name", sorted(path.stem for path in VALID.glob("*.xml")))
def test_the_same_for_one_seed_and_other_for_another(name):
    for view in family_layers(read_ir(VALID / f"{name}.xml")):
        view = next(family_layers(isolate(view)))
        first, again, other = (list(designed(view, 5, seed)) for seed in (1, 1, 2))
        assert [case.name for case in first] == [case.name for case in again]
        for one, two in zip(first, again, strict=True):
            assert all((a.tobytes() == b.tobytes()) for a, b in zip(one.inputs, two.inputs, strict=True))
            assert all(array.shape in shape for array, shape in zip(operands(view, one.inputs), view.input_shapes, strict=True))
        if first[0].inputs and first[0].inputs[0].dtype != object:
            assert any(a.tobytes() != b.tobytes() for a, b in zip(first[0].inputs, other[0].inputs, strict=True))


def test_the_first_cases_do_not_depend_on_how_many_there_are():
    few, many = cases_of("spec_layer", 3), cases_of("spec_layer", 40)
    assert len(few) == 3
    assert len(many) == 40
    assert all((few[name].inputs[0] == many[name].inputs[0]).all() or few[name].inputs[0].dtype.kind == "f" for name in few)
    assert set(few) <= set(many)


@pytest.mark.parametrize("make", VALUES)
@pytest.mark.parametrize("name", ["boolean", "string", "u4", "i8", "f16", "u32", "f64"])
def test_a_scalar_is_an_array(name, make):
    row = by_name(name)
    made = VALUES[make](np.random.default_rng(0), row, ())
    assert isinstance(made, np.ndarray)
    assert (made.shape, made.dtype) == ((), row.dtype)
