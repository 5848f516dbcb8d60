"""What a cross-check came to: comparisons, results of layers, and their table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


class Status(Enum):
    """How a comparison came out."""

    PASSED = "passed"
    EXPECTED = "expected"
    NOT_APPLICABLE = "not applicable"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Our kernel against one other source of the result. `divergences` are those that apply; `detail` says what was seen."""

    runtime: str
    status: Status
    detail: str = ""
    divergences: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing unexplained was seen."""
        return self.status is not Status.FAILED

    def __str__(self) -> str:
        names = f": {', '.join(self.divergences)}" if self.divergences else ""
        return f"{self.status.value}{names}" + (f" ({self.detail})" if self.detail else "")


@dataclass(frozen=True, slots=True)
class LayerResult:
    """What came out for one layer. `types` and `shapes` are those of the case, `kernel` is "native" or "reference"; all are
    empty where the layer could not be executed."""

    path: str
    layer: str
    operation: str
    types: str = ""
    shapes: str = ""
    kernel: str = ""
    comparisons: tuple[Comparison, ...] = ()
    assumptions: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether there was something to compare, and nothing unexplained was seen."""
        return bool(self.comparisons) and all(it.passed for it in self.comparisons)


@dataclass(frozen=True, slots=True)
class CrossCheckResult:
    """What came out for all layers of one source."""

    layers: tuple[LayerResult, ...]
    seed: int
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether every layer passed; False if there was none."""
        return bool(self.layers) and all(layer.passed for layer in self.layers)

    @property
    def divergences(self) -> tuple[str, ...]:
        """The names of the known divergences that apply, each once."""
        return tuple(dict.fromkeys(name for it in self.layers for seen in it.comparisons for name in seen.divergences))

    def table(self) -> Table:
        """One row a layer, for `rich.print`."""
        return table(self.layers)


def table(layers: Sequence[LayerResult]) -> Table:
    """One row a layer."""
    from rich.table import Table
    from rich.text import Text

    view = Table("sample", "layer", "types", "shapes", "kernel", "cross-check")
    for layer in layers:
        style = None if layer.passed else "red"
        outcome = "\n".join(f"{it.runtime}: {it}" for it in layer.comparisons)
        cells = (layer.path, layer.layer, layer.types, layer.shapes, layer.kernel, outcome)
        view.add_row(*map(Text, cells), style=style)  # Text: names may look like markup
    return view
