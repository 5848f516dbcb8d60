"""What an older release of OpenVINO does not have, and the oldest release that has what a file needs."""

import pytest

from helpers.paths import SAMPLES, VALID
from ov_gather import validate
from ov_gather.ir.reader import read_ir
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
