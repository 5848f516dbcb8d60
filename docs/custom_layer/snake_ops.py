"""The operation Snake for ov-gather: ov-gather check snake.xml --ops snake_ops.py --extension libsnake.so."""

import numpy as np

from ov_gather.ops.spec import Attribute, Input, Operation, ShapeError, require_axis


def infer_shapes(shapes, attributes):
    """Return the shape of y: that of x. Dimensions may be open."""
    x, alpha = shapes
    require_axis(attributes["axis"], x, 0)
    if alpha.rank not in (None, 1):
        raise ShapeError(f"alpha has {alpha.rank} dimensions", "it has one, the channels of x", port=1)
    return [x]


def reference(inputs, attributes):
    """Compute y by its definition."""
    x, alpha = inputs
    wide = np.float64 if x.dtype == np.float64 else np.float32
    along_axis = [1] * x.ndim
    along_axis[attributes["axis"]] = -1
    x, alpha = x.astype(wide), alpha.astype(wide).reshape(along_axis)
    return [(x + np.sin(alpha * x) ** 2 / (alpha + wide(attributes["epsilon"]))).astype(inputs[0].dtype)]


SNAKE = Operation(
    type="Snake",
    opset="example",
    inputs=(Input("x", types=("f32", "f16", "f64")), Input("alpha", types=("f32", "f16", "f64"))),
    attributes=(Attribute("axis", default=1), Attribute("epsilon", kind="float", default=1e-9)),
    infer_shapes=infer_shapes,
    reference=reference,
    rtol=1e-5,
    atol=1e-6,
)
