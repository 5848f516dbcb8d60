"""What our operations have in common inside OpenVINO: types, errors, regions of tensors, round trips, ONNX."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import openvino as ov
import pytest

import ov_gather
from helpers.inside_openvino import (
    WHOLE_BYTES,
    as_tensor,
    compiled,
    evaluate,
    infer,
    one_layer,
    opsets,
    random_values,
    read,
    same_bits,
)
from helpers.reductions import REDUCTIONS, scattered
from helpers.saved_models import parsed
from ov_gather.ir.element_types import F32, I32, I64, by_name

DATA = (3, 7, 5)
FLAGS = {"broadcast": False, "transpose": False, "same_shape": False, "lanes": False}


@dataclass(frozen=True)
class Case:
    """An operation on data of [3,7,5], the axes that its indices or coordinates are of, and what NumPy computes."""

    kind: str
    attributes: dict[str, Any]
    indices: tuple[int, ...]
    axes: tuple[int, ...]
    expected: Callable[..., Any]
    updates: tuple[int, ...] = ()

    def sizes(self):
        return np.array([DATA[axis] for axis in self.axes])

    def layer(self, data_type=F32, index_type=I64, is_open=False):
        shapes = [",".join("?" * len(shape) if is_open else map(str, shape)) for shape in (DATA, self.indices, self.updates)]
        return layer(self.kind, shapes, data_type, index_type, **self.attributes)

    def arrays(self, rng, data_type=F32):
        given = [random_values(data_type, DATA), rng.integers(-self.sizes(), self.sizes(), self.indices)]
        return [*given, *([random_values(data_type, self.updates)] if self.updates else [])]


def layer(kind, shapes, data_type=F32, index_type=I64, **attributes):
    """An IR of a layer; `axis` is an input of Gather, and an attribute of others."""
    names = ("data", "indices", *(["updates"] if kind.startswith("Scatter") else []))
    inputs = dict(zip(names, zip(shapes, (data_type, index_type, data_type), strict=False), strict=False))
    axis = {"axis": (np.array(attributes.pop("axis")), I64)} if kind == "Gather" else {}
    return one_layer(kind, inputs, attributes, axis)


CASES = [
    Case("GatherElements", {**FLAGS, "axis": 1}, (3, 10, 5), (1,), lambda data, at: np.take_along_axis(data, at, 1)),
    Case(
        "GatherElements",
        {**FLAGS, "axis": 1, "transpose": True},
        (3, 10, 5),
        (1,),
        lambda data, at: np.take_along_axis(data, at, 1).swapaxes(1, 2).copy(),
    ),
    Case("Gather", {"axis": 1}, (2, 4), (1,), lambda data, at: np.take(data, at, 1)),
    Case("Gather", {"axis": 1, "batch_dims": 1}, (3, 10), (1,), lambda data, at: np.take_along_axis(data, at[..., None], 1)),
    Case("GatherND", {"batch_dims": 0}, (4, 6, 2), (0, 1), lambda data, at: data[at[..., 0], at[..., 1]]),
    Case("GatherND", {"batch_dims": 1}, (3, 10, 1), (1,), lambda data, at: data[np.arange(3)[:, None], at[..., 0]]),
    Case("ScatterElements", {"axis": 1}, (3, 9, 4), (1,), lambda *given: scattered(*given, 1), (3, 9, 4)),
    Case("ScatterND", {}, (8, 4, 2), (0, 1), scattered, (8, 4, 5)),
]
OF_ALL = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.kind} {case.attributes}")


@pytest.mark.sampled(75)
@pytest.mark.sanitized
@pytest.mark.parametrize("row", WHOLE_BYTES, ids=str)
@OF_ALL
def test_every_type_of_whole_bytes_bit_by_bit(core, case, row, rng):
    data, indices, *updates = case.arrays(rng, row)
    expected = case.expected(data, indices, *updates)
    for index_type in (I32, I64):
        others = [indices.astype(index_type.dtype), *(as_tensor(row, array) for array in updates)]
        assert same_bits(evaluate(read(core, case.layer(row, index_type)), row, data, *others), expected)


@OF_ALL
def test_types_that_are_refused(core, case):
    for name in ("i4", "u4", "u1", "nf4", "f4e2m1"):
        with pytest.raises(RuntimeError, match=r"gather[^$]*smaller than a byte.*convert it to i8 or u8"):
            read(core, case.layer(by_name(name)))
    with pytest.raises(RuntimeError, match=r"gather[^$]*indices must be i32 or i64, not f32"):
        read(core, case.layer(index_type=F32))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("is_open", [False, True])
@OF_ALL
def test_an_index_out_of_bounds_raises_and_the_request_goes_on(core, case, threads, is_open, rng):
    model = case.layer(is_open=is_open)
    if is_open and "ND" in case.kind:
        model = layer(case.kind, ["?,?,?", f"?,?,{case.indices[-1]}", "?,?,?"], **case.attributes)
    request = compiled(core, read(core, model), threads)
    data, right, *updates = case.arrays(rng)
    expected = case.expected(data, right, *updates)
    for position, axis in enumerate(case.axes):
        place, size = [size - 1 for size in case.indices], DATA[axis]
        place[-1] = position if "ND" in case.kind else place[-1]
        for bad in (size, -size - 1, 2**31 - 1, -(2**31)):
            wrong = right.copy()
            wrong[tuple(place)] = bad
            with pytest.raises(RuntimeError) as raised:
                infer(request, data, wrong, *updates)
            reason = (
                f"{case.kind} 'gather': indices{place} = {bad} is out of bounds for axis {axis} of size {size} (valid -{size}"
            )
            assert f"{reason}..{size - 1})" in str(raised.value)
            assert same_bits(infer(request, data, right, *updates), expected)


@OF_ALL
def test_regions_of_tensors(core, case, rng):
    """Gather and GatherElements take them; the others ask for a copy."""
    data, *others = case.arrays(rng)
    whole, begin = np.pad(data, 2), ov.Coordinate([2] * 3)
    given = [ov.Tensor(ov.Tensor(whole), begin, ov.Coordinate([2 + size for size in DATA]))]
    output = ov.Tensor(ov.Type.f32, ov.Shape([0]))
    model = read(core, case.layer())
    if case.kind.startswith("Scatter") or case.kind == "GatherND":
        with pytest.raises(RuntimeError, match=rf"{case.kind} 'gather': a part of a tensor is not .*: copy it"):
            model.evaluate([output], [*given, *map(ov.Tensor, others)])
        return
    padded = np.pad(others[0], 1, constant_values=99)
    ends = ov.Coordinate([1] * padded.ndim), ov.Coordinate([size - 1 for size in padded.shape])
    model.evaluate([output], [*given, ov.Tensor(ov.Tensor(padded), *ends)])
    assert same_bits(np.array(output.data), case.expected(data, *others))


def at_an_odd_address(array):
    moved = np.frombuffer(bytearray(array.nbytes + 1), array.dtype, offset=1).reshape(array.shape)
    moved[...] = array
    return ov.Tensor(moved, shared_memory=True)


@pytest.mark.sanitized
@OF_ALL
def test_tensors_at_odd_addresses(core, case, rng):
    """As constants in the middle of a .bin are, and buffers of others."""
    given = case.arrays(rng)
    expected = case.expected(*given)
    output = at_an_odd_address(np.zeros_like(expected))
    read(core, case.layer()).evaluate([output], [*map(at_an_odd_address, given)])
    assert same_bits(np.array(output.data), expected)


@pytest.mark.parametrize(("kind", "indices", "none"), [("GatherElements", (3, 2), (3, 0)), ("GatherND", (2, 2), (0, 2))])
def test_no_index_is_valid_for_an_axis_of_size_0(core, kind, indices, none):
    attributes = {**FLAGS, "axis": 1} if kind == "GatherElements" else {"batch_dims": 0}
    request = compiled(core, read(core, layer(kind, ["?,?", "?,2" if kind == "GatherND" else "?,?"], **attributes)))
    with pytest.raises(RuntimeError, match="no index is valid"):
        infer(request, np.zeros((3, 0), np.float32), np.zeros(indices, np.int64))
    assert infer(request, np.zeros((3, 0), np.float32), np.zeros(none, np.int64)).size == 0


@pytest.mark.parametrize(("kind", "rank"), [("GatherElements", 3), ("Gather", 2)])
def test_dynamic_shapes_from_call_to_call(core, kind, rank, rng):
    attributes = {"axis": -2, **(FLAGS if kind == "GatherElements" else {})}
    request = compiled(core, read(core, layer(kind, ["?,?,?", ",".join("?" * rank)], **attributes)))
    for data, indices in [
        ((3, 7, 5), (3, 10, 5)),
        ((4, 1, 2), (2, 3, 1)),
        ((1, 1, 1), (1, 1, 1)),
        ((40, 50, 60), (40, 70, 60)),
    ]:
        table, where = rng.random(data, np.float32), rng.integers(-data[1], data[1], indices[:rank])
        part = table[: indices[0], :, : indices[2]]
        expected = np.take_along_axis(part, where, 1) if rank == 3 else np.take(table, where, 1)
        assert np.array_equal(infer(request, table, where), expected)


@pytest.mark.parametrize(
    ("kind", "shapes", "attributes"),
    [
        *(
            ("GatherElements", ["3,7", "1,2"], {**FLAGS, "axis": -1, "broadcast": broadcast, "transpose": transpose})
            for broadcast in (False, True)
            for transpose in (False, True)
        ),
        ("Gather", ["3,7", "3,2"], {"axis": -1, "batch_dims": -1, "bounds": "zero"}),
        ("GatherND", ["3,7,5", "3,2,1"], {"batch_dims": 1}),
        ("ScatterElements", ["3,7", "3,1", "3,1"], {"axis": -1, "reduction": "max", "lanes": "none"}),
        ("ScatterND", ["3,7", "4,1", "4,7"], {"reduction": "max", "lanes": "none"}),
    ],
)
def test_round_trip(core, tmp_path, kind, shapes, attributes, rng):
    model = read(core, layer(kind, shapes, **attributes))
    ov.serialize(model, tmp_path / "m.xml")
    assert ov_gather.validate(tmp_path / "m.xml") == []
    again = core.read_model(tmp_path / "m.xml")
    (found,) = [op for op in again.get_ops() if op.get_type_name() == kind]
    attributes = {name: value for name, value in attributes.items() if (kind, name) != ("Gather", "axis")}
    assert (found.get_type_info().version_id, found.get_attributes()) == ("ov_gather", attributes)
    assert again.output(0).partial_shape == model.output(0).partial_shape
    sizes = [list(map(int, shape.split(","))) for shape in shapes]
    arrays = [rng.integers(-3, 3, shape) if i == 1 else rng.random(shape, np.float32) for i, shape in enumerate(sizes)]
    assert same_bits(*(infer(compiled(core, each), *arrays) for each in (model, again)))


def reduced(name, axis=None):
    return lambda *given: scattered(*given, axis, REDUCTIONS[name])


OF_ONNX = [
    ("GatherElements", 13, "", [(2, 2)], lambda data, at: np.take_along_axis(data[:, :2], at, 0)),  # smaller than stock allows
    ("Gather", 13, "", [(2, 2)], lambda data, at: np.take(data, at, 0)),
    ("Gather", 13, "<axis = -1>", [(2, 2)], lambda data, at: np.take(data, at, 1)),
    ("GatherND", 13, "", [(3, 1)], lambda data, at: data[at[:, 0]]),
    ("GatherND", 13, "<batch_dims = 1>", [(3, 1)], lambda data, at: np.take_along_axis(data, at, 1)[:, 0]),
    ("Scatter", 9, "<axis = 1>", [(2, 5), (2, 5)], lambda *given: scattered(*given, 1)),
    ("ScatterElements", 11, "<axis = 1>", [(2, 5), (2, 5)], lambda *given: scattered(*given, 1)),
    ("ScatterElements", 16, '<axis = 1, reduction = "mul">', [(2, 5), (2, 5)], reduced("mul", 1)),
    ("ScatterElements", 18, '<axis = 1, reduction = "min">', [(2, 5), (2, 5)], reduced("min", 1)),
    ("ScatterND", 11, "", [(5, 1), (5, 4)], scattered),
    ("ScatterND", 16, '<reduction = "add">', [(5, 1), (5, 4)], reduced("add")),
    ("ScatterND", 18, '<reduction = "max">', [(5, 1), (5, 4)], reduced("max")),
]


@pytest.mark.parametrize(("op", "version", "attributes", "shapes", "expected"), OF_ONNX)
def test_onnx_is_read_as_ours(core, op, version, attributes, shapes, expected, rng):
    kind = "ScatterElements" if op == "Scatter" else op
    arrays = [
        rng.random((3, 4), np.float32),
        rng.integers(-3, 3, shapes[0]),
        *(rng.random(one, np.float32) for one in shapes[1:]),
    ]
    model = core.read_model(of_onnx(op, arrays, version, attributes))
    assert opsets(model, kind) == ["ov_gather"]
    request = compiled(core, model)
    assert same_bits(infer(request, *arrays), expected(*arrays))
    arrays[1][1, 0] = -5
    with pytest.raises(RuntimeError, match=rf"{kind} '.*': indices\[1, 0\] = -5 is out of bounds"):
        infer(request, *arrays)


def of_onnx(op, arrays, opset=13, attributes=""):
    """An ONNX model of a node whose inputs have the shapes of arrays."""
    types = {"U": "string", "f": "float", "i": "int64"}
    names = ("data", "indices", "updates")[: len(arrays)]
    given = ", ".join(f"{types[one.dtype.kind]}{list(one.shape)} {name}" for name, one in zip(names, arrays, strict=True))
    text = f"({given}) => ({types[arrays[0].dtype.kind]}[] y) {{ [node] y = {op} {attributes} ({', '.join(names)}) }}"
    return parsed(text, opset).SerializeToString()


@pytest.mark.parametrize(
    ("op", "attributes", "others", "expected"),
    [
        ("GatherElements", "<axis = 1>", [[[1, 1, 0], [0, 1, -2]]], [["b", "b", "a"], ["ccc", "", "ccc"]]),
        ("Gather", "", [[1, 0, -1]], [["ccc", ""], ["a", "b"], ["ccc", ""]]),
        ("GatherND", "", [[[1, 0], [0, -1], [1, 1]]], ["ccc", "b", ""]),
        ("ScatterND", "", [[[-1, 0], [0, 1]], ["yy", "ü"]], [["a", "ü"], ["yy", ""]]),
    ],
)
def test_onnx_strings(core, op, attributes, others, expected):
    arrays = [np.array([["a", "b"], ["ccc", ""]]), *map(np.array, others)]
    assert infer(compiled(core, core.read_model(of_onnx(op, arrays, attributes=attributes))), *arrays).tolist() == expected
