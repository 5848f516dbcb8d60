"""Parts of nodes that OpenVINO's front end ignores are named; forms that it knows are not."""

import numpy as np
import onnx
import onnx_ir
import pytest
from onnx import helper

from ov_gather.converters import unknown_forms

FLOATS = onnx.TensorProto.FLOAT


def found(node, opset, **inputs):
    """What is said of one node, whose inputs have the types and sizes given."""
    given = [helper.make_tensor_value_info(name, *each) for name, each in inputs.items()]
    outputs = [helper.make_tensor_value_info(name, FLOATS, None) for name in node.output]
    graph = helper.make_graph([node], "g", given, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    return [what for _, what in unknown_forms.unknown_forms(onnx_ir.from_proto(model))]


def space_to_depth(**attributes):
    return helper.make_node("SpaceToDepth", ["x"], ["y"], blocksize=2, **attributes)


def resize(**attributes):
    return helper.make_node("Resize", ["x", "", "", "sizes"], ["y"], **attributes)


def shrink(bias):
    return helper.make_node("Shrink", ["x"], ["y"], bias=bias)


IMAGE = (FLOATS, [1, 1, 4, 4])
INTEGERS = (onnx.TensorProto.INT32, [4])
FORMS = {
    "a fraction added to integers": (shrink(1.5), 9, {"x": INTEGERS}, "the fraction of bias=1.5 of Shrink, for integers"),
    "an integer added to integers": (shrink(2.0), 9, {"x": INTEGERS}, None),
    "a fraction added to fractions": (shrink(1.5), 9, {"x": IMAGE}, None),
    "a new attribute": (space_to_depth(mode="CRD"), 28, {"x": IMAGE}, "mode=CRD of SpaceToDepth-28"),
    "its default": (space_to_depth(mode="DCR"), 28, {"x": IMAGE}, None),
    "a new version without the attribute": (space_to_depth(), 28, {"x": IMAGE}, None),
    "a known version": (space_to_depth(), 24, {"x": IMAGE}, None),
    "a new type": (
        helper.make_node("BitShift", ["x", "n"], ["y"], direction="LEFT"),
        28,
        {"x": (onnx.TensorProto.INT32, [2]), "n": (onnx.TensorProto.INT32, [2])},
        "what is new in BitShift-28 for int32: it takes it for BitShift-11",
    ),
    "an old type": (
        helper.make_node("BitShift", ["x", "n"], ["y"], direction="LEFT"),
        28,
        {"x": (onnx.TensorProto.UINT32, [2]), "n": (onnx.TensorProto.UINT32, [2])},
        None,
    ),
    "a new type that is moved": (
        helper.make_node("Compress", ["x", "c"], ["y"], axis=0),
        28,
        {"x": (onnx.TensorProto.BFLOAT16, [2]), "c": (onnx.TensorProto.BOOL, [2])},
        None,
    ),
    "an old attribute": (
        resize(keep_aspect_ratio_policy="not_larger"),
        18,
        {"x": IMAGE, "sizes": (onnx.TensorProto.INT64, [4])},
        "keep_aspect_ratio_policy=not_larger of Resize",
    ),
    "an old attribute at its default": (
        resize(keep_aspect_ratio_policy="stretch"),
        18,
        {"x": IMAGE, "sizes": (onnx.TensorProto.INT64, [4])},
        None,
    ),
    "a gather": (
        helper.make_node("Gather", ["x", "i"], ["y"]),
        28,
        {"x": IMAGE, "i": (onnx.TensorProto.INT64, [1])},
        None,
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_what_is_ignored_is_named(name):
    node, opset, inputs, expected = FORMS[name]
    said = found(node, opset, **inputs)
    assert [expected in what for what in said] == [True] if expected else said == []


def test_a_release_of_onnx_needs_no_work(monkeypatch):
    """Had the front end stopped at an older opset, all that came since would be named from the schemas alone."""
    monkeypatch.setattr(unknown_forms, "NEWEST_OPSET", 13)
    integers = {"x": (onnx.TensorProto.INT32, [2])}
    assert found(helper.make_node("Relu", ["x"], ["y"]), 13, **integers) == []
    (said,) = found(helper.make_node("Relu", ["x"], ["y"]), 14, **integers)
    assert "Relu-14 for int32: it takes it for Relu-13" in said
    (said,) = found(helper.make_node("Shape", ["x"], ["y"], start=1), 15, x=IMAGE)
    assert "start=1 of Shape-15: it takes it for Shape-13" in said
    axes = {"axes": (onnx.TensorProto.INT64, [1])}
    (said,) = found(helper.make_node("ReduceMax", ["x", "axes"], ["y"]), 18, x=IMAGE, **axes)
    assert "input axes of ReduceMax-18" in said


def test_every_operator_has_forms_that_can_be_compared():
    """No schema of the installed onnx makes the comparison fail."""
    newest = onnx.defs.onnx_opset_version()
    for schema in onnx.defs.get_all_schemas():
        if schema.domain == "" and not schema.deprecated:
            names = [f"i{position}" for position in range(len(schema.inputs))]
            node = helper.make_node(schema.name, names, ["y"])
            unknown = found(node, newest, **dict.fromkeys(names, (FLOATS, [1])))
            assert np.all([isinstance(what, str) for what in unknown])
