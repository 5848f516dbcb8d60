"""References of operations that users declare: code of others, which may hang, or take all memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ov_gather.ops import versions_of
from ov_gather.ops.spec import Attributes
from ov_gather.ops.users import UserOperations, declare_only
from ov_gather.runtimes.base import Runtime
from ov_gather.system import platforms


@dataclass(frozen=True, slots=True)
class Referred:
    """A computation by the reference of an operation; `files` are all that the user declares."""

    files: tuple[UserOperations, ...]
    type: str
    opset: str
    attributes: Attributes


class ReferenceRuntime(Runtime[Referred]):
    """The reference of one operation. What it prints is lost; it gets half of the free memory."""

    name = "reference"
    version = "NumPy"

    def __init__(self) -> None:
        np.random.seed()  # else forked processes draw the same
        if free := platforms.available_memory():
            platforms.limit_memory(free // 2)

    def activate(self, model: Referred, threads: int = 0) -> None:
        """Declare the operations, and find this one. Raises OperationError."""
        declare_only(model.files)
        (self._operation,) = (each for each in versions_of(model.type) if model.opset in each.opsets)
        self._attributes = model.attributes

    def execute(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Compute the outputs. Raises IndexError for an index out of bounds, and OperationError."""
        return list(self._operation.reference(inputs, self._attributes))
