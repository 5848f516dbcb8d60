"""Inputs are found that break an index, if there are some, and not if there are none: worked out by hand."""

from dataclasses import replace

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as ops

from helpers.counterexamples import Breaker, shown_to_fail
from helpers.openvino_models import counted, looked_up, made_of, number, size_of
from ov_gather import read_ir
from ov_gather.ranges.prove import graph_of, prove_in

IDS = {"ids": np.array([[3, 1, 2]])}


@pytest.fixture(scope="module")
def breaker():
    one = Breaker()
    yield one
    one.stop()


def broken(make, folder, breaker, **inputs):
    """The types of the operations that are shown to fail. Of fixed shapes, also what is proved is tried."""
    path = folder / "model.xml"
    ov.save_model(made_of(make, **inputs), path, compress_to_fp16=False)
    graph = graph_of(read_ir(path))
    proofs = {proof.layer: proof for proof in prove_in(graph)}
    if not graph.bounds:
        proofs = {name: replace(proof, status="unknown") for name, proof in proofs.items()}
    return [proofs[name].type for name in shown_to_fail(path, graph, proofs, IDS, breaker)]


def test_an_id_beyond_a_table(tmp_path, breaker):
    assert broken(lambda ids: looked_up(7, ids), tmp_path, breaker, ids="i64[1, 3]") == ["Gather"]


def test_no_id_is_beyond_a_table(tmp_path, breaker):
    assert broken(lambda ids: looked_up(7, ops.clamp(ids, 0, 6)), tmp_path, breaker, ids="i64[1, 3]") == []


def test_a_length_beyond_a_table_of_positions(tmp_path, breaker):
    assert broken(lambda ids: looked_up(130, counted(size_of(ids, 1))), tmp_path, breaker, ids="i64[?, ?]") == ["Gather"]


def test_what_is_read_at_a_broken_index_breaks_none(tmp_path, breaker):
    """The second index is in bounds whenever the first one is: it comes from a table of 0 and 1."""

    def behind_another(ids):
        first = ops.gather_elements(number([[0, 1, 0, 1]]), ids, 1)
        return ops.gather_elements(number([[5, 6]]), first, 1)

    assert broken(behind_another, tmp_path, breaker, ids="i64[1, 3]") == ["GatherElements"]
