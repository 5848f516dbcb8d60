"""A random model of each seed, of OpenVINO or of ONNX, whose gathers and scatters have computed indices."""

from __future__ import annotations

import numpy as np
import openvino as ov
from openvino import opset16

from helpers.onnx_operators import Runner
from helpers.random_bodies import BODIES
from helpers.random_graphs import LARGEST_SIZE, Builder
from helpers.random_moves import MOVES
from helpers.random_onnx import OnnxBuilder
from helpers.random_openvino import OpenvinoBuilder, Sample
from helpers.random_sites import SITES
from helpers.random_values import VALUES


def sample(seed: int) -> Sample:
    """Return the random model of OpenVINO of a seed."""
    rng = np.random.default_rng(seed)
    builder = OpenvinoBuilder(rng, _sizes(rng))
    _grow(builder)
    return finished(builder, f"random{seed}")


def finished(b: OpenvinoBuilder, name: str) -> Sample:
    """Return the model of a builder; what nothing takes is an output."""
    loose = [value.handle for value in b.values if not value.handle.get_target_inputs()]
    results = [opset16.result(output) for output in loose]
    model = ov.Model(results, b.sinks, b.parameters, name)
    for position, node in enumerate(model.get_ordered_ops()):
        if node.get_type_name() != "Parameter":
            node.set_friendly_name(f"{position}_{node.get_type_name()}")
    return Sample(b.inputs, b.sizes, model, b.inner)


def onnx_sample(seed: int) -> Sample:
    """Return the random ONNX model of a seed."""
    rng = np.random.default_rng(seed)
    builder = OnnxBuilder(rng, _sizes(rng), Runner(OnnxBuilder.opset))
    _grow(builder)
    made = [name for node in builder.nodes for name in node.output]
    return Sample(builder.inputs, builder.sizes, builder.model(f"random{seed}", builder.named(made)), [])


def _sizes(rng: np.random.Generator) -> dict[str, tuple[int, int]]:
    choices = (0, LARGEST_SIZE), (0, LARGEST_SIZE), (1, LARGEST_SIZE), (0, 4), (2, 6)
    return {name: choices[int(rng.integers(len(choices)))] for name in "ABC"[: int(rng.integers(0, 4))]}


def _grow(b: Builder) -> None:
    """Add some operations, then a gather or scatter, and so on."""
    for _ in range(int(b.rng.integers(1, 4))):
        kind = b.pick("i32", "i64", "i64", "f32", "f32", "boolean", "u8", "i8")
        b.parameter(kind, [b.dim() for _ in range(int(b.rng.integers(0 if kind != "f32" else 1, 4)))])
    every = list(zip(b.shares, (VALUES[type(b)], MOVES[type(b)], BODIES[type(b)]), strict=True))
    for _ in range(int(b.rng.integers(1, 4))):
        for _ in range(int(b.rng.integers(*b.between))):
            b.attempt(b.weighted(every))
        b.attempt(SITES[type(b)])
    while not b.sites:
        b.attempt(SITES[type(b)])
