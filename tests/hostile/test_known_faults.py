"""Known faults in documents that OpenVINO refuses: no pattern ends in an error, in endless work or in gigabytes."""

import struct

import pytest

from ov_gather import validate
from ov_gather.rules.releases import RELEASES

RULES = ("OVG710", "OVG711", "OVG712")
TEXTS = struct.pack("<4i", 2, 0, 1, 2) + b"ab"
NUMBERS = struct.pack("<2q", 1, 0) + bytes(8)
CONSTANTS = {
    "texts": '<data element_type="string" shape="2" offset="0" size="18"/>',
    "numbers": '<data element_type="i64" shape="2" offset="0" size="16"/>',
    "zero": '<data element_type="f32" shape="1" offset="16" size="4"/>',
}


def layer(number, kind, sources, sizes, data="", precision="FP32"):
    """A layer with one output of these sizes; each source is the number of the layer that feeds an input."""
    inputs = "".join(f'<port id="{port}"><dim>2</dim></port>' for port in range(len(sources)))
    dims = "".join(f"<dim>{size}</dim>" for size in sizes)
    return (
        f'<layer id="{number}" name="n{number}" type="{kind}" version="opset8">{data}<input>{inputs}</input>'
        f'<output><port id="9" precision="{precision}">{dims}</port></output></layer>',
        [f'<edge from-layer="{one}" from-port="9" to-layer="{number}" to-port="{i}"/>' for i, one in enumerate(sources)],
    )


def given(number, size=2):
    return layer(number, "Parameter", [], [size], f'<data element_type="f32" shape="{size}"/>')


def fixed(number, name):
    return layer(number, "Const", [], [2], CONSTANTS[name])


def truth(number, source):
    return layer(number, "Convert", [source], [2], '<data destination_type="boolean"/>', "BOOL")


DOCUMENTS = {
    "widths of texts": (
        TEXTS,
        [given(0), fixed(1, "texts"), layer(2, "Pad", [0, 1, 1, 1], [2], '<data pad_mode="constant"/>')],
    ),
    "steps of texts": (TEXTS, [given(0), fixed(1, "texts"), layer(2, "Slice", [0, 1, 1, 1], [2]), truth(3, 2)]),
    "an order of texts": (TEXTS, [given(0), fixed(1, "texts"), layer(2, "Transpose", [0, 1], [2]), truth(3, 2)]),
    "a choice by texts": (TEXTS, [given(0), fixed(1, "texts"), layer(2, "Select", [1, 0, 0], [2]), truth(3, 2)]),
    "a billion repeats": (b"", [given(0), given(1, 10**9), layer(2, "Tile", [0, 1], [2])]),
    "joined repeats": (b"", [given(0), given(1, 2**62), layer(2, "Concat", [1, 1], [4]), layer(3, "Tile", [0, 2], [2])]),
    "a circle": (
        NUMBERS,
        [fixed(0, "numbers"), fixed(1, "zero"), layer(2, "Transpose", [3, 0], [2]), layer(3, "Add", [2, 1], [2]), truth(4, 3)],
    ),
    "many readers": (
        NUMBERS,
        [
            *[
                given(0),
                fixed(1, "numbers"),
                fixed(2, "zero"),
                layer(3, "Transpose", [0, 1], [2]),
                layer(4, "Add", [3, 2], [2]),
            ],
            *[truth(number, 3 + number % 2) for number in range(5, 9000)],
        ],
    ),
    "many turns": (
        NUMBERS,
        [
            *[given(0), fixed(1, "numbers"), fixed(2, "zero")],
            *[layer(n, "Transpose", [n - 1 if n > 3 else 0, 1], [2]) for n in range(3, 1000)],
            *[truth(number, 999) for number in range(1000, 2000)],
        ],
    ),
}


@pytest.mark.sampled(3)
@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", DOCUMENTS)
def test_no_pattern_is_found(name):
    weights, layers = DOCUMENTS[name]
    edges = "".join(edge for _, found in layers for edge in found)
    text = f'<net name="m" version="11"><layers>{"".join(one for one, _ in layers)}</layers><edges>{edges}</edges></net>'
    assert validate(text.encode(), weights=weights, target=RELEASES[-1], select=RULES) == []
