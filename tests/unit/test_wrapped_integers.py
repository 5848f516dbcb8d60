"""Where integers of 16 bits may wrap around."""

import onnx.parser
import onnx_ir
import pytest
from onnx_ir.passes.common import ShapeInferencePass

from ov_gather.converters.inexact_nodes import is_wrapped
from ov_gather.converters.ranges import Ranges

TYPES = {"int16": 5, "uint16": 4, "int32": 6}


def wrapped(kind, low, high):
    """A Cast to this type, of numbers from `low` to `high`."""
    constants = f"int32 low = {{{low}}}, int32 high = {{{high}}}"
    text = f"g (int32[n] x) => ({kind}[n] y) <{constants}> {{ c = Clip(x, low, high) y = Cast <to = {TYPES[kind]}> (c) }}"
    model = onnx_ir.from_proto(onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["": 18]> {text}'))
    ShapeInferencePass()(model)
    return is_wrapped(model.graph.node(-1), Ranges(model))


@pytest.mark.parametrize(
    ("kind", "low", "high", "is_one"),
    [
        ("int16", -32768, 32767, False),
        ("int16", -32769, 32767, True),
        ("int16", -32768, 32768, True),
        ("uint16", 0, 65535, False),
        ("uint16", 0, 65536, True),
        ("uint16", -1, 65535, True),
        ("int32", -1, 65536, False),
    ],
)
def test_casts(kind, low, high, is_one):
    assert wrapped(kind, low, high) == is_one
