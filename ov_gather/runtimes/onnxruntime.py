"""onnxruntime on the CPU, for ONNX models and for layers converted to ONNX operators."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import onnxruntime
from numpy.typing import NDArray

from ov_gather.ir.model import Model
from ov_gather.runtimes.base import OnnxFile, RefusedError, Runtime

_NODE = re.compile(r"while running (?P<type>\w+) node\. Name:'(?P<name>.*?)' Status Message: (?P<message>.*)")
_OUT_OF_BOUNDS = re.compile(r"out of data bounds|Out of range value in index|invalid (index|indice) found")
_INDEX = re.compile(r"(?:idx|index|indice) ?= ?(-?\d+)")
_VALID = re.compile(r"range \[(-?\d+), ?(-?\d+)\]")
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
            raise RefusedError(_reason(error)) from None

    def execute(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Execute the model once. Raises RefusedError with onnxruntime's reason."""
        names = [given.name for given in self._session.get_inputs()]
        try:
            return list(self._session.run(None, dict(zip(names, inputs, strict=True))))
        except Exception as error:  # its exceptions share no base class
            raise RefusedError(_reason(error)) from None


class PlainOnnxRuntime(OnnxRuntime):
    """onnxruntime on one thread without optimizations: a result that differs from OnnxRuntime's depends on rounding."""

    name = "plain onnxruntime"
    is_plain = True


def _reason(error: Exception) -> str:
    """Return the first line of an error of onnxruntime; in our words if an index is out of bounds."""
    line = str(error).splitlines()[0]
    node = _NODE.search(line)
    if node is None or not _OUT_OF_BOUNDS.search(node["message"]):
        return line
    index, valid = _INDEX.search(node["message"]), _VALID.search(node["message"])
    which = f"index {index[1]}" if index else "an index"
    limits = f" (valid {valid[1]}..{valid[2]})" if valid else ""
    return f"{which} of {node['type']} '{node['name']}' is out of bounds{limits}"


def _read(model: Model | OnnxFile, options: Any) -> bytes | str:
    if isinstance(model, Model):
        from ov_gather.runtimes.onnx_model import onnx_model

        return onnx_model(model)
    if model.runs_once:
        options.add_session_config_entry("session.disable_prepacking", "1")
    if model.data is None:
        return str(model.path)
    options.add_session_config_entry(_FOLDER_OF_DATA, str(model.data.resolve()))
    return model.path.read_bytes()
