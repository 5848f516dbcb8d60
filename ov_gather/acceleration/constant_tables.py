"""One guard for the constant indices of several sites.

before: Gather(a [n], [0, 5]); Gather(b [n], [3])
after:  VariadicSplit(guard([0, 5, 3])) feeds both
"""

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
    """Group the sites outside of bodies whose constant indices can share a guard; return the groups of two or more."""
    groups: dict[Hashable, list[Unproved]] = {}
    for site in sites:
        if site.sizes and not site.is_in_body and constant(site.indices) is not None:
            key = (site.sizes, site.counts_from_end, site.count, takes_tuples(site.node), _kind(site))
            groups.setdefault(key, []).append(site)
    return [group for group in groups.values() if len(group) > 1]


def joined_indices(sites: Sequence[Unproved]) -> Output:
    """Concatenate the constant indices of several sites: to a vector, or to rows of tuples."""
    return ops.constant(np.concatenate([_flat(site) for site in sites]), _kind(sites[0])).output(0)


def distribute(joined: Output, sites: Sequence[Unproved]) -> None:
    """Split `joined`, the guarded result of `joined_indices`, and feed each site its part."""
    lengths = [len(_flat(site)) for site in sites]
    parts = ops.variadic_split(joined, ops.constant(0), ops.constant(lengths)).outputs()
    for site, part in zip(sites, parts, strict=True):
        shape = ops.constant(np.array(site.indices.get_shape(), np.int64))
        site.node.input(INDICES).replace_source_output(ops.reshape(part, shape, False).output(0))


def _flat(site: Unproved) -> NDArray[Any]:
    numbers = constant(site.indices)
    assert numbers is not None
    return numbers.reshape(-1, numbers.shape[-1]) if takes_tuples(site.node) else numbers.reshape(-1)


def _kind(site: Unproved) -> Type:
    return wide(site.indices).get_element_type()
