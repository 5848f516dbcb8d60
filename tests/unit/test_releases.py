"""What older releases of OpenVINO do not have, the oldest that has what a file needs, and IRs for older ones."""

import numpy as np
import pytest

from helpers.paths import SAMPLES, VALID
from ov_gather import read_ir, validate
from ov_gather.converters.older_releases import lower
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I64
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.writer import to_bytes, write_ir
from ov_gather.rules.oldest import oldest_release
from ov_gather.rules.opsets import operations, opsets_of
from ov_gather.rules.release_table import TABLE
from ov_gather.rules.releases import RELEASES, is_newer_than_known, release_named

OF_OPSET_16 = (VALID / "rank_1_opset16.xml").read_text()
IF = (VALID / "if_bodies.xml").read_text()
TARGETED = ["OVG708", "OVG709"]
NEWS = [row.split() for row in TABLE.strip().splitlines() if len(row.split()) > 1]


def found(text, target):
    return validate(text.encode(), select=TARGETED, target=target)


def test_a_release_may_have_a_third_number():
    assert [release_named(text) for text in ("2025.4", "2025.4.1", " 2025.4 ")] == ["2025.4"] * 3


@pytest.mark.parametrize("text", ["2024.5", "2099.1", "2025", "2025.4.x", "opset16", ""])
def test_a_release_that_is_not_known_is_refused(text):
    with pytest.raises(ValueError, match=r"is no release that ov-gather knows; there are 2024\.6, 2025\.0, "):
        release_named(text)


@pytest.mark.parametrize(("version", "is_newer"), [("2026.4.7", False), ("2026.10.0", True), ("2027.0.0", True), ("", False)])
def test_a_version_that_is_newer_than_all_that_are_known(version, is_newer):
    assert is_newer_than_known(version) == is_newer


def test_releases_stand_in_order():
    assert list(RELEASES) == sorted(RELEASES)
    assert [row[0] for row in NEWS] == sorted(row[0] for row in NEWS)


def test_the_table_names_what_there_is():
    for _, kind, *names in NEWS:
        if kind.startswith("opset"):
            assert all(kind in operations()[name] for name in names if name != "*")


# OpenVINO 2025.3 has a few operations in opset16, and 2026.0 has all of them.
@pytest.mark.parametrize(
    ("layer", "first"),
    [
        (("GatherElements", "opset6"), "2024.6"),
        (("GatherElements", "opset15"), "2024.6"),
        (("GatherElements", "opset16"), "2026.0"),
        (("AvgPool", "opset16"), "2025.3"),
        (("Identity", "opset16"), "2025.0"),
        (("OneHot", "opset16"), "2025.4"),
        (("gatherELEMENTS", "opset16"), "2026.0"),  # OpenVINO reads types in any case
    ],
)
def test_an_operation_is_found_in_the_releases_before_the_first_that_has_it(layer, first):
    old = '<layer id="2" name="gather" type="GatherElements" version="opset16">'
    text = OF_OPSET_16.replace(old, old.replace("GatherElements", layer[0]).replace("opset16", layer[1]))
    assert oldest_release(text.encode()).release == first
    for release in RELEASES:
        assert [finding.rule for finding in found(text, release)] == ["OVG708"] * (
            RELEASES.index(release) < RELEASES.index(first)
        )


def test_what_is_found_is_told():
    (finding,) = found(OF_OPSET_16, "2025.4.1")
    assert (finding.location.layer_id, finding.location.line) == (2, 20)
    assert finding.message == "GatherElements of opset16 came with OpenVINO 2026.0; 2025.4 refuses the model"
    assert finding.hint == "write version='opset6', which is the same operation"


@pytest.mark.parametrize(
    ("layer_type", "release", "hint"),
    [
        ("AvgPool", "2025.2", "2025.2 has the AvgPool of opset15, which is another version"),
        ("Identity", "2024.6", "2024.6 has no Identity"),
        ("Gather", "2025.4", "write version='opset8', which is the same operation"),
    ],
)
def test_the_hint_says_what_there_is_instead(layer_type, release, hint):
    (finding,) = found(OF_OPSET_16.replace('type="GatherElements"', f'type="{layer_type}"'), release)
    assert finding.hint == hint


def test_only_versions_that_are_the_same_operation_are_the_same():
    assert opsets_of("Gather")["opset6"] == "opset1"
    assert opsets_of("Gather")["opset7"] == "opset7"
    assert opsets_of("Gather")["opset16"] == "opset8"
    assert opsets_of("LogicalNot")["opset16"] == "opset1"


def test_layers_of_sub_graphs_are_found():
    position = IF.index("<else_body>")
    text = IF[:position] + IF[position:].replace(
        'type="GatherElements" version="opset6"', 'type="GatherElements" version="opset16"'
    )
    (finding,) = found(text, "2025.4")
    assert finding.location.subgraph_path[-1] == "else_body"
    assert oldest_release(text.encode()).place.subgraph_path[-1] == "else_body"


def test_an_element_type_may_be_too_new():
    path = SAMPLES / "invalid" / "OVG709" / "undefined.xml"
    assert [finding.rule for finding in validate(path, target="2025.0")] == ["OVG709"]
    assert validate(path, target="2025.1") == []
    assert oldest_release(path).release == "2025.1"


def test_valid_samples_need_no_newer_release_unless_they_name_a_newer_opset():
    for path in VALID.glob("*.xml"):
        newer = {layer.version for _, graph in read_ir(path).walk() for layer in graph.layers} & {"opset16", "opset17"}
        assert bool(validate(path, select=TARGETED, target="2024.6")) == bool(newer), path.name


def test_what_only_an_extension_has_is_named():
    text = OF_OPSET_16.replace('version="opset16"', 'version="ov_gather"')
    assert oldest_release(text.encode()).extension == "GatherElements of ov_gather"
    assert found(text, "2024.6") == []


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('version="opset16"', 'version="opset5"', "version='opset5' does not hold GatherElements"),
        ('type="GatherElements"', 'type="GatherElement"', "no opset of OpenVINO holds GatherElement"),
        (' version="opset16"', "", "version is missing"),
        ("</net>", "", "not well-formed XML"),
    ],
)
def test_no_release_has_what_no_opset_holds(old, new, reason):
    result = oldest_release(OF_OPSET_16.replace(old, new).encode())
    assert result.release == ""
    assert result.reason.startswith(reason)


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
    text = IF.replace('type="GatherElements" version="opset6"', 'type="GatherElements" version="opset16"')
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
