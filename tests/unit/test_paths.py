"""The way of an index, from an input or a constant to its gather, with what is known of each value."""

import numpy as np
import onnx
import openvino as ov
import openvino.opset13 as ops
import pytest

from ov_gather.converters.proofs import analysed, prove_graph
from ov_gather.graph.excerpts import Excerpt
from ov_gather.ranges.prove import prove


def path_of(source, name: str) -> Excerpt:
    (proof,) = (proof for proof in prove(source, with_paths=True) if proof.layer.endswith(name))
    assert proof.path is not None
    return proof.path


def notes(path: Excerpt) -> dict[str, str]:
    return {str(node): node.note for node in path.nodes}


def way(path: Excerpt) -> list[str]:
    """The names from the indices on, each the last one that feeds the one before: the operand that was followed."""
    found, position = [], 0
    while fed := [edge.source for edge in path.edges if edge.target == position]:
        position = fed[-1]
        found.append(path.nodes[position].name)
    return found


def test_each_step_says_what_is_known(samples):
    path = path_of(samples / "valid" / "deberta_bias.xml", "c2p_gather")
    known = notes(path)
    assert known["GatherElements 'c2p_gather'"] == "axis 2 of size 512"
    assert known["Parameter 'content_to_position'"] == "f32[6, 512, 512] any value"
    assert known["Subtract 'Subtract_8'"] == "i64[512, 512] in -511..511"
    assert known["Add 'Add_10'"] == "i64[512, 512] in -255..767"
    assert known["Clamp 'Clamp_11'"] == "i64[512, 512] in 0..511"
    assert known["Const 'Constant_9'"] == "i64[] = 256"
    assert [edge.label for edge in path.edges if edge.target == 0] == ["data", "indices"]


def test_out_of_a_body_to_the_input_of_the_model(samples):
    path = path_of(samples / "valid" / "loop.xml", "gather")
    assert way(path) == ["Loop 'loop'/body/body_indices", "indices"]


def test_sizes_are_bounds_and_shapes_are_not_followed():
    x = ops.parameter([-1, 7], np.float32, name="x")
    rows = ops.gather(ops.shape_of(x), ops.constant([0]), ops.constant(0), name="rows")
    last = ops.subtract(rows, ops.constant(np.int64([1])), name="last")
    path = path_of(ov.Model([ops.gather(x, last, ops.constant(0), name="site")], [x]), "site")
    known = notes(path)
    assert known["Gather 'site'"] == "axis 0 of size dim(x, 0)"
    assert known["Subtract 'last'"] == "i64[1] = dim(x, 0) - 1"
    assert way(path)[:2] == ["last", "rows"]


def test_a_long_way_is_cut():
    ids = ops.parameter([2], np.int64, name="ids")
    index = ids
    for _ in range(60):
        index = ops.add(index, ops.constant(np.int64(1)))
    table = ops.constant(np.zeros((4, 4), np.float32))
    path = path_of(ov.Model([ops.gather(table, index, ops.constant(0), name="site")], [ids]), "site")
    assert path.nodes[-1].type == "further operations"
    assert len(path.nodes) < 100


def test_onnx():
    text = """<ir_version: 10, opset_import: ["": 21]> agraph (float[5, 2] table, int64[3] ids) => (float[3, 2] y) {
        limit = Constant <value = int64 {4}> ()
        [clip] index = Min (ids, limit)
        [look_up] y = Gather (table, index)
    }"""
    (proof,) = prove_graph(analysed(onnx.parser.parse_model(text)), with_paths=True)
    known = notes(proof.path)
    assert known["Min 'clip'"] == "i64[3] <= 4"
    assert known["input 'ids'"] == "i64[3] any value"


@pytest.mark.parametrize("name", ["dynamic_shapes", "gather_nd_8_open_sizes", "if_bodies", "tensor_iterator", "spec_layer"])
def test_paths_change_no_proof(samples, name):
    source = samples / "valid" / f"{name}.xml"
    assert prove(source) == prove(source, with_paths=True)


def test_indices_computed_from_data_lead_to_data():
    x = ops.parameter([-1], np.int64, name="x")
    found = ops.squeeze(ops.non_zero(x, "i64", name="found"), ops.constant(np.int64([0])))
    path = path_of(ov.Model([ops.gather(x, found, ops.constant(0), name="site")], [x]), "site")
    assert {str(path.nodes[edge.source]) for edge in path.edges if path.nodes[edge.target].name == "found"} == {"Parameter 'x'"}
    assert [path.nodes[edge.target].name for edge in path.edges if str(path.nodes[edge.source]) == "Parameter 'x'"] == [
        "site",
        "found",
    ]
