"""Random ONNX models whose gathers and scatters have computed indices.

Each node is executed as soon as it is made: where onnxruntime refuses it, for whatever reason, it is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import onnx
from onnx import helper, numpy_helper

from helpers.onnx_operators import Runner
from helpers.random_indices import NASTY, NASTY_FRACTIONS, Dim, Given

Item = TypeVar("Item")
OPSET = 20
TYPES = {"f32": "float32", "i64": "int64", "i32": "int32", "boolean": "bool", "u8": "uint8"}
LARGEST = 400


@dataclass
class Builder:
    """The nodes of a model so far, and what each value is for one choice of inputs."""

    rng: np.random.Generator
    runner: Runner
    sizes: dict[str, tuple[int, int]]
    inputs: list[Given] = field(default_factory=list)
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)
    values: dict[str, np.ndarray] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)

    def pick(self, *choices: Item) -> Item:
        return choices[int(self.rng.integers(len(choices)))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def input(self, kind: str) -> None:
        dims: list[Dim] = [self.pick(*self.sizes, 1, 3, 4) for _ in range(self.pick(0, 1, 1, 2, 2, 3))]
        given = Given(f"x{len(self.inputs)}", kind, tuple(dims))
        shape = [dim if isinstance(dim, int) else 2 + len(dim) + ord(dim) % 3 for dim in dims]
        self.inputs.append(given)
        self.values[given.name] = self.rng.integers(0, 3, shape).astype(TYPES[kind])

    def constant(self, elements: Any, kind: str) -> str:
        name = f"c{len(self.constants)}"
        array = np.array(elements)
        with np.errstate(invalid="ignore"):
            array = array.astype(np.int64).astype(TYPES[kind]) if array.dtype.kind == "i" else array.astype(TYPES[kind])
        self.constants.append(numpy_helper.from_array(array, name))
        self.values[name] = array
        self.fixed.add(name)
        return name

    def add(self, operator: str, operands: Sequence[str], outputs: int = 1, **attributes: Any) -> str | None:
        """Add a node; None where it cannot be executed, or yields too much."""
        node = helper.make_node(operator, operands, [f"n{len(self.nodes)}_{i}" for i in range(outputs)], **attributes)
        node.name = f"{len(self.nodes)}_{operator}"
        results = self.runner.run(node, self.values)
        if results is None or any(array.size > LARGEST or array.ndim > 4 for array in results):
            return None
        self.nodes.append(node)
        self.values.update(zip(node.output, results, strict=True))
        return str(node.output[self.pick(*range(outputs))])

    def value(self, *kinds: str, least_rank: int = 0, most_rank: int = 4) -> str | None:
        """A value of these kinds, mostly one of the last."""
        types = [TYPES[kind] for kind in kinds]
        found = [
            name
            for name, array in self.values.items()
            if name not in self.fixed and str(array.dtype) in types and least_rank <= array.ndim <= most_rank
        ]
        return None if not found else self.pick(*found[-3:]) if self.chance(0.6) else self.pick(*found)

    def kind(self, name: str) -> str:
        return next(kind for kind, dtype in TYPES.items() if dtype == str(self.values[name].dtype))

    def axis(self, name: str) -> int:
        return int(self.rng.integers(-self.values[name].ndim, self.values[name].ndim))

    def number(self, kind: str) -> float:
        if kind == "f32":
            return self.pick(*NASTY_FRACTIONS) if self.chance(0.3) else round(float(self.rng.normal(0, 4)), 2)
        return self.pick(*NASTY) if self.chance(0.15) else int(self.rng.integers(-7, 8))

    def operand(self, name: str) -> str:
        """An operand of the same type that is broadcast to a value."""
        kind, array = self.kind(name), self.values[name]
        same = [one for one, other in self.values.items() if other.dtype == array.dtype and other.ndim <= array.ndim]
        if self.chance(0.4):
            return self.pick(*same)
        shape = array.shape[-1:] if self.chance(0.2) and array.ndim else ()
        return self.constant(np.reshape([self.number(kind) for _ in range(int(np.prod(shape)))], shape), kind)

    def size(self) -> str:
        """The size of an axis, as models read it: a scalar."""
        name = self.value("f32", "i64", "i32", "boolean", "u8", least_rank=1)
        shape = None if name is None else self.add("Shape", [name])
        if name is None or shape is None:
            return self.constant(3, "i64")
        return self.add("Gather", [shape, self.constant(self.axis(name), "i64")]) or shape
