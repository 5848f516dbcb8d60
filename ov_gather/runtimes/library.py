"""The code of one operation of users, called as OpenVINO calls it, but on memory that shows what it does."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
from numpy.typing import NDArray

from ov_gather.extension import reason
from ov_gather.extension.users import UserExtension
from ov_gather.ir.element_types import ElementType
from ov_gather.ir.model import Model
from ov_gather.ops.table import ENDS
from ov_gather.runtimes.base import Evaluation, RefusedError
from ov_gather.runtimes.openvino import OpenVINORuntime
from ov_gather.runtimes.session import Inference, Session, to_array, to_tensor

GUARD = 4096
"""Bytes before and behind each output, which must stay as they are."""
_FILL = 0xA5
_ALIGNMENT = 64

Arrays = Sequence[NDArray[Any]]
Outputs = list[NDArray[Any]]
Expected = Sequence[tuple[ElementType, tuple[int, ...]]]
"""The element type and shape of each output."""


class LibraryRuntime(OpenVINORuntime):
    """The only layer of a model that is no input, constant or output, as an `openvino.Node`."""

    name = "library"

    def activate(
        self, model: Model | Path, threads: int = 0, device: str = "", extensions: tuple[UserExtension, ...] | None = None
    ) -> None:
        """Read the model, which creates the node. Raises RefusedError with OpenVINO's reason."""
        self.extensions = self.extensions if extensions is None else extensions
        with _refusing():
            self._model = self.read(model)
        (self._node,) = (node for node in self._model.get_ops() if node.get_type_name() not in (*ENDS, "Constant"))

    def execution_devices(self) -> tuple[str, ...]:
        """Return the only device."""
        return ("CPU",)

    def inferred(self) -> list[tuple[str, str]]:
        """Return the element type and the shape of each output that the node infers."""
        return [(output.get_element_type().get_type_name(), str(output.get_partial_shape())) for output in self._node.outputs()]

    def evaluate(self, inputs: Arrays, types: Sequence[ElementType], expected: Expected) -> Evaluation:
        """Call the operation once. Raises RefusedError if it throws, or does not evaluate."""
        guarded = [_Guarded(kind, shape) for kind, shape in expected]
        outputs = [each.tensor for each in guarded]
        operands = [to_tensor(array, kind) for array, kind in zip(inputs, types, strict=True)]
        before = [to_array(tensor, kind).tobytes() for tensor, kind in zip(operands, types, strict=True)]
        self._call(outputs, operands)
        after = [to_array(tensor, kind).tobytes() for tensor, kind in zip(operands, types, strict=True)]
        shapes = [tuple(output.shape) for output in outputs]
        found = [each.array() for each, shape, (_, wanted) in zip(guarded, shapes, expected, strict=True) if shape == wanted]
        written = [i for i, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
        return Evaluation(found, shapes, [each.overrun() for each in guarded], written)

    def _call(self, outputs: list[ov.Tensor], inputs: list[ov.Tensor]) -> None:
        with _refusing():
            done = self._node.evaluate(outputs, inputs)
        if not done:
            raise RefusedError("evaluate returns false")

    def growth(self, inputs: Arrays, types: Sequence[ElementType], expected: Expected, calls: int, batches: int) -> list[int]:
        """Call the operation in batches; return by how many bytes the resident memory grew in each."""
        tensors = [to_tensor(array, kind) for array, kind in zip(inputs, types, strict=True)]
        outputs = [ov.Tensor(getattr(ov.Type, kind.name), list(shape)) for kind, shape in expected]
        sizes = [_resident()]
        for _ in range(batches):
            for _ in range(calls):
                self._call(outputs, tensors)
            sizes.append(_resident())
        return [after - before for before, after in pairwise(sizes)]

    def repeated(self, feeds: Sequence[Arrays], rounds: int, streams: int) -> list[tuple[int, int, Outputs, Outputs]]:
        """Execute all feeds one after another, then again and again: at the same time, in requests on several streams.

        With one stream, all are executed one after another. Returns what differs, for the first round in which anything does:
        number of the round and of the request, the outputs of its first execution, and those now.
        """
        properties = {"NUM_STREAMS": streams, "INFERENCE_NUM_THREADS": streams}
        with _refusing():
            session = Session(self.core(), self._model, "CPU", properties)
            runs: list[Inference] = [session.prepare(feed) for feed in feeds]
            alone = [session(feed) for feed in feeds]
            at_once = [runs] if streams > 1 else [[run] for run in runs]
            for number in range(rounds):
                for batch in at_once:
                    for run in batch:
                        run.start()
                    for run in batch:
                        run.wait()
                both = enumerate(zip(alone, (run.outputs() for run in runs), strict=True))
                if found := [(number, i, one, other) for i, (one, other) in both if not _are_equal(one, other)]:
                    return found
        return []


class _Guarded:
    """The tensor of an output in the middle of bytes that are not its own."""

    def __init__(self, element_type: ElementType, shape: tuple[int, ...]) -> None:
        self._type = element_type
        self._size = element_type.byte_size(int(np.prod(shape, dtype=np.int64)))
        memory = np.full(2 * GUARD + self._size + _ALIGNMENT, _FILL, np.uint8)
        self._start = GUARD + -(memory.ctypes.data + GUARD) % _ALIGNMENT
        self._memory = memory
        own = memory[self._start : self._start + self._size]
        if self._size:
            carried = own if element_type.bits % 8 else own.view(f"u{element_type.bits // 8}")
            self.tensor = ov.Tensor(carried, list(shape), getattr(ov.Type, element_type.name))
        else:  # OpenVINO before 2026 cannot wrap empty arrays
            self.tensor = ov.Tensor(getattr(ov.Type, element_type.name), list(shape))

    def array(self) -> NDArray[Any]:
        return to_array(self.tensor, self._type)

    def overrun(self) -> tuple[int, int]:
        changed = self._memory != _FILL
        return int(changed[: self._start].sum()), int(changed[self._start + self._size :].sum())


def _are_equal(one: Outputs, other: Outputs) -> bool:
    return all(a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))


@contextmanager
def _refusing() -> Iterator[None]:
    """Convert errors to RefusedError: an operation in Python raises anything."""
    try:
        yield
    except RefusedError:
        raise
    except RuntimeError as error:
        raise RefusedError(reason(error)) from None
    except Exception as error:
        raise RefusedError(f"{type(error).__name__}: {error}") from None


def _resident() -> int:
    """Return the bytes of memory that this process has in use."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
