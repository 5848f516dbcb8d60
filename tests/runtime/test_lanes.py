"""Values of 64 bits that a model only moves come out of `compile_onnx` as they went in, bit by bit."""

from itertools import product

import numpy as np
import pytest

from helpers.lane_models import exactly, values
from helpers.saved_models import parsed
from ov_gather.converters import LossyConversionWarning, compile_onnx
from tools.measurements import gathers

TYPES = ("int64", "uint64", "float64", "complex64", "complex128", "float16")


def assert_same(found, expected):
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert found.tobytes() == expected.tobytes()


def test_the_matrix_has_nothing_inexact():
    """A cell of each operator and type is exact; the whole matrix is a command."""
    cells = [next(gathers.cells(op, dtype)) for op, dtype in product(gathers.KINDS, TYPES)]
    assert [gathers.outcome(cell)[0] for cell in cells] == ["exact"] * len(cells)


def test_an_input_that_is_moved_and_computed_with():
    """The moved numbers are exact; those that are computed with must fit in 32 bits, and the loss is named."""
    proto = parsed("(int64[3] x, int64[2] i) => (int64[2] y, int64[3] z) { y = Gather (x, i) z = Mul (x, x) }")
    with pytest.warns(LossyConversionWarning, match="i64 is computed as i32.*: input 'x'"):
        compiled = compile_onnx(proto)
    found = compiled({"x": np.array([3, -4, 5]), "i": np.array([-1, 0])})
    assert (found["y"].tolist(), found["z"].tolist()) == ([5, 3], [9, 16, 25])
    with pytest.raises(ValueError, match=r"x\[1\] = 4294967296 does not fit in int32"):
        compiled({"x": np.array([3, 2**32, 5]), "i": np.array([-1, 0])})


def test_an_input_that_is_data_and_indices():
    compiled = exactly(parsed("(int64[n] x) => (int64[] y) { y = Gather (x, x) }"))
    assert compiled({"x": np.array([2, 0, -1])})["y"].tolist() == [-1, 2, -1]
    with pytest.raises(IndexError, match=r"x\[1\] = 4294967296 does not fit in int32"):
        compiled({"x": np.array([2, 2**32, 0])})


def test_a_constant_that_is_moved_and_computed_with():
    table = np.array([2**40, -1, 3, -(2**63)])
    text = "(int64[n] i) => (int64[] y, int64[] z) { y = Gather (table, i) z = Shape (table) }"
    found = exactly(parsed(text, table=table))({"i": np.array([0, -1])})
    assert (found["y"].tolist(), found["z"].tolist()) == ([2**40, -(2**63)], [4])


@pytest.mark.parametrize("op_type", ["Shape", "Size"])
def test_shapes_of_what_has_no_numbers(op_type):
    text = f"(complex64[n, m] x, int64[k] i) => (int64[] y) {{ v = Gather <axis = -1> (x, i) y = {op_type} (v) }}"
    found = exactly(parsed(text))({"x": values("complex64", (2, 3)), "i": np.array([0, 1, -1, 2])})["y"]
    assert found.tolist() == ([2, 4] if op_type == "Shape" else 8)


def test_the_byte_order_of_arrays_does_not_matter():
    text = "(double[3] x, float[3] f, int64[2] i) => (double[2] y, float[2] z) { y = Gather (x, i) z = Gather (f, i) }"
    compiled = exactly(parsed(text))
    x, i = np.array([1 / 3, np.pi, -0.0]), np.array([1, -1])
    found = compiled({"x": x.astype(">f8"), "f": x.astype(">f4"), "i": i.astype(">i8")})
    assert_same(found["y"], x[i])
    assert_same(found["z"], x[i].astype(np.float32))


@pytest.mark.parametrize(
    ("x", "error", "text"),
    [
        (np.array([1, 2], object), TypeError, "input 'x' must be int64, not object"),
        (np.array([1, 2], np.int32), TypeError, "input 'x' must be int64, not int32"),
        (np.array([1.0, 2]), TypeError, "input 'x' must be int64, not float64"),
        (np.array([[1, 2], [3, 4]]), ValueError, r"input 'x' must have shape \[2\], not \[2,2\]"),
        (np.array([1]), ValueError, r"input 'x' must have shape \[2\], not \[1\]"),
    ],
)
def test_wrong_inputs(x, error, text):
    compiled = exactly(parsed("(int64[2] x, int64[1] i) => (int64[] y) { y = Gather (x, i) }"))
    with pytest.raises(error, match=text.replace(",2", ", 2")):
        compiled({"x": x, "i": np.array([0])})


def test_strings_beside_lanes():
    text = """(string[n] words, uint64[n] keys, int64[3] i) => (string[] words_out, uint64[] keys_out) {
        words_out = Gather (words, i) keys_out = Gather (keys, i) }"""
    found = exactly(parsed(text))(
        {"words": np.array(["a", "bb"], object), "keys": np.array([2**64 - 1, 7], np.uint64), "i": np.array([1, 0, -1])}
    )
    assert found["words_out"].tolist() == ["bb", "a", "bb"]
    assert found["keys_out"].tolist() == [7, 2**64 - 1, 7]


def test_views_are_taken_as_they_are():
    """Strided arrays, as parts and transposes, are inputs like any other."""
    compiled = exactly(parsed("(double[n, m] x, int64[k] i) => (double[] y) { y = Gather <axis = 1> (x, i) }"))
    x = values("float64", (6, 8))
    for view in (x[::2, 1:6], x.T, np.broadcast_to(x[0], (3, 8)), x[:0]):
        assert_same(compiled({"x": view, "i": np.array([4, -1])})["y"], view[:, [4, -1]])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("dtype", TYPES)
def test_scalars_and_what_is_empty(dtype):
    """A scalar has lanes, and what has no elements keeps its shape."""
    kind = dtype.replace("float64", "double")
    text = f"({kind}[n] x, int64[] i, {kind} s) => ({kind}[] y, {kind} z) {{ y = Gather (x, i) z = Identity (s) }}"
    compiled = exactly(parsed(text))
    x, s = values(dtype, 3), values(dtype, ())
    for i in (np.array(-1), np.zeros(0, np.int64), np.zeros((2, 0), np.int64)):
        found = compiled({"x": x, "i": i, "s": s})
        assert_same(found["y"], x[i])
        assert_same(found["z"], s)
    empty = compiled({"x": x[:0], "i": np.zeros((0, 3), np.int64), "s": s})["y"]
    assert_same(empty, np.zeros((0, 3), dtype))


def test_an_index_that_fits_only_after_wrapping():
    """The CPU plugin would take 2**32 for 0. Where the same input is moved in lanes, it is no reason for an error."""
    compiled = exactly(parsed("(double[3] x, int64[k] i) => (double[] y, int64[] z) { y = Gather (x, i) z = Identity (i) }"))
    x = values("float64", 3)
    found = compiled({"x": x, "i": np.array([-3, 2])})
    assert_same(found["y"], x[[0, 2]])
    assert found["z"].tolist() == [-3, 2]
    for index in (2**32, -(2**32) - 1, 2**63 - 1):
        with pytest.raises(IndexError, match=rf"i\[1\] = {index} does not fit in int32"):
            compiled({"x": x, "i": np.array([0, index])})


def check(proto, given, **expected):
    found = exactly(proto)(given)
    assert found.keys() == expected.keys()
    for name, right in expected.items():
        assert_same(found[name], right)


def test_values_of_hashed_keys(rng):
    """A table of 64-bit values, stored in the model, is looked up by the bucket of each key."""
    table, buckets = values("int64", (64, 3)), rng.integers(0, 64, 10)
    proto = parsed("(int64[n] bucket) => (int64[] value) { value = Gather(table, bucket) }", table=table)
    check(proto, {"bucket": buckets}, value=table[buckets])


def test_ids_of_the_nearest(rng):
    """Search: a product scores all items, TopK takes the best, and their 64-bit ids come out."""
    ids, items, query = values("uint64", 50), rng.random((50, 8), np.float32), rng.random((2, 8), np.float32)
    text = """(float[n, 8] query, uint64[50] ids) => (uint64[] found) {
        scores = MatMul(query, items) best, positions = TopK<axis = -1>(scores, k) found = Gather(ids, positions) }"""
    right = ids[np.argsort(-(query @ items.T), axis=1, kind="stable")[:, :5]]
    check(parsed(text, items=items.T.copy(), k=[5]), {"query": query, "ids": ids}, found=right)


def test_windows_of_a_series(rng):
    """Windows of a time series of float64 are cut, and put into the layout of a batch."""
    series, starts = rng.standard_normal((2, 100)), np.array([0, 40, 93], np.int32)
    text = """(double[c, t] series, int32[w] starts) => (double[] flat) {
        column = Unsqueeze(starts, one) places = Add(column, steps) windows = Gather<axis = 1>(series, places)
        batch = Transpose<perm = [1, 0, 2]>(windows) flat = Reshape(batch, sizes) }"""
    right = series[:, starts[:, None] + np.arange(7)].transpose(1, 0, 2).reshape(-1, 14)
    proto = parsed(text, one=[1], steps=np.arange(7, dtype=np.int32), sizes=[-1, 14])
    check(proto, {"series": series, "starts": starts}, flat=right)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_spectra_at_their_peaks(dtype, rng):
    """The power of a spectrum, computed by who records it, has a peak; the complex amplitude there comes out."""
    spectra, power = values(dtype, (4, 33)), rng.random((4, 33), np.float32)
    text = f"""({dtype}[n, 33] spectra, float[n, 33] power) => ({dtype}[] amplitude) {{
        peak = ArgMax<axis = 1, keepdims = 1>(power) amplitude = GatherElements<axis = 1>(spectra, peak) }}"""
    right = np.take_along_axis(spectra, power.argmax(1)[:, None], 1)
    check(parsed(text), {"spectra": spectra, "power": power}, amplitude=right)


def test_time_stamps_of_events(rng):
    """Events are those that pass a threshold; their time stamps in nanoseconds are compressed out of the record."""
    signal, stamps = rng.random(40, np.float32), np.arange(40) * 10**9 + 1_700_000_000 * 10**9
    text = """(float[t] signal, int64[t] stamps) => (int64[] events) {
        is_event = Greater(signal, limit) events = Compress<axis = 0>(stamps, is_event) }"""
    proto = parsed(text, limit=np.float32(0.7))
    check(proto, {"signal": signal, "stamps": stamps}, events=stamps[signal > np.float32(0.7)])


def test_a_join_by_scatter():
    """Rows of one table are written into another where keys match; who calls knows the places."""
    left, right, places = values("int64", (6, 2)), values("int64", (3, 2), 1), np.array([[4], [0], [5]])
    text = """(int64[n, 2] left, int64[m, 2] right, int64[m, 1] places, int64[k] order) => (int64[] joined, int64[] sorted) {
        joined = ScatterND(left, places, right) sorted = Gather(joined, order) }"""
    joined, order = left.copy(), np.array([5, 4, -6])
    joined[places[:, 0]] = right
    given = {"left": left, "right": right, "places": places, "order": order}
    check(parsed(text), given, joined=joined, sorted=joined[order])


def test_keys_or_a_default():
    """Where a key is not known, the answer is a default beyond 32 bits."""
    table, places = values("int64", 20), np.array([3, -1, 0, 19], np.int32)
    text = """(int64[20] table, int32[n] places) => (int64[] answer) {
        unknown = Less(places, zero) place = Max(places, zero) found = Gather(table, place)
        answer = Where(unknown, default, found) }"""
    right = np.where(places < 0, -(2**63), table[np.maximum(places, 0)])
    check(parsed(text, zero=np.int32(0), default=-(2**63)), {"table": table, "places": places}, answer=right)


def test_rows_of_a_sorted_table(rng):
    """A table of doubles is sorted by a float32 column: every column is gathered in that order."""
    score, table = rng.permutation(30).astype(np.float32), rng.standard_normal((30, 4))
    text = """(float[30] score, double[30, 4] table) => (double[] rows) {
        sorted, order = TopK<axis = 0, largest = 0>(score, count) column = Unsqueeze(order, one)
        places = Expand(column, sizes) rows = GatherElements<axis = 0>(table, places) }"""
    proto = parsed(text, count=[30], one=[1], sizes=[30, 4])
    check(proto, {"score": score, "table": table}, rows=table[score.argsort(kind="stable")])


def test_edges_of_a_graph(rng):
    """The 64-bit node ids of a graph are taken by its edges, and put side by side."""
    ids, edges = values("uint64", 12), rng.integers(0, 12, (2, 9))
    text = """(uint64[n] ids, int64[2, e] edges) => (uint64[] listed) {
        from, to = Split<axis = 0, num_outputs = 2>(edges) from_ids = Gather(ids, from) to_ids = Gather(ids, to)
        pairs = Concat<axis = 0>(from_ids, to_ids) listed = Transpose<perm = [1, 0]>(pairs) }"""
    check(parsed(text), {"ids": ids, "edges": edges}, listed=ids[edges].T)


def test_the_best_of_beams():
    """Beam search keeps the histories of the best beams, whose ids have 64 bits, and appends the next ones."""
    histories, beams, new = values("int64", (2, 3, 5)), np.array([[2, 2, 0], [1, 0, 1]]), values("int64", (2, 3, 1), 1)
    text = """(int64[b, 3, t] histories, int64[b, 3] beams, int64[b, 3, 1] new) => (int64[] longer, int64[] last) {
        tuples = Unsqueeze(beams, two) kept = GatherND<batch_dims = 1>(histories, tuples)
        longer = Concat<axis = -1>(kept, new) last = Slice(longer, from, to, axes) }"""
    proto = parsed(text, **{"two": [2], "from": [-4], "to": [2**31 - 1], "axes": [-1]})
    longer = np.concatenate([np.take_along_axis(histories, beams[..., None], 1), new], -1)
    check(proto, {"histories": histories, "beams": beams, "new": new}, longer=longer, last=longer[..., -4:])
