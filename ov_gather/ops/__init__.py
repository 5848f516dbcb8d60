"""Registry of operations, found by a layer's type and version: the gather family, one file each, and what users declare."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from ov_gather.ir.model import Layer
from ov_gather.ops.gather import GATHER_1, GATHER_7, GATHER_8, GATHER_CUSTOM
from ov_gather.ops.gather_elements import GATHER_ELEMENTS_6
from ov_gather.ops.gather_elements_custom import GATHER_ELEMENTS_CUSTOM
from ov_gather.ops.gather_nd import GATHER_ND_5, GATHER_ND_8, GATHER_ND_CUSTOM
from ov_gather.ops.scatter_elements_update import SCATTER_ELEMENTS_CUSTOM, SCATTER_ELEMENTS_UPDATE_3, SCATTER_ELEMENTS_UPDATE_12
from ov_gather.ops.scatter_nd_update import SCATTER_ND_CUSTOM, SCATTER_ND_UPDATE_3, SCATTER_ND_UPDATE_15
from ov_gather.ops.scatter_update import SCATTER_UPDATE_3
from ov_gather.ops.spec import Operation

OPERATIONS: tuple[Operation, ...] = (
    GATHER_ELEMENTS_6,
    GATHER_ELEMENTS_CUSTOM,
    GATHER_1,
    GATHER_7,
    GATHER_8,
    GATHER_CUSTOM,
    GATHER_ND_5,
    GATHER_ND_8,
    GATHER_ND_CUSTOM,
    SCATTER_ELEMENTS_UPDATE_3,
    SCATTER_ELEMENTS_UPDATE_12,
    SCATTER_ELEMENTS_CUSTOM,
    SCATTER_UPDATE_3,
    SCATTER_ND_UPDATE_3,
    SCATTER_ND_UPDATE_15,
    SCATTER_ND_CUSTOM,
)
"""The operations of the gather family."""

Registry: TypeAlias = "dict[str, tuple[Operation, ...]]"

_by_type: Registry = {}


def add(operations: Iterable[Operation]) -> None:
    """Make operations known to all commands. Raises ValueError if an opset has one of the same type already."""
    for operation in operations:
        others = _by_type.get(operation.type, ())
        for opset in operation.opsets:
            if any(opset in other.opsets for other in others):
                whose = "one of ov-gather" if opset in opsets_of_family(operation.type) else "declared already"
                raise ValueError(f"{operation.type} of opset '{opset}' is {whose}: give it another type or opset")
        _by_type[operation.type] = (*others, operation)


def remove(operations: Iterable[Operation]) -> None:
    """Forget operations that were added."""
    for operation in operations:
        kept = tuple(other for other in _by_type.pop(operation.type) if other is not operation)
        _by_type.update({operation.type: kept} if kept else {})


def snapshot() -> Registry:
    """Return a copy of the registry."""
    return dict(_by_type)


def restore(registry: Registry) -> None:
    """Make the registry what it was when this copy was made."""
    _by_type.clear()
    _by_type.update(registry)


def opsets_of_family(layer_type: str) -> list[str]:
    """Return the opsets that hold an operation of the family with this type."""
    return [opset for operation in OPERATIONS if operation.type == layer_type for opset in operation.opsets]


def known_types() -> list[str]:
    """Return the types of all operations: of the family, and of those that users declare."""
    return list(_by_type)


def versions_of(layer_type: str) -> tuple[Operation, ...]:
    """Return every version of the operation with this <layer type>, oldest first."""
    return _by_type.get(layer_type, ())


def find_operation(layer: Layer) -> Operation | None:
    """Return the operation that a layer's type and version name. A layer without a version (a fragment) gets the oldest one."""
    candidates = versions_of(layer.type)
    if layer.version is None:
        return candidates[0] if candidates else None
    return next((operation for operation in candidates if layer.version in operation.opsets), None)


def indexing(layer_type: str, opset: str | None) -> Operation | None:
    """Return the operation with an index rule that a type and an opset denote; None if it has none.

    If the opset is unknown, as in a fragment, it is that of the gather family with this type.
    """
    versions = versions_of(layer_type)
    family = (operation for operation in versions if operation in OPERATIONS)
    found = next((operation for operation in versions if opset in operation.opsets), None) or next(family, None)
    return found if found and found.index_rule else None


add(OPERATIONS)
