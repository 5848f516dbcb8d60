"""Our GatherScatter inside OpenVINO, against a loop over edges in NumPy: types, weights, indices, shapes, round trips."""

import numpy as np
import openvino as ov
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.inside_openvino import as_tensor, compiled, evaluate, infer, one_layer, opsets, read, same_bits
from ov_gather import validate
from ov_gather.ir.element_types import BF16, F16, F32, F64, I32, I64, by_name
from ov_gather.ir.writer import to_bytes

SHAPE, EDGES, SIZE = (7, 4, 5), 60, 6
WEIGHTS = [None, (EDGES, 1, 1), (EDGES, 4, 1), (EDGES, 4, 5)]


def layer(
    data=SHAPE, edges=(EDGES,), weights=None, data_type=F32, index_type=I64, weight_type=None, targets=None, **attributes
):
    text = [",".join(map(str, shape)) for shape in (data, edges, edges if targets is None else targets)]
    inputs = {"data": (text[0], data_type), "sources": (text[1], index_type), "targets": (text[2], index_type)}
    if weights is not None:
        inputs["weights"] = (",".join(map(str, weights)), weight_type or data_type)
    return one_layer("GatherScatter", inputs, {"size": SIZE, "bounds": "error", **attributes})


def graph(rng, edges=EDGES, nodes=SHAPE[0], rows=SIZE):
    return rng.integers(-nodes, nodes, edges), rng.integers(-rows, rows, edges)


def summed(data, sources, targets, weights=None, rows=SIZE):
    """One edge after the other, in float32; a source out of bounds is a row of zeros."""
    output = np.zeros((rows, *data.shape[1:]), np.float32)
    for edge, (source, target) in enumerate(zip(sources, targets, strict=True)):
        is_inside = -len(data) <= source < len(data)
        message = data[source].astype(np.float32) if is_inside else np.zeros(data.shape[1:], np.float32)
        output[target] += message if weights is None else message * weights[edge].astype(np.float32)
    return output.astype(data.dtype)


def normal(rng, shape, row=F32):
    return rng.standard_normal(shape, np.float32).astype(row.dtype)


@pytest.mark.sanitized
@pytest.mark.parametrize("index", [I32, I64], ids=str)
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.parametrize("row", [F32, F16, BF16], ids=str)
def test_types_and_weights(core, row, weights, index, rng):
    data, edges = normal(rng, SHAPE, row), graph(rng)
    factors = [] if weights is None else [normal(rng, weights, row)]
    model = read(core, layer(weights=weights, data_type=row, index_type=index))
    found = evaluate(
        model, row, data, *(each.astype(index.dtype) for each in edges), *(as_tensor(row, each) for each in factors)
    )
    assert same_bits(found, summed(data, *edges, *factors))


@pytest.mark.sanitized
@settings(max_examples=100, deadline=None)
@given(st.data())
def test_against_a_loop(core, data):
    shape = [data.draw(st.integers(1, 4)), *data.draw(st.lists(st.integers(0, 20), max_size=2))]
    edges, rows = data.draw(st.integers(0, 9)), data.draw(st.integers(1, 4))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    rank = data.draw(st.none() | st.integers(1, len(shape)))
    weights = [] if rank is None else [normal(rng, [edges, *shape[1:rank], *[1] * (len(shape) - rank)])]
    arrays = [normal(rng, shape), *graph(rng, edges, shape[0], rows), *weights]
    model = read(core, layer(shape, (edges,), weights[0].shape if weights else None, size=rows))
    assert same_bits(evaluate(model, F32, *arrays), summed(*arrays, rows=rows))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("is_open", [False, True])
def test_on_the_plugin_with_open_shapes(core, threads, is_open, rng):
    shapes = [(50, 64), (9000,), (9000, 1)]
    opened = [["?" for _ in shape] for shape in shapes] if is_open else shapes
    request = compiled(core, read(core, layer(*opened)), threads)
    for seed in range(2):
        rng = np.random.default_rng(seed)
        arrays = [normal(rng, shapes[0]), *graph(rng, 9000, 50), normal(rng, shapes[2])]
        assert same_bits(infer(request, *arrays), summed(*arrays))


@pytest.mark.parametrize(("port", "size", "bounds"), [("sources", 7, "error"), ("targets", 6, "error"), ("targets", 6, "zero")])
def test_an_index_out_of_bounds_raises_and_the_request_goes_on(core, port, size, bounds, rng):
    request = compiled(core, read(core, layer(bounds=bounds)))
    data, edges = normal(rng, SHAPE), graph(rng)
    for bad in (size, -size - 1, 2**31 - 1, -(2**31)):
        wrong = {"sources": edges[0].copy(), "targets": edges[1].copy()}
        wrong[port][3] = bad
        reason = rf"GatherScatter 'gather': {port}\[3\] = {bad} is out of bounds for axis 0 of size {size} \(valid -{size}\.\."
        with pytest.raises(RuntimeError, match=reason):
            infer(request, data, *wrong.values())
        assert same_bits(infer(request, data, *edges), summed(data, *edges))


@pytest.mark.sanitized
@pytest.mark.parametrize("weights", [None, (EDGES, 4, 1)], ids=str)
def test_sources_out_of_bounds_are_zeros_if_asked(core, weights, rng):
    """As the messages of Gather-8 are. An infinite weight makes them NaN."""
    data, (sources, targets) = normal(rng, SHAPE), graph(rng)
    sources[::5] = [7, -8, 2**40, -(2**40), 100] * 2 + [7, 7]
    factors = [] if weights is None else [normal(rng, weights)]
    for factor in factors:
        factor[5, 1] = np.inf
    found = evaluate(read(core, layer(weights=weights, bounds="zero")), F32, data, sources, targets, *factors)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(found, summed(data, sources, targets, *factors))
    assert np.isnan(found).any() == bool(factors)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"weights": (EDGES, 1, 1), "bounds": "zero", "size": 0},
        {"weights": (EDGES, 4, 1), "data_type": BF16, "index_type": I32},
        {"data": ("?", 4, 5), "edges": ("?",), "weights": ("?", "?", 1)},
        {"data": ("...",), "edges": ("...",), "weights": (EDGES, 4, 5)},
        {"data": (7,), "weights": (EDGES,)},
    ],
    ids=str,
)
def test_validate_infers_what_openvino_does(core, given, tmp_path):
    ov.save_model(read(core, layer(**given)), tmp_path / "model.xml", compress_to_fp16=False)
    assert validate(tmp_path / "model.xml") == []
    other = (tmp_path / "model.xml").read_text().replace('size="6"', 'size="8"').replace('size="0"', 'size="8"')
    assert [finding.rule for finding in validate(other.encode())] == ([] if "..." in given.get("data", ()) else ["OVG403"])


@pytest.mark.parametrize(
    ("given", "reason", "rule"),
    [
        ({"data": ()}, "data is a scalar", "OVG401"),
        ({"targets": (59,)}, r"sources \[60\] and targets \[59\] must be vectors of the same size", "OVG402"),
        ({"edges": (60, 1)}, "must be vectors of the same size", "OVG401"),
        ({"weights": (60,)}, r"weights \[60\] must have the shape \[60,4,5\] of the gathered rows, or 1 from some", "OVG402"),
        ({"weights": (60, 1, 5)}, r"weights \[60,1,5\] must have the shape", "OVG402"),
        ({"weights": (1, 4, 5)}, r"weights \[1,4,5\] must have the shape", "OVG402"),
        ({"weights": (60, 1, 1), "weight_type": F16}, "weights must have the type f32 of data", "OVG303"),
        ({"data_type": F64}, "data must be f32, f16 or bf16, not f64", "OVG303"),
        ({"index_type": by_name("i8")}, "indices must be i32 or i64, not i8", "OVG303"),
        ({"size": -1}, "size must be 0 or more, not -1", "OVG204"),
        ({"bounds": "clamp"}, "bounds must be 'error' or 'zero', not 'clamp'", "OVG204"),
    ],
    ids=str,
)
def test_what_is_refused(core, given, reason, rule):
    model = layer(**given)
    with pytest.raises(RuntimeError, match=f"gather[^$]*{reason}"):
        read(core, model)
    xml, binary = to_bytes(model)
    assert [finding.rule for finding in validate(xml, weights=binary)] == [rule]


def test_regions_of_tensors_are_refused(core, rng):
    model = read(core, layer(data=(7, 4), edges=(5,)))
    data, part = normal(rng, (7, 8)), graph(rng, 5)
    region, output = ov.Tensor(ov.Tensor(data), [0, 0], [7, 4]), ov.Tensor(ov.Type.f32, ov.Shape([0]))
    with pytest.raises(RuntimeError, match="GatherScatter 'gather': a part of a tensor is not aggregated: copy it"):
        model.evaluate([output], [region, *map(ov.Tensor, part)])


def test_round_trip_of_an_ir(core, tmp_path, rng):
    ov.save_model(read(core, layer(weights=(EDGES, 1, 1), bounds="zero")), tmp_path / "model.xml", compress_to_fp16=False)
    model = core.read_model(tmp_path / "model.xml")
    assert opsets(model, "GatherScatter") == ["ov_gather"]
    arrays = [normal(rng, SHAPE), *graph(rng), normal(rng, (EDGES, 1, 1))]
    assert same_bits(infer(compiled(core, model), *arrays), summed(*arrays))
