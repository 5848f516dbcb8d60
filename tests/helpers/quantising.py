"""ONNX models, quantised or compressed by NNCF, then accelerated or converted: whether each result computes the same bits.

Each is executed in a worker process, as OpenVINO may crash when it compiles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
import openvino as ov
from numpy.typing import NDArray

import ov_gather
from ov_gather.converters.models import convert, written
from ov_gather.runtimes.isolated import borrowed

if TYPE_CHECKING:
    import nncf

Arrays = dict[str, NDArray]
Outputs = list[NDArray] | Exception
SAME = "same bits"


def to_int8(source: Path, inputs: Arrays) -> ov.Model:
    """Quantise weights and activations of what ovc makes, as NNCF fails on some models that the front end alone has read."""
    import nncf

    return nncf.quantize(ov.convert_model(source), _dataset(inputs), subset_size=2)


def to_int4(source: Path, inputs: Arrays) -> ov.Model:
    """Compress only the weights."""
    import nncf

    adjusted = nncf.AdvancedCompressionParameters(group_size_fallback_mode=nncf.GroupSizeFallbackMode.ADJUST)
    options = {"mode": nncf.CompressWeightsMode.INT4_ASYM, "group_size": 16, "all_layers": True}
    return nncf.compress_weights(ov.convert_model(source), advanced_parameters=adjusted, **options)


def to_qdq(source: Path, inputs: Arrays) -> onnx.ModelProto:
    """Quantise to QuantizeLinear and DequantizeLinear, as users of onnxruntime do."""
    import nncf

    return nncf.quantize(onnx.load(source), _dataset(inputs), subset_size=2)


def accelerated(model: ov.Model, inputs: Arrays, directory: Path) -> Iterator[tuple[str, str]]:
    """What became of the outputs after `accelerate`, with our operations and with `portable`."""
    path = directory / "quantised.xml"
    ov.serialize(model, path)
    given = [inputs[port.get_any_name()] for port in model.inputs]
    expected = _outputs(path, given, "openvino")
    for way, options, runtime in (
        ("accelerated", {}, "extension"),
        ("portable", {"portable": True, "assume_in_bounds": True}, "openvino"),
    ):
        other = model.clone()
        changed = len(ov_gather.accelerate(other, **options).changed)
        ov.serialize(other, directory / f"{way}.xml")
        found = _outputs(directory / f"{way}.xml", given, runtime)
        yield f"{way}, {changed} gathers changed", _compared(expected, found)


def converted(quantised: onnx.ModelProto, inputs: Arrays, directory: Path) -> Iterator[tuple[str, str]]:
    """What became of the outputs after `convert`, for stock operations and for those of our extension."""
    source = directory / "quantised.onnx"
    onnx.save(quantised, source)
    given = [inputs[value.name] for value in quantised.graph.input if value.name in inputs]
    expected = _outputs(source, given, "openvino")
    for target, runtime in (("stock", "openvino"), ("extension", "extension")):
        with written(convert(source, target=target).model, directory / f"{target}.xml"):
            pass
        yield f"converted for {target}", _compared(expected, _outputs(directory / f"{target}.xml", given, runtime))


def _dataset(inputs: Arrays) -> nncf.Dataset:
    """The inputs, and others with their numbers in another order."""
    import nncf  # imported in each function: the import takes seconds, also where no test of NNCF is selected

    other = {name: array[..., ::-1].copy() if array.dtype == np.float32 else array for name, array in inputs.items()}
    return nncf.Dataset([inputs, other])


def _outputs(path: Path, inputs: Sequence[NDArray], runtime: str) -> Outputs:
    with borrowed([runtime]) as (worker,):
        return worker.run(path, inputs)


def _compared(expected: Outputs, found: Outputs) -> str:
    for which, outputs in (("the original", expected), ("the result", found)):
        if isinstance(outputs, Exception):
            return f"{which}: {outputs}"
    different = sum(
        int((one.view(np.uint8) != other.view(np.uint8)).any()) if one.shape == other.shape else 1
        for one, other in zip(expected, found, strict=True)
    )
    return f"{different} of {len(expected)} outputs differ" if different else SAME
