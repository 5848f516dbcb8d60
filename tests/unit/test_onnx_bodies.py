"""Bodies of ONNX operators, in the graph that analyses run on."""

import onnx_ir

from ov_gather.converters.onnx_graph import OnnxGraph

SEQUENCE_MAP = """<ir_version: 9, opset_import: ["" : 18]>
g (seq(float[2]) x) => (seq(float[2]) y) {
    y = SequenceMap <body = b (float[2] element) => (float[2] mapped) { mapped = Neg(element) }> (x)
}"""


def test_an_operator_that_is_no_branch_and_no_loop_may_have_a_body():
    (node,) = OnnxGraph(onnx_ir.from_onnx_text(SEQUENCE_MAP)).nodes("SequenceMap")
    (body,) = node.bodies
    assert len(body.exits) == 1
