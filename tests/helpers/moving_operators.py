"""ONNX's operators that move values, in every form: what a model of one says, and what NumPy makes of the same data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

SHAPE = (3, 4, 5)


@dataclass(frozen=True)
class Moving:
    """A Moving is a form of an operator.

    Attributes:
        text: nodes that make `y` of `x`, in ONNX's own text; T stands for the element type, N for its number.
        right: what `y` is, as a function of `x` and of the other inputs.
        constants: other inputs of the nodes, which initializers hold.
        given: other inputs of the nodes, which are inputs of the model.
        more: the shapes of other inputs of the model, which have the type of x.
        shape: that of x.
        opset: of the model.
    """

    text: str
    right: Callable[..., NDArray[Any]]
    constants: Mapping[str, Any] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    more: Mapping[str, Sequence[int]] = field(default_factory=dict)
    shape: Sequence[int] = SHAPE
    opset: int = 18


def _put(x: NDArray[Any], where: NDArray[Any], z: NDArray[Any]) -> NDArray[Any]:
    x = x.copy()
    np.put_along_axis(x[:, :, :2], where, z, 1)
    return x


def _written(x: NDArray[Any], where: Any, z: NDArray[Any]) -> NDArray[Any]:
    x = x.copy()
    x[where] = z
    return x


def _filled(x: NDArray[Any], value: Any, pads: Sequence[tuple[int, int]]) -> NDArray[Any]:
    shape = [size + sum(pad) for size, pad in zip(x.shape, pads, strict=True)]
    y = np.full(shape, value, x.dtype)
    y[tuple(slice(before, before + size) for size, (before, _) in zip(x.shape, pads, strict=True))] = x
    return y


def _block(x: NDArray[Any]) -> NDArray[Any]:
    n, c, h, w = x.shape
    return x.reshape(n, 2, 2, c // 4, h, w).transpose(0, 3, 4, 1, 5, 2).reshape(n, c // 4, h * 2, w * 2)


def _unblock(x: NDArray[Any]) -> NDArray[Any]:
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 3, 5, 1, 2, 4).reshape(n, c * 4, h // 2, w // 2)


_WHERE = np.array([[[3, -1]], [[0, 2]], [[-4, 1]]])
_PADS = [(0, 2), (1, 0), (0, 1)]
_FLAT_PADS = [0, 1, 0, 2, 0, 1]
_TRIPS = {"n": np.array(3), "go": np.array(True)}
_IF = "y = If (c) <then_branch = one () => (T p) {{ p = {} }}, else_branch = two () => (T q) {{ q = {} }}>"

FORMS: Mapping[str, Moving] = {
    "Identity": Moving("y = Identity(x)", lambda x: x),
    "Reshape": Moving("y = Reshape(x, s)", lambda x: x.reshape(-1, 5), {"s": [-1, 5]}),
    "Reshape, 0 keeps": Moving("y = Reshape(x, s)", lambda x: x.reshape(3, 20), {"s": [0, -1]}),
    "Reshape, given sizes": Moving("y = Reshape(x, s)", lambda x: x.reshape(-1, 5), given={"s": [-1, 5]}),
    "Reshape, opset 7": Moving("y = Reshape(x, s)", lambda x: x.reshape(-1, 5), {"s": [-1, 5]}, opset=7),
    "Flatten": Moving("y = Flatten <axis = -1> (x)", lambda x: x.reshape(12, 5)),
    "Flatten, axis 0": Moving("y = Flatten <axis = 0> (x)", lambda x: x.reshape(1, -1)),
    "Flatten of all axes": Moving("y = Flatten <axis = 3> (x)", lambda x: x.reshape(-1, 1)),
    "Transpose": Moving("y = Transpose <perm = [2, 0, 1]> (x)", lambda x: x.transpose(2, 0, 1)),
    "Transpose, no perm": Moving("y = Transpose (x)", lambda x: x.T),
    "Transpose, opset 7": Moving("y = Transpose <perm = [2, 0, 1]> (x)", lambda x: x.transpose(2, 0, 1), opset=7),
    "Slice": Moving(
        "y = Slice(x, a, b, c, d)",
        lambda x: x[:, 3:0:-1, ::-2],
        {"a": [-1, 3], "b": [-9, 0], "c": [-1, 1], "d": [-2, -1]},
    ),
    "Slice, given ends": Moving("y = Slice(x, a, b)", lambda x: x[1:, :3], {"a": [1, 0]}, {"b": [9, 3]}),
    "Slice, given axes": Moving("y = Slice(x, a, b, c)", lambda x: x[:, 1:3, :4], {"a": [1, 0], "b": [3, 4]}, {"c": [1, -1]}),
    "Slice, opset 9": Moving(
        "y = Slice <axes = [-1, 1], starts = [1, 0], ends = [9, -1]> (x)", lambda x: x[:, :-1, 1:], opset=9
    ),
    "Slice, no axes, opset 7": Moving("y = Slice <starts = [1, 0], ends = [9, -1]> (x)", lambda x: x[1:, :-1], opset=7),
    "Concat": Moving("y = Concat <axis = -1> (x, x)", lambda x: np.concatenate([x, x], -1)),
    "Concat, opset 7": Moving("y = Concat <axis = 2> (x, x)", lambda x: np.concatenate([x, x], -1), opset=7),
    "Split": Moving("y, z = Split <axis = -2> (x, s)", lambda x: x[:, :1], {"s": [1, 3]}),
    "Split, equal": Moving("z, y = Split <axis = 1, num_outputs = 2> (x)", lambda x: x[:, 2:]),
    "Split, unequal": Moving("z, y = Split <axis = -1, num_outputs = 2> (x)", lambda x: x[..., 3:]),
    "Split, given sizes": Moving("y, z = Split <axis = -2> (x, s)", lambda x: x[:, :1], given={"s": [1, 3]}),
    "Split, opset 11": Moving("y, z = Split <axis = -2, split = [1, 3]> (x)", lambda x: x[:, :1], opset=11),
    "Split, opset 7": Moving("y, z = Split <axis = 1> (x)", lambda x: x[:, :2], opset=7),
    "Squeeze": Moving("y = Squeeze(x, a)", lambda x: x[:, 0], {"a": [-2]}, shape=(3, 1, 5)),
    "Squeeze, no axes": Moving("y = Squeeze(x)", lambda x: x[:, 0], shape=(3, 1, 5)),
    "Squeeze, given axes": Moving("y = Squeeze(x, a)", lambda x: x[:, 0], given={"a": [-2]}, shape=(3, 1, 5)),
    "Squeeze, opset 11": Moving("y = Squeeze <axes = [-2]> (x)", lambda x: x[:, 0], shape=(3, 1, 5), opset=11),
    "Squeeze, opset 7": Moving("y = Squeeze <axes = [1]> (x)", lambda x: x[:, 0], shape=(3, 1, 5), opset=7),
    "Unsqueeze": Moving("y = Unsqueeze(x, a)", lambda x: x[:, None, :, :, None], {"a": [-1, 1]}),
    "Unsqueeze, given axes": Moving("y = Unsqueeze(x, a)", lambda x: x[:, None], given={"a": [1]}),
    "Unsqueeze, opset 11": Moving("y = Unsqueeze <axes = [-1, 1]> (x)", lambda x: x[:, None, :, :, None], opset=11),
    "Unsqueeze, opset 7": Moving("y = Unsqueeze <axes = [0]> (x)", lambda x: x[None], opset=7),
    "Expand": Moving("y = Expand(x, s)", lambda x: np.broadcast_to(x, (2, 3, 4, 5)), {"s": [2, 1, 1, 5]}),
    "Expand, given sizes": Moving("y = Expand(x, s)", lambda x: np.broadcast_to(x, (2, 3, 4, 5)), given={"s": [2, 1, 1, 5]}),
    "Tile": Moving("y = Tile(x, s)", lambda x: np.tile(x, (1, 2, 3)), {"s": [1, 2, 3]}),
    "Tile, given repeats": Moving("y = Tile(x, s)", lambda x: np.tile(x, (1, 2, 1)), given={"s": [1, 2, 1]}),
    "Tile, opset 7": Moving("y = Tile(x, s)", lambda x: np.tile(x, (1, 2, 3)), {"s": [1, 2, 3]}, opset=7),
    "Pad": Moving("y = Pad(x, p)", lambda x: _filled(x, 0, _PADS), {"p": _FLAT_PADS}),
    "Pad, given value": Moving("y = Pad(x, p, v)", lambda x, v: _filled(x, v, _PADS), {"p": _FLAT_PADS}, more={"v": ()}),
    "Pad, given pads": Moving("y = Pad(x, p)", lambda x: _filled(x, 0, _PADS), given={"p": _FLAT_PADS}),
    "Pad, given pads and value": Moving(
        "y = Pad(x, p, v)", lambda x, v: _filled(x, v, _PADS), given={"p": _FLAT_PADS}, more={"v": ()}
    ),
    "Pad, edge": Moving("y = Pad <mode = 'edge'> (x, p)", lambda x: np.pad(x, _PADS, mode="edge"), {"p": _FLAT_PADS}),
    "Pad, reflect": Moving("y = Pad <mode = 'reflect'> (x, p)", lambda x: np.pad(x, _PADS, mode="reflect"), {"p": _FLAT_PADS}),
    "Pad, wrap": Moving("y = Pad <mode = 'wrap'> (x, p)", lambda x: np.pad(x, _PADS, mode="wrap"), {"p": _FLAT_PADS}, opset=19),
    "Pad, negative": Moving("y = Pad(x, p)", lambda x: _filled(x, 0, [(0, 0)] * 3)[1:, :, :-2], {"p": [-1, 0, 0, 0, 0, -2]}),
    "Pad, axes": Moving("y = Pad(x, p, , a)", lambda x: _filled(x, 0, [(0, 0), (0, 0), (1, 2)]), {"p": [1, 2], "a": [-1]}),
    "Pad, given axes": Moving(
        "y = Pad(x, p, , a)", lambda x: _filled(x, 0, [(0, 0), (0, 0), (1, 2)]), {"p": [1, 2]}, {"a": [-1]}
    ),
    "Pad, axes and given pads": Moving(
        "y = Pad(x, p, , a)", lambda x: _filled(x, 0, [(0, 0), (0, 0), (1, 2)]), {"a": [-1]}, {"p": [1, 2]}
    ),
    "Pad, opset 10": Moving("y = Pad <pads = [0, 1, 0, 2, 0, 1]> (x)", lambda x: _filled(x, 0, _PADS), opset=10),
    "Pad, opset 10, edge": Moving(
        "y = Pad <mode = 'edge', pads = [0, 1, 0, 2, 0, 1]> (x)", lambda x: np.pad(x, _PADS, mode="edge"), opset=10
    ),
    "Where": Moving(
        "y = Where(c, x, z)",
        lambda x, z: np.where([[[True]], [[False]], [[True]]], x, z),
        given={"c": [[[True]], [[False]], [[True]]]},
        more={"z": (1, 5)},
    ),
    "Gather": Moving("y = Gather <axis = -2> (x, i)", lambda x: x[:, [3, -1]], {"i": [3, -1]}),
    "Gather, given indices": Moving("y = Gather <axis = 1> (x, i)", lambda x: x[:, [3, -1]], given={"i": [3, -1]}),
    "GatherElements": Moving(
        "y = GatherElements <axis = -2> (x, i)", lambda x: np.take_along_axis(x[:, :, :2], _WHERE, 1), given={"i": _WHERE}
    ),
    "GatherND": Moving("y = GatherND (x, i)", lambda x: x[[1, 0], [-1, 2]], {"i": [[1, -1], [0, 2]]}),
    "GatherND, batches": Moving(
        "y = GatherND <batch_dims = 1> (x, i)", lambda x: x[[0, 1, 2], [3, -1, 0]], given={"i": [[3], [-1], [0]]}
    ),
    "ScatterElements": Moving(
        "y = ScatterElements <axis = -2> (x, i, z)", lambda x, z: _put(x, _WHERE, z), given={"i": _WHERE}, more={"z": (3, 1, 2)}
    ),
    "ScatterND": Moving(
        "y = ScatterND (x, i, z)",
        lambda x, z: _written(x, ([1, 0], [2, -1]), z),
        given={"i": [[1, 2], [0, -1]]},
        more={"z": (2, 5)},
    ),
    "Scatter, opset 9": Moving(
        "y = Scatter <axis = 1> (x, i, z)",
        lambda x, z: _put(x, _WHERE % 4, z),
        given={"i": _WHERE % 4},
        more={"z": (3, 1, 2)},
        opset=9,
    ),
    "Compress": Moving("y = Compress <axis = -2> (x, c)", lambda x: x[:, [1, 3]], {"c": [False, True, False, True]}),
    "Compress, given condition": Moving(
        "y = Compress <axis = -2> (x, c)", lambda x: x[:, [1, 3]], given={"c": [False, True, False, True]}
    ),
    "Compress of all": Moving("y = Compress (x, c)", lambda x: x.ravel()[[1, 3]], {"c": [False, True, False, True]}),
    "Constant of the model": Moving("y = Concat <axis = 0> (x, k)", lambda x, k: np.concatenate([x, k]), more={"k": (1, 4, 5)}),
    "Cast to the same": Moving("y = Cast <to = N> (x)", lambda x: x),
    "CastLike the same": Moving("y = CastLike (x, x)", lambda x: x, opset=19),
    "Dropout": Moving("y = Dropout (x)", lambda x: x),
    "Dropout, opset 10": Moving("y = Dropout (x)", lambda x: x, opset=10),
    "DepthToSpace": Moving("y = DepthToSpace <blocksize = 2> (x)", _block, shape=(1, 8, 2, 3)),
    "SpaceToDepth": Moving("y = SpaceToDepth <blocksize = 2> (x)", _unblock, shape=(1, 2, 4, 6)),
    "ReverseSequence": Moving(
        "y = ReverseSequence <batch_axis = 0, time_axis = 1> (x, s)",
        lambda x: np.stack([np.concatenate([row[:n][::-1], row[n:]]) for row, n in zip(x, [1, 4, 2], strict=True)]),
        {"s": [1, 4, 2]},
    ),
    "Resize to the nearest": Moving(
        "y = Resize <mode = 'nearest', coordinate_transformation_mode = 'asymmetric', nearest_mode = 'floor'> (x, , s)",
        lambda x: x.repeat(2, -1).repeat(2, -2),
        {"s": np.array([1, 1, 2, 2], np.float32)},
        shape=(1, 2, 3, 4),
    ),
    "Upsample, opset 9": Moving(
        "y = Upsample <mode = 'nearest'> (x, s)",
        lambda x: x.repeat(2, -1).repeat(2, -2),
        {"s": np.array([1, 1, 2, 2], np.float32)},
        shape=(1, 2, 3, 4),
        opset=9,
    ),
    "Trilu": Moving("y = Trilu <upper = 1> (x)", lambda x: np.where(np.tri(4, 5, -1, bool), np.zeros((), x.dtype), x)),
    "CenterCropPad": Moving("y = CenterCropPad <axes = [2]> (x, s)", lambda x: x[..., 1:4], {"s": [3]}),
    "OneHot": Moving(
        "y = OneHot (i, d, z)",
        lambda x, z: np.where(np.eye(4, dtype=bool)[[2, 0]], z[1], z[0]),
        {"d": 4},
        {"i": [2, 0]},
        {"z": (2,)},
    ),
    "Sequence of tensors": Moving(
        "s = SequenceConstruct(x, z) y = SequenceAt(s, i)", lambda x, z: z, {"i": -1}, more={"z": (2, 5)}
    ),
    "Sequence of parts": Moving(
        "s = SplitToSequence <axis = 1> (x, n) y = ConcatFromSequence <axis = 0> (s)",
        lambda x: np.concatenate([x[:, :2], x[:, 2:]]),
        {"n": 2},
    ),
    "TopK": Moving("y, p = TopK <largest = 1> (x, k)", lambda x: np.sort(x, -1)[..., :-3:-1], {"k": [2]}),
    "Unique": Moving("y = Unique (x)", lambda x: np.unique(x)),
    "Max of one": Moving("y = Max (x)", lambda x: x),
    "Max": Moving("y = Max (x, z)", lambda x, z: np.maximum(x, z), more={"z": (4, 5)}),
    "Clip": Moving("y = Clip (x)", lambda x: x),
    "ReduceMax": Moving("y = ReduceMax <keepdims = 0> (x, a)", lambda x: x.max(1), {"a": [1]}),
    "Sum of one": Moving("y = Sum (x)", lambda x: x),
    "Einsum": Moving("y = Einsum <equation = 'abc->cab'> (x)", lambda x: x.transpose(2, 0, 1)),
    "If": Moving(_IF.format("Identity(x)", "Transpose(x)"), lambda x: x.T, given={"c": False}),
    "If of a constant": Moving(_IF.format("Identity(x)", "Transpose(x)"), lambda x: x.T, {"c": False}),
    "If, one side computes": Moving(_IF.format("Identity(x)", "Max(x, x)"), lambda x: x, given={"c": True}),
    "Loop, carried": Moving(
        "y = Loop (n, go, x) <body = one (int64 i, bool on, T v) => (bool o, T w) { o = Identity(on)"
        " w = Transpose<perm = [2, 1, 0]>(v) }>",
        lambda x: x.T,
        _TRIPS,
    ),
    "Loop, carried, given trips": Moving(
        "y = Loop (n, go, x)"
        " <body = one (int64 i, bool on, T v) => (bool o, T w) { o = Identity(on) w = Concat<axis = 0>(v, x) }>",
        lambda x: np.concatenate([x] * 4),
        given=_TRIPS,
    ),
    "Loop, scanned": Moving(
        "y = Loop (n, go) <body = one (int64 i, bool on) => (bool o, T w) { o = Identity(on) w = Gather(x, i) }>",
        lambda x: x,
        _TRIPS,
    ),
    "Loop, carried and scanned": Moving(
        "z, y = Loop (n, go, x) <body = one (int64 i, bool on, T v) => (bool o, T w, T u)"
        " { o = Identity(on) w = Identity(v) u = Gather(v, i) }>",
        lambda x: x,
        _TRIPS,
    ),
    "Loop that swaps": Moving(
        "y, t = Loop (n, go, x, z) <body = one (int64 i, bool on, T v, T w) => (bool o, T p, T q)"
        " { o = Identity(on) p = Identity(w) q = Identity(v) }>",
        lambda x, z: z,
        _TRIPS,
        more={"z": SHAPE},
    ),
    "Loop that computes": Moving(
        "y = Loop (n, go, x) <body = one (int64 i, bool on, T v) => (bool o, T w) { o = Identity(on) w = Max(v, x) }>",
        lambda x: x,
        _TRIPS,
    ),
    "Scan": Moving(
        "y = Scan (x) <num_scan_inputs = 1, body = one (T v) => (T w) { w = Transpose(v) }>", lambda x: x.transpose(0, 2, 1)
    ),
    "Scan, backwards, along axes": Moving(
        "y = Scan (x) <num_scan_inputs = 1, scan_input_directions = [1], scan_input_axes = [-1], scan_output_axes = [1],"
        " body = one (T v) => (T w) { w = Identity(v) }>",
        lambda x: x[..., ::-1].transpose(0, 2, 1),
    ),
    "Scan, carried": Moving(
        "t, y = Scan (z, x) <num_scan_inputs = 1, body = one (T s, T v) => (T r, T w) { r = Identity(v) w = Identity(s) }>",
        lambda x, z: np.concatenate([z[None], x[:-1]]),
        more={"z": (4, 5)},
    ),
    "Scan, last carried": Moving(
        "y = Scan (z, x) <num_scan_inputs = 1, body = one (T s, T v) => (T r) { r = Identity(v) }>",
        lambda x, z: x[-1],
        more={"z": (4, 5)},
    ),
}
"""By name. What computes, as Max does, is here to show that its losses have names."""

COMPUTING = (
    "Trilu",
    "TopK",
    "Unique",
    "Max",
    "Max of one",
    "ReduceMax",
    "Clip",
    "Sum of one",
    "Loop that computes",
    "If, one side computes",
    "Einsum",
)
"""Forms whose result for NaN is not that of NumPy, or is free; and Trilu, which makes those of bfloat16 quiet."""

STOCK_IS_WRONG = ("Scan, carried", "Slice, given axes")
"""Forms that OpenVINO's CPU plugin of 2026.4.1 gets wrong, or dies of, for float32, too."""
