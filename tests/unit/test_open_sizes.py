"""Which sizes are tried where a model leaves dimensions open."""

import onnx_ir
import pytest

from helpers.saved_models import parsed
from ov_gather.crosscheck.cases.sizes import OPEN_DIMENSION as N
from ov_gather.crosscheck.inputs.onnx import choices


def tried(inputs):
    model = onnx_ir.from_proto(parsed(f"({inputs}) => (float[1] y) {{ y = Neg(x) }}"))
    return [tuple(one.shapes.values()) for one in choices(model.graph.inputs)]


PICTURES = [
    *((N, 3, 64, 64), (1, 3, 224, 224), (N, N, N, N), (2, 3, 320, 320), (1, 1, 32, 32), (1, 3, 640, 640), (2, 3, 48, 48)),
    *((1, 1, 28, 28), (1, 3, 1, 1), (32, 32, 32, 32), (1, 1, 1, 1)),
]


def test_pictures():
    assert tried("float[b, c, h, w] x") == [(one,) for one in PICTURES]
    last = [(batch, side, side, 3) for batch, _, side, _ in PICTURES]
    assert tried("float[b, h, w, 3] x") == [(one,) for one in dict.fromkeys(last)]
    first = [(batch, 3, side, side) for batch, _, side, _ in PICTURES]
    assert tried("float[b, 3, h, w] x") == [(one,) for one in dict.fromkeys(first)]


@pytest.mark.parametrize(
    ("inputs", "first", "second"),
    [
        ("int64[n] x", (N,), (128,)),
        ("float[n] x", (N,), (128,)),
        ("int64[b, s] x", (N, N), (1, N)),
        ("int64[b, h, s, d] x", (N, N, N, N), (1, N, N, N)),  # integers are no picture
        ("float[b, h, d] x", (N, N, N), (1, N, N)),
        ("float[5, n] x", (5, N), (5, 128)),
        ("float[5] x", (5,), None),
    ],
)
def test_parts_of_other_inputs(inputs, first, second):
    found = [shape for (shape,) in tried(inputs)]
    assert [*found, None][:2] == [first, second]
    assert len(set(found)) == len(found)


def test_one_name_has_one_size():
    found = tried("int64[n] x, float[b, n] z")
    assert all(one == (other,) or one[0] == other[1] for one, other in found)
    assert len({other[0] for _, other in found}) > 2
