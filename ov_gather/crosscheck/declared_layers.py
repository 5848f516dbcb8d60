"""Made-up layers of operations that users declare: types, ranks, sizes and attributes from what the declaration permits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any

import numpy as np

from ov_gather.crosscheck.library.variants import values_of
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import ELEMENT_TYPES, ElementType
from ov_gather.ir.model import Model
from ov_gather.ir.shapes import ANY, UNKNOWN, PartialShape
from ov_gather.ops.fields import OperationError
from ov_gather.ops.isolation import isolate
from ov_gather.ops.layer_view import family_layers
from ov_gather.ops.spec import Operation

TRIES = 300
"""Random layers that are tried for each layer that is made up; at least one of them must be valid."""
_RANKS, _LARGEST = 5, 5


def layers(operations: Sequence[Operation], seed: int) -> Iterator[Model]:
    """Yield layers without end, cycling through the operations; deterministic for a given seed.

    Raises ValueError if no valid layer of an operation is found.
    """
    rng = np.random.default_rng(seed)
    for operation in cycle(operations):
        tried = (_tried(operation, rng) for _ in range(TRIES))
        model = next(filter(None, tried), None)
        if model is None:
            raise ValueError(f"{operation.name}: none of {TRIES} random layers is valid; give examples of its attributes")
        yield model


def _tried(operation: Operation, rng: np.random.Generator) -> Model | None:
    """Return a random layer, one in three with open dimensions; None if it is not valid."""
    types, ranks = _types(operation, rng), _ranks(operation, rng)
    is_open = rng.integers(3) == 0
    try:
        attributes = _attributes(operation, [PartialShape((ANY,) * rank) for rank in ranks], rng)
        shapes = _shapes(operation, ranks, attributes, rng)
        builder = ModelBuilder(f"{operation.name} {' '.join(map(str, types))} {' '.join(map(str, shapes))}")
        inputs = []
        for given, kind, shape in zip(operation.inputs, types, shapes, strict=True):
            if given.attribute:
                inputs.append(
                    builder.const(given.name, kind, np.full(shape.sizes, attributes[given.attribute.name], kind.dtype))
                )
            else:
                declared = PartialShape((ANY,) * (shape.rank or 0)) if is_open else shape
                inputs.append(builder.parameter(given.name, kind, declared))
        text = {
            attribute.name: attribute.text(attributes[attribute.name])
            for attribute in operation.attributes
            if attribute.required or rng.integers(4)
        }
        outputs = [(types[0], UNKNOWN) for _ in operation.outputs]  # isolating the layer infers them
        builder.layer(operation.type, builder.name, operation.opsets[-1], text, inputs, outputs)
        (view,) = family_layers(builder.build())
        operation.restrict(view.input_shapes, view.read_attributes())
        return isolate(view)
    except OperationError:  # the declaration is wrong, not the layer
        raise
    except ValueError:
        return None


def _types(operation: Operation, rng: np.random.Generator) -> list[ElementType]:
    """Choose a type for each input: mostly the same one, where it is permitted."""
    allowed = [
        [kind for kind in given.element_types or ELEMENT_TYPES if kind.numpy_name] or [given.assumed]
        for given in operation.inputs
    ]
    own = [kinds[rng.integers(len(kinds))] for kinds in allowed]
    return [own[0] if own[0] in kinds and rng.integers(4) else kind for kind, kinds in zip(own, allowed, strict=True)]


def _ranks(operation: Operation, rng: np.random.Generator) -> list[int]:
    """Choose a rank for each input: the same, or each its own."""
    ranks = rng.integers(0, _RANKS + 1, len(operation.inputs))
    return [int(ranks[0] if rng.integers(2) else rank) for rank in ranks]


def _attributes(operation: Operation, shapes: Sequence[PartialShape], rng: np.random.Generator) -> dict[str, Any]:
    """Choose valid values. Raises ValueError if an attribute has none."""
    chosen = {}
    for attribute in (*operation.attributes, *(given.attribute for given in operation.inputs if given.attribute)):
        found = [value for value in values_of(attribute, attribute.default, shapes) if not attribute.exceeds(value, shapes)]
        values = found if attribute.default is None else [attribute.default, *found]
        if not values:
            raise ValueError(f"attribute {attribute.name} has no valid value")
        chosen[attribute.name] = values[rng.integers(len(values))]
    return chosen


def _shapes(
    operation: Operation, ranks: Sequence[int], attributes: dict[str, Any], rng: np.random.Generator
) -> list[PartialShape]:
    """Choose sizes at random, or those that the operation chooses for open dimensions. Raises ShapeError, IndexError."""
    if rng.integers(2):
        return [PartialShape.of(map(int, rng.integers(1, _LARGEST + 1, rank))) for rank in ranks]
    opened = [PartialShape((ANY,) * rank) for rank in ranks]
    size = int(rng.integers(1, _LARGEST + 1))
    return [PartialShape.of(sizes) for sizes in operation.choose_sizes(opened, attributes, size)]
