"""The reductions of scatters as NumPy computes them, by the names that ONNX gives them."""

from __future__ import annotations

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
