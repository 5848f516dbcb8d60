"""Hardened models compile whatever the shapes of indices and data: one constant index of any rank, and no elements at all."""

from itertools import chain, product

import numpy as np
import openvino as ov
import pytest
from openvino import opset1, opset3, opset8, opset13, opset15

import ov_gather
from helpers.hardening import EACH_POLICY, RAISED, infer_model
from helpers.worker_process import call_each

INDEX_TYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
OF_ANY_RANK = ("Gather-1", "Gather-8", "GatherND-8", "ScatterUpdate-3", "ScatterNDUpdate-15")


def one_index(kind, rank, dtype):
    """Take or write position 2 of the open second axis of [2, ?], by one constant index of a rank: a branch of `wrong`."""
    x, index, axis = np.arange(8, dtype=np.float32).reshape(2, 4), np.full([1] * rank, 2, dtype), opset13.constant(1)
    of_tuples = "ND" in kind
    if of_tuples:  # of one coordinate, along an open axis that is the first one
        x = np.ascontiguousarray(x.T)
    data, taken = (
        opset13.parameter([-1, 2] if of_tuples else [2, -1], np.float32),
        x[index[..., 0]] if of_tuples else x[:, index],
    )
    inputs, feed, updates = [data], [x], np.full(taken.shape, 50, np.float32)
    if kind == "ScatterUpdate-3":
        inputs.append(opset13.parameter([-1] * updates.ndim, np.float32))
        feed.append(updates)
        node = opset3.scatter_update(data, index, inputs[1], axis)
    elif kind == "ScatterNDUpdate-15":
        node = opset15.scatter_nd_update(data, index, opset13.constant(updates))
    elif of_tuples:
        node = opset8.gather_nd(data, index)
    else:
        node = {"Gather-1": opset1, "Gather-8": opset8}[kind].gather(data, index, axis)
    if kind.startswith("Scatter"):
        taken = np.where(x == (x[2] if of_tuples else x[:, 2:3]), np.float32(50), x)
    return node, inputs, feed, taken.tobytes()


def wrong(branches, policy, portable):
    """Infer branches, each an output, inputs, a feed and what NumPy makes, in one hardened model; return those that differ."""
    nodes, inputs, feeds, expected = zip(*branches.values(), strict=True)
    model = ov.Model(list(nodes), [*chain(*inputs)], "model")
    ov_gather.harden(model, policy=policy, portable=portable)
    found = infer_model(model, [*chain(*feeds)])
    assert found != RAISED
    return [name for name, one, other in zip(branches, found, expected, strict=True) if one != other]


@pytest.mark.sampled(1)
@EACH_POLICY
@pytest.mark.parametrize("kind", OF_ANY_RANK)
def test_one_constant_index_keeps_its_rank(kind, policy, portable):
    """The CPU plugin refuses ScatterUpdate of a scalar."""
    types = ("int32", "int64") if kind == "ScatterNDUpdate-15" else INDEX_TYPES
    ranks = range(int("ND" in kind or kind == "ScatterUpdate-3"), 5)
    branches = {(rank, dtype): one_index(kind, rank, dtype) for rank, dtype in product(ranks, types)}
    assert wrong(branches, policy, portable) == []


@pytest.mark.sampled(2)
@EACH_POLICY
def test_one_constant_index_of_elements_keeps_its_rank(policy, portable):
    branches = {}
    for rank, is_written, dtype in product(range(1, 5), (False, True), ("int32", "int64")):
        data = np.arange(3, dtype=np.float32).reshape([3] + [1] * (rank - 1))
        x, index = opset13.parameter([-1] + [1] * (rank - 1), np.float32), np.full([1] * rank, 2, dtype)
        update = np.full([1] * rank, 50, np.float32)
        node = opset13.scatter_elements_update(x, index, update, 0) if is_written else opset13.gather_elements(x, index, 0)
        expected = np.where(data == 2, np.float32(50), data) if is_written else data[2:]
        branches[rank, is_written, dtype] = (node, [x], [data], expected.tobytes())
    assert wrong(branches, policy, portable) == []


EMPTY = [((0, 4), (3,), 1), ((4, 0), (0,), 1), ((4, 5), (0,), 0), ((4, 5), (2, 0), 1), ((2, 0, 3), (2, 2), 2), ((0,), (0,), 0)]
AXIS_EMPTY = [((0,), (), 0), ((4, 0), (3,), 1), ((0, 4), (), 0), ((0, 0), (3,), 1)]


def gather_empty(run):
    """Infer a hardened Gather of static shapes without elements, which is alone or one of two of the same indices."""
    (shape, index_shape, axis), dtype, policy, portable, is_constant, index, count = run
    data = np.zeros(shape, np.float32)
    table = opset13.constant(data) if is_constant else opset13.parameter(shape, np.float32)
    indices = opset13.parameter(index_shape, np.dtype(dtype))
    taken = [opset8.gather(table, indices, opset13.constant(axis)) for _ in range(count)]
    model = ov.Model(taken, [indices] if is_constant else [table, indices], "model")
    shapes = [output.get_partial_shape() for output in model.outputs]
    ov_gather.harden(model, policy=policy, portable=portable)
    assert [output.get_partial_shape() for output in model.outputs] == shapes
    feed = [np.full(index_shape, index, dtype)]
    return infer_model(model, feed if is_constant else [data, *feed])


@pytest.mark.sampled(1)
@EACH_POLICY
def test_empty_gathers_compile(policy, portable):
    """OpenVINO dies of them (dies-of-empty-gathers)."""
    rows = [(case, index) for case in EMPTY for index in (0, 9)] + [(case, 0) for case in AXIS_EMPTY]
    kinds = ((0, "uint8", 1), (1, "int32", 2))
    runs = [(case, dtype, policy, portable, flag, index, count) for case, index in rows for flag, dtype, count in kinds]
    for run, result in zip(runs, call_each(gather_empty, runs, lambda code: f"died of {code}"), strict=True):
        case, index, count = run[0], run[5], run[6]
        is_refused = case in AXIS_EMPTY or (policy == "raise" and index and np.prod(case[1]))
        assert result == (RAISED if is_refused else [b""] * count), run
