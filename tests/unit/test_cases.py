"""Cases and the values that they are made of: which occur, that no others do, and that they depend on the seed alone."""

import numpy as np
import pytest

from helpers.paths import VALID
from ov_gather import read_ir
from ov_gather.crosscheck.cases import values
from ov_gather.crosscheck.cases.designed import designed, operands
from ov_gather.crosscheck.cases.values import VALUES, bits, for_model, small, special
from ov_gather.crosscheck.defaults import DEFAULT_CASES
from ov_gather.ir.element_types import BOOLEAN, ELEMENT_TYPES, F32, I64, STRING, by_name
from ov_gather.ops.isolation import isolate
from ov_gather.ops.layer_view import family_layers

MANY = (40_000,)


def patterns(array: np.ndarray) -> set[int]:
    return {int(one) for one in np.unique(array.view(f"u{array.dtype.itemsize}"))}


@pytest.mark.parametrize(
    ("name", "lowest"), [("i16", -1000), ("i32", -1000), ("i64", -1000), ("u16", 0), ("u32", 0), ("u64", 0)]
)
def test_small_integers(rng, name, lowest):
    made = small(rng, by_name(name), MANY)
    assert (made.dtype, made.min(), made.max()) == (by_name(name).dtype, lowest, 999)


@pytest.mark.parametrize("name", ["i8", "u8", "f8e4m3", "f8e5m2", "f8e8m0"])
@pytest.mark.parametrize("make", [small, bits, special])
def test_eight_bits_are_any(rng, make, name):
    if make is special and name in ("i8", "u8"):
        assert patterns(special(rng, by_name(name), MANY)) == {0, 1, 127, 128, 255}
    else:
        assert patterns(make(rng, by_name(name), MANY)) == set(range(256))


@pytest.mark.parametrize("name", ["f16", "bf16", "f32", "f64"])
def test_small_floats_are_normally_distributed(rng, name):
    made = small(rng, by_name(name), MANY)
    assert made.dtype == by_name(name).dtype
    wide = made.astype(np.float64)
    assert abs(wide.mean()) < 0.05
    assert abs(wide.std() - 1) < 0.05


@pytest.mark.parametrize("make", [small, bits, special])
def test_booleans_and_strings(rng, make):
    assert {bool(one) for one in make(rng, BOOLEAN, MANY)} == {False, True}
    assert set(make(rng, STRING, MANY)) == {"", "a", "gather", "элементы", "x" * 40}


@pytest.mark.parametrize(("name", "count"), [("i4", 8), ("u4", 8), ("u2", 2), ("f4e2m1", 6)])
def test_less_than_a_byte(rng, name, count):
    """The numbers of half the width, which have no sign; of f4e2m1, those up to its largest, 6, rounded."""
    for make in (small, bits, special):
        made = make(rng, by_name(name), MANY)
        assert made.dtype == by_name(name).dtype
        assert len(np.unique(made.astype(np.float64))) == count


@pytest.mark.parametrize(
    ("name", "positive"),
    [
        ("f16", [0, 1, 0x3FF, 0x400, 0x7BFF, 0x7C00, 0x7C01, 0x7E05]),
        ("bf16", [0, 1, 0x7F, 0x80, 0x7F7F, 0x7F80, 0x7F81, 0x7FC5]),
        ("f32", [0, 1, 0x7FFFFF, 0x800000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00005]),
        (
            "f64",
            [0, 1, (1 << 52) - 1, 1 << 52, 0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0x7FF0000000000001, 0x7FF8000000000005],
        ),
    ],
)
def test_special_floats(rng, name, positive):
    """Zero, the ends of the denormals and of the normals, infinity, a signalling and a quiet NaN; all of both signs."""
    sign = 1 << (by_name(name).bits - 1)
    assert patterns(special(rng, by_name(name), MANY)) == {*positive, *(sign | value for value in positive)}


@pytest.mark.parametrize("bits_", [16, 32, 64])
@pytest.mark.parametrize("sign", "iu")
def test_special_integers(rng, bits_, sign):
    ends = {0, 1, 2 ** (bits_ - 1) - 1, 2 ** (bits_ - 1), 2**bits_ - 1}
    beyond = {2**31 - 1, 2**31} if bits_ >= 32 else set()
    beyond |= {2**32 + 1, 2**53 + 1} if bits_ == 64 else set()
    assert patterns(special(rng, by_name(f"{sign}{bits_}"), MANY)) == ends | beyond


def test_shapes_are_kept(rng):
    for element_type in ELEMENT_TYPES:
        if element_type.numpy_name:
            for make in (small, bits, special):
                assert make(rng, element_type, (2, 0, 3)).shape == (2, 0, 3)
                assert make(rng, element_type, (2, 3)).shape == (2, 3)


def test_inputs_of_models_are_within_all_bounds(rng):
    made = for_model(rng, "x", I64, MANY, [(-3, 5), (-1, 9)])
    assert set(made) == {-1, 0, 1, 2, 3, 4}
    assert set(for_model(rng, "x", I64, MANY, [])) == {0, 1}
    assert set(for_model(rng, "x", by_name("u8"), MANY, [(0, 3)])) == {0, 1, 2}
    assert set(for_model(rng, "x", by_name("u8"), MANY, [])) == set(range(256))
    assert set(for_model(rng, "x", I64, (9,), [(4, 5)])) == {4}
    assert for_model(rng, "x", F32, MANY, [(0, 3)]).min() < 0


def test_no_valid_value(rng):
    with pytest.raises(ValueError, match=r"^x has no valid value: it indexes an axis of size 0$"):
        for_model(rng, "x", I64, (2,), [(0, 0), (0, 3)])
    assert for_model(rng, "x", I64, (0, 2), [(0, 0)]).shape == (0, 2)


def test_memory_is_asked_for_first(rng, monkeypatch):
    def asked(what, size):
        raise ValueError(f"{what}: {size}")

    monkeypatch.setattr(values, "require_memory", asked)
    with pytest.raises(ValueError, match=r"^x of shape \[3, 5\]: 120$"):
        for_model(rng, "x", I64, (3, 5), [])


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


@pytest.mark.sampled(14)
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
