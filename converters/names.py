"""Names in a converted model: ONNX's for inputs and outputs, and none that XML cannot hold.

OpenVINO writes such names, and no XML parser reads the result.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import onnx_ir

from ov_gather.ir.tree import NOT_XML, legal
from ov_gather.system.tables import printable

from .errors import ConversionError
from .graphs import is_used

if TYPE_CHECKING:
    import openvino

_WRITTEN = re.compile(rb"&#(\d+);|\xef\xbf[\xbe\xbf]")
"""Characters to check in OpenVINO's output: numeric references, and U+FFFE and U+FFFF in UTF-8."""


def refuse_illegal_names(model: openvino.Model) -> None:
    """Raise ConversionError if XML cannot hold the name of an input or output, which is the user's and is never changed."""
    for kind, ports in (("input", model.inputs), ("output", model.outputs)):
        for name in (name for port in ports for name in port.get_names()):
            if found := NOT_XML.search(name):
                code = f"U+{ord(found[0]):04X}"
                raise ConversionError(f"{kind} '{printable(name)}': XML, and so an IR, cannot hold {code}: rename the {kind}")


def make_well_formed(path: Path) -> None:
    """Replace characters that XML cannot hold, in names inside the model, by escapes such as \\x1b. Raises OSError."""
    content = path.read_bytes()
    legal = _WRITTEN.sub(_escaped, content)
    if legal != content:
        path.write_bytes(legal)


def _escaped(found: re.Match[bytes]) -> bytes:
    character = chr(int(found[1])) if found[1] else found[0].decode()
    return legal(character).encode() if NOT_XML.match(character) else found[0]


def restore_names(model: openvino.Model, graph: onnx_ir.Graph) -> None:
    """Set the ONNX names of a converted model's inputs and outputs; each Parameter's friendly name is that of its input.

    The front end names the input of a removed node (Dropout) after the node's output. It keeps the order, and drops some inputs
    that no result depends on. Raises ConversionError if the inputs cannot be matched.
    """
    names = [str(value.name) for value in graph.inputs]
    found = [next((name for name in names if name in port.get_names()), None) for port in model.inputs]
    missing = [str(value.name) for value in graph.inputs if is_used(value) and value.name not in found]
    if found.count(None) not in (0, len(missing)):
        raise ConversionError(f"OpenVINO renames some of the inputs {', '.join(missing)}; which cannot be told")
    rest = iter(missing)
    for port, name in zip(model.inputs, found, strict=True):
        name = name or next(rest)
        port.get_node().set_friendly_name(name)
        port.get_tensor().add_names({name})
    for value, port in zip(graph.outputs, model.outputs, strict=True):
        # An output that is also an input gets the names of both: the .xml would keep only those of one.
        source = port.get_node().input_value(0)
        is_input = source.get_node().get_type_name() == "Parameter"
        port.get_tensor().add_names({str(value.name)} | (source.get_names() if is_input else set()))
