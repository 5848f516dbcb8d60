"""Each operator does what its row of the table of operators means: ONNX's reference evaluator and OpenVINO are asked."""

import numpy as np
import openvino as ov
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.defs import get_schema
from onnx.reference import ReferenceEvaluator
from openvino import opset16 as ops

from ov_gather.acceleration.graph import ours
from ov_gather.ops.table import ONNX, OPENVINO, Selection, where

REFERENCE = {"Scatter": "ScatterElements"}
"""What an operator is called now that ONNX's reference evaluator has not under its first name."""
MOVING = [where(operators, lambda op: op.meaning.selection is not Selection.COMPUTED) for operators in (ONNX, OPENVINO)]
DATA = np.arange(10, 26, dtype=np.int32).reshape(1, 4, 2, 2)
"""Elements that no other input has."""
OTHER = DATA + 100
FILL = np.array(7, np.int32)


def ints(*numbers):
    return np.array(numbers, np.int64)


ONNX_SAMPLES = {
    "Cast": ([DATA], {"to": TensorProto.INT64}),
    "CastLike": ([DATA, ints(1)], {}),
    "Clip": ([DATA, np.int32(12), np.int32(17)], {}),
    "Compress": ([DATA, np.array([True, False, True])], {}),
    "Concat": ([DATA, OTHER], {"axis": 1}),
    "Constant": ([], {"value": numpy_helper.from_array(FILL)}),
    "ConstantOfShape": ([ints(2, 3)], {}),
    "DepthToSpace": ([DATA], {"blocksize": 2}),
    "Expand": ([DATA, ints(3, 4, 2, 2)], {}),
    "Flatten": ([DATA], {}),
    "Gather": ([DATA, ints(3, 0, 3)], {"axis": 1}),
    "GatherElements": ([DATA, np.full_like(DATA, 1, np.int64)], {"axis": 3}),
    "GatherND": ([DATA, ints(0, 2)], {}),
    "Identity": ([DATA], {}),
    "Max": ([DATA, OTHER[::-1] - 100], {}),
    "Min": ([DATA, OTHER], {}),
    "OneHot": ([ints(0, 2), np.array(3), np.array([5, 9])], {}),
    "Pad": ([DATA, ints(0, 0, 1, 0, 0, 0, 0, 2)], {}),
    "Reshape": ([DATA, ints(2, 8)], {}),
    "ReverseSequence": ([DATA, ints(2)], {"batch_axis": 0, "time_axis": 1}),
    "Scatter": ([DATA, np.full((1, 1, 1, 1), 1, np.int64), OTHER[:, :1, :1, :1]], {"axis": 1}),
    "ScatterElements": ([DATA, np.full((1, 1, 1, 1), 1, np.int64), OTHER[:, :1, :1, :1]], {"axis": 1}),
    "ScatterND": ([DATA, ints(0, 2)[None], OTHER[0, :1]], {}),
    "Shape": ([DATA], {}),
    "Size": ([DATA], {}),
    "Slice": ([DATA, ints(1), ints(3), ints(1)], {}),
    "SpaceToDepth": ([DATA], {"blocksize": 2}),
    "Split": ([DATA, ints(1, 3)], {"axis": 1}),
    "Squeeze": ([DATA, ints(0)], {}),
    "Tile": ([DATA, ints(1, 2, 1, 3)], {}),
    "Transpose": ([DATA], {"perm": [3, 1, 0, 2]}),
    "Unsqueeze": ([DATA, ints(1)], {}),
    "Where": ([DATA % 2 == 0, DATA, OTHER], {}),
}


def by_onnx(name):
    inputs, attributes = ONNX_SAMPLES[name]
    names, outputs = [f"x{i}" for i in range(len(inputs))], ["y", "z"][: 1 + (name == "Split")]
    values = [
        helper.make_tensor_value_info(given, helper.np_dtype_to_tensor_dtype(np.asarray(array).dtype), np.shape(array))
        for given, array in zip(names, inputs, strict=True)
    ]
    results = [helper.make_empty_tensor_value_info(output) for output in outputs]
    graph = helper.make_graph(
        [helper.make_node(REFERENCE.get(name, name), names, outputs, **attributes)], "sample", values, results
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])
    arrays = [np.asarray(array) for array in inputs]
    return arrays, ReferenceEvaluator(model).run(None, dict(zip(names, arrays, strict=True)))


def constant(array):
    return ops.constant(np.asarray(array))


def outputs(*arrays):
    return [constant(array).output(0) for array in arrays]


OPENVINO_SAMPLES = {
    "Broadcast": lambda data: ops.broadcast(data, constant(ints(3, 4, 2, 2))),
    "Clamp": lambda data: ops.clamp(data, 12, 17),
    "Concat": lambda data: ops.concat([data, constant(OTHER)], 1),
    "Constant": lambda data: constant(FILL),
    "Convert": lambda data: ops.convert(data, "i64"),
    "ConvertLike": lambda data: ops.convert_like(data, constant(ints(1))),
    "DepthToSpace": lambda data: ops.depth_to_space(data, "blocks_first", 2),
    "Gather": lambda data: ops.gather(data, constant(ints(3, 0, 3)), constant(1)),
    "GatherElements": lambda data: ops.gather_elements(data, constant(np.full(DATA.shape, 1)), 3),
    "GatherND": lambda data: ops.gather_nd(data, constant(ints(0, 2))),
    "Identity": lambda data: ops.identity(data),
    "Maximum": lambda data: ops.maximum(data, constant(DATA[:, ::-1])),
    "Minimum": lambda data: ops.minimum(data, constant(OTHER)),
    "OneHot": lambda data: ops.one_hot(constant(ints(0, 2)), constant(3), constant(5), constant(9), 0),
    "Pad": lambda data: ops.pad(data, constant(ints(0, 0, 1, 0)), constant(ints(0, 0, 0, 2)), "constant", constant(FILL)),
    "Reshape": lambda data: ops.reshape(data, constant(ints(2, 8)), False),
    "ReverseSequence": lambda data: ops.reverse_sequence(data, constant(np.array([2], np.int32)), 0, 1),
    "ScatterElements": lambda data: ours(
        "ScatterElements",
        [data.output(0), *outputs(np.full((1, 1, 1, 1), 1), OTHER[:, :1, :1, :1])],
        {"axis": 1, "reduction": "none", "lanes": "none"},
    ),
    "ScatterElementsUpdate": lambda data: ops.scatter_elements_update(
        data, constant(np.full((1, 1, 1, 1), 1)), constant(OTHER[:, :1, :1, :1]), constant(1)
    ),
    "ScatterND": lambda data: ours(
        "ScatterND",
        [data.output(0), *outputs(ints(0, 2)[None], OTHER[0, :1])],
        {"reduction": "none", "lanes": "none"},
    ),
    "ScatterNDUpdate": lambda data: ops.scatter_nd_update(data, constant(ints(0, 2)[None]), constant(OTHER[0, :1])),
    "ScatterUpdate": lambda data: ops.scatter_update(data, constant(ints(1)), constant(OTHER[:, :1]), constant(1)),
    "Select": lambda data: ops.select(constant(DATA % 2 == 0), data, constant(OTHER)),
    "ShapeOf": lambda data: ops.shape_of(data),
    "Slice": lambda data: ops.slice(data, constant(ints(1)), constant(ints(3)), constant(ints(1)), constant(ints(1))),
    "SpaceToDepth": lambda data: ops.space_to_depth(data, "blocks_first", 2),
    "Split": lambda data: ops.split(data, constant(1), 2),
    "Squeeze": lambda data: ops.squeeze(data, constant(ints(0))),
    "StridedSlice": lambda data: ops.strided_slice(
        data, constant(ints(0, 1)), constant(ints(1, 3)), constant(ints(1, 1)), [0, 0], [0, 0]
    ),
    "Tile": lambda data: ops.tile(data, constant(ints(1, 2, 1, 3))),
    "Transpose": lambda data: ops.transpose(data, constant(ints(3, 1, 0, 2))),
    "Unsqueeze": lambda data: ops.unsqueeze(data, constant(ints(1))),
    "VariadicSplit": lambda data: ops.variadic_split(data, constant(1), constant(ints(1, 3))),
}


def by_openvino(name):
    data = ops.parameter(DATA.shape, DATA.dtype)
    node = OPENVINO_SAMPLES[name](data)
    assert node.get_type_name() == name
    request = ov.Core().compile_model(ov.Model(node.outputs(), [data], name), "CPU").create_infer_request()
    request.set_input_tensor(0, ov.Tensor(DATA))
    request.start_async()
    request.wait()
    given = [value.get_node() for value in node.input_values()]
    inputs = [np.array(source.data) if source.get_type_name() == "Constant" else DATA for source in given]
    return inputs, [np.array(tensor.data) for tensor in request.output_tensors]


def elements(arrays):
    return {int(element) for array in arrays for element in np.ravel(array)}


def check(meaning, inputs, outputs):
    """Assert that outputs relate to inputs as the meaning says."""
    sources = [array for position, array in enumerate(inputs) if position in meaning.sources]
    found = np.concatenate([np.ravel(array) for array in outputs])
    if not sources:
        assert not meaning.rearranges
        return
    assert elements(outputs) <= elements(sources) | ({0, 12, 17} if meaning.adds else set())
    if meaning.selection is not Selection.BY_VALUE:
        assert all(elements(outputs) & elements([source]) for source in sources)
    given = np.concatenate([np.ravel(array) for array in sources])
    if meaning.selection is Selection.IN_ORDER:
        assert found.tolist() == given.tolist()
    elif meaning.selection is Selection.REORDERED:
        assert sorted(found) == sorted(given)
        assert len(sources) > 1 or found.tolist() != given.tolist()
    elif meaning.selection is Selection.REPEATED:
        assert len(found) > len(given)
        assert elements([found]) == elements([given])
    elif meaning.selection is Selection.IN_PART:
        assert all(array.size < given.size or len(elements([array])) < given.size for array in outputs)
    assert meaning.converts == (outputs[0].dtype != sources[0].dtype)


@pytest.mark.parametrize("name", sorted(MOVING[0]))
def test_onnx(name):
    check(ONNX[name].meaning, *by_onnx(name))


@pytest.mark.parametrize("name", sorted(MOVING[1] - {"Const"}))
def test_openvino(name):
    check(OPENVINO[name].meaning, *by_openvino(name))


def test_a_constant_has_the_name_of_the_ir_too():
    assert OPENVINO["Const"] == OPENVINO["Constant"]


@pytest.mark.parametrize("table", [ONNX, OPENVINO], ids=["ONNX", "OpenVINO"])
def test_indices_are_no_source(table):
    indexed = [op.meaning for op in table.values() if op.meaning.indices is not None]
    assert indexed
    assert all(meaning.indices.position not in meaning.sources for meaning in indexed)


def test_what_is_carried():
    assert ONNX["Gather"].carries(0)
    assert not ONNX["Gather"].carries(1)
    assert ONNX["Concat"].carries(77)
    assert not ONNX["Where"].carries(0)
    assert not ONNX["Add"].carries(0)
    assert not ONNX["NoSuchOperator"].carries(0)


@pytest.mark.parametrize("name", sorted(MOVING[0]))
def test_what_has_a_reduction_may_compute(name):
    meaning = ONNX[name].meaning
    assert meaning.reduces == ("reduction" in get_schema(name, 18).attributes)
    assert not meaning.reduces or meaning.computes
