"""PyTorch on the CPU, for exported programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils import _pytree as pytree

from ov_gather.runtimes.base import OutOfBoundsError, RefusedError, Runtime


class TorchRuntime(Runtime[Path]):
    """A runtime for .pt2 files written by `torch.export.save`."""

    name = "torch"

    @property
    def version(self) -> str:
        """The version of PyTorch."""
        return str(torch.__version__)

    def activate(self, model: Path, threads: int = 0) -> None:
        """Load a program. Raises RefusedError with PyTorch's reason."""
        if threads:
            torch.set_num_threads(threads)
        try:
            self._program = torch.export.load(model)
            self._module = self._program.module()
        except Exception as error:  # its exceptions share no base class
            raise RefusedError(_first_line(error)) from None

    def input_names(self) -> list[str]:
        """Return the names of the tensors that `execute` takes, in order."""
        return [name for name in self._program.graph_signature.user_inputs if isinstance(name, str)]

    def output_names(self) -> list[str]:
        """Return the names of the tensors that `execute` returns, in order."""
        return [name for name in self._program.graph_signature.user_outputs if isinstance(name, str)]

    def examples(self) -> list[NDArray[Any]] | None:
        """Return the example inputs saved with the program; None if there are none."""
        if self._program.example_inputs is None:
            return None
        leaves = pytree.tree_leaves(self._program.example_inputs)
        return [_to_array(leaf) for leaf in leaves if isinstance(leaf, torch.Tensor)]

    def execute(self, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Execute the program once. Raises OutOfBoundsError, or RefusedError with PyTorch's reason."""
        given = iter(inputs)
        leaves = [_to_tensor(next(given)) if isinstance(one, str) else one for one in self._program.graph_signature.user_inputs]
        arguments, named = pytree.tree_unflatten(leaves, self._program.call_spec.in_spec)
        try:
            with torch.no_grad():
                outputs = self._module(*arguments, **named)
        except Exception as error:  # its exceptions share no base class
            kind = OutOfBoundsError if isinstance(error, IndexError) or "out of bounds" in str(error) else RefusedError
            raise kind(_first_line(error)) from None
        return [_to_array(leaf) for leaf in pytree.tree_leaves(outputs) if isinstance(leaf, torch.Tensor)]


def _to_tensor(array: NDArray[Any]) -> torch.Tensor:
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(np.array(array))


def _to_array(tensor: torch.Tensor) -> NDArray[Any]:
    tensor = tensor.detach().cpu().contiguous()
    if tensor.dtype == torch.bfloat16:
        return np.asarray(tensor.view(torch.int16).numpy()).view(ml_dtypes.bfloat16)
    return np.array(tensor.numpy())


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
