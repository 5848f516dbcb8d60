"""Passes call operators by name, and the element types of results follow from the table of operators."""

import onnx_ir
import pytest
from onnx_ir import DataType

from ov_gather.converters.graphs import nodes_of
from ov_gather.converters.passes.rewriter import Rewriter
from ov_gather.converters.ranges import Ranges

TEXT = """<ir_version: 9, opset_import: ["" : 18]>
g (float[2,3] x, int64[2] i, bool[2,3] c) => (float[2,3] y) { y = Neg(x) }"""


@pytest.fixture
def rewriter():
    model = onnx_ir.from_onnx_text(TEXT)
    return Rewriter(model, Ranges(model))


@pytest.fixture
def node(rewriter):
    (node,) = nodes_of(rewriter.model, "Neg")
    return node


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda op, x, i, c: op.Neg(x), DataType.FLOAT),
        (lambda op, x, i, c: op.Neg(x, dtype=DataType.INT32), DataType.INT32),
        (lambda op, x, i, c: op.Cast(x, to=DataType.INT64), DataType.INT64),
        (lambda op, x, i, c: op.Less(x, x), DataType.BOOL),
        (lambda op, x, i, c: op.And(c, c), DataType.BOOL),
        (lambda op, x, i, c: op.Shape(x), DataType.INT64),
        (lambda op, x, i, c: op.Where(c, x, x), DataType.FLOAT),
        (lambda op, x, i, c: op.Concat(i, i, axis=0), DataType.INT64),
    ],
)
def test_the_element_type_of_an_inserted_operator(rewriter, node, make, expected):
    value = make(rewriter.before(node), *rewriter.model.graph.inputs)
    assert value.dtype == expected
    assert value.shape is None
    assert value.producer().graph is rewriter.model.graph


def test_an_operator_instead_of_another_keeps_its_outputs(rewriter, node):
    (y,) = node.outputs
    rewriter.instead(node).Gather(*rewriter.model.graph.inputs[:2], axis=1)
    assert (node.op_type, node.attributes["axis"].as_int()) == ("Gather", 1)
    assert y.producer() is node


def test_only_names_of_operators_are_called(rewriter, node):
    assert hasattr(rewriter.before(node), "Shape")
    assert not hasattr(rewriter.before(node), "shape")
