"""Our GatherND inside OpenVINO: types, shapes, errors, threads, round trips, ONNX."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.inside_openvino import compiled, evaluate, infer, one_layer, random_values, read, same_bits
from ov_gather.ir.element_types import F32, I64


def layer_model(data, indices, batch_dims=0, data_type=F32, index_type=I64):
    inputs = {"data": (data, data_type), "indices": (indices, index_type)}
    return one_layer("GatherND", inputs, {"batch_dims": batch_dims})


@pytest.mark.parametrize(
    ("data", "indices", "batch_dims", "reason"),
    [
        ("", "2,1", 0, "must have a rank of at least 1"),
        ("3,7", "", 0, "must have a rank of at least 1"),
        ("3,7", "3,2", -1, "batch_dims -1 is negative"),
        ("3,7", "3", 1, "batch_dims 1 must be less than the ranks of data .3,7. and indices .3."),
        ("3,7", "2,1", 1, "differ in dimension 0, which is one of 1 batch_dims"),
        ("3,7", "3,2", 1, "tuples of 2 coordinates index data .3,7. behind 1 batch_dims"),
    ],
)
def test_what_does_not_fit(core, data, indices, batch_dims, reason):
    with pytest.raises(RuntimeError, match=f"gather[^$]*{reason}"):
        read(core, layer_model(data, indices, batch_dims))


@pytest.mark.sanitized
@settings(max_examples=100, deadline=None)
@given(st.data())
def test_against_numpy(core, data):
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    batch = data.draw(st.integers(0, len(shape) - 1))
    depth = data.draw(st.integers(1, len(shape) - batch))
    tuples = shape[:batch] + data.draw(st.lists(st.integers(0, 4), max_size=2))
    rng = np.random.default_rng(0)
    sizes = np.array(shape[batch : batch + depth])
    table, where = rng.random(shape, np.float32), rng.integers(-sizes, sizes, (*tuples, depth))
    texts = [",".join(map(str, array.shape)) for array in (table, where)]
    result = evaluate(read(core, layer_model(*texts, batch)), F32, table, where)
    assert list(result.shape) == tuples + shape[batch + depth :]
    for place in np.ndindex(*shape[:batch]):
        assert np.array_equal(result[place], table[place][tuple(np.moveaxis(where[place], -1, 0))])


def test_tuples_of_no_coordinates_name_the_whole(core):
    table = random_values(F32, (3, 7))
    for indices in ("4,0", "?,0"):
        result = infer(compiled(core, read(core, layer_model("3,7", indices))), table, np.zeros((4, 0), np.int64))
        assert same_bits(result, np.broadcast_to(table, (4, 3, 7)))
