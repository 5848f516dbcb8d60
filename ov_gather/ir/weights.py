"""The bytes of a .bin are read where they are needed. Strings and elements smaller than a byte are packed in it."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Weights:
    """Weights hold the payloads of a model's Consts, in a file or as bytes in memory.

    The file is read, not mapped: a process that touches a mapping of a file that has been cut since is killed by the system.
    """

    is_far = False
    """Whether each byte that is read comes over a network."""

    def __init__(self, source: str | Path | bytes | bytearray | memoryview | None) -> None:
        self.path: os.PathLike[str] | None = Path(source) if isinstance(source, str | Path) else None
        self._memory = None if source is None or self.path else memoryview(source)  # type: ignore[arg-type]
        self._file: IO[bytes] | None = None
        self._size_at_first: int

    def size(self) -> int:
        """Count the bytes that there are now. Raises OSError where the file cannot be read or does not exist."""
        return os.fstat(self._opened()).st_size if self._memory is None else len(self._memory)

    def read(self, offset: int, size: int) -> memoryview:
        """Read `size` bytes from `offset`. Raises OSError as the method `size` does, EOFError where the file ends before."""
        if self._memory is not None:
            return self._memory[offset : offset + size]
        descriptor, parts, left = self._opened(), [], size
        while left:  # The system reads no more than 2 GB at once.
            parts.append(os.pread(descriptor, left, offset + size - left))
            if not parts[-1]:
                raise EOFError
            left -= len(parts[-1])
        return memoryview(b"".join(parts))

    def was_cut(self) -> bool:
        """Tell whether the file is shorter now than when it was opened."""
        return self._file is not None and self.size() < self._size_at_first

    def trouble(self) -> str:
        """Tell why what was read does not hold; "" if nothing is known against it. Files at URLs may have changed meanwhile."""
        return ""

    def _opened(self) -> int:
        if self._file is None:
            if self.path is None:
                raise FileNotFoundError("the model came without a .bin")
            assert isinstance(self.path, Path)  # what is at a URL, RemoteWeights read
            if self.path.exists() and not self.path.is_file():
                raise OSError(errno.EINVAL, "not a regular file")
            self._file = self.path.open("rb")
            self._size_at_first = os.fstat(self._file.fileno()).st_size
        return self._file.fileno()

    def __reduce__(self) -> tuple[type[Weights], tuple[Path | bytes | None]]:
        """Give pickle the bytes in memory or the path of the file, which another process can use."""
        in_memory = None if self._memory is None else bytes(self._memory)
        return Weights, (in_memory if self.path is None else Path(self.path),)


def pack_strings(values: NDArray[Any]) -> bytes:
    """Pack strings into the payload of a Const, which consists of their count, their offsets and their UTF-8 bytes."""
    import numpy as np

    encoded = [str(value).encode() for value in values.ravel()]
    offsets = np.concatenate([[0], np.cumsum([len(value) for value in encoded])])
    return np.array([len(encoded), *offsets], "<i4").tobytes() + b"".join(encoded)


def pack_bits(values: NDArray[Any], bits: int) -> bytes:
    """Pack elements smaller than a byte into the payload of a Const. The first element stands in the lowest bits."""
    import numpy as np

    per_byte = 8 // bits
    parts = np.zeros(-(-values.size // per_byte) * per_byte, np.uint8)
    parts[: values.size] = values.ravel().view(np.uint8) & ((1 << bits) - 1)
    shifts = np.arange(per_byte, dtype=np.uint8) * np.uint8(bits)
    return bytes(np.bitwise_or.reduce(parts.reshape(-1, per_byte) << shifts, axis=1).astype(np.uint8))


def unpack_bits(packed: NDArray[np.uint8], bits: int, count: int) -> NDArray[np.uint8]:
    """Unpack `count` elements of 1, 2 or 4 bits into one byte each."""
    import numpy as np

    shifts = np.arange(8 // bits, dtype=np.uint8) * np.uint8(bits)
    parts: NDArray[np.uint8] = (packed[:, None] >> shifts) & np.uint8((1 << bits) - 1)
    return parts.reshape(-1)[:count].copy()
