"""The check of the sizes that an operation chooses where shapes are open."""

from hypothesis import assume

from ov_gather.ir.shapes import PartialShape
from ov_gather.ops.spec import ShapeError


def check_chosen_sizes(operation, shapes, attributes):
    """Assert that the sizes are among those declared and valid, and return them; shapes that do not fit are no example."""
    try:
        (declared,) = operation.infer_shapes(shapes, attributes)
        operation.restrict(shapes, attributes)
        chosen = operation.choose_sizes(shapes, attributes, 3)
    except ShapeError:
        assume(False)
    assert all(sizes in shape for sizes, shape in zip(chosen, shapes, strict=True))
    static = [PartialShape.of(sizes) for sizes in chosen]
    (output,) = operation.infer_shapes(static, attributes)
    operation.restrict(static, attributes)
    assert output.sizes in declared
    return chosen, output.sizes
