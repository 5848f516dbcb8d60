"""Conditions under which a divergence applies to a layer and its operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ov_gather.ir.element_types import BOOLEAN, F16, F64, I64, STRING, U32, U64, ElementType
from ov_gather.ops.layer_view import LayerView

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Operands = Sequence[NDArray[Any]]
    Condition = Callable[[LayerView, Operands], bool]

NARROWED_BY_CPU = {I64: "i32", U64: "i32", F64: "f32"}


def data_is(*types: ElementType) -> Condition:
    """Return the condition that data has one of these types."""
    return lambda view, operands: view.input_types[0] in types


def constant_data_is(*types: ElementType) -> Condition:
    """Return the condition that data comes from a Const and has one of these types."""
    return lambda view, operands: view.input_types[0] in types and view.is_constant(0)


def index_type(view: LayerView) -> ElementType | None:
    """Return the element type of indices; None if unknown."""
    return view.input_types[view.index_rule.port]


def has_elements_below_a_byte(view: LayerView, operands: Operands) -> bool:
    """Return True if several elements of data share a byte."""
    data_type = view.input_types[0]
    return data_type is not None and data_type.bits % 8 != 0


def has_open_axis(view: LayerView, operands: Operands) -> bool:
    """Return True if the input `axis` does not come from a Const."""
    return "axis" not in view.read_attributes()


def has_open_rank(view: LayerView, operands: Operands) -> bool:
    """Return True if the rank of an input or output is open."""
    return any(shape.rank is None for shape in (*view.input_shapes, *(view.output_shapes or ())))


def has_lowest_sizes(view: LayerView, operands: Operands) -> bool:
    """Return True if an open dimension of an input has a lower bound above 0."""
    dims = (dim for shape in view.input_shapes for dim in shape.dims or ())
    return any(dim.lower > 0 and not dim.is_static for dim in dims)


def exceeds_rank_32(view: LayerView, operands: Operands) -> bool:
    """Return True if an input or output has more than 32 dimensions."""
    ranks = (shape.rank or 0 for shape in view.output_shapes or ())
    return max(*(array.ndim for array in operands), *ranks) > 32


def exceeds_int32(view: LayerView, operands: Operands) -> bool:
    """Return True if an input has more elements than an int32 can count."""
    return any(array.size > 2**31 - 1 for array in operands)


def is_static_and_empty(view: LayerView, operands: Operands) -> bool:
    """Return True if data and indices have static shapes, one of them is empty, and not both are constant."""
    shapes = view.input_shapes[:2]
    if not all(shape.is_static for shape in shapes) or (view.is_constant(0) and view.is_constant(1)):
        return False
    return any(0 in shape.sizes for shape in shapes)


def is_narrowed(view: LayerView, operands: Operands) -> bool:
    """Return True if the plugin narrows an input: 64-bit elements to 32 bits, or u32 indices to i32."""
    inputs = zip(view.input_types, view.attribute_values, strict=True)
    return index_type(view) is U32 or any(element_type in NARROWED_BY_CPU and value is None for element_type, value in inputs)


def saturates(view: LayerView, operands: Operands) -> bool:
    """Return True if an input may hold values beyond the 32-bit type to which the plugin converts it."""
    return U32 in view.input_types or is_narrowed(view, operands)


def has_indices_outside_data(view: LayerView, operands: Operands) -> bool:
    """Return True if an index is negative or out of bounds."""
    rule = view.index_rule
    return bool((operands[rule.port] < 0).any()) or is_out_of_bounds(view, operands)


def has_negative_indices(view: LayerView, operands: Operands) -> bool:
    """Return True if an index is negative, although the operation's specification does not allow that."""
    rule = view.index_rule
    return rule.lowest_specified(1) == 0 and bool((operands[rule.port] < 0).any())


def is_out_of_bounds(view: LayerView, operands: Operands) -> bool:
    """Return True if an index is out of bounds and the operation does not fill zeros."""
    from ov_gather.ops.reference import evaluate

    try:
        evaluate(view.operation, operands, view.attributes_for(operands))
    except IndexError:
        return True
    return False


def gathers_out_of_bounds(view: LayerView, operands: Operands) -> bool:
    """Return True if an index of Gather is out of bounds, whether or not it yields zeros."""
    size = operands[0].shape[view.attributes_for(operands)["axis"]]
    return bool(((operands[1] < -size) | (operands[1] >= size)).any())


def gathers_unchecked(view: LayerView, operands: Operands) -> bool:
    """Return True if an index of Gather is outside the specified range and the CPU plugin takes its unchecked short path."""
    data, indices = operands[:2]
    small = data.ndim == 1 and indices.ndim <= 1 and data.size <= 64 and indices.size <= 64
    as_i32 = data.dtype.kind in "iu" and data.itemsize > 1
    return small and as_i32 and (has_negative_indices(view, operands) or gathers_out_of_bounds(view, operands))


def has_batches_of_one(view: LayerView, operands: Operands) -> bool:
    """Return True if Gather has static shapes, and batch dimensions that are all 1."""
    batch = view.attributes_for(operands).get("batch_dims", 0)
    batch += operands[1].ndim if batch < 0 else 0
    is_static = all(shape.is_static for shape in view.input_shapes)
    return is_static and batch > 0 and all(size == 1 for size in operands[1].shape[:batch])


def gathers_strings_by_bytes(view: LayerView, operands: Operands) -> bool:
    """Return True if data holds strings, and indices have 8 bits."""
    indices = index_type(view)
    return view.input_types[0] is STRING and indices is not None and indices.bits == 8


def broadcasts_or_transposes(view: LayerView, operands: Operands) -> bool:
    """Return True if our GatherElements broadcasts indices, transposes its output, or has lanes."""
    attributes = view.read_attributes()
    return any(attributes.get(name) for name in ("broadcast", "transpose", "lanes"))


def gathers_batches(view: LayerView, operands: Operands) -> bool:
    """Return True if Gather has batch dimensions, or GatherND-5 fuses several."""
    return view.read_attributes().get("batch_dims", 0) not in ((0, 1) if view.operation.name == "GatherND-5" else (0,))


def reduces_beyond_onnx(view: LayerView, operands: Operands) -> bool:
    """Return True if ONNX lacks the reduction, or the option not to use initial values."""
    attributes = view.read_attributes()
    return attributes.get("reduction") in ("mean", "sub") or not attributes.get("use_init_val", True)


def reduces_halves_or_booleans(view: LayerView, operands: Operands) -> bool:
    """Return True if the layer reduces f16 or boolean."""
    return view.input_types[0] in (F16, BOOLEAN) and reduces(view, operands)


def fills_zeros(view: LayerView, operands: Operands) -> bool:
    """Return True if an index of Gather is out of bounds and yields zeros."""
    zero: bool = view.index_rule.zero_fill(view.attributes_for(operands))
    return zero and gathers_out_of_bounds(view, operands)


def has_scalars(view: LayerView, operands: Operands) -> bool:
    """Return True if indices or updates are scalars, and not all inputs are constant."""
    constant = all(view.is_constant(port) for port in range(len(view.layer.inputs)))
    return not constant and any(shape.rank == 0 for shape in view.input_shapes[1:3])


def has_spare_dimensions(view: LayerView, operands: Operands) -> bool:
    """Return True if the single tuple of a ScatterNDUpdate names one element, whose update is not a scalar."""
    data, indices, updates = (shape.rank for shape in view.input_shapes)
    return indices == 1 and view.input_shapes[1].sizes == (data,) and updates != 0


def scatters_negative(view: LayerView, operands: Operands) -> bool:
    """Return True if an index is negative, although not allowed, and the CPU plugin checks it."""
    return has_negative_indices(view, operands) and not _scatters_shortly(view, operands)


def scatters_unchecked(view: LayerView, operands: Operands) -> bool:
    """Return True if an index of ScatterUpdate is outside the specified range and the CPU plugin does not check it."""
    return _scatters_shortly(view, operands) and has_indices_outside_data(view, operands)


def _scatters_shortly(view: LayerView, operands: Operands) -> bool:
    data, indices = operands[:2]
    as_i32 = data.dtype.kind in "iu" and data.itemsize > 1
    return data.ndim == 1 and indices.ndim <= 1 and data.size <= 64 and as_i32


def writes_twice(view: LayerView, operands: Operands) -> bool:
    """Return True if several updates may write to the same place without a reduction."""
    return not reduces(view, operands) and operands[1].size > 1


def reduces_floats(view: LayerView, operands: Operands) -> bool:
    """Return True if the scatter reduces floating-point numbers, also in lanes."""
    data_type, lanes = view.input_types[0], view.layer.attributes.get("lanes")
    is_real = data_type is not None and (data_type.dtype.kind == "f" or "float" in data_type.dtype.name)
    return (is_real or lanes in ("f64", "c64", "c128")) and reduces(view, operands)


def picks_float(view: LayerView, operands: Operands) -> bool:
    """Return True if the scatter reduces floating-point numbers to the smallest or largest."""
    return view.layer.attributes.get("reduction") in ("min", "max") and reduces_floats(view, operands)


def reduces(view: LayerView, operands: Operands) -> bool:
    """Return True if the scatter has a reduction."""
    return view.layer.attributes.get("reduction", "none") != "none"


READS_INDICES = {
    *(has_indices_outside_data, has_negative_indices, is_out_of_bounds, gathers_out_of_bounds, gathers_unchecked),
    *(fills_zeros, scatters_negative, scatters_unchecked),
}
"""Conditions that depend on the values of indices, not only on types, shapes and attributes."""
