"""A random model of each seed, whose gathers and scatters have computed indices."""

from __future__ import annotations

import openvino as ov
from numpy.random import default_rng
from openvino import opset16 as ops

from helpers.random_index_bodies import BODIES
from helpers.random_index_moves import MOVES
from helpers.random_index_sites import SITES
from helpers.random_index_values import VALUES
from helpers.random_indices import LARGEST_SIZE, Builder, Operation, Sample, weighted


def sample(seed: int) -> Sample:
    """The random model of a seed: some operations, then a gather or scatter, and so on."""
    builder = Builder(default_rng(seed))
    for name in "ABC"[: int(builder.rng.integers(0, 4))]:
        builder.sizes[name] = builder.pick((0, LARGEST_SIZE), (0, LARGEST_SIZE), (1, LARGEST_SIZE), (0, 4), (2, 6))
    for _ in range(int(builder.rng.integers(1, 4))):
        kind = builder.pick("i32", "i64", "i64", "f32", "f32", "boolean", "u8", "i8")
        builder.parameter(kind, [builder.dim() for _ in range(int(builder.rng.integers(0 if kind != "f32" else 1, 4)))])
    every = [(60, VALUES), (60, MOVES), (4, BODIES)]
    for _ in range(int(builder.rng.integers(1, 4))):
        for _ in range(int(builder.rng.integers(0, 5))):
            attempt(builder, weighted(builder, weighted(builder, every)))
        attempt(builder, weighted(builder, SITES))
    while not builder.sites:
        attempt(builder, weighted(builder, SITES))
    return _finished(builder, seed)


def attempt(builder: Builder, operation: Operation) -> None:
    """Add an operation, unless OpenVINO refuses operands that do not go together."""
    try:
        operation(builder)
    except RuntimeError:
        return


def _finished(builder: Builder, seed: int) -> Sample:
    loose = [value.output for value in builder.values if not value.output.get_target_inputs()]
    model = ov.Model([ops.result(output) for output in loose], builder.sinks, builder.parameters, f"random{seed}")
    for position, node in enumerate(model.get_ordered_ops()):
        if node.get_type_name() != "Parameter":
            node.set_friendly_name(f"{position}_{node.get_type_name()}")
    return Sample(builder.inputs, builder.sizes, model, builder.inner)
