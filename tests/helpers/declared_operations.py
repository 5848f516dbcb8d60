"""Three operations of users as they declare them, in a file outside of the package, and their classes of `openvino.Op`."""

from pathlib import Path

import numpy as np

from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I64
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.writer import write_ir

DECLARATIONS = '''
import numpy as np

from ov_gather.ops.spec import (
    AttributeSize,
    Attribute,
    AxisSize,
    Dimension,
    DimensionError,
    IndexRule,
    Input,
    Operation,
    PartialShape,
    RankError,
    require_axis,
)


def axis_range(shapes):
    rank = shapes[0].rank
    return None if not rank else (-rank, rank - 1)


AXIS = Attribute("axis", default=0, valid_range=axis_range)


def same_shape(shapes, attributes):
    require_axis(attributes["axis"], shapes[0], 0)
    return [shapes[0]]


ROLL = Operation(
    type="Roll",
    opset="mine",
    inputs=[Input("x", types=("f32", "i64"))],
    attributes=[AXIS, Attribute("shifts", kind="ints", default=(1,))],
    infer_shapes=same_shape,
    reference=lambda inputs, attributes: [np.roll(inputs[0], sum(attributes["shifts"]), attributes["axis"])],
)


def segment_shapes(shapes, attributes):
    data, ids = shapes
    if data.rank == 0 or ids.rank not in (None, 1):
        raise RankError("ids must be a vector, and data no scalar", "correct the ranks", 1)
    if data.dims and ids.dims and data.dims[0].intersect(ids.dims[0]) is None:
        raise DimensionError(f"{data.dims[0]} rows have {ids.dims[0]} ids", "give one id for each row", 1)
    if data.dims is None:
        return [data]
    return [PartialShape((Dimension(attributes["segments"], attributes["segments"]), *data.dims[1:]))]


def segment_sum(inputs, attributes):
    data, ids = inputs
    if ids.size and not (0 <= ids.min() and ids.max() < attributes["segments"]):
        raise IndexError("a segment is out of bounds")
    output = np.zeros((attributes["segments"], *data.shape[1:]), data.dtype)
    np.add.at(output, ids, data)
    return [output]


SEGMENT_SUM = Operation(
    type="SegmentSum",
    opset="mine",
    inputs=[Input("data", types=("f32",)), Input("ids", types=("i64",))],
    attributes=[Attribute("segments", default=4, valid_range=(1, 1000))],
    infer_shapes=segment_shapes,
    reference=segment_sum,
    adds_up=lambda attributes: True,
    rtol=1e-5,
    atol=1e-5,
    index_rule=IndexRule(1, AttributeSize("segments"), "[0, segments-1]", lowest_specified=lambda size: 0 * size),
)


def lookup_shapes(shapes, attributes):
    table, places, weights = shapes
    require_axis(attributes["axis"], table, 0)
    if places.rank not in (None, 1) or weights.rank not in (None, 1):
        raise RankError("places and weights must be vectors", "flatten them", 1)
    if places.dims and weights.dims and places.dims[0].intersect(weights.dims[0]) is None:
        raise DimensionError("places and weights differ in size", "make them the same", 2)
    if table.dims is None:
        return [table]
    axis = attributes["axis"] % len(table.dims)
    dim = Dimension(0, None)
    for vector in (places, weights):
        dim = dim.intersect(vector.dims[0]) if vector.dims else dim
    return [PartialShape((*table.dims[:axis], dim, *table.dims[axis + 1 :]))]


def lookup(inputs, attributes):
    """Interpolate between the row at each place and the next one."""
    table, places, weights = inputs
    axis = attributes["axis"] % table.ndim
    if places.size and not (0 <= places.min() and places.max() < table.shape[axis]):
        raise IndexError("a place is out of bounds")
    following = np.minimum(places + 1, table.shape[axis] - 1)
    weights = weights.reshape(-1, *(1,) * (table.ndim - 1 - axis))
    return [np.take(table, places, axis) * (1 - weights) + np.take(table, following, axis) * weights]


LOOKUP = Operation(
    type="Lookup",
    opset="mine",
    inputs=[Input("table", types=("f32",)), Input("places", types=("i64",)), Input("weights", types=("f32",))],
    attributes=[AXIS],
    infer_shapes=lookup_shapes,
    reference=lookup,
    adds_up=lambda attributes: True,
    rtol=1e-4,
    atol=1e-5,
    index_rule=IndexRule(1, AxisSize("axis"), "[0, s-1]", lowest_specified=lambda size: 0 * size),
)
'''

CLASSES = '''
import numpy as np
import openvino as ov

import {declarations} as declared
from ov_gather.ir.shapes import PartialShape


class _Declared(ov.Op):
    """An operation that computes with NumPy on its own, apart from shapes."""

    operation, defaults = None, {{}}

    def __init__(self, inputs=None, **attributes):
        super().__init__(self)
        self.attributes = {{**self.defaults, **attributes}}
        if inputs is not None:
            self.set_arguments(inputs)
            self.constructor_validate_and_infer_types()

    def get_type_info(self):
        return type(self).class_type_info

    def visit_attributes(self, visitor):
        visitor.on_attributes(self.attributes)
        return True

    def validate_and_infer_types(self):
        shapes = [PartialShape.parse(str(self.get_input_partial_shape(i)).strip("[]")) if "..." not in str(
            self.get_input_partial_shape(i)) else PartialShape(None) for i in range(self.get_input_size())]
        (shape,) = self.operation.infer_shapes(shapes, self.attributes)
        found = ov.PartialShape.dynamic() if shape.dims is None else ov.PartialShape(
            [ov.Dimension(dim.lower, -1 if dim.upper is None else dim.upper) for dim in shape.dims])
        self.set_output_type(0, self.get_input_element_type(0), found)

    def clone_with_new_inputs(self, inputs):
        return type(self)(inputs, **self.attributes)

    def has_evaluate(self):
        return True

    def evaluate(self, outputs, inputs):
        array = self.compute(*(tensor.data for tensor in inputs))
        outputs[0].shape = array.shape
        outputs[0].data[...] = array
        return True


class Roll(_Declared):
    class_type_info, operation, defaults = ov.DiscreteTypeInfo("Roll", "mine"), declared.ROLL, {{"axis": 0, "shifts": [1]}}

    def compute(self, x):
        size, axis = x.shape[self.attributes["axis"]], self.attributes["axis"]
        return np.take(x, (np.arange(size) - sum(self.attributes["shifts"])) % max(size, 1), axis)


class SegmentSum(_Declared):
    class_type_info, operation = ov.DiscreteTypeInfo("SegmentSum", "mine"), declared.SEGMENT_SUM
    defaults = {{"segments": 4}}

    def compute(self, data, ids):
        if ((ids < 0) | (ids >= self.attributes["segments"])).any():
            raise ValueError("a segment is out of bounds")
        return np.stack([data[ids == i].sum(0) for i in range(self.attributes["segments"])])


class Lookup(_Declared):
    class_type_info, operation, defaults = ov.DiscreteTypeInfo("Lookup", "mine"), declared.LOOKUP, {{"axis": 0}}

    def compute(self, table, places, weights):
        rows = np.moveaxis(table, self.attributes["axis"], 0)
        if ((places < 0) | (places >= len(rows))).any():
            raise ValueError("a place is out of bounds")
        weights = weights.reshape(-1, *(1,) * (rows.ndim - 1))
        mixed = rows[places] + (rows[np.minimum(places + 1, len(rows) - 1)] - rows[places]) * weights
        return np.moveaxis(mixed, 0, self.attributes["axis"])
'''


def write_three(path: Path, rows="?") -> Path:
    """Write an IR with the three layers: Roll with open shapes, SegmentSum and Lookup with indices that are bounded, or not."""
    builder = ModelBuilder("three")
    open_rows = PartialShape.parse(f"{rows},3")
    vector = PartialShape.parse(rows)
    x, ids, weights = builder.parameter("x", F32, open_rows), builder.parameter("ids", I64, vector), None
    weights = builder.parameter("weights", F32, vector)
    four = builder.const("four", I64, np.array(4))
    (rolled,) = builder.layer("Roll", "roll", "mine", {"axis": "0", "shifts": "2,-1"}, [x], [(F32, open_rows)])
    attributes = {"auto_broadcast": "numpy"}
    (bounded,) = builder.layer("FloorMod", "bounded", "opset1", attributes, [ids, four], [(I64, vector)])
    table = PartialShape.of((4, 3))
    (sums,) = builder.layer("SegmentSum", "sums", "mine", {"segments": "4"}, [rolled, bounded], [(F32, table)])
    (found,) = builder.layer("Lookup", "lookup", "mine", {"axis": "0"}, [sums, ids, weights], [(F32, open_rows)])
    builder.result("y", found)
    write_ir(builder.build(), path)
    return path
