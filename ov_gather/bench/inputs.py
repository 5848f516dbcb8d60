"""Inputs for benchmarks of models: given arrays, and generated ones for the rest (`generate_inputs`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import openvino as ov
from numpy.typing import NDArray

from ov_gather.crosscheck.inputs.openvino import generate_inputs
from ov_gather.extension import reason

OPEN_SIZE = 128
"""Size of dynamic dimensions of generated inputs, clamped to their bounds."""


def inputs_for(model: ov.Model, given: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
    """Return one array per Parameter of a model, in order; `given` holds some of them by name.

    Raises ValueError if a name is unknown, an array does not fit its input, or an input cannot be generated.
    """
    names = {name: node for node in model.get_parameters() for name in (*node.output(0).get_names(), node.get_friendly_name())}
    if unknown := sorted(set(given) - set(names)):
        raise ValueError(f"there is no input {', '.join(unknown)}; there are {', '.join(sorted(names))}")
    arrays = {names[name].get_instance_id(): array for name, array in given.items()}
    shapes = {}
    for position, parameter in enumerate(model.get_parameters()):
        name, shape = parameter.get_friendly_name(), parameter.get_partial_shape()
        array = arrays.get(parameter.get_instance_id())
        if shape.rank.is_dynamic and array is None:
            raise ValueError(f"input '{name}' is of open rank: give it by --input {name}=FILE.npy")
        if array is not None and not shape.compatible(ov.PartialShape(list(array.shape))):
            raise ValueError(f"input '{name}' is {shape}, and cannot be {list(array.shape)}")
        sizes = [_size(dim) for dim in shape] if array is None else list(array.shape)
        shapes[position] = ov.PartialShape(sizes)
    closed = model.clone()
    try:
        closed.reshape(shapes)
    except RuntimeError as error:
        tried = ", ".join(map(str, shapes.values()))
        raise ValueError(f"inputs of {tried} do not fit the model; give some by --input: {reason(error)}") from None
    made_up = generate_inputs(closed)
    return [
        arrays.get(parameter.get_instance_id(), made) for parameter, made in zip(model.get_parameters(), made_up, strict=True)
    ]


def _size(dim: ov.Dimension) -> int:
    least, greatest = int(dim.get_min_length()), int(dim.get_max_length())
    return max(least, min(OPEN_SIZE, greatest) if greatest >= 0 else OPEN_SIZE)
