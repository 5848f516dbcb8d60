"""Divergences that cannot show in a check of single layers, listed for those who run whole models."""

from __future__ import annotations

from functools import partial

from ov_gather.divergences import conditions
from ov_gather.divergences.base import Divergence, Observed

_CPU_PLUGIN = ("openvino", "extension")
_avoided = partial(Divergence, runtimes=_CPU_PLUGIN, observed=(Observed.AVOIDED,), applies=conditions.never)

MODELS = (
    _avoided(
        name="swallowed-errors",
        why="on one thread synchronous inference swallows what a layer raises, and returns memory as it was found; we infer "
        "asynchronously",
    ),
    _avoided(
        name="sticking-refusals",
        why="where sizes are open, a request that has refused indices may refuse valid ones, too; we load the model anew",
    ),
    _avoided(
        name="bf16-by-default",
        why="on processors that have bf16 the CPU plugin computes f32 in it, unless told otherwise (INFERENCE_PRECISION_HINT)",
    ),
    _avoided(
        name="no-smaller-indices",
        runtimes=("openvino",),
        operations=("GatherElements-6",),
        why="ONNX allows indices smaller than data off the axis; GatherElements-6 does not, so that no valid IR has them",
    ),
    _avoided(
        name="no-complex",
        runtimes=(*_CPU_PLUGIN, "onnxruntime"),
        why="ONNX gathers complex numbers; OpenVINO has no such type, and onnxruntime has registered no kernel for it",
    ),
    _avoided(
        name="near-ties",
        why="among numbers that are nearly equal, but for rounding, TopK, ArgMax and ArgMin pick others than onnxruntime's; "
        'among equal ones, a TopK with stable="false" does; convert and compile_onnx make it stable',
    ),
    _avoided(
        name="order-left-open",
        why='a TopK with sorted=0 may give what it picks in any order, and a TopK with sort="none" gives it in another than '
        "onnxruntime's; convert and compile_onnx sort it",
    ),
    _avoided(
        name="rounding-decides",
        why="rounding alone changes this output more than is tolerated: onnxruntime computes other values, too, where it does "
        "not optimise the model",
    ),
    _avoided(
        name="random-values",
        why="what comes from RandomNormal, RandomUniform, Bernoulli, Multinomial, or a Dropout that drops, is random: no two "
        "runtimes have it in common",
    ),
)
