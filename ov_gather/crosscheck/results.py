"""Result of cross-checking one source, with the machine and versions on which it was obtained."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from ov_gather.crosscheck.comparisons import LayerResult, OutputResult
from ov_gather.divergences import cpu
from ov_gather.runtimes.base import Runtime
from ov_gather.system.platforms import core_count
from ov_gather.system.tables import InNotebooks

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, slots=True)
class Environment:
    """Versions of the runtimes, by name, and the machine on which a result was obtained."""

    versions: Mapping[str, str] = field(default_factory=dict)
    cpu: str = ""
    cores: int = 0
    system: str = ""
    python: str = ""

    @classmethod
    def of(cls, runtimes: Sequence[Runtime[Any]]) -> Environment:
        """Describe these runtimes and this machine; `cores` counts those that this process may use."""
        system = f"{platform.system()} {platform.release()} {platform.machine()}"
        versions = {runtime.name: runtime.version for runtime in runtimes}
        return cls(versions, cpu.model_name(), core_count(), system, platform.python_version())


@dataclass(frozen=True, slots=True)
class CrossCheckResult(InNotebooks):
    """Result of cross-checking an IR or an ONNX model: its gather-family layers and its outputs.

    The outputs of an IR with our gathers are compared with those of stock OpenVINO. The outputs of a converted ONNX model are
    compared with those of onnxruntime on the original.

    Attributes:
        not_run: why the model, or its layers on their own operands, was not executed; "" if everything was.
        no_reference: whether `not_run` is because onnxruntime cannot load the ONNX model, whatever the inputs.
        original: path of the ONNX model; "" if the source is an IR.
        problem: why an ONNX model fails regardless of its outputs and layers: it was not executed.
        inexactness: ways in which OpenVINO will differ from the ONNX model.
        in_bodies: gathers in bodies of If, Loop and Scan, which were not compared on their own.
        notes: other inputs that were tried, and why the converted model could not be compared on them.
        inputs: inputs of the ONNX model and its conversion, by name.
        blamed: stock gathers that each pass alone, although the outputs are wrong with them and right with ours.
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
        """Path of the source; "" for an IR without layers or in memory."""
        return self.original or (self.layers[0].path if self.layers else "")

    @property
    def passed(self) -> bool:
        """Whether all layers and outputs passed, with at least one layer (of an IR) or one output (of an ONNX model)."""
        compared = self.outputs if self.original else self.layers
        right = all(layer.passed for layer in self.layers) and all(output.comparison.passed for output in self.outputs)
        return bool(compared) and right and not self.problem

    @property
    def divergences(self) -> tuple[str, ...]:
        """Distinct names of the known divergences that apply."""
        of_layers = [name for layer in self.layers for name in layer.divergences]
        return tuple(dict.fromkeys([*of_layers, *(name for output in self.outputs for name in output.comparison.divergences)]))

    def table(self) -> Table:
        """Return a table for `rich.print`, with one row per layer and, for an ONNX model, one per output."""
        from ov_gather.crosscheck.tables import layers_table, model_table

        return model_table(self.outputs, self.layers) if self.original else layers_table(self.layers)
