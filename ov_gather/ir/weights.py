"""The bytes of a .bin, read on demand, and the packing of strings and of elements smaller than a byte."""

from __future__ import annotations

import errno
import os
import shutil
import weakref
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ov_gather.system.kinds import LFS_ADVICE, LFS_REASON, is_lfs_pointer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Weights:
    """The payloads of a model's Consts, in a file or as bytes in memory.

    The file is read, not mapped: accessing a mapping of a file that has been truncated kills the process (SIGBUS).
    """

    is_far = False
    """True if every byte that is read comes over a network."""

    def __init__(self, source: str | Path | bytes | bytearray | memoryview | None) -> None:
        self.path: os.PathLike[str] | None = Path(source) if isinstance(source, str | Path) else None
        self._memory = None if source is None or self.path else memoryview(source)  # type: ignore[arg-type]
        self._file: IO[bytes] | None = None
        self._size_at_first: int

    def size(self) -> int:
        """Return the current number of bytes. Raises OSError if the file does not exist or cannot be read."""
        return os.fstat(self._opened()).st_size if self._memory is None else len(self._memory)

    def read(self, offset: int, size: int) -> memoryview:
        """Read `size` bytes from `offset`. Raises OSError as `size` does, EOFError if the file ends before."""
        if self._memory is not None:
            return self._memory[offset : offset + size]
        descriptor, parts, left = self._opened(), [], size
        while left:  # one call reads at most 2 GB
            parts.append(os.pread(descriptor, left, offset + size - left))
            if not parts[-1]:
                raise EOFError
            left -= len(parts[-1])
        return memoryview(b"".join(parts))

    def was_cut(self) -> bool:
        """Return True if the file is shorter now than when it was opened."""
        return self._file is not None and self.size() < self._size_at_first

    def trouble(self) -> str:
        """Return why bytes that were read may be wrong, such as a change of a file at a URL; "" if no reason is known."""
        return ""

    def _opened(self) -> int:
        if self._file is None:
            if self.path is None:
                raise FileNotFoundError("the model came without a .bin")
            assert isinstance(self.path, Path)  # URLs are read by RemoteWeights
            if self.path.exists() and not self.path.is_file():
                raise OSError(errno.EINVAL, "not a regular file")
            if is_lfs_pointer(self.path):
                raise OSError(errno.EINVAL, f"{LFS_REASON}; {LFS_ADVICE}")
            self._file = self.path.open("rb")
            weakref.finalize(self, self._file.close)  # else Python warns of an open file
            self._size_at_first = os.fstat(self._file.fileno()).st_size
        return self._file.fileno()

    def __reduce__(self) -> tuple[type[Weights], tuple[Path | bytes | None]]:
        """Pickle the bytes in memory, or the path of the file, which another process can open."""
        in_memory = None if self._memory is None else bytes(self._memory)
        return Weights, (in_memory if self.path is None else Path(self.path),)


class PatchedWeights(Weights):
    """The bytes of a file, with other bytes at some offsets, truncated to `size` bytes. No two patches overlap."""

    def __init__(self, path: Path, patches: Mapping[int, bytes] | None = None, size: int | None = None) -> None:
        super().__init__(path)
        self.patches = dict(patches or {})
        self._starts = sorted(self.patches)
        self.cut = size

    def patched(self, patches: Mapping[int, bytes], size: int | None) -> PatchedWeights:
        """Return the same weights with more patches, truncated to another size if one is given."""
        assert self.path is not None
        return PatchedWeights(Path(self.path), {**self.patches, **patches}, self.cut if size is None else size)

    @property
    def is_patched(self) -> bool:
        """True if anything differs from the file."""
        return bool(self.patches) or self.cut is not None

    def size(self) -> int:
        """Return the number of bytes after patching. Raises OSError as `Weights.size` does."""
        return super().size() if self.cut is None else min(self.cut, super().size())

    def read(self, offset: int, size: int) -> memoryview:
        """Read bytes after patching. Raises as `Weights.read` does."""
        if offset + size > self.size():
            raise EOFError
        content = bytearray(super().read(offset, size))
        for start in self._starts[max(bisect_right(self._starts, offset) - 1, 0) : bisect_left(self._starts, offset + size)]:
            patch = self.patches[start]
            first, last = max(start, offset), min(start + len(patch), offset + size)
            if first < last:
                content[first - offset : last - offset] = patch[first - start : last - start]
        return memoryview(content)

    def write(self, file: IO[bytes]) -> None:
        """Write all bytes, patched, to an empty file."""
        assert self.path is not None
        with Path(self.path).open("rb") as source:
            shutil.copyfileobj(source, file)
        for start, patch in self.patches.items():
            file.seek(start)
            file.write(patch)
        file.truncate(self.size())


def pack_strings(values: NDArray[Any]) -> bytes:
    """Pack strings into the payload of a Const: their count, their offsets and their UTF-8 bytes."""
    import numpy as np

    encoded = [str(value).encode() for value in values.ravel()]
    offsets = np.concatenate([[0], np.cumsum([len(value) for value in encoded])])
    return np.array([len(encoded), *offsets], "<i4").tobytes() + b"".join(encoded)


def pack_bits(values: NDArray[Any], bits: int) -> bytes:
    """Pack elements smaller than a byte into the payload of a Const, first element in the lowest bits."""
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
