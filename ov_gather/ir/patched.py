"""A .bin with changed bytes, without loading it into memory."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from ov_gather.ir.weights import Weights


class PatchedWeights(Weights):
    """The bytes of a file, with other bytes at some offsets, truncated to `size` bytes."""

    def __init__(self, path: Path, patches: Mapping[int, bytes] | None = None, size: int | None = None) -> None:
        super().__init__(path)
        self.patches = dict(patches or {})
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
        for start, patch in self.patches.items():
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
