"""Hardened models compute the same for indices in bounds, and do what their policy says for all others."""

from itertools import product

import numpy as np
import openvino as ov
import pytest
from openvino import opset3
from openvino import opset13 as ops

import ov_gather
from helpers.hardening import CRASHED, EACH_POLICY, RAISED, ROWS, Run, crashed, expected, infer, infer_model, outputs
from helpers.hardening_models import NODES, attend, graph_inputs, graph_network, reduce_segments
from helpers.openvino_models import made_of
from helpers.pairwise import pairwise
from helpers.saved_models import parsed
from helpers.worker_process import call_each
from ov_gather.acceleration.graph import operation, ours, walk

WRITES = ("ScatterUpdate-3", "ScatterNDUpdate-3", "ScatterElementsUpdate-3", "ScatterElementsUpdate-12")
KINDS = ("Gather-8", "Gather-1", "GatherElements-6", "GatherND-8", *WRITES)
OUT_OF_BOUNDS = (ROWS, -ROWS - 1, 2**31 - 1, -(2**31))
POLICIES = ("raise", "clamp", "zero")


def differing(runs):
    got = call_each(infer, runs, crashed)
    return [(run, result) for run, result in zip(runs, got, strict=True) if result != expected(run)]


@pytest.mark.parametrize("kind", KINDS)
@EACH_POLICY
def test_every_index(kind, policy, portable):
    """Indices in bounds, legal negative ones among them, give what they gave; all others what the policy says."""
    runs = [
        Run(kind, policy, index, is_open, portable)
        for is_open, index in product((False, True), (ROWS - 1, -ROWS, *OUT_OF_BOUNDS))
        if not (kind == "GatherND-8" and is_open)  # the rank of its output is known, and the plugin demands that
    ]
    runs += [Run(kind, policy, 7, True, portable, threads=1)] if kind != "GatherND-8" else []
    assert differing(runs) == []


def test_empty_axis():
    """An empty axis has no nearest index: every policy raises."""
    kinds = [kind for kind in KINDS if kind != "GatherND-8"]
    runs = [Run(kind, policy, 0, True, rows=0) for kind in kinds for policy in ("raise", "clamp", "zero")]
    assert differing(runs) == []


INDEX_TYPES = ("int8", "uint8", "int16", "uint16", "uint32", "int64", "uint64")
ANY_INDICES = ("Gather-8", "Gather-1", "GatherND-8", "ScatterUpdate-3", "ScatterElementsUpdate-12")
BEYOND = {"uint32": (2**31, 2**32 - 1), "int64": (2**32 + ROWS, -(2**63)), "uint64": (2**63, 2**64 - 1)}


@pytest.mark.sampled(1)
@EACH_POLICY
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
    inputs = [ops.parameter([-1] if is_open else array.shape, array.dtype) for array in given]
    model = ov.Model([opset3.scatter_update(*inputs, 0)], inputs, "model")
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


TABLE = np.arange(20, dtype=np.float32).reshape(10, 2)


def lookup(index=lambda ids: ids):
    """A table that is looked up by an input."""
    model = made_of(lambda ids: ops.gather(TABLE, index(ids), 0), ids="i32[4]")
    model.get_results()[0].input_value(0).get_node().set_friendly_name("rows")
    return model


def hardened(model, policy, **options):
    summary = ov_gather.harden(model, policy=policy, **options)
    return model, {site.layer: site for site in summary.sites}, summary


def test_what_is_proved_stays():
    model = lookup(lambda ids: ops.clamp(ids, 0, 9))
    before = [node.get_friendly_name() for node in model.get_ordered_ops()]
    _, sites, summary = hardened(model, "clamp")
    assert [node.get_friendly_name() for node in model.get_ordered_ops()] == before
    assert (sites["rows"].status, summary.guards, summary.changed) == ("proved", 0, ())


@pytest.mark.parametrize(("assume", "guards"), [({"ids": (-10, 9)}, 0), ({"ids": (-10, 10)}, 1), ({}, 1)])
def test_what_is_assumed_counts(assume, guards):
    assert hardened(lookup(), "zero", assume=assume)[2].guards == guards


def test_the_summary_names_each_site_and_why():
    _, sites, summary = hardened(lookup(), "clamp")
    site = sites["rows"]
    assert (site.operation, site.status, site.done) == ("Gather-8", "conditional", "indices are clamped at the input ids")
    assert "ids in -10..9" in site.reason
    assert "at the input ids" in str(summary)


def test_ours_raises_and_tells_which_index():
    model, sites, _ = hardened(lookup(), "raise")
    assert sites["rows"].done == "raises: ov_gather.Gather"
    request = ov_gather.register(ov.Core()).compile_model(model, "CPU").create_infer_request()
    request.start_async([np.array([0, 1, 10, 3], np.int32)])
    with pytest.raises(RuntimeError, match=r"indices\[2\] = 10 is out of bounds for axis 0 of size 10"):
        request.wait()


@pytest.mark.parametrize("policy", POLICIES)
def test_portable_models_need_no_extension_and_outputs_keep_their_names(policy, tmp_path):
    model = lookup()
    model.output(0).set_names({"out"})
    hardened(model, policy, portable=True)
    assert not [node for _, node in walk(model) if operation(node).startswith("ov_gather")]
    ov.save_model(model, tmp_path / "m.xml")
    assert ov.Core().read_model(tmp_path / "m.xml").output("out").get_partial_shape().to_shape() == [4, 2]


@pytest.mark.parametrize(
    ("policy", "is_open", "done"),
    [
        ("clamp", False, ["indices are clamped"]),
        ("clamp", True, ["indices are clamped"]),
        ("zero", False, ["elements out of bounds are 0", "updates out of bounds are dropped"]),
    ],
)
def test_one_guard_serves_all_sites_of_an_input(policy, is_open, done):
    """Both rows of edges are indices of the same axis: edges are guarded once, for two gathers and a scatter."""
    model = graph_network(is_open)
    before = infer_model(model, graph_inputs(3))
    _, sites, summary = hardened(model, policy)
    assert summary.guards == 1
    assert {site.done for site in sites.values() if site.done} == {
        f"{what} at the input edges, one for 3 sites" for what in done
    }
    assert before == infer_model(model, graph_inputs(3)) != RAISED


@pytest.mark.parametrize("policy", POLICIES)
def test_indices_that_would_mean_others_share_no_guard(policy):
    """-1 is the last of each axis, and the axes are not of one size."""
    model = made_of(lambda ids: [ops.gather(np.arange(size, dtype=np.float32), ids, 0) for size in (4, 9)], ids="i32[2]")
    hardened(model, policy)
    assert outputs(model, np.int32([-1, 2])) == [[3, 2], [8, 2]]


IN_BODIES = """(bool c, int64[1] ids) => (float[3,1] y) {
    y = Loop (n, c) <body = l (int64 i, bool k) => (bool on, float[1] row) {
        on = Identity(k)
        row = If (c) <then_branch = t () => (float[1] p) { p = Gather(table, ids) },
                      else_branch = e () => (float[1] q) { q = Cast<to = 1>(ids) }> }> }"""


@pytest.mark.parametrize(("policy", "out"), [("raise", RAISED), ("clamp", 9.0), ("zero", 0.0)])
def test_sites_in_bodies(policy, out):
    """The branch of an If, in the body of a Loop, gathers by an index that comes from outside."""
    proto = parsed(IN_BODIES, n=3, table=np.arange(10, dtype=np.float32))
    model = ov.Core().read_model(proto.SerializeToString())
    good, bad = ([np.array(True), np.array([index])] for index in (-1, 33))
    before = outputs(model, *good)
    _, sites, _ = hardened(model, policy)
    (name,) = [name for name, site in sites.items() if site.done]
    assert name.count("/") == 2
    assert outputs(model, *good) == before == [[9] * 3]
    assert outputs(model, *bad) == (out if out == RAISED else [[out] * 3])


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("element_type", [np.float16, np.float32])
def test_nothing_rounds_elsewhere(policy, element_type):
    """OpenVINO computes what is behind a gather, here a sum of products, as before; so it does for compressed tables."""
    random = np.random.default_rng(1)

    def make(ids, x):
        total = x
        for _ in range(3):
            rows = ops.gather(ops.convert(random.standard_normal((50, 8)).astype(element_type), "f32"), ids, 0)
            moved = ops.reshape(ops.reshape(rows, [128, 8], False), [2, 64, 8], False)
            total = ops.add(total, ops.multiply(moved, ops.sin(x)))
        return total

    model = made_of(make, ids="i32[2,64]", x="f32[2,64,8]")
    inputs = [random.integers(-50, 50, (2, 64)).astype(np.int32), random.standard_normal((2, 64, 8)).astype(np.float32)]
    before = infer_model(model, inputs)
    hardened(model, policy)
    assert infer_model(model, inputs) == before
    inputs[0][0, 0] = 50
    assert (infer_model(model, inputs) == RAISED) == (policy == "raise")


@pytest.mark.parametrize("element_type", [np.float16, np.float32])
def test_rows_of_zeros(element_type):
    model = made_of(lambda ids: ops.gather(ops.convert(np.ones((5, 2), element_type), "f32"), ids, 0), ids="i32[3]")
    hardened(model, "zero")
    assert outputs(model, np.int32([-5, 5, 4])) == [[1, 1, 0, 0, 1, 1]]


@pytest.mark.parametrize("kind", ["ScatterElements", "ScatterND"])
@pytest.mark.parametrize("policy", POLICIES)
def test_our_scatters_check_every_index_or_get_clamped_ones(kind, policy):
    shape = [3] if kind == "ScatterElements" else [3, 1]
    attributes = {"reduction": "add", "lanes": "none", **({"axis": -1} if kind == "ScatterElements" else {})}
    data, updates = (ops.constant(np.full(size, size == 3, np.float32)).output(0) for size in (7, 3))
    model = made_of(lambda ids: ours(kind, [data, ids.output(0), updates], attributes), ids=f"i32{shape}")
    _, sites, summary = hardened(model, policy)
    (site,) = sites.values()
    found = outputs(model, np.int32([1, 9, 1]).reshape(shape))
    if policy == "clamp":
        assert (summary.guards, site.done) == (1, "indices are clamped at the input ids")
        assert found == [[0, 2, 0, 0, 0, 0, 1]]
    else:
        assert (summary.guards, site.kept) == (0, "our operation checks every index")
        assert found == RAISED


def test_twice_is_once():
    for policy in ("raise", "clamp"):
        model, _, _ = hardened(lookup(), policy)
        assert hardened(model, policy)[2].guards == 0


@pytest.mark.parametrize(("axis", "is_proved"), [(0, False), (1, True)])
def test_ours_is_proved_along_its_own_axis(axis, is_proved):
    def make(ids):
        inputs = [ops.constant(np.ones((2, 9), np.float32)), ops.clamp(ids, 2, 5), ops.constant(axis)]
        return ours("Gather", [node.output(0) for node in inputs], {"batch_dims": 0, "bounds": "error"})

    model = made_of(make, ids="i32[4]")
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
    with pytest.raises(TypeError, match=r"must be an openvino\.Model, not CompiledModel: harden it before it is compiled"):
        ov_gather.harden(ov.Core().compile_model(lookup(), "CPU"))


@pytest.mark.exhaustive
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


@pytest.mark.parametrize("policy", POLICIES)
def test_a_guard_does_not_depend_on_itself(policy):
    """The size of the axis of data is that of the indices, whose shape is read behind an operation that moves them."""

    def make(ids):
        moved = ops.unsqueeze(ids, [1])
        shape = ops.concat([ops.gather(ops.shape_of(moved), [0], 0), [1]], 0)
        return ops.gather_elements(ops.broadcast(np.float32(1), shape), moved, 0)

    model = made_of(make, ids="i32[?]")
    hardened(model, policy, portable=True)
    assert outputs(model, np.int32([0, -1, 1])) == [[1, 1, 1]]
    assert (outputs(model, np.int32([0, -1, 7])) == RAISED) == (policy == "raise")


@pytest.mark.parametrize(
    ("version", "index", "portable"),
    pairwise(["Gather-1", "Gather-8"], [0, -1, 1, -2, 2**31 - 1, -(2**31)], [False, True]),
)
def test_a_gather_that_openvino_would_remove_raises(version, index, portable):
    """The output of one index along an axis of size 1 is data, whatever the index is."""
    table = np.float32([[4], [5]])
    if version == "Gather-8":
        model, given = made_of(lambda i: ops.gather(table, i, 1, batch_dims=1), i="i32[2,1]"), np.int32([[0], [index]])
    else:
        model, given = made_of(lambda i: opset3.gather(table.T, i, 0), i="i32[1]"), np.int32([index])
    hardened(model, "raise", portable=portable)
    is_in_bounds = index == 0 or (index == -1 and version == "Gather-8")
    assert outputs(model, given) == ([[4, 5]] if is_in_bounds else RAISED)


@pytest.mark.parametrize("shape", ["2", "?"])
def test_an_error_of_openvino_names_the_input_with_the_index(shape):
    """The operations of OpenVINO that raise do not name the index; their own name says where it comes from."""
    model = made_of(lambda ids: ops.gather(np.float32([1, 2, 3]), ids, 0), ids=f"i32[{shape}]")
    hardened(model, "raise", portable=True)
    request = ov.compile_model(model, "CPU").create_infer_request()
    request.start_async([np.int32([0, 3])])
    with pytest.raises(RuntimeError, match="ids/bounds_check"):
        request.wait()
