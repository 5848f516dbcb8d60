"""One fault of a long model is one error, where it begins."""

import numpy as np
import pytest
from lxml import etree

from ov_gather import validate
from ov_gather.ir.builder import ModelBuilder
from ov_gather.ir.element_types import F32, I64
from ov_gather.ir.shapes import PartialShape
from ov_gather.ir.writer import to_bytes

IMAGE = PartialShape.of((1, 3, 16, 16))
WINDOWS = {"strides": "1,1", "dilations": "1,1", "pads_begin": "1,1", "pads_end": "1,1", "auto_pad": "explicit"}


def chain(count):
    """A chain of convolutions, functions and gathers, each with a constant of its own."""
    builder = ModelBuilder("chain")
    value = builder.parameter("x", F32, IMAGE)
    for number in range(count):
        weights = builder.const(f"w{number}", F32, np.full((3, 3, 3, 3), number, np.float32))
        (value,) = builder.layer("Convolution", f"conv{number}", "opset1", WINDOWS, [value, weights], [(F32, IMAGE)])
        (value,) = builder.layer("ReLU", f"relu{number}", "opset1", {}, [value], [(F32, IMAGE)])
        indices = builder.const(f"i{number}", I64, np.full((1, 3, 16, 16), number % 3, np.int64))
        (value,) = builder.layer("GatherElements", f"ge{number}", "opset6", {"axis": "1"}, [value, indices], [(F32, IMAGE)])
    builder.result("y", value)
    return to_bytes(builder.build())


def changed(layer, where, **values):
    def change(root):
        (found,) = root.xpath(f"layers/layer[@name='{layer}']/{where}")
        for name, value in values.items():
            if name == "dim":
                found.findall("dim")[1].text = value
            else:
                found.set(name, value)

    return change


def wide(root):
    """The input has 18 rows, which all layers but the last fit."""
    changed("x", "data", shape="1,3,18,16")(root)
    for place in ("layers/layer[@name='x']/output/port", "layers/layer[@name='conv0']/input/port[1]"):
        root.xpath(place)[0].findall("dim")[2].text = "18"


def unread(root):
    """The fourth edge leads nowhere."""
    edges = root.find("edges")
    edges.remove(edges[3])


FAULTS = {
    "a dim of an output": (changed("relu1", "output/port", dim="4"), "OVG403", "relu1"),
    "a dim of an input": (changed("relu1", "input/port", dim="4"), "OVG404", "relu1"),
    "a dim of a gather": (changed("ge1", "output/port", dim="4"), "OVG403", "ge1"),
    "a precision": (changed("relu1", "output/port", precision="FP16"), "OVG304", "relu1"),
    "the precision of a gather": (changed("ge1", "output/port", precision="FP16"), "OVG304", "ge1"),
    "the shape of an input": (changed("x", "data", shape="1,3,18,16"), "OVG405", "x"),
    "the channels of an input": (changed("x", "data", shape="1,4,16,16"), "OVG405", "x"),
    "an input of the model": (wide, "OVG403", "conv0"),
    "the type of an input": (changed("x", "data", element_type="f16"), "OVG305", "x"),
    "the axis of a gather": (changed("ge1", "data", axis="4"), "OVG204", "ge1"),
    "the shape of a constant": (changed("w1", "data", shape="4,3,3,3"), "OVG503", "w1"),
    "an open shape of a constant": (changed("w1", "data", shape="4,3,?,3"), "OVG503", "w1"),
    "the type of a constant": (changed("w1", "data", element_type="f16"), "OVG507", "w1"),
    "a larger type of a constant": (changed("i1", "data", element_type="f64"), "OVG305", "i1"),
    "where a constant lies": (changed("w1", "data", offset="99999999"), "OVG502", "w1"),
    "an edge": (unread, "OVG103", "ge0"),
}


@pytest.mark.parametrize("count", [3, 100])
@pytest.mark.parametrize("fault", FAULTS)
def test_one_error(fault, count):
    change, rule, layer = FAULTS[fault]
    xml, weights = chain(count)
    root = etree.fromstring(xml)
    change(root)
    errors = [found for found in validate(etree.tostring(root), weights=weights) if found.severity.value == "error"]
    assert [(found.rule, found.location.layer_name) for found in errors] == [(rule, layer)]


def test_no_error():
    xml, weights = chain(3)
    assert validate(xml, weights=weights) == []


def test_a_missing_file():
    """The .bin is missing for all constants at once."""
    xml, _ = chain(3)
    (found,) = validate(xml)
    assert (found.rule, found.location.layer_id) == ("OVG501", None)
    assert "6 Consts in all" in found.message
