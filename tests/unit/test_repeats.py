"""Tiles that OpenVINO's CPU plugin gets wrong are named, others are not."""

import onnx_ir
import pytest

from helpers.legalized import constant, model
from ov_gather.converters.inexactness import find_inexactness
from ov_gather.converters.legalize import legalize

SIZES = """s = Shape(x) z = Constant<value_ints = [0]>() n = Gather(s, z)
one = Constant<value_ints = [1]>() two = Constant<value_ints = [2]>()"""


@pytest.mark.parametrize(
    ("shape", "nodes", "named"),
    [
        ("A,B,C,D", "y = Tile(x, r)", True),
        ("A,B,C,D", "q = Add(r, r) y = Tile(x, q)", True),
        ("2,3,4,5", "y = Tile(x, r)", True),
        ("A,B,C,D", "y = Tile(x, constant)", False),
        ("A,B,C,D", "q = Identity(constant) y = Tile(x, q)", False),
        ("A,B,C,D", f"{SIZES} q = Concat<axis = 0>(n, one, n, one) y = Tile(x, q)", False),
        ("A,B,C,D", f"{SIZES} q = Concat<axis = 0>(n, one, n, two) y = Tile(x, q)", True),
        ("A,B,C,D", f"{SIZES} f = Cast<to = 1>(n) i = Cast<to = 7>(f) q = Concat<axis = 0>(i, i, i, one) y = Tile(x, q)", True),
        ("2,3,4,5", f"{SIZES} q = Concat<axis = 0>(n, n, n, n) y = Tile(x, q)", False),  # OpenVINO folds this one
        ("A,B,C", "y = Tile(x, r3)", False),
    ],
)
def test_tiles(shape, nodes, named):
    dims = ",".join(f"Y{axis}" for axis in range(shape.count(",") + 1))
    proto = constant([1, 2, 3, 2], model(f"float[{shape}] x, int64[4] r, int64[3] r3) => (float[{dims}] y)", nodes), "constant")
    changed = onnx_ir.from_proto(proto)
    legalize(changed, target="extension")
    told = [str(loss) for loss in find_inexactness(changed, target="extension", checks_inputs=True) if "Tile" in loss.place]
    assert len(told) == named
    assert all("unwritten" in line for line in told)
