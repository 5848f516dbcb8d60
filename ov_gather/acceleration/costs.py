"""How many elements a rewrite must move to pay.

OpenVINO takes longer to call an operation of an extension than its own: up to 0.5 us with static shapes, 2.1 to 3.4 us with
open ones, since it clones the node in each inference to infer its shape. From 400 elements on, or 1,600 to 6,100, our
GatherElements pays for that (Sapphire Rapids, `python tests/tools/evidence.py nodes`).
"""

from __future__ import annotations

from math import prod

from ov_gather.acceleration.graph import gathers_elements, is_scatter, walk
from ov_gather.extension.python_api import Dimension, Model, Output
from ov_gather.ops.table import OPENVINO, where

SMALL = 8192
"""Number of output elements below which a rewrite may cost more than it saves."""

USUAL = 256
"""Size that an open dimension is taken to have if a call of ours costs little beside what goes away, or the whole model."""

_BATCHED = 3
"""Least rank whose first dimension is usually a batch, which is small or even 1 where a model is served."""

_WITH_WEIGHTS = where(OPENVINO, lambda op: op.rule in ("convolution", "group_product", "matrix_product"))
_WEIGHTS = 800_000
"""Weights for each gather and scatter beside which a call of ours costs little: reading them takes 50 times as long."""


def too_small(value: Output, times: int = 1, *, open_size: int = 0) -> bool:
    """Return True if a value may have fewer than `times * SMALL` elements.

    An open dimension has `open_size` elements, or its least size if that is more, but at least 1 and at most its greatest size;
    the first of three or more dimensions, a batch, counts as its least size whatever `open_size` is.
    """
    shape = value.get_partial_shape()
    dims = [] if shape.rank.is_dynamic else list(shape)
    batch = 0 if len(dims) >= _BATCHED else None
    return prod(_size(dim, 0 if axis == batch else open_size) for axis, dim in enumerate(dims)) < times * SMALL


def is_heavy(model: Model) -> bool:
    """Return True if calls of ours cost little beside reading the weights of matrix products and convolutions."""
    sites = weights = 0
    for _, node in walk(model):
        sites += gathers_elements(node) or is_scatter(node)
        if node.get_type_name() in _WITH_WEIGHTS:
            shape = node.get_input_partial_shape(1)
            weights += prod(shape.to_shape()) if shape.is_static else 0
    return weights >= sites * _WEIGHTS


def why_too_small(value: Output, *, open_size: int = 0) -> str:
    """Return that a value is too small, or may be; empty if it is not."""
    if not too_small(value, open_size=open_size):
        return ""
    return "too small to gain" if value.get_partial_shape().is_static else "too small to gain for the least open sizes"


def _size(dim: Dimension, open_size: int) -> int:
    least, greatest = int(dim.get_min_length()), int(dim.get_max_length())
    size = least if dim.is_static else max(least, open_size, 1)
    return size if greatest < 0 else min(size, greatest)
