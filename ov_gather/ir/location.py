"""A Location is a place in an IR document."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Location:
    """A Location names the file and the line, and the layer and the port where the place lies in one.

    `subgraph_path` names the sub-graphs around the layer, outermost first, each by the layer that has the body and by the tag
    of the body, e.g. ("If 'x'", "then_body"). The line is 0 where none is known.
    """

    path: str
    line: int
    layer_id: int | None = None
    layer_name: str = ""
    layer_type: str = ""
    port: int | None = None
    subgraph_path: tuple[str, ...] = ()

    @property
    def layer_text(self) -> str:
        """The text names sub-graphs and layer, as in "If 'x' / then_body / GatherElements 'y' (layer 2), port 1"."""
        if self.layer_id is None and not self.layer_type:
            return " / ".join(self.subgraph_path)
        layer_id = "?" if self.layer_id is None else self.layer_id
        port = "" if self.port is None else f", port {self.port}"
        return " / ".join((*self.subgraph_path, f"{self.layer_type} '{self.layer_name}' (layer {layer_id}){port}"))
