"""IRs for older releases of OpenVINO: versions of operations that they have, where these mean the same."""

import numpy as np
import pytest

from helpers.paths import VALID
from ov_gather import read_ir, validate
from ov_gather.converters.older_releases import lower
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I64
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.writer import to_bytes, write_ir

RELEASES_BEFORE_2026 = ("2024.6", "2025.2", "2025.4")
POOL = {
    **{"kernel": "2,2", "strides": "1,1", "pads_begin": "0,0", "pads_end": "0,0", "exclude-pad": "true"},
    **{"auto_pad": "explicit", "rounding_type": "floor"},
}


def pool(**attributes):
    builder = ModelBuilder("pool")
    data = builder.parameter("data", F32, PartialShape.of((1, 1, 8, 8)))
    (output,) = builder.layer(
        "AvgPool", "pool", "opset16", {**POOL, **attributes}, [data], [(F32, PartialShape.of((1, 1, 7, 7)))]
    )
    builder.result("output", output)
    return builder.build()


def one_hot(mode):
    builder = ModelBuilder("one hot")
    constants = [("depth", I64, np.array(4)), ("on", F32, np.array(1, np.float32)), ("off", F32, np.array(0, np.float32))]
    inputs = [builder.parameter("indices", I64, PartialShape.of((6,))), *(builder.const(*constant) for constant in constants)]
    attributes = {"axis": "-1", "negative_indices_mode": mode}
    (output,) = builder.layer("OneHot", "one_hot", "opset16", attributes, inputs, [(F32, PartialShape.of((6, 4)))])
    builder.result("output", output)
    return builder.build()


def version(model, name):
    return next(layer.version for layer in model.layers if layer.name == name)


@pytest.mark.parametrize("release", RELEASES_BEFORE_2026)
def test_the_same_operation_is_named_in_an_older_opset(release, tmp_path):
    lowered = lower(read_ir(VALID / "rank_1_opset16.xml"), release)
    assert [(layer.name, opset) for layer, opset in lowered.changes] == [("gather", "opset6")]
    assert lowered.left == ()
    write_ir(lowered.model, tmp_path / "old.xml")
    assert validate(tmp_path / "old.xml", target=release) == []


def test_what_a_release_has_is_not_touched():
    for path in VALID.glob("*.xml"):
        model = read_ir(path)
        assert lower(model, "2026.4").model == model


def test_bodies_are_lowered():
    text = (
        (VALID / "if_bodies.xml")
        .read_text()
        .replace('type="GatherElements" version="opset6"', 'type="GatherElements" version="opset16"')
    )
    lowered = lower(read_ir(text.encode()), "2025.4")
    assert len(lowered.changes) == 2
    assert validate(to_bytes(lowered.model)[0], target="2025.4", ignore=["OVG5"]) == []


@pytest.mark.parametrize(("dilations", "there"), [("1,1", True), ("1, 1", True), ("2,1", False), ("1,2", False)])
def test_a_pool_is_lowered_if_it_is_not_dilated(dilations, there):
    lowered = lower(pool(dilations=dilations), "2025.2")
    assert version(lowered.model, "pool") == ("opset14" if there else "opset16")
    assert [left.location.layer_name for left in lowered.left] == ["pool"] * (not there)
    assert not there or lowered.model.layers[1].attributes == POOL


def test_a_one_hot_is_lowered_if_it_ignores_negative_indices():
    assert version(lower(one_hot("ignore_negative"), "2025.3").model, "one_hot") == "opset1"
    lowered = lower(one_hot("normalize"), "2025.3")
    assert version(lowered.model, "one_hot") == "opset16"
    assert "OneHot of opset16 came with OpenVINO 2025.4" in lowered.left[0].message


@pytest.mark.openvino
@pytest.mark.parametrize("model", [pool(dilations="1,1"), one_hot("ignore_negative")], ids=["AvgPool", "OneHot"])
def test_a_lowered_operation_computes_the_same(model):
    from ov_gather.runtimes.openvino import OpenVINORuntime

    data = np.random.default_rng(1).random((1, 1, 8, 8), np.float32)
    inputs = [data if model.name == "pool" else np.array([-5, -4, -1, 0, 3, 4])]
    outputs = []
    for tried in (model, lower(model, "2024.6").model):
        with OpenVINORuntime() as runtime:
            runtime.activate(tried)
            outputs.append(runtime.execute(inputs)[0])
    np.testing.assert_array_equal(*outputs)
