"""This module tells what every runtime is: activate a model, execute it, close."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Generic, TypeVar

from numpy.typing import NDArray

ModelT = TypeVar("ModelT")

HANGS = "hangs"


NESTED_IFS = 12
"""How many If may lie inside each other: OpenVINO's CPU plugin (2026.4.1) takes twice as long to compile for each more."""


class RefusedError(RuntimeError):
    """A runtime cannot load or execute a model; the message is the runtime's own, shortened."""


class OutOfBoundsError(RefusedError, IndexError):
    """A runtime says that an index is out of bounds."""


class CrashedError(Exception):
    """The process of a runtime died, or did not answer in time; the message says how."""


class HungError(CrashedError):
    """The process of a runtime did not answer in time; the message begins with HANGS."""


class Runtime(ABC, Generic[ModelT]):
    """Executes models of one kind. Use as a context manager."""

    name: str

    @property
    @abstractmethod
    def version(self) -> str:
        """The version of what executes."""

    @abstractmethod
    def activate(self, model: ModelT, threads: int = 0) -> None:
        """Load a model, to execute on so many threads; 0 = as many as the runtime likes. Raises RefusedError."""

    @abstractmethod
    def execute(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Run the activated model: inputs and outputs in the order of its Parameters and Results. Raises RefusedError."""

    def close(self) -> None:
        """Free what `activate` took."""

    def __enter__(self) -> Runtime[ModelT]:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()
