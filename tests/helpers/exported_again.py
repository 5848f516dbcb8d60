"""An IR as another export of the same model would be: other ids, another order of layers and edges, and so other lines."""

import shutil
from pathlib import Path

from lxml import etree

_IDS = ("from-layer", "to-layer", "internal_layer_id")


def export_again(source: Path, target: Path) -> None:
    """Write the model of `source` to `target`, which may be the same file, with its .bin."""
    tree = etree.parse(source)
    for section in tree.iter("layers"):
        for layer in section:
            layer.set("id", str(int(layer.get("id")) + 100))
    for element in tree.iter():
        for name in _IDS:
            if name in element.attrib:
                element.set(name, str(int(element.get(name)) + 100))
    for section in tree.iter("layers", "edges"):
        section[:] = reversed(section)
    tree.write(target)
    if source != target and source.with_suffix(".bin").exists():
        shutil.copy(source.with_suffix(".bin"), target.with_suffix(".bin"))
