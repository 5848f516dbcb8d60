"""onnxruntime on the CPU: the judge of what an ONNX model means."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import onnxruntime
from numpy.typing import NDArray

from ov_gather.runtimes.base import RefusedError, Runtime


class OnnxRuntime(Runtime[Path]):
    """Executes .onnx files."""

    name = "onnxruntime"

    @property
    def version(self) -> str:
        """onnxruntime's."""
        return str(onnxruntime.__version__)

    def activate(self, model: Path) -> None:
        """Load a model. Raises RefusedError with what onnxruntime says."""
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # errors come as exceptions
        try:
            self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # its exceptions share no base class
            raise RefusedError(str(error).splitlines()[0]) from None

    def execute(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Run the model once. Raises RefusedError with what onnxruntime says."""
        names = [given.name for given in self._session.get_inputs()]
        try:
            return list(self._session.run(None, dict(zip(names, inputs, strict=True))))
        except Exception as error:  # its exceptions share no base class
            raise RefusedError(str(error).splitlines()[0]) from None
