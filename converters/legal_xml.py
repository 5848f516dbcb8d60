"""Names with characters that XML cannot hold: OpenVINO writes them, and no XML parser reads the result."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ov_gather.ir.tree import NOT_XML, legal
from ov_gather.system.tables import printable

from .errors import ConversionError

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
