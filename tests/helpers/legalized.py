"""ONNX models in text, legalized, and run on onnxruntime before and after."""

from collections import Counter

import numpy as np
import onnx
import onnx_ir
from onnx import numpy_helper, parser

from ov_gather.converters.legalize import legalize


def model(signature, nodes, opset=20, imports="", ir_version=10, functions=""):
    """A model in ONNX's text format, e.g. `model("float[N] x) => (float[N] y)", "y = Neg(x)")`."""
    head = f'<ir_version: {ir_version}, opset_import: ["" : {opset}{imports}]>'
    return parser.parse_model(f"{head} main ({signature} {{ {nodes} }} {functions}")


def run(proto, inputs):
    import onnxruntime  # imported only here, as other users need no more than the models

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(proto.SerializeToString(), options).run(None, inputs)


def legalized(proto, inputs=None, **options):
    """The operators and the rewrites of the legalized model, which is valid and computes the same."""
    changed = onnx_ir.from_proto(proto)
    rewrites = legalize(changed, **options)
    result = onnx_ir.to_proto(changed)
    onnx.checker.check_model(result, full_check=True)
    assert list(result.graph.input) == list(proto.graph.input)
    assert list(result.graph.output) == list(proto.graph.output)
    for before, after in zip(run(proto, inputs or {}), run(result, inputs or {}), strict=True):
        assert (before.dtype, before.shape) == (after.dtype, after.shape)
        assert before.tobytes() == after.tobytes()
    assert not any(rewrite.done for rewrite in legalize(onnx_ir.from_proto(result), **options)), "once is enough"
    nodes = onnx_ir.traversal.RecursiveGraphIterator(onnx_ir.from_proto(result).graph)
    return Counter(node.op_type for node in nodes), rewrites


def random(*shape):
    """Return numbers that depend on this shape alone."""
    return np.random.default_rng([6, *shape]).standard_normal(shape, dtype=np.float32)


def indices(size, *shape):
    """Return indices, some negative, that depend on these sizes alone."""
    return np.random.default_rng([size, *shape]).integers(-size, size, shape)


def constant(array, proto, name="i"):
    proto.graph.initializer.append(numpy_helper.from_array(np.array(array), name))
    return proto
