"""Every form of an operator that moves values: it goes in lanes, or something says that it does not.

`python tests/tools/lane_sweep.py` does the same for all types and shapes.
"""

import onnx_ir
import pytest

from helpers.legalized import model
from helpers.moving_operators import COMPUTING, FORMS, STOCK_IS_WRONG
from ov_gather.converters.inexactness import find_inexactness
from tools.lane_sweep import Cell, outcome

NOT_IN_LANES = {
    *(name for name in COMPUTING if name != "Sum of one"),  # of which OpenVINO makes nothing, as of a Dropout
    *("CenterCropPad", "DepthToSpace", "Resize to the nearest"),
    *("Sequence of parts", "Sequence of tensors", "SpaceToDepth", "Trilu", "Upsample, opset 9"),
    *("Pad, wrap", "Unsqueeze, given axes"),  # OpenVINO refuses these of any type
}
"""Forms whose loss is named. Numbers of 64 bits that do not fit in 32 are refused when the model is called."""


@pytest.mark.parametrize("name", [name for name in FORMS if name not in STOCK_IS_WRONG])
def test_every_bit_or_a_reason(name):
    found = outcome(Cell(name, "int64", "open")) or outcome(Cell(name, "float64", "open"))
    assert found is not None
    assert found[0] in (("warned", "refused") if name in NOT_IN_LANES else ("exact",)), found


FIRST_FORMS = [name for name in FORMS if "," not in name and name not in (*NOT_IN_LANES, *STOCK_IS_WRONG)]


@pytest.mark.parametrize("dtype", ["complex128", "float16"])
@pytest.mark.parametrize("name", FIRST_FORMS)
def test_every_bit_of_four_lanes_and_of_half_a_lane(name, dtype):
    assert outcome(Cell(name, dtype, "open")) in (("exact", ""), None)


@pytest.mark.parametrize(("kind", "names"), [("float16", {"DepthToSpace", "SequenceAt", "SplitToSequence"}), ("float", set())])
def test_what_makes_numbers_of_float16_quiet_is_named(kind, names):
    nodes = "y = DepthToSpace <blocksize = 2> (x) s = SplitToSequence (x, k) z = SequenceAt (s, i)"
    proto = model(f"{kind}[1, 4, 2, 2] x, int64 k, int64 i) => ({kind}[1, 1, 4, 4] y, {kind}[a, b, c, d] z)", nodes)
    told = [one for one in find_inexactness(onnx_ir.from_proto(proto), target="extension") if "quiet" in str(one)]
    assert {name for name in ("DepthToSpace", "SequenceAt", "SplitToSequence") if name in str(told)} == names


@pytest.mark.parametrize("source", ["input", "initializer"])
@pytest.mark.parametrize("name", ["Expand, given sizes", "Loop, carried"])
def test_signalling_numbers_of_bfloat16(name, source):
    """OpenVINO's CPU plugin makes the NaN quiet here, where bfloat16 goes through it as it is."""
    assert outcome(Cell(name, "bfloat16", "open", source)) == ("exact", "")
