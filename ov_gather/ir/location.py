"""Places in an IR document."""

from __future__ import annotations

from dataclasses import dataclass

from ov_gather.system.tables import shortened


@dataclass(frozen=True, slots=True)
class Location:
    """A place in an IR document: file, line, and the layer and port if it lies in one.

    `subgraph_path` lists the enclosing sub-graphs, outermost first, each as the layer that has the body and the tag of the
    body, e.g. ("If 'x'", "then_body"). The line is 0 if unknown.
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
        """Sub-graphs and layer, as in "If 'x' / then_body / GatherElements 'y' (layer 2), port 1"; shortened if long."""
        if self.layer_id is None and not self.layer_type:
            return shortened(" / ".join(self.subgraph_path))
        layer_id = "?" if self.layer_id is None else self.layer_id
        port = "" if self.port is None else f", port {self.port}"
        return shortened(" / ".join((*self.subgraph_path, f"{self.layer_type} '{self.layer_name}' (layer {layer_id}){port}")))
