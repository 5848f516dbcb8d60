"""The layers of a sweep: that they are valid, and that every size, axis, attribute and kind of input occurs among them."""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pytest

from ov_gather.crosscheck.sweep import layers
from ov_gather.ops import OPERATIONS
from ov_gather.ops.layer_view import LayerView, family_layers

COUNT = 4000
NAME = re.compile(r"(\S+) (\S+) \[(.*)\] \[(.*)\] (-?\d+)")


@dataclass
class Swept:
    """A layer, and what its name tells: the sizes of data and indices, and the axis."""

    view: LayerView
    type: str
    data: tuple[int, ...]
    indices: tuple[int, ...]
    axis: int

    @property
    def attributes(self) -> dict[str, str]:
        return self.view.layer.attributes

    @property
    def batch(self) -> int:
        return int(self.attributes.get("batch_dims", "0"))

    def is_open(self, port: int) -> bool:
        return not self.view.input_shapes[port].is_static


def sizes(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(", "))) if text else ()


@pytest.fixture(scope="module")
def swept() -> dict[str, list[Swept]]:
    """Layers by the name of their operation."""
    found = defaultdict(list)
    for model in islice(layers(5), COUNT):
        view = next(family_layers(model))
        name, kind, data, indices, axis = NAME.fullmatch(view.layer.name).groups()
        assert name == view.operation.name
        found[name].append(Swept(view, kind, sizes(data), sizes(indices), int(axis)))
    return found


def of_type(swept: dict[str, list[Swept]], *types: str) -> list[Swept]:
    return [one for ones in swept.values() for one in ones if one.view.layer.type in types]


def share(found: list[Any]) -> float:
    return sum(map(bool, found)) / len(found)


def test_operations_take_turns(swept):
    assert {name: len(ones) for name, ones in swept.items()} == {operation.name: 250 for operation in OPERATIONS}
    for operation in OPERATIONS:
        assert {one.view.layer.version for one in swept[operation.name]} == set(operation.opsets)


def test_every_rank_axis_and_size_occurs(swept):
    everything = [one for ones in swept.values() for one in ones]
    cells = Counter((len(one.data), one.axis) for one in everything)
    assert set(cells) == {(rank, axis) for rank in range(1, 7) for axis in range(-rank, rank)}
    assert {size for one in everything for size in one.data} == {1, 2, 3, 4, 5}


def test_none_comes_again_before_all_others(swept):
    for ones in swept.values():
        cells = [(one.type, len(one.data), one.axis) for one in ones]
        assert len(set(cells)) == len(cells)


def test_indices_of_elements(swept):
    for one in of_type(swept, "GatherElements", "ScatterElements", "ScatterElementsUpdate"):
        if one.attributes.get("lanes") == "true":
            assert len(one.indices) == len(one.data) - 1
            continue
        assert len(one.indices) == len(one.data)
        off = [pair for place, pair in enumerate(zip(one.indices, one.data, strict=True)) if place != one.axis % len(one.data)]
        if one.view.operation.name == "GatherElements-6" or one.attributes.get("same_shape") == "true":
            assert all(here == there for here, there in off)
        elif one.attributes.get("broadcast") == "true":
            assert all(here in (1, there) for here, there in off)
        else:
            assert all(here <= there for here, there in off)
    for name in ("GatherElements-6", "ScatterElementsUpdate-12", "ScatterElements-ov_gather"):
        assert {one.indices[one.axis] for one in swept[name]} == {1, 2, 3, 4, 5, 6, 7}
        smaller = [here < there for one in swept[name] for here, there in zip(one.indices, one.data, strict=True)]
        assert any(smaller)


def test_our_gather_of_elements(swept):
    ones = swept["GatherElements-ov_gather"]
    for name, low, high in (
        ("broadcast", 0.4, 0.6),
        ("transpose", 0.35, 0.55),
        ("same_shape", 0.15, 0.35),
        ("lanes", 0.1, 0.3),
    ):
        assert low < share([one.attributes[name] == "true" for one in ones]) < high, name
    for one in ones:
        if one.attributes["transpose"] == "true":
            assert len(one.data) > 1
            assert one.attributes["lanes"] == "false"
        if one.attributes["lanes"] == "true":
            assert one.axis % len(one.data) < len(one.data) - 1
    assert {len(one.data) for one in ones if one.attributes["transpose"] == "true"} == {2, 3, 4, 5, 6}
    assert {len(one.data) for one in ones if one.attributes["lanes"] == "true"} == {2, 3, 4, 5, 6}
    before = {len(one.data) - 1 - one.axis % len(one.data) for one in ones if one.attributes["lanes"] == "true"}
    assert before == {1, 2, 3, 4, 5}
    free = [one for one in ones if one.attributes["same_shape"] == "false" and one.attributes["lanes"] == "false"]
    for broadcast in ("true", "false"):
        pairs = {
            (one.indices[place], one.data[place])
            for one in free
            if one.attributes["broadcast"] == broadcast
            for place in range(len(one.data))
            if place != one.axis % len(one.data)
        }
        assert (1, 5) in pairs
        assert (5, 5) in pairs
        assert ((2, 5) in pairs) == (broadcast == "false")


def test_slices(swept):
    for one in of_type(swept, "Gather"):
        assert one.batch <= min(one.axis % len(one.data), 2)
        assert one.indices[: one.batch] == one.data[: one.batch]
    assert {one.batch for one in swept["Gather-1"]} == {0}
    for name in ("Gather-7", "Gather-8", "Gather-ov_gather"):
        found = {(one.axis % len(one.data), one.batch) for one in swept[name] if one.axis % len(one.data) < 4}
        assert found == {(axis, batch) for axis in range(4) for batch in range(min(axis, 2) + 1)}
        assert {len(one.indices) - one.batch for one in swept[name]} == {0, 1, 2}
        assert {size for one in swept[name] for size in one.indices[one.batch :]} == {1, 2, 3, 4, 5}


def test_tuples(swept):
    for one in of_type(swept, "GatherND"):
        assert one.batch == one.axis % len(one.data)
        assert one.indices[: one.batch] == one.data[: one.batch]
        assert 1 <= one.indices[-1] <= len(one.data) - one.batch
    ones = of_type(swept, "GatherND")
    assert {len(one.indices) - 1 - one.batch for one in ones} == {0, 1, 2}
    pairs = {(len(one.data) - one.batch, one.indices[-1]) for one in ones if len(one.data) - one.batch < 6}
    assert pairs == {(left, length) for left in range(1, 6) for length in range(1, left + 1)}


def test_scatters_of_slices(swept):
    ones = of_type(swept, "ScatterUpdate")
    assert {len(one.indices) for one in ones} == {0, 1, 2}
    assert 0.4 < share([len(one.indices) == 1 for one in ones]) < 0.6
    for one in ones:
        if not one.is_open(2):
            axis = one.axis % len(one.data)
            assert one.view.input_shapes[2].sizes == (*one.data[:axis], *one.indices, *one.data[axis + 1 :])


def test_scatters_by_tuples(swept):
    ones = of_type(swept, "ScatterND", "ScatterNDUpdate")
    assert {len(one.indices) - 1 for one in ones} == {0, 1, 2}
    for one in ones:
        assert one.indices[-1] == one.axis % len(one.data) + 1
        if not one.is_open(2):
            assert one.view.input_shapes[2].sizes == (*one.indices[:-1], *one.data[one.indices[-1] :])


def test_a_third_is_open_but_for_the_length_of_tuples(swept):
    everything = [one for ones in swept.values() for one in ones]
    parameters = [one for one in everything if one.view.constant(0) is None]
    assert 0.3 < share([one.is_open(0) for one in parameters]) < 0.37
    for one in parameters:
        dims = one.view.input_shapes[0].dims
        assert len({dim.is_static for dim in dims}) == 1
    for one in of_type(swept, "GatherND", "ScatterND", "ScatterNDUpdate"):
        *others, last = one.view.input_shapes[1].dims
        assert str(last) == str(one.indices[-1])
        if others and one.view.constant(0) is None and one.view.constant(1) is None:
            assert others[0].is_static != one.is_open(0)
    for one in of_type(swept, "GatherElements", "ScatterUpdate"):
        if one.indices and one.view.constant(0) is None and one.view.constant(1) is None:
            assert all(dim.is_static != one.is_open(0) for dim in one.view.input_shapes[1].dims)


def test_constants(swept):
    everything = [one for ones in swept.values() for one in ones]
    for port in (0, 1):
        assert 0.14 < share([one.view.constant(port) is not None for one in everything]) < 0.2
    assert not any(one.view.constant(0) is not None and one.view.constant(1) is not None for one in everything)
    reach = set()
    for one in everything:
        known = one.view.constant(1)
        if known is not None:
            assert known.shape == one.indices
            assert ((known >= 0) & (known < min(one.data))).all()
            reach |= {(min(one.data), int(index)) for index in known.ravel()}
    assert {(size, index) for size in (1, 2, 3, 4, 5) for index in range(size)} == reach
    for one in everything:
        for port, given in enumerate(one.view.operation.inputs):
            if given.attribute:
                assert one.view.constant(port) == one.axis


def test_reductions(swept):
    types = defaultdict(set)
    words = defaultdict(set)
    for name, ones in swept.items():
        for one in ones:
            if "reduction" in one.attributes:
                types[name].add(one.type)
                words[name, one.type == "boolean"].add(one.attributes["reduction"])
    assert set(types) == {
        *("ScatterElementsUpdate-12", "ScatterElements-ov_gather", "ScatterNDUpdate-15", "ScatterND-ov_gather")
    }
    for name, found in types.items():
        of_all = {one.type for one in swept[name]}
        assert of_all - found == {"i4", "u2", "u4", "f4e2m1", "f8e4m3", "f8e5m2", "f8e8m0", "string"} & of_all
        assert "boolean" in found
    assert words["ScatterElementsUpdate-12", False] == {"none", "sum", "prod", "min", "max", "mean"}
    assert "mean" not in words["ScatterElementsUpdate-12", True]
    assert words["ScatterNDUpdate-15", False] == {"none", "sum", "sub", "prod", "min", "max"}
    assert words["ScatterND-ov_gather", False] == {"none", "add", "mul", "max", "min"}
