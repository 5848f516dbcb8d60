"""`ov_gather.guard`: what it lets pass, what it refuses, and what it says then."""

import re

import ml_dtypes
import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as ops

from helpers.index_idioms import IDIOMS
from helpers.openvino_models import looked_up, made_of, named, number, size_of
from ov_gather import guard, harden
from ov_gather.kernels import native

pytestmark = pytest.mark.openvino


def embedding(rows=10, shape="?,?", kind="i64"):
    return made_of(lambda ids: looked_up(rows, ids), ids=f"{kind}[{shape}]")


def refused(check, words, **feed):
    with pytest.raises(ValueError, match=re.escape(words)):
        check(feed)


def test_ids_in_bounds_pass_and_others_are_named():
    check = guard(embedding())
    ids = np.arange(12).reshape(3, 4) % 10
    assert check({"ids": ids}) is None
    check({"ids": -ids - 1})
    ids[2, 1] = 10
    refused(check, "ids[2, 1] = 10 is out of bounds (valid -10..9): Gather 'Gather_", ids=ids)
    refused(check, "ids[1, 0] = -11 is out of bounds", ids=np.array([[0], [-11]]))


@pytest.mark.parametrize("is_compiled", [True, False])
@pytest.mark.parametrize("view", [(slice(None, None, 2),), (slice(None, None, -1),), (slice(None), slice(1, None, 3)), None])
def test_the_first_position_of_any_strides(monkeypatch, is_compiled, view):
    if not is_compiled:
        monkeypatch.setattr(native, "load", lambda: None)
    check = guard(embedding())
    ids = np.zeros((6, 7), np.int64)
    ids[4, 4] = ids[2, 1] = ids[0, 4] = 77
    seen = ids.T if view is None else ids[view]
    place = ", ".join(map(str, np.argwhere(seen > 9)[0]))
    refused(check, f"ids[{place}] = 77 is out of bounds (valid -10..9)", ids=seen)
    check({"ids": np.where(seen > 9, 3, seen)})
    check({"ids": np.broadcast_to(np.int64(3), (5, 5))})
    refused(check, "ids[0, 0] = 77", ids=np.broadcast_to(np.int64(77), (5, 5)))


def test_no_id_is_no_id_out_of_bounds():
    guard(embedding())({"ids": np.zeros((0, 4), np.int64)})


@pytest.mark.sampled(18)
@pytest.mark.parametrize("name", IDIOMS)
def test_the_conditions_of_each_idiom_can_be_checked(name):
    assert guard(IDIOMS[name].model(is_dynamic=True)).uncovered == ()


def test_a_sum_of_sizes_is_checked():
    check = guard(IDIOMS["KV-cache positions"].model(is_dynamic=True))
    ids, past = np.zeros((2, 8), np.int64), np.zeros((2, 4, 504, 4), np.float32)
    check({"ids": ids, "past": past})
    refused(
        check, "dim(ids, 1) + dim(past, 2) = 513 is out of bounds (valid ..512)", ids=ids, past=past.repeat(2, 2)[:, :, :505]
    )


def test_bounds_follow_the_sizes_of_the_request():
    check = guard(made_of(lambda x, at: ops.gather(x, at, number(0)), x="f32[?,2]", at="i32[?]"))
    x, at = np.zeros((5, 2), np.float32), np.array([4, -5], np.int32)
    check({"x": x, "at": at})
    refused(check, "at[0] = 4 is out of bounds (valid -4..3)", x=x[:4], at=at)
    assert [str(one) for one in check.conditions] == ["at in -dim(x, 0)..dim(x, 0) - 1"]


def test_a_dimension_that_positions_need():
    def positions(ids):
        size = ops.gather(ops.shape_of(ids), number(1), number(0))
        return looked_up(512, ops.range(number(0), size, number(1), "i64"))

    check = guard(made_of(positions, ids="i64[?,?]"))
    check({"ids": np.zeros((1, 512), np.int64)})
    refused(check, "dim(ids, 1) = 513 is out of bounds (valid ..512)", ids=np.zeros((1, 513), np.int64))


def test_nan_and_infinity_are_refused_where_an_index_is_made_of_floats():
    check = guard(made_of(lambda x: looked_up(10, ops.convert(ops.clamp(x, 0, 9), "i64")), x="f32[?]"))
    check({"x": np.array([3.0, -1e30], np.float32)})
    if check.conditions:
        refused(check, "x[1] = nan is out of bounds", x=np.array([3, np.nan], np.float32))


@pytest.mark.parametrize(
    ("feed", "words"),
    [
        ({}, "input 'input_ids' is missing: the feed has none"),
        ({"input_id": 0}, "the model has no input 'input_id': did you mean 'input_ids'?"),
        ({"input_ids": np.zeros((1, 1), np.int64), "mask": 0}, "the model has no input 'mask': there are 'input_ids'"),
        ({3: 0}, "the model has no input 3: there are 'input_ids'"),
        ({"input_ids": [[1]]}, "input 'input_ids' must be an array, not list"),
        ({"input_ids": None}, "input 'input_ids' must be an array, not NoneType"),
        ({"input_ids": np.zeros((1, 1), np.int32)}, "input 'input_ids' has type int32, but the model takes int64"),
        ({"input_ids": np.zeros((1, 1), ">i8")}, "has type >i8 of another byte order"),
        ({"input_ids": np.zeros((1, 1), object)}, "has type object, but"),
        ({"input_ids": np.zeros(1, np.int64)}, "has shape (1,), but the model takes (0..8388608, 0..8388608)"),
        ({"input_ids": np.ma.masked_array(np.zeros((1, 1), np.int64))}, "must be an array, not MaskedArray"),
        ({"input_ids": np.broadcast_to(np.int64(0), (1 << 20, 1 << 12))}, "elements, more than 2147483647"),
        (None, "a feed must be a dict of arrays by input name, not NoneType"),
    ],
)
def test_wrong_feeds(feed, words):
    check = guard(made_of(lambda input_ids: looked_up(10, input_ids), input_ids="i64[?,?]"))
    with pytest.raises(ValueError, match=re.escape(words)):
        check(feed)


def test_messages_about_names_of_any_length_are_short():
    check = guard(embedding())
    for feed in ({"z" * 1_000_000: 0}, {f"{one}{'z' * 1000}": 0 for one in range(5000)}, dict.fromkeys(range(5000))):
        with pytest.raises(ValueError, match=r"the model has no input .*: there are 'ids'") as caught:
            check({"ids": 0, **feed})
        assert len(str(caught.value)) < 200


def test_tensors_of_openvino_and_pytorch():
    check = guard(embedding(kind="i32"))
    check({"ids": ov.Tensor(np.zeros((2, 2), np.int32))})
    refused(check, "ids[1, 0] = 12", ids=ov.Tensor(np.array([[0], [12]], np.int32)))
    torch = pytest.importorskip("torch")
    check({"ids": torch.zeros((2, 2), dtype=torch.int32)})
    refused(check, "ids[0, 1] = 12", ids=torch.tensor([[0, 12], [12, 0]], dtype=torch.int32).mT.mT)


class Changing:
    """An object that NumPy takes for an array, with other elements each time."""

    shape, dtype, ndim, size = (1, 1), np.dtype(np.int64), 2, 1

    def __init__(self):
        self.given = 0

    def __array__(self, *_, **__):
        self.given += 77
        return np.full((1, 1), self.given - 77)


class Broken:
    """An object whose attributes raise."""

    def __getattr__(self, name):
        raise KeyError(name)


@pytest.mark.parametrize("made", [Changing, Broken, lambda: memoryview(np.zeros((1, 1), np.int64)), type("Tensor", (), {})])
def test_what_pretends_to_be_an_array_is_none(made):
    value = made()
    refused(guard(embedding()), f"input 'ids' must be an array, not {type(value).__name__}: give a NumPy array", ids=value)


@pytest.mark.parametrize(
    "of", [lambda ids: ids.view(np.matrix), lambda ids: ids.view(type("Mine", (np.ndarray,), {"min": None})), np.asarray]
)
def test_subclasses_of_arrays_are_arrays(of, tmp_path):
    check = guard(embedding())
    ids = np.memmap(tmp_path / "ids", np.int64, "w+", shape=(2, 2))
    check({"ids": of(ids)})
    ids[1, 0] = 10
    ids.flags.writeable = False
    refused(check, "ids[1, 0] = 10 is out of bounds", ids=of(ids))


@pytest.mark.parametrize("kind", ["f8e4m3", "f8e5m2", "f8e8m0", "bf16"])
def test_floats_that_numpy_lacks(kind):
    """The oracle is ml_dtypes."""
    check = guard(made_of(lambda x: looked_up(10, ops.convert(x, "i64")), x=f"{kind}[1]"))
    assert [str(one) for one in check.conditions] == ["x in -10..9"]
    width = 2 if kind == "bf16" else 1
    bits = np.arange(256 if width == 1 else 65536).astype(f"u{width}")
    dtype = {"f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2", "f8e8m0": "float8_e8m0fnu", "bf16": "bfloat16"}[kind]
    with np.errstate(invalid="ignore"):
        numbers = bits.view(getattr(ml_dtypes, dtype)).astype(np.float64)
    tensor = ov.Tensor(getattr(ov.Type, kind), [1])
    for one, value in zip(bits[:: 61 if width == 2 else 1], numbers[:: 61 if width == 2 else 1], strict=True):
        tensor.data.view(f"u{width}")[0] = one
        with np.errstate(invalid="raise"):
            if -10 <= value <= 9:
                check({"x": tensor})
            else:
                refused(check, "x[0] = ", x=tensor)


def test_strings_may_be_objects():
    check = guard(made_of(lambda s: [ops.result(s)], s="string[?]"))
    check({"s": np.array(["a", b"b"], object)})
    refused(check, "input 's' has type object, but the model takes str", s=np.array(["a", None], object))


def test_a_model_of_bf16_and_strings_and_bits():
    check = guard(made_of(lambda b, s, n: [ops.result(b), ops.result(s), ops.result(n)], b="bf16[2]", s="string[?]", n="u4[2]"))
    feed = {"b": ov.Tensor(ov.Type.bf16, [2]), "s": np.array(["a", "b"]), "n": ov.Tensor(ov.Type.u4, [2])}
    check(feed)
    check({**feed, "s": ov.Tensor(["a", "b", "c"])})
    refused(check, "input 's' has type int64, but the model takes str", **{**feed, "s": np.zeros(2, np.int64)})
    refused(check, "input 'b' has type float32, but the model takes bfloat16", **{**feed, "b": np.zeros(2, np.float32)})


def test_what_the_guard_cannot_say_is_named():
    """The state of a model is no input of a request."""

    def with_state(ids):
        state = ops.read_value(number([0]), "state")
        return [looked_up(10, ids), looked_up(5, state), ops.assign(state, "state"), looked_up(3, number([7]))]

    given = named("ids", "i64[?]")
    first, unknown, store, refuted_ = with_state(given)
    check = guard(ov.Model([ops.result(one) for one in (first, unknown, refuted_)], [store], [given], "model"))
    assert {(one.layer, one.status) for one in check.uncovered} == {
        (unknown.get_friendly_name(), "unknown"),
        (refuted_.get_friendly_name(), "refuted"),
    }
    assert [str(one) for one in check.conditions] == ["ids in -10..9"]


def test_the_fingerprint_is_that_of_the_saved_model_and_of_no_other(tmp_path):
    model = embedding()
    ov.save_model(model, tmp_path / "m.xml")
    check = guard(model)
    check.check_model(tmp_path / "m.xml")
    assert check.fingerprint == guard(embedding()).fingerprint
    with pytest.raises(ValueError, match=f"made for another model: fingerprint {check.fingerprint}, not "):
        check.check_model(embedding(rows=11))
    assert re.fullmatch(r"<Guard 1 input, 1 condition, 0 sites uncovered, [0-9a-f]{16}>", repr(check))


def test_what_was_assumed_is_in_the_fingerprint():
    narrow, wide = (guard(embedding(), assume={"ids": (0, high)}) for high in (4, 8))
    narrow.check_model(embedding(), assume={"ids": (0, 4)})
    assert len({narrow.fingerprint, wide.fingerprint, guard(embedding()).fingerprint}) == 3
    with pytest.raises(ValueError, match="this guard was made for another model"):
        wide.check_model(embedding(), assume={"ids": (0, 4)})


def test_what_was_assumed_is_checked_too():
    check = guard(embedding(), assume={"ids": (0, 4)})
    refused(check, "ids[0, 0] = 5 is out of bounds (valid 0..4): it was assumed that ids in 0..4", ids=np.full((1, 1), 5))


def test_names_that_two_inputs_share():
    one, other = (ops.parameter([2], np.int64) for _ in range(2))
    one.set_friendly_name("same")
    other.set_friendly_name("same")
    model = ov.Model([looked_up(5, one), looked_up(5, other)], [one, other], "model")
    with pytest.raises(ValueError, match="two inputs of the model have the same name"):
        guard(model)


def test_an_input_that_is_named_like_a_size():
    """The row must exist in x, of 3 rows, and in a table of 5."""
    x, rows = named("x", "f32[?,2]"), named("dim(x, 0)", "i64[1]")
    check = guard(ov.Model([ops.gather(x, rows, number(0)), looked_up(5, rows)], [x, rows], "model"))
    assert check.uncovered == ()
    for row in range(-6, 6):
        feed = {"x": np.zeros((3, 2), np.float32), "dim(x, 0)": np.array([row])}
        if -3 <= row < 3:
            check(feed)
        else:
            with pytest.raises(ValueError, match=re.escape(f"'dim(x, 0)'[0] = {row} is out of bounds")):
                check(feed)


def test_an_input_that_is_named_like_a_sum_of_sizes():
    """The last of x and y, one after the other, is taken of 512 numbers: what the third input holds does not matter."""
    x, y, third = named("x", "f32[?]"), named("y", "f32[?]"), named("dim(x, 0) + dim(y, 0)", "i64[2]")
    last = ops.subtract(ops.add(size_of(x, 0), size_of(y, 0)), number(1))
    check = guard(ov.Model([looked_up(512, last), ops.relu(third)], [x, y, third], "model"))
    assert check.uncovered == ()
    for count in (212, 213, 300):
        feed = {"x": np.zeros(300, np.float32), "y": np.zeros(count, np.float32), third.get_friendly_name(): np.array([0, 999])}
        if 300 + count <= 512:
            check(feed)
        else:
            with pytest.raises(ValueError, match=re.escape(f"dim(x, 0) + dim(y, 0) = {300 + count} is out of bounds")):
                check(feed)


@pytest.mark.parametrize("name", ["x#1", "x, 0) - dim(y", "x, 0", "'x'", "a b"])
def test_names_of_inputs_are_no_text_of_conditions(name):
    """Rows of x alone are taken: of 3 rows 2 is the last, whatever the other input is named and however long it is."""
    x, at, other = named("x", "f32[?,2]"), named("at", "i64[1]"), named(name, "f32[?]")
    check = guard(ov.Model([ops.gather(x, at, number(0)), ops.relu(other)], [x, at, other], "model"))
    assert check.uncovered == ()
    feed = {"x": np.zeros((3, 2), np.float32), name: np.zeros(9, np.float32)}
    check({**feed, "at": np.array([2])})
    with pytest.raises(ValueError, match=r"valid -3\.\.2"):
        check({**feed, "at": np.array([3])})


@pytest.mark.parametrize("policy", ["raise", "clamp", "zero"])
def test_harden_leaves_to_the_guard_what_it_covers(policy):
    def two_gathers(ids):
        state = ops.read_value(number([0]), "state")
        return looked_up(10, ids), looked_up(5, state), ops.assign(state, "state")

    given = named("ids", "i64[?]")
    covered, unknown, store = two_gathers(given)
    model = ov.Model([ops.result(covered), ops.result(unknown)], [store], [given], "model")
    names = [node.get_friendly_name() for node in (covered, unknown)]
    summary = harden(model, policy=policy, portable=True, guarded=True)
    assert [bool(next(site for site in summary.sites if site.layer == name).done) for name in names] == [False, True]
    kept = next(node for node in model.get_ops() if node.get_friendly_name() == names[0])
    assert kept.input_value(1).get_node().get_type_name() == "Parameter"
