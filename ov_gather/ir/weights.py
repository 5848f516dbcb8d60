"""The bytes of a .bin, read where they are needed, and how it packs strings and elements smaller than a byte."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Weights:
    """The payloads of a model's Consts: a file, or bytes in memory.

    The file is read, not mapped: who touches a mapping of a file that has been cut since is killed by the system.
    """

    def __init__(self, source: str | Path | bytes | bytearray | memoryview | None) -> None:
        self.path = Path(source) if isinstance(source, str | Path) else None
        self._memory = None if source is None or self.path else memoryview(source)  # type: ignore[arg-type]
        self._file: IO[bytes] | None = None
        self._size_at_first = 0

    def size(self) -> int:
        """How many bytes there are now. Raises OSError where the file cannot be read, FileNotFoundError where there is none."""
        return os.fstat(self._opened()).st_size if self._memory is None else len(self._memory)

    def read(self, offset: int, size: int) -> memoryview:
        """Some of the bytes. Raises OSError as `size` does, EOFError where the file ends before."""
        if self._memory is not None:
            return self._memory[offset : offset + size]
        descriptor, parts, left = self._opened(), [], size
        while left:  # more than once beyond 2 GB
            parts.append(os.pread(descriptor, left, offset + size - left))
            if not parts[-1]:
                raise EOFError
            left -= len(parts[-1])
        return memoryview(parts[0] if len(parts) == 1 else b"".join(parts))

    def was_cut(self) -> bool:
        """Whether the file is shorter now than when it was first looked at."""
        return self._file is not None and self.size() < self._size_at_first

    def _opened(self) -> int:
        if self._file is None:
            if self.path is None:
                raise FileNotFoundError("the model came without a .bin")
            if self.path.exists() and not self.path.is_file():
                raise OSError(0, "not a regular file")
            self._file = self.path.open("rb", buffering=0)
            self._size_at_first = os.fstat(self._file.fileno()).st_size
        return self._file.fileno()

    def __reduce__(self) -> tuple[type[Weights], tuple[Path | bytes | None]]:
        """To another process go the bytes in memory, or the path of the file."""
        in_memory = None if self._memory is None else bytes(self._memory)
        return Weights, (self.path or in_memory,)


def pack_strings(values: NDArray[Any]) -> bytes:
    """The payload of a string Const: count, offsets and UTF-8 bytes."""
    import numpy as np

    encoded = [str(value).encode() for value in values.ravel()]
    offsets = np.concatenate([[0], np.cumsum([len(value) for value in encoded])])
    return np.array([len(encoded), *offsets], "<i4").tobytes() + b"".join(encoded)


def pack_bits(values: NDArray[Any], bits: int) -> bytes:
    """The payload of a Const whose elements are smaller than a byte: first element in the lowest bits."""
    import numpy as np

    per_byte = 8 // bits
    parts = np.zeros(-(-values.size // per_byte) * per_byte, np.uint8)
    parts[: values.size] = values.ravel().view(np.uint8) & ((1 << bits) - 1)
    shifts = np.arange(per_byte, dtype=np.uint8) * np.uint8(bits)
    return bytes(np.bitwise_or.reduce(parts.reshape(-1, per_byte) << shifts, axis=1).astype(np.uint8))


def unpack_bits(packed: NDArray[np.uint8], bits: int, count: int) -> NDArray[np.uint8]:
    """`count` elements of 1, 2 or 4 bits, one per byte, from packed bytes."""
    import numpy as np

    shifts = np.arange(8 // bits, dtype=np.uint8) * np.uint8(bits)
    parts: NDArray[np.uint8] = (packed[:, None] >> shifts) & np.uint8((1 << bits) - 1)
    return parts.reshape(-1)[:count].copy()
