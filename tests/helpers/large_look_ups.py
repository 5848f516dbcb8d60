"""Large models that look up indices: each site needs a condition, on inputs of its own or on those of all sites."""

from collections.abc import Callable, Sequence

import numpy as np

from ov_gather.ir.builder import ModelBuilder, PortRef
from ov_gather.ir.element_types import F32, I64
from ov_gather.ir.model import Model
from ov_gather.ir.shapes import PartialShape


def _gather(builder: ModelBuilder, name: str, data: PortRef, indices: PortRef, shape: Sequence[int], real: bool) -> PortRef:
    axis = builder.const(f"axis_{name}", I64, np.array(0))
    element_type = F32 if real else I64
    outputs = [(element_type, PartialShape.of(shape))]
    return builder.layer("Gather", name, "opset8", {"batch_dims": "0"}, [data, indices, axis], outputs)[0]


def _table(builder: ModelBuilder, name: str, size: int) -> PortRef:
    return builder.const(name, F32, np.zeros((size, 1), np.float32))


def own_inputs(count: int) -> Model:
    """Each site looks up one more than an input of its own, of open size, says."""
    builder = ModelBuilder("own_inputs")
    one, table = builder.const("one", I64, np.array(1)), _table(builder, "table", 10)
    for i in range(count):
        shape = PartialShape.of([-1, 3])
        ids = builder.parameter(f"ids_{i}", I64, shape)
        (index,) = builder.layer("Add", f"index_{i}", "opset1", {}, [ids, one], [(I64, shape)])
        builder.result(f"out_{i}", _gather(builder, f"rows_{i}", table, index, [-1, 3, 1], real=True))
    return builder.build()


def own_tables(count: int) -> Model:
    """One input is looked up in tables of different sizes."""
    builder = ModelBuilder("own_tables")
    ids = builder.parameter("ids", I64, PartialShape.of([2, 3]))
    for i in range(count):
        table = _table(builder, f"table_{i}", 3 + i)
        builder.result(f"out_{i}", _gather(builder, f"rows_{i}", table, ids, [2, 3, 1], real=True))
    return builder.build()


def chain(count: int) -> Model:
    """What one site reads is what the next one reads by."""
    builder = ModelBuilder("chain")
    data = builder.parameter("data", I64, PartialShape.of([10]))
    index = builder.parameter("ids", I64, PartialShape.of([2, 3]))
    for i in range(count):
        index = _gather(builder, f"next_{i}", data, index, [2, 3], real=False)
    builder.result("last", index)
    return builder.build()


def chain_of_inputs(count: int) -> Model:
    """What one site reads in an input of its own is what the next one reads by."""
    builder = ModelBuilder("chain_of_inputs")
    index = builder.parameter("ids", I64, PartialShape.of([2, 3]))
    for i in range(count):
        data = builder.parameter(f"data_{i}", I64, PartialShape.of([10 + i]))
        index = _gather(builder, f"next_{i}", data, index, [2, 3], real=False)
    builder.result("last", index)
    return builder.build()


SHAPES: dict[str, Callable[[int], Model]] = {made.__name__: made for made in (own_inputs, own_tables, chain, chain_of_inputs)}
