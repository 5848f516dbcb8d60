"""Faults that lose axes, sizes or elements are reported if, and only if, OpenVINO computes another result than NumPy."""

from itertools import combinations, permutations, product

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as op

from helpers.known_faults import as_ir
from helpers.known_patterns import constant
from ov_gather import guard, prove, validate
from ov_gather.converters.repairs import repair_faults
from ov_gather.rules.releases import RELEASES

EXACT = {"INFERENCE_PRECISION_HINT": "f32"}


@pytest.mark.sampled(16)
@pytest.mark.parametrize("shape", [[3, 4], [-1, 4], [-1, -1], [ov.Dimension(1, 5), -1]], ids=str)
@pytest.mark.parametrize("indices", [0, [0], [-1], [0, 0], [[0]]], ids=str)
@pytest.mark.parametrize(("inserted", "axis"), [(0, 0), (0, -3), (-3, -3), (1, 1), (2, 2), (2, -1), (0, 1)])
def test_gather_of_an_inserted_axis(inserted, axis, indices, shape, agrees):
    x, data = np.arange(12, dtype=np.float32).reshape(3, 4), op.parameter(shape, np.float32)
    gather = op.gather(op.unsqueeze(data, constant(inserted)), op.constant(np.array(indices)), op.constant(axis))
    agrees([gather], [data], [x], [np.take(np.expand_dims(x, inserted), indices, axis)])


@pytest.mark.parametrize("name", ["plus 0", "relu", "two readers", "convert"])
def test_gather_behind_other_layers(name, agrees):
    x, data = np.arange(12, dtype=np.float32).reshape(3, 4), op.parameter([-1, -1], np.float32)
    value = op.unsqueeze(data, constant(0))
    if name in ("relu", "convert"):
        value = op.relu(value) if name == "relu" else op.convert(value, "f32")
    value = op.add(value, op.constant(np.float32(0))) if name == "plus 0" else value
    others = [op.exp(value)] if name == "two readers" else []
    gather = op.gather(value, constant(0), op.constant(0))
    agrees([gather, *others], [data], [x], [x[None], *([np.exp(x[None])] if others else [])])


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("is_written", [False, True])
def test_reductions_of_reversed_axes(is_written, is_open, rank, agrees):
    """Only a Transpose of the empty order is lost."""
    x = np.arange(24, dtype=np.float32)[: (2, 6, 24)[rank - 1]].reshape((2, 3, 4)[:rank])
    for axes in [(0,), (rank - 1,), tuple(range(rank))]:
        data = op.parameter([-1] * rank if is_open else x.shape, np.float32)
        turned = op.transpose(data, constant(*(range(rank)[::-1] if is_written else ())))
        agrees([op.reduce_sum(turned, constant(*axes), True)], [data], [x], [x.T.sum(axes, keepdims=True)])


@pytest.mark.parametrize("between", ["relu", "plus 0", "i32", "two readers"])
def test_reductions_behind_other_layers(between, agrees):
    x, data = np.arange(6, dtype=np.float32).reshape(2, 3), op.parameter([2, 3], np.float32)
    turned = op.transpose(data, op.constant(np.zeros(0, np.int64)))
    value = {
        "relu": op.relu,
        "plus 0": lambda value: op.add(value, op.constant(np.float32(0))),
        "i32": lambda value: op.convert(value, "i32"),
        "two readers": lambda value: value,
    }[between](turned)
    others = [op.exp(turned)] if between == "two readers" else []
    expected = x.T.sum(0, keepdims=True)
    agrees([op.reduce_sum(value, constant(0), True), *others], [data], [x], [expected, *([np.exp(x.T)] if others else [])])


SLICES = [
    *([(0, 1, 1), (-1, 0, -1)], [(0, 2, 1), (4, 1, -1)], [(4, 0, -1), (0, 1, 1)], [(2, -7, -1), (3, 5, 1)]),
    *([(0, 1, 1), (1, 5, 1)], [(0, 2, 1), (2, 5, 2)], [(0, 1, -1), (1, 5, 1)], [(0, 4, 1), (4, 3, -1)]),
    *([(0, 3, 1), (-1, 0, -1)], [(4, -7, -1)], [(4, -7, -1), (0, 5, 1)], [(0, 1, 1), (4, 0, -2)]),
    [(0, 1, 1), (4, 0, -1), (1, 2, 1)],
]


@pytest.mark.sampled(13)
@pytest.mark.parametrize("size", [5, -1])
@pytest.mark.parametrize("parts", SLICES, ids=str)
def test_slices_of_one_tensor(parts, size, agrees):
    x, data = np.arange(5, dtype=np.float32), op.parameter([size], np.float32)
    found = [op.strided_slice(data, *(constant(bound) for bound in bounds), [0], [0]) for bounds in parts]
    agrees([op.concat(found, 0)], [data], [x], [np.concatenate([x[slice(*bounds)] for bounds in parts])])


@pytest.mark.parametrize("end_mask", [[0, 1], [1, 1]], ids=str)
@pytest.mark.parametrize("outputs", [(), (0,), (1,)], ids=str)
def test_slices_with_masks(outputs, end_mask, agrees):
    """What a mask names is taken whole; slices that are outputs of the model are not replaced."""
    x, data = np.arange(10, dtype=np.float32).reshape(5, 2), op.parameter([5, 2], np.float32)
    backwards = op.strided_slice(data, constant(2, 7), constant(0, 7), constant(-1, 1), [0, 1], end_mask)
    last = op.strided_slice(data, constant(3, 0), constant(5, 2), constant(1, 1), [0, 0], [0, 0])
    found = [one if at in outputs else op.negative(one) for at, one in enumerate((backwards, last))]
    parts = [one if at in outputs else -one for at, one in enumerate((x[2 : None if end_mask[0] else 0 : -1], x[3:]))]
    agrees(found, [data], [x], parts)


@pytest.mark.parametrize("mask", ["shrink_axis_mask", "new_axis_mask"])
def test_a_slice_in_reverse_beside_another_rank(mask, agrees):
    x, data = np.arange(5, dtype=np.float32), op.parameter([5], np.float32)
    backwards = op.strided_slice(data, constant(4), constant(1), constant(-1), [0], [0])
    other = op.strided_slice(data, constant(0), constant(1), constant(1), [0], [0], **{mask: [1]})
    expected = [-x[4:1:-1], -x[0] if mask == "shrink_axis_mask" else -x[None]]
    agrees([op.negative(backwards), op.negative(other)], [data], [x], expected)


@pytest.mark.parametrize(("one", "other"), product([[0, 2], [-1, 2]], [[0, 4], [0, -1], [-1, 4], [-1, -1]]), ids=str)
def test_concat_of_nothing(one, other, agrees):
    first, second = op.parameter(one, np.float32), op.parameter(other, np.float32)
    feeds = [np.zeros((0, 2), np.float32), np.zeros((0, 4), np.float32)]
    agrees([op.concat([first, second], 1)], [first, second], feeds, [np.zeros((0, 6), np.float32)])


@pytest.mark.parametrize("reads", [reads for n in (1, 2, 3, 4) for reads in combinations(range(4), n)], ids=str)
def test_outputs_of_unsorted_unique(reads, agrees):
    """Elements, first positions, inverse and counts: the others are wrong if the inverse is not read."""
    x, data = np.float32([3, 1, 3, 0, 7, 1]), op.parameter([6], np.float32)
    found = op.unique(data, sorted=False)
    elements, first, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    order = first.argsort()
    expected = [elements[order], first[order], order.argsort()[inverse], counts[order]]
    agrees([found.output(i) for i in reads], [data], [x], [expected[i] for i in reads])


@pytest.mark.parametrize("sizes", [(2, 0, 1), (2, 0, 3)], ids=str)
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (0, 2, 1), (1, 0, 2), (2, 1, 0)], ids=str)
def test_non_zero_of_nothing(order, sizes, agrees):
    data = op.parameter(sizes, np.float32)
    agrees(
        [op.non_zero(op.transpose(data, constant(*order)))], [data], [np.zeros(sizes, np.float32)], [np.zeros((3, 0), np.int64)]
    )


@pytest.mark.parametrize("sizes", product((-1, 1, 2), repeat=3), ids=str)
@pytest.mark.parametrize("order", [[2, 0, 1], [1, 2, 0], [0, 2, 1], [1, 0, 2], [2, 1, 0], [0, 1, 2]], ids=str)
@pytest.mark.sampled(60)
def test_transposes_of_open_sizes(order, sizes, tmp_path):
    """The fault is found if and only if OpenVINO is wrong for some sizes; the repaired model is right."""
    data = op.parameter(list(sizes), np.float32)
    model = ov.Model([op.transpose(op.relu(data), op.constant(np.array(order)))], [data])
    shapes = list(product(*((2, 0) if size < 0 else (size,) for size in sizes)))
    expected = [tuple(shape[axis] for axis in order) for shape in shapes]
    is_wrong = shapes_of(model, shapes) != expected
    as_ir(model, tmp_path / "model.xml")
    found = validate(tmp_path / "model.xml", target=RELEASES[-1], select=["OVG7"])
    assert [one.hint.split()[-1] for one in found] == ["transpose_of_open_sizes"] * is_wrong
    repair_faults(model)
    assert shapes_of(model, shapes) == expected


def shapes_of(model, shapes):
    """The shape of the output for each shape of the input; None where OpenVINO refuses it."""
    request, found = ov.Core().compile_model(model, "CPU").create_infer_request(), []
    for shape in shapes:
        request.start_async([np.zeros(shape, np.float32)])
        try:
            request.wait()
            found.append(tuple(request.get_output_tensor().shape))
        except RuntimeError:
            found.append(None)
    return found


@pytest.mark.parametrize("name", ["Add", "Maximum", "Subtract second", "Greater", "ReLU and Add", "its own size"])
def test_prove_counts_an_element_that_a_broadcast_keeps(name):
    """Gather(x, Broadcast(7 to [n]) % n): if n is 0, an element may be left, which is out of bounds."""
    x = op.parameter([-1], np.float32, name="x")
    size = op.gather(op.shape_of(x), op.constant(0), op.constant(0))
    spread, one = op.broadcast(op.constant(7), op.shape_of(x)), op.constant(np.int64(0))
    value = {
        "Add": lambda: op.add(spread, one),
        "Maximum": lambda: op.maximum(spread, one),
        "Subtract second": lambda: op.subtract(op.constant(np.int64(14)), spread),
        "Greater": lambda: op.convert(op.greater(spread, one), "i64"),
        "ReLU and Add": lambda: op.add(op.relu(spread), one),
        "its own size": lambda: op.add(spread, op.convert(op.multiply(x, op.constant(np.float32(0))), "i64")),
    }[name]()
    indices = op.floor_mod(value, size)
    model = ov.Model([op.result(op.gather(x, indices, op.constant(0))), op.result(indices)], [x])
    request = ov.Core().compile_model(model, "CPU").create_infer_request()
    request.start_async([np.zeros(0, np.float32)])
    request.wait()
    has_index = request.output_tensors[1].get_size() > 0
    site = prove(model)[-1]
    if has_index:
        assert site.status == "conditional"
        with pytest.raises(ValueError, match=r"dim\(x, 0\) = 0"):
            guard(model)({"x": np.zeros(0, np.float32)})


def test_prove_believes_no_shape_behind_a_fault():
    """Of (1, 2), which OpenVINO makes (7, 1), no position is known."""
    x = op.parameter([2, 7], np.float32)
    largest = op.reduce_max(op.transpose(x, op.constant(np.zeros(0, np.int64))), constant(0), True)
    rows = op.gather(op.non_zero(op.exp(largest)), op.constant(0), op.constant(0))
    model = ov.Model([op.gather(op.constant(np.zeros(1, np.float32)), rows, op.constant(0))], [x])
    assert [proof.status for proof in prove(model)][-1] == "unknown"


@pytest.mark.parametrize(
    ("dtype", "most", "count", "name"),
    [
        *((np.uint8, 85, 3, "sum"), (np.uint8, 128, 2, "sum"), (np.int8, 63, 2, "sum"), (np.int8, 64, 2, "sum")),
        *((np.uint8, 1, 200, "sum"), (np.uint8, 1, 8, "prod"), (np.uint8, 2, 8, "prod"), (np.uint8, 200, 2, "mean")),
    ],
)
def test_reductions_of_bytes(name, dtype, most, count, agrees):
    """Those whose result needs more than 8 bits saturate."""
    x, data = np.full(count, most, dtype), op.parameter([count], dtype)
    reduced = getattr(op, f"reduce_{name}")(op.clamp(data, 0, most), constant(0), True)
    agrees([reduced], [data], [x], [getattr(np, name)(x, keepdims=True).astype(dtype)], rules=["OVG712"])


@pytest.mark.parametrize("is_read", [False, True])
@pytest.mark.parametrize(
    ("declared", "shape", "change", "axes"),
    [
        *(([0, -1], (0, 3), op.unsqueeze, axes) for axes in ([0], [1], [-1], [0, 2])),
        *(([-1, 0], (3, 0), op.unsqueeze, axes) for axes in ([0], [2])),
        ([0, -1, 1], (0, 3, 1), op.squeeze, [2]),
        ([1, 0, -1], (1, 0, 3), op.squeeze, [-3]),
        ([0, -1, -1], (0, 3, 2), op.unsqueeze, [0]),
        ([-1, -1], (0, 3), op.unsqueeze, [0]),
        ([0, 3], (0, 3), op.unsqueeze, [0]),
    ],
)
def test_axes_of_size_1_of_nothing(declared, shape, change, axes, is_read, agrees):
    x = op.parameter(declared, np.float32)
    changed = change(x, constant(*axes))
    value = np.zeros(shape, np.float32)
    expected = np.expand_dims(value, tuple(axes)) if change is op.unsqueeze else np.squeeze(value, tuple(axes))
    model = ov.Model([op.abs(changed) if is_read else changed], [x])
    agrees(model, None, [value], [expected])
    repair_faults(model)
    assert ov.compile_model(model, "CPU")([value])[0].shape == expected.shape


@pytest.mark.sampled(2)
@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
@pytest.mark.parametrize("opened", [None, 0, 1, 2])
def test_transpose_of_nothing(order, opened):
    """OpenVINO makes a Reshape of a Transpose that moves axes of size 1 alone, and copies a size where there is a 0."""
    for shape in (one for one in product(range(3), repeat=3) if 0 in one):
        declared = [-1 if axis == opened else size for axis, size in enumerate(shape)]
        data, right = op.parameter(declared, np.float32), tuple(shape[axis] for axis in order)
        model = ov.Model([op.abs(op.transpose(op.abs(data), constant(*order)))], [data])
        found = _shape(model, shape)
        repaired, _ = repair_faults(model)
        assert _shape(model, shape) == right
        assert (found == right) != bool(repaired) or (opened is not None and shape[opened] == 0)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("reduce", ["reduce_sum", "reduce_l1"])
@pytest.mark.parametrize("opened", [None, 0, 1])
@pytest.mark.parametrize("axes", [one for n in (1, 2) for one in combinations(range(4), n)], ids=str)
def test_shapes_behind_reductions(axes, opened, reduce, each_agrees):
    """OpenVINO drops a change of shape behind a reduction that drops axes, if it seems to restore them."""
    cases = {}
    for shape in ((2, 3, 1), (1, 3, 2), (2, 3, 2), (2, 1, 3, 2), (2, 3, 2, 3)):
        if axes[-1] >= len(shape):
            continue
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        total = x.sum(axes)
        orders = [*permutations(range(total.ndim))] if total.ndim > 1 else []
        targets = [*{total.transpose(order).shape for order in orders}, (1, total.size), (total.size, 1), (-1,), (1, -1, 1)]
        for name in [*orders, *targets]:
            data = op.parameter([-1 if axis == opened else size for axis, size in enumerate(shape)], np.float32)
            reduced = getattr(op, reduce)(op.relu(data), constant(*axes), False)
            is_order = name in orders
            change = op.transpose(reduced, constant(*name)) if is_order else op.reshape(reduced, constant(*name), False)
            expected = total.transpose(name) if is_order else total.reshape(name)
            cases[f"{shape}{name}{is_order}"] = [op.abs(change)], [data], [x], [expected]
    each_agrees(cases)


@pytest.mark.parametrize("reduce", ["reduce_sum", "reduce_max", "squeeze"])
@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
@pytest.mark.parametrize("opened", [(), (0,), (0, 1, 2)], ids=str)
@pytest.mark.sampled(3)
def test_reductions_of_transposes(opened, order, reduce):
    """OpenVINO moves a Transpose behind a reduction, where it may move axes of size 1 alone: repaired ones are right."""
    shapes = [(2, 3, 1), (1, 3, 2), (0, 3, 1), (2, 0, 1), (0, 3, 2), (0, 0, 1)]
    for shape, axis, keeps in product(shapes, range(3), (False, True)):
        moved = tuple(shape[one] for one in order)
        if reduce == "squeeze" and (moved[axis] != 1 or keeps):
            continue
        data = op.parameter([-1 if one in opened else size for one, size in enumerate(shape)], np.float32)
        turned = op.transpose(op.relu(data), constant(*order))
        is_squeeze = reduce == "squeeze"
        value = op.squeeze(turned, constant(axis)) if is_squeeze else getattr(op, reduce)(turned, constant(axis), keeps)
        model = ov.Model([op.abs(value)], [data])
        right = (*moved[:axis], *((1,) if keeps else ()), *moved[axis + 1 :])
        found = _shape(model, shape)
        repaired, _ = repair_faults(model)
        assert _shape(model, shape) == right
        assert found == right or repaired


@pytest.mark.parametrize("kind", [np.float32, np.int32])
@pytest.mark.parametrize("opened", ["", "i", "ik"])
@pytest.mark.parametrize(
    "equation",
    [
        *("ij,kj->ik", "ij,jk->ik", "ji,jk->ik", "bij,bkj->bik", "ij,ij->i", "j,j->", "ij,k->ik", "ij,kj,lk->il", "ij,jk"),
        *("b...j,b...j->b...", "...j,kj->...k", "jj,j->"),
    ],
)
def test_einsum_over_nothing(equation, opened, kind):
    """OpenVINO makes a MatMul of an Einsum, which may be refused; the sum is 0, whatever the operands hold."""
    sizes = {"i": 2, "j": 0, "k": 3, "b": 4, "l": 5}
    labels = [one.replace("...", "l") for one in equation.partition("->")[0].split(",")]
    shapes = [[-1 if label in opened else sizes[label] for label in one] for one in labels]
    data = [op.parameter(shape, kind) for shape in shapes]
    model = ov.Model([op.einsum(data, equation)], data)
    repaired, left = repair_faults(model)
    assert (len(repaired), left) == (1, [])
    given = [np.full([sizes[label] for label in one], np.inf if kind is np.float32 else 7, kind) for one in labels]
    expected = np.einsum(equation, *given)
    np.testing.assert_array_equal(ov.compile_model(model, "CPU", EXACT)(given)[0], expected, strict=True)


@pytest.mark.parametrize("equation", ["ij->i", "ij,ij->ij", "ij,kj->ijk", "ij,jk->ik"])
def test_einsum_over_something(equation, agrees):
    sizes = {"i": 2, "j": 4 if equation == "ij,jk->ik" else 0, "k": 3}
    given = [np.ones([sizes[label] for label in one], np.float32) for one in equation.partition("->")[0].split(",")]
    data = [op.parameter(one.shape, np.float32) for one in given]
    agrees([op.einsum(data, equation)], data, given, [np.einsum(equation, *given)])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("order", list(permutations(range(3))), ids=str)
@pytest.mark.parametrize("reduces", [False, True])
def test_squeezes_of_static_transposes(reduces, order):
    """A Transpose is moved behind no Squeeze to a static shape, of which OpenVINO makes a Reshape before."""
    for shape, axis in product([(0, 1, 3), (3, 1, 0), (1, 0, 3), (0, 1, 1), (2, 1, 3)], range(3)):
        moved = tuple(shape[one] for one in order)
        if moved[axis] != 1:
            continue
        data = op.parameter(shape, np.float32)
        value = op.squeeze(op.transpose(data, constant(*order)), constant(axis))
        model = ov.Model([op.reduce_sum(value, constant(0), False) if reduces else op.abs(value)], [data])
        right = (*moved[:axis], *moved[axis + 1 :])[int(reduces) :]
        found = _shape(model, shape)
        repaired, _ = repair_faults(model)
        assert _shape(model, shape) == right
        assert (found == right) != bool(repaired)


def test_prove_believes_no_size_of_a_reduction_of_moved_nothing():
    """ReduceSum(Transpose(x, [2, 0, 1]), 0) may have other sizes than 1, n and m if one of them is 0."""
    x = op.parameter([-1, -1, 1], np.float32)
    total = op.reduce_sum(op.transpose(op.relu(x), constant(2, 0, 1)), constant(0), True)
    rows = op.gather(op.non_zero(op.exp(total)), op.constant(1), op.constant(0))
    assert prove(ov.Model([op.gather(x, rows, op.constant(0))], [x]))[-1].status == "unknown"


def _shape(model, shape):
    """The shape of the result for an input of a shape; None if it is refused."""
    try:
        return ov.compile_model(model, "CPU")([np.zeros(shape, np.float32)])[0].shape
    except RuntimeError:
        return None
