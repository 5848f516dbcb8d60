"""Hardened models compute the same for indices in bounds, and do what their policy says for all others."""

from itertools import product

import numpy as np
import openvino as ov
import pytest
from openvino import opset3, opset8, opset13

import ov_gather
from helpers.branching import if_of
from helpers.hardening import CRASHED, RAISED, ROWS, Run, crashed, expected, infer, infer_model
from helpers.hardening_models import NODES, attend, graph_inputs, graph_network, reduce_segments
from helpers.pairwise import pairwise
from helpers.worker_process import call_each
from ov_gather.acceleration.graph import operation, ours, walk

KINDS = (
    "Gather-8",
    "Gather-1",
    "GatherElements-6",
    "GatherND-8",
    "ScatterUpdate-3",
    "ScatterNDUpdate-3",
    "ScatterElementsUpdate-3",
    "ScatterElementsUpdate-12",
)
OUT_OF_BOUNDS = (ROWS, -ROWS - 1, 2**31 - 1, -(2**31))


def differing(runs):
    got = call_each(infer, runs, crashed)
    return [(run, result) for run, result in zip(runs, got, strict=True) if result != expected(run)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("policy", "portable"), [("raise", False), ("raise", True), ("clamp", True), ("zero", True)])
def test_every_index(kind, policy, portable):
    """Indices in bounds, legal negative ones among them, give what they gave; all others what the policy says."""
    runs = [
        Run(kind, policy, index, is_open, portable)
        for index, is_open in product((ROWS - 1, -ROWS, *OUT_OF_BOUNDS), (False, True))
        if not (kind == "GatherND-8" and is_open)  # the rank of its output is known, and the plugin demands that
    ]
    runs += [Run(kind, policy, 7, True, portable, threads=1)] if kind != "GatherND-8" else []
    assert differing(runs) == []


@pytest.mark.slow
def test_empty_axis():
    """An empty axis has no nearest index: every policy raises."""
    kinds = [kind for kind in KINDS if kind != "GatherND-8"]
    runs = [Run(kind, policy, 0, True, rows=0) for kind in kinds for policy in ("raise", "clamp", "zero")]
    assert differing(runs) == []


INDEX_TYPES = ("int8", "uint8", "int16", "uint16", "uint32", "int64", "uint64")
ANY_INDICES = ("Gather-8", "Gather-1", "GatherND-8", "ScatterUpdate-3", "ScatterElementsUpdate-12")
BEYOND = {"uint32": (2**31, 2**32 - 1), "int64": (2**32 + ROWS, -(2**63)), "uint64": (2**63, 2**64 - 1)}


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "portable"), [("raise", False), ("raise", True), ("clamp", True), ("zero", True)])
def test_every_type_of_indices(policy, portable):
    """The IRs of detection networks have indices of u64. Of numbers beyond 32 bits the plugin itself takes the lower bits."""
    runs = []
    for kind, dtype in product(ANY_INDICES, INDEX_TYPES):
        limits, is_open = np.iinfo(dtype), kind != "GatherND-8"
        indices = {ROWS - 1, ROWS, -1 if limits.min else 0, min(int(limits.max), 2**31 - 1), max(int(limits.min), -(2**31))}
        indices |= {*BEYOND.get(dtype, ())}
        runs += [Run(kind, policy, index, is_open, portable, dtype=dtype) for index in sorted(indices)]
        if not kind.startswith("Scatter"):
            highest = (ROWS - 1, int(limits.max))
            runs += [Run(kind, policy, index, False, portable, dtype=dtype, is_constant=True) for index in highest]
    assert differing(runs) == []


def scatter_shortly(run):
    """A row of integers into which a hardened ScatterUpdate writes; for a few of them the plugin does not check indices."""
    policy, portable, dtype, size, is_open, index = run
    given = [np.arange(10, 10 + size).astype(dtype), np.array([1, index], np.int32), np.array([7, 8]).astype(dtype)]
    inputs = [opset13.parameter([-1] if is_open else array.shape, array.dtype) for array in given]
    model = ov.Model([opset3.scatter_update(*inputs, opset13.constant(0))], inputs, "model")
    ov_gather.harden(model, policy=policy, portable=portable)
    return infer_model(model, given)


def test_a_short_scatter_is_checked():
    cells = product(("raise", "clamp"), (False, True), ("i4",), (5,), (False, True), (4, 5, -1, -(2**31)))
    others = [("raise", False, *row) for row in (("u2", 5, False, 5), ("i4", 65, False, 65), ("u1", 5, False, -1))]
    runs = [*cells, *others]
    for run, result in zip(runs, call_each(scatter_shortly, runs, crashed), strict=True):
        policy, _, dtype, size, _, index = run
        expected_row = np.arange(10, 10 + size).astype(dtype)
        expected_row[[1, min(max(index, 0), size - 1)]] = [7, 8]
        is_refused = policy == "raise" and not 0 <= index < size
        assert result == (RAISED if is_refused else [expected_row.tobytes()]), run


def parameter(name, shape, dtype=np.int32):
    return opset13.parameter(shape, dtype, name=name)


def hardened(model, policy, **options):
    summary = ov_gather.harden(model, policy=policy, **options)
    return model, {site.layer: site for site in summary.sites}, summary


def lookup(shape=(4,), size=10):
    """A table that is looked up by an input as it is."""
    ids = parameter("ids", shape)
    table = opset13.constant(np.arange(2 * size, dtype=np.float32).reshape(size, 2))
    gather = opset8.gather(table, ids, opset13.constant(0))
    gather.set_friendly_name("rows")
    return ov.Model([gather], [ids], "model")


def test_what_is_proved_stays():
    ids = parameter("ids", [4])
    inside = opset13.clamp(ids, 0, 9)
    table = opset13.constant(np.ones((10, 2), np.float32))
    model = ov.Model([opset8.gather(table, inside, opset13.constant(0))], [ids], "model")
    before = [node.get_friendly_name() for node in model.get_ordered_ops()]
    _, sites, summary = hardened(model, "clamp")
    assert [node.get_friendly_name() for node in model.get_ordered_ops()] == before
    assert [site.status for site in sites.values()] == ["proved"]
    assert (summary.guards, summary.changed) == (0, ())


@pytest.mark.parametrize(("assume", "guards"), [({"ids": (-10, 9)}, 0), ({"ids": (-10, 10)}, 1), ({}, 1)])
def test_what_is_assumed_counts(assume, guards):
    assert hardened(lookup(), "zero", assume=assume)[2].guards == guards


def test_the_summary_names_each_site_and_why():
    _, sites, summary = hardened(lookup(), "clamp")
    assert sites["rows"].operation == "Gather-8"
    assert sites["rows"].status == "conditional"
    assert "ids in -10..9" in sites["rows"].reason
    assert sites["rows"].done == "indices are clamped at the input ids"
    assert "at the input ids" in str(summary)


def test_ours_raises_and_tells_which_index():
    model, sites, _ = hardened(lookup(), "raise")
    assert sites["rows"].done == "raises: ov_gather.Gather"
    compiled = ov_gather.register(ov.Core()).compile_model(model, "CPU")
    request = compiled.create_infer_request()
    request.start_async([np.array([0, 1, 10, 3], np.int32)])
    with pytest.raises(RuntimeError, match=r"indices\[2\] = 10 is out of bounds for axis 0 of size 10"):
        request.wait()


@pytest.mark.parametrize("policy", ["raise", "clamp", "zero"])
def test_portable_models_need_no_extension(policy, tmp_path):
    model, _, _ = hardened(lookup(), policy, portable=True)
    assert not [node for _, node in walk(model) if operation(node).startswith("ov_gather")]
    ov.save_model(model, tmp_path / "m.xml")
    assert ov.Core().read_model(tmp_path / "m.xml")


@pytest.mark.parametrize("is_open", [False, True])
def test_one_clamp_serves_all_sites_of_an_input(is_open):
    """Both rows of edges are indices of the same axis: edges are clamped once, for two gathers and a scatter."""
    model = graph_network(is_open)
    before = infer_model(model, graph_inputs(3))
    _, sites, summary = hardened(model, "clamp")
    assert summary.guards == 1
    assert {site.done for site in sites.values() if site.done} == {"indices are clamped at the input edges, one for 3 sites"}
    assert before == infer_model(model, graph_inputs(3)) != RAISED


def test_zeros_share_a_guard_and_say_what_they_do():
    model = graph_network(False)
    before = infer_model(model, graph_inputs(3))
    _, sites, summary = hardened(model, "zero")
    assert summary.guards == 1
    assert {site.done for site in sites.values() if site.done} == {
        "elements out of bounds are 0 at the input edges, one for 3 sites",
        "updates out of bounds are dropped at the input edges, one for 3 sites",
    }
    assert before == infer_model(model, graph_inputs(3)) != RAISED


def test_an_input_that_is_also_a_number_is_not_clamped():
    """The clamp is for the indices alone: what else reads the input reads what it was given."""
    ids = parameter("ids", [3])
    table = opset13.constant(np.arange(10, dtype=np.float32))
    gather = opset8.gather(table, ids, opset13.constant(0))
    model = ov.Model([gather, opset13.multiply(ids, opset13.constant(np.int32(2)))], [ids], "model")
    hardened(model, "clamp")
    given = np.array([3, -77, 500], np.int32)
    assert infer_model(model, [given]) == [np.array([3, 0, 9], np.float32).tobytes(), (given * 2).tobytes()]


def test_indices_that_would_mean_others_share_no_guard():
    """-1 is the last of each axis, and the axes are not of one size."""
    ids = parameter("ids", [2])
    tables = [opset13.constant(np.arange(size, dtype=np.float32)) for size in (4, 9)]
    model = ov.Model([opset8.gather(table, ids, opset13.constant(0)) for table in tables], [ids], "model")
    for policy in ("raise", "clamp", "zero"):
        changed = model.clone()
        hardened(changed, policy)
        assert infer_model(changed, [np.array([-1, 2], np.int32)]) == [
            np.array(row, np.float32).tobytes() for row in ([3, 2], [8, 2])
        ]


@pytest.mark.parametrize(("policy", "out"), [("raise", RAISED), ("clamp", 9.0), ("zero", 0.0)])
def test_sites_in_bodies(policy, out):
    """The branch of an If, in the body of a Loop, gathers by an index that comes from outside."""
    model = branch_in_loop()
    good, bad = ([np.array([True]), np.array([index], np.int32)] for index in (-1, 33))
    before = infer_model(model, good)
    _, sites, _ = hardened(model, policy)
    (name,) = [name for name, site in sites.items() if site.done]
    assert name.count("/") == 2
    assert infer_model(model, good) == before == [np.full(3, 9, np.float32).tobytes()]
    assert infer_model(model, bad) == (out if out == RAISED else [np.full(3, out, np.float32).tobytes()])


def branch_in_loop():
    table = opset13.constant(np.arange(10, dtype=np.float32))
    condition, inner = opset13.parameter([1], bool, name="condition"), parameter("inner", [1])
    branches = (
        lambda index: [opset8.gather(table, index, opset13.constant(0))],
        lambda other: [opset13.convert(other, "f32")],
    )
    (result,) = if_of(condition, [inner], *branches, name="branch")
    again = opset13.constant(np.array([True]))
    body = ov.Model([result, again.output(0)], [condition, inner], "body")
    loop = opset13.loop(opset13.constant(np.int32(3)), opset13.constant(True))
    loop.set_friendly_name("loop")
    is_taken, ids = opset13.parameter([1], bool, name="is_taken"), parameter("ids", [1])
    loop.set_function(body)
    loop.set_special_body_ports([-1, 1])
    loop.set_invariant_input(condition, is_taken.output(0))
    loop.set_invariant_input(inner, ids.output(0))
    out = loop.get_concatenated_slices(body.get_results()[0].output(0), 0, 1, 1, -1, 0)
    return ov.Model([out], [is_taken, ids], "model")


@pytest.mark.parametrize("policy", ["raise", "clamp", "zero"])
@pytest.mark.parametrize("element_type", [np.float16, np.float32])
def test_nothing_rounds_elsewhere(policy, element_type):
    """OpenVINO computes what is behind a gather, here a sum of products, as before; so it does for compressed tables."""
    random = np.random.default_rng(1)
    ids, x = parameter("ids", [2, 64]), parameter("x", [2, 64, 8], np.float32)
    total = x
    for _ in range(3):
        table = opset13.convert(opset13.constant(random.standard_normal((50, 8)).astype(element_type)), "f32")
        rows = opset8.gather(table, ids, opset13.constant(0))
        moved = opset13.reshape(opset13.reshape(rows, opset13.constant([128, 8]), False), opset13.constant([2, 64, 8]), False)
        total = opset13.add(total, opset13.multiply(moved, opset13.sin(x)))
    model = ov.Model([total], [ids, x], "model")
    inputs = [random.integers(-50, 50, (2, 64)).astype(np.int32), random.standard_normal((2, 64, 8)).astype(np.float32)]
    before = infer_model(model, inputs)
    hardened(model, policy)
    assert infer_model(model, inputs) == before
    inputs[0][0, 0] = 50
    assert (infer_model(model, inputs) == RAISED) == (policy == "raise")


@pytest.mark.parametrize("element_type", [np.float16, np.float32])
def test_rows_of_zeros(element_type):
    ids = parameter("ids", [3])
    table = opset13.convert(opset13.constant(np.ones((5, 2), element_type)), "f32")
    model = ov.Model([opset8.gather(table, ids, opset13.constant(0))], [ids], "model")
    hardened(model, "zero")
    assert infer_model(model, [np.array([-5, 5, 4], np.int32)]) == [np.array([[1, 1], [0, 0], [1, 1]], np.float32).tobytes()]


def test_names_of_outputs_stay():
    for policy in ("raise", "clamp", "zero"):
        model = lookup()
        model.output(0).set_names({"out"})
        hardened(model, policy)
        assert model.output("out").get_partial_shape().to_shape() == [4, 2]


@pytest.mark.parametrize("kind", ["ScatterElements", "ScatterND"])
@pytest.mark.parametrize("policy", ["raise", "clamp", "zero"])
def test_our_scatters_check_every_index_or_get_clamped_ones(kind, policy):
    shape = [3] if kind == "ScatterElements" else [3, 1]
    ids = parameter("ids", shape)
    inputs = [opset13.constant(np.zeros(7, np.float32)).output(0), ids, opset13.constant(np.ones(3, np.float32)).output(0)]
    attributes = {"reduction": "add", "lanes": "none", **({"axis": -1} if kind == "ScatterElements" else {})}
    model = ov.Model([ours(kind, inputs, attributes)], [ids], "model")
    _, sites, summary = hardened(model, policy)
    (site,) = sites.values()
    outputs = infer_model(model, [np.reshape(np.array([1, 9, 1], np.int32), shape)])
    if policy == "clamp":
        assert (summary.guards, site.done) == (1, "indices are clamped at the input ids")
        assert outputs == [np.array([0, 2, 0, 0, 0, 0, 1], np.float32).tobytes()]
    else:
        assert (summary.guards, site.kept) == (0, "our operation checks every index")
        assert outputs == RAISED


def test_twice_is_once():
    for policy in ("raise", "clamp"):
        model, _, _ = hardened(lookup(), policy)
        assert hardened(model, policy)[2].guards == 0


@pytest.mark.parametrize(("axis", "is_proved"), [(0, False), (1, True)])
def test_ours_is_proved_along_its_own_axis(axis, is_proved):
    ids = parameter("ids", [4])
    data = opset13.constant(np.ones((2, 9), np.float32)).output(0)
    inputs = [data, opset13.clamp(ids, 2, 5).output(0), opset13.constant(axis).output(0)]
    model = ov.Model([ours("Gather", inputs, {"batch_dims": 0, "bounds": "error"})], [ids], "model")
    (proof,) = ov_gather.prove(model)
    assert proof.axis_size == (2, 9)[axis]
    assert (proof.status == "proved") == is_proved


@pytest.mark.parametrize(
    ("options", "error", "reason"),
    [
        ({"policy": "wrap"}, ValueError, "there is no policy 'wrap'; there are raise, clamp, zero"),
        ({"assume": {"words": (0, 5)}}, ValueError, "assume words: the model has no such input or open dimension, but ids"),
        ({"assume": {"ids": (5, 0)}}, ValueError, r"assume ids: no value is in 5\.\.0"),
    ],
)
def test_what_cannot_be_done_changes_nothing(options, error, reason):
    model = lookup()
    with pytest.raises(error, match=reason):
        ov_gather.harden(model, **options)
    assert len(model.get_ordered_ops()) == len(lookup().get_ordered_ops())


def test_a_compiled_model_is_refused():
    with pytest.raises(
        TypeError, match=r"model must be an openvino\.Model, not CompiledModel: harden it before it is compiled"
    ):
        ov_gather.harden(ov.Core().compile_model(lookup(), "CPU"))


@pytest.mark.slow
@pytest.mark.parametrize(("model", "size"), [(attend, NODES), (reduce_segments, 99)])
def test_networks_survive_every_index(model, size):
    """A layer of graph attention, as PyTorch Geometric's GAT scatters and gathers, crashes; so do tables by columns of an input
    that reduce by segments, as TAPAS does. Hardened they do not."""
    indices = (size, -size - 1, 2**30, -(2**30), 2**31 - 1, -(2**31))
    runs = list(product(("", "raise", "clamp", "zero"), (False, True), indices))
    found = {}
    for (policy, *_), result in zip(runs, call_each(model, runs, crashed), strict=True):
        found.setdefault(policy, set()).add(result)
    assert CRASHED in found.pop("")
    assert found == {"raise": {RAISED}, "clamp": {"finite"}, "zero": {"finite"}}


def test_a_guard_does_not_depend_on_itself():
    """The size of the axis of data is that of the indices, whose shape is read behind an operation that moves them."""
    ids = parameter("ids", [-1])
    moved = opset13.unsqueeze(ids, opset13.constant([1]))
    rows = opset13.gather(opset13.shape_of(moved), opset13.constant([0]), opset13.constant(0))
    shape = opset13.concat([rows, opset13.constant([1])], 0)
    data = opset13.broadcast(opset13.constant(np.float32(1)), shape)
    model = ov.Model([opset13.gather_elements(data, moved, 0)], [ids], "model")
    for policy in ("raise", "clamp", "zero"):
        changed = model.clone()
        hardened(changed, policy, portable=True)
        assert infer_model(changed, [np.array([0, -1, 1], np.int32)]) == [np.ones((3, 1), np.float32).tobytes()]
        assert (infer_model(changed, [np.array([0, -1, 7], np.int32)]) == RAISED) == (policy == "raise")


@pytest.mark.parametrize(
    ("version", "index", "portable"),
    pairwise(["Gather-1", "Gather-8"], [0, -1, 1, -2, 2**31 - 1, -(2**31)], [False, True]),
)
def test_a_gather_that_openvino_would_remove_raises(version, index, portable):
    """The output of one index along an axis of size 1 is data, whatever the index is."""
    table = np.float32([[4], [5]])
    if version == "Gather-8":
        indices = parameter("i", [2, 1])
        rows, given = opset13.gather(table, indices, np.int64(1), batch_dims=1), np.int32([[0], [index]])
    else:
        indices = parameter("i", [1])
        rows, given = opset3.gather(table.T, indices, np.int64(0)), np.int32([index])
    model, _, _ = hardened(ov.Model([rows], [indices], "m"), "raise", portable=portable)
    is_in_bounds = index == 0 or (index == -1 and version == "Gather-8")
    assert infer_model(model, [given]) == ([table.tobytes()] if is_in_bounds else RAISED)
