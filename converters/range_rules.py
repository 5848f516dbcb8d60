"""The rules for the bounds of integers: one short function for each ONNX operator."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from math import prod

import onnx_ir

from ov_gather.ops.meanings import ONNX, Selection
from ov_gather.ops.onnx_nodes import attribute

from .graphs import constant_of
from .interval import LARGEST_SIZE, Dim, Interval, every_value, from_sizes, of_size, positions, union

Of = Callable[[onnx_ir.Value | None], Interval | None]
Rule = Callable[[onnx_ir.Node, Of], Interval | None]


def _input(node: onnx_ir.Node, position: int) -> onnx_ir.Value | None:
    return node.inputs[position] if position < len(node.inputs) else None


def _dims(value: onnx_ir.Value | None) -> tuple[Dim, ...] | None:
    return None if value is None or value.shape is None else value.shape.dims


def _any_of(sources: Collection[int]) -> Rule:
    """Each element of the output is an element of one of these inputs."""
    return lambda node, of: union(of(value) for position, value in enumerate(node.inputs) if position in sources)


def _of_sizes(combine: Callable[..., Interval | None]) -> Rule:
    """Bound arithmetic. What is computed from open sizes alone is taken to be as small as they: the size of some tensor."""

    def rule(node: onnx_ir.Node, of: Of) -> Interval | None:
        operands = [operand for value in node.inputs if (operand := of(value)) is not None]
        found = combine(*operands) if len(operands) == len(node.inputs) else None
        if found is None or not from_sizes(operands) or found.lo > LARGEST_SIZE or found.hi < -LARGEST_SIZE:
            return found
        return replace(found, lo=max(found.lo, -LARGEST_SIZE), hi=min(found.hi, LARGEST_SIZE), of_sizes=True)

    return rule


def _add(x: Interval, y: Interval) -> Interval:
    if y.lo == y.hi:
        return x.plus(y.lo)
    return y.plus(x.lo) if x.lo == x.hi else Interval(x.lo + y.lo, x.hi + y.hi)


def _subtract(x: Interval, y: Interval) -> Interval:
    return x.plus(-y.lo) if y.lo == y.hi else Interval(x.lo - y.hi, x.hi - y.lo)


def _around(x: Interval, y: Interval, combine: Callable[[int, int], int]) -> Interval:
    """Return the bounds of a result that is monotonic in each operand."""
    corners = [combine(i, j) for i in (x.lo, x.hi) for j in (y.lo, y.hi)]
    return Interval(min(corners), max(corners))


def _multiply(x: Interval, y: Interval) -> Interval:
    return _around(x, y, lambda i, j: i * j)


def _divide(x: Interval, y: Interval) -> Interval | None:
    if y.lo < 0:
        return None
    return _around(x, replace(y, lo=max(y.lo, 1), hi=max(y.hi, 1)), lambda i, j: i // j if i >= 0 else -(-i // j))


def _remainder(node: onnx_ir.Node, of: Of) -> Interval | None:
    x, y = of(_input(node, 0)), of(_input(node, 1))
    if x is None or y is None or y.lo < 0:
        return None
    below = y.plus(-1)
    with_sign_of_x = attribute(node, "fmod", 0) and x.lo < 0
    return replace(below, lo=-max(below.hi, 0) if with_sign_of_x else 0, hi=max(below.hi, 0), of_sizes=False)


def _negate(x: Interval) -> Interval:
    return Interval(-x.hi, -x.lo)


def _absolute(x: Interval) -> Interval:
    return Interval(max(x.lo, -x.hi, 0), max(-x.lo, x.hi))


def _least(*given: Interval) -> Interval:
    bound = next((interval.bound for interval in given if interval.bound is not None), None)
    return Interval(min(interval.lo for interval in given), min(interval.hi for interval in given), bound)


def _greatest(*given: Interval) -> Interval:
    bound = given[0].bound if all(interval.bound == given[0].bound for interval in given) else None
    return Interval(max(interval.lo for interval in given), max(interval.hi for interval in given), bound)


def _clip(node: onnx_ir.Node, of: Of) -> Interval | None:
    found, lo, hi = (of(_input(node, position)) for position in range(3))
    if found is not None and lo is not None:
        found = _greatest(found, lo)
    return found if found is None or hi is None else _least(found, hi)


def _range(node: onnx_ir.Node, of: Of) -> Interval | None:
    start, limit, delta = map(of, node.inputs)
    if start is None or limit is None or delta is None or delta.lo <= 0 <= delta.hi:
        return None
    if delta.hi < 0:
        return Interval(min(start.hi, limit.lo + 1), start.hi, start.bound)
    return Interval(start.lo, max(start.lo, limit.hi - 1), limit.plus(-1).bound)


def _shape(node: onnx_ir.Node, of: Of) -> Interval | None:
    dims = _dims(node.inputs[0])
    if dims is None:
        return Interval(0, LARGEST_SIZE, of_sizes=True)
    end = attribute(node, "end", len(dims))
    return union(map(of_size, dims[attribute(node, "start", 0) : end]))


def _size(node: onnx_ir.Node, of: Of) -> Interval:
    dims = _dims(node.inputs[0])
    if dims is None or not all(isinstance(dim, int) for dim in dims):
        return Interval(0, LARGEST_SIZE, of_sizes=True)
    return of_size(prod(dim for dim in dims if isinstance(dim, int)))


def _gather(node: onnx_ir.Node, of: Of) -> Interval | None:
    """Bound a Gather as any selection; but where it gathers from a Shape, by the chosen sizes only."""
    data, indices = node.inputs[0], node.inputs[1]
    producer = None if data is None else data.producer()
    chosen = None if indices is None else constant_of(indices)
    if producer is None or producer.domain != "" or producer.op_type != "Shape" or producer.attributes or chosen is None:
        return of(data)
    dims = _dims(producer.inputs[0])
    wanted = [int(index) for index in chosen.numpy().ravel()]
    if dims is None or not all(-len(dims) <= index < len(dims) for index in wanted):
        return of(data)
    return union(of_size(dims[index]) for index in wanted)


def _position_along_axis(default: int) -> Rule:
    def rule(node: onnx_ir.Node, of: Of) -> Interval | None:
        dims, axis = _dims(node.inputs[0]), attribute(node, "axis", default)
        return positions(dims[axis]) if dims and -len(dims) <= axis < len(dims) else Interval(0, LARGEST_SIZE)

    return rule


def _position_in_any(position: int) -> Rule:
    """Each element is a coordinate along one of the axes of an input."""

    def rule(node: onnx_ir.Node, of: Of) -> Interval | None:
        dims = _dims(_input(node, position))
        return Interval(0, LARGEST_SIZE) if dims is None else union(map(positions, dims))

    return rule


def _position_of_element(node: onnx_ir.Node, of: Of) -> Interval:
    return Interval(0, LARGEST_SIZE)


def _extreme(node: onnx_ir.Node, of: Of) -> Interval | None:
    """The result is one of the elements, if there are any."""
    count = _size(node, of)
    return of(node.inputs[0]) if count.lo > 0 else None


def _product(node: onnx_ir.Node, of: Of) -> Interval | None:
    """A product of sizes is the number of elements of some tensor."""
    found = of(node.inputs[0])
    return Interval(0, LARGEST_SIZE, of_sizes=True) if found is not None and found.of_sizes and found.lo >= 0 else None


def _sum(node: onnx_ir.Node, of: Of) -> Interval | None:
    """A sum has at most as many terms as the input has elements."""
    found, count = of(node.inputs[0]), _size(node, of)
    return None if found is None else Interval(min(found.lo * count.hi, 0), max(found.hi * count.hi, 0))


def _scatter(node: onnx_ir.Node, of: Of) -> Interval | None:
    reduction = node.attributes["reduction"].as_string() if "reduction" in node.attributes else "none"
    return union([of(node.inputs[0]), of(node.inputs[2])]) if reduction == "none" else None


def _pad(node: onnx_ir.Node, of: Of) -> Interval | None:
    mode = node.attributes["mode"].as_string() if "mode" in node.attributes else "constant"
    if mode != "constant":
        return of(node.inputs[0])
    padding = _input(node, 2)
    return union([of(node.inputs[0]), Interval(0, 0) if padding is None else of(padding)])


def _constant_of_shape(node: onnx_ir.Node, of: Of) -> Interval | None:
    if "value" not in node.attributes:
        return None
    tensor = node.attributes["value"].as_tensor()
    if every_value(tensor.dtype) is None or tensor.size != 1:
        return None  # infinity, which fills attention masks, is no integer
    value = int(tensor.numpy().item())
    return Interval(value, value)


_data = _any_of((0,))

# Where nothing comes out but elements of inputs, the output is bounded as these are. A Cast that changes them, as its type is
# narrower, is seen by whoever learns the bounds.
_SELECTIONS: dict[str, tuple[Rule, ...]] = {
    name: (_any_of(meaning.sources),)
    for name, meaning in ONNX.items()
    if meaning.sources and not meaning.adds and not meaning.reduces and meaning.selection is not Selection.BY_VALUE
}
# For each output; the last rule serves all further ones.
RULES: Mapping[str, tuple[Rule, ...]] = _SELECTIONS | {
    "Gather": (_gather,),
    "TopK": (_data, _position_along_axis(-1)),
    "Unique": (_data, _position_of_element),
    "MaxPool": (_data, _position_of_element),
    "ArgMax": (_position_along_axis(0),),
    "ArgMin": (_position_along_axis(0),),
    "NonZero": (_position_in_any(0),),
    "NonMaxSuppression": (_position_in_any(1),),
    "Shape": (_shape,),
    "Size": (_size,),
    "Range": (_range,),
    "ScatterElements": (_scatter,),
    "ScatterND": (_scatter,),
    "Pad": (_pad,),
    "ConstantOfShape": (_constant_of_shape,),
    "Clip": (_clip,),
    "Min": (_of_sizes(_least),),
    "Max": (_of_sizes(_greatest),),
    "Add": (_of_sizes(_add),),
    "Sub": (_of_sizes(_subtract),),
    "Mul": (_of_sizes(_multiply),),
    "Div": (_of_sizes(_divide),),
    "Mod": (_remainder,),
    "Neg": (_of_sizes(_negate),),
    "Abs": (_of_sizes(_absolute),),
    "Sign": (lambda node, of: Interval(-1, 1),),
    "ReduceMax": (_extreme,),
    "ReduceMin": (_extreme,),
    "ReduceProd": (_product,),
    "ReduceSum": (_sum,),
    "CumSum": (_sum,),
}
