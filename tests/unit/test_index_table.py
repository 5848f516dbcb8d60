"""The index table names operators that exist and inputs that hold integers, and the reference says what is known of each."""

import re

import numpy as np
import onnx
import pytest

from helpers.indexed_models import ONNX_CASES
from helpers.legalized import constant, legalized, model
from helpers.paths import ROOT
from ov_gather import prove, validate
from ov_gather.converters import prove_onnx
from ov_gather.converters.inexactness import find_inexactness
from ov_gather.converters.legalize import legalize
from ov_gather.converters.loading import load
from ov_gather.crosscheck.inputs.onnx import made_up_inputs
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I64
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.writer import to_bytes
from ov_gather.ops.index_table import ONNX_INDICES, OPENVINO_INDICES, OUR_INDICES, openvino_rows
from ov_gather.rules.opset_table import TABLE

PAGE = (ROOT / "docs/reference/indices.md").read_text(encoding="utf-8")
CONTRIBUTED = sorted(name for name in ONNX_INDICES if name.startswith("com.microsoft."))
"""The onnx package has no schemas of these."""
ROTARY = ("float[1,S,2,8] x, float[6,4] c, float[6,4] s", "y = RotaryEmbedding(x, c, s, i)")


@pytest.mark.parametrize("name", sorted(set(ONNX_INDICES) - set(CONTRIBUTED)))
def test_inputs_with_indices_are_integers_in_onnx(name):
    domain, _, op_type = name.rpartition(".")
    schema = onnx.defs.get_schema(op_type, domain)
    for row in ONNX_INDICES[name]:
        types = schema.inputs[row.port].types
        assert any("int" in kind for kind in types) or "floats" in row.unknown
        assert not isinstance(row.axis, str) or row.axis in schema.attributes
        assert not row.if_given or row.if_given in schema.attributes


def test_types_exist_in_openvino():
    assert set(OPENVINO_INDICES) <= set(re.findall(r"\b[A-Z]\w*", TABLE))


@pytest.mark.parametrize("name", sorted({*ONNX_INDICES, *OPENVINO_INDICES, *OUR_INDICES}))
def test_the_reference_names_each_operator(name):
    assert re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", PAGE)


def test_operations_of_users_have_no_rows():
    assert openvino_rows("ROIAlign", "opset9")
    assert not openvino_rows("ROIAlign", "mine")
    assert not openvino_rows("GatherScatter", "mine")


@pytest.mark.parametrize(
    ("sources", "targets", "status"),
    [
        ([0, -4], [4, -5], ["proved", "proved"]),
        ([4, 0], [0, 5], ["refuted", "refuted"]),
        ([0, 3], [-6, 0], ["proved", "refuted"]),
    ],
)
def test_our_aggregation_has_two_inputs_of_indices(sources, targets, status):
    builder = ModelBuilder("model")
    given = [builder.parameter("data", F32, PartialShape.parse("4,3"))]
    given += [builder.const(name, I64, np.array(array)) for name, array in (("s", sources), ("t", targets))]
    output = (F32, PartialShape.parse("5,3"))
    attributes = {"size": "5", "bounds": "error"}
    builder.result("output", *builder.layer("GatherScatter", "sum", "ov_gather", attributes, given, [output]))
    model = to_bytes(builder.build())[0]
    assert [proof.status for proof in prove(builder.build())] == status
    assert not [finding for finding in validate(model) if finding.rule == "OVG107"]


def proofs(signature, nodes, opset=23, imports="", **constants):
    made = model(signature, nodes, opset, imports)
    for name, array in constants.items():
        constant(np.asarray(array), made, name)
    return [(proof.type, proof.status, dict(proof.requires)) for proof in prove_onnx(made)]


def test_open_sizes_and_optional_inputs():
    signature, nodes = ROTARY
    rows = signature.replace("[6,4]", "[R,4]")
    assert proofs(f"{rows}, int64[1,S] i) => (float[1,S,2,8] y)", nodes) == [
        ("RotaryEmbedding", "conditional", {"i": (0, "dim(R) - 1")})
    ]
    without = "float[1,S,2,8] x, float[1,S,4] c, float[1,S,4] s) => (float[1,S,2,8] y)"
    assert proofs(without, "y = RotaryEmbedding(x, c, s)") == []


def test_lengths_may_equal_the_size_along_the_axis_that_the_layout_names():
    nodes = "y, h = RNN<hidden_size = 3, layout = 1>(x, w, r, , i)"
    signature = "float[2,4,2] x, float[1,3,2] w, float[1,3,3] r, int32[2] i) => (float[2,4,1,3] y, float[2,1,3] h)"
    assert proofs(signature, nodes, 22) == [("RNN", "conditional", {"i": (0, 4)})]


@pytest.mark.parametrize(("values", "status"), [([[0, 5]], "proved"), ([[0, 6]], "refuted"), ([[-1, 0]], "refuted")])
def test_constant_indices(values, status):
    signature, nodes = ROTARY
    found = proofs(f"{signature.replace('S', '2')}) => (float[1,2,2,8] y)", nodes, i=values)
    assert [(kind, state) for kind, state, _ in found] == [("RotaryEmbedding", status)]


@pytest.mark.parametrize("name", ONNX_CASES)
def test_exactly_the_indices_in_bounds_are_required_and_suffice(name):
    case = ONNX_CASES[name]
    (proof,) = (proof for proof in prove_onnx(case.proto) if proof.status != "proved" and "i" in proof.requires)
    assert dict(proof.requires) == {"i": (case.low, case.high - 1)}
    others = {port.name: (0, 0) for port in case.proto.graph.input if port.name in "ab"}
    (proof, *_) = prove_onnx(case.proto, assume={**others, "i": (case.low, case.high - 1)})
    assert proof.status == "proved"


def test_an_ignored_label_is_never_refused():
    proto = model("float[2,8] x, int64[2] i) => (float y)", "y = NegativeLogLikelihoodLoss<ignore_index = -100>(x, i)", 22)
    for assumed, status in (((-100, 7), "unknown"), ((-100, -100), "unknown"), ((8, 9), "unknown"), ((-8, 7), "proved")):
        (proof,) = prove_onnx(proto, assume={"i": assumed})
        assert (proof.status, dict(proof.requires)) == (status, {})
    assert "label to ignore" in prove_onnx(proto)[0].reason


def test_what_cannot_be_checked_is_named():
    (proof,) = prove_onnx(
        model("float[2,1,4,4] x, float[N,5] r) => (float[N,1,2,2] y)", "y = MaxRoiPool<pooled_shape = [2, 2]>(x, r)", 22)
    )
    assert (proof.status, "first column of a table of floats" in proof.reason) == ("unknown", True)


def test_contributed_gather_nd_is_that_of_onnx():
    nodes = "y = com.microsoft.GatherND(d, i)"
    found = proofs("float[5,8] d, int64[3,1] i) => (float[3,8] y)", nodes, 20, ', "com.microsoft" : 1')
    assert found == [("GatherND", "conditional", {"i": (-5, 4)})]


def losses(target, signature, nodes, opset=23, imports="", **options):
    made = load(model(signature, nodes, opset, imports))
    rewrites = legalize(made, target=target)
    found = [str(each) for each in find_inexactness(made, target=target, **options) if "out of bounds" in str(each)]
    return found, [rewrite.what for rewrite in rewrites]


def test_stock_conversions_report_it_and_the_extension_checks_it():
    signature, nodes = ROTARY
    text = f"{signature}, int64[1,S] i) => (float[1,S,2,8] y)"
    found, rewrites = losses("stock", text, nodes)
    assert found == [
        "node RotaryEmbedding '' (output y): an index out of bounds yields zeros; target extension raises",
    ]
    assert rewrites == []
    assert losses("stock", text, nodes, assume_in_bounds=True)[0] == []
    assert losses("extension", text, nodes) == ([], ["the indices 'i' are checked before it"])


def test_the_extension_reports_what_it_does_not_check():
    text = "float[2,1,4,4] x, float[N,5] r) => (float[N,1,2,2] y)", "y = MaxRoiPool<pooled_shape = [2, 2]>(x, r)"
    for target in ("stock", "extension"):
        (found,), _ = losses(target, *text, 22)
        assert found.endswith("an index out of bounds reads foreign memory; nothing checks it")


@pytest.mark.parametrize(
    ("opset", "length", "is_checked"), [(9, "4", True), (8, "4", False), (11, "N", True), (10, "N", False)]
)
def test_old_opsets_are_checked_if_they_can_be(opset, length, is_checked):
    signature = f"float[{length},2,2] x, float[1,3,2] w, float[1,3,3] r, int32[2] i) => (float[1,2,3] h)"
    found, rewrites = losses("extension", signature, ", h = RNN<hidden_size = 3>(x, w, r, , i)", opset)
    assert (not found) == is_checked
    assert rewrites[0].startswith("the indices 'i' are checked" if is_checked else "indices not checked: opset")


def test_proved_indices_are_not_checked():
    """Positions that the model computes from sizes need nothing."""
    text = (
        "float[1,S,2,8] x, float[S,4] c, float[S,4] s) => (float[1,S,2,8] y)",
        """z = Constant<value = int64 {0}>() o = Constant<value = int64 {1}>() h = Shape<start = 1, end = 2>(x)
           n = Squeeze(h) p = Range(z, n, o) a = Constant<value = int64[1] {0}>() i = Unsqueeze(p, a)
           y = RotaryEmbedding(x, c, s, i)""",
    )
    for target in ("stock", "extension"):
        assert losses(target, *text)[0] == []
        assert not any("checked" in what for what in losses(target, *text)[1])


@pytest.mark.parametrize("target", ["stock", "extension"])
@pytest.mark.parametrize("name", [name for name in ONNX_CASES if not name.startswith("Sequence")])
def test_checked_models_compute_the_same(name, target, rng):
    case = ONNX_CASES[name]
    legalized(case.proto, case.feed(rng, case.high - 1), target=target)


@pytest.mark.parametrize("target", ["stock", "extension"])
def test_constants_out_of_bounds_are_refused(target):
    made = model("float[1,2,2,8] x, float[6,4] c, float[6,4] s) => (float[1,2,2,8] y)", ROTARY[1], 23)
    constant(np.array([[0, 6]]), made, "i")
    with pytest.raises(ValueError, match=r"'i'\[0, 1\] = 6 is out of bounds \(valid 0\.\.5\)"):
        legalize(load(made), target=target)


def test_made_up_inputs_stay_in_bounds():
    signature, nodes = ROTARY
    made = load(model(f"{signature}, int64[1,S] i) => (float[1,S,2,8] y)", nodes, 23))
    seen = [feed["i"] for seed in range(8) for feed in made_up_inputs(made, seed)]
    assert max(array.max() for array in seen) > 1
    assert all(((array >= 0) & (array < 6)).all() for array in seen)
