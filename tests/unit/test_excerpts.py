"""Excerpts of graphs, and histograms of differences: what reports draw."""

from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest
from lxml import etree

from ov_gather.crosscheck.histogram import histogram
from ov_gather.graph.excerpts import Excerpt, ExcerptEdge, ExcerptNode, around, excerpt
from ov_gather.graph.protocol import Node
from ov_gather.ir.reader import read_ir
from ov_gather.report.page.graph import graph


def test_what_feeds_a_layer_two_steps_back(samples):
    model = read_ir(samples / "valid" / "deberta_bias.xml")
    (layer,) = (layer for layer in model.layers if layer.name == "c2p_gather")
    found = around(model, layer, ["data", "indices"])
    names = [node.name for node in found.nodes]
    assert str(found.nodes[0]) == "GatherElements 'c2p_gather'"
    assert [node.mark for node in found.nodes] == ["failed", *[""] * (len(names) - 1)]
    labels = {(names[edge.source], names[edge.target]): edge.label for edge in found.edges}
    assert labels["content_to_position", "c2p_gather"] == "data"
    assert labels["c2p_index", "c2p_gather"] == "indices"
    assert labels["Constant_16", "c2p_index"] == ""
    notes = {node.name: node.note for node in found.nodes}
    assert notes["c2p_gather"] == "FP32[6, 512, 512]"
    assert notes["Constant_16"] == "0", "the value of a small constant"


@pytest.mark.parametrize(
    ("sample", "expected"),
    [
        ("gather_8", ["FP32[3, 4]", "[2, -3, 0]", "0"]),
        ("openvino_page_2", ["[[1, 7], [4, 3]]", "I32[2, 3]"]),
        ("compressed_weights", ["I64[1, 8]"]),
    ],
)
def test_values_of_small_constants(sample, expected, samples):
    model = read_ir(samples / "valid" / f"{sample}.xml")
    layer = [layer for layer in model.layers if layer.type.startswith("Gather")][-1]
    assert [node.note for node in around(model, layer, []).nodes if node.type == "Const"] == expected


def of_numbers(feeds):
    nodes = {n: Node("Add", "", str(n), (), feeds.get(n, ()), [n]) for n in range(10)}
    graph = SimpleNamespace(producer=nodes.get)
    return excerpt(graph, nodes[0], lambda node: ExcerptNode(node.type, node.name))


def test_what_is_three_steps_back_is_not_drawn():
    assert [node.name for node in of_numbers({0: [1], 1: [2], 2: [3]}).nodes] == ["0", "1", "2"]


def test_operands_beyond_the_fourth_are_counted():
    found = of_numbers({0: range(1, 10)})
    assert [node.name for node in found.nodes] == ["0", "1", "2", "3", "4", ""]
    assert found.nodes[-1].type == "and 5 more"


def test_a_node_used_twice_and_a_cycle_are_drawn_once():
    found = of_numbers({0: [1, 2], 1: [2], 2: [1, 0]})
    assert [node.name for node in found.nodes] == ["0", "1", "2"]
    assert {(edge.source, edge.target) for edge in found.edges} == {(1, 0), (2, 0), (2, 1), (1, 2), (0, 2)}
    drawn = graph(found, "caption")
    assert len(drawn.findall(".//svg[@class='node']")) == 3


def test_names_of_any_length_and_content_are_drawn():
    name = "</svg><script>" + "\0\u202e" + "W" * 10_000
    node = Excerpt((ExcerptNode(name, name, name),), ())
    text = etree.tostring(graph(node, "caption")).decode()
    assert "<script>" not in text
    assert "\u202e" not in text
    assert len(text) < 4000
    assert str(ExcerptNode("T" * 101, "N" * 101)) == f"{'T' * 100} '{'N' * 100}'"


@pytest.mark.parametrize("downwards", [False, True])
def test_boxes_stand_apart_and_in_the_picture(downwards):
    nodes = tuple(ExcerptNode("Add", str(i)) for i in range(6))
    edges = tuple(ExcerptEdge(*pair) for pair in ((1, 0), (2, 0), (3, 1), (3, 2), (4, 1), (5, 0)))
    drawn = graph(Excerpt(nodes, edges), "caption", downwards=downwards).find(".//svg")
    boxes = [[float(box.get(name)) for name in ("x", "y", "width", "height")] for box in drawn.findall("svg")]
    width, height = (float(drawn.get(name)) for name in ("width", "height"))
    for i, (x, y, w, h) in enumerate(boxes):
        assert x >= 0
        assert y >= 0
        assert x + w <= width
        assert y + h <= height
        for other_x, other_y, _, _ in boxes[:i]:
            assert abs(x - other_x) >= w or abs(y - other_y) >= h


@pytest.mark.parametrize(
    ("dtype", "expected", "found", "counted"),
    [
        (
            "f4",
            [1, 2, 3],
            [1.15, 2.0015, 3.00015],
            {"1e-1 to 1e+0": 1, "1e-2 to 1e-1": 0, "1e-3 to 1e-2": 1, "1e-4 to 1e-3": 1},
        ),
        (
            "f4",
            [0.0, np.nan, 1, np.inf],
            [-0.0, 1, np.inf, 1],
            {"the same number in other bits": 1, "infinite or NaN on one side": 3},
        ),
        ("i8", [2**53 + 1, -(2**63), 7], [2**53, 2**63 - 1, -5], {"1e+0 to 1e+3": 2, "1e+18 to 1e+21": 1}),
        ("u1", [0, 255], [255, 5], {"1e+2 to 1e+3": 2}),
        (ml_dtypes.bfloat16, [1, 2], [3, 9], {"1e+0 to 1e+1": 2}),
        (ml_dtypes.int4, [1], [-8], {"1e+0 to 1e+1": 1}),
        (bool, [True], [False], {}),
        (object, ["a"], ["b"], {}),
    ],
)
def test_histogram_of_differences(dtype, expected, found, counted):
    told = dict(histogram(np.array(expected, dtype), np.array(found, dtype)))
    assert told | counted == told
    assert sum(told.values()) == (len(expected) if counted else 0)


def test_a_histogram_has_eight_ranges_at_most(rng):
    one, other = (rng.integers(0, 2**32, 10_000, np.uint32).view(np.float32) for _ in range(2))
    told = histogram(one, other)
    assert sum(words.startswith("1e") for words, _ in told) <= 8
    assert sum(count for _, count in told) == one.size
