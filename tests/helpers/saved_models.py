"""ONNX models in ONNX's own language, in memory and in files."""

import numpy as np
import onnx
from onnx import numpy_helper, parser


def parsed(text, opset=18, /, **constants):
    """A model, such as `parsed("(float[N] x) => (float[N] y) { y = Add(x, one) }", one=np.float32(1))`."""
    proto = parser.parse_model(f'<ir_version: 10, opset_import: ["": {opset}]> g {text}')
    proto.graph.initializer.extend(numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items())
    return proto


def saved(path, text, opset=18, /, **constants):
    onnx.save(parsed(text, opset, **constants), path)
    return path
