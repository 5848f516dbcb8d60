"""Conversion of whole models, from ONNX or PyTorch, by OpenVINO's front ends."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

import onnx
import onnx_ir
from onnx_ir.passes.common import RemoveInitializersFromInputsPass

from ov_gather.extension.users import Given, UserExtension, loaded, new_core
from ov_gather.ir.element_types import by_onnx
from ov_gather.system.files import replacing_together

from .errors import ConversionError, describe, explained
from .external_data import external_tensors
from .finishing import Conversion, finish, record
from .inexactness import LossyConversionWarning, find_inexactness, summaries
from .legalize import Rewrite, legalize
from .loading import OnnxSource, load, naming, refuse_to_overwrite
from .names import make_well_formed, refuse_illegal_names, restore_names
from .passes.lanes import LaneInterface, travel_in_lanes
from .pytorch.sources import is_program
from .refusals import open_ranks, refuse_fatal, refuse_sequences
from .saving import data_file, save_onnx, temporary_file
from .weights import weights_outside

if TYPE_CHECKING:
    import openvino
    import torch


def convert_model(
    source: OnnxSource | torch.export.ExportedProgram,
    *,
    output: str | os.PathLike[str] | None = None,
    target: str = "stock",
    fp16: bool = False,
    strict: bool = False,
    assume_in_bounds: bool = False,
    lanes: bool = False,
    trust: bool = False,
    extensions: Iterable[Given] = (),
) -> openvino.Model:
    """Convert a model so that its gathers behave on OpenVINO as ONNX or PyTorch specifies; warn where they do not.

    Args:
        source: path of the .onnx (with external data beside it), its bytes, or an `onnx.ModelProto`; or a
            `torch.export.ExportedProgram`, or the path of the .pt2 that `torch.export.save` wrote.
        output: path of the .xml to write; the .bin gets the same stem. By default, nothing is written.
        target: "stock" uses only operations of OpenVINO. "extension" uses operations of ov-gather for gathers and scatters,
            which raise if an index is out of bounds; a Gather that is proved to be in bounds stays a stock operation. To read
            such a model, register the extension (`ov_gather.register`).
        fp16: write floating-point constants as float16.
        strict: raise if OpenVINO would not execute a part of the model as its source specifies.
        assume_in_bounds: assume that no index of a gather is out of bounds.
        lanes: pass values that the model only moves, and that OpenVINO would change, in lanes, as bytes: such inputs and
            outputs get other types and shapes, and names that end in ".lanes". `rt_info` lists them; `as_lanes` and
            `from_lanes` convert arrays. For ONNX models only.
        trust: load a .pt2, which executes code that the file holds.
        extensions: libraries, "module:Class" or classes of `openvino.Op` with operations of yours, and their conversions.

    Returns:
        The model. Inputs and outputs are named as in the source, except those in lanes.

    Warns:
        LossyConversionWarning: OpenVINO will not execute a part of the model as the source specifies; one warning per kind,
            which names the nodes.

    Raises:
        ConversionError: the source is not a valid model, or a .pt2 without `trust`; a node cannot be converted (the message
            names it); the output would overwrite the source; or `strict`, and a part would not be executed as specified.
        ValueError: an extension cannot be loaded.
        OSError: a file cannot be read or written.
        ImportError: the source is an exported program, and PyTorch is not installed.
    """
    conversion = convert(
        source,
        target=target,
        assume_in_bounds=assume_in_bounds,
        lanes=lanes,
        output=output,
        trust=trust,
        extensions=loaded(extensions),
    )
    if strict and conversion.inexactness:
        raise ConversionError("; ".join(summaries(conversion.inexactness)))
    for summary in summaries(conversion.inexactness):
        warnings.warn(summary, LossyConversionWarning, stacklevel=2)
    if output is not None:
        with written(conversion.model, Path(output), fp16=fp16):
            pass
    return conversion.model


def convert(
    source: OnnxSource | torch.export.ExportedProgram,
    *,
    target: str = "stock",
    assume_in_bounds: bool = False,
    lanes: bool = False,
    output: str | os.PathLike[str] | None = None,
    trust: bool = False,
    readable: Path | None = None,
    extensions: tuple[UserExtension, ...] = (),
    step: Callable[[str], object] = str,
) -> Conversion:
    """Convert like `convert_model`, but also return rewrites and losses, and write nothing; `output` must not be a source.

    `readable` is what a caller has from `weights_outside`. `step` is called with each step, as text, before it is taken.
    """
    if is_program(source):
        from .pytorch.conversion import convert_program

        if lanes:
            raise ConversionError("values travel in lanes only in ONNX models")
        return convert_program(source, target=target, assume_in_bounds=assume_in_bounds, trust=trust, extensions=extensions)
    onnx_source = cast(OnnxSource, source)
    with naming(source), _readable(onnx_source, readable) as light:
        step("checking the model")
        original = load(light)
        if output is not None:
            refuse_to_overwrite(onnx_source, original, Path(output), Path(output).with_suffix(".bin"))
        step("rewriting gathers")
        rewrites = legalize(original, target=target, assume_in_bounds=assume_in_bounds)
        travel = travel_in_lanes(original, stock=target == "stock") if lanes else LaneInterface()
        step("finding what OpenVINO would compute differently")
        inexactness = find_inexactness(original, target=target, assume_in_bounds=assume_in_bounds)
        step("converting to OpenVINO")
        model = read(original, target, extensions)
    step("repairing what OpenVINO would compute differently")
    finished, left = finish(model)
    rewrites += finished
    inexactness += left
    record(model, target, inexactness)
    in_lanes = {name: (given, kind.numpy().name) for name, (given, kind) in (travel.inputs | travel.outputs).items()}
    if in_lanes:
        model.set_rt_info(json.dumps(in_lanes, ensure_ascii=False), ["ov_gather", "lanes"])
    return Conversion(model, rewrites, inexactness, in_lanes)


def _readable(source: OnnxSource, readable: Path | None) -> AbstractContextManager[OnnxSource]:
    """Return a context that yields a path, or the source in memory, from which a model is read."""
    if readable is None and isinstance(source, str | os.PathLike):
        return weights_outside(source)
    return nullcontext(readable or source)


def read(model: onnx_ir.Model, target: str, extensions: tuple[UserExtension, ...] = ()) -> openvino.Model:
    """Convert a model by OpenVINO's ONNX front end, with our operations for target "extension", and those of users.

    Raises ConversionError.
    """
    _refuse_types(model)
    refuse_sequences(model)
    refuse_fatal(model)
    core = new_core(extensions, ours=target == "extension")
    RemoveInitializersFromInputsPass()(model)  # OpenVINO, too, treats an input with an initializer as a constant
    with temporary_file(model) as path:  # by path, as a serialised protobuf is limited to 2 GB
        size = path.stat().st_size + sum(tensor.nbytes for tensor in external_tensors(model))
        try:
            converted = _read_file(core, path, size)
        except RuntimeError as error:
            raise ConversionError(_explain(str(error), model)) from None
    restore_names(converted, model.graph)
    return converted


def _read_file(core: openvino.Core, path: Path, size: int) -> openvino.Model:
    """Read the file; if that fails, its bytes, for which the front end converts a few more operators.

    `size` is the number of bytes of the model and its external data.
    """
    try:
        return core.read_model(path)
    except RuntimeError:
        if size < onnx.checker.MAXIMUM_PROTOBUF:
            with suppress(RuntimeError):
                return core.read_model(onnx.load(path).SerializeToString())
        raise


def _refuse_types(model: onnx_ir.Model) -> None:
    """Raise ConversionError if OpenVINO lacks the element type of a value."""
    for node in model.graph.all_nodes():
        for value in (*node.inputs, *node.outputs):
            if value is not None and value.dtype is not None and by_onnx(value.dtype.value) is None:
                raise ConversionError(f"{describe(node)}: OpenVINO has no element type for {value.dtype} of '{value.name}'")


def _explain(message: str, model: onnx_ir.Model) -> str:
    """Return a message that names all nodes without a conversion, or else the relevant lines of OpenVINO's message."""
    listed = re.search(r"No conversion rule found for operations: (.*)", message)
    if listed is None:
        return "; ".join([explained(message, "Summary"), *open_ranks(model)])
    names = set(listed[1].split(", "))
    nodes = [node for node in model.graph.all_nodes() if _listed_name(node, model.opset_imports) in names]
    return (
        f"OpenVINO has no conversion for {'; '.join(map(describe, nodes)) or listed[1]}: name the library of the operation, "
        "with a ConversionExtension for ONNX, by --extension (extensions= in Python); `ov-gather extension new` begins one"
    )


def _listed_name(node: onnx_ir.Node, opsets: Mapping[str, int]) -> str:
    return f"{node.domain}.{node.op_type}" if node.domain else f"{node.op_type}-{opsets.get('')}"


@contextmanager
def written(model: openvino.Model, output: Path, *, fp16: bool = False) -> Iterator[Path]:
    """Write the .xml and its .bin under temporary names, and move them into place when the block succeeds.

    Raises ConversionError if an input or output has a name that XML cannot hold; OSError.
    """
    import openvino

    from ov_gather.acceleration.compressed import keep_compressed

    refuse_illegal_names(model)
    if fp16:
        keep_compressed(model, halved=True)
    with replacing_together(output) as path:
        try:
            openvino.save_model(model, path, compress_to_fp16=fp16)
        except RuntimeError as error:
            raise OSError(f"{output} cannot be written: {error}") from error
        make_well_formed(path)
        yield path


def legalize_file(source: Path, output: Path, *, target: str = "stock", assume_in_bounds: bool = False) -> list[Rewrite]:
    """Legalize an ONNX file and write it, with external data if the source has any. Raises ConversionError, OSError."""
    with naming(source):
        model = load(source)
        refuse_to_overwrite(source, model, output, data_file(output))
        rewrites = legalize(model, target=target, assume_in_bounds=assume_in_bounds)
    with replacing_together(output) as path:
        save_onnx(model, path)
    return rewrites
