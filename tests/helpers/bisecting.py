"""What the tests of `bisect` share: converted models, planted faults, and reproducers that are bisected again."""

from pathlib import Path

import numpy as np
import openvino as ov

import ov_gather
from helpers.planting import candidates
from helpers.saved_models import saved
from ov_gather.ir.reader import read_ir
from ov_gather.ir.writer import write_ir


def converted(path, source):
    ov.save_model(ov.convert_model(source), path, compress_to_fp16=False)
    return path


def as_ir(folder, text, /, **constants):
    """The paths of an ONNX model and of the IR that it becomes."""
    source = saved(folder / "m.onnx", text, **constants)
    ov.save_model(ov.Core().read_model(source), folder / "m.xml", compress_to_fp16=False)  # keeps the names of constants
    return source, folder / "m.xml"


def written(path, model):
    write_ir(model, path)
    return path


def planted(model, kind, name):
    """A model with a fault of this kind in the layer of this name."""
    return next(way for way in candidates(model, kind) if way(None).layer.name == name)(None)


def bisected(originals, folder, kind, name, **options):
    """Plant a fault of this kind in the layer of this name of an IR, and bisect it; return the fault, too."""
    source, ir = originals
    wrong = planted(read_ir(ir), kind, name)
    return wrong, ov_gather.bisect(source, written(folder / "wrong.xml", wrong.model), **options)


def again(folder):
    """Bisect what a reproducer holds."""
    (reference,) = [path for path in Path(folder).glob("reference.*") if path.suffix in (".onnx", ".xml")]
    with np.load(Path(folder) / "inputs.npz") as file:
        return ov_gather.bisect(reference, Path(folder) / "model.xml", dict(file))
