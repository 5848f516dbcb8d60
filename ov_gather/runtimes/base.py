"""The interface of runtimes, the errors they raise, and ONNX models in files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from numpy.typing import NDArray

from ov_gather.system.worker import CrashedError

ModelT = TypeVar("ModelT")


NESTED_IFS = 12
"""Maximum nesting depth of If: each further level doubles the compile time of OpenVINO's CPU plugin (2026.4.1)."""


class RefusedError(RuntimeError):
    """A runtime cannot load or execute a model; the message is the runtime's own, shortened."""


class OutOfBoundsError(RefusedError, IndexError):
    """A runtime reports an index out of bounds."""


FAILURES = (RefusedError, CrashedError, IndexError)
"""What the execution of a model raises, if the runtime does not return its outputs."""


@dataclass(frozen=True, slots=True)
class OnnxFile:
    """An .onnx file.

    Attributes:
        path: its path.
        data: the folder of its external data if that is another one.
        runs_once: whether it is executed once. Then kernels need no copy of the weights in a layout of their own.
    """

    path: Path
    data: Path | None = None
    runs_once: bool = False


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a call of an operation of users did.

    Attributes:
        outputs: the arrays, as far as their shapes are those expected.
        shapes: the shapes of the output tensors after the call.
        overrun: for each output, the number of bytes written before it, and behind it.
        written: the positions of the inputs whose bytes it changed.
    """

    outputs: list[NDArray[Any]]
    shapes: list[tuple[int, ...]]
    overrun: list[tuple[int, int]]
    written: list[int]


class Runtime(ABC, Generic[ModelT]):
    """An executor of models of one kind; also a context manager, which closes it."""

    name: str

    @property
    @abstractmethod
    def version(self) -> str:
        """The version of the executing software."""

    @abstractmethod
    def activate(self, model: ModelT, threads: int = 0) -> None:
        """Load a model to execute it with `threads` threads; 0 selects the runtime's default. Raises RefusedError."""

    @abstractmethod
    def execute(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Execute the activated model; inputs and outputs are in its order of Parameters and Results. Raises RefusedError."""

    def close(self) -> None:
        """Release the resources of the activated model."""

    def __enter__(self) -> Runtime[ModelT]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
