"""Execute each layer that OVG712 notes, alone: python tests/tools/noted_layers.py DIRECTORY

Validates the IRs there with the newest release as target. Each noted layer is cut out of its model, gets values that should
show the fault, and is compared with NumPy. Prints the number of notes by report, and those that do not show it; for these, and
for OVG710 and OVG711, the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
from numpy.typing import NDArray
from openvino import opset13 as op

from ov_gather import validate
from ov_gather.rules.releases import RELEASES

LARGE = (1 << 24) + 1
"""The least integer that is no float32."""
DIVISOR = 10_007
Arrays = Sequence[NDArray[Any]]
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Divide": np.floor_divide,
    "Equal": np.equal,
    "FloorMod": np.mod,
    "Less": np.less,
    "Mod": np.fmod,
    "NotEqual": np.not_equal,
    "Range": lambda *bounds: np.arange(*map(int, bounds)),
    "ReduceMax": lambda data, axes: data.max(),
    "ReduceSum": lambda data, axes: data.sum(),
    "Select": lambda one, other, *chosen: chosen[0],  # both are LARGE, or one is a constant
}


def values(layer_type: str, operands: Sequence[NDArray[Any] | None]) -> Iterator[tuple[int, ...]]:
    """Yield values for the operands that should show the fault; those that are constants (not None) have theirs."""
    by = DIVISOR if operands[1] is None else int(operands[1].ravel()[0])
    if layer_type == "Divide":
        yield from ((by * times + by - 1, by) for times in range(2**31 // by - 40, 2**31 // by - 2))
    elif layer_type in ("FloorMod", "Mod"):
        yield from ((2**31 - 1 - less, by) for less in range(40))
    elif layer_type == "Range":
        yield from ((0, -3, 1), (3, -1, 1))
    elif layer_type.startswith("Reduce"):
        yield (LARGE, 0)
    elif layer_type == "Select":
        yield from ((one, other, LARGE, LARGE) for one, other in ((0, 0), (0, 1), (1, 0)))
    else:
        yield (LARGE - 1, LARGE)


def shows(model: ov.Model, name: str) -> bool:
    """Return True if a layer alone differs from NumPy for some values."""
    node = next(one for one in model.get_ops() if one.get_friendly_name() == name)
    layer_type, inputs = node.get_type_name(), list(node.inputs())
    if layer_type == "Select":  # the plugin joins it with the comparison
        inputs[:1] = node.input_value(0).get_node().inputs()
    operands = [_constant(one.get_source_output()) for one in inputs]
    parameters = []
    for given, constant in zip(inputs, operands, strict=True):
        if constant is None:
            source = given.get_source_output()
            parameters.append(op.parameter(source.get_partial_shape(), source.get_element_type()))
            given.replace_source_output(parameters[-1].output(0))
    compiled = ov.compile_model(ov.Model([node.output(0)], parameters), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    for numbers in values(layer_type, operands):
        fed = iter(parameters)
        arrays = [
            _full(next(fed), number) if constant is None else constant
            for number, constant in zip(numbers, operands, strict=True)
        ]
        found = compiled([array for array, constant in zip(arrays, operands, strict=True) if constant is None])[0]
        expected = FUNCTIONS[layer_type](*arrays)
        if layer_type == "Select":
            expected = np.where(found == arrays[3], arrays[3], arrays[2])
        if found.shape != expected.shape if layer_type == "Range" else np.any(found != expected):
            return True
    return False


def _constant(source: ov.Output) -> NDArray[Any] | None:
    node = source.get_node()
    while node.get_type_name() == "Convert":
        node = node.input_value(0).get_node()
    return np.array(node.data).astype(source.get_element_type().to_dtype()) if node.get_type_name() == "Constant" else None


def _full(parameter: ov.Node, number: int) -> NDArray[Any]:
    sizes = [dim.get_length() if dim.is_static else 2 for dim in parameter.get_output_partial_shape(0)]
    return np.full(sizes, number, parameter.get_output_element_type(0).to_dtype())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    paths = sorted(parser.parse_args().directory.rglob("*.xml"))
    counts, files, doubtful = Counter[str](), set[Path](), 0
    for path in paths:
        for finding in validate(path, target=RELEASES[-1], select=["OVG710", "OVG711", "OVG712"]):
            files.add(path)
            place = finding.location
            is_shown = finding.rule == "OVG712" and shows(ov.Core().read_model(path), place.layer_name)
            counts[finding.hint.rpartition("upstream/")[2].removesuffix(".md")] += 1
            if not is_shown:
                doubtful += 1
                print(f"{path}: {place.layer_name}: {finding.rule}: {finding.message}")
    for report, count in counts.most_common():
        print(f"{report}: {count}")
    print(f"{counts.total()} findings in {len(files)} of {len(paths)} IRs; {doubtful} do not show alone")
    return int(bool(doubtful))


if __name__ == "__main__":
    sys.exit(main())
