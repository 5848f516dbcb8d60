"""Patterns of real models that move numbers of 64 bits, from end to end, bit by bit beside NumPy."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from helpers.lane_models import exactly, model, values


def node(op_type, inputs, output, **attributes):
    return helper.make_node(op_type, inputs.split(), output.split(), **attributes)


def check(proto, given, **expected):
    found = exactly(proto)(given)
    assert found.keys() == expected.keys()
    for name, right in expected.items():
        right = np.ascontiguousarray(right)
        assert (found[name].dtype, found[name].shape) == (right.dtype, right.shape)
        assert found[name].tobytes() == right.tobytes()


def test_values_of_hashed_keys(rng):
    """A table of 64-bit values, stored in the model, is looked up by the bucket of each key."""
    table, buckets = values("int64", (64, 3)), rng.integers(0, 64, 10)
    proto = model(
        [node("Gather", "table bucket", "value")], {"bucket": ("int64", ["n"])}, {"value": ("int64", None)}, {"table": table}
    )
    check(proto, {"bucket": buckets}, value=table[buckets])


def test_ids_of_the_nearest(rng):
    """Search: a product scores all items, TopK takes the best, and their 64-bit ids come out."""
    ids, items, query = values("uint64", 50), rng.random((50, 8), np.float32), rng.random((2, 8), np.float32)
    nodes = [
        node("MatMul", "query items", "scores"),
        node("TopK", "scores k", "best positions", axis=-1),
        node("Gather", "ids positions", "found"),
    ]
    proto = model(
        nodes,
        {"query": (TensorProto.FLOAT, ["n", 8]), "ids": ("uint64", [50])},
        {"found": ("uint64", None)},
        {"items": items.T.copy(), "k": np.array([5])},
    )
    right = ids[np.argsort(-(query @ items.T), axis=1, kind="stable")[:, :5]]
    check(proto, {"query": query, "ids": ids}, found=right)


def test_windows_of_a_series(rng):
    """Windows of a time series of float64 are cut, and put into the layout of a batch."""
    series, starts = rng.standard_normal((2, 100)), np.array([0, 40, 93], np.int32)
    nodes = [
        node("Unsqueeze", "starts one", "column"),
        node("Add", "column steps", "places"),
        node("Gather", "series places", "windows", axis=1),
        node("Transpose", "windows", "batch", perm=[1, 0, 2]),
        node("Reshape", "batch sizes", "flat"),
    ]
    constants = {"one": np.array([1]), "steps": np.arange(7, dtype=np.int32), "sizes": np.array([-1, 14])}
    proto = model(
        nodes, {"series": ("float64", ["c", "t"]), "starts": ("int32", ["w"])}, {"flat": ("float64", None)}, constants
    )
    right = series[:, starts[:, None] + np.arange(7)].transpose(1, 0, 2).reshape(-1, 14)
    check(proto, {"series": series, "starts": starts}, flat=right)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_spectra_at_their_peaks(dtype, rng):
    """The power of a spectrum, computed by who records it, has a peak; the complex amplitude there comes out."""
    spectra, power = values(dtype, (4, 33)), rng.random((4, 33), np.float32)
    nodes = [node("ArgMax", "power", "peak", axis=1, keepdims=1), node("GatherElements", "spectra peak", "amplitude", axis=1)]
    proto = model(nodes, {"spectra": (dtype, ["n", 33]), "power": (TensorProto.FLOAT, ["n", 33])}, {"amplitude": (dtype, None)})
    peak = power.argmax(1)[:, None]
    check(proto, {"spectra": spectra, "power": power}, amplitude=np.take_along_axis(spectra, peak, 1))


def test_time_stamps_of_events(rng):
    """Events are those that pass a threshold; their time stamps in nanoseconds are compressed out of the record."""
    signal, stamps = rng.random(40, np.float32), np.arange(40) * 10**9 + 1_700_000_000 * 10**9
    nodes = [node("Greater", "signal limit", "is_event"), node("Compress", "stamps is_event", "events", axis=0)]
    proto = model(
        nodes,
        {"signal": (TensorProto.FLOAT, ["t"]), "stamps": ("int64", ["t"])},
        {"events": ("int64", None)},
        {"limit": np.array(0.7, np.float32)},
    )
    check(proto, {"signal": signal, "stamps": stamps}, events=stamps[signal > np.float32(0.7)])


def test_a_join_by_scatter():
    """Rows of one table are written into another where keys match; who calls knows the places."""
    left, right, places = values("int64", (6, 2)), values("int64", (3, 2), 1), np.array([[4], [0], [5]])
    nodes = [node("ScatterND", "left places right", "joined"), node("Gather", "joined order", "sorted")]
    inputs = {
        "left": ("int64", ["n", 2]),
        "right": ("int64", ["m", 2]),
        "places": ("int64", ["m", 1]),
        "order": ("int64", ["k"]),
    }
    joined = left.copy()
    joined[places[:, 0]] = right
    order = np.array([5, 4, -6])
    proto = model(nodes, inputs, {"joined": ("int64", None), "sorted": ("int64", None)})
    given = {"left": left, "right": right, "places": places, "order": order}
    check(proto, given, joined=joined, sorted=joined[order])


def test_keys_or_a_default():
    """Where a key is not known, the answer is a default beyond 32 bits."""
    table, places = values("int64", 20), np.array([3, -1, 0, 19], np.int32)
    nodes = [
        node("Less", "places zero", "unknown"),
        node("Max", "places zero", "place"),
        node("Gather", "table place", "found"),
        node("Where", "unknown default found", "answer"),
    ]
    proto = model(
        nodes,
        {"table": ("int64", [20]), "places": ("int32", ["n"])},
        {"answer": ("int64", None)},
        {"zero": np.array(0, np.int32), "default": np.array(-(2**63))},
    )
    check(proto, {"table": table, "places": places}, answer=np.where(places < 0, -(2**63), table[np.maximum(places, 0)]))


def test_rows_of_a_sorted_table(rng):
    """A table of doubles is sorted by a float32 column: every column is gathered in that order."""
    score, table = rng.permutation(30).astype(np.float32), rng.standard_normal((30, 4))
    nodes = [
        node("TopK", "score count", "sorted order", axis=0, largest=0),
        node("Unsqueeze", "order one", "column"),
        node("Expand", "column sizes", "places"),
        node("GatherElements", "table places", "rows", axis=0),
    ]
    constants = {"count": np.array([30]), "one": np.array([1]), "sizes": np.array([30, 4])}
    proto = model(
        nodes, {"score": (TensorProto.FLOAT, [30]), "table": ("float64", [30, 4])}, {"rows": ("float64", None)}, constants
    )
    check(proto, {"score": score, "table": table}, rows=table[score.argsort(kind="stable")])


def test_edges_of_a_graph(rng):
    """The 64-bit node ids of a graph are taken by its edges, and put side by side."""
    ids, edges = values("uint64", 12), rng.integers(0, 12, (2, 9))
    nodes = [
        node("Split", "edges", "from to", axis=0, num_outputs=2),
        node("Gather", "ids from", "from_ids"),
        node("Gather", "ids to", "to_ids"),
        node("Concat", "from_ids to_ids", "pairs", axis=0),
        node("Transpose", "pairs", "listed", perm=[1, 0]),
    ]
    proto = model(nodes, {"ids": ("uint64", ["n"]), "edges": ("int64", [2, "e"])}, {"listed": ("uint64", None)})
    check(proto, {"ids": ids, "edges": edges}, listed=ids[edges].T)


def test_the_best_of_beams():
    """Beam search keeps the histories of the best beams, whose ids have 64 bits, and appends the next ones."""
    histories, beams, new = values("int64", (2, 3, 5)), np.array([[2, 2, 0], [1, 0, 1]]), values("int64", (2, 3, 1), 1)
    nodes = [
        node("Unsqueeze", "beams two", "tuples"),
        node("GatherND", "histories tuples", "kept", batch_dims=1),
        node("Concat", "kept new", "longer", axis=-1),
        node("Slice", "longer from to axes", "last"),
    ]
    constants = {"two": np.array([2]), "from": np.array([-4]), "to": np.array([2**31 - 1]), "axes": np.array([-1])}
    inputs = {"histories": ("int64", ["b", 3, "t"]), "beams": ("int64", ["b", 3]), "new": ("int64", ["b", 3, 1])}
    proto = model(nodes, inputs, {"longer": ("int64", None), "last": ("int64", None)}, constants)
    longer = np.concatenate([np.take_along_axis(histories, beams[..., None], 1), new], -1)
    check(proto, {"histories": histories, "beams": beams, "new": new}, longer=longer, last=longer[..., -4:])
