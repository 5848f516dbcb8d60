"""The reductions of scatters as NumPy computes them, by the names that ONNX gives them."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def product(one: Any, other: Any) -> Any:
    """Multiply; every step of a complex product is rounded, which `np.multiply` does on some CPUs only."""
    if not np.iscomplexobj(one):
        return np.multiply(one, other)
    output = np.empty(np.broadcast(one, other).shape, np.asarray(one).dtype)
    output.real = one.real * other.real - one.imag * other.imag
    output.imag = one.real * other.imag + one.imag * other.real
    return output


REDUCTIONS: Mapping[str, Callable[[Any, Any], Any]] = {"add": np.add, "mul": product, "max": np.maximum, "min": np.minimum}


def scattered(data: Any, indices: Any, updates: Any, axis: int | None = None, function: Any = None) -> Any:
    """Scatter as ONNX defines it, one update after the other: elements along an axis, or slices by tuples if there is none."""
    output = data.copy()
    for at in np.ndindex(*(indices.shape[:-1] if axis is None else indices.shape)):
        place = tuple(indices[at]) if axis is None else (*at[:axis], indices[at], *at[axis + 1 :])
        output[place] = updates[at] if function is None else function(output[place], updates[at])
    return output
