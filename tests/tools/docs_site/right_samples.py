"""What is right for a rule: its sample as `ov-gather fix` mends it, or with an edit; so a page shows that very thing."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ov_gather import read_ir
from ov_gather.ir.constants import constant
from ov_gather.ir.errors import IRError
from ov_gather.ir.model import Layer, Model
from ov_gather.rules.mending import mend

MOST = 64
"""Most elements of a constant whose values are compared."""


@dataclass(frozen=True)
class Edit:
    """Texts of the document that are replaced, and values of integer constants by the name of their layer."""

    sample: str
    texts: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Sequence[int]] = field(default_factory=dict)


RESULT = """
		<layer id="2" name="output" type="Result" version="opset1">
			<input>
				<port id="0" precision="I64">
					<dim>3</dim>
					<dim>10</dim>
					<dim>5</dim>
				</port>
			</input>
		</layer>
	</layers>"""
EDITS = {
    "OVG113": Edit(
        "parameters_only.xml",
        {"\n\t</layers>": RESULT, "<edges>\n": '<edges>\n\t\t<edge from-layer="1" from-port="0" to-layer="2" to-port="0" />\n'},
    ),
    "OVG308": Edit("scatter_nd_updates.xml", {'element_type="f16"': 'element_type="f32"', '"FP16"': '"FP32"'}),
    "OVG601": Edit("gather_nd_8.xml", values={"indices": (0, 1, 2, 3)}),
    "OVG602": Edit("gather_8.xml", values={"indices": (0, 2)}),
    "OVG708": Edit(
        "gather_elements_of_opset16.xml", {'type="GatherElements" version="opset16"': 'type="GatherElements" version="opset6"'}
    ),
    "OVG709": Edit("undefined.xml", {'element_type="undefined"': 'element_type="dynamic"'}),
}
"""By rule, where `fix` mends nothing and no valid sample shows just what is right. Tests validate what they give."""


def fixed(rule: str, wrong: Path, folder: Path) -> str:
    """Write the sample to the folder as `ov-gather fix` mends it.

    Returns a sentence: the command, and what it does to the .bin; "" if it does not mend what violates this rule.
    """
    right = _copied(wrong, folder)
    for command in ("ov-gather fix", "ov-gather fix --unsafe"):
        mended = mend(right, unsafe=command.endswith("--unsafe"), select=(rule,), target="2024.6")
        if mended.mended and not mended.left:
            mended.write()
            of_weights = [line.removeprefix(f"{folder}/") for line in mended.diff() if line.startswith(f"{folder}/")]
            return "; ".join([f"`{command}` [mends this](../../howto/mend_models.md)", *of_weights])
    return ""


def edited(rule: str, wrong: Path, folder: Path) -> bool:
    """Write the sample to the folder with the edit for the rule; return False if there is none."""
    edit = EDITS.get(rule)
    if edit is None or edit.sample != wrong.name:
        return False
    right = _copied(wrong, folder)
    text = right.read_text()
    for old, new in edit.texts.items():
        assert old in text, f"{wrong}: there is no {old}"
        text = text.replace(old, new)
    right.write_text(text)
    for name, numbers in edit.values.items():
        _write_values(right, name, numbers)
    return True


def values(path: Path) -> list[str]:
    """Return a line for each small constant of integers in the document."""
    try:
        model = read_ir(path)
    except IRError:
        return []
    return [f"{layer.name} = {text}" for layer in model.layers if layer.type == "Const" and (text := _value(model, layer))]


def _value(model: Model, layer: Layer) -> str:
    try:
        array = constant(model, layer)
    except IRError:
        return ""
    return str(array.tolist()) if array.dtype.kind in "iub" and array.size <= MOST else ""


def _copied(wrong: Path, folder: Path) -> Path:
    for path in (wrong, wrong.with_suffix(".bin")):
        if path.exists():
            shutil.copy(path, folder)
    return folder / wrong.name


def _write_values(path: Path, name: str, numbers: Sequence[int]) -> None:
    """Write the values of a constant into the .bin."""
    model = read_ir(path)
    (layer,) = (layer for layer in model.layers if layer.name == name)
    before = constant(model, layer)
    array = np.array(numbers, before.dtype).reshape(before.shape)
    offset = int(layer.attributes["offset"])
    data = bytearray(path.with_suffix(".bin").read_bytes())
    data[offset : offset + array.nbytes] = array.tobytes()
    path.with_suffix(".bin").write_bytes(data)
