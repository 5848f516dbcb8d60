"""Reading of both models, and choice of inputs that both accept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import onnx
import onnx_ir
from numpy.typing import ArrayLike, NDArray

from ov_gather.crosscheck.bisect.correspondence import pair_inputs
from ov_gather.crosscheck.bisect.graphs import ValueGraph, arrays_graph, ir_graph, onnx_graph
from ov_gather.crosscheck.bisect.ir_side import IRSide
from ov_gather.crosscheck.bisect.onnx_side import OnnxSide
from ov_gather.crosscheck.bisect.sides import ArraysSide, Side
from ov_gather.crosscheck.inputs.ir import generate_inputs
from ov_gather.crosscheck.inputs.onnx import NoInputsError, check_inputs, made_up_inputs
from ov_gather.crosscheck.models import intermediates
from ov_gather.ir.model import Model
from ov_gather.ir.reader import Source, read_ir
from ov_gather.runtimes.configured import Setting

Arrays = Mapping[str, NDArray[Any]]
Read = onnx_ir.Model | Model | Arrays
Reference: TypeAlias = "Source | Model | onnx.ModelProto | Mapping[str, ArrayLike]"


@dataclass(frozen=True)
class Sides:
    """The two sides with one choice of inputs; `inputs` maps the model's input names to those of the reference."""

    reference: Side
    model: IRSide
    inputs: Mapping[str, str]
    arrays: Arrays


def read_reference(source: Reference) -> Read:
    """Read the reference: a model, a .npz, or arrays by name. Raises OSError, ValueError (IRError)."""
    if isinstance(source, Mapping):
        return {name: np.asarray(array) for name, array in source.items()}
    if isinstance(source, Model):
        return source
    if isinstance(source, onnx.ModelProto) or (isinstance(source, bytes) and not source.lstrip().startswith(b"<")):
        return intermediates.load(source)
    if isinstance(source, str | Path) and Path(source).suffix == ".onnx":
        return intermediates.load(Path(source))
    if isinstance(source, str | Path) and Path(source).suffix == ".npz":
        return load_arrays(Path(source))
    return read_ir(source)


def load_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Load all arrays of a .npz file. Raises OSError, ValueError."""
    try:
        with np.load(path, allow_pickle=False) as file:
            if not hasattr(file, "files"):
                raise ValueError("one array, not several by name")
            return {name: file[name] for name in file.files}
    except OSError:
        raise
    except Exception as error:  # NumPy raises many types for a damaged file
        raise ValueError(f"{path}: not a .npz file: {error or type(error).__name__}") from error


def choices(reference: Read, model: Model, given: Arrays | None, setting: Setting, seed: int) -> Iterator[Sides]:
    """Yield the sides for one choice of inputs after another, or for the given inputs only.

    Raises ValueError if the inputs of the models differ, or do not fit; NoInputsError if none can be generated.
    """
    graph = ir_graph(model)
    theirs = _graph(reference, graph)
    for read in (reference, model):
        if isinstance(read, Model):
            _require_distinct_inputs(read)
    names = pair_inputs(theirs, graph)
    for arrays in _arrays(reference, model, names, given, seed):
        ours = {name: arrays[other] for name, other in names.items()}
        if isinstance(reference, onnx_ir.Model):
            side: Side = OnnxSide(reference, arrays)
        elif isinstance(reference, Model):
            given_theirs = {name: arrays[name] for name in theirs.inputs}
            side = IRSide(reference, given_theirs, Setting(extensions=setting.extensions), theirs)
        else:
            side = ArraysSide(reference, arrays)
        yield Sides(side, IRSide(model, ours, setting, graph), names, arrays)


def _require_distinct_inputs(model: Model) -> None:
    names = [layer.name for layer in model.parameters]
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise ValueError(
            f"{model.path or model.name}: several inputs are called '{twice[0]}': give each Parameter a name of its own"
        )


def _graph(reference: Read, graph: ValueGraph) -> ValueGraph:
    if isinstance(reference, onnx_ir.Model):
        return onnx_graph(reference)
    return ir_graph(reference) if isinstance(reference, Model) else arrays_graph(reference, list(graph.inputs))


def _arrays(reference: Read, model: Model, names: Mapping[str, str], given: Arrays | None, seed: int) -> Iterator[Arrays]:
    """Yield arrays by the reference's input names, one set per choice."""
    if isinstance(reference, onnx_ir.Model):
        if given is not None:
            yield check_inputs(reference, {names.get(name, name): array for name, array in given.items()})
        else:
            yield from made_up_inputs(reference, seed)
        return
    if not isinstance(reference, Model):
        arrays = {**{name: array for name, array in reference.items() if name in names}, **(given or {})}
    elif given is None:
        made_up = generate_inputs(model, seed)
        arrays = {names[layer.name]: array for layer, array in zip(model.parameters, made_up, strict=True)}
    else:
        arrays = {names.get(name, name): array for name, array in given.items()}
    missing = [name for name in names.values() if name not in arrays]
    if missing:
        raise NoInputsError(f"there is no array for the input{'s' if len(missing) > 1 else ''} {', '.join(missing)}")
    yield {name: arrays[name] for name in names.values()}
