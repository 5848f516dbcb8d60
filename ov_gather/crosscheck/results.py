"""This module tells what a cross-check of one source came to, and the machine and versions that it was made with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from ov_gather.crosscheck.comparisons import LayerResult, OutputResult
from ov_gather.tables import InNotebooks

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, slots=True)
class Environment:
    """The versions of the runtimes, by their names, and the machine on which a result was obtained."""

    versions: Mapping[str, str] = field(default_factory=dict)
    cpu: str = ""
    cores: int = 0
    system: str = ""
    python: str = ""


@dataclass(frozen=True, slots=True)
class CrossCheckResult(InNotebooks):
    """What came out for an IR or for an ONNX model: its gather-family layers, and its outputs.

    The outputs of an IR, with its gathers replaced by ours, were compared with those of stock OpenVINO; the outputs of an ONNX
    model, converted, with those of onnxruntime on the original.

    Attributes:
        not_run: why the model was not executed, or its layers not on their own operands; "" if nothing was left out.
        no_reference: whether the reason is that onnxruntime does not load the ONNX model, which no other inputs would change.
        original: the path of the ONNX model; "" if the source is an IR.
        problem: why an ONNX model fails, whatever its outputs and layers say: it could not be executed.
        inexactness: what OpenVINO will not execute as the ONNX model says.
        in_bodies: the gathers in bodies of If, Loop and Scan, which were not compared on their own.
        notes: other inputs that were tried, and why the converted model could not be compared on them.
        inputs: the inputs that an ONNX model and its conversion were executed on, by name.
        blamed: the stock gathers with which an output is wrong, though each is right on its own, and with ours the outputs are.
    """

    layers: tuple[LayerResult, ...]
    seed: int
    environment: Environment = field(default_factory=Environment)
    outputs: tuple[OutputResult, ...] = ()
    not_run: str = ""
    no_reference: bool = False
    original: str = ""
    problem: str = ""
    inexactness: tuple[str, ...] = ()
    in_bodies: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    blamed: tuple[str, ...] = ()
    inputs: Mapping[str, NDArray[Any]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def path(self) -> str:
        """The path of the source; "" if the source is no ONNX model and has no layer that tells."""
        return self.original or (self.layers[0].path if self.layers else "")

    @property
    def passed(self) -> bool:
        """Whether every layer and output passed, and there was what counts: of an IR a layer, of an ONNX model an output."""
        compared = self.outputs if self.original else self.layers
        right = all(layer.passed for layer in self.layers) and all(output.comparison.passed for output in self.outputs)
        return bool(compared) and right and not self.problem

    @property
    def divergences(self) -> tuple[str, ...]:
        """The names of the known divergences that apply, each once."""
        of_layers = [name for layer in self.layers for name in layer.divergences]
        return tuple(dict.fromkeys([*of_layers, *(name for output in self.outputs for name in output.comparison.divergences)]))

    def table(self) -> Table:
        """Return a table for `rich.print`: one row a layer and, of an ONNX model, one row an output."""
        from ov_gather.crosscheck.tables import layers_table, model_table

        return model_table(self.outputs, self.layers) if self.original else layers_table(self.layers)
