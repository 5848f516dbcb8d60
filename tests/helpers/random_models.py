"""Random models around gathers, for `accelerate`: shared values, dynamic shapes, sub-graphs, indices computed in many ways; and
inputs for them, in and out of bounds, of the sizes that the model was made for and of others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import openvino as ov
from openvino import Output, opset12
from openvino import opset13 as ops

from helpers.random_graphs import Chooser
from helpers.random_operations import BINARY, ROUGH, SMOOTH, integers, matmul, sizes_of, some_axis

LARGEST = 20000
"""Elements of a value that operations are added to."""
ELEMENT_TYPES = ("i32", "i64", "bf16", "i8", "u8", "boolean", "f64")


@dataclass
class Builder(Chooser):
    """The values and Parameters of a model so far, and the size of the axis for Parameters that are indices; which of them
    are those of scatters; whether an operation does not check its indices."""

    rng: np.random.Generator
    smooth: bool
    size: int
    floats: list[Output] = field(default_factory=list)
    indices: list[Output] = field(default_factory=list)
    finished: list[Output] = field(default_factory=list)
    parameters: list[ov.Node] = field(default_factory=list)
    bounds: dict[str, int] = field(default_factory=dict)
    scattered: set[str] = field(default_factory=set)
    reads_unchecked: bool = False

    def parameter(self, shape, element_type):
        node = ops.parameter(ov.PartialShape(list(map(int, shape))), element_type, name=f"p{len(self.parameters)}")
        self.parameters.append(node)
        return node.output(0)

    def data(self):
        """A value of numbers, mostly one that the model has."""
        if not self.floats or self.chance(0.2):
            rank = self.rng.integers(2, 4) if self.smooth else self.rng.integers(1, 5)
            shape = self.rng.integers(1, self.size, int(rank))
            self.floats.append(self.parameter(shape, ov.Type.f32))
        return self.floats[-1] if self.chance(0.8 if self.smooth else 0.5) else self.pick(*self.floats)

    def along(self):
        """A value of numbers, and one of its axes."""
        data = self.data()
        return data, some_axis(self.rng, data)

    def add(self, value):
        if np.prod(sizes_of(value)) <= LARGEST and len(sizes_of(value)) <= 5:
            self.floats.append(value)
        else:
            self.finished.append(value)

    def operate(self):
        """Add one stock operation."""
        value = self.data()
        if self.chance(0.15):
            others = [other for other in self.floats if sizes_of(other) == sizes_of(value)]
            self.add(self.pick(*BINARY)(value, self.pick(*others)).output(0))
        else:
            self.add(self.pick(*SMOOTH, *(() if self.smooth else ROUGH))(self.rng, value))

    def gather(self):
        """Add one gather of the kinds that passes look for, or another one."""
        others = (self.side_by_side, self.labels, self.turned, self.other_type, self.stock, self.in_if)
        scatters = (self.rows, self.block, self.positions)
        self.pick(*[self.elements] * 6, *others, *scatters)()

    def elements(self):
        self.add(self.elements_of(self.data()))

    def elements_of(self, data):
        axis = some_axis(self.rng, data)
        return ops.gather_elements(data, self.index(data, axis), self.pick(axis, axis - len(sizes_of(data)))).output(0)

    def side_by_side(self):
        """Add gathers side by side, as graph networks have them."""
        data, axis = self.along()
        count = int(self.rng.integers(1, self.size + 3))
        ends = [ops.gather_elements(data, self.slices(data, axis, count), axis) for _ in range(self.pick(2, 2, 3))]
        self.add(ops.concat(ends, min(axis + 1, len(sizes_of(data)) - 1)).output(0))

    def labels(self):
        """Add a gather from LogSoftmax, which is mostly an output of the model."""
        data, axis = self.along()
        scores = ops.gather_elements(ops.log_softmax(data, axis), self.index(data, axis, sizes_of(data)[axis] // 2 or 1), axis)
        moved = ops.unsqueeze(scores, integers(0)) if self.chance(0.3) else scores
        (self.finished if self.chance(0.7) else self.floats).append(moved.output(0))

    def turned(self):
        """Add a gather with a Transpose of the last two dimensions behind."""
        gathered = self.elements_of(self.data())
        rank = len(sizes_of(gathered))
        order = [*range(rank - 2), *range(rank)[:-3:-1]]
        self.add(ops.transpose(gathered, integers(*order)).output(0))

    def other_type(self):
        """Add a gather of another type, or of integers that become indices."""
        data = ops.convert(ops.clamp(self.data(), 0.0, 3.0), self.pick(*ELEMENT_TYPES)).output(0)
        if self.smooth:
            data = self.parameter(sizes_of(data), ov.Type.i32)
            self.bounds[data.get_node().get_friendly_name()] = 2
        self.finished.append(self.elements_of(data))

    def stock(self):
        """Add a Gather or a GatherND."""
        data, axis = self.along()
        if self.chance(0.7):
            index = self.line(sizes_of(data)[axis], int(self.rng.integers(1, self.size)))
            self.add(ops.gather(data, index, integers(axis)).output(0))
        else:
            self.reads_unchecked = True
            index = ops.unsqueeze(self.line(sizes_of(data)[0], int(self.rng.integers(1, self.size))), integers(-1))
            inside = ops.clamp(index, 0, sizes_of(data)[0] - 1)
            self.add(ops.gather_nd(data, inside).output(0))

    def rows(self):
        """Add a scatter of whole rows, by an index that is repeated."""
        data = self.data()
        count = int(self.rng.integers(1, self.size + 3))
        updates = self.parameter([count, *sizes_of(data)[1:]], ov.Type.f32)
        before = set(self.bounds)
        index = self.slices(data, 0, count)
        self.scattered |= set(self.bounds) - before
        self.reads_unchecked = True
        reduction = self.pick("none", "sum", "sum", "min", "max")
        self.add(opset12.scatter_elements_update(data, index, updates, ops.constant(0), reduction).output(0))

    def block(self):
        """Add one or several assignments to slices along an axis."""
        self.reads_unchecked = True
        data, axis = self.along()
        size = sizes_of(data)[axis]
        for _ in range(self.pick(1, 1, 2, 3)):
            start = int(self.rng.integers(size))
            shape = [*sizes_of(data)]
            shape[axis] = int(self.rng.integers(1, size - start + 1))
            along = np.arange(start, start + shape[axis]) - self.pick(0, size)
            index = np.broadcast_to(along.reshape([-1 if i == axis else 1 for i in range(len(shape))]), shape)
            given = ops.constant(index.copy()), self.parameter(shape, ov.Type.f32), ops.constant(axis)
            data = ops.scatter_elements_update(data, *given).output(0)
        self.add(data)

    def positions(self):
        """Add gathers of the positions of an axis, one after the other."""
        data, axis = self.along()
        parts = [ops.gather(data, ops.constant(i), ops.constant(axis)) for i in range(sizes_of(data)[axis])]
        changed = [ops.unsqueeze(self.pick(ops.relu, ops.tanh)(part), integers(axis)) for part in parts[::-1]]
        self.add(ops.concat(changed, axis).output(0))

    def in_if(self):
        """Add a gather in the bodies of an If."""
        data, axis = self.along()
        shape, index = sizes_of(data), self.index(data, axis)
        condition = self.parameter([], ov.Type.boolean)
        node, bodies, inner = ops.if_op(condition), [], []
        for _ in range(2):
            given = ops.parameter(shape, np.float32), ops.parameter(sizes_of(index), index.get_element_type())
            inner.append(given)
            gathered = self.pick(ops.relu, ops.tanh)(ops.gather_elements(*given, axis))
            bodies.append(ov.Model([gathered], list(given), "body"))
        node.set_then_body(bodies[0])
        node.set_else_body(bodies[1])
        for i, value in enumerate((data, index)):
            node.set_input(value, inner[0][i], inner[1][i])
        self.finished.append(node.set_output(bodies[0].results[0], bodies[1].results[0]))

    def line(self, size, count):
        """Indices of one dimension, counted from the start."""
        index = self.source([count], size)
        return ops.clamp(index, -size, size - 1).output(0) if self.chance(0.6) else index

    def index(self, data, axis, count=0):
        """An index for a GatherElements: whole, or small and repeated; maybe clamped, converted or shared."""
        shape = sizes_of(data)
        shape[axis] = count or int(self.rng.integers(1, self.size + 3))
        shared = [index for index in self.indices if sizes_of(index) == shape]
        if shared and self.chance(0.5):
            return self.pick(*shared)
        if self.chance(0.15) and shape[axis] <= sizes_of(data)[axis] and not self.smooth:
            index = ops.topk(data, ops.constant(shape[axis]), axis, "max", "value").output(1)
        elif self.chance(0.3):
            index = self.inside(self.source(shape, sizes_of(data)[axis]), sizes_of(data)[axis])
        else:
            own = [size if i == axis or self.chance(0.3) else 1 for i, size in enumerate(shape)]
            index = self.computed(own, data, axis, shape)
        self.indices.append(index)
        return index

    def slices(self, data, axis, count):
        """An index that is the same for whole slices."""
        shape = [*sizes_of(data)[:axis], count, *sizes_of(data)[axis + 1 :]]
        own = [size if i <= axis else 1 for i, size in enumerate(shape)]
        return self.computed(own, data, axis, shape)

    def computed(self, own, data, axis, shape):
        """An index that is computed in a shape of its own, then repeated."""
        size = sizes_of(data)[axis]
        return self.repeated(self.inside(self.source(own, size), size), data, axis, shape)

    def source(self, shape, size):
        """A Parameter, or a constant."""
        element_type = self.pick(ov.Type.i64, ov.Type.i64, ov.Type.i32)
        if self.chance(0.2):
            return ops.constant(self.rng.integers(-size, size, shape).astype(element_type.to_dtype())).output(0)
        value = self.parameter(shape, element_type)
        self.bounds[value.get_node().get_friendly_name()] = size
        return value

    def inside(self, index, size):
        """The index as given, or computed so that no element is out of bounds."""
        kind = index.get_element_type().to_dtype()
        way = self.pick("as it is", "as it is", "clamped", "modulo", "clamped", "added", "converted")
        if way == "clamped":
            return ops.clamp(index, self.pick(-size, 0), size - 1).output(0)
        if way == "modulo":
            return ops.floor_mod(ops.clamp(index, -1000, 1000), ops.constant(np.array(size, kind))).output(0)
        if way == "added":
            return ops.subtract(ops.add(index, ops.constant(np.array(1, kind))), ops.constant(np.array(1, kind))).output(0)
        return ops.convert(index, "i32").output(0) if way == "converted" else index

    def repeated(self, index, data, axis, shape):
        """Repeat an index from size 1 to the size of data, by constants or by data's shape at run time."""
        kind = index.get_element_type().get_type_name()
        if self.chance(0.5):
            wanted, times = integers(*shape), integers(*(a // b for a, b in zip(shape, sizes_of(index), strict=True)))
        else:
            own, given = (ops.shape_of(operand) for operand in (index, data))
            kept = [i == axis or sizes_of(index)[i] == size for i, size in enumerate(shape)]
            parts = [ops.gather(own if keeps else given, integers(i), integers(0)) for i, keeps in enumerate(kept)]
            ones = [integers(1) if keeps else part for keeps, part in zip(kept, parts, strict=True)]
            wanted, times = (ops.concat(sizes, 0).output(0) for sizes in (parts, ones))
        way = self.pick("numpy", "bidirectional", "tile", "concat")
        if way == "bidirectional":
            return ops.broadcast(index, wanted, broadcast_spec="BIDIRECTIONAL").output(0)
        if way == "tile":
            return ops.tile(index, times).output(0)
        if way == "concat" and len(shape) > 1 and axis != 0 and sizes_of(index)[0] == 1 and shape[0] <= 4:
            index = ops.concat([index] * shape[0], 0).output(0)
        whole = ops.broadcast(index, wanted)
        return ops.convert(whole, "i64").output(0) if kind == "i32" and self.chance(0.3) else whole.output(0)


def sample(seed, *, smooth=False, size=7):
    """The random model of a seed, and arrays for its Parameters, in their order, by what they are for."""
    builder = Builder(np.random.default_rng(seed), smooth, size)
    for _ in range(int(builder.rng.integers(1, 4))):
        for _ in range(int(builder.rng.integers(0, 4))):
            builder.operate()
        if smooth:
            builder.add(matmul(builder.rng, builder.data()))  # OpenVINO computes a MatMul in less than f32
        builder.gather()
    for _ in range(int(builder.rng.integers(1 if smooth else 0, 4))):
        builder.operate()
    outputs = [output for output in (*builder.finished, *builder.floats) if not output.get_target_inputs()]
    results = [ops.result(output) for output in outputs]
    parameters = [node for node in builder.parameters if node.output(0).get_target_inputs()]
    model = ov.Model(results, parameters, f"random{seed}")
    shapes = [list(node.get_output_shape(0)) for node in parameters]
    opened = _open(builder, model)
    return model, dict(_trials(builder, parameters, shapes, opened))


def _open(builder, model):
    """Make some dimensions dynamic or bounded where the model allows; returns them by Parameter and dimension."""
    if builder.chance(0.35):
        return []
    wanted = {}
    for i, node in enumerate(model.get_parameters()):
        shape = [builder.pick(-1, f"1..{size + 5}") if builder.chance(0.6) else size for size in node.get_output_shape(0)]
        wanted[i] = ov.PartialShape(shape)
    try:
        model.reshape(wanted)
    except RuntimeError:
        return []
    return [(i, j) for i, shape in wanted.items() for j, dim in enumerate(shape) if dim.is_dynamic]


def _trials(builder, parameters, shapes, opened) -> Iterator[tuple[str, list[np.ndarray]]]:
    yield "in bounds", _arrays(builder, parameters, shapes)
    indices = [i for i, node in enumerate(parameters) if node.get_friendly_name() in builder.bounds]
    if indices:
        arrays = _arrays(builder, parameters, shapes)
        wrong = builder.pick(*indices)
        name = parameters[wrong].get_friendly_name()
        size = builder.bounds[name]
        bad = builder.pick(size, -size - 1, size + 40, -90)
        if name in builder.scattered:
            bad = abs(bad)  # by an index that is too low ScatterElementsUpdate writes to other memory
        arrays[wrong].flat[int(builder.rng.integers(arrays[wrong].size))] = bad
        yield "out of bounds", arrays
    # In smaller data an index that a Clamp keeps in bounds would not be: OpenVINO's scatters and GatherND do not check it.
    if opened and not builder.reads_unchecked:
        i, j = builder.pick(*opened)
        others = [list(shape) for shape in shapes]
        others[i][j] = builder.pick(1, others[i][j] + 1, others[i][j] + 3)
        yield "other sizes", _arrays(builder, parameters, others)


def _arrays(builder, parameters, shapes):
    arrays = []
    for node, shape in zip(parameters, shapes, strict=True):
        dtype, size = node.get_element_type().to_dtype(), builder.bounds.get(node.get_friendly_name())
        if size is not None:
            arrays.append(builder.rng.integers(-size, size, shape).astype(dtype))
        elif dtype == np.bool_:
            arrays.append(np.array(builder.chance(0.5)))
        else:
            arrays.append(builder.rng.standard_normal(shape).astype(dtype))
    return arrays
