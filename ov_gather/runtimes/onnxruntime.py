"""onnxruntime on the CPU, for ONNX models and for layers converted to ONNX operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import onnxruntime
from numpy.typing import NDArray

from ov_gather.ir.model import Model
from ov_gather.runtimes.base import OnnxFile, RefusedError, Runtime

_FOLDER_OF_DATA = "session.model_external_initializers_file_folder_path"  # for models passed as bytes


class OnnxRuntime(Runtime[Model | OnnxFile]):
    """A runtime for .onnx files and isolated layers."""

    name = "onnxruntime"
    is_plain = False

    @property
    def version(self) -> str:
        """The version of onnxruntime."""
        return str(onnxruntime.__version__)

    def activate(self, model: Model | OnnxFile, threads: int = 0) -> None:
        """Load a model, or convert a layer. Raises RefusedError with onnxruntime's reason."""
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # errors are raised anyway
        options.intra_op_num_threads = threads
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # spinning would slow other runtimes
        if self.is_plain:
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
            options.intra_op_num_threads = 1
        source = _read(model, options)
        try:
            self._session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # its exceptions share no base class
            raise RefusedError(str(error).splitlines()[0]) from None

    def execute(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Execute the model once. Raises RefusedError with onnxruntime's reason."""
        names = [given.name for given in self._session.get_inputs()]
        try:
            return list(self._session.run(None, dict(zip(names, inputs, strict=True))))
        except Exception as error:  # its exceptions share no base class
            raise RefusedError(str(error).splitlines()[0]) from None


class PlainOnnxRuntime(OnnxRuntime):
    """onnxruntime on one thread without optimizations: a result that differs from OnnxRuntime's depends on rounding."""

    name = "plain onnxruntime"
    is_plain = True


def _read(model: Model | OnnxFile, options: Any) -> bytes | str:
    if isinstance(model, Model):
        from ov_gather.runtimes.onnx_model import onnx_model

        return onnx_model(model)
    if model.data is None:
        return str(model.path)
    options.add_session_config_entry(_FOLDER_OF_DATA, str(model.data.resolve()))
    return model.path.read_bytes()
