"""This module tells what does not show in layers, and is known for those who run models."""

from __future__ import annotations

from ov_gather.divergences import conditions
from ov_gather.divergences.base import Divergence, Observed

_STOCK = ("openvino",)
_CPU_PLUGIN = ("openvino", "extension")

MODELS = (
    Divergence(
        name="swallowed-errors",
        runtimes=_CPU_PLUGIN,
        observed=(Observed.AVOIDED,),
        applies=conditions.never,
        why="on one thread synchronous inference swallows what a layer raises, and returns memory as it was found; we infer "
        "asynchronously",
    ),
    Divergence(
        name="sticking-refusals",
        runtimes=_CPU_PLUGIN,
        observed=(Observed.AVOIDED,),
        applies=conditions.never,
        why="where sizes are open, a request that has refused indices may refuse valid ones, too; we load the model anew",
    ),
    Divergence(
        name="bf16-by-default",
        runtimes=_CPU_PLUGIN,
        observed=(Observed.AVOIDED,),
        applies=conditions.never,
        why="on processors that have bf16 the CPU plugin computes f32 in it, unless told otherwise (INFERENCE_PRECISION_HINT)",
    ),
    Divergence(
        name="no-smaller-indices",
        runtimes=_STOCK,
        operations=("GatherElements-6",),
        observed=(Observed.AVOIDED,),
        applies=conditions.never,
        why="ONNX allows indices smaller than data off the axis; GatherElements-6 does not, so that no valid IR has them",
    ),
    Divergence(
        name="no-complex",
        runtimes=(*_CPU_PLUGIN, "onnxruntime"),
        observed=(Observed.AVOIDED,),
        applies=conditions.never,
        why="ONNX gathers complex numbers; OpenVINO has no such type, and onnxruntime has registered no kernel for it",
    ),
    Divergence(
        name="near-ties",
        runtimes=_CPU_PLUGIN,
        observed=(Observed.AVOIDED,),
        applies=conditions.never,
        why="among numbers that are equal, or nearly, TopK, ArgMax and ArgMin pick others than onnxruntime's",
    ),
    Divergence(
        name="rounding-decides",
        runtimes=_CPU_PLUGIN,
        observed=(Observed.AVOIDED,),
        applies=conditions.never,
        why="rounding alone changes this output more than is tolerated: onnxruntime computes other values, too, where it does "
        "not optimise the model",
    ),
    Divergence(
        name="random-values",
        runtimes=_CPU_PLUGIN,
        observed=(Observed.AVOIDED,),
        applies=conditions.never,
        why="what comes from RandomNormal, RandomUniform, Bernoulli, Multinomial, or a Dropout that drops, is random: no two "
        "runtimes have it in common",
    ),
)
