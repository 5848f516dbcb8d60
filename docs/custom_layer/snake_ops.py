"""The operation Snake for ov-gather: ov-gather check snake.xml --ops snake_ops.py --extension libsnake.so."""

import numpy as np

from ov_gather.ops.spec import Attribute, DimensionError, Input, Operation, RankError, TypeRuleError, require_axis


def infer_types(types):
    """Return the type of y: that of x and of alpha. None is an unknown type."""
    x, alpha = types
    if None not in types and x != alpha:
        raise TypeRuleError(f"x is {x} and alpha is {alpha}", "both must be the same", port=1)
    return (x or alpha,)


def infer_shapes(shapes, attributes):
    """Return the shape of y: that of x. Dimensions may be open."""
    x, alpha = shapes
    require_axis(attributes["axis"], x, port=0)
    if alpha.rank not in (None, 1):
        raise RankError(f"alpha has {alpha.rank} dimensions", "it has one, the channels of x", port=1)
    if x.rank and alpha.rank and not x.dims[attributes["axis"]].intersect(alpha.dims[0]):
        raise DimensionError(f"x of shape {x} and alpha of shape {alpha} do not fit", "alpha has the channels of x", port=1)
    return [x]


def reference(inputs, attributes):
    """Compute y by its definition."""
    x, alpha = inputs
    wide = np.float64 if x.dtype == np.float64 else np.float32
    along_axis = [1] * x.ndim
    along_axis[attributes["axis"]] = -1
    x, alpha = x.astype(wide), alpha.astype(wide).reshape(along_axis)
    return [(x + np.sin(alpha * x) ** 2 / (alpha + wide(attributes["epsilon"]))).astype(inputs[0].dtype)]


OPERATION = Operation(
    type="Snake",
    opset="example",
    inputs=(Input("x", types=("f32", "f16", "f64")), Input("alpha", types=("f32", "f16", "f64"))),
    attributes=(Attribute("axis", default=1), Attribute("epsilon", kind="float", default=1e-9, valid_range=(0, np.inf))),
    infer_types=infer_types,
    infer_shapes=infer_shapes,
    reference=reference,
    rtol=1e-3,  # an f16 has 11 bits
    atol=1e-3,  # the sum may cancel
)
