"""Loading of arrays named on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def load_array(file: Path) -> NDArray[Any]:
    """Return the array of a .npy file. Raises OSError, ValueError."""
    try:
        array = np.load(file)
    except OSError:
        raise
    except Exception as error:  # NumPy raises many types for a damaged header
        raise ValueError(f"{file}: not a .npy file: {error or type(error).__name__}") from error
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{file}: holds several arrays; a .npy with one is needed")
    return array
