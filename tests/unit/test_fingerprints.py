"""A fingerprint stays when a model is exported again, and is another for another finding."""

from collections import Counter

import pytest
from lxml import etree

from helpers.exported_again import export_again
from helpers.paths import SAMPLES
from ov_gather import validate

# Which one of two layers these name depends on the order of the layers.
_NAMES_THE_LATER = ("duplicate_id", "two_relus", "two_tops")


def _is_whole(path):
    try:
        tree = etree.parse(path)
        return tree.getroot().tag == "net" and all(layer.get("id", "").isdigit() for layer in tree.iter("layer"))
    except (etree.XMLSyntaxError, OSError):
        return False


FAULTY = [
    path
    for path in sorted([*SAMPLES.glob("divergent/*/*.xml"), *SAMPLES.glob("invalid/*/*.xml")])
    if path.stem not in (*_NAMES_THE_LATER, "edge_end") and _is_whole(path)
]


def fingerprints(path):
    return Counter((finding.rule, finding.fingerprint) for finding in validate(path))


def test_fingerprints_survive_another_export(tmp_path):
    assert len(FAULTY) > 100
    for path in FAULTY:
        export_again(path, tmp_path / path.name)
        assert fingerprints(path) == fingerprints(tmp_path / path.name), path


def test_all_fingerprints_of_a_file_differ():
    for path in FAULTY:
        assert set(fingerprints(path).values()) <= {1}, path


def fingerprint(name, axis):
    text = (SAMPLES / "invalid" / "OVG204" / "axis_3.xml").read_text()
    text = text.replace('name="gather"', f'name="{name}"').replace('axis="3"', f'axis="{axis}"')
    (finding,) = validate(text.encode(), select=["OVG204"])
    return finding.fingerprint


@pytest.mark.parametrize(
    ("name", "axis", "same"),
    [
        ("gather", "5", True),
        ("other", "5", False),
        ("gather", "6", False),
        ("GatherElements_17", "5", False),
    ],
)
def test_what_a_fingerprint_depends_on(name, axis, same):
    assert (fingerprint(name, axis) == fingerprint("gather", "5")) is same


def test_a_name_that_openvino_made_up_is_no_name():
    assert fingerprint("GatherElements_17", "5") == fingerprint("GatherElements_4711", "5") == fingerprint("", "5")
