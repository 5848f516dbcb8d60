"""Names of types in annotations."""

from typing import Any

NDArray = ArrayLike = Any
