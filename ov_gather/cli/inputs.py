"""Arrays of the option --input, for the only layer of an IR or for a whole model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ov_gather.cli.output import FileProblem
from ov_gather.ir.files import Place

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ov_gather.ir.model import Model
    from ov_gather.ops.layer_view import LayerView


def load_array(file: Path) -> NDArray[Any]:
    """Return the array of a .npy file. Raises OSError, ValueError."""
    import numpy as np

    try:
        array = np.load(file)
    except OSError:
        raise
    except Exception as error:  # NumPy raises many types for a damaged header
        raise ValueError(f"{file}: not a .npy file: {error or type(error).__name__}") from error
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{file}: holds several arrays; a .npy with one is needed")
    return array


def split_input(text: str, form: str, is_name: Callable[[str], bool] = bool) -> tuple[str, Path]:
    """Return the name and the file of a value of --input. Raises UsageError, which asks for this form, for any other name."""
    name, separator, file = text.partition("=")
    if not separator or not is_name(name):
        raise click.UsageError(f"--input {text}: write {form}")
    return name, Path(file)


def only_layer(model: Model, place: Place) -> LayerView:
    """Return the only gather-family layer of a model. Raises FileProblem if there is another number, or a port is missing."""
    from ov_gather.ops.layer_view import family_layers

    views = [view for _, graph in model.walk() for view in family_layers(graph)]
    if len(views) != 1:
        found = ", ".join(str(view.layer) for view in views) or "none"
        hint = "" if views else _hint(model)
        raise FileProblem(f"{place} must hold exactly one gather-family layer; it holds {found}{hint}")
    (view,) = views
    if not view.has_all_ports:
        names = ", ".join(given.name for given in view.operation.inputs)
        raise FileProblem(f"{view.layer}: {view.operation.name} has the inputs {names} and one output")
    return view


def _hint(model: Model) -> str:
    """Return how a layer of a user's operation becomes known; "" if there is none."""
    from ov_gather.ops.declarations import RESERVED

    layers = (layer for _, graph in model.walk() for layer in graph.layers)
    layer = next((layer for layer in layers if layer.version and not RESERVED.fullmatch(layer.version)), None)
    return f"; declare {layer.type} of opset '{layer.version}' by --ops FILE.py" if layer else ""


def load_inputs(model: Model, place: Place, texts: tuple[str, ...]) -> list[NDArray[Any]]:
    """Load the values of --input for the only layer of a model, in the order of its ports.

    Raises FileProblem as `only_layer`; UsageError if the names are not those of the layer's inputs; ValueError, OSError if a
    file has no array.
    """
    from ov_gather.crosscheck.cases.values import as_declared

    view = only_layer(model, place)
    names = [given.name for given in view.operation.inputs]
    given = [split_input(text, f"NAME=FILE.npy with NAME one of {', '.join(names)}", names.__contains__) for text in texts]
    wanted = [position for position in range(len(names)) if view.constant(position) is None]
    if sorted(name for name, _ in given) != sorted(names[position] for position in wanted):
        listed = " and ".join(names[position] for position in wanted)
        needs = f"needs --input for {listed}, each once" if wanted else "has constants as inputs, and takes no --input"
        raise click.UsageError(f"{view.layer} {needs}")
    files = dict(given)
    return [as_declared(load_array(files[names[position]]), view.input_types[position]) for position in wanted]


def inputs_of_ir(model: Model, place: Place, texts: tuple[str, ...]) -> list[NDArray[Any]] | dict[str, NDArray[Any]]:
    """Load the values of --input: all those of the only layer of a model, or of inputs of the model, by name.

    Raises as `load_inputs`; UsageError for a name that is no input of a model of several layers.
    """
    from ov_gather.crosscheck.cases.values import as_declared
    from ov_gather.ops.layer_view import family_layers

    types = {layer.name: layer.declared_type for layer in model.parameters}
    names = [text.partition("=")[0] for text in texts]
    views = [view for _, graph in model.walk() for view in family_layers(graph)]
    of_layer = [given.name for given in views[0].operation.inputs] if len(views) == 1 else []
    if all(name in of_layer for name in names) or (len(views) == 1 and not all(name in types for name in names)):
        return load_inputs(model, place, texts)
    form = f"NAME=FILE.npy with NAME one of {', '.join(types)}"
    given = dict(split_input(text, form, types.__contains__) for text in texts)
    return {name: as_declared(load_array(file), types[name]) for name, file in given.items()}


def named_arrays(texts: tuple[str, ...]) -> dict[str, NDArray[Any]]:
    """Load the values of --input for a whole model, by name. Raises UsageError, ValueError, OSError."""
    found: dict[str, NDArray[Any]] = {}
    for text in texts:
        name, file = split_input(text, "NAME=FILE.npy, each name once", lambda name: name not in found)
        found[name] = load_array(file)
    return found
