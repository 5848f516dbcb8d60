"""Chains of many nodes, and bodies within bodies: nothing of ours goes as deep as the graph is."""

import numpy as np
import onnx_ir
import pytest

from helpers.legalized import constant, model
from ov_gather.converters.inexactness import find_inexactness
from ov_gather.converters.legalize import legalize

LENGTH = 1500  # more than Python lets functions call each other
CHAINS = {
    "gathers": ("y = GatherElements<axis = 1>({0}, i)", "x"),
    "data that a slice of follows": ("y = Identity({0})", "x"),
    "indices": ("y = Add({0}, i)", "i"),
    "broadcasts": ("y = Expand({0}, sizes)", "i"),
    "what nothing needs any more": ("y = Identity({0})", "zero"),
    "repeats": ("y = Concat<axis = 0>({0})", "sizes"),
}
ENDS = {
    "x": "s = Slice({0}, zeros, sizes) last = GatherElements<axis = 1>(s, i)",
    "i": "m = Mod({0}, sizes) last = GatherElements<axis = 1>(x, m)",
    "zero": "r = Reshape(x, flat) s = Slice(r, {0}, flat, zero) j = Reshape(i, flat) last = GatherElements(s, j)",
    "sizes": "t = Tile(x, {0}) last = GatherElements<axis = 1>(t, i)",
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("target", ["stock", "extension"])
@pytest.mark.parametrize(("link", "start"), CHAINS.values(), ids=CHAINS)
def test_chains(link, start, target):
    lines, name = [], start
    for number in range(LENGTH):
        lines.append(link.replace("y =", f"v{number} =").format(name))
        name = f"v{number}"
    proto = model("float[3,4] x, int64[3,4] i) => (float[N,M] last)", " ".join([*lines, ENDS[start].format(name)]))
    for constant_name, array in (("sizes", [3, 4]), ("zero", [0]), ("flat", [-1])):
        constant(np.array(array), proto, constant_name)
    changed = onnx_ir.from_proto(proto)
    legalize(changed, target=target)
    find_inexactness(changed, target=target)
    is_dropped = start == "zero" and target == "stock"
    assert (len(changed.graph) < 10) == is_dropped


def test_bodies():
    """Bodies are nested as deep as protobuf reads them."""
    inner = "a = Abs(i) f = Cast<to = 1>(a) p30 = Mul(x, f)"
    for level in reversed(range(30)):
        then = f"then_branch = t{level} () => (float[3,4] q{level}) {{ {inner} q{level} = Identity(p{level + 1}) }}"
        other = f"else_branch = e{level} () => (float[3,4] n{level}) {{ n{level} = Neg(x) }}"
        inner = f"p{level} = If (b) <{then}, {other}>"
    proto = model("bool b, float[3,4] x, int64[3,4] i) => (float[3,4] y)", f"{inner} y = Identity(p0)")
    changed = onnx_ir.from_proto(proto)
    legalize(changed)
    assert len(find_inexactness(changed, target="stock")) == 1
