"""Export one architecture; each IR is validated, compiled and executed before it takes its place."""

from __future__ import annotations

import os
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import openvino as ov
import torch
from openvino import passes

import ov_gather
from ov_gather.acceleration.graph import walk
from ov_gather.system.files import replacing, replacing_together
from tools.architectures.architecture import Architecture
from tools.architectures.routes import exported
from tools.architectures.table import ARCHITECTURES

FAMILY = ("Gather", "GatherElements", "GatherND", "ScatterUpdate", "ScatterElementsUpdate", "ScatterNDUpdate")


def path_of(out: Path, name: str, shapes: str, route: str) -> Path:
    """The path of an IR."""
    return out / shapes / f"{name}.{route}-route.xml"


def export(architecture: Architecture, path: Path, shapes: str, route: str) -> dict[str, Any]:
    """Write an IR; the way that it was made, and its gathers and scatters."""
    way, model = exported(architecture, route, shapes, path)
    arrays = {name: value.numpy() for name, value in architecture.inputs.items()}
    with replacing_together(path) as part:
        ov.save_model(model, part, compress_to_fp16=False)
        _verify(part, arrays)
        counts = _counts(part)
    with replacing(path.parent / f"{path.name.partition('.')[0]}.npz") as file:
        np.savez(file, **arrays)
    return {"way": way, **counts}


def _verify(path: Path, arrays: dict[str, np.ndarray]) -> None:
    errors = [finding for finding in ov_gather.validate(path) if finding.severity == "error"]
    if errors:
        raise ValueError(f"validate: {errors[0].rule}: {errors[0].message}")
    request = ov.Core().compile_model(path, "CPU", {"INFERENCE_PRECISION_HINT": "f32"}).create_infer_request()
    for name, array in arrays.items():
        request.set_tensor(name, ov.Tensor(array))
    request.start_async()
    request.wait()


def _counts(path: Path) -> dict[str, int]:
    """The gathers and scatters as they are saved and after constant folding, bodies included."""
    model = ov.Core().read_model(path)
    saved = _indices(model)
    manager = passes.Manager()
    manager.register_pass(passes.ConstantFolding())
    manager.run_passes(model)
    folded = _indices(model)
    return {"saved": len(saved), "folded": len(folded), "computed": sum(not is_constant for is_constant in folded)}


def _indices(model: ov.Model) -> list[bool]:
    return [
        node.input_value(1).get_node().get_type_name() == "Constant"
        for _, node in walk(model)
        if node.get_type_name() in FAMILY
    ]


def work(connection: Connection, out: Path, name: str, jobs: list[tuple[str, str]]) -> None:
    """Export one architecture, in a process of its own; send what became of each job as soon as it is known."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # exporters print much
    os.dup2(1, 2)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    with torch.no_grad():
        architecture = ARCHITECTURES[name]()
        architecture.model.eval()
        for shapes, route in jobs:
            start = time.perf_counter()
            try:
                found = export(architecture, path_of(out, name, shapes, route), shapes, route)
            except Exception as error:  # what exporters and OpenVINO raise has no common base
                found = {"failure": " ".join(str(error).split())[:600] or type(error).__name__}
            connection.send({"shapes": shapes, "route": route, "seconds": round(time.perf_counter() - start, 1), **found})
