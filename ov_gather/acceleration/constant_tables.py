"""Several sites may take constants as indices of axes of the same size: one guard of all these constants serves them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.acceleration.axis_sizes import takes_tuples
from ov_gather.acceleration.graph import constant, wide
from ov_gather.acceleration.unproved import INDICES, Unproved
from ov_gather.extension.python_api import Output, Type
from ov_gather.extension.python_api import opset13 as ops


def sharing_constants(sites: Sequence[Unproved]) -> list[list[Unproved]]:
    """Group the sites that may share a guard of their constants: two or more, not in bodies."""
    groups: dict[Hashable, list[Unproved]] = {}
    for site in sites:
        if site.sizes and not site.is_in_body and constant(site.indices) is not None:
            key = (site.sizes, site.counts_from_end, site.count, takes_tuples(site.node), _kind(site))
            groups.setdefault(key, []).append(site)
    return [group for group in groups.values() if len(group) > 1]


def joined_indices(sites: Sequence[Unproved]) -> Output:
    """Put the constants of some sites into one: a vector, or a row for each tuple."""
    return ops.constant(np.concatenate([_flat(site) for site in sites]), _kind(sites[0])).output(0)


def distribute(joined: Output, sites: Sequence[Unproved]) -> None:
    """Let each of some sites take its part of what `joined_indices` has made, or of a tensor of the same shape."""
    lengths = [len(_flat(site)) for site in sites]
    parts = ops.variadic_split(joined, ops.constant(0), ops.constant(lengths)).outputs()
    for site, part in zip(sites, parts, strict=True):
        shape = ops.constant(np.array(site.indices.get_shape(), np.int64))
        site.node.input(INDICES).replace_source_output(ops.reshape(part, shape, False).output(0))


def _flat(site: Unproved) -> NDArray[Any]:
    """Give the constant of a site as a vector, or as rows of tuples."""
    numbers = constant(site.indices)
    assert numbers is not None
    return numbers.reshape(-1, numbers.shape[-1]) if takes_tuples(site.node) else numbers.reshape(-1)


def _kind(site: Unproved) -> Type:
    return wide(site.indices).get_element_type()
