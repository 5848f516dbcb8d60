"""Divergences that cannot show in a check of single layers, listed for those who run whole models."""

from __future__ import annotations

from functools import partial

from ov_gather.divergences.base import Divergence, Observed
from ov_gather.ops.gather_elements import GATHER_ELEMENTS_6

_CPU_PLUGIN = ("openvino", "extension")
_avoided = partial(Divergence, runtimes=_CPU_PLUGIN, observed=(Observed.AVOIDED,), applies=lambda view, operands: False)

MODELS = (
    _avoided(
        name="swallowed-errors",
        why="on one thread, synchronous inference swallows the errors of layers and returns uninitialized memory; we infer "
        "asynchronously",
        reports=("swallowed_errors",),
    ),
    _avoided(
        name="sticking-refusals",
        why="if sizes are open, an infer request that has refused indices may also refuse valid ones; we load the model again",
    ),
    _avoided(
        name="bf16-by-default",
        why="on processors with bf16, the CPU plugin computes f32 in bf16, unless INFERENCE_PRECISION_HINT says otherwise",
    ),
    _avoided(
        name="no-smaller-indices",
        runtimes=("openvino",),
        operations=(GATHER_ELEMENTS_6,),
        why="ONNX allows indices smaller than data off the axis; GatherElements-6 does not, so that no valid IR has them",
    ),
    _avoided(
        name="no-complex",
        runtimes=(*_CPU_PLUGIN, "onnxruntime"),
        why="ONNX gathers complex numbers; OpenVINO has no such type, and onnxruntime has registered no kernel for it",
    ),
    _avoided(
        name="near-ties",
        why="among numbers that differ by rounding only, TopK, ArgMax and ArgMin pick others than onnxruntime does; among "
        'equal ones, a TopK with stable="false" does; convert and compile_onnx make it stable',
    ),
    _avoided(
        name="order-left-open",
        why='a TopK with sorted=0 may return its results in any order, and a TopK with sort="none" returns them in another '
        "order than onnxruntime; convert and compile_onnx sort them",
    ),
    _avoided(
        name="rounding-decides",
        why="rounding alone changes this output more than is tolerated: onnxruntime itself computes other values without "
        "optimisation",
    ),
    _avoided(
        name="random-values",
        why="the outputs of RandomNormal, RandomUniform, Bernoulli, Multinomial, and of a Dropout that drops, are random: they "
        "differ between any two runtimes; excused is what onnxruntime itself computes differently in two runs",
    ),
    _avoided(
        name="saturated-products",
        runtimes=("onnxruntime",),
        why="onnxruntime saturates sums of two products of u8 and s8 at 16 bits on x86-64 CPUs with AVX2 and without VNNI; "
        "MatMulInteger and ConvInteger are exact by their specification, and so are the values that are compared with",
    ),
    _avoided(
        name="quantised-otherwise",
        why="a quantisation rounds ties otherwise, or is computed in f32: integers differ by one quantum in few elements, and "
        "floats by less than the quantisation itself changes them, or near the model without it",
    ),
)
