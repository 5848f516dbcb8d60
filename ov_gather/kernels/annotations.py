"""Types of arguments and results: the result is of the kind of `data`, or is `out` itself."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike


class DLPackTensor(Protocol):
    """A tensor that shares its memory by DLPack: torch.Tensor, jax.Array, OrtValue; a NumPy array, too."""

    def __dlpack__(self) -> Any:
        """Return a capsule."""


class OpenvinoTensor(Protocol):
    """An openvino.Tensor, which shares its memory by `data`."""

    @property
    def data(self) -> Any:
        """The memory as an array."""

    @property
    def element_type(self) -> Any:
        """The type of the elements."""


TensorT = TypeVar("TensorT", bound=DLPackTensor | OpenvinoTensor)
ScalarT = TypeVar("ScalarT", bound=np.generic)
Values = ArrayLike | DLPackTensor | OpenvinoTensor
