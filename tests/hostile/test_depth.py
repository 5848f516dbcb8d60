"""Graphs that are long, and documents that are deep: longer and deeper than Python recurses."""

from __future__ import annotations

import re
import sys
from itertools import pairwise

import numpy as np
import onnx
import onnx_ir
import pytest

from helpers.saved_models import parsed
from ov_gather.converters.legalize import legalize
from ov_gather.crosscheck.inputs.ir import generate_inputs
from ov_gather.crosscheck.inputs.onnx import made_up_inputs
from ov_gather.crosscheck.models.nondeterminism import dependents
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I64
from ov_gather.ir.shapes import PartialShape

LENGTH = 2 * sys.getrecursionlimit()


def chain(operator, first, last, *others):
    """LENGTH nodes of one operator, each of which takes the output of the one before."""
    names = [first, *(f"{last}{i}" for i in range(LENGTH - 1)), last]
    return " ".join(f"[{b}] {b} = {operator}({', '.join([a, *others])})" for a, b in pairwise(names))


@pytest.fixture
def indices_from_afar():
    nodes = f"{chain('Add', 'i', 'far', 'one')} [take] y = Gather(x, far)"
    return parsed(f"(int64[1000] i) => (float[N] y) {{ {nodes} }}", one=1, x=np.arange(7, dtype=np.float32))


def test_inputs_that_are_indices_after_thousands_of_nodes(indices_from_afar):
    (indices,) = next(made_up_inputs(onnx_ir.from_proto(indices_from_afar), 0)).values()
    assert (indices.min(), indices.max()) == (-LENGTH, 6 - LENGTH)


def test_what_depends_on_the_first_of_thousands_of_nodes(indices_from_afar):
    model = onnx_ir.from_proto(indices_from_afar)
    assert len(dependents(model, [model.graph[0]])) == LENGTH + 1


@pytest.mark.exhaustive
def test_check_of_it(cli, tmp_path, indices_from_afar):
    onnx.save(indices_from_afar, tmp_path / "m.onnx")
    done = cli("check", tmp_path / "m.onnx")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"outputs: 1, passed: 1 \([^)]*\); gathers: 1, passed: 1", done.stdout)


def test_inputs_of_an_ir_that_are_indices_after_thousands_of_layers():
    builder = ModelBuilder("long")
    indices = given = builder.parameter("indices", I64, PartialShape.of((1000,)))
    one = builder.const("one", I64, np.array(1))
    for i in range(LENGTH):
        (indices,) = builder.layer("Add", f"add{i}", "opset1", {}, [indices, one], [(I64, given.shape)])
    data = builder.const("data", F32, np.arange(7, dtype=np.float32))
    axis = builder.const("axis", I64, np.array(0))
    (taken,) = builder.layer("Gather", "take", "opset8", {"batch_dims": "0"}, [data, indices, axis], [(F32, given.shape)])
    builder.result("y", taken)
    (made,) = generate_inputs(builder.build(), 0)
    assert (made.min(), made.max()) == (-LENGTH, 6 - LENGTH)


def test_thousands_of_nodes_that_a_rewrite_leaves_unused():
    """The sizes that indices are expanded to are not needed where they are folded."""
    nodes = f"{chain('Add', 'sizes', 'far', 'zero')} [spread] i = Expand(j, far) [take] y = GatherElements<axis = 0>(x, i)"
    model = onnx_ir.from_proto(
        parsed(f"(float[5, 4] x) => (float[3, 4] y) {{ {nodes} }}", sizes=[3, 4], zero=[0, 0], j=[[0], [2], [1]])
    )
    legalize(model)
    assert [node.op_type for node in model.graph if node.op_type == "Add"] == []


def test_a_slice_behind_thousands_of_nodes():
    nodes = f"part = Slice(x, start, end, axes) {chain('Identity', 'part', 'same')} y = GatherElements<axis = 1>(same, i)"
    model = onnx_ir.from_proto(
        parsed(f"(float[5, 4] x, int64[3, 2] i) => (float[3, 2] y) {{ {nodes} }}", start=[0], end=[3], axes=[0])
    )
    assert any("counted from the end" in change.what for change in legalize(model))


@pytest.mark.exhaustive
def test_check_of_a_document_as_deep_as_it_may_be(cli, tmp_path, samples):
    text = (samples / "valid" / "deberta_bias.xml").read_text()
    deep = "<a>" * 250 + "</a>" * 250
    assert "<rt_info" in text
    (tmp_path / "deep.xml").write_text(text.replace("</net>", f"<rt_info>{deep}</rt_info></net>"))
    (tmp_path / "deep.bin").write_bytes((samples / "valid" / "deberta_bias.bin").read_bytes())
    done = cli("check", tmp_path / "deep.xml", "--cases", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "RecursionError" not in done.stdout
