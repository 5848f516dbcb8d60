"""Five architectures with the gathers of real exports, small enough to quantise in a test: ONNX models and their inputs."""

from collections.abc import Callable

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from helpers.legalized import model

Arrays = dict[str, NDArray]


def attention(rng: np.random.Generator) -> tuple[onnx.ModelProto, Arrays]:
    """DeBERTa: the scores of relative positions are gathered, at constant places."""
    places = np.clip(np.arange(16)[:, None] - np.arange(16) + 15, 0, 30)
    proto = model(
        "float[1,16,32] x) => (float[1,16,32] y)",
        """q = MatMul(x, wq) k = MatMul(x, wk) v = MatMul(x, wv) kt = Transpose<perm = [0, 2, 1]>(k)
           content = MatMul(q, kt) positions = MatMul(q, wp) relative = GatherElements<axis = 2>(positions, places)
           scores = Add(content, relative) weights = Softmax<axis = -1>(scores) mixed = MatMul(weights, v)
           out = MatMul(mixed, wo) y = Add(out, x)""",
    )
    shapes = {"wq": (32, 32), "wk": (32, 32), "wv": (32, 32), "wp": (32, 31), "wo": (32, 32)}
    return _with(proto, rng, shapes, {"places": places[None]}), {"x": _normal(rng, 1, 16, 32)}


def neighbours(rng: np.random.Generator) -> tuple[onnx.ModelProto, Arrays]:
    """DGCNN: the features of the nearest points are gathered."""
    proto = model(
        "float[1,64,16] points) => (float[1,256,32] y)",
        """x = MatMul(points, before) t = Transpose<perm = [0, 2, 1]>(points) d = MatMul(points, t)
           best, nearest = TopK<axis = -1>(d, four) flat = Reshape(nearest, column) index = Expand(flat, wide)
           found = GatherElements<axis = 1>(x, index) r = Add(found, shift) y = MatMul(r, after)""",
    )
    constants = {"four": np.array([4]), "column": np.array([1, 256, 1]), "wide": np.array([1, 256, 32])}
    return _with(proto, rng, {"before": (16, 32), "shift": (32,), "after": (32, 32)}, constants), {
        "points": _normal(rng, 1, 64, 16)
    }


def graph_network(rng: np.random.Generator) -> tuple[onnx.ModelProto, Arrays]:
    """The features of the nodes at both ends of each edge are gathered, side by side, and their messages added up."""
    proto = model(
        "float[20,32] x, int64[50,1] source, int64[50,1] target) => (float[20,32] y)",
        """h = MatMul(x, first) r = Relu(h) s = Expand(source, wide) t = Expand(target, wide)
           a = GatherElements<axis = 0>(r, s) b = GatherElements<axis = 0>(r, t) both = Concat<axis = 1>(a, b)
           message = MatMul(both, second) m = Relu(message) sum = ScatterElements<axis = 0, reduction = "add">(h, t, m)
           y = MatMul(sum, third)""",
    )
    inputs = {"x": _normal(rng, 20, 32), "source": rng.integers(0, 20, (50, 1)), "target": rng.integers(0, 20, (50, 1))}
    shapes = {"first": (32, 32), "second": (64, 32), "third": (32, 32)}
    return _with(proto, rng, shapes, {"wide": np.array([50, 32])}), inputs


def labels(rng: np.random.Generator) -> tuple[onnx.ModelProto, Arrays]:
    """CTC: of the scores of each frame those of the labels are gathered; of the features the last frame is."""
    proto = model(
        "float[2,12,32] x, int64[2,1,5] label, int64[2,1,1] last) => (float[2,12,5] y, float[2,1,64] z)",
        """h = MatMul(x, hidden) logits = MatMul(h, words) scores = LogSoftmax<axis = -1>(logits)
           each = Expand(label, frames) y = GatherElements<axis = 2>(scores, each)
           l = Expand(last, width) f = GatherElements<axis = 1>(h, l) z = MatMul(f, words)""",
    )
    inputs = {"x": _normal(rng, 2, 12, 32), "label": rng.integers(0, 64, (2, 1, 5)), "last": rng.integers(0, 12, (2, 1, 1))}
    constants = {"frames": np.array([2, 12, 5]), "width": np.array([2, 1, 32])}
    return _with(proto, rng, {"hidden": (32, 32), "words": (32, 64)}, constants), inputs


def detector(rng: np.random.Generator) -> tuple[onnx.ModelProto, Arrays]:
    """RT-DETR: boxes and features of the anchors with the best scores are gathered."""
    proto = model(
        "float[1,3,16,16] image) => (float[1,10,4] boxes, float[1,10,8] classes)",
        """c = Conv<pads = [1, 1, 1, 1], strides = [2, 2]>(image, kernel) r = Relu(c) flat = Reshape(r, tokens)
           f = Transpose<perm = [0, 2, 1]>(flat) scores = MatMul(f, wc) s = ReduceMax<axes = [2], keepdims = 0>(scores)
           best, where = TopK<axis = 1>(s, ten) w = Reshape(where, column) w4 = Tile(w, by4) w16 = Tile(w, by16)
           all = MatMul(f, wb) boxes = GatherElements<axis = 1>(all, w4)
           found = GatherElements<axis = 1>(f, w16) classes = MatMul(found, wc)""",
        opset=17,
    )
    constants = {"tokens": np.array([1, 16, 64]), "ten": np.array([10]), "column": np.array([1, 10, 1])}
    constants |= {"by4": np.array([1, 1, 4]), "by16": np.array([1, 1, 16])}
    return _with(proto, rng, {"kernel": (16, 3, 3, 3), "wc": (16, 8), "wb": (16, 4)}, constants), {
        "image": _normal(rng, 1, 3, 16, 16)
    }


ARCHITECTURES: dict[str, Callable[[np.random.Generator], tuple[onnx.ModelProto, Arrays]]] = {
    make.__name__: make for make in (attention, neighbours, graph_network, labels, detector)
}


def _normal(rng: np.random.Generator, *shape: int) -> NDArray:
    return rng.standard_normal(shape, np.float32)


def _with(proto: onnx.ModelProto, rng: np.random.Generator, shapes: dict[str, tuple[int, ...]], constants: Arrays):
    """Weights of these shapes, and constants, as initializers."""
    weights = {name: _normal(rng, *shape) / np.float32(np.prod(shape[:-1])) ** 0.5 for name, shape in shapes.items()}
    proto.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in (weights | constants).items())
    return proto
